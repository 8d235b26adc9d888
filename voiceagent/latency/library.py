"""The recordings a rig can play: a folder with a ``manifest.toml``, as ``audio_fixtures/`` is."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from voiceagent.core.errors import VoiceAgentError
from voiceagent.latency.exchange import CueKind
from voiceagent.latency.scenario import Scenario
from voiceagent.sound.files import Sound, read_sound

BESIDE_THE_PACKAGE = Path(__file__).resolve().parents[2] / "audio_fixtures"
"""Where they are in a checkout; an installed package has none."""


class LibraryError(VoiceAgentError):
    """There are no such recordings; the message says where they were looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One recording: ``text`` is what is said in it."""

    id: str
    text: str
    path: Path

    def sound(self) -> Sound:
        """Its sound, one channel."""
        return read_sound(self.path)


class Library:
    """The recordings of one folder.

    Args:
        folder: where the manifest is.

    Raises:
        LibraryError: it has none.
    """

    def __init__(self, folder: Path = BESIDE_THE_PACKAGE) -> None:
        self._folder = folder
        try:
            text = (folder / "manifest.toml").read_text(encoding="utf-8")
            entries = tomllib.loads(text)["fixture"]
            self._entries = {str(entry["id"]): entry for entry in entries}
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise LibraryError(
                f"{folder} holds no recordings ({error}): give --fixtures a folder with a "
                "manifest.toml like that of audio_fixtures/"
            ) from error

    def recording(self, name: str) -> Recording:
        """One recording by its id.

        Raises:
            LibraryError: there is none of that id.
        """
        entry = self._entries.get(name)
        if entry is None:
            raise LibraryError(f"{self._folder} has no recording {name!r}")
        spoken = [piece for piece in entry.get("pieces", ()) if isinstance(piece, str)]
        return Recording(id=name, text=" ".join(spoken), path=self._folder / str(entry["file"]))

    def check(self, scenarios: Iterable[Scenario]) -> None:
        """Refuses scenarios that name a recording that is not here, before anything is started.

        Raises:
            LibraryError: one does.
        """
        for scenario in scenarios:
            for step in scenario.steps:
                if step.kind not in (CueKind.SILENCE, CueKind.KEYS):
                    self.recording(step.what)
