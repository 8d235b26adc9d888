"""What every decoder of ours over a known shape has in common, and what it refuses."""

import torch
from torch import Tensor

from voiceagent.decoding.kv_cache import TensorCache
from voiceagent.decoding.model.shape import Shape


class ShapedModel:
    """The measures of a Llama-family decoder, as `CausalModel` asks for them."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self._hidden = torch.empty(0, shape.hidden_size)

    @property
    def vocabulary_size(self) -> int:
        return self.shape.vocabulary_size

    @property
    def hidden_size(self) -> int:
        return self.shape.hidden_size

    @property
    def context_length(self) -> int:
        return self.shape.context_length

    @property
    def last_hidden(self) -> Tensor:
        return self._hidden

    def _tensor_cache(
        self, capacity: int, *, dtype: torch.dtype, device: torch.device
    ) -> TensorCache:
        check_capacity(capacity, self.context_length)
        return TensorCache(
            capacity,
            layers=self.shape.layers,
            kv_heads=self.shape.kv_heads,
            head_size=self.shape.head_size,
            dtype=dtype,
            device=device,
        )


def check_capacity(capacity: int, context_length: int) -> None:
    """Raises ValueError where a cache would go beyond what the model was trained for."""
    if capacity > context_length:
        raise ValueError(f"capacity {capacity} is beyond the model's context of {context_length}")


def check_tokens(tokens: Tensor) -> None:
    """Raises ValueError unless ``tokens`` is (rows,) int64 with at least one row."""
    if tokens.ndim != 1 or not len(tokens) or tokens.dtype != torch.int64:
        raise ValueError(f"tokens must be (rows,) int64, got {tuple(tokens.shape)} {tokens.dtype}")
