"""Tries an import in a process of its own.

A library that was built for another processor ends its process with a signal, one that lacks a
shared library raises, one that hangs would hang: none of that may take the doctor along.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

# torch takes four seconds to import on a slow disk; a minute means that something hangs.
TIMEOUT_S = 60.0

_TORCH = """
import json, torch
cuda = [torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count())]
print(json.dumps({
    "cuda_build": torch.version.cuda,
    "devices": [{"name": d.name, "bytes": d.total_memory} for d in cuda],
    "threads": torch.get_num_threads(),
    "cpu_capability": torch.backends.cpu.get_cpu_capability(),
}))
"""
_SOUNDDEVICE = """
import json, sounddevice
devices = [
    {"name": d["name"], "inputs": d["max_input_channels"], "outputs": d["max_output_channels"]}
    for d in sounddevice.query_devices()
]
print(json.dumps({"devices": devices, "portaudio": sounddevice.get_portaudio_version()[1]}))
"""
_SCRIPTS = {"torch": _TORCH, "sounddevice": _SOUNDDEVICE}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of an import: ``reason`` is empty when it worked."""

    reason: str = ""
    facts: dict[str, Any] = field(default_factory=dict)


Probe = Callable[[str], Outcome]
"""Takes the name of a module."""


def probe(module: str) -> Outcome:
    """Imports ``module`` elsewhere, and asks it what the doctor wants to know."""
    script = _SCRIPTS.get(module, f"import {module}")
    try:
        done = subprocess.run(
            [sys.executable, "-c", script],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Outcome(reason=f"importing it took more than {TIMEOUT_S:g} s")
    if done.returncode < 0:
        return Outcome(reason=f"importing it ended with signal {-done.returncode}")
    if done.returncode > 0:
        return Outcome(reason=_last_line(done.stderr))
    return Outcome(facts=json.loads(_last_line(done.stdout) or "{}"))


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else ""
