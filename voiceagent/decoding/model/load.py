"""From a file of the manifest to a model that is ready to run."""

import torch

from voiceagent.decoding.gguf import read_gguf
from voiceagent.decoding.model.dense import DenseModel
from voiceagent.decoding.model.protocol import CausalModel
from voiceagent.decoding.model.shape import read_shape
from voiceagent.weights.manifest import File
from voiceagent.weights.store import Store


def load_model(store: Store, file: File, *, threads: int = 2, device: str = "cpu") -> CausalModel:
    """The Llama-family model in the GGUF file ``file``.

    Args:
        store: where the file lies and what is made from it is kept.
        file: a GGUF file.
        threads: CPU threads of a forward pass.
        device: ``cpu`` or ``cuda``.

    Raises:
        MissingWeights, DamagedWeights: see `Store.path`.
        GgufError: the file is damaged, or of a kind that is not supported.
    """
    path = store.path(file)
    gguf = read_gguf(path)
    shape = read_shape(gguf)
    if device == "cpu":
        torch.set_num_threads(threads)
    dtype = torch.float32 if device == "cpu" else torch.bfloat16
    return DenseModel(gguf, shape, device=device, dtype=dtype)
