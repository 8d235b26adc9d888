"""What the model can do about the call itself: end it, or hand the caller to a human.

Both happen once the words that go with them were heard: a call that ends in the middle of its
goodbye has not said it.
"""

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
ENDING = "The call ends after your next words: say goodbye in one short sentence."
TRANSFERRING = "The caller is handed over after your next words: say so in one short sentence."


class Next(Enum):
    """What becomes of the call once the agent has said what it is saying."""

    GO_ON = "go on"
    END = "end"
    TRANSFER = "transfer"


def with_call_tools(config: Config) -> Config:
    """The configuration with the tools that calls have by it; a tool of the same name stays."""
    telephony = config.telephony
    offered = [_END] * telephony.hangs_up + [_TRANSFER] * bool(telephony.transfer_to)
    taken = {tool.name for tool in config.tools}
    added = tuple(tool for tool in offered if tool.name not in taken)
    return replace(config, tools=config.tools + added)


class CallTools(ToolGate):
    """The configured tools, and those that are about the call."""

    def __init__(self, config: Config) -> None:
        super().__init__(config.tools)
        self.next = Next.GO_ON

    async def run(self, call: Call) -> str:
        """Notes what is to become of the call; runs any other tool."""
        if call.tool is _END:
            self.next = Next.END
            return ENDING
        if call.tool is _TRANSFER:
            self.next = Next.TRANSFER
            return TRANSFERRING
        return await super().run(call)
