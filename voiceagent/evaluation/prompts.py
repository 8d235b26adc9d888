"""The evaluation set: prompts by population, a third of them held out, each with an answer key."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from voiceagent.config import Persona
from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.history import Message, Role

DATA = Path(__file__).parent / "data"
POPULATIONS = ("ordinary", "hard", "adversarial", "others", "assumptions")
"""``others``: people who speak or write otherwise; ``assumptions``: one of the deployment's
assumptions is changed (input removed, contradiction, silence required, noise)."""
SEVERITIES = ("critical", "major", "minor")
_ACKNOWLEDGED = "Okay."
"""What the assistant is taken to have said to each earlier turn."""


class PromptError(VoiceAgentError, ValueError):
    """A prompt that cannot be used; the message names it."""


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """One prompt and how its answer is judged.

    Attributes:
        id: unique in the set.
        population, group: where it belongs, and its sub-population there.
        surface: what would consume the answer.
        user: the last turn of the user; empty where the input is removed.
        check: the answer key (`voiceagent.evaluation.answers`).
        severity: of a wrong answer: ``critical``, ``major`` or ``minor``.
        system: the system prompt; None takes the persona's.
        before: earlier turns of the user.
        quick: belongs to the frozen subset.
        held_out: only confirms what the others said.
        max_tokens: of the answer; None takes the run's.
    """

    id: str
    population: str
    group: str
    surface: str
    user: str
    check: Mapping[str, Any]
    severity: str = "major"
    system: str | None = None
    before: tuple[str, ...] = ()
    quick: bool = False
    held_out: bool = False
    max_tokens: int | None = None

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Self:
        """From a line of a file.

        Raises:
            PromptError: a field is missing, unknown, or has no meaning here.
        """
        try:
            prompt = cls(**{**fields, "before": tuple(fields.get("before", ()))})
        except TypeError as error:
            raise PromptError(f"prompt {fields.get('id')}: {error}") from error
        if prompt.population not in POPULATIONS or prompt.severity not in SEVERITIES:
            raise PromptError(f"prompt {prompt.id}: population or severity is unknown")
        return prompt

    def messages(self, *, salt: str = "") -> tuple[Message, ...]:
        """The conversation. ``salt`` begins it, so that no cache holds it already."""
        system = Persona().system_prompt if self.system is None else self.system
        said = [Message(Role.SYSTEM, f"{salt}{system}")]
        for turn in self.before:
            said += [Message(Role.USER, turn), Message(Role.ASSISTANT, _ACKNOWLEDGED)]
        return (*said, Message(Role.USER, self.user))


@dataclass(frozen=True)
class PromptSet:
    """Prompts and the digest of the files they came from."""

    prompts: tuple[Prompt, ...]
    digest: str

    @classmethod
    def load(cls, folder: Path = DATA / "prompts") -> Self:
        """All populations of a folder.

        Raises:
            PromptError: a line is no prompt, or two have one id.
        """
        return cls._of([(folder / f"{name}.jsonl").read_bytes() for name in POPULATIONS])

    @classmethod
    def of_file(cls, path: Path) -> Self:
        """A deployment's own prompts: lines of the same form.

        Raises:
            PromptError: it cannot be read, a line is no prompt, two have one id, none is held out
                or all are.
        """
        try:
            prompts = cls._of([path.read_bytes()])
        except (OSError, UnicodeDecodeError) as error:
            raise PromptError(f"cannot read the prompts {path}: {error}") from error
        if len({each.held_out for each in prompts.prompts}) < 2:
            raise PromptError(f"{path}: some prompts have to be held out, and others not")
        return prompts

    @classmethod
    def _of(cls, data: Sequence[bytes]) -> Self:
        lines = b"".join(data).decode("utf-8").splitlines()
        prompts = tuple(Prompt.of(_object(line)) for line in lines)
        _check_ids(prompts)
        return cls(prompts, sha256(b"\0".join(data)).hexdigest())

    def named(self, ids: Iterable[str]) -> "PromptSet":
        """Those of these ids, in the set's order.

        Raises:
            PromptError: one is not here.
        """
        wanted = set(ids)
        kept = tuple(each for each in self.prompts if each.id in wanted)
        missing = sorted(wanted - {each.id for each in kept})
        if missing:
            raise PromptError(f"prompt {missing[0]} is not in this set: it was another file")
        return PromptSet(kept, self.digest)

    def quick(self) -> "PromptSet":
        """The frozen subset."""
        return PromptSet(tuple(each for each in self.prompts if each.quick), self.digest)

    def first(self, count: int) -> "PromptSet":
        """The first ``count`` prompts of each population."""
        taken = [each for name in POPULATIONS for each in self.of(name)[:count]]
        return PromptSet(tuple(taken), self.digest)

    def every(self, step: int) -> "PromptSet":
        """Every ``step``-th prompt of each population, one at least."""
        taken = [each for name in POPULATIONS for each in self.of(name)[::step]]
        return PromptSet(tuple(taken), self.digest)

    def of(self, population: str) -> Sequence[Prompt]:
        """Those of one population."""
        return [each for each in self.prompts if each.population == population]


def _object(line: str) -> Mapping[str, Any]:
    try:
        fields = json.loads(line)
    except json.JSONDecodeError as error:
        raise PromptError(f"a line is no JSON object: {error}") from error
    if not isinstance(fields, dict):
        raise PromptError("a line is no JSON object")
    return fields


def _check_ids(prompts: Iterable[Prompt]) -> None:
    seen: set[str] = set()
    for prompt in prompts:
        if prompt.id in seen:
            raise PromptError(f"prompt {prompt.id}: there are two of that id")
        seen.add(prompt.id)
