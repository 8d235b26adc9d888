"""Recordings from elsewhere: user left, agent right, and nothing known but their sound."""

from pathlib import Path

from voiceagent.core.errors import VoiceAgentError
from voiceagent.latency.exchange import Exchange
from voiceagent.sound.files import read_channels


class RecordingError(VoiceAgentError):
    """A recording that does not support the figures; the message says why."""


def read_exchange(path: Path) -> Exchange:
    """Both sides of a recording.

    Raises:
        RecordingError: it has other than two channels.
        SoundFileError: the file cannot be read.
    """
    recording = read_channels(path)
    if recording.pcm.shape[1] != 2:
        raise RecordingError(
            f"{path}: {recording.pcm.shape[1]} channel(s); expected two, the user in the left and "
            "the agent in the right, as `voiceagent talk --record` writes them"
        )
    return Exchange(
        mouth=recording.pcm[:, 0].copy(), ear=recording.pcm[:, 1].copy(), rate_hz=recording.rate_hz
    )
