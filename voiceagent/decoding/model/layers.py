"""The arithmetic of a Llama-family decoder in torch operations, wherever keys and values lie.

Rows stand in the last-but-one dimension; any dimensions before it (several conversations) pass
through. Nothing here looks at a value on the host, so all of it can be captured.
"""

from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

from voiceagent.decoding.model.packed_matrix import multiply
from voiceagent.decoding.model.parameters import Layer, Parameters


class Attention(Protocol):
    """Keeps keys and values, and mixes the values that each row may look at."""

    def __call__(self, layer: int, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """Of (..., rows, heads, head_size) each, keys and values with kv_heads; like ``query``."""


def run_layers(
    parameters: Parameters, tokens: Tensor, positions: Tensor, *, attention: Attention
) -> Tensor:
    """The last layer's output, before the final norm.

    Args:
        parameters: the weights.
        tokens: (..., rows) int64.
        positions: of the same shape.
        attention: called once for each layer, in order.

    Returns:
        (..., rows, hidden_size) of the weights' type.
    """
    hidden = functional.embedding(tokens, parameters.embedding)
    rotation = _rotation(parameters, positions)
    for index, layer in enumerate(parameters.layers):
        query, key, value = _project_heads(parameters, layer, hidden, rotation)
        mixed = attention(index, query, key, value).flatten(-2)
        hidden = hidden + _project(mixed, layer, "out")
        hidden = hidden + _feed_forward(parameters, layer, hidden)
    return hidden


def score(parameters: Parameters, hidden: Tensor) -> Tensor:
    """Logits (..., rows, vocabulary_size) float32."""
    normal = _normalise(parameters, hidden, parameters.norm)
    return functional.linear(normal, parameters.head).float()


def _project_heads(
    parameters: Parameters, layer: Layer, hidden: Tensor, rotation: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor, Tensor]:
    shape = parameters.shape
    joint = _project(_normalise(parameters, hidden, layer.attention_norm), layer, "qkv")
    query, key, value = (
        part.reshape(*part.shape[:-1], -1, shape.head_size)
        for part in torch.split(joint, [shape.query_size, shape.kv_size, shape.kv_size], dim=-1)
    )
    if layer.query_norm is not None and layer.key_norm is not None:
        query = _normalise(parameters, query, layer.query_norm)
        key = _normalise(parameters, key, layer.key_norm)
    return _rotate(query, rotation), _rotate(key, rotation), value


def _feed_forward(parameters: Parameters, layer: Layer, hidden: Tensor) -> Tensor:
    joint = _project(_normalise(parameters, hidden, layer.feed_forward_norm), layer, "gate_up")
    gate, up = joint.chunk(2, dim=-1)
    return _project(functional.silu(gate) * up, layer, "down")


def _normalise(parameters: Parameters, hidden: Tensor, weight: Tensor) -> Tensor:
    return functional.rms_norm(hidden, (hidden.shape[-1],), weight, parameters.shape.epsilon)


def _project(rows: Tensor, layer: Layer, name: str) -> Tensor:
    return multiply(rows, layer.weights[name], layer.biases[name])


def _rotation(parameters: Parameters, positions: Tensor) -> tuple[Tensor, Tensor]:
    """Cosine and sine, (..., rows, 1, head_size / 2)."""
    angles = (positions[..., None].float() * parameters.frequencies)[..., None, :]
    return angles.cos().to(parameters.dtype), angles.sin().to(parameters.dtype)


def _rotate(heads: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
    cosine, sine = rotation
    first, second = heads.chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)
