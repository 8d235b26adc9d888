"""Makes a tokenizer out of a GGUF file's metadata."""

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any

from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers
from tokenizers.models import BPE

from voiceagent.decoding.gguf import GgufError

FORMAT_VERSION = 1

# How text is cut before merging; `tokenizer.ggml.pre` names one. The first is the pattern that the
# Qwen tokenizers publish, the second that of Llama 3 (at most three digits together).
_LETTERS_AND_REST = (
    r"|[^\r\n\p{L}\p{N}]?\p{L}+|%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_QWEN2 = _CONTRACTIONS + _LETTERS_AND_REST % r"\p{N}"
_LLAMA3 = _CONTRACTIONS + _LETTERS_AND_REST % r"\p{N}{1,3}"


class Kind(IntEnum):
    """What a token is for; the numbers are those of ``tokenizer.ggml.token_type``."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


def convert(metadata: Mapping[str, Any]) -> tuple[Tokenizer, dict[str, Any]]:
    """A tokenizer without special tokens, and the facts that are kept beside it (JSON).

    Raises:
        GgufError: the metadata lacks a tokenizer, or has one that is not byte-level BPE.
    """
    model = metadata.get("tokenizer.ggml.model")
    if model != "gpt2":
        raise GgufError(f"tokenizer {model} is not supported (byte-level BPE is): use another file")
    tokens: Sequence[str] = metadata["tokenizer.ggml.tokens"]
    kinds = [Kind(kind) for kind in metadata["tokenizer.ggml.token_type"]]
    backend = _backend(
        tokens, metadata["tokenizer.ggml.merges"], metadata.get("tokenizer.ggml.pre", "default")
    )
    return backend, _facts(metadata, tokens, kinds)


def _backend(tokens: Sequence[str], merges: Sequence[str], pre: str) -> Tokenizer:
    vocabulary = {token: index for index, token in enumerate(tokens)}
    pairs = [(left, right) for left, _, right in (merge.partition(" ") for merge in merges)]
    backend = Tokenizer(BPE(vocabulary, pairs, fuse_unk=False))
    if pre in ("qwen2", "qwen35"):
        backend.normalizer = normalizers.NFC()
    backend.pre_tokenizer = _pre_tokenizer(pre)
    backend.decoder = decoders.ByteLevel()
    return backend


def _pre_tokenizer(pre: str) -> Any:
    whole = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    gpt2 = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    if pre in ("qwen2", "deepseek-r1-qwen"):
        return _sequence(_isolated(_QWEN2), whole)
    if pre in ("llama-bpe", "llama3", "llama-v3", "smaug-bpe"):
        return _sequence(_isolated(_LLAMA3), whole)
    if pre in ("smollm", "starcoder", "refact", "command-r", "codeshell"):
        return _sequence(pre_tokenizers.Digits(individual_digits=True), gpt2)
    if pre in ("gpt-2", "default"):
        return gpt2
    raise GgufError(f"tokenizer.ggml.pre {pre} is not supported: use another file")


def _sequence(*steps: Any) -> Any:
    return pre_tokenizers.Sequence(list(steps))


def _isolated(pattern: str) -> Any:
    return pre_tokenizers.Split(Regex(pattern), behavior="isolated", invert=False)


def _facts(
    metadata: Mapping[str, Any], tokens: Sequence[str], kinds: Sequence[Kind]
) -> dict[str, Any]:
    real = [index for index, kind in enumerate(kinds) if kind is not Kind.UNUSED]
    ends = [
        int(metadata[key])
        for key in (f"tokenizer.ggml.{name}_token_id" for name in ("eos", "eot", "eom"))
        if key in metadata
    ]
    return {
        "chat_template": metadata.get("tokenizer.chat_template", ""),
        "special": {
            tokens[index]: index
            for index in real
            if kinds[index] in (Kind.CONTROL, Kind.USER_DEFINED) and tokens[index]
        },
        "kinds": {str(index): int(kinds[index]) for index in real if kinds[index] != Kind.NORMAL},
        "vocabulary_size": real[-1] + 1,
        "ends": ends,
        "bos": metadata.get("tokenizer.ggml.bos_token_id"),
        "add_bos": metadata.get("tokenizer.ggml.add_bos_token", False),
    }


def byte_of_letter() -> dict[str, int]:
    """The alphabet of byte-level BPE: printable bytes stand for themselves, the others are moved up
    to U+0100 and beyond (Radford et al. 2019, the GPT-2 encoder)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    letters = {chr(byte): byte for byte in printable}
    others = (byte for byte in range(256) if byte not in set(printable))
    return letters | {chr(0x100 + index): byte for index, byte in enumerate(others)}
