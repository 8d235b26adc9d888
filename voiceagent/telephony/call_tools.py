"""What the model can do about the call itself: end it, hand the caller to a human, press keys.

A call ends or is handed over once the words that go with it were heard: one that ends in the middle
of its goodbye has not said it.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from enum import Enum

from voiceagent.config import Config, Tool
from voiceagent.session.tools import Call, ToolGate

_END = Tool(
    name="end_call",
    description="Ends this telephone call, when the caller has said goodbye or wants no more.",
    parameters={"type": "object", "properties": {}},
)
_TRANSFER = Tool(
    name="transfer_to_human",
    description="Hands the caller to a human colleague, when the caller asks for one or you "
    "cannot help.",
    parameters={"type": "object", "properties": {}},
)
_PRESS = Tool(
    name="press_keys",
    description="Presses keys of the telephone, for a machine at the other end that asks for them.",
    parameters={
        "type": "object",
        "properties": {"keys": {"type": "string", "pattern": "^[0-9*#A-D]{1,32}$"}},
        "required": ["keys"],
    },
)
ENDING = "The call ends after your next words: say goodbye in one short sentence."
TRANSFERRING = "The caller is handed over after your next words: say so in one short sentence."
PRESSED = "The keys were pressed."
NO_KEYS = "This line has no keys."
Press = Callable[[str], Awaitable[bool]]
"""Presses one key; false where a line has none."""


class Next(Enum):
    """What becomes of the call once the agent has said what it is saying."""

    GO_ON = "go on"
    END = "end"
    TRANSFER = "transfer"


def with_call_tools(config: Config) -> Config:
    """The configuration with the tools that calls have by it; a tool of the same name stays."""
    telephony = config.telephony
    offered = [
        *([_END] if telephony.hangs_up else []),
        *([_TRANSFER] if telephony.transfer_to else []),
        *([_PRESS] if telephony.presses_keys else []),
    ]
    taken = {tool.name for tool in config.tools}
    added = tuple(tool for tool in offered if tool.name not in taken)
    return replace(config, tools=config.tools + added)


class CallTools(ToolGate):
    """The configured tools, and those that are about the call."""

    def __init__(self, config: Config, *, press: Press) -> None:
        super().__init__(config.tools)
        self._press = press
        self.next = Next.GO_ON

    async def run(self, call: Call) -> str:
        """Notes what is to become of the call, or presses keys; runs any other tool."""
        if call.tool is _END:
            self.next = Next.END
            return ENDING
        if call.tool is _TRANSFER:
            self.next = Next.TRANSFER
            return TRANSFERRING
        if call.tool is _PRESS:
            pressed = [await self._press(key) for key in call.arguments["keys"]]
            return PRESSED if all(pressed) else NO_KEYS
        return await super().run(call)
