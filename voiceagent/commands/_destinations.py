"""Files that a command will write: refused before the work is done, not after it."""

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from voiceagent.core.errors import VoiceAgentError


def check_destinations(wanted: Iterable[Path | None], *, read: Iterable[Path | None] = ()) -> None:
    """Refuses what cannot be written, and what would destroy a file that the command reads.

    ``None`` stands for a file that was not asked for.

    Raises:
        VoiceAgentError: a folder is missing, or one file has two purposes.
    """
    paths = [path for path in wanted if path is not None]
    sources = [path for path in read if path is not None]
    for path in paths:
        _check_place(path)
        for source in sources:
            if _are_one(path, source):
                raise VoiceAgentError(
                    f"{path} is also the file to read ({source}) and would be overwritten; "
                    "give the output another name"
                )
    if len({path.resolve() for path in paths}) < len(paths):
        raise VoiceAgentError("two outputs have the same name; give each its own")


def _check_place(path: Path) -> None:
    if path.is_dir():
        raise VoiceAgentError(f"{path} is a folder; name a file")
    if path.exists() and not path.is_file():
        raise VoiceAgentError(f"{path} is a device or a pipe, not a file; name a file")
    if not path.parent.is_dir():
        raise VoiceAgentError(f"{path}: there is no folder {path.parent}; make it first")
    if not os.access(path.parent, os.W_OK):
        raise VoiceAgentError(f"{path}: the folder {path.parent} cannot be written to")


def _are_one(path: Path, source: Path) -> bool:
    """By any name: relative, a symbolic link, a hard link."""
    return path.exists() and source.exists() and path.samefile(source)


@contextmanager
def private_file(path: Path) -> Iterator[Path]:
    """A hidden file beside ``path``, for its owner alone, that takes its place if all goes well.

    Raises:
        VoiceAgentError: the disk is full, or the like; the line names ``path``.
    """
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        yield partial
        os.replace(partial, path)
    except OSError as error:
        if error.filename not in (None, str(partial)):
            raise  # it is about another file, one that is read
        raise VoiceAgentError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)
