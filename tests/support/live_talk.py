"""A conversation over the sound card on doubles, run as a program of its own.

PortAudio looks for its devices when it is loaded, so the sound server has to be named in the
environment of a new process. Prints one line of JSON when the conversation is over.
"""

import asyncio
import json
import sys

from loguru import logger
from talk_doubles import ScriptedSource, models

from voiceagent.audio.hold import Manner, hold_live
from voiceagent.config import Config, Persona
from voiceagent.core.events import Ended
from voiceagent.session.happenings import Happening, Trouble


async def main(reply: str) -> None:
    """One question, one reply, then the end."""
    stopped = asyncio.Event()

    def on_happening(happening: Happening) -> None:
        if isinstance(happening, Trouble):
            sys.stdout.write(f"{happening.line}\n")
            sys.stdout.flush()
        if isinstance(happening, Ended):
            # A moment for the card to play its last block.
            asyncio.get_running_loop().call_later(0.5, stopped.set)

    def on_ready() -> None:
        sys.stdout.write("listening\n")
        sys.stdout.flush()

    held = await hold_live(
        models(hears=["Hello?"], source=ScriptedSource([reply])),
        Config(persona=Persona(greeting="")),
        manner=Manner(),
        listeners=[on_happening],
        stopped=stopped,
        on_ready=on_ready,
    )
    sys.stdout.write(json.dumps(held.minutes.summary() | {"gaps_ms": held.gaps_ms()}) + "\n")


if __name__ == "__main__":
    logger.remove()
    asyncio.run(main(sys.argv[1]))
