"""The synthesizer for Piper voices, and the only module that imports piper.

piper-tts is GPL-3.0-or-later: who distributes it together with this project must follow the GPL.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import onnx
import onnxruntime  # type: ignore[import-untyped]
from piper.config import PiperConfig, SynthesisConfig
from piper.const import BOS, EOS, PAD
from piper.patch_voice_with_alignment import add_alignment_output
from piper.voice import AudioChunk, PiperVoice

from voiceagent.config import Voice
from voiceagent.core.committer import Commit
from voiceagent.sound.pcm import Float32
from voiceagent.speech.alignment import align
from voiceagent.speech.segments import ProfiledVoice, Span, VoiceProfile
from voiceagent.speech.spoken import Spoken, SpokenWord
from voiceagent.speech.synthesizer import SynthesisError

_STRESS_AND_LENGTH = str.maketrans("", "", "ˈˌː.,;:!?")


JOE_MEDIUM = VoiceProfile(
    gain=1.3,
    sentence_pause_ms=240,
    clause_pause_ms=160,
    least_words=4,
    threshold_dbfs=-60.0,
    evenness_db=4.0,
)
"""Peaks of 0.50 to 0.64 before the gain; silence lies at -90 dBFS; "Yes." alone sounds right, yet a
clause of one word leaves its pause before anything follows; a comma inside a sentence pauses 290 ms
in all, of which the voice itself makes about 130."""

_KNOWN_WORDS = 4096
"""Words whose phonemes are kept: a conversation uses a thousand or two."""


class PiperSynthesizer(ProfiledVoice):
    """Makes speech of commits with one Piper voice, with the time of each word."""

    def __init__(
        self,
        onnx_path: Path,
        config_path: Path,
        config: Voice,
        *,
        language: str = "en",
        profile: VoiceProfile = JOE_MEDIUM,
        threads: int = 2,
    ) -> None:
        """Loads the voice (about a second).

        Raises:
            SynthesisError: the files are no Piper voice.
        """
        self._voice = _load(onnx_path, config_path, threads=threads)
        super().__init__(language=language, profile=profile)
        self._gain = profile.gain * config.gain
        self._alone = lru_cache(maxsize=_KNOWN_WORDS)(self._sounds_alone)
        self._options = SynthesisConfig(
            length_scale=config.length_scale,
            noise_scale=config.noise_scale,
            noise_w_scale=config.noise_width,
            normalize_audio=False,
        )

    @property
    def rate_hz(self) -> int:
        """Samples per second of the voice."""
        return int(self._voice.config.sample_rate)

    def warm_up(self) -> None:
        """Runs the model once: its first run is slower than the rest."""
        self._sound("Hello.")

    def phonemes(self, text: str) -> list[str]:
        """What the voice would say for a text, one string for each of its own sentences."""
        return ["".join(sentence) for sentence in self._voice.phonemize(text)]

    def _sounds_alone(self, word: str) -> str:
        """The phonemes of a word by itself (0.2 ms each), without stress."""
        return "".join(self.phonemes(word)).translate(_STRESS_AND_LENGTH)

    def _sound(self, text: str) -> tuple[Float32, list["_Group"]]:
        """Samples with the gain applied, and the groups of phonemes in them."""
        try:
            chunks = list(self._voice.synthesize(text, self._options, include_alignments=True))
        except (RuntimeError, ValueError) as error:
            raise SynthesisError(f"the voice failed on {text!r}: {error}") from error
        pieces: list[Float32] = []
        groups: list[_Group] = []
        at = 0
        for chunk in chunks:
            samples = np.asarray(chunk.audio_float_array, dtype=np.float32)
            if not np.isfinite(samples).all():
                raise SynthesisError(f"the voice made samples that are not numbers of {text!r}")
            groups += _groups(chunk, ids=self._voice.config.phoneme_id_map, begin=at)
            pieces.append(samples * np.float32(self._gain))
            at += len(samples)
        return (np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.float32)), groups

    def _say(self, commit: Commit, spoken: Spoken) -> tuple[Float32, list[Span]]:
        """Each group of phonemes laid on the source text that it speaks for."""
        sound, groups = self._sound(spoken.text)
        if not groups:
            return sound, []
        said = [word for word in spoken.words if _audible(word)]
        links = align([group.sounds for group in groups], [self._alone(word.text) for word in said])
        spans: list[Span] = []
        for link in links:
            covered = [said[i] for i in link.words]
            sounding = [groups[i] for i in link.groups]
            if covered and sounding:
                end = max(word.end for word in covered)
                spans.append((covered[0].start, end, sounding[0].begin, sounding[-1].end))
            else:
                spans = _stretch_last(spans, covered, sounding)
        return sound, spans


@dataclass(frozen=True, slots=True)
class _Group:
    """Phonemes between two blanks: mostly one word."""

    sounds: str
    begin: int
    end: int
    """Samples from the beginning of the utterance, before anything is trimmed."""


def _load(onnx_path: Path, config_path: Path, *, threads: int) -> PiperVoice:
    try:
        config = PiperConfig.from_dict(json.loads(config_path.read_text(encoding="utf-8")))
        model = onnx.load(str(onnx_path))
        _expose_durations(model)
        session = onnxruntime.InferenceSession(
            model.SerializeToString(),
            sess_options=_session_options(threads),
            providers=["CPUExecutionProvider"],
        )
    except OSError as error:
        raise SynthesisError(f"cannot read the voice: {error}") from error
    except Exception as error:  # protobuf, onnx and onnxruntime raise their own kinds
        raise SynthesisError(f"{onnx_path} is not a Piper voice: {error}") from error
    return PiperVoice(config=config, session=session)


def _expose_durations(model: onnx.ModelProto) -> None:
    """Makes the length of each phoneme an output of the model (a voice may come with it)."""
    if len(model.graph.output) == 1:
        add_alignment_output(model)


def _session_options(threads: int) -> onnxruntime.SessionOptions:
    """Threads that sleep while they wait: the decoding engine shares the cores."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    return options


def _groups(chunk: AudioChunk, *, ids: Mapping[str, Sequence[int]], begin: int) -> list[_Group]:
    """Cuts one chunk's phonemes at blanks; a blank and the marks before it belong to no word."""
    groups: list[_Group] = []
    sounds = ""
    first = last = at = begin
    for phoneme, samples in _timed(chunk, ids=ids):
        is_sound = phoneme not in _NO_SOUND
        if is_sound:
            first = first if sounds else at
            sounds += phoneme.translate(_STRESS_AND_LENGTH)
        at += samples
        if is_sound:
            last = at
        if phoneme == " " and sounds:
            groups.append(_Group(sounds, first, last))
            sounds = ""
    return [*groups, _Group(sounds, first, last)] if sounds else groups


def _timed(chunk: AudioChunk, *, ids: Mapping[str, Sequence[int]]) -> Iterator[tuple[str, int]]:
    """Each phoneme that was given to the model, and how many samples it took.

    piper gives its own list of them, but none at all where one phoneme of the sentence is not
    among the voice's (it leaves such a phoneme out of the model's input).
    """
    if chunk.phoneme_id_samples is None:
        raise SynthesisError("the voice gave no phoneme times; its model has no duration output")
    samples = [int(count) for count in chunk.phoneme_id_samples]
    at = 0
    for phoneme in (BOS, *(known for known in chunk.phonemes if known in ids), EOS):
        # Every phoneme is followed by one padding id, the last one excepted.
        count = len(ids[phoneme]) + (phoneme != EOS) * len(ids[PAD])
        yield phoneme, sum(samples[at : at + count])
        at += count


_NO_SOUND = frozenset(" ^$_.,;:!?")


def _audible(word: SpokenWord) -> bool:
    return any(character.isalnum() for character in word.text)


def _stretch_last(
    spans: list[Span], covered: Sequence[SpokenWord], sounding: Sequence[_Group]
) -> list[Span]:
    """A word without sound, or sound without a word, belongs to what came before it."""
    if not spans:
        return spans
    start, end, first, last = spans[-1]
    end = max([end, *(word.end for word in covered)])
    last = max([last, *(group.end for group in sounding)])
    return [*spans[:-1], (start, end, first, last)]
