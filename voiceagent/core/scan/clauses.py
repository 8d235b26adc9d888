"""Marks inside sentences: commas, colons, semicolons, dashes; and what keeps clauses together."""

from voiceagent.core.languages import MONTHS, SUFFIXES_OF_NAMES, WEEKDAYS
from voiceagent.core.scan import characters as ch
from voiceagent.core.scan.state import LONGEST_EMPHASIS, LONGEST_RUN, LONGEST_WORD, REST, Scan
from voiceagent.core.scan.stops import close_number, soft_stop

_OPENS_SUFFIX = frozenset(word[0] for word in SUFFIXES_OF_NAMES)
_OPENS_DATE = frozenset(word[0] for word in MONTHS) | set("0123456789")


def mark(scan: Scan, at: int) -> bool:
    """A comma, semicolon or colon that needs a blank after it."""
    text = scan.text
    if text[at] in scan.language.stops:
        return soft_stop(scan, at, at + 1)
    end = _closers_end(scan, at + 1)
    if scan.short_of(end, at):
        return False
    if end < len(text) and text[end] not in ch.BLANK_OR_NEWLINE:
        return scan.carry_on(at, end, "no blank follows")
    gap_end = scan.gap_end(end)
    if scan.short_of(gap_end, end):
        return False
    if gap_end - end >= LONGEST_RUN:
        return scan.carry_on(at, end, "a wide gap follows")
    reason = _keeps_together(scan, at, text[gap_end : gap_end + REST])
    if reason is None:
        return False
    return scan.carry_on(at, end, reason) if reason else scan.cut_clause(at, end)


def _closers_end(scan: Scan, index: int) -> int:
    match = ch.CLAUSE_CLOSERS.match(scan.text, index, index + LONGEST_RUN)
    return match.end() if match else index


def _keeps_together(scan: Scan, at: int, rest: str) -> str | None:
    """Why the mark does not end a clause; "" if it does, None while that is open."""
    if not rest or rest[0] in ch.NEWLINES:
        return "the line or the text ends here anyway"
    if scan.text[at - 1 : at].isdigit() and rest[0].isdigit():
        return "numbers on both sides"
    if scan.text[at] != ",":
        return ""
    weekday = scan.word_before(at) in WEEKDAYS
    if rest[0] not in (_OPENS_DATE if weekday else _OPENS_SUFFIX):
        return ""
    match = ch.WORD.match(rest)
    end = match.end() if match else 0
    if end == len(rest) < LONGEST_WORD and not scan.ended:
        return None
    if rest[:end] in SUFFIXES_OF_NAMES:
        return f"{rest[:end]!r} belongs to the name"
    if weekday and (rest[0].isdigit() or rest[:end] in MONTHS):
        return "a weekday belongs to its date"
    return ""


def wide_mark(scan: Scan, at: int) -> bool:
    """A full-width or Arabic mark: decided by one character more."""
    text = scan.text
    match = ch.WIDE_CLOSERS.match(text, at + 1, at + 1 + LONGEST_RUN)
    end = match.end() if match else at + 1
    if scan.short_of(end, at):
        return False
    if text[at - 1 : at].isdigit() and text[end : end + 1].isdigit():
        return scan.carry_on(at, end, "numbers on both sides")
    return scan.cut_clause(at, end)


def ideographic_comma(scan: Scan, at: int) -> bool:
    """A comma in Japanese; in Chinese it separates the items of a list."""
    return wide_mark(scan, at) if scan.language.code == "ja" else scan.advance(at + 1)


def dash(scan: Scan, at: int) -> bool:
    """A dash between words; the shorter one needs blanks on both sides."""
    text = scan.text
    end = at + 1
    while end < len(text) and text[end] in ch.DASHES:
        end += 1
    if end - at > LONGEST_RUN:
        return scan.advance(end - 1)
    if end == len(text) and not scan.ended:
        return False
    before, after = text[at - 1 : at], text[end : end + 1]
    blanks = before in ch.BLANK_OR_NOTHING and after in ch.BLANK_OR_NOTHING
    if text[at] == "–" and not blanks:
        return scan.advance(end)
    if (before.isdigit() and after.isdigit()) or scan.opens_unit(at):
        return scan.advance(end)
    return scan.cut_clause(at, end)


# What keeps clauses together


def star(scan: Scan, at: int) -> bool:
    """Stars open and close emphasis (CommonMark's flanking rules, made short)."""
    text = scan.text
    end = at + 1
    while end < len(text) and text[end] == "*":
        end += 1
    if end - at > LONGEST_RUN:
        return scan.advance(end - 1)
    if end == len(text) and not scan.ended:
        return False
    run, before, after = text[at:end], text[at - 1 : at], text[end : end + 1]
    if scan.emphasis and at - scan.emphasis_from < LONGEST_EMPHASIS:
        if run == scan.emphasis and before not in ch.BLANK_OR_NOTHING:
            scan.close_emphasis(end)
    elif after not in ch.BLANK_OR_NOTHING and not before.isalnum():
        scan.open_emphasis(run, at)
    return scan.advance(end)


def bracket(scan: Scan, at: int) -> bool:
    """An opening bracket."""
    scan.brackets.append(at)
    return scan.advance(at + 1)


def close_bracket(scan: Scan, at: int) -> bool:
    """A closing bracket, of a pair or of a list number."""
    if scan.brackets:
        scan.brackets.pop()
    elif scan.text[at] == ")" and close_number(scan, at):
        return True
    return scan.advance(at + 1)


def title(scan: Scan, at: int) -> bool:
    """《 opens the title of a work."""
    scan.titles.append(at)
    return scan.advance(at + 1)


def close_title(scan: Scan, at: int) -> bool:
    """》 closes it."""
    if scan.titles:
        scan.titles.pop()
    return scan.advance(at + 1)


def bullet(scan: Scan, at: int) -> bool:
    """A bullet inside a line opens the next item."""
    visible = scan.visible_end(at)
    if visible < at and not scan.opens_unit(at):
        scan.cut_sentence(at, visible, "a bullet begins an item")
    return scan.advance(at + 1)
