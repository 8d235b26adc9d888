"""What must hold whatever the draft proposes, through the real engine and the real gateway."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from gateway_doubles import final_text, frames, serving
from scripted_engine import reciting

from voiceagent.core.frames import AppendFrame, CommitFrame, RollbackFrame
from voiceagent.session.statements import Sandbox, SandboxError, code_of

PUSH = {"stream_protocol": "token_push", "retraction": True}
GATED = ("accept_then_flush", "boundary_commit")
PROMPTS = 200
SAID = ["It ", "is ", "not ", "two ", "miles. ", "Yes, ", "really", "."]
LIES = ["is ", "never ", "ten ", "No. ", "!"]


async def test_gated_protocols_never_take_back_over_two_hundred_prompts() -> None:
    """Churn is exactly 1 and there is no rollback, while a pushed stream has plenty of both."""
    with reciting(SAID, lies=LIES) as engine:
        async with serving(engine) as client:
            for number in range(PROMPTS):
                protocol = GATED[number % 2]
                ask = [{"role": "user", "content": f"Prompt {number}"}]
                stream = await frames(
                    client, messages=ask, stream_protocol=protocol, k=1 + number % 6
                )
                assert not any(isinstance(frame, RollbackFrame) for frame in stream)
                assert stream[-1].statistics["churn"] == 1.0  # type: ignore[union-attr]
                assert final_text(stream) == "".join(SAID)
            pushed = await frames(client, **PUSH)
    assert any(isinstance(frame, RollbackFrame) for frame in pushed)
    assert pushed[-1].statistics["churn"] > 1.5  # type: ignore[union-attr]


def predicted_churn(acceptance: float, window: int) -> float:
    """Streamed over final tokens of token push, each guess accepted with one probability.

    A round streams K guesses and the target's own token, and keeps (1 - a^(K+1)) / (1 - a) of them
    (Leviathan et al. 2023, equation 1).
    """
    return (window + 1) * (1 - acceptance) / (1 - acceptance ** (window + 1))


@pytest.mark.parametrize("window", range(1, 7))
async def test_the_churn_of_token_push_is_the_one_predicted(window: int) -> None:
    """With guesses that are right by chance: measured on the wire beside the closed form."""
    letters = "abcdefghij"
    said = list(letters * 19)[:187]
    luck = random.Random(window)
    streamed = final = 0

    def guess(ids: list[int], count: int) -> list[int]:
        right = [1 + (len(ids) - 2 + at) % len(letters) for at in range(count)]
        return [token if luck.random() < 0.7 else len(letters) + 1 for token in right]

    with reciting(said, lies=["X"], drafts=guess, window=window) as engine:
        async with serving(engine, max_tokens=220) as client:
            for _ in range(4):
                stream = await frames(client, **PUSH)
                figures: Any = stream[-1].statistics  # type: ignore[union-attr]
                streamed, final = streamed + figures["streamed"], final + figures["final"]
    assert streamed / final == pytest.approx(predicted_churn(0.7, window), rel=0.08)


# Code -------------------------------------------------------------------------------------------

CODE = ["```python\n", "x = 1\n", "y = x + 1\n", "print(", "x + y", ")\n", "```"]


async def test_no_statement_of_a_rejected_suffix_is_ever_run(tmp_path: Path) -> None:
    """The draft wants to delete a file in every round; statements arrive once, complete."""
    canary = tmp_path / "canary"
    canary.write_text("alive")
    lies = [f"import os; os.remove({str(canary)!r})\n", "raise SystemExit\n", "del x\n"]
    with reciting(CODE, lies=lies) as engine:
        async with serving(engine) as client:
            pushed = await frames(client, surface="code", **PUSH)
            stream = await frames(client, surface="code")
    shown = "".join(frame.text for frame in pushed if isinstance(frame, AppendFrame))
    assert "os.remove" in shown, "the draft did propose it"
    text = final_text(stream)
    commits = [frame for frame in stream if isinstance(frame, CommitFrame)]
    assert [commit.start for commit in commits[1:]] == [commit.to for commit in commits[:-1]]
    statements = [code_of(text[c.start : c.to]) for c in commits if c.kind == "statement"]
    assert statements == ["x = 1", "y = x + 1", "print(x + y)"]
    async with Sandbox() as sandbox:
        ran = [await sandbox.run(statement) for statement in statements]
    assert [each.output for each in ran] == ["", "", "3\n"]
    assert canary.read_text() == "alive"


async def test_the_sandbox_contains_accidents(tmp_path: Path) -> None:
    """An endless loop, an exit and an error cost their interpreter alone; nothing leaks in."""
    async with Sandbox() as sandbox:
        failed = await sandbox.run("1 / 0")
        assert failed.error == "ZeroDivisionError: division by zero"
        assert (await sandbox.run("import os; print(sorted(os.environ))")).output in (
            "[]\n",
            "['LC_CTYPE']\n",
        )
        grown = await sandbox.run("open('big', 'wb').write(b'x' * (4 << 20))")
        assert grown.error is not None
    async with Sandbox(statement_s=0.2) as sandbox:
        with pytest.raises(SandboxError):
            await sandbox.run("while True: pass")
        with pytest.raises(SandboxError):
            await sandbox.run("1")


# Forms ------------------------------------------------------------------------------------------

FORM = ['{"name": "Ann', '", "age', '": 4', "2, ", '"tags": ["a", "b"]', "}"]


async def test_each_field_of_a_form_arrives_once_and_final() -> None:
    """Values are appended whole, and nothing that was appended changes."""
    lies = ['"bob"', "7", "}", "null"]
    with reciting(FORM, lies=lies) as engine:
        async with serving(engine) as client:
            free = {"response_format": {"type": "text"}}  # this target speaks no other language
            stream = await frames(client, surface="form", **free)
    appended = [frame.text for frame in stream if isinstance(frame, AppendFrame)]
    assert json.loads(final_text(stream)) == {"name": "Ann", "age": 42, "tags": ["a", "b"]}
    assert appended[0].endswith('"Ann"')
    assert any(piece.endswith("42") for piece in appended)
    assert stream[-1].statistics["churn"] == 1.0  # type: ignore[union-attr]
