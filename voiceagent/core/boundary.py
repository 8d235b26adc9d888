"""The scanner: text in, piece by piece; boundaries out, each decided once and for ever.

It reads left to right and never goes back. A boundary is a function of the text before it and of
the little that follows (its *lookahead*): one character where the script allows it, at most the
next word. Where that is not there yet, the scanner waits. So for every prefix of a text the
boundaries found are among those of the whole, and how the text was chopped cannot matter.

A boundary lies before the blanks that follow it: blanks at a join belong to the segment on the
right.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from voiceagent.core import languages as lexicon
from voiceagent.core.scan import characters as ch
from voiceagent.core.kinds import Kind
from voiceagent.core.languages import Language, language
from voiceagent.core.scan.sentence import LONGEST_WORD, Stop, judge
from voiceagent.core.structure import NONE, WAIT, Block, inline_code_end

LOOKBACK = 160
"""Characters kept before the place of work, for the word before a mark."""
WINDOW = 1024
"""Characters read before the window is moved on; bounds the cost of appending to it."""
LONGEST_RUN = 64
"""Stops, closing marks or blanks in a row after which the scanner decides without seeing more."""
REST = LONGEST_WORD + 24
"""Characters of lookahead that decide as well as any more would."""
LONGEST_EMPHASIS = 200
"""Characters after which an unclosed ``**`` or ``(`` no longer keeps clauses together."""


@dataclass(frozen=True, slots=True)
class Boundary:
    """A place where the text may be cut, whatever follows."""

    position: int
    """In code points from the beginning of the text; cuts are before this character."""
    kind: Kind
    reason: str
    """The rule that made it, for people."""
    hard: bool = False
    """The border of a block: every surface cuts here."""
    inner: bool = False
    """Inside a block: only surfaces that take blocks apart cut here."""
    whole: bool = False
    """What ends here is a block: it is never taken apart for its length."""
    ear: bool = True
    """Whether what ends here may be spoken."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided about one mark, for ``--explain``."""

    position: int
    mark: str
    cut: bool
    reason: str


class Scanner:
    """Finds every boundary of a text that arrives piece by piece.

    Args:
        language: BCP 47 tag of the text; other languages in it are expected.
        explain: keep a :class:`Decision` for every mark that was looked at.
    """

    def __init__(self, *, language: str = "en", explain: bool = False) -> None:
        self._language = _language(language)
        self._text = ""  # the window
        self._base = 0  # position of the window's first character
        self._at = 0  # everything before this index of the window is decided
        self._ended = False
        self._line_opens = True  # at the beginning of a line whose kind is not known yet
        self._gap_from = 0  # where the visible text before that line ended
        self._unit = 0  # where the current sentence begins
        self._item = False  # the current line is a list item or a heading
        self._emphasis = ""
        self._emphasis_from = 0
        self._brackets: list[int] = []
        self._block: Block | None = None
        self._found: list[Boundary] = []
        self._decisions: list[Decision] | None = [] if explain else None
        self._taken = 0  # everything before this position was handed out
        self._store: list[str] = []  # text between ``taken`` and the window

    # Input

    def feed(self, text: str) -> None:
        """Appends text and decides what can be decided."""
        self._text += text
        while self._at < len(self._text) and self._step():
            pass
        if self._at > WINDOW:
            self._move_window()

    def end(self) -> None:
        """There is no more text: everything is decided now."""
        self._ended = True
        while self._at < len(self._text) and self._step():
            pass
        silent = self._block is not None and not self._block.ear
        self._emit(len(self._text), Kind.END, "the text ends", hard=True, ear=not silent)

    # Output

    def boundaries(self) -> list[Boundary]:
        """Drains the boundaries found, by position."""
        found, self._found = self._found, []
        return found

    def decisions(self) -> list[Decision]:
        """Drains what was decided about each mark; empty unless asked to explain."""
        taken, self._decisions = self._decisions, [] if self._decisions is not None else None
        return taken or []

    @property
    def settled(self) -> int:
        """Every boundary before this position has been found."""
        return self._base + self._at

    @property
    def language(self) -> "Language":
        """The words the rules use."""
        return self._language

    def keeps_together(self, position: int) -> bool:
        """Whether the position lies inside a span that no cut may enter."""
        return False

    def peek(self, to: int) -> str:
        """The text that :meth:`take` would give."""
        begin = max(0, self._taken - self._base)
        return "".join(self._store) + self._text[begin : to - self._base]

    def take(self, to: int) -> str:
        """The text from the last position taken up to ``to``, which becomes the last taken."""
        begin = max(0, self._taken - self._base)
        text = "".join(self._store) + self._text[begin : to - self._base]
        self._store = []
        self._taken = to
        return text

    # The window

    def _move_window(self) -> None:
        gone = self._at - LOOKBACK
        keep_from = max(0, self._taken - self._base)
        if keep_from < gone:
            self._store.append(self._text[keep_from:gone])
        self._text = self._text[gone:]
        self._base += gone
        self._at -= gone
        self._gap_from -= gone
        self._unit -= gone
        self._emphasis_from -= gone
        self._brackets = [index - gone for index in self._brackets]

    def _emit(
        self,
        index: int,
        kind: Kind,
        reason: str,
        *,
        hard: bool = False,
        inner: bool = False,
        ear: bool = True,
    ) -> None:
        self._found.append(
            Boundary(self._base + index, kind, reason, hard=hard, inner=inner, ear=ear)
        )

    def _note(self, index: int, mark: str, cut: bool, reason: str) -> None:
        if self._decisions is not None:
            self._decisions.append(Decision(self._base + index, mark, cut, reason))

    # One step: True if the scanner moved on, False if it waits for more text

    def _step(self) -> bool:
        if self._block is not None:
            return self._advance_block()
        if self._line_opens:
            return self._open_line()
        match = self._language_triggers().search(self._text, self._at)
        if match is None:
            self._at = len(self._text)
            return False
        self._at = match.start()
        return _HANDLERS[match.group()](self, match.start())

    def _language_triggers(self) -> re.Pattern[str]:
        return _TRIGGERS

    def _pass(self, index: int) -> bool:
        self._at = index
        return True

    # Sentences

    def _stop(self, at: int) -> bool:
        text = self._text
        run_end = ch.STOPS.match(text, at).end()
        if run_end == len(text) and not self._ended:
            return run_end - at > LONGEST_RUN and self._pass(run_end - 1)
        hard = text[at] in ch.HARD_STOPS or text[run_end - 1] in ch.HARD_STOPS
        return self._hard_stop(at, run_end) if hard else self._soft_stop(at, run_end)

    def _closers(self, at: int, pattern: re.Pattern[str]) -> int:
        """Where closing marks from ``at`` end, or WAIT."""
        match = pattern.match(self._text, at, at + LONGEST_RUN)
        end = match.end() if match else at
        if not self._ended:
            if end == len(self._text) and end - at < LONGEST_RUN:
                return WAIT
            if ch.CLOSER_BEGINS.fullmatch(self._text, end):
                return WAIT
        return end

    def _hard_stop(self, at: int, run_end: int) -> bool:
        text = self._text
        end = self._closers(run_end, ch.WIDE_CLOSERS)
        if end == WAIT:
            return False
        mark = text[at:end]
        rest = text[end : end + 4]
        if text[at] in "．｡." and text[at - 1 : at].isdigit() and rest[:1].isdigit():
            return self._go_on(at, end, mark, "a decimal point")
        if rest[:1] in tuple("，,、；;：:"):
            return self._go_on(at, end, mark, f"{rest[0]!r} carries the sentence on")
        if end > run_end and rest and _MAYBE_PARTICLE.match(rest):
            if len(rest) < 4 and not self._ended:
                return False
            if _PARTICLE.match(rest):
                return self._go_on(at, end, mark, "a particle carries the sentence on")
        return self._sentence(at, end, mark, "a stop that needs no blank")

    def _soft_stop(self, at: int, run_end: int) -> bool:
        text = self._text
        end = self._closers(run_end, ch.CLOSERS)
        if end == WAIT:
            return False
        if end < len(text) and text[end] not in _BLANK_OR_NEWLINE:
            return self._go_on(at, end, text[at:end], "no blank follows")
        gap_end = ch.GAP.match(text, end, end + LONGEST_RUN).end()
        if gap_end == len(text) and not self._ended and gap_end - end < LONGEST_RUN:
            return False
        stop = self._surroundings(at, run_end, end, gap_end)
        mark = text[at:end]
        if gap_end < len(text) and text[gap_end] in ch.NEWLINES:
            if stop.word in self._language.never and stop.run == ".":
                return self._go_on(at, end, mark, f"{stop.word!r} belongs to the next word")
            return self._sentence(at, end, mark, "a stop at the end of a line")
        if gap_end - end >= LONGEST_RUN:
            return self._sentence(at, end, mark, "a wide gap")
        if stop.rest[:1] in tuple(self._language.late_closers + ".!?…"):
            later = self._carry_over(gap_end, stop)
            if later is not None:
                return later
        verdict = judge(stop, self._language)
        if verdict is None:
            return False
        if verdict.cut:
            return self._sentence(at, end, mark, verdict.reason)
        return self._go_on(at, end, mark, verdict.reason)

    def _carry_over(self, gap_end: int, stop: Stop) -> bool | None:
        """Spaced dots (". . .") and late closing quotes ("« Oui. »") are part of the stop."""
        text = self._text
        if text[gap_end] in ".!?…":
            after = text[gap_end + 1 : gap_end + 2]
            if not after and not self._ended:
                return False
            if after.isalnum():
                return None
            self._note(gap_end, text[gap_end], False, "the stop goes on")
            return self._pass(gap_end)
        return None

    def _surroundings(self, at: int, run_end: int, end: int, gap_end: int) -> Stop:
        text = self._text
        word = ch.LAST_WORD.search(text, max(self._unit, at - LONGEST_WORD, 0), at).group()
        word_begin = at - len(word)
        before = text[max(self._unit, word_begin - LONGEST_WORD, 0) : word_begin]
        rest = text[gap_end : gap_end + REST]
        continued = at > 0 and text[at - 1] in ch.SOFT_STOPS
        return Stop(
            run=".." if continued else text[at:run_end],
            word=word,
            before=before,
            opens_unit=word_begin - max(self._unit, 0) < LONGEST_WORD and not before.strip(_MARKS),
            closed=end > run_end,
            rest=rest,
            complete=self._ended or len(rest) == REST,
        )

    def _sentence(self, at: int, end: int, mark: str, reason: str) -> bool:
        self._note(at, mark, True, reason)
        self._emit(end, Kind.SENTENCE, reason)
        self._unit = end
        self._brackets.clear()
        return self._pass(end)

    def _go_on(self, at: int, end: int, mark: str, reason: str) -> bool:
        self._note(at, mark, False, reason)
        return self._pass(end)

    # Clauses

    def _clause(self, at: int) -> bool:
        text = self._text
        if text[at] in self._language.stops:
            return self._soft_stop(at, at + 1)
        end = self._closers(at + 1, ch.CLAUSE_CLOSERS)
        if end == WAIT:
            return False
        mark = text[at:end]
        if end == len(text):
            return self._pass(end)
        if text[end] not in _BLANK_OR_NEWLINE:
            return self._go_on(at, end, mark, "no blank follows")
        gap_end = ch.GAP.match(text, end, end + LONGEST_RUN).end()
        if gap_end == len(text) and not self._ended and gap_end - end < LONGEST_RUN:
            return False
        reason = self._keeps_clause(at, gap_end)
        if reason is None:
            return False
        if reason:
            return self._go_on(at, end, mark, reason)
        return self._cut_clause(at, end, mark)

    def _keeps_clause(self, at: int, gap_end: int) -> str | None:
        """Why the mark at ``at`` does not end a clause; "" if it does, None while that is open."""
        text = self._text
        rest = text[gap_end : gap_end + REST]
        if not rest or rest[0] in ch.NEWLINES:
            return "a line ends here anyway"
        if text[at - 1 : at].isdigit() and rest[0].isdigit():
            return "numbers on both sides"
        if text[at] == ",":
            word = self._whole_word(rest)
            if word is None:
                return None
            if word in lexicon.SUFFIXES_OF_NAMES:
                return f"{word!r} belongs to the name"
            before = ch.LAST_WORD.search(text, max(0, at - LONGEST_WORD), at).group()
            if before in lexicon.WEEKDAYS and (word in lexicon.MONTHS or rest[0].isdigit()):
                return "a weekday belongs to its date"
        return ""

    def _whole_word(self, rest: str) -> str | None:
        """The next word if it may matter; None while it may still grow."""
        if rest[0] not in _WORDS_AFTER_COMMA:
            return ""
        match = ch.WORD.match(rest)
        end = match.end() if match else 0
        if end == len(rest) and end < LONGEST_WORD and not self._ended:
            return None
        return rest[:end]

    def _wide_clause(self, at: int) -> bool:
        text = self._text
        end = self._closers(at + 1, ch.WIDE_CLOSERS)
        if end == WAIT:
            return False
        if text[at - 1 : at].isdigit() and text[end : end + 1].isdigit():
            return self._go_on(at, end, text[at:end], "numbers on both sides")
        return self._cut_clause(at, end, text[at:end])

    def _ideographic_comma(self, at: int) -> bool:
        if self._language.code == "ja":
            return self._wide_clause(at)
        return self._pass(at + 1)

    def _dash(self, at: int) -> bool:
        text = self._text
        end = at
        while end < len(text) and text[end] in ch.DASHES:
            end += 1
        if end == len(text) and not self._ended:
            return end - at > LONGEST_RUN and self._pass(end - 1)
        after, before = text[end : end + 1], text[at - 1 : at]
        if text[at] == "–" and not (before in _BLANK_OR_NEWLINE and after in _BLANK_OR_NEWLINE):
            return self._pass(end)
        if not text[max(0, self._unit) : at].strip(_MARKS) or before.isdigit() and after.isdigit():
            return self._pass(end)
        return self._cut_clause(at, end, text[at:end])

    def _cut_clause(self, at: int, end: int, mark: str) -> bool:
        if self._emphasis and end - self._emphasis_from < LONGEST_EMPHASIS:
            return self._go_on(at, end, mark, "inside emphasis")
        if self._brackets and end - self._brackets[-1] < LONGEST_EMPHASIS:
            return self._go_on(at, end, mark, "inside brackets")
        self._note(at, mark, True, "a clause mark and a blank")
        self._emit(end, Kind.CLAUSE, "a clause mark and a blank")
        return self._pass(end)

    # Emphasis and brackets: they only keep clauses together

    def _star(self, at: int) -> bool:
        text = self._text
        end = at
        while end < len(text) and text[end] == "*":
            end += 1
        if end == len(text) and not self._ended:
            return end - at > LONGEST_RUN and self._pass(end - 1)
        run, before, after = text[at:end], text[at - 1 : at], text[end : end + 1]
        if self._emphasis:
            if run == self._emphasis and before not in _BLANK_OR_NEWLINE:
                self._emphasis = ""
        elif after and after not in _BLANK_OR_NEWLINE and not before.isalnum():
            self._emphasis, self._emphasis_from = run, at
        return self._pass(end)

    def _bracket(self, at: int) -> bool:
        self._brackets.append(at)
        return self._pass(at + 1)

    def _close_bracket(self, at: int) -> bool:
        if self._brackets:
            self._brackets.pop()
        return self._pass(at + 1)

    # Spans

    def _backtick(self, at: int) -> bool:
        end = inline_code_end(self._text, at, ended=self._ended)
        if end == WAIT:
            return False
        return self._pass(at + 1 if end == NONE else end)

    # Lines

    def _newline(self, at: int) -> bool:
        visible = at
        while visible > 0 and at - visible < LONGEST_RUN and self._text[visible - 1] in _BLANK:
            visible -= 1
        self._gap_from = visible
        self._line_opens = True
        return True

    def _open_line(self) -> bool:
        """Decides what the line at hand is, and whether the one before it ended anything."""
        text, at = self._text, self._at
        gap_end = ch.ANY_GAP.match(text, at).end()
        newlines = len(ch.NEWLINE.findall(text, at, gap_end))
        if newlines > 1:
            self._end_line(Kind.PARAGRAPH, "a blank line")
        if gap_end == len(text):
            return self._ended and self._pass(gap_end)
        marker = _MARKER.match(text, gap_end)
        if marker is None and not self._ended and _MARKER_BEGINS.fullmatch(text, gap_end):
            return False
        self._begin_line(gap_end, newlines, marker)
        return True

    def _begin_line(self, at: int, newlines: int, marker: re.Match[str] | None) -> None:
        if newlines == 1:
            if marker or self._item:
                self._end_line(Kind.PARAGRAPH, "a line that stands for itself")
            elif self._text[at].islower() or self._text[self._gap_from - 1 : self._gap_from] == ",":
                self._emit(self._gap_from, Kind.CLAUSE, "a line ends")
            else:
                self._end_line(Kind.PARAGRAPH, "a line ends and a capital follows")
        self._item = marker is not None
        self._line_opens = False
        self._at = at

    def _end_line(self, kind: Kind, reason: str) -> None:
        if self._gap_from > max(0, self._unit) or kind is Kind.PARAGRAPH:
            self._emit(self._gap_from, kind, reason)
        self._unit = self._gap_from
        self._emphasis = ""
        self._brackets.clear()

    def _advance_block(self) -> bool:
        raise NotImplementedError


_language = language
_BLANK = " \t\xa0\u1680\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200C)))
_BLANK_OR_NEWLINE = frozenset(_BLANK + ch.NEWLINES) | {""}
_MARKS = " \t\r\n\"'“„‘«»(\\[{*_#>-–—•¿¡"
_WORDS_AFTER_COMMA = frozenset(
    word[0] for word in lexicon.SUFFIXES_OF_NAMES | lexicon.MONTHS
) | set("0123456789")
_CLAUSE_CLOSERS = re.compile(r"[\"'”’»“*_]+")
_PARTICLE = re.compile(
    "(?!でも|では|だが|だから|だけど|もう|もし|もっと|もちろん|ところ|とても|とにかく|とりあえず|はい|はじめ"
    "|やはり|やっと|やがて|がんば)(?:と|っ|て|の|が|は|を|に|も|で|や|など|だ|か|へ|から|まで|より)"
)
_MAYBE_PARTICLE = re.compile("[とっての がはをにもでやなだかへまよ]")
_MARKER = re.compile(r"(?:[-*+•⁃‣▪◦–—][ \t]|\d{1,3}[.)][ \t]|#{1,6}[ \t]|>)")
_MARKER_BEGINS = re.compile(r"(?:[-*+•⁃‣▪◦–—]|\d{1,3}[.)]?|#{1,6})")

_Handler = Callable[[Scanner, int], bool]
_HANDLERS: dict[str, _Handler] = {
    **dict.fromkeys(ch.SOFT_STOPS + ch.HARD_STOPS, Scanner._stop),
    **dict.fromkeys(ch.ASCII_MARKS, Scanner._clause),
    **dict.fromkeys(ch.WIDE_MARKS, Scanner._wide_clause),
    **dict.fromkeys(ch.DASHES, Scanner._dash),
    **dict.fromkeys(ch.IDEOGRAPHIC_COMMA, Scanner._ideographic_comma),
    **dict.fromkeys(ch.NEWLINES, Scanner._newline),
    **dict.fromkeys("([", Scanner._bracket),
    **dict.fromkeys(")]", Scanner._close_bracket),
    "*": Scanner._star,
    "`": Scanner._backtick,
}
_TRIGGERS = re.compile("[" + re.escape("".join(_HANDLERS)) + "]")
