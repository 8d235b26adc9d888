"""Where a result comes from: digests of everything that could make it another one."""

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from voiceagent import __version__
from voiceagent.decoding.engine import TokenizerLike

if TYPE_CHECKING:
    from voiceagent.weights.manifest import Preset

PACKAGE = Path(__file__).parents[1]
_LIBRARIES = ("torch", "numpy", "transformers", "tokenizers", "llguidance")


def lineage(
    *,
    preset: "Preset",
    tokenizer: TokenizerLike,
    config: Mapping[str, Any],
    plan: Mapping[str, Any],
    prompts: str,
    thresholds: str,
) -> dict[str, Any]:
    """Everything that two results could differ by.

    Args:
        preset: its files are named by their digests.
        tokenizer: digested by the bytes of its vocabulary.
        config: of the decoding.
        plan: what was run, how often, with which seeds.
        prompts, thresholds: digests of their files.
    """
    return {
        "weights": {
            role: {file.name: file.sha256 or file.pin for file in files}
            for role, files in preset.files.items()
            if role in ("target", "draft")
        },
        "tokenizer": digest_of_vocabulary(tokenizer),
        "configuration": dict(config),
        "plan": dict(plan),
        "prompts": prompts,
        "thresholds": thresholds,
        "code": {"version": __version__, "sources": digest_of_sources(), "commit": _commit()},
        "libraries": {name: _version(name) for name in _LIBRARIES},
        "python": platform.python_version(),
        "hardware": hardware(),
    }


def digest(value: Any) -> str:
    """Of anything that JSON can say."""
    return sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def digest_of_vocabulary(tokenizer: TokenizerLike) -> str:
    """The bytes of every id, in order, and the ids that end a reply."""
    hashed = sha256(repr(sorted(tokenizer.eos_ids)).encode())
    for token in range(tokenizer.vocabulary_size):
        data = tokenizer.decode_bytes(token)
        hashed.update(len(data).to_bytes(4, "big") + data)
    return hashed.hexdigest()


def digest_of_sources(folder: Path = PACKAGE) -> str:
    """The program itself: names and bytes of its source files."""
    hashed = sha256()
    for path in sorted(folder.rglob("*.py")) + sorted(folder.rglob("*.cpp")):
        hashed.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return hashed.hexdigest()


def hardware() -> dict[str, Any]:
    """The machine, as far as it shows in figures."""
    return {
        "machine": platform.machine(),
        "processor": _first_of("/proc/cpuinfo", "model name") or platform.processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "memory": _first_of("/proc/meminfo", "MemTotal"),
        "capability": torch.backends.cpu.get_cpu_capability(),
        "accelerator": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "system": f"{platform.system()} {platform.release()}",
    }


def _first_of(path: str, key: str) -> str | None:
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    found = (line.partition(":")[2].strip() for line in lines if line.startswith(key))
    return next(found, None)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    """The commit of a checkout, marked where it was changed; None for an installation."""
    if not (PACKAGE.parent / ".git").exists():
        return None
    git = ["git", "-C", str(PACKAGE.parent)]
    try:
        done = subprocess.run(
            [*git, "describe", "--always", "--dirty", "--abbrev=12"],
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def differences(one: Any, other: Any, *, at: str = "") -> dict[str, tuple[Any, Any]]:
    """Where two objects differ: the dotted path of each leaf, and both values."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        found: dict[str, tuple[Any, Any]] = {}
        for key in sorted(set(one) | set(other), key=str):
            path = f"{at}.{key}" if at else str(key)
            found |= differences(one.get(key), other.get(key), at=path)
        return found
    return {} if one == other else {at: (one, other)}
