"""The rules of ``tests/conftest.py``, shown on a small set of tests of their own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
SKIPPED = 'import pytest\ndef test_skipped(): pytest.skip("no microphone")\n'
MODULE_SKIPPED = 'import pytest\npytest.skip("no browser", allow_module_level=True)\n'
EXPECTED_FAILURE = "import pytest\n@pytest.mark.xfail\ndef test_known(): assert False\n"
LONG = "import pytest\n@pytest.mark.long\ndef test_soak(): assert True\n"
REACHES_OUT = "import socket\ndef test_hub(): socket.create_connection(('192.0.2.1', 80), 5)\n"
PASSES = "def test_fine(): assert True\n"


def run_tests(folder: Path, files: dict[str, str], *options: str, ci: bool) -> str:
    """Runs pytest over ``files`` under a copy of the rules and returns what it printed."""
    tests = folder / "tests"
    for name, content in files.items():
        path = tests / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    shutil.copy(CONFTEST, tests)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("COV_")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "tests"]
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment | {"CI": "true" if ci else "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def test_a_skip_is_a_failure_on_ci(tmp_path: Path) -> None:
    """On CI a skipped test and a skipped module fail; an expected failure does not."""
    files = {"unit/test_a.py": SKIPPED, "unit/test_c.py": EXPECTED_FAILURE}
    printed = run_tests(tmp_path, files, ci=True)
    assert "1 failed, 1 xfailed" in printed
    assert "on CI a skip is a failure" in printed
    printed = run_tests(tmp_path, {"unit/test_b.py": MODULE_SKIPPED}, ci=True)
    assert "1 error" in printed


def test_a_skip_is_a_skip_elsewhere(tmp_path: Path) -> None:
    """On a developer's machine a skip stays one."""
    assert "1 skipped" in run_tests(tmp_path, {"unit/test_a.py": SKIPPED}, ci=False)


@pytest.mark.parametrize("name", ["test_stray.py", "attic/test_old.py"])
def test_a_test_outside_the_tiers_stops_the_run(tmp_path: Path, name: str) -> None:
    """A test file that lies in no tier is refused by name."""
    printed = run_tests(tmp_path, {name: PASSES}, ci=False)
    assert f"{name}: a test belongs in exactly one of" in printed


def test_long_tests_are_named_and_left_out(tmp_path: Path) -> None:
    """Without --long the long tests are counted as not run; with it they run."""
    files = {"pipeline/test_soak.py": LONG, "unit/test_fine.py": PASSES}
    printed = run_tests(tmp_path, files, ci=True)
    assert "1 passed, 1 deselected" in printed
    assert "1 tests marked long" in printed
    assert "2 passed" in run_tests(tmp_path, files, "--long", ci=True)


def test_no_test_reaches_another_machine(tmp_path: Path) -> None:
    """A connection to anything but this machine fails at once."""
    printed = run_tests(tmp_path, {"model/test_hub.py": REACHES_OUT}, ci=False)
    assert "a test tried to reach ('192.0.2.1', 80)" in printed
