"""Plays a scenario to an agent over a line, and keeps what was recorded and what was played
when."""

import random
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

import numpy as np

from voiceagent.latency.exchange import Cue, CueKind, Exchange
from voiceagent.latency.library import Library
from voiceagent.latency.scenario import Scenario, Step
from voiceagent.latency.tape import Tape
from voiceagent.sound.files import Sound
from voiceagent.sound.pcm import Float32

REPLY_TIMEOUT_S = 15.0
"""Who has not begun to answer by then, or not ended, is not waited for."""
QUIET_S = 1.5
"""Of silence ends a reply: longer than what counts as a stall."""
HOLD_S = 3.0
"""Of silence ends a reply that was held: a recognizer may take its time to say that it was
nothing."""
UNASKED_S = 4.0
"""Nothing is due after noise, a backchannel or "stop": so long is waited for what comes all the
same."""
BEFORE_S = 0.5
"""Of silence before the first word: the reply to the scenario before is over."""
BACKGROUND_S = 0.4
"""Recorded behind the last sound: what is still on its way, and the floor of the recording."""

Words = Callable[[Float32, int], str]
"""What is said in a piece of sound (samples,) at that rate."""


class Line(Protocol):
    """A mouth and an ear of an agent."""

    rate_hz: int

    def listen(self) -> AbstractContextManager[Tape]:
        """Records both sides, as long as the context is open."""
        ...

    def say(self, sound: Sound) -> None:
        """Plays to the agent, and returns when it has been played."""
        ...

    def press(self, keys: str) -> None:
        """Presses keys, and returns when they are."""
        ...


class Director:
    """Plays scenarios.

    Args:
        line: to the agent.
        library: the recordings.
        words: a recognizer, for scenarios that wait for a word; None where there is none.
    """

    def __init__(self, line: Line, library: Library, *, words: Words | None = None) -> None:
        self._line, self._library, self._words = line, library, words

    def play(self, scenario: Scenario, *, seed: int) -> Exchange:
        """Plays one scenario; the same seed draws the same times."""
        rng = random.Random(f"{seed} {scenario.name}")
        cues: list[Cue] = []
        with self._line.listen() as tape:
            tape.wait_for_quiet(for_s=BEFORE_S, timeout_s=REPLY_TIMEOUT_S)
            for step, following in zip(scenario.steps, (*scenario.steps[1:], None), strict=True):
                self._take(step, tape, cues, after_ms=step.draw_ms(rng))
                if following is None or not following.is_over_a_reply:
                    self._hear_out(tape, cues)
            tape.wait_until_s(tape.length_s + BACKGROUND_S)
            mouth, ear = tape.sides()
            return Exchange(
                mouth=mouth,
                ear=ear,
                rate_hz=tape.rate_hz,
                cues=tuple(cues),
                elapsed_s=tape.elapsed_s,
            )

    def _take(self, step: Step, tape: Tape, cues: list[Cue], *, after_ms: float) -> None:
        """One step; over a reply that does not come nothing is done."""
        latest_s = cues[-1].from_s if cues else 0.0
        if step.is_over_a_reply and not self._is_due(step, tape, latest_s, after_ms):
            return
        from_s = tape.length_s
        text = ""
        if step.kind is CueKind.SILENCE:
            tape.wait_until_s(from_s + after_ms / 1000)
        elif step.kind is CueKind.KEYS:
            self._line.press(step.what)
        else:
            recording = self._library.recording(step.what)
            text = recording.text if step.transcript is None else step.transcript
            self._line.say(_levelled(recording.sound(), step.level_db))
        cues.append(
            Cue(
                fixture=step.what or "silence",
                kind=step.kind,
                from_s=from_s,
                until_s=tape.length_s,
                text=text,
            )
        )

    def _is_due(self, step: Step, tape: Tape, from_s: float, after_ms: float) -> bool:
        """Waits for the moment of the reply at which the user speaks."""
        if step.at_word and self._words is not None:
            return self._wait_for_word(step.at_word, tape, from_s)
        return tape.wait_for_sound(from_s=from_s, for_s=after_ms / 1000, timeout_s=REPLY_TIMEOUT_S)

    def _wait_for_word(self, word: str, tape: Tape, from_s: float) -> bool:
        """Listens again and again to what has been said; the word is known a little after it."""
        assert self._words is not None
        if not tape.wait_for_sound(from_s=from_s, for_s=0.3, timeout_s=REPLY_TIMEOUT_S):
            return False
        began_s = tape.length_s
        while tape.length_s - began_s < REPLY_TIMEOUT_S:
            heard = self._words(tape.sides(from_s=from_s)[1], tape.rate_hz)
            if word.casefold() in heard.casefold():
                return True
            tape.wait_until_s(tape.length_s + 0.2)
        return False

    def _hear_out(self, tape: Tape, cues: list[Cue]) -> None:
        """Waits for the end of the reply, where one is due or may go on."""
        if not cues or cues[-1].kind in (CueKind.SILENCE, CueKind.KEYS):
            return
        latest = cues[-1]
        # The rest of the reply that was interrupted is no answer to the interruption.
        from_s = latest.until_s if latest.kind is CueKind.INTERRUPTION else latest.from_s
        is_turn = latest.kind is CueKind.TURN
        if not tape.wait_for_sound(
            from_s=from_s, for_s=0.0, timeout_s=REPLY_TIMEOUT_S if is_turn else UNASKED_S
        ):
            return
        tape.wait_for_quiet(
            for_s=QUIET_S if is_turn else HOLD_S,
            not_before_s=latest.until_s,
            timeout_s=REPLY_TIMEOUT_S,
        )


def _levelled(sound: Sound, level_db: float) -> Sound:
    pcm = np.clip(sound.pcm * 10 ** (level_db / 20), -1, 1).astype(np.float32)
    return Sound(pcm=pcm, rate_hz=sound.rate_hz)
