"""The models of a preset, from the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from voiceagent.decoding.errors import EngineError
from voiceagent.decoding.hub_models import load_hub_model, load_hub_tokenizer
from voiceagent.decoding.model import CausalModel, load_model
from voiceagent.decoding.tokenizer import Tokenizer

if TYPE_CHECKING:
    from voiceagent.config import Decoding
    from voiceagent.weights.manifest import File, Preset
    from voiceagent.weights.store import Store


@dataclass(frozen=True)
class Models:
    """What an engine stands on."""

    target: CausalModel
    tokenizer: Tokenizer
    draft: CausalModel | None
    candidate: CausalModel | None = None
    """A draft model on trial (`decoding.trial_file`)."""


def load_models(config: Decoding, *, preset: Preset, store: Store) -> Models:
    """Target, tokenizer and, where it will be used, the draft model.

    Raises:
        MissingWeights, DamagedWeights, GgufError, TokenizerError, EngineError: the message says
            what to do.
    """
    device = "cuda" if preset.name == "gpu" and torch.cuda.is_available() else "cpu"
    targets, drafts = preset.files["target"], preset.files.get("draft", ())
    load = partial(_load_model, config=config, store=store, device=device)
    return Models(
        load(targets),
        _load_tokenizer(targets, store),
        load(drafts) if drafts else None,
        load_candidate(config, store=store, device=device),
    )


def load_candidate(config: Decoding, *, store: Store, device: str = "cpu") -> CausalModel | None:
    """The draft model on trial; None where there is none.

    Raises:
        MissingWeights, DamagedWeights, GgufError, EngineError: the message says what to do.
    """
    if config.trial_file is None or config.trial_file_sha256 is None:
        return None
    if not config.trial_file.endswith(".gguf"):
        raise EngineError(f"decoding.trial_file: {config.trial_file} is no GGUF file")
    file = store.admit(Path(config.trial_file), sha256=config.trial_file_sha256)
    return _load_model([file], config=config, store=store, device=device)


def _load_model(
    files: Sequence[File], *, config: Decoding, store: Store, device: str
) -> CausalModel:
    if _is_gguf(files):
        return load_model(
            store,
            files[0],
            threads=config.threads,
            device=device,
            context_tokens=config.context_tokens,
        )
    return load_hub_model(store.folder(files), device=device)


def _load_tokenizer(files: Sequence[File], store: Store) -> Tokenizer:
    if _is_gguf(files):
        return Tokenizer.load(store, files[0])
    return load_hub_tokenizer(store.folder(files))


def _is_gguf(files: Sequence[File]) -> bool:
    return files[0].name.endswith(".gguf")


def machine_preset() -> str:
    """The preset of a machine where none was chosen."""
    return "gpu" if torch.cuda.is_available() else "cpu"
