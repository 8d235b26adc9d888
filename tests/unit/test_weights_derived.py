"""What is made from model files is made once, appears whole, and is replaced by newer formats."""

import errno
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from voiceagent.weights.errors import DiskFull
from voiceagent.weights.store import Store

DIGESTS = ["a" * 64, "b" * 64]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    return Store(tmp_path)


def write(text: str):
    """A builder of a file that holds ``text``."""
    return lambda path: path.write_text(text)


def never(_path: Path) -> None:
    """A builder that must not be called."""
    pytest.fail("built again")


def leftovers(store: Store) -> list[str]:
    """What lies beside the finished things, locks apart."""
    return sorted(
        path.name
        for path in (store.directory / "derived").iterdir()
        if not path.name.endswith(".lock")
    )


def test_a_thing_is_built_once_under_its_own_name(store: Store):
    """The second start finds it."""
    path = store.derived("tokenizer.json", of=DIGESTS, version=1, build=write("made"))
    assert path.name == "tokenizer.json"
    assert path.read_text() == "made"
    assert store.derived("tokenizer.json", of=DIGESTS, version=1, build=never) == path


def test_other_digests_make_another_thing(store: Store):
    """Nothing made from one model is taken for another's."""
    one = store.derived("packed", of=DIGESTS[:1], version=1, build=write("one"))
    two = store.derived("packed", of=DIGESTS, version=1, build=write("two"))
    assert (one.read_text(), two.read_text()) == ("one", "two")


def test_a_newer_format_replaces_the_older(store: Store):
    """The cache does not grow with every release."""
    old = store.derived("packed", of=DIGESTS, version=1, build=write("old"))
    new = store.derived("packed", of=DIGESTS, version=2, build=write("new"))
    assert new.read_text() == "new"
    assert not old.exists()


def test_an_older_format_leaves_the_newer_alone(store: Store):
    """Two releases can share a cache."""
    new = store.derived("packed", of=DIGESTS, version=2, build=write("new"))
    store.derived("packed", of=DIGESTS, version=1, build=write("old"))
    assert new.exists()


def test_a_builder_that_fails_leaves_nothing(store: Store):
    """Half a conversion never passes for a whole one."""

    def fail(path: Path) -> None:
        path.write_text("half")
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        store.derived("packed", of=DIGESTS, version=1, build=fail)
    assert leftovers(store) == []
    assert store.derived("packed", of=DIGESTS, version=1, build=write("whole")).exists()


def test_a_builder_that_makes_nothing_is_an_error(store: Store):
    """A path that does not exist is never given out."""
    with pytest.raises(FileNotFoundError, match="the builder made nothing"):
        store.derived("packed", of=DIGESTS, version=1, build=lambda _path: None)
    assert leftovers(store) == []


def test_a_full_disk_is_one_line_and_leaves_nothing(store: Store):
    """The message says which folder has no room."""

    def fill(path: Path) -> None:
        path.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(DiskFull, match=r"no room for packed in .*: free some disk space"):
        store.derived("packed", of=DIGESTS, version=1, build=fill)
    assert leftovers(store) == []


def test_a_thing_that_was_emptied_is_built_again(store: Store):
    """A crash of the machine can leave a name without its bytes."""
    path = store.derived("packed", of=DIGESTS, version=1, build=write("whole"))
    path.write_bytes(b"")
    again = store.derived("packed", of=DIGESTS, version=1, build=write("whole"))
    assert again.read_text() == "whole"


def test_builders_that_start_together_build_once(store: Store):
    """The second one waits for the first."""
    together = threading.Barrier(3)
    built: list[Path] = []

    def build(path: Path) -> None:
        built.append(path)
        path.write_text("made")

    def ask() -> Path:
        together.wait()
        return store.derived("packed", of=DIGESTS, version=1, build=build)

    with ThreadPoolExecutor(3) as pool:
        paths = {future.result() for future in [pool.submit(ask) for _ in range(3)]}
    assert len(paths) == len(built) == 1
