"""Structure inside a reply: blocks that are one piece, and spans that no cut may enter.

A *block* (fenced code, table, display maths, JSON, a reasoning or tool-call element) is opened by
the scanner and then fed line by line or mark by mark until it says that it is over. A *span*
(inline code, inline maths, a tag) is short and lies inside a sentence: one function each finds its
end, or says that more text is needed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

BLANKS = " \t"
from voiceagent.core.kinds import Kind

WAIT = -1
"""More text is needed."""
NONE = -2
"""There is no such span here."""
LONGEST_SPAN = 300
"""Characters that an unclosed span may hold the stream back; precedent: a stray ``<`` that stalled
LiveKit's tokenizer until the end of the turn."""


@dataclass(frozen=True, slots=True)
class Inner:
    """A completed part inside a block, ending at ``at`` (in the text given)."""

    at: int
    kind: Kind
    reason: str


class Block(Protocol):
    """One open block. ``advance`` is called with more and more of the same text."""

    kind: Kind
    ear: bool
    """Whether a synthesizer may be given it."""
    name: str

    def advance(self, text: str, at: int, *, ended: bool) -> tuple[int, bool]:
        """Reads on from ``at``; returns where it stopped, and whether the block ends there."""

    def inner(self) -> list[Inner]:
        """Drains the completed parts."""


class Plain:
    """What most blocks share: no parts inside."""

    def inner(self) -> list[Inner]:
        """Drains the completed parts: there are none."""
        return []


class Raw(Plain):
    """Everything up to one of the given closing marks."""

    def __init__(self, *, closers: tuple[str, ...], kind: Kind, ear: bool, name: str) -> None:
        self.kind = kind
        self.ear = ear
        self.name = name
        self._closer = re.compile("|".join(re.escape(closer) for closer in closers))
        self._longest = max(map(len, closers))

    def advance(self, text: str, at: int, *, ended: bool) -> tuple[int, bool]:
        """Looks for the closing mark, keeping back what may be its beginning."""
        found = self._closer.search(text, at)
        if found:
            return found.end(), True
        return (len(text), False) if ended else (max(at, len(text) - self._longest + 1), False)


class Table(Plain):
    """Lines that begin with a bar."""

    kind = Kind.BLOCK
    ear = True
    name = "table"

    def __init__(self) -> None:
        self._in_line = True

    def advance(self, text: str, at: int, *, ended: bool) -> tuple[int, bool]:
        """Reads lines until one begins otherwise; the newline before that one stays outside."""
        while True:
            if self._in_line:
                newline = _next_newline(text, at)
                if newline < 0:
                    return len(text), False
                at, self._in_line = newline, False
            row = _TABLE_ROW.match(text, at)
            if row:
                at, self._in_line = row.end(), True
            elif not ended and _TABLE_ROW_BEGINS.fullmatch(text, at):
                return at, False
            else:
                return at, True


class Fence:
    """Code between fences; with ``splitter`` its complete statements are parts."""

    kind = Kind.BLOCK
    ear = False
    name = "fenced code"

    def __init__(self, *, fence: str, splitter: "Splitter | None") -> None:
        mark, length = re.escape(fence[0]), len(fence)
        self._closing = re.compile(rf" {{0,3}}{mark}{{{length},}}[{BLANKS}]*(?=[\n\r]|\Z)")
        self._may_close = re.compile(rf" {{0,3}}{mark}*[{BLANKS}]*")
        self._trailing = re.compile(rf"[{BLANKS}]*\Z")
        self._splitter = splitter
        self._line_start = False
        self._first = True

    def advance(self, text: str, at: int, *, ended: bool) -> tuple[int, bool]:
        """Reads lines until the closing fence (CommonMark 4.5)."""
        while True:
            if self._line_start:
                closing = self._closing.match(text, at)
                if closing and (ended or closing.end() < len(text)):
                    return _without_blanks(text, closing.end(), at), True
                if not ended and self._may_close.fullmatch(text, at):
                    return at, False
            newline = _next_newline(text, at)
            if newline < 0:
                self._take(text[at:])
                self._line_start = False
                return len(text), False
            end = newline + 1
            self._take(text[at:end])
            at, self._line_start = end, True

    def _take(self, code: str) -> None:
        if self._first:
            self._first = "\n" not in code and "\r" not in code
        elif self._splitter:
            self._splitter.feed(code)

    def inner(self) -> list[Inner]:
        """Drains the statements completed so far."""
        return []


class Splitter(Protocol):
    """Finds complete statements in code that arrives piece by piece."""

    def feed(self, code: str) -> None:
        """Takes more code."""


_TABLE_ROW = re.compile(r"(?:\r\n|[\n\r])[ \t]*\|")
_TABLE_ROW_BEGINS = re.compile(r"(?:\r\n|[\n\r])[ \t]*")
_NEWLINE = re.compile(r"[\n\r]")


def _next_newline(text: str, at: int) -> int:
    found = _NEWLINE.search(text, at)
    return found.start() if found else -1


def _without_blanks(text: str, end: int, at: int) -> int:
    while end > at and text[end - 1].isspace():
        end -= 1
    return end


_BACKTICKS = re.compile("`+")


def inline_code_end(text: str, at: int, *, ended: bool) -> int:
    """The end of the inline code that opens at ``at``; WAIT or NONE. It ends with its line."""
    opening = _BACKTICKS.match(text, at)
    assert opening is not None  # the caller saw a backtick
    length, cursor = opening.end() - at, opening.end()
    newline = _next_newline(text, cursor)
    limit = newline if newline >= 0 else len(text)
    while (run := _BACKTICKS.search(text, cursor, limit)) is not None:
        if run.end() == len(text) and not ended:
            return WAIT
        if run.end() - run.start() == length:
            return run.end()
        cursor = run.end()
    open_end = newline < 0 and not ended and len(text) - at < LONGEST_SPAN
    return WAIT if open_end else NONE
