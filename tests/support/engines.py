"""Engines over table models, and replies that are watched."""

import queue
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from decoding_doubles import ScriptedDrafter, TableModel, Told, letters

from voiceagent.config import Decoding
from voiceagent.core.events import Finish
from voiceagent.core.history import Message, Role
from voiceagent.decoding.engine import Engine
from voiceagent.decoding.generation import Generation
from voiceagent.decoding.sampling import Sampling

VOCABULARY, EOS = 12, 11
TARGET = TableModel(VOCABULARY, seed=31)
DRAFT = TableModel(VOCABULARY, seed=32, like=TARGET, distance=0.8)
CONFIG = Decoding(context_tokens=120, max_tokens=20, threads=1)
NEVER_ENDS = Sampling(logit_bias={EOS: -100.0})
WAIT_S = 60.0
"""A bound for a machine that is very busy; nothing depends on it."""


class LetterTokenizer:
    """One token for each letter from a to l; l ends a reply."""

    vocabulary_size = VOCABULARY
    eos_ids = frozenset([EOS])

    def encode(self, text: str) -> list[int]:
        return [ord(letter) - ord("a") for letter in text if "a" <= letter <= "l"]

    def decode_bytes(self, token: int) -> bytes:
        return letters(token)

    def render(self, messages: Sequence[Message]) -> list[int]:
        return self.encode("".join(message.content for message in messages))


def says(content: str) -> tuple[Message, ...]:
    """A conversation of one message."""
    return (Message(Role.USER, content),)


@dataclass
class Watched:
    """A reply and what was told of it."""

    generation: Generation
    told: Told

    def wait(self, *, fails: bool = False) -> Told:
        assert self.generation.wait(WAIT_S)
        assert (self.generation.error is not None) is fails, self.generation.error
        finishes = [event for event in self.told.events if isinstance(event, Finish)]
        assert self.told.events[-1:] == finishes, "exactly one Finish, and it is the last event"
        return self.told


def start(engine: Engine, content: str, **changes: Any) -> Watched:
    """Submits a request and watches it."""
    told = Told()
    request = engine.request(says(content), **changes)
    return Watched(engine.submit(request, on_event=told), told)


class Gate:
    """A drafter that stops the engine's thread until the test lets it go on."""

    def __init__(self) -> None:
        self.entered: queue.Queue[None] = queue.Queue()
        self.go_on = threading.Semaphore(0)

    def drafter(self) -> ScriptedDrafter:
        def guess(ids: list[int], count: int) -> list[int]:
            self.entered.put(None)
            assert self.go_on.acquire(timeout=WAIT_S)
            return [0] * count

        return ScriptedDrafter("gate", guess)
