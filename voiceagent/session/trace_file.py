"""A trace on disk: private from its first byte, and there only once it is whole.

Lines are streamed to a file beside the final one, readable by the owner alone, and renamed to it
at the end. A conversation that is broken off leaves nothing.
"""

import contextlib
import os
import secrets
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

from voiceagent.core.audit import ChurnAccount
from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.events import Ended, Recorded, Voided
from voiceagent.core.redact import redact
from voiceagent.core.trace import (
    FiguresRecord,
    Header,
    Record,
    RoundRecord,
    SpeechRecord,
    ToolRecord,
    TroubleRecord,
    TurnRecord,
    WordRecord,
    encode,
)
from voiceagent.session.happenings import (
    Happening,
    RoundHappened,
    SpeechHappened,
    ToolHappened,
    Trouble,
    TurnHappened,
)


class TraceFile:
    """A listener that writes everything down.

    Args:
        path: where the trace will be.
        header: its first line.
        redacted: whether words are replaced by their shape.

    Raises:
        VoiceAgentError: the file cannot be made.
    """

    def __init__(self, path: Path, *, header: Header, redacted: bool = False) -> None:
        self._path = path
        self._redacted = redacted
        self._account = ChurnAccount()
        self._partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
        try:
            private = os.open(self._partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise VoiceAgentError(f"cannot write {path}: {error.strerror}") from error
        self._file = os.fdopen(private, "w", encoding="utf-8")
        self._write(header)

    def __call__(self, happening: Happening) -> None:
        """Writes down what happened, and the figures of a reply behind its end."""
        self._write(_record(happening))
        if isinstance(happening, Recorded):
            self._measure(happening)

    def close(self) -> None:
        """The trace is whole: it appears under its name.

        Raises:
            VoiceAgentError: the disk is full, or the like; nothing is left.
        """
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            os.replace(self._partial, self._path)
        except OSError as error:
            self.discard()
            raise VoiceAgentError(f"cannot write {self._path}: {error.strerror}") from error

    def discard(self) -> None:
        """Leaves nothing. Harmless after ``close``."""
        with contextlib.suppress(OSError):
            self._file.close()
        self._partial.unlink(missing_ok=True)

    def _write(self, record: Record) -> None:
        try:
            self._file.write(encode(redact(record) if self._redacted else record) + "\n")
        except OSError as error:
            self.discard()
            raise VoiceAgentError(f"cannot write {self._path}: {error.strerror}") from error

    def _measure(self, event: Recorded) -> None:
        """Follows the reply in every protocol; reports the figures once it is over."""
        self._account.feed(event)  # type: ignore[arg-type]  # every Recorded is a ledger event
        if isinstance(event, Ended | Voided):
            churn = self._account.of(event.reply, epoch=event.epoch)
            self._write(
                FiguresRecord(reply=event.reply, epoch=event.epoch, at_s=event.at_s, churn=churn)
            )


def _record(happening: Happening) -> Record:
    match happening:
        case TurnHappened(turn=turn, at_s=at_s, text=text, state=state):
            return TurnRecord(turn=turn, at_s=at_s, text=text, state=state)
        case RoundHappened(reply=reply, epoch=epoch, at_s=at_s, round=round_):
            return RoundRecord(reply=reply, epoch=epoch, at_s=at_s, fields=_fields(round_))
        case SpeechHappened():
            return _speech(happening)
        case ToolHappened(reply=reply, at_s=at_s, name=name, outcome=outcome):
            return ToolRecord(reply=reply, at_s=at_s, name=name, outcome=outcome)
        case Trouble(at_s=at_s, line=line):
            return TroubleRecord(at_s=at_s, line=line)
        case _:
            return happening


def _fields(round_: object) -> dict[str, Any]:
    """The engine's record as plain values; a remote engine may have none."""
    if is_dataclass(round_) and not isinstance(round_, type):
        return asdict(round_)
    return dict(round_) if isinstance(round_, Mapping) else {}


def _speech(happened: SpeechHappened) -> SpeechRecord:
    speech = happened.speech
    commit = speech.commit
    return SpeechRecord(
        reply=commit.reply,
        epoch=commit.epoch,
        at_s=happened.at_s,
        start=commit.start,
        end=commit.end,
        text=commit.text,
        samples=len(speech.pcm),
        rate_hz=speech.rate_hz,
        words=tuple(
            WordRecord(
                text=word.text,
                start=word.start,
                end=word.end,
                begin_sample=word.begin_sample,
                end_sample=word.end_sample,
            )
            for word in speech.words
        ),
    )
