"""Telephone numbers as they are written between machines (ITU-T E.164). Pure."""

import re
from collections.abc import Sequence

_NUMBER = re.compile(r"\+[1-9][0-9]{6,14}")


def is_number(text: str) -> bool:
    """Whether ``text`` is a whole number with its country: ``+14155550100``."""
    return _NUMBER.fullmatch(text) is not None


def may_be_called(number: str, prefixes: Sequence[str]) -> bool:
    """Whether calls to ``number`` are allowed: only what begins with one of the prefixes is."""
    return is_number(number) and any(each and number.startswith(each) for each in prefixes)
