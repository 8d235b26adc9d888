"""Outgoing calls: one small port, and Twilio's REST interface behind it.

Twilio calls, and connects whoever answers to the same stream as an incoming call's.
"""

import base64
import re
from typing import Final, Protocol

import aiohttp

from voiceagent.config import TwilioAccount
from voiceagent.core.errors import VoiceAgentError
from voiceagent.telephony.numbers import is_number

API_URL: Final = "https://api.twilio.com"
RING_S: Final = 40
"""Eight rings: then a mailbox answers, or nobody."""
REQUEST_S: Final = 15.0
_CALL_SID: Final = re.compile(r"CA[0-9a-fA-F]{32}")


class NotCalled(VoiceAgentError):
    """The call could not be placed; the message says why."""


class Calls(Protocol):
    """Whoever places calls."""

    async def place(self, to: str) -> str:
        """Calls a number; returns the provider's name for the call. Nobody has answered yet.

        Raises:
            NotCalled: it could not be placed.
        """
        ...


class TwilioCalls:
    """Places calls through an account of Twilio's (``POST .../Calls.json``).

    Args:
        caller_id: a number of the account's, shown to whoever is called.
        document: what the call does once it is answered (TwiML).
        max_call_s: after which Twilio itself ends the call, whatever we do.
    """

    def __init__(
        self,
        account: TwilioAccount,
        *,
        caller_id: str,
        document: str,
        max_call_s: float,
        api_url: str = API_URL,
    ) -> None:
        if not account.sid:
            raise NotCalled("outgoing calls need TWILIO_ACCOUNT_SID")
        self._account = account
        self._fields = {
            "From": caller_id,
            "Twiml": document,
            "Timeout": str(RING_S),
            "TimeLimit": str(round(max_call_s)),
        }
        self._url = f"{api_url}/2010-04-01/Accounts/{account.sid}/Calls.json"

    async def place(self, to: str) -> str:
        """Asks Twilio to call ``to``."""
        if not is_number(to):
            raise NotCalled("a number begins with + and its country: +14155550100")
        credentials = f"{self._account.sid}:{self._account.token}".encode()
        headers = {"Authorization": f"Basic {base64.b64encode(credentials).decode('ascii')}"}
        timeout = aiohttp.ClientTimeout(total=REQUEST_S)
        try:
            async with (
                aiohttp.ClientSession(headers=headers, timeout=timeout) as session,
                session.post(
                    self._url, data={"To": to, **self._fields}, allow_redirects=False
                ) as response,
            ):
                return _call_of(response.status, await _object(response))
        except (TimeoutError, aiohttp.ClientError) as error:
            raise NotCalled(f"Twilio cannot be reached: {type(error).__name__}") from error


async def _object(response: aiohttp.ClientResponse) -> dict[str, object]:
    try:
        fields = await response.json(content_type=None)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


def _call_of(status: int, fields: dict[str, object]) -> str:
    sid = fields.get("sid")
    if status == 201 and isinstance(sid, str) and _CALL_SID.fullmatch(sid):
        return sid
    # Twilio's messages name numbers; its codes say the same without them.
    code = fields.get("code")
    known = f" (its error {code})" if isinstance(code, int) else ""
    raise NotCalled(f"Twilio answered with status {status}{known}")
