"""Flat dataclasses to JSON objects and back, every field checked.

Frames and trace records are dataclasses whose fields are strings, whole numbers, floats, flags,
enums, JSON objects, tuples of such dataclasses, or None. A field's wire name is its own unless its
metadata says otherwise (``field(metadata={"wire": "from"})``). Fields not understood are ignored:
a newer sender may say more.
"""

import dataclasses
import functools
import json
import types
from collections.abc import Hashable, Mapping
from enum import StrEnum
from typing import Any, NoReturn, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")

MAX_WHOLE = 2**53 - 1
"""The largest whole number that JavaScript holds exactly (Number.MAX_SAFE_INTEGER)."""


class CodecError(ValueError):
    """Not such an object; the message names the field."""


def parse_object(line: str | bytes, *, max_bytes: int) -> dict[str, Any]:
    """One JSON object, from text of at most ``max_bytes`` in UTF-8.

    Raises:
        CodecError: too large, not UTF-8, not JSON, or not an object.
    """
    try:
        raw = line.encode() if isinstance(line, str) else line
        if len(raw) > max_bytes:
            raise CodecError(f"larger than {max_bytes} bytes")
        value = json.loads(raw.decode(), parse_constant=_no_constant)
        to_line({"": value}).encode()  # an escape may hide half a surrogate pair
    except CodecError:
        raise
    except UnicodeError as error:
        raise CodecError("not Unicode text in UTF-8") from error
    except RecursionError as error:
        raise CodecError("nested too deeply") from error
    except json.JSONDecodeError as error:
        raise CodecError(f"not JSON: {error.msg} (column {error.colno})") from error
    except ValueError as error:  # a whole number of thousands of digits
        raise CodecError(f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise CodecError("not a JSON object")
    return value


_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
"""Made once: ``json.dumps`` makes one for every call that is not its default."""


def to_line(fields: Mapping[str, Any]) -> str:
    """The JSON object on one line, without needless blanks."""
    return _COMPACT.encode(fields)


def to_fields(value: Any) -> dict[str, Any]:
    """A dataclass as a JSON object; fields that are None are left out."""
    return {
        spec.wire: _plain(field)
        for spec in _specs(cast(Hashable, type(value)))
        if (field := getattr(value, spec.name)) is not None
    }


def from_fields(cls: type[T], fields: Mapping[str, Any]) -> T:
    """The dataclass ``cls`` that a JSON object describes.

    Raises:
        CodecError: a field is missing or is not what it should be.
    """
    values: dict[str, Any] = {}
    for spec in _specs(cast(Hashable, cls)):
        if spec.wire in fields:
            values[spec.name] = _convert(spec.hint, fields[spec.wire], at=spec.wire)
        elif spec.required:
            raise CodecError(f"{spec.wire} is missing")
    return cls(**values)


@dataclasses.dataclass(frozen=True, slots=True)
class _Spec:
    name: str
    wire: str
    hint: Any
    required: bool


@functools.cache
def _specs(cls: Hashable) -> tuple[_Spec, ...]:
    hints = get_type_hints(cls)
    return tuple(
        _Spec(
            name=each.name,
            wire=each.metadata.get("wire", each.name),
            hint=hints[each.name],
            required=each.default is dataclasses.MISSING
            and each.default_factory is dataclasses.MISSING,
        )
        for each in dataclasses.fields(cast(Any, cls))
    )


_SCALAR_TYPES = (str, int, float)


def _plain(value: Any) -> Any:
    if isinstance(value, _SCALAR_TYPES):  # first: asking an enumeration for anything else is slow
        return value
    if dataclasses.is_dataclass(value):
        return to_fields(value)
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return dict(value) if isinstance(value, Mapping) else value


def _convert(hint: Any, value: Any, *, at: str) -> Any:
    origin = get_origin(hint)
    if origin in (types.UnionType, Union):
        hint = next(each for each in get_args(hint) if each is not type(None))
        return None if value is None else _convert(hint, value, at=at)
    if origin is tuple:
        return _convert_items(get_args(hint)[0], value, at=at)
    if dataclasses.is_dataclass(hint):
        return from_fields(hint, _object(value, at=at))  # type: ignore[arg-type]  # a class here
    if issubclass(origin or hint, Mapping):
        return _object(value, at=at)
    if issubclass(hint, StrEnum):
        return _member(hint, value, at=at)
    return _SCALARS[hint](value, at=at)


def _convert_items(hint: Any, value: Any, *, at: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise CodecError(f"{at} is not a list")
    return tuple(_convert(hint, each, at=f"{at}[{i}]") for i, each in enumerate(value))


def _object(value: Any, *, at: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise CodecError(f"{at} is not an object")
    return value


def _member(hint: type[StrEnum], value: Any, *, at: str) -> StrEnum:
    try:
        return hint(value)
    except ValueError:
        raise CodecError(f"{at} is none of {', '.join(hint)}") from None


def _whole(value: Any, *, at: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_WHOLE:
        raise CodecError(f"{at} is not a whole number of at least 0")
    return value


def _number(value: Any, *, at: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or abs(value) > MAX_WHOLE:
        raise CodecError(f"{at} is not a number")
    return float(value)


def _flag(value: Any, *, at: str) -> bool:
    if not isinstance(value, bool):
        raise CodecError(f"{at} is neither true nor false")
    return value


def _string(value: Any, *, at: str) -> str:
    if not isinstance(value, str):
        raise CodecError(f"{at} is not a string")
    return value


_SCALARS = {int: _whole, float: _number, bool: _flag, str: _string}


def _no_constant(name: str) -> NoReturn:
    raise CodecError(f"not JSON: {name} is no number")
