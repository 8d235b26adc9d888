"""What Twilio asks over HTTP: whether to take a call, and what becomes of it. Pure.

Every request is signed (Twilio, "Security - Validating signatures"): base64 of HMAC-SHA1 over the
URL as Twilio knows it, followed by the fields of the form in order of their names. Upgrades to a
WebSocket are signed over their ``wss`` URL without fields.
"""

import base64
import hashlib
import hmac
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

SIGNATURE_HEADER = "X-Twilio-Signature"


def signature(token: str, url: str, fields: Sequence[tuple[str, str]] = ()) -> str:
    """How a request for ``url`` with a form's ``fields`` is signed."""
    signed = url + "".join(name + value for name, value in sorted(set(fields)))
    digest = hmac.new(token.encode(), signed.encode(errors="surrogatepass"), hashlib.sha1).digest()
    return base64.b64encode(digest).decode("ascii")


def is_signed(given: str, *, token: str, url: str, fields: Sequence[tuple[str, str]] = ()) -> bool:
    """Whether a request bears the signature of whoever knows ``token``; in constant time."""
    wanted = signature(token, url, fields)
    return hmac.compare_digest(given.encode(errors="surrogatepass"), wanted.encode())


def connect(stream_url: str, *, then_url: str) -> str:
    """The document that answers a call with a stream; ``then_url`` is asked when it has ended."""
    response = Element("Response")
    verb = SubElement(response, "Connect", action=then_url, method="POST")
    SubElement(verb, "Stream", url=stream_url)
    return _document(response)


def refuse() -> str:
    """The document that refuses a call before it is answered, so that it costs nobody anything."""
    response = Element("Response")
    SubElement(response, "Reject", reason="busy")
    return _document(response)


def hang_up() -> str:
    """The document that ends a call."""
    response = Element("Response")
    SubElement(response, "Hangup")
    return _document(response)


def transfer(to: str) -> str:
    """The document that hands a call to a number or a SIP address, then ends it."""
    response = Element("Response")
    dial = SubElement(response, "Dial")
    if to.startswith(("sip:", "sips:")):
        SubElement(dial, "Sip").text = to
    else:
        dial.text = to
    SubElement(response, "Hangup")
    return _document(response)


def _document(response: Element) -> str:
    return '<?xml version="1.0" encoding="UTF-8"?>' + tostring(response, encoding="unicode")
