"""The prepared GPU run: its whole logic on the CPU, in tiny shapes, but for capturing itself."""

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "gpu_check"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The script in a process of its own."""
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
    )


def test_everything_but_capturing_holds_on_the_cpu() -> None:
    """Every check is true, drafts were accepted and rejected, and the times come in their order."""
    done = run("--device", "cpu", "--tiny")
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["ok"]
    assert len(result["checks"]) >= 10
    assert all(result["checks"].values())
    reply = result["replies"]["tiny"]
    assert 0 < reply["accepted"] < reply["drafted"]
    assert reply["violations"] == []
    assert (
        0 < reply["first_verified_ms"] <= reply["first_committed_ms"] <= reply["first_released_ms"]
    )
    assert [each["batch"] for each in result["figures"]] == [1, 4, 16]
    for each in result["figures"]:
        assert each["plain_tokens_s"] > 0
        assert each["plain_of_bandwidth"] > 0


def test_without_cuda_it_says_what_to_do() -> None:
    """One line, and no traceback."""
    done = run()
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "--device cpu --tiny" in done.stderr
