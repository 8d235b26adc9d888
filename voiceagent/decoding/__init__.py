"""The speculative decoding engine.

``Engine``, ``Request``, ``Sampling`` and ``complete`` can be imported from here; they are looked up
when they are asked for, because torch takes seconds to import and half of this package does
without it.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "Completion": "completion",
    "Engine": "engine",
    "EngineError": "errors",
    "Generation": "generation",
    "Request": "generation",
    "Round": "record",
    "Sampling": "sampling",
    "complete": "completion",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
