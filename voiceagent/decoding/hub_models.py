"""Models and tokenizers as hub repositories hold them: safetensors, tokenizer.json, JSON settings.

The gpu preset comes in this form. The model runs on transformers' own modelling code.
"""

import json
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer as Backend

from voiceagent.decoding.errors import EngineError
from voiceagent.decoding.model import TransformersModel
from voiceagent.decoding.tokenizer import Tokenizer
from voiceagent.decoding.vocabulary import Kind


def load_hub_model(folder: Path, *, device: str) -> TransformersModel:
    """The causal model in ``folder``, in bfloat16.

    Raises:
        EngineError: transformers cannot make a model of it.
    """
    from transformers import AutoModelForCausalLM

    try:
        model = AutoModelForCausalLM.from_pretrained(
            folder, dtype=torch.bfloat16, local_files_only=True
        )
    except (OSError, ValueError, KeyError) as error:
        raise EngineError(f"{folder} is not a model that transformers can load: {error}") from error
    return TransformersModel(model, device=device)


def load_hub_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer in ``folder``; as everywhere, text never becomes control tokens.

    Raises:
        EngineError: a file is missing or damaged.
    """
    try:
        described = _read(folder / "tokenizer.json")
        settings = _read(folder / "tokenizer_config.json")
        generation = folder / "generation_config.json"
        ends = _read(generation).get("eos_token_id", []) if generation.exists() else []
        # Without its added tokens the backend cannot take text for one of them.
        added = described.pop("added_tokens")
        plain = {**described, "added_tokens": [], "post_processor": None}
        backend = Backend.from_str(json.dumps(plain))
        facts = _facts(added, described["model"]["vocab"], settings, ends)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EngineError(f"the tokenizer in {folder} cannot be read: {error}") from error
    return Tokenizer(backend, facts)


def _read(path: Path) -> dict[str, Any]:
    described: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return described


def _facts(
    added: list[dict[str, Any]],
    vocabulary: dict[str, int],
    settings: dict[str, Any],
    ends: list[int] | int,
) -> dict[str, Any]:
    special = {str(token["content"]): int(token["id"]) for token in added}
    kinds = {
        str(token["id"]): int(Kind.CONTROL if token["special"] else Kind.USER_DEFINED)
        for token in added
    }
    return {
        "chat_template": settings.get("chat_template") or "",
        "special": special,
        "kinds": kinds,
        "vocabulary_size": max([*vocabulary.values(), *special.values()]) + 1,
        "ends": [ends] if isinstance(ends, int) else ends,
        "bos": special.get(_text(settings.get("bos_token"))),
        "add_bos": bool(settings.get("add_bos_token", False)),
    }


def _text(token: Any) -> str:
    """A token in the settings: its text, or an object that holds it."""
    return str(token.get("content")) if isinstance(token, dict) else str(token)
