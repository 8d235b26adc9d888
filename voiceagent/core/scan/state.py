"""What the scanner knows while it reads: the window, the place of work, the sentence at hand.

All indices below are indices of the window, and are moved with it. A mark's handler is a function
of this state and the index of the mark. It returns True when it moved ``at`` on, and False when
what follows the mark must be known first; it is then called again with more text.
"""

from bisect import insort
from dataclasses import dataclass, field

from voiceagent.core.kinds import Kind
from voiceagent.core.languages import Language
from voiceagent.core.scan import characters as ch
from voiceagent.core.scan.blocks import Block

LONGEST_WORD = 32
"""Characters looked back for the word before a mark. No abbreviation is longer."""
LONGEST_RUN = 64
"""Stops, closing marks or blanks in a row after which the scanner decides without seeing more."""
LOOKBACK = 2 * LONGEST_RUN + 2 * LONGEST_WORD
"""Characters kept before the place of work: no rule looks back further."""
REST = 2 * LONGEST_WORD
"""Characters of lookahead that decide as well as any more would."""
LONGEST_EMPHASIS = 200
"""Characters after which an unclosed ``**`` or ``(`` no longer keeps clauses together."""
LONGEST_TITLE = 60
"""The same for an unclosed 《, which keeps sentences together."""


@dataclass(frozen=True, slots=True)
class Boundary:
    """A place where the text may be cut, whatever follows."""

    position: int
    """In code points from the beginning of the text: the cut is before this character."""
    kind: Kind
    reason: str
    """The rule that made it, for people."""
    hard: bool = False
    """The border of a block: every surface cuts here."""
    inner: bool = False
    """Inside a block: only surfaces that take such blocks apart cut here."""
    whole: bool = False
    """What ends here is a block, or a part of one: it is never cut for its length."""
    ear: bool = True
    """Whether what ends here may be spoken."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided about one mark, for people."""

    position: int
    mark: str
    cut: bool
    reason: str


@dataclass(slots=True)
class Scan:
    """The scanner's memory."""

    language: Language
    explain: bool
    text: str = ""
    """The window."""
    base: int = 0
    """Position of the window's first character."""
    at: int = 0
    """Everything before this index is decided."""
    ended: bool = False

    unit: int = 0
    """Where the current sentence begins."""
    line_opens: bool = True
    """Whether a line begins at ``at`` whose nature is not known yet."""
    paragraph_ended: bool = False
    """Whether that line follows a blank one, and this has been said."""
    line: int = 0
    """Where the current line's visible text begins."""
    line_before: int = 0
    """The same of the line before, while a line opens."""
    gap: int = 0
    """Where the visible text before that line ended."""
    leans_on: int = -1
    """Where an abbreviation ended that belongs to the next word, if a line ended there."""
    stands_alone: bool = False
    """Whether the current line is a heading or a list item."""
    numbering: tuple[str, int] | None = None
    """The list number that opened the current line or item: its style and its value."""

    emphasis: str = ""
    """The open run of stars."""
    emphasis_from: int = 0
    brackets: list[int] = field(default_factory=list)
    """Where open round and square brackets are."""
    titles: list[int] = field(default_factory=list)
    """Where open 《 are."""
    quotes: int = 0
    """How many straight quotation marks this paragraph has before ``quotes_to``."""
    quotes_to: int = 0
    together: list[tuple[int, int]] = field(default_factory=list)
    """Positions (of the text) of the spans that no cut may enter, by where they begin."""

    block: Block | None = None
    block_from: int = 0
    """Position (of the text) of the open block."""

    found: list[Boundary] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)

    def move(self, gone: int) -> None:
        """Drops ``gone`` characters from the front of the window."""
        self.inside_quotes(gone)
        self.quotes_to -= gone
        self.text = self.text[gone:]
        self.base += gone
        self.at -= gone
        self.unit -= gone
        self.line -= gone
        self.line_before -= gone
        self.gap -= gone
        self.leans_on -= gone
        self.emphasis_from -= gone
        self.brackets = [index - gone for index in self.brackets]
        self.titles = [index - gone for index in self.titles]

    # Moving on

    def advance(self, index: int) -> bool:
        """Everything before ``index`` is decided."""
        self.at = index
        return True

    def carry_on(self, at: int, end: int, reason: str) -> bool:
        """The mark from ``at`` to ``end`` is no place to cut."""
        if self.explain:
            self._note(at, end, False, reason)
        self.at = end
        return True

    def cut_sentence(self, at: int, end: int, reason: str) -> bool:
        """The sentence ends with the mark from ``at`` to ``end``."""
        if self.explain:
            self._note(at, end, True, reason)
        self.found.append(Boundary(self.base + end, Kind.SENTENCE, reason))
        self.begin_unit(end)
        self.at = end
        return True

    def cut_clause(self, at: int, end: int) -> bool:
        """A clause ends with the mark from ``at`` to ``end``, unless it lies inside a span."""
        if self.emphasis and end - self.emphasis_from < LONGEST_EMPHASIS:
            return self.carry_on(at, end, "inside emphasis")
        if self.brackets and end - self.brackets[-1] < LONGEST_EMPHASIS:
            return self.carry_on(at, end, "inside brackets")
        if self.explain:
            self._note(at, end, True, "a clause mark")
        self.found.append(Boundary(self.base + end, Kind.CLAUSE, "a clause mark"))
        self.at = end
        return True

    def begin_unit(self, index: int) -> None:
        """A new sentence begins: what was open in the last one no longer matters."""
        self.unit = index
        self.brackets.clear()
        self.titles.clear()

    def _note(self, at: int, end: int, cut: bool, reason: str) -> None:
        self.decisions.append(Decision(self.base + at, self.text[at:end], cut, reason))

    # Emphasis

    def open_emphasis(self, run: str, at: int) -> None:
        """A run of stars opens emphasis."""
        self.close_emphasis(at)
        self.emphasis, self.emphasis_from = run, at

    def close_emphasis(self, end: int) -> None:
        """Emphasis ends, if any is open: no cut may enter it."""
        if self.emphasis:
            self.keep_together(self.emphasis_from, min(end, self.emphasis_from + LONGEST_EMPHASIS))
        self.emphasis = ""

    # Looking around

    def short_of(self, index: int, since: int) -> bool:
        """Whether a run from ``since`` that reaches ``index`` may still grow, and so matter."""
        return index == len(self.text) and not self.ended and index - since < LONGEST_RUN

    def gap_end(self, index: int) -> int:
        """Where the blanks from ``index`` end; at most ``LONGEST_RUN`` of them are looked at."""
        match = ch.GAP.match(self.text, index, index + LONGEST_RUN)
        return match.end() if match else index

    def visible_end(self, index: int) -> int:
        """Where the visible text before ``index`` ends; as many blanks are skipped."""
        end = index
        while end > 0 and index - end < LONGEST_RUN and self.text[end - 1] in ch.BLANKS:
            end -= 1
        return end

    def word_before(self, index: int) -> str:
        """What stands before ``index`` in this sentence, back to a blank or an opening mark."""
        match = ch.LAST_WORD.search(self.text, max(self.unit, index - LONGEST_WORD, 0), index)
        return match.group() if match else ""

    def text_before(self, index: int) -> str:
        """Some text of this sentence before ``index``."""
        return self.text[max(self.unit, index - LONGEST_WORD, 0) : index]

    def opens_unit(self, index: int) -> bool:
        """Whether nothing but marks stands between the beginning of the sentence and ``index``."""
        begin = max(self.unit, 0)
        return index - begin < LONGEST_WORD and not self.text[begin:index].strip(
            ch.MARKS_BEFORE_A_WORD
        )

    def inside_quotes(self, index: int) -> bool:
        """Whether a straight quotation mark before ``index`` is open."""
        self.quotes += self.text.count('"', self.quotes_to, index)
        self.quotes_to = max(index, self.quotes_to)
        return self.quotes % 2 == 1

    # Blocks and spans

    def keep_together(self, begin: int, end: int) -> None:
        """No cut may enter the span from ``begin`` to ``end``."""
        insort(self.together, (self.base + begin, self.base + end))

    def open_block(self, block: Block, begin: int, end: int) -> bool:
        """A block begins at ``begin``; its opening mark ends at ``end``."""
        visible = self.gap if begin == self.line else self.visible_end(begin)
        self.found.append(
            Boundary(self.base + visible, Kind.PARAGRAPH, f"{block.name} begins", hard=True)
        )
        self.block = block
        self.block_from = self.base + visible
        self.line_opens = False
        self.at = end
        return True

    def close_block(self, index: int, *, complete: bool) -> None:
        """The open block ends at ``index``; an incomplete one turned out to be something else."""
        block = self.block
        assert block is not None  # only an open block can be closed
        if complete:
            self.found.append(
                Boundary(
                    self.base + index,
                    block.kind,
                    f"{block.name} ends",
                    hard=True,
                    whole=True,
                    ear=block.ear,
                )
            )
            self.begin_unit(index)
        self.block = None
        self.stands_alone = False
        self.at = index
