"""The JavaScript stream client in a node process of its own, asked line by line."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CLIENT = Path(__file__).parents[2] / "voiceagent" / "gateway" / "page" / "voiceagent-stream.js"
DRIVER = Path(__file__).with_name("stream_client.mjs")


class JavaScriptClient:
    """Reads one stream after the other; each by a new client."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def read(self, messages: list[str]) -> dict[str, Any]:
        """What is shown after these messages, and which of them was ``refused``, if any."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(messages) + "\n")
        self._process.stdin.flush()
        shown: dict[str, Any] = json.loads(self._process.stdout.readline())
        return shown


@contextmanager
def javascript_client() -> Iterator[JavaScriptClient]:
    """Starts node, which ends when its input does."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: scripts/setup --dev")
    command = [node, str(DRIVER), str(CLIENT)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        yield JavaScriptClient(process)
