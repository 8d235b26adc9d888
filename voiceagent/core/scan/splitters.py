"""Complete statements of code, found while the code arrives (Python and SQL), line by line.

A splitter is a function of the code up to the end it reports and of the little it has seen after
that: a statement it reports cannot be continued by anything.
"""

import re
from typing import Protocol

from voiceagent.core.kinds import Kind

Ends = list[tuple[int, Kind]]
"""Positions at which a part is complete, and what it is."""


class Splitter(Protocol):
    """Finds complete parts of code."""

    def feed(self, code: str, position: int, *, ended: bool) -> Ends:
        """Takes the code that begins at ``position`` (contiguous); returns the ends now certain."""


def splitter_for(info: str) -> Splitter | None:
    """The splitter for a fence's info string, or None for a language without one."""
    name = info.strip().split()[0].lower().strip("{}.") if info.strip() else ""
    if name in ("python", "py", "python3", "py3", "pycon"):
        return PythonSplitter()
    if name in ("sql", "postgresql", "postgres", "mysql", "sqlite", "tsql", "plsql", "psql"):
        return SqlSplitter()
    return None


_PYTHON_MARK = re.compile(r"\"\"\"|'''|[\"'#()\[\]{}\\\n]")
_COMPOUND = re.compile(r"(?:if|for|while|try|with|def|class|async|match|@)\b|@")
_CONTINUES = re.compile(r"(?:else|elif|except|finally|case)\b")
_FIRST_WORD = re.compile(r"\w*")
_INDENTED = re.compile(r"[ \t]|$")


class PythonSplitter:
    """Statements at the left margin. A compound one ends where the next one begins."""

    def __init__(self) -> None:
        self._line = ""  # the logical line so far
        self._line_from = 0
        self._depth = 0
        self._quote = ""
        self._compound = False
        self._decorated = False
        self._end = 0  # of the last code of the open statement

    def feed(self, code: str, position: int, *, ended: bool) -> Ends:
        """Works line by line: an incomplete line waits, but for a word that opens a statement."""
        ends: Ends = []
        at = 0
        while at < len(code):
            newline = code.find("\n", at)
            stop = len(code) if newline < 0 else newline + 1
            if not self._line:
                self._line_from = position + at
            self._line += code[at:stop]
            if newline >= 0:
                self._take_line(ends)
            at = stop
        if ended:
            if self._line:
                self._take_line(ends)
            self._finish(ends)
        return ends

    def _take_line(self, ends: Ends) -> None:
        """Takes a physical line; it may continue a string, a bracket or a backslash."""
        line, begin = self._line, self._line_from
        self._line = ""
        continued = bool(self._quote) or self._depth > 0
        blank = not continued and (not line.strip() or line.lstrip().startswith("#"))
        if blank:
            return
        if not continued and not _INDENTED.match(line):
            self._open(line, ends)
        open_line = self._scan(line)
        self._end = begin + len(line.rstrip())
        if not open_line and not self._compound:
            self._finish(ends)

    def _open(self, line: str, ends: Ends) -> None:
        """A line at the margin ends the open compound statement, unless it is a clause of it."""
        if self._compound and not self._decorated and not _CONTINUES.match(line):
            self._finish(ends)
        self._compound = self._compound or bool(_COMPOUND.match(line))
        self._decorated = line.startswith("@")

    def _finish(self, ends: Ends) -> None:
        if self._end:
            ends.append((self._end, Kind.STATEMENT))
        self._end = 0
        self._compound = self._decorated = False

    def _scan(self, line: str) -> bool:
        """Follows strings and brackets; True if the logical line goes on."""
        at = 0
        while (found := _PYTHON_MARK.search(line, at)) is not None:
            mark, at = found.group(), found.end()
            if mark == "\\":
                if line[at:].strip() == "" and not self._quote:
                    return True
                at += 1
            elif self._quote:
                if mark == self._quote or (mark == "\n" and len(self._quote) == 1):
                    self._quote = ""
            elif mark == "#":
                break
            elif mark[0] in "\"'":
                self._quote = mark
            elif mark in "([{":
                self._depth += 1
            elif mark in ")]}":
                self._depth = max(0, self._depth - 1)
        return bool(self._quote) or self._depth > 0


_SQL_TOKEN = re.compile(
    r"--[^\n]*|/\*|\*/|\$\w*\$|''|[;'\"`]|\b(?:begin|case|end)\b", re.IGNORECASE
)
_TRANSACTION = re.compile(
    r"\s*(?:;|transaction\b|tran\b|work\b|immediate\b|exclusive\b)", re.IGNORECASE
)


class SqlSplitter:
    """Statements up to their semicolon, outside strings, comments and BEGIN ... END bodies."""

    def __init__(self) -> None:
        self._line = ""
        self._line_from = 0
        self._until = ""  # what closes the open string or comment
        self._depth = 0

    def feed(self, code: str, position: int, *, ended: bool) -> Ends:
        """Works line by line, since a token may be torn in the middle of one."""
        ends: Ends = []
        if not self._line:
            self._line_from = position
        self._line += code
        while "\n" in self._line or (ended and self._line):
            line, newline, self._line = self._line.partition("\n")
            self._take_line(line, ends)
            self._line_from += len(line) + len(newline)
        return ends

    def _take_line(self, line: str, ends: Ends) -> None:
        for token in _SQL_TOKEN.finditer(line):
            mark = token.group().lower()
            if self._until:
                if mark == self._until:
                    self._until = ""
            elif mark in ("'", '"', "`") or mark.startswith("$"):
                self._until = mark
            elif mark == "/*":
                self._until = "*/"
            elif mark == "case" or (mark == "begin" and not _TRANSACTION.match(line, token.end())):
                self._depth += 1
            elif mark == "end":
                self._depth = max(0, self._depth - 1)
            elif mark == ";" and self._depth == 0:
                ends.append((self._line_from + token.end(), Kind.STATEMENT))
