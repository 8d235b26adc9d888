"""The sabotages of ``scripts/mutants`` still fit the source that they sabotage."""

import importlib.util
import sys
from collections import Counter
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


def load() -> ModuleType:
    """The script as a module."""
    loader = SourceFileLoader("mutants_script", str(ROOT / "scripts/mutants"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[loader.name] = module  # dataclasses look their module up
    loader.exec_module(module)
    return module


SCRIPT = load()


@pytest.mark.parametrize("mutant", SCRIPT.MUTANTS, ids=lambda mutant: mutant.name)
def test_a_sabotage_fits(mutant: object) -> None:
    """The text it replaces stands in the file exactly once, and the result is still Python."""
    path = ROOT / mutant.path  # type: ignore[attr-defined]  # from the script
    sabotaged = SCRIPT.apply(mutant, path.read_text(encoding="utf-8"))
    compile(sabotaged, str(path), "exec")


def test_there_are_enough_of_them() -> None:
    """Dozens in each of the two rooms, each with a name of its own, and every suite exists."""
    assert len({mutant.name for mutant in SCRIPT.MUTANTS}) == len(SCRIPT.MUTANTS)
    rooms = Counter(mutant.room for mutant in SCRIPT.MUTANTS)
    assert min(rooms["decoding"], rooms["core"]) >= 24
    suites = [files for room in rooms for files in SCRIPT.SUITES[room].values()]
    assert all((ROOT / file).is_file() for files in suites for file in files)
