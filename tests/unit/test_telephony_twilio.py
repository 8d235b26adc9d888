"""Twilio's words: the stream's messages, signatures and documents, against its own shapes."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from twilio.request_validator import RequestValidator

from voiceagent.telephony import g711, twilio
from voiceagent.telephony.codecs.base import MAX_MESSAGE_BYTES
from voiceagent.telephony.codecs.twilio import TwilioCodec
from voiceagent.telephony.events import Digit, LineError, Marked, Sound, Started, Stopped

SID = "MZ" + "1" * 32
START = {
    "event": "start",
    "sequenceNumber": "1",
    "streamSid": SID,
    "start": {
        "accountSid": "AC1",
        "streamSid": SID,
        "callSid": "CA1",
        "tracks": ["inbound"],
        "customParameters": {"tenant": "abc", "wrong": 3},
        "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
    },
}
TOKEN = "12345678901234567890123456789012"
URL = "https://phone.example.com/telephony/twilio/voice"


def started() -> TwilioCodec:
    """A codec whose call has begun."""
    codec = TwilioCodec()
    codec.receive(json.dumps(START))
    return codec


def message(event: str, **fields: object) -> str:
    """A message of the call's stream."""
    return json.dumps({"event": event, "sequenceNumber": "4", "streamSid": SID} | fields)


def test_a_call_begins_with_its_stream_and_parameters():
    """``connected`` says nothing; ``start`` names call and stream, and its strings are kept."""
    codec = TwilioCodec()
    assert codec.receive('{"event":"connected","protocol":"Call","version":"1.0.0"}') == []
    assert codec.receive(json.dumps(START)) == [
        Started(call="CA1", stream=SID, parameters={"tenant": "abc"})
    ]


@pytest.mark.parametrize(
    ("text", "event"),
    [
        (message("mark", mark={"name": "0:160"}), Marked("0:160")),
        (message("dtmf", dtmf={"track": "inbound_track", "digit": "D"}), Digit("D")),
        (message("stop", stop={"accountSid": "AC1", "callSid": "CA1"}), Stopped()),
    ],
)
def test_documented_messages_are_understood(text, event):
    """Every message of the provider's documentation becomes the fact it states."""
    assert started().receive(text) == [event]


def test_sound_is_mulaw_and_counted():
    """The chunk's number, a string, orders the pieces; our own voice is not heard."""
    media = {"track": "inbound", "chunk": "2", "timestamp": "5", "payload": "/wA="}
    [sound] = started().receive(message("media", media=media))
    assert isinstance(sound, Sound)
    assert (sound.number, sound.pcm.tolist()) == (2, g711.decode_mulaw(b"\xff\x00").tolist())
    assert started().receive(message("media", media=media | {"track": "outbound"})) == []


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{", "null", "5", "[" * 100_000, " " * (MAX_MESSAGE_BYTES + 1), b"\xff\xfe{}"),
        *('{"event": 3}', '{"event": "start"}', '{"event": "media"}'),
        json.dumps(START),
        message("media", media=None),
        message("media", media="x"),
        message("media", media={"payload": "%%"}),
        message("media", media={"payload": "abc"}),
        message("media", media={"payload": 7}),
        message("media", media={"payload": "AAAA" * 8000}),
        message("media", media={"payload": "AAAA", "chunk": "-1"}),
        message("media", media={"payload": "AAAA", "chunk": "9" * 30}),
        message("media", streamSid="MZother", media={"payload": "AAAA"}),
        message("media", streamSid="", media={"payload": "AAAA"}),
        message("dtmf", dtmf=None),
        message("dtmf", dtmf={"digit": "12"}),
        message("mark", mark={"name": "x" * 300}),
        message("explode"),
    ],
)
def test_what_is_no_message_is_named_as_such(text):
    """Malformed, oversized, foreign or repeated: the line's own error, whatever is wrong."""
    with pytest.raises(LineError):
        started().receive(text)


@pytest.mark.parametrize("form", [{"encoding": "audio/x-l16", "sampleRate": 8000}, {}, None])
def test_a_stream_in_another_form_does_not_begin(form):
    """Sound of another kind would be noise; sound before the beginning is nobody's."""
    start = START["start"] | {"mediaFormat": form}
    with pytest.raises(LineError):
        TwilioCodec().receive(json.dumps(START | {"start": start}))
    with pytest.raises(LineError):
        TwilioCodec().receive(message("media", media={"payload": "AAAA"}))


def test_what_goes_to_the_caller_has_the_documented_shape():
    """Sound, marks and clears carry the stream they belong to."""
    codec = started()
    pcm = g711.decode_mulaw(b"\xff\x00")
    assert json.loads(codec.sound(pcm)) == {
        "event": "media",
        "streamSid": SID,
        "media": {"payload": "/wA="},
    }
    assert json.loads(codec.mark("0:4")) == {
        "event": "mark",
        "streamSid": SID,
        "mark": {"name": "0:4"},
    }
    assert json.loads(codec.clear()) == {"event": "clear", "streamSid": SID}
    assert np.array_equal(g711.decode_alaw(g711.encode_alaw(pcm)), g711.decode_alaw(b"\xd5\x2a"))


# Signatures -----------------------------------------------------------------------------------

FORM = [("CallSid", "CA1"), ("From", "+14155550100"), ("To", "+1"), ("Ω", "ß")]


def test_a_signature_is_what_twilios_own_library_makes():
    """Over a form and over a WebSocket's address; every change of either breaks it."""
    validator = RequestValidator(TOKEN)
    stream = "wss://phone.example.com/telephony/media-stream"
    for url, fields in ((URL, FORM), (stream, [])):
        theirs = validator.compute_signature(url, dict(fields))
        assert twilio.signature(TOKEN, url, fields) == theirs
        assert twilio.is_signed(theirs, token=TOKEN, url=url, fields=fields)
        for other in (url + "/", url.replace("s://", "://", 1), url + "?x=1", url.upper()):
            assert not twilio.is_signed(theirs, token=TOKEN, url=other, fields=fields)
        assert not twilio.is_signed(theirs, token=TOKEN + "0", url=url, fields=fields)
        assert not twilio.is_signed(theirs, token=TOKEN, url=url, fields=[*fields, ("x", "y")])
    for given in ("", "é", theirs[:-1], "\udcff"):
        assert not twilio.is_signed(given, token=TOKEN, url=stream)


def test_the_answer_connects_a_stream_and_asks_what_then():
    """Text that a caller could choose is escaped, as every value is."""
    document = ET.fromstring(twilio.connect("wss://a/b?c&d", then_url="https://a/then"))
    connect = document.find("Connect")
    assert connect is not None
    assert connect.attrib == {"action": "https://a/then", "method": "POST"}
    assert connect.find("Stream").attrib == {"url": "wss://a/b?c&d"}


def test_the_other_documents_refuse_hang_up_and_transfer():
    """A refused call was never answered; a transferred one ends when the human hangs up."""
    assert ET.fromstring(twilio.refuse()).find("Reject").attrib == {"reason": "busy"}
    assert [verb.tag for verb in ET.fromstring(twilio.hang_up())] == ["Hangup"]
    number = ET.fromstring(twilio.transfer("+14155550100"))
    assert [verb.tag for verb in number] == ["Dial", "Hangup"]
    assert number.findtext("Dial") == "+14155550100"
    assert ET.fromstring(twilio.transfer("sip:a@b.example")).findtext("Dial/Sip") == (
        "sip:a@b.example"
    )
