"""The rounds of a reply in the terminal: every token in the style of its fate."""

import sys
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from voiceagent.core.events import Draft, Rollback, Verify
from voiceagent.decoding.generation import EngineEvent
from voiceagent.decoding.record import Outcome, Round

# Not by colour alone: rejected and emitted tokens carry marks, and the attributes differ.
PLAIN, PROVISIONAL = "", "dim"
ACCEPTED, RECOVERED, BONUS, REJECTED = "green", "bold yellow", "italic cyan", "red strike"


def paint(record: Round) -> Text:
    """What a round did, token by token: accepted, [rejected], >recovered, +bonus, or plain."""
    text = Text()
    for token in record.emitted_text[: record.accepted]:
        text.append(token, ACCEPTED)
    for token in record.drafted_text[record.accepted + record.dropped :]:
        text.append(f"[{token}]", REJECTED)
    for token in record.emitted_text[record.accepted :]:
        if record.outcome is Outcome.PLAIN:
            text.append(token, PLAIN)
        elif record.outcome is Outcome.RECOVERED:
            text.append(f">{token}", RECOVERED)
        else:
            text.append(f"+{token}", BONUS)
    return text


class LiveRounds:
    """Redraws as rounds come in; drafted tokens are dim until the target has seen them."""

    def __init__(self, console: Console | None = None) -> None:
        console = Console(highlight=False) if console is None else console
        self._live = Live(console=console, auto_refresh=False, vertical_overflow="visible")
        self._painted = Text()

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._live.update(self._painted, refresh=True)
        self._live.__exit__(None, None, None)

    def __call__(self, event: EngineEvent) -> None:
        if isinstance(event, Draft):
            provisional = Text(event.text, PROVISIONAL)
            self._live.update(Text.assemble(self._painted, provisional), refresh=True)
        elif isinstance(event, Round):
            self._painted.append_text(paint(event))
            self._live.update(self._painted, refresh=True)


class PlainText:
    """Writes verified text as it comes: for files, pipes and logs."""

    def __init__(self) -> None:
        self._text = ""
        self._written = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._write("\n")

    def __call__(self, event: EngineEvent) -> None:
        match event:
            case Draft():
                self._text += event.text
            case Rollback():
                self._text = self._text[: event.to]
            case Verify():
                self._write(self._text[self._written : event.to])
                self._written = event.to

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()
