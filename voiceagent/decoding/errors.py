"""What can go wrong before a reply was promised."""

from voiceagent.core.errors import VoiceAgentError


class EngineError(VoiceAgentError):
    """A request that the engine cannot serve; nothing was promised."""


class ContextOverflow(EngineError):
    """The conversation does not fit into the context."""


class EngineBusy(EngineError):
    """Too many replies are waiting."""


class EngineClosed(EngineError):
    """The engine was closed."""
