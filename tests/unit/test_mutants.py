"""The sabotages of ``scripts/mutants`` still fit the source that they sabotage."""

import importlib.util
import sys
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
    path = ROOT / SCRIPT.DECODING / mutant.file  # type: ignore[attr-defined]  # from the script
    sabotaged = SCRIPT.apply(mutant, path.read_text(encoding="utf-8"))
    compile(sabotaged, str(path), "exec")


def test_there_are_enough_of_them() -> None:
    """At least a dozen, each with a name of its own, and every suite exists."""
    assert len({mutant.name for mutant in SCRIPT.MUTANTS}) == len(SCRIPT.MUTANTS) >= 12
    assert all((ROOT / file).is_file() for files in SCRIPT.SUITES.values() for file in files)
