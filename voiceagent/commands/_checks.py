"""What the doctor looks at, one function for each thing; every one returns a `Check`."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from pathlib import Path

from voiceagent.commands._probe import Outcome

# Modules that a conversation from a file imports, and the packages that bring them.
LIBRARIES = {
    "torch": "torch",
    "transformers": "transformers",
    "pipecat.pipeline.pipeline": "pipecat-ai",
    "piper": "piper-tts",
    "faster_whisper": "faster-whisper",
    "onnxruntime": "onnxruntime",
    "soundfile": "soundfile",
    "numpy": "numpy",
    "aiohttp": "aiohttp",
}
LICENCES = {
    "voiceagent": "Apache-2.0",
    "piper-tts": "GPL-3.0-or-later: a distributor of the combination must follow the GPL",
}
MINIMUM_PYTHON = (3, 11)
# Both models packed, the recognizer, the voice and their working memory.
COMFORTABLE_MEMORY_BYTES = 4 << 30
CPU_FEATURES = ("avx2", "fma", "avx512f", "avx512_vnni", "avx_vnni", "amx_int8", "asimddp", "i8mm")
_CUDA_REMEDY = "there is an NVIDIA driver here: install a CUDA build of torch to use it"
# Vector instructions without which decoding on this processor is slow.
QUICK_FEATURES = frozenset({"avx2", "asimddp"})


class State(StrEnum):
    """How a check went."""

    OK = "ok"
    NOTE = "note"
    """Something that a conversation from a file can do without."""
    MISSING = "missing"
    """Something that it can't do without."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One line of the doctor's report."""

    name: str
    state: State
    detail: str
    remedy: str = ""


def check_python() -> Check:
    """The interpreter."""
    detail = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info[:2] >= MINIMUM_PYTHON:
        return Check(name="python", state=State.OK, detail=detail)
    wanted = ".".join(map(str, MINIMUM_PYTHON))
    return Check(
        name="python",
        state=State.MISSING,
        detail=detail,
        remedy=f"install Python {wanted} or newer and make the environment again",
    )


def check_library(package: str, outcome: Outcome) -> Check:
    """A package that a conversation needs: whether it can be imported, and its version."""
    version = version_of(package)
    if version is None or outcome.reason:
        return Check(
            name=package,
            state=State.MISSING,
            detail=outcome.reason or "not installed",
            remedy=f"{sys.executable} -m pip install --force-reinstall '{package}'",
        )
    return Check(name=package, state=State.OK, detail=version)


def check_cuda(torch: Outcome) -> Check:
    """What decoding runs on, and with how many threads."""
    if torch.reason:
        return Check(name="cuda", state=State.NOTE, detail="unknown: torch cannot be imported")
    threads = f"{torch.facts['threads']} threads, {torch.facts['cpu_capability']} kernels"
    devices = torch.facts["devices"]
    if devices:
        names = ", ".join(f"{d['name']} ({gibibytes(d['bytes'])})" for d in devices)
        return Check(name="cuda", state=State.OK, detail=f"{names}; CPU: {threads}")
    build = torch.facts["cuda_build"]
    why = "torch is built for the CPU" if build is None else f"no device for CUDA {build}"
    return Check(
        name="cuda",
        state=State.NOTE,
        detail=f"not available ({why}): the cpu preset is used; {threads}",
        remedy=_CUDA_REMEDY if build is None and shutil.which("nvidia-smi") else "",
    )


def check_sound(sounddevice: Outcome) -> Check:
    """Microphone and loudspeaker."""
    if "OSError" in sounddevice.reason:  # what is absent, hidden or broken is the C library
        absent = "PortAudio library not found" in sounddevice.reason
        why = "is not installed" if absent else f"cannot be loaded ({sounddevice.reason})"
        return Check(
            name="sound",
            state=State.NOTE,
            detail=f"the PortAudio library {why}: no microphone, no loudspeaker",
            remedy=_portaudio_remedy(),
        )
    if sounddevice.reason:
        return Check(
            name="sound",
            state=State.NOTE,
            detail=sounddevice.reason,
            remedy=f"{sys.executable} -m pip install --force-reinstall sounddevice",
        )
    return _describe_devices(sounddevice.facts["devices"], sounddevice.facts["portaudio"])


def _describe_devices(devices: Sequence[dict[str, object]], portaudio: str) -> Check:
    inputs = [str(d["name"]) for d in devices if d["inputs"]]
    outputs = [str(d["name"]) for d in devices if d["outputs"]]
    if inputs and outputs:
        detail = f"in: {', '.join(inputs)}; out: {', '.join(outputs)}"
        return Check(name="sound", state=State.OK, detail=detail)
    lacking = " and no ".join(
        name for name, found in (("input", inputs), ("output", outputs)) if not found
    )
    return Check(
        name="sound",
        state=State.NOTE,
        detail=f"no {lacking} device ({portaudio.partition(',')[0]})",
        remedy="connect a sound card, or talk from files: voiceagent talk --in A.wav --out B.wav",
    )


def _portaudio_remedy() -> str:
    # --reinstall also brings back a file that the package manager believes to be there.
    if sys.platform == "darwin":
        return "brew install portaudio"
    return "apt-get install --reinstall libportaudio2"


def check_processor() -> Check:
    """Cores and the vector instructions that decoding is quick with."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    features = cpu_features()
    detail = f"{platform.machine()}, {cores} cores"
    if features is None:
        return Check(name="processor", state=State.NOTE, detail=f"{detail}, features unknown")
    detail += f", {' '.join(features) or 'no vector instructions of interest'}"
    if QUICK_FEATURES.intersection(features):
        return Check(name="processor", state=State.OK, detail=detail)
    return Check(name="processor", state=State.NOTE, detail=f"{detail}: decoding will be slow")


def cpu_features(cpuinfo: Path = Path("/proc/cpuinfo")) -> tuple[str, ...] | None:
    """Those of `CPU_FEATURES` that this processor has; None where the system does not say."""
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    flags = next((line for line in lines if line.lower().startswith(("flags", "features"))), "")
    return tuple(feature for feature in CPU_FEATURES if feature in flags.split())


def check_compiler() -> Check:
    """Builds the packed-weight kernels; without it decoding uses torch's own."""
    for name in (os.environ.get("CXX", ""), "c++", "g++", "clang++"):
        if name and (path := shutil.which(name)):
            return Check(name="compiler", state=State.OK, detail=_first_line_of_version(path))
    return Check(
        name="compiler",
        state=State.NOTE,
        detail="no C++ compiler: decoding on the CPU uses slower kernels",
        remedy="xcode-select --install" if sys.platform == "darwin" else "apt-get install g++",
    )


def _first_line_of_version(path: str) -> str:
    done = subprocess.run(
        [path, "--version"], capture_output=True, text=True, timeout=10, check=False
    )
    return (done.stdout.splitlines() or [path])[0]


def check_memory(meminfo: Path = Path("/proc/meminfo")) -> Check:
    """Whether the models fit."""
    try:
        lines = meminfo.read_text(encoding="utf-8").splitlines()
    except OSError:
        return Check(name="memory", state=State.NOTE, detail="unknown on this system")
    sizes = {line.split(":")[0]: int(line.split()[1]) << 10 for line in lines if " kB" in line}
    free_bytes = sizes.get("MemAvailable", 0)
    detail = f"{gibibytes(free_bytes)} of {gibibytes(sizes.get('MemTotal', 0))} available"
    if free_bytes >= COMFORTABLE_MEMORY_BYTES:
        return Check(name="memory", state=State.OK, detail=detail)
    return Check(
        name="memory",
        state=State.NOTE,
        detail=f"{detail}; the cpu preset is comfortable with "
        f"{gibibytes(COMFORTABLE_MEMORY_BYTES)}",
        remedy="end other programs, or use --preset tiny",
    )


def check_disk(directory: Path) -> Check:
    """Room for models, in a folder that can be written to."""
    existing = next(each for each in (directory, *directory.parents) if each.exists())
    usable = existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)
    # What is full or read-only may still hold every model: that is another check's to say.
    free_bytes = shutil.disk_usage(existing).free if usable else 0
    if free_bytes:
        detail = f"{gibibytes(free_bytes)} free at {directory}"
        return Check(name="disk", state=State.OK, detail=detail)
    why = "no room" if usable else "not a folder that can be written to"
    return Check(
        name="disk",
        state=State.NOTE,
        detail=f"{directory}: {why}: nothing can be fetched or built",
        remedy="name another folder: export VOICEAGENT_CACHE=/a/folder/of/yours",
    )


def version_of(package: str) -> str | None:
    """The installed version, or None."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def gibibytes(size: int) -> str:
    """A size for people."""
    return f"{size / (1 << 30):.1f} GiB"
