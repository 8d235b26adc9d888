"""Every provider's words, from its documentation, and what noise does to them."""

import base64
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voiceagent.telephony import g711
from voiceagent.telephony.codecs.audiosocket import AudioSocketCodec
from voiceagent.telephony.codecs.base import Codec
from voiceagent.telephony.codecs.chan_websocket import ChanWebsocketCodec
from voiceagent.telephony.codecs.exotel import ExotelCodec
from voiceagent.telephony.codecs.plivo import PlivoCodec
from voiceagent.telephony.codecs.telnyx import TelnyxCodec
from voiceagent.telephony.codecs.twilio import TwilioCodec
from voiceagent.telephony.codecs.vonage import VonageCodec
from voiceagent.telephony.events import Digit, LineError, Marked, Sound, Started, Stopped

PCM = g711.decode_mulaw(bytes(range(0, 160)))
MULAW = base64.b64encode(g711.encode_mulaw(PCM)).decode()
ALAW = base64.b64encode(g711.encode_alaw(PCM)).decode()
LINEAR = base64.b64encode(PCM.astype("<i2").tobytes()).decode()

TELNYX_ID = "32DE0DEA-53CB-4B21-89A4-9E1819C043BC"
TELNYX_START = {
    "event": "start",
    "sequence_number": "1",
    "start": {
        "user_id": "3E6F995F-85F7-4705-9741-53B116D28237",
        "call_control_id": "v2:T02llQxIyaRkhfRKxgAP8nY511EhFLizdvdUKJiSw8d6A9BborherQ",
        "call_session_id": "ff55a038-6f5d-11ef-9692-02420aeffb1f",
        "from": "+13122010094",
        "to": "+13122123456",
        "custom_parameters": {"tenant": "abc"},
        "media_format": {"encoding": "PCMA", "sample_rate": 8000, "channels": 1},
    },
    "stream_id": TELNYX_ID,
}
PLIVO_ID = "87654321-4321-4321-4321-cba987654321"
PLIVO_START = {
    "event": "start",
    "sequenceNumber": 1,
    "start": {
        "callId": "12345678-1234-1234-1234-123456789abc",
        "streamId": PLIVO_ID,
        "accountId": "MAXXXXXXXXXXXXXXXXXX",
        "tracks": ["inbound"],
        "mediaFormat": {"encoding": "audio/x-l16", "sampleRate": 16000},
    },
    "extra_headers": "userId=12345;sessionId=abc-xyz",
}
EXOTEL_ID = "MZexotel"
EXOTEL_START = {
    "event": "start",
    "sequence_number": "1",
    "stream_sid": EXOTEL_ID,
    "start": {
        "stream_sid": EXOTEL_ID,
        "call_sid": "CAexotel",
        "account_sid": "ACexotel",
        "from": "+919876543210",
        "to": "+918047491899",
        "custom_parameters": {"key1": "value1"},
        "media_format": {"encoding": "audio/x-raw", "sample_rate": "8000", "bit_rate": "16"},
    },
}
VONAGE_START = {
    "event": "websocket:connected",
    "content-type": "audio/l16;rate=16000",
    "uuid": "aaaaaaaa-bbbb-cccc-dddd-0123456789ab",
}
ASTERISK_START = {
    "event": "MEDIA_START",
    "connection_id": "media_connection1",
    "channel": "WebSocket/media_connection1/0x7f1c",
    "channel_id": "1755190232.4",
    "format": "ulaw",
    "optimal_frame_size": 160,
    "ptime": 20,
    "channel_variables": {"DIALEDPEERNUMBER": "100"},
}
TWILIO_START = {
    "event": "start",
    "start": {
        "streamSid": "MZ1",
        "callSid": "CA1",
        "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
    },
}
STARTS: dict[str, tuple[type[Any], Any]] = {
    "twilio": (TwilioCodec, TWILIO_START),
    "telnyx": (TelnyxCodec, TELNYX_START),
    "plivo": (PlivoCodec, PLIVO_START),
    "exotel": (ExotelCodec, EXOTEL_START),
    "vonage": (VonageCodec, VONAGE_START),
    "asterisk": (ChanWebsocketCodec, ASTERISK_START),
}
PROVIDERS = [*STARTS, "audiosocket"]


def begun(provider: str) -> Codec:
    """A codec whose call has begun."""
    if provider == "audiosocket":
        codec: Codec = AudioSocketCodec()
        codec.receive(b"\x01\x00\x10" + bytes(range(16)))
        return codec
    make, start = STARTS[provider]
    codec = make()
    codec.receive(json.dumps(start))
    return codec


@pytest.mark.parametrize(
    ("provider", "call", "rate_hz", "parameters"),
    [
        ("telnyx", TELNYX_START["start"]["call_control_id"], 8000, {"tenant": "abc"}),
        ("plivo", "12345678-1234-1234-1234-123456789abc", 16_000, {}),
        ("exotel", "CAexotel", 8000, {"key1": "value1"}),
        ("vonage", "aaaaaaaa-bbbb-cccc-dddd-0123456789ab", 16_000, None),
        ("asterisk", "media_connection1", 8000, {"DIALEDPEERNUMBER": "100"}),
    ],
)
def test_a_call_begins_with_its_name_and_rate(provider, call, rate_hz, parameters):
    """From the message that the documentation shows; once."""
    make, start = STARTS[provider]
    codec = make()
    [started] = codec.receive(json.dumps(start))
    assert isinstance(started, Started)
    assert (started.call, codec.rate_hz) == (call, rate_hz)
    assert parameters is None or started.parameters == parameters
    with pytest.raises(LineError):
        codec.receive(json.dumps(start))


@pytest.mark.parametrize(
    ("provider", "fields", "event"),
    [
        ("telnyx", {"event": "mark", "stream_id": TELNYX_ID, "mark": {"name": "m"}}, Marked("m")),
        (
            "telnyx",
            {"event": "dtmf", "stream_id": TELNYX_ID, "dtmf": {"digit": "1"}},
            Digit("1"),
        ),
        ("telnyx", {"event": "stop", "stream_id": TELNYX_ID, "stop": {}}, Stopped()),
        ("plivo", {"event": "playedStream", "streamId": PLIVO_ID, "name": "m"}, Marked("m")),
        ("plivo", {"event": "dtmf", "streamId": PLIVO_ID, "dtmf": {"digit": "#"}}, Digit("#")),
        ("plivo", {"event": "clearedAudio", "streamId": PLIVO_ID}, None),
        ("exotel", {"event": "mark", "stream_sid": EXOTEL_ID, "mark": {"name": "m"}}, Marked("m")),
        (
            "exotel",
            {"event": "dtmf", "stream_sid": EXOTEL_ID, "dtmf": {"digit": "5", "duration": "100"}},
            Digit("5"),
        ),
        ("exotel", {"event": "stop", "stream_sid": EXOTEL_ID, "stop": {}}, Stopped()),
        ("vonage", {"event": "websocket:notify", "payload": {"mark": "m"}}, Marked("m")),
        ("vonage", {"event": "websocket:dtmf", "digit": "5", "duration": 260}, Digit("5")),
        ("vonage", {"event": "websocket:cleared"}, None),
        ("asterisk", {"event": "MEDIA_MARK_PROCESSED", "correlation_id": "m"}, Marked("m")),
        ("asterisk", {"event": "DTMF_END", "digit": "*", "duration_ms": 100}, Digit("*")),
        ("asterisk", {"event": "MEDIA_XOFF", "channel_id": "1"}, None),
    ],
)
def test_documented_messages_are_understood(provider, fields, event):
    """Marks, keys and ends in the provider's own words."""
    assert list(begun(provider).receive(json.dumps(fields))) == ([event] if event else [])


@pytest.mark.parametrize(
    ("provider", "message", "number"),
    [
        (
            "telnyx",
            {
                "event": "media",
                "stream_id": TELNYX_ID,
                "media": {"track": "inbound", "chunk": "2", "timestamp": "5", "payload": ALAW},
            },
            2,
        ),
        (
            "plivo",
            {
                "event": "media",
                "streamId": PLIVO_ID,
                "media": {"track": "inbound", "chunk": 41, "payload": LINEAR},
            },
            41,
        ),
        (
            "exotel",
            {"event": "media", "stream_sid": EXOTEL_ID, "media": {"chunk": "2", "payload": LINEAR}},
            2,
        ),
        ("vonage", PCM.astype("<i2").tobytes(), None),
        ("asterisk", g711.encode_mulaw(PCM), None),
        ("audiosocket", b"\x10\x01\x40" + PCM.astype("<i2").tobytes(), None),
    ],
)
def test_sound_is_heard_as_it_was_spoken(provider, message, number):
    """Sample by sample, up to what the line's own companding rounds."""
    wire = message if isinstance(message, bytes) else json.dumps(message)
    [sound] = begun(provider).receive(wire)
    assert isinstance(sound, Sound)
    expected = g711.decode_alaw(g711.encode_alaw(PCM)) if provider == "telnyx" else PCM
    assert np.array_equal(sound.pcm, expected)
    assert sound.number == number


@pytest.mark.parametrize(
    ("provider", "sound", "mark", "clear"),
    [
        (
            "telnyx",
            {"event": "media", "media": {"payload": ALAW}},
            {"event": "mark", "mark": {"name": "0:160"}},
            {"event": "clear"},
        ),
        (
            "plivo",
            {
                "event": "playAudio",
                "streamId": PLIVO_ID,
                "media": {"contentType": "audio/x-l16", "sampleRate": 16000, "payload": LINEAR},
            },
            {"event": "checkpoint", "streamId": PLIVO_ID, "name": "0:160"},
            {"event": "clearAudio", "streamId": PLIVO_ID},
        ),
        (
            "exotel",
            {"event": "media", "stream_sid": EXOTEL_ID, "media": {"payload": LINEAR}},
            {"event": "mark", "stream_sid": EXOTEL_ID, "mark": {"name": "0:160"}},
            {"event": "clear", "stream_sid": EXOTEL_ID},
        ),
        (
            "vonage",
            np.pad(PCM, (0, 160)).astype("<i2").tobytes(),
            {"action": "notify", "payload": {"mark": "0:160"}},
            {"action": "clear"},
        ),
        (
            "asterisk",
            g711.encode_mulaw(PCM),
            {"command": "MARK_MEDIA", "correlation_id": "0:160"},
            {"command": "FLUSH_MEDIA"},
        ),
        ("audiosocket", b"\x10\x01\x40" + PCM.astype("<i2").tobytes(), None, None),
    ],
)
def test_what_goes_to_the_caller_has_the_documented_shape(provider, sound, mark, clear):
    """Sound in the form in which the caller's comes; marks and clears where there are any."""

    def read(message: Any) -> Any:
        return json.loads(message) if isinstance(message, str) else message

    codec = begun(provider)
    assert read(codec.sound(PCM)) == sound
    assert read(codec.mark("0:160")) == mark
    assert read(codec.clear()) == clear
    assert codec.acknowledges is (mark is not None)


@pytest.mark.parametrize("provider", ["telnyx", "plivo", "exotel", "vonage", "asterisk"])
@pytest.mark.parametrize("form", ["OPUS", {"encoding": "L16", "sample_rate": 48000}, None, 7])
def test_sound_in_a_form_that_cannot_be_spoken_back_does_not_begin(provider, form):
    """It would be noise in both directions."""
    make, start = STARTS[provider]
    start = json.loads(json.dumps(start))
    inner = start.get("start", start)
    for key in {"media_format", "mediaFormat", "content-type", "format"} & set(inner):
        inner[key] = form
    with pytest.raises(LineError):
        make().receive(json.dumps(start))


@pytest.mark.parametrize("provider", STARTS)
def test_nothing_is_heard_before_the_beginning_or_of_another_stream(provider):
    """Early and foreign sound never reaches the recognizer."""
    make, _ = STARTS[provider]
    early: Any = json.dumps({"event": "media", "media": {"payload": MULAW}})
    with pytest.raises(LineError):
        make().receive(bytes(320) if provider in ("vonage", "asterisk") else early)
    foreign = {"streamSid": "x", "stream_id": "x", "stream_sid": "x", "streamId": "x"}
    if provider not in ("vonage", "asterisk"):
        with pytest.raises(LineError):
            begun(provider).receive(
                json.dumps(foreign | {"event": "media", "media": {"payload": MULAW}})
            )


def test_audiosocket_frames_may_be_cut_anywhere():
    """TCP keeps no borders; what is complete is told."""
    stream = b"\x01\x00\x10" + bytes(range(16)) + b"\x03\x00\x015" + b"\x10\x00\x02\x01\x00"
    for size in range(1, len(stream)):
        codec = AudioSocketCodec()
        events = [
            event
            for at in range(0, len(stream), size)
            for event in codec.receive(stream[at : at + size])
        ]
        started, digit, sound = events
        assert isinstance(started, Started)
        assert started.call == "00010203-0405-0607-0809-0a0b0c0d0e0f"
        assert digit == Digit("5")
        assert isinstance(sound, Sound)
        assert sound.pcm.tolist() == [1]
    assert codec.hang_up() == b"\x00\x00\x00"
    [stopped] = codec.receive(b"\x00\x00\x00")
    assert stopped == Stopped()


# Noise ----------------------------------------------------------------------------------------

_LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
_EVENTS = (
    *("connected", "start", "media", "mark", "dtmf", "stop", "clear", "playedStream"),
    *("websocket:connected", "websocket:notify", "websocket:dtmf"),
    *("MEDIA_START", "MEDIA_MARK_PROCESSED", "DTMF_END"),
)
_FIELDS = st.fixed_dictionaries(
    {"event": st.sampled_from(_EVENTS) | _VALUES},
    optional={
        key: st.sampled_from([TELNYX_ID, PLIVO_ID, EXOTEL_ID, "MZ1", {}]) | _VALUES
        for key in (
            *("streamSid", "stream_id", "stream_sid", "streamId", "start", "media", "mark"),
            *("dtmf", "payload", "name", "digit", "content-type", "format", "correlation_id"),
        )
    },
)


def check(codec: Codec, message: str | bytes) -> None:
    """A message ends in events or in the line's own error, and nothing else."""
    try:
        events = codec.receive(message)
    except LineError:
        return
    for event in events:
        assert isinstance(event, Started | Sound | Marked | Digit | Stopped | LineError)
        if isinstance(event, Sound):
            assert event.pcm.dtype == np.int16
            assert len(event.pcm) <= codec.rate_hz
    codec.sound(PCM)


@pytest.mark.parametrize("provider", PROVIDERS)
@settings(max_examples=50)
@given(message=st.text() | st.binary() | _FIELDS.map(json.dumps) | _VALUES.map(json.dumps))
def test_noise_is_the_lines_own_error(provider, message):
    """Before a call and in one, whatever the bytes."""
    check(begun(provider), message)
    if provider != "audiosocket":
        check(STARTS[provider][0](), message)


@given(
    frames=st.lists(
        st.tuples(
            st.sampled_from([0x00, 0x01, 0x03, 0x10, 0x11, 0xFF]) | st.integers(0, 255),
            st.binary(max_size=400),
        ),
        max_size=8,
    ),
    tail=st.binary(max_size=10),
)
def test_any_frames_leave_audiosocket_in_step(frames, tail):
    """Each whole frame is one event or one error, and what follows it is still understood."""
    codec = AudioSocketCodec()
    stream = b"".join(
        bytes([kind]) + len(payload).to_bytes(2, "big") + payload for kind, payload in frames
    )
    assert len(codec.receive(stream)) == len(frames)
    check(codec, tail)
