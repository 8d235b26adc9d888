"""Doubles for everything in a conversation that is a model: quick, scripted, and able to fail."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from conversations import round_fields
from pipecat.audio.vad.vad_analyzer import VADAnalyzer, VADParams

from voiceagent.core.committer import Commit, Kind
from voiceagent.core.events import Draft, EndReason, Finish, Rollback, Verify
from voiceagent.core.history import Message
from voiceagent.session.models import Models
from voiceagent.sound.files import Sound
from voiceagent.speech.recognizer import Effort, Transcript
from voiceagent.speech.synthesizer import Speech, SynthesisError, Word, no_sound

RATE_HZ = 16_000
CHAR_S = 0.05
"""The tone synthesizer's pace: twenty characters a second."""


def recording(*pieces: tuple[str, float]) -> Sound:
    """A user's sound: ``("voice", seconds)`` and ``("pause", seconds)`` in order."""
    random = np.random.default_rng(0)
    parts = [
        random.uniform(-0.3, 0.3, int(length_s * RATE_HZ)) * (name == "voice")
        for name, length_s in pieces
    ]
    return Sound(pcm=np.concatenate(parts).astype(np.float32), rate_hz=RATE_HZ)


class LoudnessVad(VADAnalyzer):
    """Whatever is loud is a voice."""

    def __init__(self) -> None:
        super().__init__(
            sample_rate=RATE_HZ, params=VADParams(start_secs=0.2, stop_secs=0.2, min_volume=0.0)
        )

    def num_frames_required(self) -> int:
        return 512

    def voice_confidence(self, buffer: bytes) -> float:
        return float(np.abs(np.frombuffer(buffer, dtype=np.int16)).mean() > 500)


@dataclass
class ScriptedRecognizer:
    """One text for each utterance, in order; an exception is raised instead.

    A glance at an utterance that is not over takes the next of ``glances``, at once.
    """

    texts: list[str | Exception]
    hangs_s: float = 0.0
    confident: bool = True
    glances: list[str | Exception] = field(default_factory=list)

    def recognize(self, pcm: Any, *, rate_hz: int, language: str, effort: Effort) -> Transcript:
        texts = self.glances if effort is Effort.GLANCE else self.texts
        time.sleep(self.hangs_s * (effort is not Effort.GLANCE))
        text = texts.pop(0) if texts else ""
        if isinstance(text, Exception):
            raise text
        return Transcript(
            text=text,
            confident=self.confident and bool(text),
            no_speech_probability=0.0,
            average_log_probability=-0.2,
        )


@dataclass
class ScriptedEndOfTurn:
    """Verdicts in order; after them every silence ends the turn."""

    verdicts: list[bool] = field(default_factory=list)

    async def is_complete(self, pcm: Any) -> bool:
        return self.verdicts.pop(0) if self.verdicts else True


@dataclass
class Written:
    """A reply under way; ``cancelled`` once somebody asked for it."""

    cancelled: threading.Event = field(default_factory=threading.Event)

    def cancel(self) -> None:
        self.cancelled.set()


@dataclass
class ScriptedSource:
    """Writes its replies in order, word by word, guessing wrong before every third word.

    ``fails`` makes every reply end as an error after that many words; ``refuses`` raises at once;
    ``hangs`` never says another word after the first.
    """

    replies: list[str]
    fails: int | None = None
    refuses: Exception | None = None
    hangs: bool = False
    pace_s: float = 0.0
    prompts: list[tuple[Message, ...]] = field(default_factory=list)
    writings: list[Written] = field(default_factory=list)
    read: list[tuple[Message, ...]] = field(default_factory=list)
    """Prompts that were read ahead."""
    readings: list[Written] = field(default_factory=list)

    def read_ahead(self, messages: tuple[Message, ...]) -> Written:
        self.read.append(messages)
        self.readings.append(Written())
        return self.readings[-1]

    def write(self, messages: tuple[Message, ...], *, on_event: Callable[[Any], None]) -> Written:
        if self.refuses is not None:
            raise self.refuses
        self.prompts.append(messages)
        written = Written()
        self.writings.append(written)
        text = self.replies.pop(0) if self.replies else ""
        threading.Thread(target=self._run, args=(text, written, on_event), daemon=True).start()
        return written

    def _run(self, text: str, written: Written, on_event: Callable[[Any], None]) -> None:
        at = 0
        rounds: list[dict[str, Any]] = []
        words = text.replace(" ", " \0").split("\0") if text else []
        for number, word in enumerate(words):
            if written.cancelled.wait(self.pace_s):
                return on_event(Finish(reason=EndReason.CANCELLED))
            if self.fails == number:
                return on_event(Finish(reason=EndReason.ERROR))
            drafted = ["wrong "] if number % 3 == 2 else []
            if drafted:
                on_event(Draft(text="wrong "))
                on_event(Rollback(to=at))
            at += len(word)
            on_event(Draft(text=word))
            on_event(Verify(to=at))
            rounds.append(round_fields(rounds, drafted=drafted, accepted=0, then=word))
            on_event(rounds[-1])
            if self.hangs:
                written.cancelled.wait()
                return None
        return on_event(Finish())


@dataclass
class ToneSynthesizer:
    """Twenty characters a second, as a tone; commits that hold a word of ``mute`` have no sound."""

    rate_hz: int = RATE_HZ
    least_words: int = 4
    mute: Sequence[str] = ()
    hangs_s: float = 0.0
    spoken: list[Commit] = field(default_factory=list)

    def synthesize(self, commit: Commit) -> Speech:
        time.sleep(self.hangs_s)
        if commit.kind is Kind.SILENT:
            return no_sound(commit, rate_hz=self.rate_hz)
        if any(word in commit.text for word in self.mute):
            raise SynthesisError(f"no sound of {commit.text!r}")
        self.spoken.append(commit)
        per_char = int(CHAR_S * self.rate_hz)
        tone = np.sin(np.arange(len(commit.text) * per_char) * 0.2) * 8000
        return Speech(
            commit=commit,
            pcm=tone.astype(np.int16),
            rate_hz=self.rate_hz,
            words=tuple(_words(commit, per_char)),
        )


def _words(commit: Commit, per_char: int) -> Iterable[Word]:
    at = 0
    for word in commit.text.split():
        begin = commit.text.index(word, at)
        at = begin + len(word)
        yield Word(
            text=word,
            start=commit.start + begin,
            end=commit.start + at,
            begin_sample=begin * per_char,
            end_sample=at * per_char,
        )


def models(
    *,
    hears: list[str | Exception],
    replies: list[str] | None = None,
    verdicts: list[bool] | None = None,
    source: ScriptedSource | None = None,
    synthesizer: ToneSynthesizer | None = None,
    recognizer: ScriptedRecognizer | None = None,
) -> Models:
    """The models of a conversation in which the user says ``hears``."""
    return Models(
        vad=LoudnessVad,
        end_of_turn=ScriptedEndOfTurn(verdicts or []),
        recognizer=recognizer or ScriptedRecognizer(hears),
        source=source or ScriptedSource(replies or []),
        synthesizer=synthesizer or ToneSynthesizer(),
    )
