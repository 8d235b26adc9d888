"""The codec of media-stream messages against Twilio's documented shapes and against noise."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.telephony.media_stream import (
    MAX_MESSAGE_BYTES,
    Digit,
    Marked,
    Media,
    MediaStreamError,
    Started,
    Stopped,
    decode,
    encode_clear,
    encode_mark,
    encode_media,
)

SID = "MZ" + "1" * 32


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"event": "connected", "protocol": "Call", "version": "1.0.0"}, None),
        (
            {
                "event": "start",
                "sequenceNumber": "1",
                "streamSid": SID,
                "start": {
                    "streamSid": SID,
                    "callSid": "CA1",
                    "tracks": ["inbound"],
                    "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000},
                },
            },
            Started(stream=SID, call="CA1"),
        ),
        (
            {
                "event": "media",
                "streamSid": SID,
                "media": {"track": "inbound", "chunk": "1", "timestamp": "5", "payload": "/wA="},
            },
            Media(stream=SID, mulaw=b"\xff\x00"),
        ),
        (
            {"event": "media", "streamSid": SID, "media": {"track": "outbound", "payload": "/w=="}},
            None,
        ),
        ({"event": "mark", "streamSid": SID, "mark": {"name": "r1"}}, Marked(SID, "r1")),
        ({"event": "dtmf", "streamSid": SID, "dtmf": {"digit": "5"}}, Digit(SID, "5")),
        ({"event": "stop", "streamSid": SID, "stop": {"callSid": "CA1"}}, Stopped(SID)),
    ],
)
def test_documented_messages_are_understood(fields, message):
    """Every message of the provider's documentation becomes the fact it states."""
    assert decode(json.dumps(fields)) == message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "[" * 100_000,
        '{"event": 3}',
        '{"event": "start"}',
        '{"event": "media", "streamSid": "M", "media": {"payload": "%%"}}',
        '{"event": "media", "streamSid": "", "media": {"payload": ""}}',
        '{"event": "dtmf", "streamSid": "M", "dtmf": {"digit": "12"}}',
        '{"event": "explode", "streamSid": "M"}',
        " " * (MAX_MESSAGE_BYTES + 1),
        b"\xff\xfe{}",
    ],
)
def test_what_is_no_message_is_named_as_such(text):
    """A malformed or oversized message is the codec's own error, whatever is wrong with it."""
    with pytest.raises(MediaStreamError):
        decode(text)


@given(st.text() | st.binary() | st.dictionaries(st.text(), st.text()).map(json.dumps))
def test_noise_raises_nothing_but_the_codecs_own_error(noise):
    """Bytes of any kind end in a message or a MediaStreamError."""
    with contextlib.suppress(MediaStreamError):
        assert decode(noise) is None


def test_what_goes_to_the_caller_has_the_documented_shape():
    """Sound, marks and clears carry the stream they belong to."""
    assert json.loads(encode_media(SID, b"\xff\x00")) == {
        "event": "media",
        "streamSid": SID,
        "media": {"payload": "/wA="},
    }
    assert json.loads(encode_mark(SID, "r1:4")) == {
        "event": "mark",
        "streamSid": SID,
        "mark": {"name": "r1:4"},
    }
    assert json.loads(encode_clear(SID)) == {"event": "clear", "streamSid": SID}
