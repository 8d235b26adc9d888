"""JSON inside a reply: where an object ends, and where each value inside it is complete.

A push-down automaton over the grammar of RFC 8259, one token at a time: stops, braces and escaped
quotes inside strings mean nothing to it. What is no JSON is noticed at the first token that does
not fit.
"""

import re

from voiceagent.core.kinds import Kind
from voiceagent.core.scan.blocks import Part, Progress
from voiceagent.core.scan.spans import NONE, WAIT

_BLANKS = re.compile(r"[ \t\r\n]*")
_STRING_RUN = re.compile(r'[^"\\\x00-\x1f]*')
_SCALAR = re.compile(r"[-+.\w]+")
_SCALAR_VALUE = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null")
LONGEST_SCALAR = 64

KEY, COLON, VALUE, NEXT = "a key", "a colon", "a value", "a comma or the end"


class Json:
    """A JSON object or array that begins at the character given first."""

    kind = Kind.VALUE
    ear = False
    name = "JSON"

    def __init__(self) -> None:
        self._open: list[str] = []  # the closing bracket of each container that is open
        self._expected = VALUE
        self._may_close = False  # right after an opening bracket, its closing one may follow
        self._in_string = False
        self._broken_at = 0  # position of what no string holds
        self._parts: list[Part] = []

    def advance(self, text: str, at: int, *, base: int, ended: bool) -> tuple[int, Progress]:
        """Reads tokens until the first container is closed."""
        while at < len(text):
            if self._in_string:
                end = self._string(text, at, base=base)
            else:
                blanks = _BLANKS.match(text, at)
                at = blanks.end() if blanks else at
                if at == len(text):
                    break
                end = self._token(text, at, base=base, ended=ended)
            if end == WAIT:
                break
            if end == NONE:
                return max(at, self._broken_at - base), Progress.BROKEN
            at = end
            if not self._open:
                self._parts.pop()  # the whole is no part of itself
                return at, Progress.DONE
        return at, Progress.OPEN

    def parts(self) -> list[Part]:
        """Drains the values of members that are complete."""
        parts, self._parts = self._parts, []
        return parts

    def _token(self, text: str, at: int, *, base: int, ended: bool) -> int:
        """Takes one token; returns its end, WAIT, or NONE where it is no JSON."""
        character = text[at]
        if character in "}]":
            return self._close(character, at, base)
        may_close, self._may_close = self._may_close, False
        if character == '"' and self._expected in (KEY, VALUE):
            self._in_string = True
            return at + 1
        if self._expected is VALUE and character in "{[":
            self._open.append("}" if character == "{" else "]")
            self._expected = KEY if character == "{" else VALUE
            self._may_close = True
            return at + 1
        if self._expected is VALUE:
            self._may_close = may_close
            return self._scalar(text, at, base=base, ended=ended)
        if self._expected is COLON and character == ":":
            self._expected = VALUE
            return at + 1
        if self._expected is NEXT and character == ",":
            self._expected = KEY if self._open[-1] == "}" else VALUE
            self._may_close = True  # models write trailing commas
            return at + 1
        return NONE

    def _close(self, character: str, at: int, base: int) -> int:
        fits = self._open and self._open[-1] == character
        if not fits or not (self._expected is NEXT or self._may_close):
            return NONE
        self._open.pop()
        self._may_close = False
        self._expected = VALUE
        self._complete(at + 1, base)
        return at + 1

    def _string(self, text: str, at: int, *, base: int) -> int:
        """Reads on inside a string; NONE where a control character shows that it is none."""
        begin = at
        while True:
            run = _STRING_RUN.match(text, at)
            at = run.end() if run else at
            if at == len(text):
                return at
            if text[at] == '"':
                self._in_string = False
                self._complete(at + 1, base)
                return at + 1
            if text[at] != "\\":
                self._broken_at = base + at
                return NONE
            if at + 1 == len(text):
                return at if at > begin else WAIT
            at += 2

    def _scalar(self, text: str, at: int, *, base: int, ended: bool) -> int:
        run = _SCALAR.match(text, at, at + LONGEST_SCALAR)
        if run is None:
            return NONE
        if run.end() == len(text) and not ended and run.end() - at < LONGEST_SCALAR:
            return WAIT
        if not _SCALAR_VALUE.fullmatch(run.group()):
            return NONE
        self._may_close = False
        self._complete(run.end(), base)
        return run.end()

    def _complete(self, end: int, base: int) -> None:
        """A string, scalar or container ended: it was a key, an element or a member's value."""
        if self._expected is KEY:
            self._expected = COLON
            return
        self._expected = NEXT
        if not self._open or self._open[-1] == "}":
            self._parts.append(Part(base + end, Kind.VALUE))
