"""Structure inside a reply: opens blocks, passes over spans. Handlers of ``< { [ ` $ \\``."""

import re
from collections.abc import Callable

from voiceagent.core.kinds import Kind
from voiceagent.core.scan import characters as ch
from voiceagent.core.scan.blocks import Raw, fence_at
from voiceagent.core.scan.clauses import bracket
from voiceagent.core.scan.json_values import Json
from voiceagent.core.scan.spans import (
    NONE,
    WAIT,
    backslash_end,
    code_end,
    dollar_end,
    link_end,
    tag_end,
)
from voiceagent.core.scan.state import LONGEST_RUN, Scan
from voiceagent.core.scan.stops import soft_stop, stop

UNSPOKEN = frozenset(
    """
    think thinking thought thoughts reasoning reflection scratchpad internal
    tool_call tool_calls tool tool_use tool_result tool_response function function_call
    function_calls functions invoke call
    """.split()
)
"""Elements in which models reason and call tools, by the names in use."""

_UNSPOKEN_TAG = re.compile(r"<([A-Za-z_]{1,20})(?=[\s>=/])")
_OBJECT = re.compile(r'\{[ \t\r\n]*(?=")')
_ARRAY = re.compile(r'\[[ \t\r\n]*\{[ \t\r\n]*(?=["}])')
_MAY_OPEN_JSON = re.compile(r"\[?[ \t\r\n]*\{?[ \t\r\n]*")
_BEFORE_JSON = ch.BLANK_OR_NOTHING | set(":=>`]")


def angle(scan: Scan, at: int) -> bool:
    """A tag, an element that is not for the ear, a comment, or just a sign."""
    text = scan.text
    if text.startswith("<!--", at):
        return scan.open_block(
            Raw(closer="-->", kind=Kind.SILENT, ear=False, name="a comment"), at, at + 4
        )
    end = tag_end(text, at, ended=scan.ended)
    if end == WAIT:
        return False
    if end == NONE:
        return scan.advance(at + 1)
    name = _UNSPOKEN_TAG.match(text, at)
    if name and name.group(1).lower() in UNSPOKEN and text[end - 2] != "/":
        block = Raw(
            closer=f"</{name.group(1)}>", kind=Kind.SILENT, ear=False, name=f"<{name.group(1)}>"
        )
        return scan.open_block(block, at, end)
    scan.keep_together(at, end)
    last = _stop_inside(text, at, end)
    return scan.advance(end) if last is None else stop(scan, last)


def _stop_inside(text: str, at: int, end: int) -> int | None:
    """Where the stops begin that end the content of an element ("<b>Stop.</b>")."""
    closing = text.rfind("</", at + 1, end)
    begin = closing
    while begin > at and text[begin - 1] in ch.SOFT_STOPS:
        begin -= 1
    return begin if begin < closing else None


def brace(scan: Scan, at: int) -> bool:
    """A JSON object begins with a key; an empty one stands alone on its line."""
    text = scan.text
    if text[at - 1 : at] not in _BEFORE_JSON:
        return scan.advance(at + 1)
    if _may_grow(scan, at):
        return False
    if _OBJECT.match(text, at) or (at == scan.line and text.startswith("{}", at)):
        return scan.open_block(Json(), at, at)
    return scan.advance(at + 1)


def square(scan: Scan, at: int) -> bool:
    """A JSON array holds objects, or begins a line with a string; else a link or a bracket."""
    text = scan.text
    if text[at - 1 : at] not in _BEFORE_JSON:
        return _link(scan, at)
    if _may_grow(scan, at):
        return False
    if _ARRAY.match(text, at) or (at == scan.line and text.startswith('["', at)):
        return scan.open_block(Json(), at, at)
    return _link(scan, at)


def _link(scan: Scan, at: int) -> bool:
    """A link is one piece; a stop at the end of its text may end the sentence."""
    text = scan.text
    close, end = link_end(text, at, ended=scan.ended)
    if end == WAIT:
        return False
    if end == NONE:
        return bracket(scan, at)
    scan.keep_together(at, end)
    last = close
    while last > at and text[last - 1] in ch.SOFT_STOPS:
        last -= 1
    return soft_stop(scan, last, close, closed_at=end) if last < close else scan.advance(end)


def _may_grow(scan: Scan, at: int) -> bool:
    match = _MAY_OPEN_JSON.match(scan.text, at, at + LONGEST_RUN)
    return match is not None and scan.short_of(match.end(), at)


def backtick(scan: Scan, at: int) -> bool:
    """A fence, or inline code."""
    return _open_fence(scan, at, else_at=lambda: code_end(scan.text, at, ended=scan.ended))


def tilde(scan: Scan, at: int) -> bool:
    """A fence of tildes can only begin a line."""
    if at != scan.line:
        return scan.advance(at + 1)
    return _open_fence(scan, at, else_at=lambda: NONE)


def _open_fence(scan: Scan, at: int, *, else_at: Callable[[], int]) -> bool:
    text, mark = scan.text, scan.text[at]
    run = text[at : at + 3]
    if run == mark * len(run) and len(run) < 3 and not scan.ended:
        return False
    fence = fence_at(text, at, ended=scan.ended) if run == mark * 3 else NONE
    if isinstance(fence, tuple):
        return scan.open_block(fence[0], at, fence[1])
    return False if fence == WAIT else _pass_span(scan, at, else_at())


def dollar(scan: Scan, at: int) -> bool:
    """Inline maths, or money."""
    return _pass_span(scan, at, dollar_end(scan.text, at, ended=scan.ended))


def backslash(scan: Scan, at: int) -> bool:
    """Inline maths, or an escaped character."""
    return _pass_span(scan, at, backslash_end(scan.text, at, ended=scan.ended))


def _pass_span(scan: Scan, at: int, end: int) -> bool:
    if end == WAIT:
        return False
    if end == NONE:
        return scan.advance(at + 1)
    scan.keep_together(at, end)
    return scan.advance(end)
