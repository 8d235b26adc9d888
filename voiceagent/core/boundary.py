"""The scanner: text in, piece by piece; boundaries out, each decided once and for ever.

It reads left to right and never goes back. A boundary is a function of the text before it and of
the little that follows (its *lookahead*): one character where the script allows it, at most the
next word. Where that is not there yet, the scanner waits. So for every prefix of a text the
boundaries found are among those of the whole, and how the text was chopped cannot matter.

A boundary lies before the blanks that follow it: blanks at a join belong to the segment on the
right.
"""

import re
from bisect import bisect_left
from collections.abc import Callable

from voiceagent.core import structure
from voiceagent.core.kinds import Kind
from voiceagent.core.languages import Language, language
from voiceagent.core.scan import characters as ch
from voiceagent.core.scan import clauses, lines, stops, thai
from voiceagent.core.scan.blocks import Progress
from voiceagent.core.scan.spans import LONGEST_SPAN
from voiceagent.core.scan.state import LONGEST_EMPHASIS, LOOKBACK, Boundary, Decision, Scan

__all__ = ["Boundary", "Decision", "Scanner"]

WINDOW = 1024
"""Characters read before the window is moved on; bounds the cost of appending to it."""

_language = language


class Scanner:
    """Finds every boundary of a text that arrives piece by piece.

    Args:
        language: BCP 47 tag of the text; other languages inside it are expected.
        explain: keep a :class:`Decision` for every mark that was looked at.
    """

    def __init__(self, *, language: str = "en", explain: bool = False) -> None:
        self.scan = Scan(_language(language), explain)
        """The memory, for the committer's quick look; changed by the scanner alone."""
        self._search = _triggers(self.scan.language.code).search
        self._taken = 0  # everything before this position was handed out
        self._store: list[str] = []  # text between ``taken`` and the window

    # Input

    def feed(self, text: str) -> None:
        """Appends text and decides what can be decided."""
        scan = self.scan
        scan.text += text
        self._run()
        if scan.at > WINDOW:
            self._move_window()

    def end(self) -> None:
        """There is no more text: everything is decided now."""
        scan = self.scan
        scan.ended = True
        self._run()
        if scan.block is not None:
            self._advance_block()
        block = scan.block
        silent = block is not None and block.kind is Kind.SILENT
        scan.found.append(
            Boundary(
                scan.base + len(scan.text),
                Kind.SILENT if silent else Kind.END,
                "the text ends",
                hard=True,
                whole=block is not None,
                ear=block is None or block.ear,
            )
        )

    # Output

    def boundaries(self) -> list[Boundary]:
        """Drains the boundaries found, by position; one position may have several, by strength."""
        found = self.scan.found
        if found:
            self.scan.found = []
        return found

    def decisions(self) -> list[Decision]:
        """Drains what was decided about each mark; empty unless asked to explain."""
        taken, self.scan.decisions = self.scan.decisions, []
        return taken

    @property
    def language(self) -> Language:
        """The words the rules use."""
        return self.scan.language

    @property
    def settled(self) -> int:
        """Every boundary before this position has been found; an open block is not settled."""
        scan = self.scan
        return scan.base + scan.at if scan.block is None else scan.block_from

    def keeps_together(self, position: int) -> bool:
        """Whether the position lies inside a span that no cut may enter.

        Spans are those of the text not taken yet.
        """
        scan = self.scan
        if scan.emphasis:
            begin = scan.base + scan.emphasis_from
            if begin < position < begin + LONGEST_EMPHASIS:
                return True
        spans = scan.together
        index = bisect_left(spans, (position, 0)) - 1
        while index >= 0 and position - spans[index][0] <= LONGEST_SPAN:
            if spans[index][1] > position:
                return True
            index -= 1
        return False

    def peek(self, to: int, *, begin: int | None = None) -> str:
        """The text from ``begin`` (by default the last position taken) up to ``to``."""
        scan = self.scan
        begin = self._taken if begin is None else begin
        if begin >= scan.base:
            return scan.text[begin - scan.base : to - scan.base]
        stored = "".join(self._store)[begin - self._taken :]
        if to < scan.base:
            return stored[: to - begin]
        return stored + scan.text[: to - scan.base]

    def take(self, to: int) -> str:
        """The same, and ``to`` becomes the last position taken."""
        if to < self.scan.base:
            return self._take_stored(to)
        text = self.peek(to)
        self._store.clear()
        self._taken = to
        spans = self.scan.together
        past = 0
        while past < len(spans) and spans[past][1] <= to:
            past += 1
        del spans[:past]
        return text

    def _take_stored(self, to: int) -> str:
        stored = "".join(self._store)
        text, rest = stored[: to - self._taken], stored[to - self._taken :]
        self._store[:] = [rest]
        self._taken = to
        return text

    # The window

    def _move_window(self) -> None:
        scan = self.scan
        gone = scan.at - LOOKBACK
        begin = max(0, self._taken - scan.base)
        if begin < gone:
            self._store.append(scan.text[begin:gone])
        scan.move(gone)

    # Reading on

    def _run(self) -> None:
        """Goes from mark to mark until the text ends or one must wait for more of it."""
        scan, search = self.scan, self._search
        while True:
            if scan.block is not None:
                moved = scan.at < len(scan.text) and self._advance_block()
            elif scan.line_opens:
                moved = scan.at < len(scan.text) and lines.open_line(scan)
            else:
                text = scan.text
                match = search(text, scan.at)
                if match is None:
                    scan.at = len(text)
                    return
                at = scan.at = match.start()
                moved = _HANDLERS[text[at]](scan, at)
            if not moved:
                return

    def _advance_block(self) -> bool:
        scan = self.scan
        block = scan.block
        assert block is not None  # the caller checked
        scan.at, progress = block.advance(scan.text, scan.at, base=scan.base, ended=scan.ended)
        for part in block.parts():
            scan.found.append(
                Boundary(
                    part.position,
                    part.kind,
                    f"a complete {part.kind}",
                    inner=True,
                    whole=True,
                    ear=block.ear,
                )
            )
        if progress is Progress.OPEN:
            return False
        scan.close_block(scan.at, complete=progress is Progress.DONE)
        return True


_Handler = Callable[[Scan, int], bool]
_HANDLERS: dict[str, _Handler] = {
    **dict.fromkeys(ch.SOFT_STOPS + ch.HARD_STOPS, stops.stop),
    **dict.fromkeys(ch.ASCII_MARKS, clauses.mark),
    **dict.fromkeys(ch.WIDE_MARKS, clauses.wide_mark),
    **dict.fromkeys(ch.DASHES, clauses.dash),
    **dict.fromkeys(ch.IDEOGRAPHIC_COMMA, clauses.ideographic_comma),
    **dict.fromkeys(ch.NEWLINES, lines.newline),
    **dict.fromkeys(ch.BULLETS, clauses.bullet),
    "*": clauses.star,
    "(": clauses.bracket,
    ")": clauses.close_bracket,
    "]": clauses.close_bracket,
    "《": clauses.title,
    "》": clauses.close_title,
    "[": structure.square,
    "<": structure.angle,
    "{": structure.brace,
    "`": structure.backtick,
    "~": structure.tilde,
    "$": structure.dollar,
    "\\": structure.backslash,
    " ": thai.blank,
}
_MARKS = "".join(mark for mark in _HANDLERS if mark != " ")
_ANY_MARK = re.compile(f"[{re.escape(_MARKS)}]")
_ANY_MARK_OR_BLANK = re.compile(f"[ {re.escape(_MARKS)}]")


def _triggers(code: str) -> re.Pattern[str]:
    """The marks to stop at. Thai writes blanks where others write commas and stops."""
    return _ANY_MARK_OR_BLANK if code == "th" else _ANY_MARK
