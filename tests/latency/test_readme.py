"""The README's latency table is that of a report, and nobody has written in it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def check(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(root / "scripts" / "latency_table"), "--check"],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(ROOT)},
    )


def test_the_table_is_generated() -> None:
    """From docs/latency.json, to the letter."""
    done = check(ROOT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("figure", ["response gap, median", "turns; missed"])
def test_a_changed_figure_is_noticed(figure: str, tmp_path: Path) -> None:
    """Whoever writes another number into the table, or into the figures, is found out."""
    for name in ("README.md", "docs/latency.json", "scripts/latency_table"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    readme = tmp_path / "README.md"
    text = readme.read_text(encoding="utf-8")
    (line,) = [line for line in text.splitlines() if line.startswith(f"| {figure}")]
    readme.write_text(text.replace(line, line[:-1] + "0 |"), encoding="utf-8")
    done = check(tmp_path)
    assert done.returncode == 1
    assert "its latency table is not that of docs/latency.json" in done.stderr
