"""``voiceagent models`` shows, gets and checks model files, and ends in one clear line."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from weights_sources import content, hold, hub_source, model_file, serving

from voiceagent.cli import main
from voiceagent.weights.manifest import Manifest
from voiceagent.weights.store import Store

DATA = content(500_000)
HUB = hub_source()
MANIFEST = """
format = 1
[[file]]
role = "target"
presets = ["cpu", "tiny"]
name = "model.gguf"
bytes = {bytes}
sha256 = "{sha256}"
licence = "Apache-2.0"
origin = "made for a test"
[[file.source]]
hub = "{hub.repository}"
revision = "{hub.revision}"
path = "{hub.path}"
[[repository]]
role = "draft"
presets = ["gpu"]
hub = "team/big"
revision = "{hub.revision}"
licence = "MIT"
files = ["config.json"]
"""
FILE = model_file(DATA, HUB)


@pytest.fixture
def sources():
    """A hub on the loopback that has the file."""
    with serving() as running:
        running.path = running.add_hub(HUB, DATA)
        yield running


@pytest.fixture
def manifest_path(tmp_path: Path) -> Path:
    """A manifest of two small files."""
    path = tmp_path / "manifest.toml"
    path.write_text(MANIFEST.format(bytes=FILE.bytes, sha256=FILE.sha256, hub=HUB))
    return path


@pytest.fixture
def store(sources, manifest_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """An empty cache that the command uses, with that manifest and that hub."""
    monkeypatch.setenv("VOICEAGENT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_ENDPOINT", sources.hub_url)
    manifest = Manifest.load(manifest_path)
    monkeypatch.setattr(Manifest, "load", lambda: manifest)
    return Store(tmp_path / "cache")


def last_json(capsys: pytest.CaptureFixture[str]) -> dict:
    """The object on the last line of standard output."""
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def test_list_shows_role_name_size_licence_and_state(store: Store, capsys):
    """What one wants to know before a download."""
    assert main(["models", "list"]) == 0
    first, second, where = capsys.readouterr().out.splitlines()
    assert first.split() == [
        *("target", "model.gguf", "500.0", "kB", "Apache-2.0", "missing", "cpu,tiny")
    ]
    assert second.split() == ["draft", "config.json", "?", "MIT", "missing", "gpu"]
    assert str(store.directory) in where


def test_list_of_one_preset_as_json(store: Store, capsys):
    """Programs get the same, and the digest."""
    assert main(["models", "list", "--preset", "tiny", "--json"]) == 0
    (entry,) = last_json(capsys)["files"]
    assert entry["sha256"] == FILE.sha256
    assert entry["state"] == "missing"
    assert entry["path"] is None


def test_fetch_gets_and_verifies_and_says_where(store: Store, capsys):
    """After it, a conversation can start."""
    assert main(["models", "fetch", "--preset", "tiny", "--json"]) == 0
    (entry,) = last_json(capsys)["files"]
    assert entry["state"] == "verified"
    assert Path(entry["path"]).read_bytes() == DATA
    assert main(["models", "fetch", "--preset", "tiny"]) == 0
    assert "verified" in capsys.readouterr().out


def test_a_fetch_that_fails_is_one_line(store: Store, sources, capsys):
    """It names the file, the source, the reason and the command."""
    del sources.files[sources.path]
    assert main(["models", "fetch", "--preset", "tiny"]) == 1
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith("voiceagent: could not fetch target model model.gguf")
    assert "404" in line
    assert line.endswith("voiceagent models fetch --preset tiny")


def test_verify_names_the_bad_files_and_fails(store: Store, capsys):
    """Every digest is computed, not only compared with what was noted."""
    main(["models", "fetch", "--preset", "tiny"])
    assert main(["models", "verify"]) == 0
    place = store.path(FILE)
    before = place.stat()
    place.write_bytes(content(len(DATA), seed=1))
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
    capsys.readouterr()
    assert main(["models", "verify", "--json"]) == 1
    captured = capsys.readouterr()
    assert list(json.loads(captured.out.splitlines()[-1])["bad"]) == ["model.gguf"]
    assert "model.gguf is damaged" in captured.err


def test_verify_of_a_preset_counts_what_is_missing_as_bad(store: Store, capsys):
    """Asked for by name, it has to be there."""
    assert main(["models", "verify", "--preset", "tiny"]) == 1
    assert "fetch --preset tiny" in capsys.readouterr().err


def test_verify_of_an_empty_cache_says_what_to_do(store: Store, capsys):
    """Nothing was verified: that is no success."""
    assert main(["models", "verify"]) == 1
    assert "run: voiceagent models fetch" in capsys.readouterr().err


def test_wrong_usage_exits_2(capsys):
    """An action is needed, and a preset has to exist."""
    for arguments in (["models"], ["models", "fetch", "--preset", "huge"]):
        with pytest.raises(SystemExit) as raised:
            main(arguments)
        assert raised.value.code == 2


def test_help_has_examples(capsys):
    """Somebody who types --help wants to copy a line."""
    with pytest.raises(SystemExit) as raised:
        main(["models", "--help"])
    assert raised.value.code == 0
    assert "voiceagent models fetch --preset tiny" in capsys.readouterr().out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_the_middle_leaves_no_half_written_model(
    store: Store, sources, manifest_path: Path, number: signal.Signals
):
    """Ctrl-C and kill: one line, no half-written model, and the next fetch ends right."""
    reached, go_on = threading.Event(), threading.Event()
    sources.faults[sources.path] = [hold(300_000, reached=reached, go_on=go_on)]
    command = f"""
import sys
from pathlib import Path
from voiceagent.cli import main
from voiceagent.weights.manifest import Manifest
manifest = Manifest.load(Path({str(manifest_path)!r}))
Manifest.load = lambda: manifest
sys.exit(main(["models", "fetch", "--preset", "tiny"]))
"""
    process = subprocess.Popen(
        [sys.executable, "-c", command], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert reached.wait(60)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    go_on.set()
    assert process.returncode == 130
    assert "stopped; the same command goes on" in errors.splitlines()[-1]
    assert "Traceback" not in errors
    assert not store.place(FILE).exists()

    assert main(["models", "fetch", "--preset", "tiny"]) == 0
    assert store.path(FILE).read_bytes() == DATA
