"""The store gives out files that are what the manifest says, quickly, and nothing else."""

import hashlib
import os
from pathlib import Path

import pytest
from weights_sources import content, hub_source, model_file, unpinned_file

from voiceagent.weights import store as store_module
from voiceagent.weights.errors import DamagedWeights, MissingWeights
from voiceagent.weights.pins import Pin
from voiceagent.weights.store import State, Store

DATA = content(5000)
FILE = model_file(DATA, hub_source())


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    return Store(tmp_path / "cache")


def put(store: Store, data: bytes = DATA, file=FILE) -> Path:
    """Lays bytes where the file belongs, whatever they are."""
    place = store.place(file)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    return place


def test_a_missing_file_is_answered_with_the_command_that_gets_it(store: Store):
    """The message is the remedy."""
    with pytest.raises(MissingWeights, match=r"model\.gguf is not in .*fetch --preset cpu"):
        store.path(FILE)
    assert store.state(FILE) is State.MISSING


def test_a_right_file_is_given_out(store: Store):
    """Files that were put there by other means count too: the digest decides."""
    place = put(store)
    assert store.state(FILE) is State.UNVERIFIED
    assert store.path(FILE) == place
    assert store.state(FILE) is State.VERIFIED


def test_a_verified_file_is_not_hashed_again(store: Store, monkeypatch: pytest.MonkeyPatch):
    """A second start costs a stat, not seconds."""
    put(store)
    store.path(FILE)
    monkeypatch.setattr(store_module, "sha256_of", lambda *_, **__: pytest.fail("hashed again"))
    store.path(FILE)
    Store(store.directory).path(FILE)


@pytest.mark.parametrize("size", [0, 100, 6000])
def test_a_file_of_another_size_is_refused_in_one_line(store: Store, size: int):
    """An empty or cut model stops the start; the line names the size and the remedy."""
    put(store, content(size))
    with pytest.raises(DamagedWeights, match=f"has {size} bytes, expected 5000; run:") as raised:
        store.path(FILE)
    assert "\n" not in str(raised.value)
    assert store.state(FILE) is State.DAMAGED


def test_a_file_that_was_touched_since_is_hashed_again(store: Store):
    """The same size is no proof."""
    place = put(store)
    store.path(FILE)
    place.write_bytes(content(5000, seed=1))
    os.utime(place, ns=(1, 1))
    with pytest.raises(DamagedWeights, match="has the digest"):
        store.path(FILE)


def test_verify_finds_what_a_quick_look_cannot(store: Store):
    """Bits that rot leave size and time alone; after verify has found them nothing is given out."""
    place = put(store)
    store.path(FILE)
    before = place.stat()
    place.write_bytes(content(5000, seed=1))
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert store.is_ready(FILE)
    with pytest.raises(DamagedWeights, match="has the digest"):
        store.verify(FILE)
    assert not store.is_ready(FILE)


def test_verify_reports_how_far_it_is(store: Store):
    """A progress bar can follow a digest of a gigabyte."""
    put(store)
    seen: list[int] = []
    store.verify(FILE, on_bytes=seen.append)
    assert seen == [5000]


def test_verify_of_a_missing_file_says_so(store: Store):
    """Nothing to hash is not success."""
    with pytest.raises(MissingWeights):
        store.verify(FILE)


def test_a_read_only_cache_still_gives_files_out(store: Store, monkeypatch: pytest.MonkeyPatch):
    """The mark only saves time."""
    put(store)

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(store_module.atomic, "write_text", refuse)
    assert store.path(FILE).read_bytes() == DATA
    assert store.state(FILE) is State.UNVERIFIED


def test_a_folder_shows_files_side_by_side(store: Store):
    """Libraries that want one directory of files get one, without a copy."""
    files = [
        model_file(content(10, seed=n), hub_source(), name=f"{n}.json", role="recognizer")
        for n in range(3)
    ]
    for n, file in enumerate(files):
        put(store, content(10, seed=n), file)
    folder = store.folder(files)
    assert sorted(path.name for path in folder.iterdir()) == ["0.json", "1.json", "2.json"]
    assert (folder / "1.json").read_bytes() == content(10, seed=1)
    assert store.folder(files) == folder


def test_a_folder_survives_a_moved_cache(store: Store, tmp_path: Path):
    """Its links are relative."""
    put(store)
    folder = store.folder([FILE])
    store.directory.rename(tmp_path / "elsewhere")
    moved = tmp_path / "elsewhere" / folder.relative_to(store.directory)
    assert (moved / "model.gguf").read_bytes() == DATA


def test_a_folder_of_damaged_files_is_refused(store: Store):
    """The folder is checked file by file, each time."""
    place = put(store)
    store.folder([FILE])
    place.write_bytes(b"")
    with pytest.raises(DamagedWeights):
        store.folder([FILE])


def test_a_file_without_a_digest_is_missing_until_it_is_pinned(store: Store):
    """Its first fetch records what it was; from then on it is checked like any other."""
    file = unpinned_file(hub_source("config.json"))
    with pytest.raises(MissingWeights, match="fetch --preset gpu"):
        store.path(file)
    store.pins.record(file.pin, Pin(hashlib.sha256(DATA).hexdigest(), len(DATA)))
    place = put(store, DATA, file)
    assert store.path(file) == place
    place.write_bytes(DATA[:-1])
    with pytest.raises(DamagedWeights, match="has 4999 bytes, expected 5000"):
        store.path(file)


def test_unreadable_pins_are_one_line(store: Store):
    """A damaged record of digests never passes for an empty one."""
    store.directory.mkdir()
    (store.directory / "pins.json").write_text("{")
    with pytest.raises(DamagedWeights, match=r"pins\.json is not JSON"):
        store.path(unpinned_file(hub_source("config.json")))


def test_a_file_of_no_manifest_is_taken_in_by_its_digest(store: Store, tmp_path: Path):
    """A new draft model is copied; a second time, the copy does."""
    path = tmp_path / "new.gguf"
    path.write_bytes(DATA)
    digest = hashlib.sha256(DATA).hexdigest()
    file = store.admit(path, sha256=digest)
    assert store.path(file).read_bytes() == DATA
    assert store.state(store.admit(path, sha256=digest.upper())) is State.VERIFIED


def test_a_file_with_another_digest_is_not_taken_in(store: Store, tmp_path: Path):
    """Nothing of it stays in the cache; a path that leads nowhere is named."""
    path = tmp_path / "new.gguf"
    path.write_bytes(DATA)
    with pytest.raises(DamagedWeights, match="not the one that was given"):
        store.admit(path, sha256="0" * 64)
    assert not list(store.directory.rglob("new.gguf"))
    with pytest.raises(MissingWeights, match="no draft model at"):
        store.admit(tmp_path / "absent.gguf", sha256="0" * 64)
