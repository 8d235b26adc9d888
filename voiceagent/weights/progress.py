"""Who watches a fetch."""

from typing import Protocol

from voiceagent.weights.manifest import File


class Progress(Protocol):
    """Told how a fetch goes on; called from several threads."""

    def start(self, file: File, *, total_bytes: int | None) -> None:
        """``file`` is about to be fetched."""

    def update(self, file: File, *, done_bytes: int, total_bytes: int | None = None) -> None:
        """So much of it is here; ``total_bytes`` where it has become known."""

    def finish(self, file: File) -> None:
        """It is in the cache and verified."""

    def note(self, text: str) -> None:
        """Something worth a line, such as a source that failed."""


class Silent:
    """Nobody watches."""

    def start(self, file: File, *, total_bytes: int | None) -> None:
        """Says nothing."""

    def update(self, file: File, *, done_bytes: int, total_bytes: int | None = None) -> None:
        """Says nothing."""

    def finish(self, file: File) -> None:
        """Says nothing."""

    def note(self, text: str) -> None:
        """Says nothing."""
