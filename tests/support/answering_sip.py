"""Answers SIP calls on doubles of the models, as a program of its own: only one user agent runs in
a process. Prints "listening" once it does; the port is its argument."""

import asyncio
import sys

from loguru import logger
from phones import call_config
from talk_doubles import ScriptedSource, models

from voiceagent.config import Sip
from voiceagent.telephony.sip import SipServer
from voiceagent.telephony.switchboard import Switchboard

LONG = "One two three four five six seven eight nine ten eleven twelve."


async def main(port: int) -> None:
    """Until somebody ends it."""
    scripted = models(
        hears=["Tell me.", "Stop that now."], source=ScriptedSource([LONG, "Fine.", "Thanks."])
    )
    server = SipServer(Switchboard(scripted, call_config()))
    await server.listen(
        Sip(user="bob", listen=f"127.0.0.1:{port}", rtp_ports="21200-21300"), password=""
    )
    sys.stdout.write("listening\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    logger.remove()
    asyncio.run(main(int(sys.argv[1])))
