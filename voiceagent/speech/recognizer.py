"""Recognition of one utterance: sound in, words and how sure we are out.

``WhisperModel.transcribe`` always fills a window of 30 s, and its encoder then takes most of the
time. CTranslate2 takes fewer frames, so the model is called here directly with a window that fits
the utterance; the price is that it sometimes repeats itself, which is noticed and done again with
the full window.
"""

import math
import re
import threading
import zlib
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import numpy as np
from faster_whisper import WhisperModel  # type: ignore[import-untyped]
from faster_whisper.tokenizer import Tokenizer  # type: ignore[import-untyped]
from faster_whisper.transcribe import (  # type: ignore[import-untyped]
    get_ctranslate2_storage,
    get_suppressed_tokens,
)

from voiceagent.core.errors import VoiceAgentError
from voiceagent.sound.pcm import Float32
from voiceagent.sound.resample import resample

RATE_HZ = 16_000
FULL_WINDOW_S = 30.0
"""What Whisper was trained on (Radford et al. 2022, section 2.2)."""
SHORT_WINDOWS_S = (6.0, 10.0)
"""Tried in this order, as far as the utterance fits in. The shorter, the quicker and the more often
a loop: of 147 prompts of 3 s, by one person, 34 in 4 s, 15 in 5 s, 12 in 6 s, 5 in 8 s and 3 in
10 s, at 168, 161, 172, 206 and 252 ms in the median on one core."""
WINDOW_TAIL_S = 1.0
"""Silence that the model must see after the words; without it the last word suffers."""

QUIET_DBFS = -60.0
"""An utterance whose loudest tenth of a second is below this holds nothing to recognize."""
NO_SPEECH_PROBABILITY = 0.6
AVERAGE_LOG_PROBABILITY = -1.0
"""Both from Whisper's own decoding rules (Radford et al. 2022, section 4.5)."""
NO_SPEECH_IN_DOUBT = 0.45
"""The first of them for words that the second doubts: noise gets 0.8 to 0.9 in the full window, for
which the rules were made, and 0.6 to 0.8 in the shortest one here."""
SURE_LOG_PROBABILITY, SURE_WORDS = -0.6, 3
"""So many words, so likely, were said, whatever the window looks like: behind half a second of
digital silence 6 of 100 prompts look like no speech. What is made of noise lies below -1.4, of
music below -0.9, but for a "Thank you." of -0.4."""
COMPRESSION_RATIO = 2.4
"""Text that zlib shrinks more than this repeats itself (the same section)."""
_MOST_TOKENS_PER_S = 8.0
"""Hurried English has about 5 words and 7 tokens a second: more is a loop that need not end."""
_MORE_TOKENS, _MORE_TOKENS_OF_A_GLANCE = 24, 4
"""And so many more. What is cut in a word loops more often, and nobody waits for that to end."""
_FILES = ("model.bin", "config.json", "tokenizer.json")
_LONGEST_PIECE_S = FULL_WINDOW_S - WINDOW_TAIL_S
_SHORTEST_PIECE_S = 20.0
_LOOP = re.compile(r"(\b.{2,60}?\b)(?:\W+\1\b){3,}|\b(\w+(?:\W+\w+){4,40})\W+\2\b", re.IGNORECASE)
"""The same words four times running, or five words and more said twice: people do neither."""
THOROUGH_BEAM = 5


class Effort(Enum):
    """How much is spent on an utterance."""

    GLANCE = "glance"
    """For what is being said and not over: what looks wrong is not looked at again."""
    USUAL = "usual"
    THOROUGH = "thorough"
    """The full window and a beam of five: several times slower and somewhat better, for checks
    rather than conversations."""


class RecognitionError(VoiceAgentError):
    """The recognizer cannot be loaded or failed on an utterance."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said."""

    text: str
    """Empty where there were no words."""
    confident: bool
    """Whether the text may be taken for words that a user said."""
    no_speech_probability: float
    average_log_probability: float
    """Per token, natural logarithm; 0 is certainty."""


NOTHING = Transcript("", False, no_speech_probability=1.0, average_log_probability=0.0)


class WhisperRecognizer:
    """A Whisper model in CTranslate2's format, on the CPU, from a local folder."""

    def __init__(self, folder: Path, *, threads: int = 2) -> None:
        """Loads the model (one to three seconds).

        Raises:
            RecognitionError: the folder does not hold such a model.
        """
        for name in _FILES:
            # Without its tokenizer faster-whisper would ask a hub for another one.
            if not (folder / name).is_file():
                raise RecognitionError(f"cannot load the recognizer: {folder / name} is missing")
        try:
            self._whisper = WhisperModel(
                str(folder),
                device="cpu",
                compute_type="int8",
                cpu_threads=threads,
                local_files_only=True,
            )
        except (RuntimeError, ValueError, OSError) as error:
            raise RecognitionError(f"cannot load the recognizer from {folder}: {error}") from error
        self._tokenizers: dict[str, Tokenizer] = {}
        self._in_use = threading.Lock()

    def warm_up(self, *, language: str = "en") -> None:
        """Runs the model once in the language that will be spoken: its first run is slower.

        Raises:
            RecognitionError: the model does not know the language.
        """
        hum = np.sin(np.arange(RATE_HZ, dtype=np.float32) * 0.1).astype(np.float32)
        try:
            self._decode(hum, window_s=SHORT_WINDOWS_S[0], language=language)
        except ValueError as error:
            raise RecognitionError(
                f"the recognizer knows no language {language!r}: give a code such as en, de or zh"
            ) from error

    def recognize(
        self,
        pcm: Float32,
        rate_hz: int = RATE_HZ,
        language: str = "en",
        *,
        effort: Effort = Effort.USUAL,
    ) -> Transcript:
        """The words of one utterance: float32 samples (n,) in [-1, 1], of any length.

        Calls from several threads take turns. A glance does not wait for its turn but sees nothing
        then: nobody's words wait for glances at several speakers.

        Blocks while the model runs.

        Raises:
            RecognitionError: the model failed, or the samples are not numbers.
            ValueError: an unknown language code.
        """
        if not np.isfinite(pcm).all():
            raise RecognitionError("the utterance holds samples that are not numbers")
        if rate_hz != RATE_HZ:
            pcm = resample(pcm, from_hz=rate_hz, to_hz=RATE_HZ)
        if not self._in_use.acquire(blocking=effort is not Effort.GLANCE):
            return NOTHING
        try:
            pieces = [
                self._piece(piece, language=language, effort=effort) for piece in _pieces(pcm)
            ]
        finally:
            self._in_use.release()
        return _joined([piece for piece in pieces if piece.text] or pieces[:1])

    def _piece(self, pcm: Float32, *, language: str, effort: Effort) -> Transcript:
        if _loudest_dbfs(pcm) < QUIET_DBFS:
            return NOTHING
        beam = THOROUGH_BEAM if effort is Effort.THOROUGH else 1
        more_tokens = _MORE_TOKENS_OF_A_GLANCE if effort is Effort.GLANCE else _MORE_TOKENS
        for window_s in _windows_s(len(pcm) / RATE_HZ, effort):
            decoded = self._decode(
                pcm, window_s=window_s, language=language, beam=beam, more_tokens=more_tokens
            )
            if not decoded.repeats:
                break
        return _judged(decoded)

    def _decode(
        self,
        pcm: Float32,
        *,
        window_s: float,
        language: str,
        beam: int = 1,
        more_tokens: int = _MORE_TOKENS,
    ) -> "_Decoded":
        window = np.zeros(int(window_s * RATE_HZ), dtype=np.float32)
        window[: len(pcm)] = pcm[: len(window)]
        tokenizer = self._tokenizer(language)
        # One frame per 10 ms; the extractor's own padding would add a frame that is not needed.
        frames = int(window_s * self._whisper.frames_per_second)
        features = self._whisper.feature_extractor(window, padding=0)[:, :frames]
        most = more_tokens + int(len(pcm) / RATE_HZ * _MOST_TOKENS_PER_S)
        prompt = [*tokenizer.sot_sequence, tokenizer.no_timestamps]
        try:
            encoded = self._whisper.model.encode(get_ctranslate2_storage(features[np.newaxis]))
            result = self._whisper.model.generate(
                encoded,
                [prompt],
                beam_size=beam,
                max_length=min(len(prompt) + most, self._whisper.max_length),
                return_scores=True,
                return_no_speech_prob=True,
                suppress_blank=True,
                suppress_tokens=list(get_suppressed_tokens(tokenizer, [-1])),
            )[0]
        except RuntimeError as error:
            raise RecognitionError(f"the recognizer failed: {error}") from error
        tokens = result.sequences_ids[0]
        return _Decoded(
            text=tokenizer.decode(tokens).strip(),
            tokens=len(tokens),
            cut_off=len(tokens) >= most,
            # The score is a mean over the tokens; the end of the text counts as one more.
            average_log_probability=result.scores[0] * len(tokens) / (len(tokens) + 1),
            no_speech_probability=result.no_speech_prob,
        )

    def _tokenizer(self, language: str) -> Tokenizer:
        if language not in self._tokenizers:
            self._tokenizers[language] = Tokenizer(
                self._whisper.hf_tokenizer,
                self._whisper.model.is_multilingual,
                task="transcribe",
                language=language,
            )
        return self._tokenizers[language]


@dataclass(frozen=True, slots=True)
class _Decoded:
    text: str
    tokens: int
    cut_off: bool
    average_log_probability: float
    no_speech_probability: float

    @property
    def repeats(self) -> bool:
        """Whether the model went round in circles."""
        return (
            self.cut_off
            or _compression_ratio(self.text) > COMPRESSION_RATIO
            or bool(_LOOP.search(self.text))
        )


def _windows_s(length_s: float, effort: Effort) -> list[float]:
    """The windows to try, one after the other while the model goes round in circles."""
    fitting_s = math.ceil(length_s + WINDOW_TAIL_S)
    least_s = {
        Effort.GLANCE: SHORT_WINDOWS_S[:1],
        Effort.USUAL: (*SHORT_WINDOWS_S, FULL_WINDOW_S),
        Effort.THOROUGH: (FULL_WINDOW_S,),
    }
    return sorted({min(max(each, fitting_s), FULL_WINDOW_S) for each in least_s[effort]})


def _judged(decoded: _Decoded) -> Transcript:
    """What can be believed of one decoding."""
    doubtful = decoded.average_log_probability < AVERAGE_LOG_PROBABILITY
    sure = (
        decoded.average_log_probability >= SURE_LOG_PROBABILITY
        and len(decoded.text.split()) >= SURE_WORDS
    )
    most = NO_SPEECH_IN_DOUBT if doubtful else NO_SPEECH_PROBABILITY
    unlike_speech = decoded.no_speech_probability > most and not sure
    says_something = any(character.isalnum() for character in decoded.text)
    kept = says_something and not unlike_speech and not decoded.repeats
    return Transcript(
        text=decoded.text if kept else "",
        confident=kept and not doubtful,
        no_speech_probability=decoded.no_speech_probability,
        average_log_probability=decoded.average_log_probability,
    )


def _joined(pieces: list[Transcript]) -> Transcript:
    """Several pieces of one utterance: as sure as the least sure of them."""
    return Transcript(
        text=" ".join(piece.text for piece in pieces).strip(),
        confident=all(piece.confident for piece in pieces),
        no_speech_probability=max(piece.no_speech_probability for piece in pieces),
        average_log_probability=min(piece.average_log_probability for piece in pieces),
    )


def _pieces(pcm: Float32) -> list[Float32]:
    """What is longer than a window is cut where it is quietest."""
    pieces = []
    while len(pcm) > _LONGEST_PIECE_S * RATE_HZ:
        earliest = int(_SHORTEST_PIECE_S * RATE_HZ)
        levels = _levels(pcm[earliest : int(_LONGEST_PIECE_S * RATE_HZ)])
        cut = earliest + int(np.argmin(levels)) * _LEVEL_FRAME + _LEVEL_FRAME // 2
        pieces.append(pcm[:cut])
        pcm = pcm[cut:]
    return [*pieces, pcm]


_LEVEL_FRAME = RATE_HZ // 10


def _levels(pcm: Float32) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Mean power of each tenth of a second, the last one filled with silence."""
    padded = np.zeros(-(-max(len(pcm), 1) // _LEVEL_FRAME) * _LEVEL_FRAME)
    padded[: len(pcm)] = pcm
    powers: np.ndarray[tuple[int], np.dtype[np.float64]] = (
        padded.reshape(-1, _LEVEL_FRAME) ** 2
    ).mean(axis=1)
    return powers


def _loudest_dbfs(pcm: Float32) -> float:
    return float(10 * np.log10(_levels(pcm).max() + 1e-12))


def _compression_ratio(text: str) -> float:
    encoded = text.encode()
    return len(encoded) / len(zlib.compress(encoded)) if encoded else 0.0
