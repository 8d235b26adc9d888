"""Fields of a JSON object, each checked: what cannot be used is a BadRequest that names it."""

from collections.abc import Mapping
from typing import Any

from voiceagent.core.errors import VoiceAgentError


class BadRequest(VoiceAgentError, ValueError):
    """The request cannot be used; ``field`` names the culprit, ``code`` is for programs."""

    def __init__(self, field: str, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.field = field
        self.code = code


def boolean(body: Mapping[str, Any], name: str, *, default: bool) -> bool:
    """A flag; ``default`` where it is missing or null."""
    value = body.get(name)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise BadRequest(name, f"{name} must be true or false")
    return value


def integer(
    body: Mapping[str, Any], name: str, *, low: int, high: int, default: int | None
) -> int | None:
    """A whole number from ``low`` to ``high``."""
    value = body.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise BadRequest(name, f"{name} must be a whole number from {low} to {high}")
    return value


def number(body: Mapping[str, Any], name: str, *, low: float, high: float) -> float | None:
    """A number from ``low`` to ``high``; None where it is missing or null."""
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise BadRequest(name, f"{name} must be a number from {low:g} to {high:g}")
    return float(value)


def text(body: Mapping[str, Any], name: str, *, within: str = "", longest: int = 256) -> str:
    """A string of 1 to ``longest`` characters."""
    value = body.get(name)
    at = f"{within}.{name}" if within else name
    if not isinstance(value, str) or not 1 <= len(value) <= longest:
        raise BadRequest(at, f"{at} must be a string of 1 to {longest} characters")
    return value


def mapping(body: Mapping[str, Any], name: str, *, within: str = "") -> Mapping[str, Any] | None:
    """A JSON object; None where it is missing or null."""
    value = body.get(name)
    at = f"{within}.{name}" if within else name
    if value is not None and not isinstance(value, Mapping):
        raise BadRequest(at, f"{at} must be an object")
    return value
