"""The manifest names every file, its digest, its licence and where it can be had."""

import re
from pathlib import Path

import pytest

from voiceagent.weights.errors import ManifestError
from voiceagent.weights.manifest import HubSource, InstalledSource, Manifest, WheelSource

ENTRY = """
format = 1
[[file]]
role = "target"
presets = ["tiny"]
name = "model.gguf"
bytes = 5
sha256 = "{digest}"
licence = "MIT"
[[file.source]]
package = "model-part{{n}}"
version = "1.0"
member = "model_part{{n}}/part{{n:02}}.bin"
parts = 2
""".format(digest="a" * 64)


@pytest.fixture
def write(tmp_path: Path):
    """Writes a manifest and returns its path."""

    def write(text: str) -> Path:
        path = tmp_path / "manifest.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("preset", ["cpu", "tiny"])
def test_every_file_of_the_cpu_and_tiny_presets_has_size_digest_licence_and_origin(preset: str):
    """A file without a digest could be anything."""
    for file in Manifest.load().preset(preset).all:
        assert file.bytes > 0
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert file.licence
        assert file.origin
        assert file.preset == preset


def test_every_hub_source_is_pinned_by_a_commit():
    """A branch name would let the bytes change under the manifest."""
    hubs = [s for f in Manifest.load().files for s in f.sources if isinstance(s, HubSource)]
    assert hubs
    assert all(re.fullmatch("[0-9a-f]{40}", hub.revision) for hub in hubs)


@pytest.mark.parametrize("preset", ["cpu", "tiny"])
def test_every_file_of_the_cpu_and_tiny_presets_can_come_from_the_package_index(preset: str):
    """The package index is all that some machines reach."""
    for file in Manifest.load().preset(preset).all:
        assert any(isinstance(source, WheelSource) for source in file.sources)


def test_a_conversation_has_every_role_in_every_preset():
    """No preset lacks a recognizer, a voice or a turn model; only tiny drafts by n-grams."""
    manifest = Manifest.load()
    needed = {"target", "recognizer", "voice", "vad", "turn"}
    drafters = {name: manifest.preset(name).drafter for name in manifest.presets}
    assert all(needed <= set(manifest.preset(name).files) for name in manifest.presets)
    assert drafters == {"cpu": "model", "tiny": "ngram", "gpu": "model"}


def test_models_inside_the_installed_pipecat_are_taken_from_there_first():
    """Nothing is downloaded that lies in the environment already."""
    files = Manifest.load().preset("cpu").files
    assert all(isinstance(files[role][0].sources[0], InstalledSource) for role in ("vad", "turn"))


def test_parts_are_numbered_from_one_in_order(write):
    """One entry stands for all wheels of a split file."""
    (file,) = Manifest.load(write(ENTRY)).files
    (source,) = file.sources
    assert [part.package for part in source.parts] == ["model-part1", "model-part2"]
    assert source.parts[1].member == "model_part2/part02.bin"


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("format = 1", "format = 2", "format 2"),
        ('role = "target"', 'role = "pilot"', "unknown role 'pilot'"),
        ('name = "model.gguf"', 'name = "../model.gguf"', "not a plain file name"),
        ("bytes = 5", "bytes = 0", "not a number of bytes"),
        ("bytes = 5", "", "a key is missing: 'bytes'"),
        ("a" * 64, "A" * 64, "not a SHA-256"),
        ("a" * 64, "a" * 63, "not a SHA-256"),
        ("format = 1", "format = ", "is not TOML"),
    ],
)
def test_an_entry_without_meaning_is_refused_by_name(write, old: str, new: str, complaint: str):
    """A slip in the manifest stops the start and says where it is."""
    with pytest.raises(ManifestError, match=complaint):
        Manifest.load(write(ENTRY.replace(old, new)))


def test_an_unknown_preset_is_answered_with_the_known_ones():
    """The message is the remedy."""
    with pytest.raises(ManifestError, match="no preset 'huge'; there are: cpu, tiny, gpu"):
        Manifest.load().preset("huge")


def test_a_missing_manifest_is_one_line(tmp_path: Path):
    """A broken installation says which file it misses."""
    with pytest.raises(ManifestError, match=r"cannot read .*nowhere\.toml: No such file"):
        Manifest.load(tmp_path / "nowhere.toml")
