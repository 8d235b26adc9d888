"""How quickly recorded sound comes in: as it sounds, or as quickly as it is dealt with."""

from typing import Protocol

from voiceagent.session.clock import Clock, VirtualClock
from voiceagent.session.conversation import Conversation


class Pacing(Protocol):
    """Asked before and after each piece of sound."""

    async def before(self, *, until_s: float) -> None:
        """Returns when sound that ends at ``until_s`` may come in."""
        ...

    async def after(self, *, samples: int) -> None:
        """Returns when the next piece may be looked at; ``samples`` have come in so far."""
        ...


class RealTime:
    """Each piece comes in when its last sample has sounded."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def before(self, *, until_s: float) -> None:
        """Waits for that time."""
        await self._clock.sleep_until(until_s)

    async def after(self, *, samples: int) -> None:
        """Real time waits for nobody."""


class AsFastAsPossible:
    """Drives the clock: time passes once nothing is being worked out any more.

    A recognition, a verdict or a reply in the making takes no time of the conversation at all.
    """

    def __init__(self, clock: VirtualClock, conversation: Conversation) -> None:
        self._clock = clock
        self._conversation = conversation

    async def before(self, *, until_s: float) -> None:
        """Waits until nothing is being worked out, then moves the clock."""
        while self._conversation.is_busy:
            await self._conversation.changed.wait()
        await self._clock.advance(until_s)

    async def after(self, *, samples: int) -> None:
        """Waits until the sound has been through VAD and turn taking."""
        while self._conversation.input_samples < samples:
            await self._conversation.changed.wait()
