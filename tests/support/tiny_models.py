"""Small decoders with random weights, as GGUF files and as models of transformers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tiny_gguf import random_tensor, write_model
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from voiceagent.decoding.gguf import BlockType, GgufTensor
from voiceagent.weights.manifest import File

HIDDEN, HEADS, KV_HEADS, HEAD_SIZE, FEED_FORWARD, LAYERS, VOCABULARY = 256, 4, 2, 64, 512, 2, 100
CONTEXT = 512
_SIZES: dict[str, Any] = {
    "hidden_size": HIDDEN,
    "intermediate_size": FEED_FORWARD,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "head_dim": HEAD_SIZE,
    "vocab_size": VOCABULARY,
    "max_position_embeddings": CONTEXT,
    "rms_norm_eps": 1e-5,
}
_NAMES = {
    "input_layernorm.weight": "attn_norm.weight",
    "post_attention_layernorm.weight": "ffn_norm.weight",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
ARCHITECTURES = ("llama", "qwen2", "qwen3")


def reference(architecture: str, *, tied: bool = False) -> PreTrainedModel:
    """A model of transformers in float32, its weights large enough that positions matter."""
    torch.manual_seed(11)
    sizes = _SIZES | {"tie_word_embeddings": tied}
    rotary = {"rope_theta": 5000.0, "rope_type": "default"}
    kinds: dict[str, Any] = {
        "llama": (LlamaConfig, LlamaForCausalLM),
        "qwen2": (Qwen2Config, Qwen2ForCausalLM),
        "qwen3": (Qwen3Config, Qwen3ForCausalLM),
    }
    config, model = kinds[architecture]
    made: PreTrainedModel = model(config(**sizes, rope_parameters=rotary)).float().eval()
    with torch.no_grad():
        for parameter in made.parameters():
            scale = 0.15 if parameter.ndim == 2 else 0.5
            parameter.copy_(torch.randn_like(parameter) * scale + (parameter.ndim == 1))
    return made


def as_gguf(model: PreTrainedModel, architecture: str, path: Path) -> File:
    """The same model as a file, its rows in the order that llama.cpp's converter gives them."""
    tensors = {
        _gguf_name(name): _as_converted(name, value.numpy(), architecture)
        for name, value in model.state_dict().items()
    }
    if model.config.tie_word_embeddings:
        del tensors["output.weight"]
    return write_model(path, metadata(architecture), tensors)


def metadata(architecture: str) -> Mapping[str, Any]:
    """What the decoder reads of a file's metadata."""
    return {
        "general.architecture": architecture,
        f"{architecture}.block_count": LAYERS,
        f"{architecture}.context_length": CONTEXT,
        f"{architecture}.embedding_length": HIDDEN,
        f"{architecture}.feed_forward_length": FEED_FORWARD,
        f"{architecture}.attention.head_count": HEADS,
        f"{architecture}.attention.head_count_kv": KV_HEADS,
        f"{architecture}.attention.key_length": HEAD_SIZE,
        f"{architecture}.attention.layer_norm_rms_epsilon": 1e-5,
        f"{architecture}.rope.freq_base": 5000.0,
    }


def quantized_model(path: Path, kinds: tuple[BlockType, ...], *, architecture: str) -> File:
    """Random blocks of ``kinds`` in turn for the matrices; norms near one, small biases."""
    generator = np.random.default_rng(5)
    tensors: dict[str, NDArray[np.float32] | GgufTensor] = {}
    for index, (name, value) in enumerate(reference(architecture).state_dict().items()):
        short = _gguf_name(name)
        if value.ndim == 1:
            tensors[short] = value.numpy()
            continue
        kind = kinds[index % len(kinds)]
        rows, columns = value.shape
        tensors[short] = random_tensor(
            kind, rows, columns, seed=int(generator.integers(1 << 30)), name=short, size=0.06
        )
    return write_model(path, metadata(architecture), tensors)


def _gguf_name(name: str) -> str:
    fixed = {
        "model.embed_tokens.weight": "token_embd.weight",
        "model.norm.weight": "output_norm.weight",
        "lm_head.weight": "output.weight",
    }
    if name in fixed:
        return fixed[name]
    layer, _, rest = name.removeprefix("model.layers.").partition(".")
    theirs = next(key for key in _NAMES if rest.startswith(key))
    return f"blk.{layer}.{rest.replace(theirs, _NAMES[theirs])}"


def _as_converted(name: str, value: NDArray[np.float32], architecture: str) -> NDArray[np.float32]:
    """Llama's query and key rows are put pairwise, as convert_hf_to_gguf does."""
    heads = {"q_proj.weight": HEADS, "k_proj.weight": KV_HEADS}
    count = next((heads[key] for key in heads if name.endswith(key)), 0)
    if architecture != "llama" or not count:
        return value
    halves = value.reshape(count, 2, HEAD_SIZE // 2, -1)
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(value.shape))
