"""A conversation in the terminal: live where there is one, plain lines elsewhere.

Provisional text is dim, verified text normal, committed text bold, heard text underlined, and
retracted text is struck through for a moment. Used by ``talk`` and ``replay``.
"""

from contextlib import suppress
from math import inf
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from voiceagent.core.display import Display, SpanState
from voiceagent.core.events import EndReason, LedgerEvent, Started
from voiceagent.core.frames import AppendFrame, CommitFrame, EndFrame, Frame, StreamProtocol
from voiceagent.core.kinds import Kind
from voiceagent.core.streams import Stream, StreamError

STYLES = {
    SpanState.PROVISIONAL: "dim",
    SpanState.VERIFIED: "",
    SpanState.COMMITTED: "bold",
    SpanState.HEARD: "bold underline",
    SpanState.RETRACTED: "red strike",
}
USER, AGENT = "You:   ", "Agent: "


class Terminal(Protocol):
    """Shows a conversation as it happens."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

    def user(self, text: str, *, final: bool = True) -> None:
        """Shows what the user said; ``final`` once it will not change."""
        ...

    def note(self, line: str) -> None:
        """Shows a line about the conversation, such as a trouble."""
        ...

    def feed(self, event: LedgerEvent) -> None:
        """Takes one ledger event of any reply."""
        ...

    def refresh(self, *, now_s: float) -> None:
        """Draws again; retracted text that has stood long enough goes."""
        ...


def open_terminal(console: Console | None = None) -> Terminal:
    """A live terminal where standard output is one, plain lines elsewhere."""
    console = Console(highlight=False) if console is None else console
    return LiveTerminal(console) if console.is_terminal else PlainTerminal(console)


class LiveTerminal:
    """The replies under way at the bottom, redrawn; everything over above them."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._displays: dict[tuple[str, int], Display] = {}
        self._user = ""

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for display in self._displays.values():
            self._keep(display)
        self._live.__exit__(kind, error, traceback)

    def user(self, text: str, *, final: bool = True) -> None:
        self._user = "" if final else text
        if final:
            self._live.console.print(Text.assemble((USER, "cyan"), text))

    def note(self, line: str) -> None:
        self._live.console.print(Text(line, style="yellow"))

    def feed(self, event: LedgerEvent) -> None:
        key = event.reply, event.epoch
        if isinstance(event, Started):
            self._displays[key] = Display()
        if key in self._displays:  # an event out of place is for the audit to name
            self._displays[key].feed(event)

    def refresh(self, *, now_s: float) -> None:
        for key, display in list(self._displays.items()):
            lingers = any(span.state is SpanState.RETRACTED for span in display.spans(now_s=now_s))
            if display.over and not lingers:
                self._keep(self._displays.pop(key))
        lines = [line_of(display, now_s=now_s) for display in self._displays.values()]
        if self._user:
            lines.insert(0, Text.assemble((USER, "cyan"), (self._user, "dim")))
        self._live.update(Group(*lines), refresh=True)

    def _keep(self, display: Display) -> None:
        if display.text:  # a withdrawn epoch leaves nothing
            self._live.console.print(line_of(display, now_s=inf))


def line_of(display: Display, *, now_s: float) -> Text:
    """One reply as it stands at ``now_s``, every span in the style of its state."""
    spans = display.spans(now_s=now_s)
    return Text.assemble((AGENT, "magenta"), *((span.text, STYLES[span.state]) for span in spans))


class PlainTerminal:
    """One line for every turn of the user and every commit, for files, pipes and logs.

    A line that is printed cannot be taken back: this is a client of a ``boundary_commit`` stream.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._stream = Stream(StreamProtocol.BOUNDARY_COMMIT)
        self._texts: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._texts.clear()

    def user(self, text: str, *, final: bool = True) -> None:
        if final:
            self._print(USER + text)

    def note(self, line: str) -> None:
        self._print(line)

    def feed(self, event: LedgerEvent) -> None:
        with suppress(StreamError):  # an event out of place is for the audit to name
            self._stream.feed(event)
        for frame in self._stream.frames():
            self._show(frame)

    def refresh(self, *, now_s: float) -> None:
        pass  # what is printed stays

    def _show(self, frame: Frame) -> None:
        match frame:
            case AppendFrame():
                self._texts[frame.reply] = self._texts.get(frame.reply, "") + frame.text
            case CommitFrame():
                text = self._texts[frame.reply][frame.start : frame.to].strip()
                if text and frame.kind is not Kind.SILENT:
                    self._print(AGENT + text)
            case EndFrame():
                self._show_end(frame, self._texts.pop(frame.reply, ""))
            case _:
                pass  # nothing that a line could say

    def _show_end(self, frame: EndFrame, text: str) -> None:
        if frame.reason is EndReason.INTERRUPTED:
            self._print(f"{AGENT}(interrupted; heard: {text[: frame.at].strip() or 'nothing'})")
        elif not frame.reason.is_complete:
            self._print(f"{AGENT}({frame.reason})")

    def _print(self, line: str) -> None:
        self._console.print(Text(line), soft_wrap=True)
