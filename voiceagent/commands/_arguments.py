"""Types of command-line values: what is out of range is wrong usage, found before any work."""

import argparse
import math
from pathlib import Path

from voiceagent.config import MAX_WINDOW


def file_path(text: str) -> Path:
    """The name of a file."""
    if not text:
        raise argparse.ArgumentTypeError("the name of the file is empty")
    return Path(text)


def count(text: str) -> int:
    """A whole number, 0 or more."""
    return _whole(text, least=0)


def positive_count(text: str) -> int:
    """A whole number, 1 or more."""
    return _whole(text, least=1)


def quantity(text: str) -> float:
    """A finite number, 0 or more."""
    number = _number(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is below 0")
    return number


def probability(text: str) -> float:
    """A number from 0 to 1."""
    number = _number(text)
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not between 0 and 1")
    return number


def probability_mass(text: str) -> float:
    """A number above 0 and at most 1."""
    number = probability(text)
    if number == 0:
        raise argparse.ArgumentTypeError("it has to be above 0")
    return number


def window(text: str) -> int:
    """K, the drafted tokens of a round."""
    number = _whole(text, least=0)
    if number > MAX_WINDOW:
        raise argparse.ArgumentTypeError(f"{text!r} is above {MAX_WINDOW}")
    return number


def number(text: str) -> float:
    """A finite number."""
    return _number(text)


def port(text: str) -> int:
    """A TCP port; 0 lets the system choose."""
    number = _whole(text, least=0)
    if number > 65535:
        raise argparse.ArgumentTypeError(f"{number} is not a port (0 to 65535)")
    return number


def _whole(text: str, *, least: int) -> int:
    try:
        number = int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from error
    if number < least:
        raise argparse.ArgumentTypeError(f"{text!r} is below {least}")
    return number


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from error
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number")
    return number
