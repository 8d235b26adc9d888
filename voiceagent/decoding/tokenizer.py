"""Text to tokens and back, with the vocabulary, merges and chat template of a GGUF file.

The conversion happens once; the result is kept in the cache. Control tokens only ever come from the
chat template: text of a user, a tool or a document that spells ``<|im_end|>`` is encoded as those
ten characters, so nobody can write a turn that is not theirs.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn, Protocol, Self

from jinja2 import TemplateError
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer as Backend

from voiceagent.core.errors import VoiceAgentError
from voiceagent.decoding.gguf import read_gguf
from voiceagent.decoding.vocabulary import FORMAT_VERSION, Kind, byte_of_letter, convert
from voiceagent.weights.manifest import File
from voiceagent.weights.store import Store

# Unicode noncharacters: reserved for use inside a program, never in text that is exchanged.
_MARKS = tuple(chr(code) for code in range(0xFDD0, 0xFDF0))
_BYTE_OF_LETTER = str.maketrans({letter: chr(byte) for letter, byte in byte_of_letter().items()})
# Names of tokens that end a reply in the published families, beside the one the file states.
_END_NAMES = frozenset(
    ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "</s>")
)


class TokenizerError(VoiceAgentError):
    """A tokenizer that cannot be made, or a conversation its chat template refuses."""


class ChatMessage(Protocol):
    """What `Tokenizer.render` reads of a message."""

    @property
    def role(self) -> str: ...

    @property
    def content(self) -> str: ...


class Tokenizer:
    """A byte-level BPE tokenizer. Token ids are indices into the model's logits."""

    def __init__(self, backend: Backend, facts: Mapping[str, Any]) -> None:
        self._backend = backend
        self._template = str(facts["chat_template"])
        self._special: dict[str, int] = facts["special"]
        self._kinds = {int(token): Kind(kind) for token, kind in facts["kinds"].items()}
        self._texts = {token: text for text, token in self._special.items()}
        self._bos: int | None = facts["bos"]
        self._add_bos = bool(facts["add_bos"])
        self.vocabulary_size = int(facts["vocabulary_size"])
        """Real ids: those from here on are padding of the model's last layer."""
        self.eos_ids = frozenset(
            token
            for text, token in self._special.items()
            if text in _END_NAMES or token in facts["ends"]
        )
        """Any of these ends a reply."""

    @classmethod
    def load(cls, store: Store, file: File) -> Self:
        """The tokenizer inside the GGUF file ``file``; converted at the first use.

        Raises:
            MissingWeights, DamagedWeights: see `Store.path`.
            TokenizerError: it is of a kind that is not supported.
        """
        source = store.path(file)  # also where the conversion is there: never use a damaged file

        def build(folder: Path) -> None:
            backend, facts = convert(read_gguf(source).metadata)
            folder.mkdir()
            backend.save(str(folder / "tokenizer.json"), pretty=False)
            (folder / "facts.json").write_text(json.dumps(facts), encoding="utf-8")

        folder = store.derived(
            "tokenizer", of=[store.digest(file)], version=FORMAT_VERSION, build=build
        )
        facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
        return cls(Backend.from_file(str(folder / "tokenizer.json")), facts)

    def encode(self, text: str) -> list[int]:
        """Tokens of plain ``text``; no control token can come out of it."""
        return list(self._backend.encode(text, add_special_tokens=False).ids)

    def decode_bytes(self, token: int) -> bytes:
        """The bytes of one token (perhaps part of a code point); empty for control tokens.

        Raises:
            ValueError: ``token`` is not a real id.
        """
        if not 0 <= token < self.vocabulary_size:
            raise ValueError(f"token {token} is not in [0, {self.vocabulary_size})")
        kind = self._kinds.get(token, Kind.NORMAL)
        if kind is Kind.NORMAL:
            spelling = self._backend.id_to_token(token) or ""
            return spelling.translate(_BYTE_OF_LETTER).encode("latin-1")
        return self._texts[token].encode() if kind is Kind.USER_DEFINED else b""

    def decode(self, tokens: Sequence[int]) -> str:
        """Their text; bytes that are no code point become U+FFFD."""
        return b"".join(map(self.decode_bytes, tokens)).decode("utf-8", errors="replace")

    def render(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        open_reply: bool = True,
    ) -> list[int]:
        """The prompt of a conversation, by the file's own chat template.

        Args:
            messages: in order; their contents are text, never control tokens.
            tools: JSON schemas of the functions the model may call.
            open_reply: end with the beginning of an assistant turn.

        Raises:
            TokenizerError: the template refuses the conversation (roles out of order, say).
        """
        mark = _unused_mark(messages)
        text = self._render_text(
            [
                {"role": str(message.role), "content": self._disarm(message.content, mark)}
                for message in messages
            ],
            tools=tools,
            open_reply=open_reply,
        )
        tokens = list(chain.from_iterable(self._encode_parts(text, mark)))
        if self._add_bos and self._bos is not None and tokens[:1] != [self._bos]:
            tokens.insert(0, self._bos)
        return tokens

    def _disarm(self, content: str, mark: str) -> str:
        """Puts ``mark`` into whatever spells a special token, so that it no longer does."""
        return self._special_pattern.sub(lambda m: f"{m[0][:1]}{mark}{m[0][1:]}", content)

    def _encode_parts(self, text: str, mark: str) -> Iterator[list[int]]:
        for part in self._special_pattern.split(text):
            if part in self._special:
                yield [self._special[part]]
            elif part:
                yield self.encode(part.replace(mark, ""))

    @cached_property
    def _special_pattern(self) -> re.Pattern[str]:
        longest_first = sorted(self._special, key=len, reverse=True)
        return re.compile(f"({'|'.join(map(re.escape, longest_first))})" if longest_first else "()")

    def _render_text(
        self,
        messages: Sequence[Mapping[str, str]],
        *,
        tools: Sequence[Mapping[str, Any]] | None,
        open_reply: bool,
    ) -> str:
        if not self._template:
            raise TokenizerError("the model file has no chat template: use an instruct model")
        try:
            template = _environment().from_string(self._template)
            return template.render(
                messages=messages,
                tools=list(tools) if tools else None,
                add_generation_prompt=open_reply,
                bos_token=self._texts.get(self._bos, "") if self._bos is not None else "",
                eos_token="",
            )
        except (TemplateError, SecurityError, TypeError, ValueError, LookupError) as error:
            raise TokenizerError(f"the model's chat template failed: {error}") from error


def _environment() -> ImmutableSandboxedEnvironment:
    """The dialect in which chat templates are written: blocks eat their line, JSON stays plain."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _refuse
    environment.globals["strftime_now"] = lambda layout: (
        datetime.now().astimezone().strftime(layout)
    )
    return environment


def _to_json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _refuse(message: str) -> NoReturn:
    raise TemplateError(message)


def _unused_mark(messages: Sequence[ChatMessage]) -> str:
    used = set().union(*(message.content for message in messages)) if messages else set()
    free = next((mark for mark in _MARKS if mark not in used), None)
    if free is None:
        raise TokenizerError("a message holds every Unicode noncharacter: send text instead")
    return free
