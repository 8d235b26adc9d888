"""Files that appear whole or not at all, and locks between processes."""

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout


def write_text(path: Path, text: str) -> None:
    """Replaces ``path`` in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = beside(path)
    try:
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def beside(path: Path) -> Path:
    """A hidden name beside ``path`` that nobody else has; unlike tempfile's, open to the group."""
    return path.with_name(f".{path.name}-{uuid.uuid4().hex[:12]}")


def move_whole(partial: Path, path: Path) -> None:
    """Gives a finished file its final name, after its bytes have reached the disk.

    Without the flush a power failure could leave the name with nothing behind it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with partial.open("rb") as stream:
        os.fsync(stream.fileno())
    os.replace(partial, path)


@contextmanager
def only_one(lock_path: Path, *, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Holds a lock that dies with its process; ``on_wait`` is called if another one has it."""
    lock_path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(lock_path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        on_wait()
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
