"""Digests recorded at the first fetch, for files whose manifest entry has none."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voiceagent.weights import atomic
from voiceagent.weights.errors import DamagedWeights


@dataclass(frozen=True, slots=True)
class Pin:
    """What a file was when it was first fetched."""

    sha256: str
    bytes: int


class Pins:
    """``<cache>/pins.json``: repository, revision and path to digest and size."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def get(self, key: str) -> Pin | None:
        """The pin of ``key``, or None before its first fetch."""
        entry = self._read().get(key)
        return None if entry is None else Pin(entry["sha256"], entry["bytes"])

    def record(self, key: str, pin: Pin) -> None:
        """Keeps ``pin``; call it with the fetch lock held."""
        entries = self._read() | {key: {"sha256": pin.sha256, "bytes": pin.bytes}}
        atomic.write_text(self._path, json.dumps(entries, indent=1, sort_keys=True))

    def _read(self) -> dict[str, dict[str, Any]]:
        try:
            entries = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise DamagedWeights(
                f"{self._path} is not JSON: {error}; delete it to record digests anew"
            ) from error
        return dict(entries)
