"""From a file of the manifest to a model that is ready to run."""

import logging
from pathlib import Path

import torch

from voiceagent.decoding.gguf import read_gguf
from voiceagent.decoding.kernels.build import NoCompiler, built
from voiceagent.decoding.kernels.native import Kernels
from voiceagent.decoding.model.dense import DenseModel
from voiceagent.decoding.model.lean import LeanModel
from voiceagent.decoding.model.packing import FORMAT_VERSION, PackedFile, pack
from voiceagent.decoding.model.parameters import read_parameters
from voiceagent.decoding.model.protocol import CausalModel
from voiceagent.decoding.model.static import StaticModel
from voiceagent.weights.manifest import File
from voiceagent.weights.store import Store

logger = logging.getLogger(__name__)


CONTEXT = 4096
"""Positions of a conversation where nobody says how many."""


def load_model(
    store: Store,
    file: File,
    *,
    threads: int = 2,
    device: str = "cpu",
    context_tokens: int = CONTEXT,
) -> CausalModel:
    """The Llama-family model in the GGUF file ``file``.

    On the CPU its weights stay packed and our kernels run it; where they cannot be built (no C++
    compiler), a warning says so and the model runs on torch's own operations, 4-bit codes packed
    and the rest unpacked. On CUDA it is unpacked to bfloat16 and runs in captured graphs.

    Args:
        store: where the file lies and what is made from it is kept.
        file: a GGUF file.
        threads: CPU threads of a forward pass.
        device: ``cpu`` or ``cuda``.
        context_tokens: on CUDA, positions that a cache may hold at most; memory is taken for them.

    Raises:
        MissingWeights, DamagedWeights: see `Store.path`.
        GgufError: the file is damaged, or of a kind that is not supported.
    """
    if device != "cpu":
        return load_static(store, file, device=device, context_tokens=context_tokens)
    try:
        kernels = Kernels(built(store))
    except NoCompiler as error:
        logger.warning("the model runs on torch's operations, several times slower: %s", error)
        return load_dense(store, file, dtype=torch.float32, keep_four_bits=True)
    return load_lean(store, file, kernels=kernels, threads=threads)


def load_lean(store: Store, file: File, *, kernels: Kernels, threads: int) -> LeanModel:
    """The packed model on ``kernels``; packed at the first use (seconds), mapped afterwards."""

    source = store.path(file)  # also where the packed copy is there: never run a damaged model

    def build(folder: Path) -> None:
        logger.info("packing %s, once (some seconds)", file.name)
        pack(source, folder, kernels=kernels, threads=threads)

    folder = store.derived("packed", of=[store.digest(file)], version=FORMAT_VERSION, build=build)
    return LeanModel(PackedFile.open(folder), kernels, threads=threads)


def load_dense(
    store: Store, file: File, *, dtype: torch.dtype, keep_four_bits: bool = False
) -> DenseModel:
    """The same model on the CPU in plain torch operations, unpacked (but for 4-bit codes)."""
    weights = read_gguf(store.path(file))
    return DenseModel(
        read_parameters(weights, device="cpu", dtype=dtype, keep_four_bits=keep_four_bits)
    )


def load_static(
    store: Store,
    file: File,
    *,
    device: str,
    context_tokens: int,
    dtype: torch.dtype = torch.bfloat16,
) -> StaticModel:
    """The same model unpacked, in blocks of fixed shapes."""
    parameters = read_parameters(read_gguf(store.path(file)), device=device, dtype=dtype)
    capacity = min(context_tokens, parameters.shape.context_length)
    model = StaticModel(parameters, capacity=capacity)
    model.prepare()
    return model
