"""How long each part of a conversation is waited for before its outcome is decided without it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Seconds of real time, on any clock: each is many times what two busy cores need."""

    recognition_s: float = 20.0
    """For one utterance (0.2 to 0.5 s). Then: an apology, and the turn is dropped."""
    synthesis_s: float = 20.0
    """For one commit (0.1 s). Then: the reply ends with what was heard, and an apology."""
    first_event_s: float = 60.0
    """For the first word of the engine: it may have to read a long prompt. Then: an apology."""
    next_event_s: float = 20.0
    """For any later word (a round takes 0.05 s). Then: an apology behind what was committed."""
    tool_s: float = 1.5
    """For a tool, in silence. Then: a short phrase says that it takes a moment."""
    stalled_s: float = 150.0
    """For anything at all, longer than all of the above: what is still waited for then never
    comes. Then: the conversation ends with an error."""
    end_s: float = 20.0
    """For the processors to end by themselves. Then: they are cancelled."""
    idle_s: float | None = None
    """For anybody to say anything. Then: a notice; as much later a goodbye and the end. None: for
    ever."""
