"""Blocks: pieces that are one segment whatever they hold.

A block is opened by the scanner and then given more and more of the same text until it says that it
is over. Its own state is all it remembers: it never looks back.
"""

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

from voiceagent.core.kinds import Kind
from voiceagent.core.scan.spans import NONE, WAIT
from voiceagent.core.scan.splitters import Splitter, splitter_for

LONGEST_INFO = 300
"""Characters of an info string; a longer line after three backticks is no fence."""


class Progress(Enum):
    """How far a block has come."""

    OPEN = auto()
    DONE = auto()
    BROKEN = auto()
    """It was no such block: what follows is text."""


@dataclass(frozen=True, slots=True)
class Part:
    """A completed part of a block."""

    position: int
    """Of its end, in the whole text."""
    kind: Kind


class Block(Protocol):
    """One open block."""

    kind: Kind
    """Of the commit it becomes."""
    ear: bool
    """Whether it may be spoken."""
    name: str
    """For people."""

    def advance(self, text: str, at: int, *, base: int, ended: bool) -> tuple[int, Progress]:
        """Reads on.

        Args:
            text: the window.
            at: the index of its first character that was not read yet.
            base: the position of the window's first character.
            ended: whether there will be no more text.

        Returns:
            The index of the first character that is still to be read, and the progress. When the
            block is done, the index is its end.
        """

    def parts(self) -> list[Part]:
        """Drains the parts completed so far."""


class Raw:
    """Everything up to one of the closing marks: reasoning, tool calls, comments, display maths."""

    def __init__(
        self, *, closer: str, kind: Kind, ear: bool, name: str, one_paragraph: bool = False
    ) -> None:
        self.kind = kind
        self.ear = ear
        self.name = name
        self._closer = closer
        self._one_paragraph = one_paragraph

    def advance(self, text: str, at: int, *, base: int, ended: bool) -> tuple[int, Progress]:
        """Looks for the closing mark, keeping back what may be its beginning."""
        found = text.find(self._closer, at)
        blank_line = _BLANK_LINE.search(text, at) if self._one_paragraph else None
        if blank_line and (found < 0 or blank_line.start() < found):
            return blank_line.start(), Progress.BROKEN
        if found < 0:
            kept = len(self._closer) + (_LONGEST_BLANK_LINE if self._one_paragraph else 0)
            return (len(text) if ended else max(at, len(text) - kept)), Progress.OPEN
        end = found + len(self._closer)
        if self._one_paragraph:
            if end == len(text) and not ended:
                return at, Progress.OPEN
            end += text[end : end + 1] in tuple(".,;:!?")
        return end, Progress.DONE

    def parts(self) -> list[Part]:
        """Drains the parts: there are none."""
        return []


class Table:
    """Lines that begin with a bar."""

    kind = Kind.BLOCK
    ear = True
    name = "a table"

    def __init__(self) -> None:
        self._in_row = True

    def advance(self, text: str, at: int, *, base: int, ended: bool) -> tuple[int, Progress]:
        """Reads rows until a line begins otherwise; the line end before it stays outside."""
        while True:
            if self._in_row:
                at = _line_end(text, at)
                if at == len(text):
                    return at, Progress.DONE if ended else Progress.OPEN
                self._in_row = False
            row = _ROW.match(text, at)
            if row is None:
                undecided = not ended and _ROW_BEGINS.fullmatch(text, at)
                return at, Progress.OPEN if undecided else Progress.DONE
            at, self._in_row = row.end(), True

    def parts(self) -> list[Part]:
        """Drains the parts: there are none."""
        return []


class Fence:
    """Code between fences (CommonMark 4.5). Its complete statements are parts.

    Args:
        fence: the opening run of backticks or tildes.
        info: what follows it on its line; its first word names the language.
    """

    kind = Kind.BLOCK
    ear = False
    name = "fenced code"

    def __init__(self, *, fence: str, info: str) -> None:
        mark, length = re.escape(fence[0]), len(fence)
        self._closing = re.compile(
            rf"( {{0,3}}{mark}{{{length},{length + 64}}})[ \t]{{0,64}}(?=[\n\r]|\Z)"
        )
        self._may_close = re.compile(rf" {{0,3}}{mark}{{0,{length + 64}}}[ \t]{{0,64}}")
        self._splitter: Splitter | None = splitter_for(info)
        self._line_opens = False
        self._parts: list[Part] = []

    def advance(self, text: str, at: int, *, base: int, ended: bool) -> tuple[int, Progress]:
        """Reads lines until the closing fence."""
        while True:
            if self._line_opens:
                closing = self._closing.match(text, at)
                if closing and (ended or closing.end() < len(text)):
                    self._split("", base + at, ended=True)
                    return closing.end(1), Progress.DONE
                if not ended and self._may_close.fullmatch(text, at):
                    return at, Progress.OPEN
            end = _line_end(text, at)
            self._line_opens = end < len(text)
            end += self._line_opens
            self._split(text[at:end], base + at, ended=False)
            if not self._line_opens:
                return end, Progress.OPEN
            at = end

    def _split(self, code: str, position: int, *, ended: bool) -> None:
        if self._splitter is not None:
            for end, kind in self._splitter.feed(code, position, ended=ended):
                self._parts.append(Part(end, kind))

    def parts(self) -> list[Part]:
        """Drains the statements completed so far."""
        parts, self._parts = self._parts, []
        return parts


_BLANK_LINE = re.compile(r"\n[ \t]{0,8}\n|\r\n[ \t]{0,8}\r\n")
_LONGEST_BLANK_LINE = 12
_ROW = re.compile(r"(?:\r\n|[\n\r])[ \t]{0,8}\|")
_ROW_BEGINS = re.compile(r"(?:\r\n|[\n\r])[ \t]{0,8}")
_NEWLINE = re.compile(r"[\n\r]")
_FENCE = re.compile(r"(`{3,}|~{3,})([^`\n\r]*)(?=[\n\r])")
_FENCE_BEGINS = re.compile(r"(?:`{3,}|~{3,})[^`\n\r]*")


def fence_at(text: str, at: int, *, ended: bool) -> tuple[Fence, int] | int:
    """The fence that opens at ``at`` and the end of its line; else WAIT or NONE."""
    opening = _FENCE.match(text, at, at + LONGEST_INFO)
    if opening:
        return Fence(fence=opening.group(1), info=opening.group(2)), opening.end()
    begins = _FENCE_BEGINS.fullmatch(text, at)
    return WAIT if begins and not ended and len(text) - at < LONGEST_INFO else NONE


def _line_end(text: str, at: int) -> int:
    newline = _NEWLINE.search(text, at)
    return newline.start() if newline else len(text)
