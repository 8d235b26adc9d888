"""An example consumer of ``surface: code``: runs committed statements, each once, in a sandbox.

A statement that ran cannot be taken back, so this consumer takes what a `boundary_commit` stream
commits and nothing else. Statements run in an interpreter of their own: isolated from the
environment and the user's packages, in an empty folder, with limits on time, memory, processes and
the size of files. That contains accidents; it is no prison for hostile code, which needs a machine
of its own.
"""

import asyncio
import json
import re
import resource
import sys
import tempfile
from dataclasses import dataclass
from typing import Self

from voiceagent.core.errors import VoiceAgentError

STATEMENT_S = 5.0
"""One statement; what takes longer is ended, and the interpreter with it."""
MAX_CPU_S = 10
MAX_MEMORY_BYTES = 512 << 20
MAX_FILE_BYTES = 1 << 20
MAX_PROCESSES = 0
"""None but the interpreter itself (a limit of the kernel's that does not bind root)."""
MAX_OUTPUT_CHARS = 4000

_FENCE = re.compile(r"\s*(```|~~~)")
_INTERPRETER = """\
import contextlib, io, json, sys, traceback
names = {"__name__": "__main__"}
answers, sys.stdin_ = sys.stdout, sys.stdin
for line in sys.stdin_:
    output, error = io.StringIO(), None
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            exec(compile(json.loads(line), "<statement>", "exec"), names)
        except BaseException as caught:
            error = traceback.format_exception_only(caught)[-1].strip()
    answers.write(json.dumps({"output": output.getvalue(), "error": error}) + "\\n")
    answers.flush()
"""


class SandboxError(VoiceAgentError):
    """The interpreter ended, or a statement took too long; nothing more can be run in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A statement that was run."""

    statement: str
    output: str
    error: str | None


def code_of(committed: str) -> str:
    """The code in a committed statement: without fences of its block and blank lines around it."""
    lines = [line for line in committed.split("\n") if not _FENCE.match(line)]
    return "\n".join(lines).strip("\n")


class Sandbox:
    """One interpreter, entered as a context; statements share its names."""

    def __init__(self, *, statement_s: float = STATEMENT_S) -> None:
        self._statement_s = statement_s
        self._process: asyncio.subprocess.Process | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="voiceagent-statements-")

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-S",
            "-c",
            _INTERPRETER,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=self._folder.name,
            env={},
            preexec_fn=_limit,
        )
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self._end()
        self._folder.cleanup()

    async def run(self, statement: str) -> Ran:
        """Runs one committed statement to its end.

        Raises:
            SandboxError: it took too long, or ended the interpreter.
        """
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise SandboxError("the interpreter is not running")
        try:
            process.stdin.write(json.dumps(statement).encode() + b"\n")
            async with asyncio.timeout(self._statement_s):
                answer = json.loads(await process.stdout.readline())
        except (TimeoutError, ValueError, ConnectionError) as error:
            await self._end()
            raise SandboxError(
                f"a statement ended the interpreter: {type(error).__name__}"
            ) from error
        return Ran(
            statement=statement,
            output=str(answer["output"])[:MAX_OUTPUT_CHARS],
            error=answer["error"],
        )

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            if process.returncode is None:
                process.kill()
            await process.wait()


def _limit() -> None:
    """In the new process, before the interpreter starts."""
    limits = {
        resource.RLIMIT_CPU: MAX_CPU_S,
        resource.RLIMIT_AS: MAX_MEMORY_BYTES,
        resource.RLIMIT_FSIZE: MAX_FILE_BYTES,
        resource.RLIMIT_NPROC: MAX_PROCESSES,
        resource.RLIMIT_CORE: 0,
    }
    for limit, most in limits.items():
        resource.setrlimit(limit, (most, most))
