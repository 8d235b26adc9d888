"""The measures of a Llama-family decoder, read from GGUF metadata."""

from dataclasses import dataclass

from voiceagent.decoding.gguf import GgufError, GgufFile

# Same arithmetic, told apart by what is present: biases (Qwen2), norms of query and key (Qwen3).
ARCHITECTURES = ("llama", "qwen2", "qwen3", "mistral")
# llama.cpp's converter reorders the rows of query and key of these so that rotary pairs are
# neighbours; the others keep halves apart, as the published weights do.
PAIRED_ROTARY = ("llama", "mistral")


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Sizes and constants of the decoder."""

    layers: int
    hidden_size: int
    heads: int
    kv_heads: int
    head_size: int
    feed_forward: int
    vocabulary_size: int
    context_length: int
    rotary_base: float
    rotary_scale: float
    """Positions are divided by this (linear scaling); 1 where the file asks for none."""
    epsilon: float
    paired_rotary: bool
    """Whether the file's query and key rows put rotary pairs side by side."""

    @property
    def query_size(self) -> int:
        """Columns of all query heads."""
        return self.heads * self.head_size

    @property
    def kv_size(self) -> int:
        """Columns of all key (or value) heads."""
        return self.kv_heads * self.head_size


def read_shape(file: GgufFile) -> Shape:
    """The measures of ``file``'s model.

    Raises:
        GgufError: the architecture is not of the Llama family, or a measure is missing or odd.
    """
    architecture = str(file.require("general.architecture"))
    if architecture not in ARCHITECTURES:
        raise GgufError(
            f"architecture {architecture} is not supported "
            f"({', '.join(ARCHITECTURES)} are): use another file"
        )
    metadata = file.metadata
    hidden = int(file.require(f"{architecture}.embedding_length"))
    heads = int(file.require(f"{architecture}.attention.head_count"))
    kv_heads = int(metadata.get(f"{architecture}.attention.head_count_kv", heads))
    head_size = int(metadata.get(f"{architecture}.attention.key_length", hidden // heads))
    rotated = int(metadata.get(f"{architecture}.rope.dimension_count", head_size))
    if rotated != head_size or heads % kv_heads or head_size % 8:
        raise GgufError("its attention heads have a form that is not supported: use another file")
    return Shape(
        layers=int(file.require(f"{architecture}.block_count")),
        hidden_size=hidden,
        heads=heads,
        kv_heads=kv_heads,
        head_size=head_size,
        feed_forward=int(file.require(f"{architecture}.feed_forward_length")),
        vocabulary_size=file.tensor("token_embd.weight").shape[0],
        context_length=_context_length(file, architecture),
        rotary_base=float(metadata.get(f"{architecture}.rope.freq_base", 10000.0)),
        rotary_scale=_rotary_scale(file, architecture),
        epsilon=float(file.require(f"{architecture}.attention.layer_norm_rms_epsilon")),
        paired_rotary=architecture in PAIRED_ROTARY,
    )


def _context_length(file: GgufFile, architecture: str) -> int:
    """Within a sliding window every position is seen, so the window is the context here."""
    trained = int(file.require(f"{architecture}.context_length"))
    window = int(file.metadata.get(f"{architecture}.attention.sliding_window", 0))
    return min(trained, window) if window else trained


def _rotary_scale(file: GgufFile, architecture: str) -> float:
    kind = str(file.metadata.get(f"{architecture}.rope.scaling.type", "none"))
    if kind == "linear":
        return float(file.require(f"{architecture}.rope.scaling.factor"))
    if kind != "none":
        raise GgufError(f"rotary scaling {kind} is not supported: use another file")
    return 1.0
