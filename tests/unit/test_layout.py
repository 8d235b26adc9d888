"""The rooms, what each may import, and the habits every file keeps."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "voiceagent"
SOURCES = sorted(PACKAGE.rglob("*.py"))

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60

# Which outside modules a room must do without, and why it matters.
FORBIDDEN_IMPORTS = {
    # Time, chance and the world are arguments of the core, never its imports.
    "core": {
        *("asyncio", "concurrent", "multiprocessing", "threading", "subprocess", "socket"),
        *("time", "datetime", "random", "secrets", "os", "pathlib", "io", "tempfile", "logging"),
    },
    # The engine can be used without sound and without an event loop.
    "decoding": {"asyncio", "pipecat", "soundfile", "sounddevice", "soxr", "piper"},
    "sound": {"asyncio", "pipecat", "torch", "transformers", "piper"},
    "weights": {"asyncio", "pipecat", "torch", "transformers", "huggingface_hub"},
}


def imported(path: Path) -> Iterator[str]:
    """Every module that a file names in an import, wherever the import stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method of a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def project_files() -> list[Path]:
    """The text files of the project: what git knows, or else what lies in the tree."""
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    suffixes = {".py", ".toml", ".md", ".lock", ".txt", ".html", ".js", ".css", ""}
    paths = [ROOT / name for name in listing.stdout.split("\0") if name]
    return [path for path in paths if path.suffix in suffixes and path.is_file()]


def test_imports_go_one_way() -> None:
    """The contracts of pyproject.toml hold: no room imports one above it or beside it."""
    # In a process of its own: the tool sets up logging for itself and silences what it finds.
    program = "from importlinter import cli; raise SystemExit(cli.lint_imports(no_cache=True))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_core_imports_only_the_standard_library() -> None:
    """Core stands on the standard library and itself alone."""
    foreign = {
        (path.name, name)
        for path in (PACKAGE / "core").rglob("*.py")
        for name in imported(path)
        if name.split(".")[0] not in sys.stdlib_module_names
        and not name.startswith("voiceagent.core")
    }
    assert foreign == set()


@pytest.mark.parametrize("room", FORBIDDEN_IMPORTS)
def test_rooms_do_without_what_they_must_not_know(room: str) -> None:
    """No file of a room imports what the room is built to do without."""
    offences = {
        (str(path.relative_to(ROOT)), name)
        for path in (PACKAGE / room).rglob("*.py")
        for name in imported(path)
        if name.split(".")[0] in FORBIDDEN_IMPORTS[room]
    }
    assert offences == set()


def test_only_one_adapter_imports_piper() -> None:
    """The GPL-licensed synthesizer is imported in its adapter and nowhere else."""
    importers = {
        str(path.relative_to(PACKAGE))
        for path in SOURCES
        if any(name.split(".")[0] == "piper" for name in imported(path))
    }
    assert importers <= {"speech/piper.py"}


def test_files_and_functions_stay_short() -> None:
    """No file and no function outgrows what can be read in one sitting."""
    long_files = {
        str(path.relative_to(ROOT)): lines
        for path in SOURCES
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MAX_FILE_LINES
    }
    long_functions = {
        f"{path.relative_to(ROOT)}:{function.name}": length
        for path in SOURCES
        for function in functions(path)
        if (length := (function.end_lineno or 0) - function.lineno + 1) > MAX_FUNCTION_LINES
    }
    assert long_files | long_functions == {}


def test_every_test_states_its_promise() -> None:
    """Each test function has a docstring that says what is promised."""
    silent = {
        f"{path.relative_to(ROOT)}:{function.name}"
        for path in (ROOT / "tests").rglob("test_*.py")
        for function in functions(path)
        if function.name.startswith("test_") and not ast.get_docstring(function)
    }
    assert silent == set()


# Split so that this file does not find itself.
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b")
MACHINE_PATH = re.compile(r"(?<![\w.~$}/])/(home|ro" r"ot|work|Users|opt)/\w")
REGISTRY_HOST = re.compile(r"pypi\." r"org|files\.pythonhosted|registry\.npmjs|deb\.debian")


@pytest.mark.parametrize(
    ("what", "pattern"),
    [
        ("unfinished work", UNFINISHED),
        ("a path of somebody's machine", MACHINE_PATH),
        ("the host of a package registry", REGISTRY_HOST),
    ],
)
def test_no_file_holds(what: str, pattern: re.Pattern[str]) -> None:
    """No file of the project holds a reminder, a machine's path or a registry's host."""
    found = {
        f"{path.relative_to(ROOT)}:{number}"
        for path in project_files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if pattern.search(line)
    }
    assert found == set(), what


DISTRIBUTIONS = {
    "google": "protobuf",
    "baresip": "baresip-python",
    "audioop": "audioop-lts",
    "faster_whisper": "faster-whisper",
    "opentelemetry": "opentelemetry-api",
    "pipecat": "pipecat-ai",
    "piper": "piper-tts",
    "pytest_asyncio": "pytest-asyncio",
}
"""Imported names that differ from the name of their package."""


def declared(*extras: str) -> set[str]:
    """Names of the packages that the project and some extras declare for this Python."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(each for extra in extras for each in optional[extra])]
    requirements = [Requirement(each) for each in wanted]
    return {each.name for each in requirements if each.marker is None or each.marker.evaluate()}


def outside(paths: list[Path]) -> set[str]:
    """Names of the packages that files import, other than the standard library and ours."""
    names = {name.split(".")[0] for path in paths for name in imported(path)}
    helpers = {path.stem for path in (ROOT / "tests" / "support").glob("*.py")}
    foreign = names - sys.stdlib_module_names - helpers - {"voiceagent", ""}
    return {DISTRIBUTIONS.get(name, name) for name in foreign}


def test_what_is_imported_is_declared() -> None:
    """The package declares each outside package that it imports, and none that it does not."""
    assert outside(SOURCES) == declared("sip")


def test_what_tests_import_is_declared() -> None:
    """The tests import nothing that the development extra does not bring."""
    assert outside(sorted((ROOT / "tests").rglob("*.py"))) <= declared("dev")


def test_what_is_declared_is_pinned() -> None:
    """Every dependency has one exact version in the lock files, and torch is the one we name."""
    locks = [ROOT / "requirements.lock", ROOT / "requirements-dev.lock"]
    lines = [line for lock in locks for line in lock.read_text().splitlines()]
    pinned = dict(line.lower().split("==") for line in lines if not line.startswith("#"))
    assert declared("dev") <= set(pinned)
    assert pinned["torch"] == "2.13.0"
    assert not [name for name in pinned if name.startswith("nvidia")]
