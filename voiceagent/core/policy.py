"""Where each surface wants to be cut."""

from dataclasses import dataclass

from voiceagent.core.kinds import Kind

_SENTENCES = frozenset({Kind.SENTENCE, Kind.PARAGRAPH})


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Where a surface wants to be cut. The borders of blocks are cut always.

    Lengths are in Latin characters; a CJK character counts as four. Precedents: first clauses from
    24 characters or 4 words on, a cut at a blank after 30 words without a mark.
    """

    cuts: frozenset[Kind]
    """Boundaries at which to cut always."""
    inner: frozenset[Kind] = frozenset()
    """Parts of blocks at which to cut: ``value`` inside JSON, ``statement`` inside code."""
    for_ear: bool = True
    """Whether the text is spoken: code and JSON are then silent."""
    first_clause_min: int | None = None
    """Cut the first spoken segment at a clause that is at least this long; None: never."""
    first_clause_min_words: int = 4
    """... or that has at least this many words."""
    clause_min: int = 24
    """Least length of a clause that is cut because sound runs low or a segment grows too long."""
    clause_below_buffered_ms: float | None = None
    """Cut at clauses while less sound than this waits to be played; None: never."""
    first_limit: int | None = None
    """A first spoken segment that grows longer is cut at a clause or a blank; None: never."""
    limit: int | None = None
    """The same for later segments."""

    @classmethod
    def sentences(cls) -> "Policy":
        """Cuts at sentences and at lines that stand for themselves; a block is one segment."""
        return cls(cuts=_SENTENCES)

    @classmethod
    def clauses(cls) -> "Policy":
        """Cuts at every clause: the finest partition."""
        return cls(cuts=_SENTENCES | {Kind.CLAUSE})

    @classmethod
    def structured(cls) -> "Policy":
        """Cuts at sentences, lines and blocks, for a text that is spoken."""
        return cls.sentences()

    @classmethod
    def voice(
        cls,
        *,
        first_clause_min: int = 24,
        first_clause_min_words: int = 4,
        clause_min: int = 24,
        buffered_ms: float = 1500.0,
    ) -> "Policy":
        """For a synthesizer: an early first clause, then sentences, clauses when sound runs low.

        Args:
            first_clause_min: least length of a first clause; short pieces are a matter of the
                synthesizer (Piper speaks them well, some neural ones add noise).
            first_clause_min_words: or least number of its words.
            clause_min: least length of a later clause.
            buffered_ms: below how much waiting sound clauses are cut.
        """
        return cls(
            cuts=_SENTENCES,
            first_clause_min=first_clause_min,
            first_clause_min_words=first_clause_min_words,
            clause_min=clause_min,
            clause_below_buffered_ms=buffered_ms,
            first_limit=80,
            limit=240,
        )

    @classmethod
    def markdown(cls) -> "Policy":
        """For a page: whole paragraphs, list items, tables, code blocks, formulas."""
        return cls(cuts=frozenset({Kind.PARAGRAPH}), for_ear=False)

    @classmethod
    def form(cls) -> "Policy":
        """For a form: each JSON value inside an object as soon as it is complete."""
        return cls(cuts=_SENTENCES, inner=frozenset({Kind.VALUE}), for_ear=False)

    @classmethod
    def code(cls) -> "Policy":
        """For an editor: each complete statement inside a code block."""
        return cls(cuts=_SENTENCES, inner=frozenset({Kind.STATEMENT}), for_ear=False)
