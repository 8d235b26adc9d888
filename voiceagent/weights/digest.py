"""Digests of files, with progress."""

import hashlib
from collections.abc import Callable
from pathlib import Path

# Large enough that hashing, not Python, is the cost; small enough for a smooth progress bar.
CHUNK_BYTES = 1 << 20

OnBytes = Callable[[int], None]
"""Called with the number of bytes done so far."""


def ignore_bytes(done_bytes: int) -> None:
    """An `OnBytes` for those who do not watch."""


def sha256_of(path: Path, *, on_bytes: OnBytes = ignore_bytes) -> str:
    """The SHA-256 of a file's content, in lower-case hexadecimal."""
    digest = hashlib.sha256()
    _feed(digest, path, on_bytes=on_bytes)
    return digest.hexdigest()


def git_blob_sha1_of(path: Path) -> str:
    """What git, and so the hub for its small files, calls a file's content."""
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    _feed(digest, path, on_bytes=ignore_bytes)
    return digest.hexdigest()


def _feed(digest: "hashlib._Hash", path: Path, *, on_bytes: OnBytes) -> None:
    done_bytes = 0
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            digest.update(chunk)
            done_bytes += len(chunk)
            on_bytes(done_bytes)
