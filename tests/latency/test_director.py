"""What is played when, on a line that runs as quickly as the machine does."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from known_sounds import voice

from voiceagent.latency import director
from voiceagent.latency.director import Director
from voiceagent.latency.exchange import CueKind, Exchange
from voiceagent.latency.library import Library
from voiceagent.latency.measures import turns_of
from voiceagent.latency.scenario import parse_set
from voiceagent.latency.tape import Tape
from voiceagent.sound.files import Sound, write_wav
from voiceagent.sound.pcm import to_int16

RATE_HZ = 8_000
STEP = RATE_HZ // 50
GAP_S, REPLY_S, STOP_S = 0.7, 3.0, 0.2


class QuickLine:
    """An agent that answers after ``GAP_S`` for ``REPLY_S`` and stops ``STOP_S`` after an onset;
    its time is that of the tape, which passes as quickly as it can be written."""

    rate_hz = RATE_HZ

    def __init__(self, *, answers: bool = True) -> None:
        self._answers = answers
        self._lock = threading.Lock()
        self._mouth = np.zeros(0, dtype=np.float32)
        self._ear = np.zeros(0, dtype=np.float32)
        self._empty = threading.Event()
        self.pressed = ""

    @contextmanager
    def listen(self) -> Iterator[Tape]:
        tape, over = Tape(rate_hz=RATE_HZ), threading.Event()
        running = threading.Thread(target=self._run, args=(tape, over))
        running.start()
        try:
            yield tape
        finally:
            over.set()
            running.join()

    def say(self, sound: Sound) -> None:
        reply = voice(REPLY_S, np.random.default_rng(1), rate_hz=RATE_HZ).astype(np.float32)
        silence = np.zeros(len(sound.pcm) + int(GAP_S * RATE_HZ), dtype=np.float32)
        with self._lock:
            self._empty.clear()
            self._mouth = sound.pcm
            rest = self._ear[: int(STOP_S * RATE_HZ)]
            self._ear = silence
            self._ear[: len(rest)] = rest
            if self._answers:
                self._ear = np.concatenate([self._ear, reply])
        self._empty.wait()

    def press(self, keys: str) -> None:
        self.pressed += keys

    def _run(self, tape: Tape, over: threading.Event) -> None:
        while not over.wait(timeout=0.0005):
            with self._lock:
                both = np.zeros((STEP, 2), dtype=np.float32)
                for side, name in enumerate(("_mouth", "_ear")):
                    pcm = getattr(self, name)
                    both[: len(pcm[:STEP]), side] = pcm[:STEP]
                    setattr(self, name, pcm[STEP:])
                if not len(self._mouth):
                    self._empty.set()
            tape.write(to_int16(both))


@pytest.fixture
def library(tmp_path: Path) -> Library:
    sound = voice(0.5, np.random.default_rng(0), rate_hz=RATE_HZ).astype(np.float32)
    write_wav(tmp_path / "a.wav", sound, RATE_HZ)
    entry = '[[fixture]]\nid = "a"\nfile = "a.wav"\npieces = ["What is", 0.2, "it?"]\n'
    (tmp_path / "manifest.toml").write_text(entry, encoding="utf-8")
    return Library(tmp_path)


def play(
    library: Library, steps: str, *, line: QuickLine | None = None, **options: object
) -> Exchange:
    (scenario,) = parse_set(f"[[scenario]]\nname = 'x'\nsteps = [{steps}]", origin="x").scenarios
    return Director(line or QuickLine(), library, **options).play(scenario, seed=0)


def test_a_reply_is_heard_to_its_end(library: Library) -> None:
    """Two questions, one after the other, each with the words that are in its recording."""
    exchange = play(library, "{ say = 'a' }, { say = 'a' }")
    assert [cue.text for cue in exchange.cues] == ["What is it?"] * 2
    first, second = turns_of(exchange)
    assert first.response_gap_ms == pytest.approx(1000 * GAP_S, abs=25)
    assert second.begin_s is not None
    assert first.reply_end_s is not None
    assert second.begin_s > first.reply_end_s + director.QUIET_S - 0.1


def test_an_interruption_comes_when_it_should(library: Library) -> None:
    """So long after the reply's first sound, and what it did is measured."""
    question, interruption = turns_of(
        play(library, "{ say = 'a' }, { interrupt = 'a', after_ms = 800 }")
    )
    assert question.reply_begin_s is not None
    assert interruption.begin_s is not None
    # The tape runs on while the line is asked to speak, quickly.
    assert 0.78 <= interruption.begin_s - question.reply_begin_s < 2
    assert interruption.stop_ms == pytest.approx(1000 * STOP_S, abs=25)
    assert interruption.response_gap_ms == pytest.approx(1000 * GAP_S, abs=25)


def test_an_interruption_at_a_word(library: Library) -> None:
    """Once the word is recognized in what has been heard of the reply."""

    def words(pcm: np.ndarray, rate_hz: int) -> str:
        return "And there was Light" if len(pcm) / rate_hz > 2.5 else "And there"

    exchange = play(library, "{ say = 'a' }, { interrupt = 'a', at_word = 'light' }", words=words)
    question, interruption = exchange.cues
    assert interruption.from_s - question.from_s > 2.5


def test_nobody_speaks_over_a_reply_that_does_not_come(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The step is left out, and the turn is missed."""
    monkeypatch.setattr(director, "REPLY_TIMEOUT_S", 0.2)
    exchange = play(
        library,
        "{ say = 'a' }, { interrupt = 'a', after_ms = 100 }",
        line=QuickLine(answers=False),
    )
    (turn,) = turns_of(exchange)
    assert turn.is_missed


def test_silence_keys_and_level(library: Library) -> None:
    """Nothing is said for so long; keys are pressed; a recording is played as loud as wanted."""
    line = QuickLine(answers=False)
    exchange = play(
        library,
        "{ press = '1#' }, { silence_ms = 500 }, { noise = 'a', level_db = -20 }",
        line=line,
    )
    assert line.pressed == "1#"
    assert [cue.kind for cue in exchange.cues] == [CueKind.KEYS, CueKind.SILENCE, CueKind.NOISE]
    silence = exchange.cues[1]
    assert silence.until_s - silence.from_s >= 0.5
    recorded = library.recording("a").sound().pcm
    assert np.abs(exchange.mouth).max() == pytest.approx(0.1 * np.abs(recorded).max(), rel=0.01)
