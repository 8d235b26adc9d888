"""The synthesizer for languages that have no Piper voice here: espeak-ng, a hundred of them.

The library is found on the machine (Debian: ``libespeak-ng1``) and is GPL-3.0-or-later; nothing of
it is part of this project. Interface: espeak-ng's ``speak_lib.h``, version 12.
"""

import ctypes
import ctypes.util
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from threading import Lock

import numpy as np

from voiceagent.config import Voice
from voiceagent.core.committer import Commit
from voiceagent.sound.pcm import Float32, to_float32
from voiceagent.speech.segments import ProfiledVoice, Span, VoiceProfile
from voiceagent.speech.spoken import Spoken, SpokenWord
from voiceagent.speech.synthesizer import SynthesisError

ESPEAK = VoiceProfile(
    gain=0.85,
    sentence_pause_ms=240,
    clause_pause_ms=140,
    least_words=4,
    threshold_dbfs=-60.0,
    evenness_db=6.0,
)
"""A formant synthesizer: clear at any length, silent before and after, peaks near full scale."""
WORDS_PER_MINUTE = 165
"""Of a length scale of 1; espeak's own default is 175."""
_NAMES = {"zh": "cmn", "no": "nb", "en": "en-us"}
"""Languages that espeak calls otherwise."""
_SPEAKING = Lock()
"""The library has one state for the whole process."""

# Constants of speak_lib.h
_SYNCHRONOUS = 2
_NO_EXIT = 0x8000
_UTF8 = 1
_RATE = 1
_LIST_TERMINATED, _WORD, _END = 0, 1, 5


class _Identifier(ctypes.Union):
    _fields_ = (("number", ctypes.c_int), ("name", ctypes.c_char_p), ("string", ctypes.c_char * 8))


class _Event(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", _Identifier),
    )


_Callback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event)
)


@dataclass(frozen=True, slots=True)
class _Mark:
    """A word, or the end of a clause, as espeak came to it."""

    kind: int
    at: int
    """Its first character in the spoken text."""
    sample: int


@cache
def _library() -> tuple[ctypes.CDLL, int]:
    """The library, started, and its sample rate.

    Raises:
        SynthesisError: it is not on this machine.
    """
    name = ctypes.util.find_library("espeak-ng")
    if name is None:
        raise SynthesisError("espeak-ng is not installed (Debian: apt-get install libespeak-ng1)")
    library = ctypes.CDLL(name)
    rate_hz = library.espeak_Initialize(_SYNCHRONOUS, 0, None, _NO_EXIT)
    if rate_hz <= 0:
        raise SynthesisError("espeak-ng does not start: its data files are missing")
    return library, rate_hz


class EspeakSynthesizer(ProfiledVoice):
    """Makes speech of commits with espeak-ng; word times are the library's own events."""

    def __init__(self, config: Voice, *, language: str, profile: VoiceProfile = ESPEAK) -> None:
        """Finds the voice.

        Args:
            config: ``name`` is a voice of espeak's (``de+f3``), else the language chooses.
            language: BCP 47 tag of what is said.
            profile: what the voice needs.

        Raises:
            SynthesisError: espeak-ng is not installed, or has no such voice.
        """
        super().__init__(language=language, profile=profile)
        self._library, self._rate_hz = _library()
        self._gain = profile.gain * config.gain
        self._rate = round(WORDS_PER_MINUTE / config.length_scale)
        with _SPEAKING:
            self._name = self._find(config.name)

    @property
    def rate_hz(self) -> int:
        """Samples per second of the library."""
        return self._rate_hz

    def _say(self, commit: Commit, spoken: Spoken) -> tuple[Float32, list[Span]]:
        """Each word of espeak's laid on the source that it speaks for."""
        sound, marks = self._sound(spoken.text)
        return sound, list(_spans(commit, spoken, marks, length=len(sound)))

    def _find(self, name: str | None) -> bytes:
        """The first of the names that the library knows."""
        primary = self._language.replace("_", "-").split("-")[0].lower()
        wanted = [name] if name else [self._language.lower(), _NAMES.get(primary, primary)]
        for each in wanted:
            if self._library.espeak_SetVoiceByName(each.encode()) == 0:
                return each.encode()
        raise SynthesisError(
            f"espeak-ng has no voice {wanted[-1]!r}; espeak-ng --voices lists them"
        )

    def _sound(self, text: str) -> tuple[Float32, list[_Mark]]:
        """Samples with the gain applied, and where words and clauses begin and end in them."""
        pieces: list[bytes] = []
        marks: list[_Mark] = []

        def take(
            samples: "ctypes._Pointer[ctypes.c_short]",
            count: int,
            events: "ctypes._Pointer[_Event]",
        ) -> int:
            if samples and count:
                pieces.append(ctypes.string_at(samples, 2 * count))
            for event in _listed(events):
                marks.append(_Mark(event.type, event.text_position - 1, event.sample))
            return 0

        callback = _Callback(take)
        data = text.encode()
        with _SPEAKING:
            self._library.espeak_SetSynthCallback(callback)
            self._library.espeak_SetVoiceByName(self._name)
            self._library.espeak_SetParameter(_RATE, self._rate, 0)
            failed = self._library.espeak_Synth(data, len(data) + 1, 0, 0, 0, _UTF8, None, None)
        if failed:
            raise SynthesisError(f"espeak-ng failed on {text!r} (code {failed})")
        pcm = to_float32(np.frombuffer(b"".join(pieces), dtype=np.int16))
        return pcm * np.float32(self._gain), marks


def _listed(events: "ctypes._Pointer[_Event]") -> Iterator[_Event]:
    """The words and ends of clauses in a list that the library terminates."""
    at = 0
    while events[at].type != _LIST_TERMINATED:
        if events[at].type in (_WORD, _END):
            yield events[at]
        at += 1


def _spans(commit: Commit, spoken: Spoken, marks: list[_Mark], *, length: int) -> Iterator[Span]:
    """The words among the marks; each lasts to the next mark, the last to the end of the sound."""
    places = list(_places(spoken))
    for mark, then in zip(marks, [*marks[1:], None], strict=True):
        if mark.kind != _WORD:
            continue
        place = next((each for each in reversed(places) if each[0] <= mark.at), None)
        if place is not None:
            start, end = _source(commit, place, mark, then)
            yield start, end, mark.sample, max(then.sample if then else length, mark.sample)


def _places(spoken: Spoken) -> Iterator[tuple[int, SpokenWord]]:
    """Where each spoken word begins in the spoken text."""
    at = 0
    for word in spoken.words:
        yield at, word
        at += len(word.text) + 1


def _source(
    commit: Commit, place: tuple[int, SpokenWord], mark: _Mark, then: _Mark | None
) -> tuple[int, int]:
    """The source of an espeak word: exact inside a word that is said as it is written.

    Scripts without blanks are spoken character by character, and each has its own time.
    """
    begins, word = place
    ends = begins + len(word.text)
    if commit.text[word.start : word.end] != word.text:
        return word.start, word.end
    start = word.start + mark.at - begins
    inside = then is not None and then.kind == _WORD and mark.at < then.at < ends
    end = word.start + then.at - begins if inside and then is not None else word.end
    return start, end
