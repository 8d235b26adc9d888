"""The models of a conversation, loaded once and shared by all that follow."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voiceagent.config import Config
from voiceagent.core.history import Message, Role
from voiceagent.session.cores import Shares
from voiceagent.session.llm import Source, Writing
from voiceagent.session.tools import system_prompt
from voiceagent.session.turns import EndOfTurnModel
from voiceagent.speech.services import Recognizer
from voiceagent.speech.synthesizer import Synthesizer

if TYPE_CHECKING:
    from pipecat.audio.vad.vad_analyzer import VADAnalyzer

    from voiceagent.decoding.engine import Engine
    from voiceagent.weights.manifest import Preset
    from voiceagent.weights.store import Store

OnStep = Callable[[str, int, int], None]
"""Told the name of a step, its number and how many there are."""


@dataclass(frozen=True, kw_only=True)
class Models:
    """Everything that listens, thinks and speaks."""

    vad: Callable[[], "VADAnalyzer"]
    """Makes a detector: it has a state of its own for every conversation."""
    end_of_turn: EndOfTurnModel
    recognizer: Recognizer
    source: Source
    synthesizer: Synthesizer
    count_tokens: Callable[[Any], int] | None = None
    digests: tuple[tuple[str, str], ...] = ()
    """Role and SHA-256 of every file."""


class EngineSource:
    """The engine as a source of replies."""

    def __init__(self, engine: "Engine") -> None:
        self.engine = engine

    def write(self, messages: tuple[Message, ...], *, on_event: Callable[[Any], None]) -> Writing:
        """Begins a reply with the configuration's parameters."""
        answers_user = messages[-1].role is Role.USER
        request = self.engine.request(messages, judges_ending=answers_user)
        return self.engine.submit(request, on_event=on_event)

    def read_ahead(self, messages: tuple[Message, ...]) -> Writing:
        """Reads how a prompt will begin, with both models."""
        return self.engine.prepare(messages)


def choose_preset(config: Config) -> "Preset":
    """The configured preset; else ``gpu`` where CUDA is available and ``cpu`` elsewhere."""
    from voiceagent.weights.manifest import Manifest

    name: str | None = config.preset
    if name is None:
        import torch

        name = "gpu" if torch.cuda.is_available() else "cpu"
    return Manifest.load().preset(name)


@contextmanager
def load_models(
    config: Config,
    *,
    preset: "Preset",
    store: "Store",
    shares: Shares,
    on_step: OnStep = lambda step, number, of: None,
) -> Iterator[Models]:
    """Loads and warms up every model; closes the engine at the end.

    Raises:
        VoiceAgentError: a file is missing, damaged, or no such model; the message says what to do.
    """
    from voiceagent.decoding.engine import Engine

    with ExitStack() as stack:

        def load_engine() -> Engine:
            engine = stack.enter_context(Engine.load(config.decoding, preset=preset, store=store))
            engine.warm_up()
            return engine

        yield join_models(
            load_engine, config, preset=preset, store=store, shares=shares, on_step=on_step
        )


def join_models(
    load_engine: "Callable[[], Engine]",
    config: Config,
    *,
    preset: "Preset",
    store: "Store",
    shares: Shares,
    on_step: OnStep = lambda step, number, of: None,
) -> Models:
    """Loads and warms up what listens and speaks, and puts it around an engine that is warm.

    Raises:
        VoiceAgentError: a file is missing, damaged, or no such model; the message says what to do.
    """
    ears = _load_ears(config.persona.language, preset, store, shares=shares, on_step=on_step)
    on_step("voice", 3, 4)
    synthesizer = _load_voice(config, preset, store, shares=shares)
    on_step("language models", 4, 4)
    engine = load_engine()
    # Every conversation begins with these tokens: the first turn need not read them.
    system = Message(Role.SYSTEM, system_prompt(config))
    engine.prepare((system,)).wait()
    return Models(
        **ears,
        source=EngineSource(engine),
        synthesizer=synthesizer,
        count_tokens=engine.count_tokens,
        digests=tuple((file.role, store.digest(file)) for file in preset.all),
    )


def _load_ears(
    language: str, preset: "Preset", store: "Store", *, shares: Shares, on_step: OnStep
) -> dict[str, Any]:
    """VAD, end-of-turn model and recognizer, warmed up, by their names in ``Models``."""
    from voiceagent.speech.recognizer import WhisperRecognizer
    from voiceagent.speech.turns import EndOfTurn, Vad

    on_step("end-of-turn model", 1, 4)
    end_of_turn = EndOfTurn(store.path(preset.files["turn"][0]), threads=shares.turn)
    vad_path = store.path(preset.files["vad"][0])
    end_of_turn.warm_up()
    on_step("recognizer", 2, 4)
    folder = store.folder(preset.files["recognizer"])
    recognizer = WhisperRecognizer(folder, threads=shares.recognizer)
    recognizer.warm_up(language=language)
    return {
        "vad": lambda: Vad(vad_path),
        "end_of_turn": end_of_turn,
        "recognizer": recognizer,
    }


def _load_voice(config: Config, preset: "Preset", store: "Store", *, shares: Shares) -> Synthesizer:
    """Piper for English, whose voice the preset has, else espeak-ng; unless one is named."""
    english = config.persona.language.lower().startswith("en")
    if config.voice.engine == "espeak" or (config.voice.engine is None and not english):
        from voiceagent.speech.espeak import EspeakSynthesizer

        return EspeakSynthesizer(config.voice, language=config.persona.language)
    from voiceagent.speech.piper import PiperSynthesizer

    paths = {file.name.endswith(".onnx"): store.path(file) for file in preset.files["voice"]}
    synthesizer = PiperSynthesizer(
        paths[True],
        paths[False],
        config.voice,
        language=config.persona.language,
        threads=shares.synthesizer,
    )
    synthesizer.warm_up()
    return synthesizer
