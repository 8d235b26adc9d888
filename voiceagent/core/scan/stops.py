"""Stops: full stops, question and exclamation marks, and their kin in every script."""

import re

from voiceagent.core.scan import characters as ch
from voiceagent.core.scan.sentence import Stop, introduces_list, judge
from voiceagent.core.scan.spans import NONE, WAIT, void_tag_end
from voiceagent.core.scan.state import LONGEST_RUN, LONGEST_TITLE, REST, Scan

_SOFT_STOPS = frozenset(ch.SOFT_STOPS)
_CARRIES_ON = tuple("，,、；;：:")
_NO_PARTICLE = (
    "でも|では|だが|だから|だけど|もう|もし|もっと|もちろん|とても|とにかく|とりあえず"
    "|ところ|はい|はじめ|がんば"
)
_PARTICLE = re.compile(f"(?!{_NO_PARTICLE})(?:[とってのがはをにもでやだかへ]|など|から|まで|より)")
_LONGEST_NO_PARTICLE = 5
_QUOTED = re.compile(f"(?!{_NO_PARTICLE})(?:と|って)")
_PLAIN_STOP = re.compile(r"[!?]+|\.")
_LINE_ENDS = frozenset(ch.NEWLINES) | {""}
_PRONOUNS = tuple("他她它我你")
_SAYS = re.compile("[他她它我你][们們]?[说說问問道喊答叫]")
_LONGEST_TAG = 3
"""“你好！”他说。: a Chinese quotation and who says it."""


def stop(scan: Scan, at: int) -> bool:
    """Any stop: finds where the run of stops ends, and which sort it is."""
    text = scan.text
    match = ch.STOPS.match(text, at)
    assert match is not None  # the caller saw a stop
    end = match.end()
    if end - at > LONGEST_RUN:
        return scan.advance(end - 1)  # the last one decides like all of them
    if end == len(text) and not scan.ended:
        return False
    if text[at] == "." and end == at + 1 and text[at - 1 : at] not in _SOFT_STOPS:
        if text.startswith(" .", end):
            return _spaced_dots(scan, at)
        if text[end:] == " " and not scan.ended:
            return False
    if scan.opens_unit(at):
        return scan.carry_on(at, end, "nothing stands before it")
    if text[at] in ch.HARD_STOPS or text[end - 1] in ch.HARD_STOPS:
        return _hard_stop(scan, at, end)
    return soft_stop(scan, at, end)


def _closers_end(scan: Scan, index: int, pattern: re.Pattern[str]) -> int:
    """Where closing marks from ``index`` end, or WAIT."""
    match = pattern.match(scan.text, index, index + LONGEST_RUN)
    end = match.end() if match else index
    if scan.short_of(end, index):
        return WAIT
    if not scan.ended:
        begins = ch.CLOSER_BEGINS.match(scan.text, end)
        if begins and begins.end() == len(scan.text):
            return WAIT
    return end


def _hard_stop(scan: Scan, at: int, run_end: int) -> bool:
    """Decided by one character more."""
    text = scan.text
    end = _closers_end(scan, run_end, ch.WIDE_CLOSERS)
    if end == WAIT:
        return False
    if text[run_end : run_end + 1] == '"' and not scan.inside_quotes(run_end):
        end = run_end  # without blanks, the mark itself does not tell whether it opens
    rest = text[end : end + _LONGEST_NO_PARTICLE]
    if text[at] in "．｡" and text[at - 1 : at].isdigit() and rest[:1].isdigit():
        return scan.carry_on(at, end, "a decimal point")
    if rest.startswith(_CARRIES_ON):
        return scan.carry_on(at, end, f"{rest[0]!r} carries the sentence on")
    if scan.titles and end - scan.titles[-1] < LONGEST_TITLE:
        return scan.carry_on(at, end, "inside a title")
    if text[end - 1] == "）" and rest[:1].isalpha() and _is_aside(scan, at):
        return scan.carry_on(at, end, "an aside inside a sentence")
    if end > run_end and _PARTICLE.match(rest):
        if len(rest) < _LONGEST_NO_PARTICLE and not scan.ended:
            return False
        return scan.carry_on(at, end, "a particle carries the sentence on")
    if end > run_end and rest[:1] in _PRONOUNS:
        if len(rest) < _LONGEST_TAG and not scan.ended:
            return False
        if _SAYS.match(rest) and not _is_introduced(scan, at):
            return scan.carry_on(at, end, "who says it carries the sentence on")
    return scan.cut_sentence(at, end, "a stop that needs no blank")


def _is_aside(scan: Scan, at: int) -> bool:
    """Whether the bracket that closes behind the stop opened inside the sentence."""
    opening = scan.text.rfind("（", max(scan.unit, at - LONGEST_TITLE, 0), at)
    return opening >= 0 and not scan.opens_unit(opening)


def _is_introduced(scan: Scan, at: int) -> bool:
    """Whether who says it stood before the quotation: 他问：“真的？”我说 begins a sentence."""
    begin = max(scan.unit, at - LONGEST_TITLE, 0)
    opening = max(scan.text.rfind(mark, begin, at) for mark in '“「『"')
    return opening > begin and scan.text[opening - 1] in "：:"


def _spaced_dots(scan: Scan, at: int) -> bool:
    """An ellipsis typed with blanks (". . .") is one mark."""
    text = scan.text
    match = ch.SPACED_DOTS.match(text, at)
    assert match is not None  # the caller saw two dots
    end = match.end()
    rest = text[end : end + 2]
    if not scan.ended and rest in ("", " "):
        return False
    if rest[:1].isalnum():  # " .NET", " .5": the last dot opens a word
        end = at + 1 if end == at + 3 else end - 2
    if scan.opens_unit(at):
        return scan.carry_on(at, end, "nothing stands before it")
    dots, attached = (end - at + 1) // 2, text[at - 1 : at] not in ch.BLANK_OR_NOTHING
    if dots == 3 and not attached and rest[:1] == " ":
        return scan.carry_on(at, end, "an ellipsis between words")
    if dots == 4 and attached and rest[:1] == " ":
        return scan.cut_sentence(at, at + 1, "a stop, and an ellipsis after it")
    return soft_stop(scan, at, end)


def soft_stop(scan: Scan, at: int, run_end: int, *, closed_at: int | None = None) -> bool:
    """Needs a blank, and something after it that can open a sentence.

    Args:
        scan: what is known.
        at: the index of the first stop.
        run_end: where the run of stops ends.
        closed_at: where what encloses the stops ends, if that is more than closing marks.
    """
    text = scan.text
    end = _closers_end(scan, run_end if closed_at is None else closed_at, ch.CLOSERS)
    if end == WAIT:
        return False
    if end < len(text) and text[end] not in ch.BLANK_OR_NEWLINE:
        return _glued(scan, at, end)
    gap_end = scan.gap_end(end)
    if scan.short_of(gap_end, end):
        return False
    if gap_end - end >= LONGEST_RUN:
        return scan.cut_sentence(at, end, "a stop and a wide gap")
    late = _late_closer(scan, end, gap_end)
    if late == NONE:
        late = _last_emoji(scan, gap_end)
    if late == WAIT:
        return False
    end, gap_end = (late, scan.gap_end(late)) if late != NONE else (end, gap_end)
    if scan.short_of(gap_end, end):
        return False
    return _decide(scan, _surroundings(scan, at, run_end, end, gap_end), at, end, gap_end)


def _glued(scan: Scan, at: int, end: int) -> bool:
    """Something follows without a blank: a tag may, and scripts that know no blanks."""
    text = scan.text
    between = ch.IDEOGRAPH.match(text[at - 1 : at]) and ch.IDEOGRAPH.match(text, end)
    if between and _PLAIN_STOP.fullmatch(text, at, end):
        rest = text[end : end + _LONGEST_NO_PARTICLE]
        if rest[0] in "とっ" and len(rest) < _LONGEST_NO_PARTICLE and not scan.ended:
            return False
        if not _QUOTED.match(rest):
            return scan.cut_sentence(
                at, end, "a stop between characters of a script without blanks"
            )
    if text[end] == "<":
        tag = void_tag_end(scan.text, end, ended=scan.ended)
        if tag == WAIT:
            return False
        if tag != NONE:
            return scan.cut_sentence(at, end, "a stop before a tag")
    return scan.carry_on(at, end, "no blank follows")


def _late_closer(scan: Scan, end: int, gap_end: int) -> int:
    """The end of a closing quotation mark that stands after a blank ("« Oui. »")."""
    text = scan.text
    if gap_end == end or text[gap_end : gap_end + 1] not in tuple(scan.language.late_closers):
        return NONE
    if gap_end + 1 == len(text) and not scan.ended:
        return WAIT
    after = text[gap_end + 1 : gap_end + 2]
    return gap_end + 1 if after in ch.BLANK_OR_NOTHING or not after.isalnum() else NONE


def _last_emoji(scan: Scan, gap_end: int) -> int:
    """The end of spaced emoji that nothing but the end of the line follows."""
    run = ch.EMOJI.match(scan.text, gap_end, gap_end + LONGEST_RUN)
    if run is None:
        return NONE
    after = scan.gap_end(run.end())
    if scan.short_of(after, run.end()):
        return WAIT
    return run.end() if scan.text[after : after + 1] in _LINE_ENDS else NONE


def _surroundings(scan: Scan, at: int, run_end: int, end: int, gap_end: int) -> Stop:
    text = scan.text
    word = scan.word_before(at)
    rest = text[gap_end : gap_end + REST]
    continued = at > 0 and text[at - 1] in ch.SOFT_STOPS
    return Stop(
        run="..." if continued else text[at:run_end],
        word=word,
        before=scan.text_before(at - len(word)),
        opens_unit=scan.opens_unit(at - len(word)),
        closed=text[run_end:end],
        rest=rest,
        complete=scan.ended or len(rest) == REST,
    )


def _decide(scan: Scan, found: Stop, at: int, end: int, gap_end: int) -> bool:
    text = scan.text
    if gap_end < len(text) and text[gap_end] in ch.NEWLINES:
        if found.run == "." and found.word in scan.language.never:
            scan.leans_on = end
            return scan.carry_on(at, end, f"{found.word!r} belongs to the next word")
        return scan.cut_sentence(at, end, "a stop at the end of a line")
    if found.run == "." and _is_next_item(scan, found, at):
        return _cut_item(scan, at, end, at - len(found.word))
    if found.closed.startswith("]") and text[at - 1 : at] == "[":
        return scan.carry_on(at, end, "an omission in brackets")
    verdict = judge(found, scan.language)
    if verdict is None:
        return False
    if verdict.numbers_item:
        scan.numbering = (found.run + found.closed, _value(found.word))
    if verdict.cut:
        return scan.cut_sentence(at, end, verdict.reason)
    return scan.carry_on(at, end, verdict.reason)


# Lists inside a line: "1. Mix 2. Bake"


def _is_next_item(scan: Scan, found: Stop, at: int) -> bool:
    style = found.run + found.closed
    return (
        scan.numbering is not None
        and scan.numbering[0] == style
        and (style != "." or not scan.language.ordinals)
        and not found.opens_unit
        and _value(found.word) == scan.numbering[1] + 1
    )


def _cut_item(scan: Scan, at: int, end: int, item: int) -> bool:
    visible = scan.visible_end(item)
    assert scan.numbering is not None  # it made the item the next one
    scan.numbering = (scan.numbering[0], scan.numbering[1] + 1)
    scan.cut_sentence(item, visible, "the next item of a list begins")
    return scan.carry_on(at, end, "a number that numbers a list item")


def close_number(scan: Scan, at: int) -> bool:
    """The bracket of "1)": opens an item, or ends the item before."""
    word = scan.word_before(at)
    if not word or len(word) > 3 or _value(word) < 0:
        return False
    item = at - len(word)
    if scan.opens_unit(item) or (word == "1" and introduces_list(scan.text_before(item))):
        scan.numbering = (")", _value(word))
        return scan.carry_on(at, at + 1, "a number that numbers a list item")
    if scan.numbering == (")", _value(word) - 1):
        return _cut_item(scan, at, at + 1, item)
    return False


def _value(word: str) -> int:
    """The place of a number or a small letter in a list; -1 for anything else."""
    if word.isascii() and word.isdigit():
        return int(word)
    return ord(word) - ord("a") + 1 if len(word) == 1 and "a" <= word <= "z" else -1
