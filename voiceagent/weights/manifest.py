"""The list of model files: what each is for, how it is recognized and where it can be had."""

import dataclasses
import string
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from voiceagent.weights.errors import ManifestError

FORMAT = 1
ROLES = ("target", "draft", "recognizer", "voice", "vad", "turn")
_HEX_DIGITS = frozenset(string.hexdigits.lower())


@dataclass(frozen=True, slots=True, kw_only=True)
class HubSource:
    """A file of a Hugging Face repository, pinned by commit."""

    repository: str
    revision: str
    path: str

    def __str__(self) -> str:
        return f"Hugging Face {self.repository}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelPart:
    """A member of one wheel on the package index."""

    package: str
    version: str
    member: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelSource:
    """Wheels whose members, concatenated in order, are the file."""

    parts: tuple[WheelPart, ...]

    def __str__(self) -> str:
        first, last = self.parts[0], self.parts[-1]
        if first == last:
            return f"package index {first.package}"
        return f"package index {first.package} to {last.package}"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledSource:
    """A data file of a package that is installed in this environment."""

    package: str
    path: str

    def __str__(self) -> str:
        return f"installed package {self.package}"


Source = HubSource | WheelSource | InstalledSource


@dataclass(frozen=True, kw_only=True)
class File:
    """One model file.

    ``bytes`` and ``sha256`` are None where the publisher's digest is recorded at the first fetch.
    """

    role: str
    name: str
    bytes: int | None
    sha256: str | None
    licence: str
    sources: tuple[Source, ...]
    origin: str = ""
    presets: tuple[str, ...] = dataclasses.field(default=("cpu",), compare=False)
    preset: str = dataclasses.field(default="cpu", compare=False)
    """The preset through which the file was asked for: error messages name it."""

    @property
    def pin(self) -> str:
        """Names the file where no digest does: repository, revision and path."""
        hub = next(source for source in self.sources if isinstance(source, HubSource))
        return f"{hub.repository}@{hub.revision}/{hub.path}"

    def __str__(self) -> str:
        return f"{self.role} model {self.name}"


@dataclass(frozen=True, kw_only=True)
class Preset:
    """The files of one way to run: role to files, in the manifest's order."""

    name: str
    files: Mapping[str, tuple[File, ...]]

    @cached_property
    def all(self) -> tuple[File, ...]:
        """Every file, role by role."""
        return tuple(file for group in self.files.values() for file in group)

    @property
    def drafter(self) -> str:
        """``model`` where the preset has a draft model, else ``ngram``."""
        return "model" if "draft" in self.files else "ngram"


@dataclass(frozen=True)
class Manifest:
    """All files of all presets."""

    files: tuple[File, ...]

    @classmethod
    def load(cls, path: Path | None = None) -> Self:
        """Reads ``path``, or the manifest that came with this installation.

        Raises:
            ManifestError: it cannot be found or read, or an entry has no meaning.
        """
        found = path or _find_manifest()
        try:
            tree = tomllib.loads(found.read_text(encoding="utf-8"))
        except OSError as error:
            raise ManifestError(f"cannot read {found}: {error.strerror}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ManifestError(f"{found} is not TOML: {error}") from error
        try:
            return cls(_read_files(tree))
        except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
            raise ManifestError(f"{found}: {_reason(error)}") from error

    @property
    def presets(self) -> tuple[str, ...]:
        """The names of all presets, in the order of their first file."""
        return tuple(dict.fromkeys(name for file in self.files for name in file.presets))

    def preset(self, name: str) -> Preset:
        """The files of one preset.

        Raises:
            ManifestError: there is no such preset.
        """
        files: dict[str, tuple[File, ...]] = {}
        for file in self.files:
            if name in file.presets:
                asked = dataclasses.replace(file, preset=name)
                files[file.role] = (*files.get(file.role, ()), asked)
        if not files:
            raise ManifestError(f"no preset {name!r}; there are: {', '.join(self.presets)}")
        return Preset(
            name=name, files={role: files[role] for role in sorted(files, key=ROLES.index)}
        )


def _find_manifest() -> Path:
    """In an installed package it lies beside this module, in the source tree in ``models/``."""
    beside = Path(__file__).with_name("manifest.toml")
    in_tree = Path(__file__).parents[2] / "models" / "manifest.toml"
    return beside if beside.is_file() else in_tree


def _read_files(tree: Mapping[str, Any]) -> tuple[File, ...]:
    if tree.get("format") != FORMAT:
        raise ValueError(f"format {tree.get('format')!r}; this version reads {FORMAT}")
    files = [_read_file(entry) for entry in tree.get("file", [])]
    for entry in tree.get("repository", []):
        files.extend(_read_repository(entry))
    return tuple(files)


def _read_file(entry: Mapping[str, Any]) -> File:
    return File(
        role=_role(entry["role"]),
        name=_plain_name(entry["name"]),
        bytes=_size(entry["bytes"]),
        sha256=_digest(entry["sha256"]),
        licence=entry["licence"],
        origin=entry.get("origin", ""),
        presets=tuple(entry["presets"]),
        preset=entry["presets"][0],
        sources=_read_sources(entry["source"]),
    )


def _read_repository(entry: Mapping[str, Any]) -> list[File]:
    return [_read_repository_file(entry, path) for path in entry["files"]]


def _read_repository_file(entry: Mapping[str, Any], path: str) -> File:
    known = entry.get("known", {}).get(path, {})
    hub = HubSource(repository=entry["hub"], revision=entry["revision"], path=path)
    return File(
        role=_role(entry["role"]),
        name=_plain_name(path),
        bytes=_size(known["bytes"]) if known else None,
        sha256=_digest(known["sha256"]) if known else None,
        licence=entry["licence"],
        origin=entry.get("origin", ""),
        presets=tuple(entry["presets"]),
        preset=entry["presets"][0],
        sources=(hub,),
    )


def _read_sources(entries: Sequence[Mapping[str, Any]]) -> tuple[Source, ...]:
    if not entries:
        raise ValueError("a file without a source")
    return tuple(_read_source(entry) for entry in entries)


def _read_source(entry: Mapping[str, Any]) -> Source:
    if "hub" in entry:
        return HubSource(repository=entry["hub"], revision=entry["revision"], path=entry["path"])
    if "installed" in entry:
        return InstalledSource(package=entry["installed"], path=entry["path"])
    numbers = range(1, entry.get("parts", 1) + 1)
    return WheelSource(parts=tuple(_read_part(entry, n) for n in numbers))


def _read_part(entry: Mapping[str, Any], n: int) -> WheelPart:
    return WheelPart(
        package=entry["package"].format(n=n),
        version=entry["version"],
        member=entry["member"].format(n=n),
    )


def _role(role: str) -> str:
    if role not in ROLES:
        raise ValueError(f"unknown role {role!r}; roles are {', '.join(ROLES)}")
    return role


def _plain_name(name: str) -> str:
    """A name that cannot lead out of its folder."""
    if name != Path(name).name or name.startswith("."):
        raise ValueError(f"{name!r} is not a plain file name")
    return name


def _size(size: int) -> int:
    if not isinstance(size, int) or size <= 0:
        raise ValueError(f"{size!r} is not a number of bytes")
    return size


def _digest(digest: str) -> str:
    if len(digest) != 64 or not _HEX_DIGITS.issuperset(digest):
        raise ValueError(f"{digest!r} is not a SHA-256 in lower-case hexadecimal")
    return digest


def _reason(error: Exception) -> str:
    return f"a key is missing: {error}" if isinstance(error, KeyError) else str(error)
