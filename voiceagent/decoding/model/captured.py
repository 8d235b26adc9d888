"""A function of fixed shapes: on CUDA captured into a graph once and replayed, elsewhere called.

A graph replays the same kernels on the same addresses. So a function that is captured reads its
input from one buffer, never looks at a value on the host, and may write only what writing twice
does not change: it runs a few times before it is captured (libraries take their memory then).
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

_WARM_UPS = 2
"""The first run loads kernels and takes workspaces; the second has nothing left to take."""


class Captured:
    """``function`` of one buffer.

    Args:
        function: tensors of the buffer; see above.
        buffer: its input, of the shape and on the device of every call.
        pool: memory that graphs share which never run at the same time; None for memory of its own.
        captures: whether to capture at all; without, the function is called on CUDA too.
    """

    def __init__(
        self,
        function: Callable[[Tensor], tuple[Tensor, ...]],
        buffer: Tensor,
        *,
        pool: Any = None,
        captures: bool = True,
    ) -> None:
        self._function = function
        self._buffer = buffer
        self._pool = pool
        self._captures = captures and buffer.is_cuda
        self._graph: torch.cuda.CUDAGraph | None = None
        self._outputs: tuple[Tensor, ...] = ()

    def __call__(self, values: Tensor) -> tuple[Tensor, ...]:
        """Its result for ``values``; valid until the next call of any graph of the same pool."""
        self._buffer.copy_(values)
        if not self._captures:
            return self._function(self._buffer)
        if self._graph is None:
            self._graph = self._capture()
        self._graph.replay()
        return self._outputs

    def _capture(self) -> torch.cuda.CUDAGraph:
        self._warm_up()
        graph = torch.cuda.CUDAGraph()
        # thread_local: what other threads do with CUDA (a recognizer, say) must not break it off.
        with torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
            self._outputs = self._function(self._buffer)
        return graph

    def _warm_up(self) -> None:
        """On a stream beside the present one, as capturing does: memory belongs to streams."""
        present = torch.cuda.current_stream()
        beside = torch.cuda.Stream()  # type: ignore[no-untyped-call]  # torch leaves it so
        beside.wait_stream(present)
        with torch.cuda.stream(beside):
            for _ in range(_WARM_UPS):
                self._function(self._buffer)
        present.wait_stream(beside)


def shared_pool(device: torch.device) -> Any:
    """Memory for graphs that run one after the other; None where there are no graphs."""
    return torch.cuda.graph_pool_handle() if device.type == "cuda" else None
