"""Line ends: what the next line is, and whether the one before it ended anything."""

import re

from voiceagent.core.kinds import Kind
from voiceagent.core.scan import characters as ch
from voiceagent.core.scan.blocks import Raw, Table
from voiceagent.core.scan.state import LONGEST_RUN, Boundary, Scan

WRAPPED_LINE = 60
"""A line of at least so many characters without a stop was wrapped, rather than ended: lines that
stand for themselves without a mark (headings, items, verse) are shorter."""

_RULE = r"(?P<rule>(?:-{3,40}|\*{3,40}|_{3,40})(?=[ \t]{0,8}(?:[\n\r]|\Z)))"
_MARKER = re.compile(
    rf"{_RULE}|\#{{1,6}}[ \t]|[-*+{ch.BULLETS}–—][ \t]|\d{{1,3}}[.)]{{1,2}}[ \t]|>"
)
_MARKER_BEGINS = re.compile(
    rf"\#{{1,6}}|[-*_]{{1,40}}[ \t]{{0,8}}|[+{ch.BULLETS}–—]|\d{{1,3}}[.)]{{0,2}}"
)
_MATH = re.compile(r"\$\$|\\\[|\\begin\{(?P<environment>[A-Za-z]{1,20}\*?)\}")
_MATH_BEGINS = re.compile(r"\$|\\(?:b(?:e(?:g(?:i(?:n(?:\{[A-Za-z]{0,20}\*?)?)?)?)?)?)?")
_LONGEST_OPENING = 64


def newline(scan: Scan, at: int) -> bool:
    """The end of a line."""
    scan.gap = scan.visible_end(at)
    scan.line_before = scan.line
    scan.line_opens = True
    scan.paragraph_ended = False
    return True


def open_line(scan: Scan) -> bool:
    """Decides what the line at hand is, and whether the one before it ended anything."""
    text, at = scan.text, scan.at
    match = ch.ANY_GAP.match(text, at)
    begin = match.end() if match else at
    newlines = len(ch.NEWLINE.findall(text, at, begin))
    if not scan.paragraph_ended and (newlines > 1 or begin - at > LONGEST_RUN):
        _end_line(scan, "a blank line")
        scan.paragraph_ended = True
    if begin == len(text):
        if scan.ended or scan.paragraph_ended or newlines == 0:
            scan.at = begin  # no blank before this matters any more
        return False
    opening = text[begin : begin + _LONGEST_OPENING]
    if not scan.ended and len(opening) < _LONGEST_OPENING and _undecided(opening):
        return False
    scan.line = begin
    return _open_block_line(scan, begin) or _open_text_line(scan, begin, newlines)


def _undecided(opening: str) -> bool:
    return bool(_MARKER_BEGINS.fullmatch(opening) or _MATH_BEGINS.fullmatch(opening))


def _open_block_line(scan: Scan, begin: int) -> bool:
    """Opens the block that can only stand at the beginning of a line."""
    if scan.text[begin] == "|":
        return scan.open_block(Table(), begin, begin + 1)
    math = _MATH.match(scan.text, begin)
    if math is None:
        return False
    environment = math.group("environment")
    closer = "$$" if math.group() == "$$" else r"\]"
    closer = rf"\end{{{environment}}}" if environment else closer
    block = Raw(closer=closer, kind=Kind.BLOCK, ear=True, name="display maths", one_paragraph=True)
    return scan.open_block(block, begin, math.end())


def _open_text_line(scan: Scan, begin: int, newlines: int) -> bool:
    marker = _MARKER.match(scan.text, begin)
    if newlines and not scan.paragraph_ended:
        if marker or (scan.stands_alone and not _continues_item(scan, begin)):
            _end_line(scan, "a line that stands for itself")
        elif _is_wrapped(scan, begin):
            scan.found.append(Boundary(scan.base + scan.gap, Kind.CLAUSE, "a wrapped line"))
        else:
            _end_line(scan, "a line ends and a capital follows")
    scan.stands_alone = marker is not None
    scan.line_opens = False
    return scan.advance(marker.end() if marker and marker.group("rule") else begin)


def _continues_item(scan: Scan, begin: int) -> bool:
    """Whether an indented line goes on with the list item before it."""
    indented = scan.text[begin - 1 : begin] in ch.BLANKS
    return indented and scan.text[begin].islower()


def _is_wrapped(scan: Scan, begin: int) -> bool:
    """Whether the line before goes on in this one."""
    if scan.text[begin].islower() or scan.leans_on == scan.gap:
        return True
    if scan.gap <= max(scan.unit, 0):
        return False
    if scan.text[scan.gap - 1] == ",":
        return True
    if scan.word_before(scan.gap).lower() in scan.language.function_words:
        return True
    return scan.gap - max(scan.line_before, 0) >= WRAPPED_LINE


def _end_line(scan: Scan, reason: str) -> None:
    scan.found.append(Boundary(scan.base + scan.gap, Kind.PARAGRAPH, reason))
    scan.begin_unit(scan.gap)
    scan.quotes, scan.quotes_to = 0, scan.at
    scan.close_emphasis(scan.gap)
    scan.numbering = None
    scan.stands_alone = False
