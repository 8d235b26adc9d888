"""Target and draft models behind one small protocol."""

from voiceagent.decoding.kv_cache import CacheFull, KVCache
from voiceagent.decoding.model.load import load_model
from voiceagent.decoding.model.protocol import CausalModel, JointModel
from voiceagent.decoding.model.transformers_model import TransformersModel

__all__ = ["CacheFull", "CausalModel", "JointModel", "KVCache", "TransformersModel", "load_model"]
