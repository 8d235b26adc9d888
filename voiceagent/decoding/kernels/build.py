"""Builds the kernels with the machine's own C++ compiler, once, and keeps the result.

The key of the cache is everything the result depends on: the sources, the compiler, the flags, what
the CPU can do, and the OpenMP runtime that torch brought along. Sharing that runtime matters: a
second one would be a second pool of threads that spins against the first. It is known by what it
is, not by where it lies: every environment of a machine can use the library that one of them built.
"""

import ctypes
import hashlib
import logging
import os
import platform
import shutil
import subprocess
from functools import cache
from pathlib import Path

import torch

from voiceagent.core.errors import VoiceAgentError
from voiceagent.weights.store import Store

logger = logging.getLogger(__name__)

FORMAT_VERSION = 1
_HERE = Path(__file__).parent
_FLAGS = ("-std=c++17", "-O3", "-march=native", "-ffp-contract=off", "-fopenmp", "-fPIC", "-shared")
# GCC replaces temporaries by their expressions before it gives out registers; the inner loop then
# spills, and a row costs 9 cycles where it costs 5.
_GCC_FLAGS = ("-fno-tree-ter",)
_COMPILE_LIMIT_S = 300


class NoCompiler(VoiceAgentError):
    """The kernels cannot be built here; the message says why."""


def built(store: Store, *, extra_flags: tuple[str, ...] = ()) -> Path:
    """The shared library of the kernels, built if it is not in the cache.

    Raises:
        NoCompiler: there is no C++ compiler, or it failed.
    """
    compiler = _compiler()
    own_flags = _GCC_FLAGS if b"Free Software Foundation" in _version(compiler) else ()
    flags = (*_FLAGS, *own_flags, *extra_flags)
    key = _digest(_sources(), compiler.encode(), _version(compiler), " ".join(flags).encode())
    machine = _digest(_cpu().encode(), torch.__version__.encode(), _openmp_bytes())

    def build(target: Path) -> None:
        logger.info("building the CPU kernels, once for this machine (about ten seconds)")
        _compile(compiler, flags, target)

    return store.derived("kernels.so", of=[key, machine], version=FORMAT_VERSION, build=build)


def load(library: Path) -> ctypes.CDLL:
    """Loads the library; calls release the interpreter's lock."""
    if runtime := _openmp():
        # A library that is loaded already is what the loader finds under its name.
        ctypes.CDLL(str(runtime))
    return ctypes.CDLL(str(library))


def _compiler() -> str:
    named = os.environ.get("CXX")
    for name in (named,) if named else ("c++", "g++", "clang++"):
        if found := shutil.which(name):
            return found
    raise NoCompiler("no C++ compiler was found; on Debian: apt-get install g++")


def _compile(compiler: str, flags: tuple[str, ...], target: Path) -> None:
    runtime = _openmp()
    link = [str(runtime)] if runtime else []
    command = [compiler, *flags, str(_HERE / "lean.cpp"), *link, "-o", str(target)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_COMPILE_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoCompiler(f"{compiler} could not build the kernels: {error}") from error
    if done.returncode:
        first = (done.stderr.strip().splitlines() or ["no message"])[0]
        raise NoCompiler(f"{compiler} could not build the kernels: {first}")


@cache
def _version(compiler: str) -> bytes:
    done = subprocess.run([compiler, "--version"], capture_output=True, timeout=60, check=False)
    return done.stdout


def _sources() -> bytes:
    return b"".join(path.read_bytes() for path in sorted(_HERE.glob("*.[ch]*")))


def _cpu() -> str:
    """What ``-march=native`` looks at."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    kept = ("flags", "Features", "cpu family", "model\t", "model name", "CPU part")
    return "\n".join(sorted({line for line in lines if line.startswith(kept)}))


def _openmp() -> Path | None:
    """The OpenMP runtime inside torch's package."""
    libraries = Path(torch.__file__).parent / "lib"
    homes = (libraries, libraries.parent.parent / "torch.libs")
    patterns = ("libgomp*.so*", "libiomp5*.so*", "libomp*.dylib", "libomp*.so*")
    found = (path for home in homes for pattern in patterns for path in sorted(home.glob(pattern)))
    return next(found, None)


def _openmp_bytes() -> bytes:
    runtime = _openmp()
    return runtime.read_bytes() if runtime else b""


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()
