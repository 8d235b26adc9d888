"""Model files that lie in a package of this environment. The package is not imported."""

from importlib import metadata
from pathlib import Path

from voiceagent.weights.digest import CHUNK_BYTES
from voiceagent.weights.errors import SourceError
from voiceagent.weights.manifest import InstalledSource


def copy_installed(source: InstalledSource, into: Path) -> None:
    """Copies the file to ``into``.

    Raises:
        SourceError: the package is not installed, or has no such file.
    """
    try:
        found = Path(str(metadata.distribution(source.package).locate_file(source.path)))
    except metadata.PackageNotFoundError as error:
        raise SourceError("not installed") from error
    if not found.is_file():
        raise SourceError(f"has no {source.path}")
    with found.open("rb") as original, into.open("wb") as copy:
        while chunk := original.read(CHUNK_BYTES):
            copy.write(chunk)
