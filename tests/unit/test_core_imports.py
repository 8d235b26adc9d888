"""The pure core: standard library only, and none of it that waits, computes in bulk or talks."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import voiceagent.core

CORE = Path(voiceagent.core.__file__).parent
MODULES = sorted(path.stem for path in CORE.glob("*.py") if path.stem != "__init__")
NOT_IN_CORE = {"asyncio", "random", "time", "socket", "threading", "io", "os", "pathlib"}
"""Of the standard library: no event loop, no clock, no chance, no input or output."""


def imported(path: Path) -> set[str]:
    """Top-level packages that a file imports, with our own as dotted names."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


def test_importing_the_core_loads_nothing_heavy() -> None:
    """Neither torch nor numpy nor asyncio nor pipecat is loaded by any module of the core."""
    program = (
        "import importlib, json, sys\n"
        f"for name in {MODULES!r}: importlib.import_module('voiceagent.core.' + name)\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = {name.split(".")[0] for name in json.loads(done.stdout)}
    assert not loaded & {"torch", "numpy", "asyncio", "pipecat", "rich", "transformers", "aiohttp"}


@pytest.mark.parametrize("module", MODULES)
def test_a_core_module_imports_the_standard_library_and_the_core(module: str) -> None:
    """Nothing of ours outside the core, nothing of anybody else's, nothing that waits or writes."""
    for name in imported(CORE / f"{module}.py"):
        if name.split(".")[0] == "voiceagent":
            assert name == "voiceagent.core" or name.startswith("voiceagent.core.")
        else:
            assert name.split(".")[0] in sys.stdlib_module_names - NOT_IN_CORE
