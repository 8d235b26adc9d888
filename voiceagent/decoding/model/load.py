"""From a file of the manifest to a model that is ready to run."""

import logging
from collections.abc import Sequence
from pathlib import Path

import torch

from voiceagent.decoding.gguf import read_gguf
from voiceagent.decoding.kernels.build import NoCompiler, built
from voiceagent.decoding.kernels.native import Kernels
from voiceagent.decoding.model.dense import DenseModel
from voiceagent.decoding.model.lean import LeanModel
from voiceagent.decoding.model.packing import FORMAT_VERSION, PackedFile, pack
from voiceagent.decoding.model.protocol import CausalModel
from voiceagent.decoding.model.shape import read_shape
from voiceagent.decoding.model.transformers_model import TransformersModel
from voiceagent.weights.manifest import File
from voiceagent.weights.store import Store

logger = logging.getLogger(__name__)


def load_model(
    store: Store, files: File | Sequence[File], *, threads: int = 2, device: str = "cpu"
) -> CausalModel:
    """A model of the Llama family in a GGUF file, or any that transformers reads in a
    publisher's files (configuration and safetensors).

    On the CPU a GGUF file's weights stay packed and our kernels run it; where they cannot be built
    (no C++ compiler), a warning says so and the model runs unpacked on torch's own operations.

    Args:
        store: where the files lie and what is made from them is kept.
        files: all files of one role of a preset.
        threads: CPU threads of a forward pass.
        device: ``cpu`` or ``cuda``.

    Raises:
        MissingWeights, DamagedWeights: see `Store.path`.
        GgufError: the file is damaged, or of a kind that is not supported.
    """
    group = [files] if isinstance(files, File) else list(files)
    file = group[0]
    if not file.name.endswith(".gguf"):
        return _load_published(store.folder(group), device=device)
    if device != "cpu":
        return load_dense(store, file, device=device, dtype=torch.bfloat16)
    try:
        kernels = Kernels(built(store))
    except NoCompiler as error:
        logger.warning("the model runs unpacked and several times slower: %s", error)
        return load_dense(store, file, device=device, dtype=torch.float32)
    return load_lean(store, file, kernels=kernels, threads=threads)


def load_lean(store: Store, file: File, *, kernels: Kernels, threads: int) -> LeanModel:
    """The packed model on ``kernels``; packed at the first use (seconds), mapped afterwards."""

    def build(folder: Path) -> None:
        pack(store.path(file), folder, kernels=kernels, threads=threads)

    folder = store.derived("packed", of=[store.digest(file)], version=FORMAT_VERSION, build=build)
    return LeanModel(PackedFile.open(folder), kernels, threads=threads)


def load_dense(store: Store, file: File, *, device: str, dtype: torch.dtype) -> DenseModel:
    """The same model unpacked, in plain torch operations."""
    gguf = read_gguf(store.path(file))
    return DenseModel(gguf, read_shape(gguf), device=device, dtype=dtype)


def _load_published(folder: Path, *, device: str) -> CausalModel:
    from transformers import AutoModelForCausalLM  # slow, and needed here alone

    dtype = torch.float32 if device == "cpu" else torch.bfloat16
    model = AutoModelForCausalLM.from_pretrained(str(folder), dtype=dtype, local_files_only=True)
    return TransformersModel(model, device=device)
