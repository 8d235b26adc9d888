"""The models of a preset, from the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from voiceagent.decoding.model import CausalModel, load_model
from voiceagent.decoding.tokenizer import Tokenizer

if TYPE_CHECKING:
    from voiceagent.config import Decoding
    from voiceagent.weights.manifest import Preset
    from voiceagent.weights.store import Store


@dataclass(frozen=True)
class Models:
    """What an engine stands on."""

    target: CausalModel
    tokenizer: Tokenizer
    draft: CausalModel | None


def load_models(config: Decoding, *, preset: Preset, store: Store) -> Models:
    """Target, tokenizer and, where it will be used, the draft model.

    Raises:
        MissingWeights, DamagedWeights, GgufError, TokenizerError: the message says what to do.
    """
    device = "cuda" if preset.name == "gpu" and torch.cuda.is_available() else "cpu"
    target = preset.files["target"][0]
    drafts = preset.files.get("draft", ())
    return Models(
        load_model(store, target, threads=config.threads, device=device),
        Tokenizer.load(store, target),
        load_model(store, drafts[0], threads=config.threads, device=device) if drafts else None,
    )


def machine_preset() -> str:
    """The preset of a machine where none was chosen."""
    return "gpu" if torch.cuda.is_available() else "cpu"
