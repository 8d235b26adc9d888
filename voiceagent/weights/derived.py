"""What is made from model files once and kept: converted tokenizers, packed weights, folder views.

``<cache>/derived/<name>-v<version>-<digests>/<name>``. A folder of that kind appears by one rename,
so it is there only when its builder has finished.
"""

import errno
import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from voiceagent.weights import atomic
from voiceagent.weights.errors import DiskFull, is_disk_full

_SIZES = "sizes.json"


def derived(
    directory: Path,
    name: str,
    *,
    of: Sequence[str],
    version: int,
    build: Callable[[Path], None],
) -> Path:
    """The path of ``name``, made by ``build(path)`` unless it is there already.

    Args:
        directory: where all derived things lie.
        name: a plain file or folder name; ``build`` is given a path that ends in it.
        of: SHA-256 digests of what it is made from.
        version: of the format; a new one supersedes the old, which is removed.

    Raises:
        DiskFull: there is no room for it.
    """
    digests = hashlib.sha256("\n".join(of).encode()).hexdigest()[:16]
    home = directory / f"{name}-v{version}-{digests}"
    if _is_whole(home):
        return home / name
    with atomic.only_one(directory / f".{name}-{digests}.lock"):
        if not _is_whole(home):
            _build(home, name, build)
            _remove_older(directory, name, digests=digests, version=version)
    return home / name


def _build(home: Path, name: str, build: Callable[[Path], None]) -> None:
    workshop = atomic.beside(home)
    try:
        workshop.mkdir()
        build(workshop / name)
        if not (workshop / name).exists():
            raise FileNotFoundError(errno.ENOENT, "the builder made nothing", name)
        (workshop / _SIZES).write_text(json.dumps(_sizes(workshop)), encoding="utf-8")
        shutil.rmtree(home, ignore_errors=True)
        workshop.rename(home)
    except OSError as error:
        if is_disk_full(error):
            raise DiskFull(f"no room for {name} in {home.parent}: free some disk space") from error
        raise
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def _is_whole(home: Path) -> bool:
    """Whether everything has the size that its builder left (a crash can empty a file)."""
    try:
        recorded = json.loads((home / _SIZES).read_text(encoding="utf-8"))
        return bool(_sizes(home) == recorded)
    except (OSError, ValueError):
        return False


def _sizes(home: Path) -> dict[str, int]:
    return {
        str(path.relative_to(home)): path.stat().st_size
        for path in sorted(home.rglob("*"))
        if path.is_file() and path != home / _SIZES
    }


def _remove_older(directory: Path, name: str, *, digests: str, version: int) -> None:
    for old in directory.glob(f"{name}-v*-{digests}"):
        number = old.name.removeprefix(f"{name}-v").removesuffix(f"-{digests}")
        if number.isdigit() and int(number) < version:
            shutil.rmtree(old, ignore_errors=True)
