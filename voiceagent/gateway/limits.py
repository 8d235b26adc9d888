"""How much one client may take, so that none takes what belongs to another."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Named bounds, each with its reason; tests and small machines set smaller ones."""

    body_bytes: int = 1 << 20
    """One request; the default limit of common servers for a message (1 MiB)."""
    body_s: float = 30.0
    """For a body to arrive: a slow line takes that long for the most that is taken."""
    prompt_chars: int = 1 << 18
    """Code points of all messages: more than any context here, little enough to tokenize."""
    messages: int = 256
    """Messages of one conversation."""
    tools: int = 32
    """Tools of one request: each is read by the model with every prompt."""
    connections: int = 256
    """Streams that are open at once, and sockets; one more is refused with 503."""
    at_engine: int = 16
    """Replies handed to the engine at once: as many as share a pass of the target."""
    waiting: int = 128
    """Requests that wait here for their turn, in order; one more is refused with 503."""
    wait_s: float = 60.0
    """How long: a client would have given up by then."""
    replies_per_socket: int = 4
    """Replies that one WebSocket may follow at once: as many as the engine has slots by default."""
    kept_replies: int = 256
    """Replies that are over and can still be read again."""
    kept_s: float = 120.0
    """How long: the reconnect of a telephone that changes networks, with room."""
    resume_s: float = 15.0
    """How long a resumable reply goes on without anybody who reads it."""
    write_s: float = 10.0
    """A reader that takes nothing for so long is ended; TCP alone would wait for minutes."""
    silence_s: float = 120.0
    """An engine that says nothing for so long has failed this reply; a long prompt takes 60 s."""
    reply_s: float = 600.0
    """One reply, from the request to its end."""
    confirm_s: float = 30.0
    """How long a finished reply to an unconfirmed turn waits for the confirmation."""
    talks: int = 1
    """Spoken conversations at once: recognizer, engine and voice of one take two cores."""
    talk_ready_s: float = 10.0
    """For a client to say that it is ready; until then it holds a place."""
    talk_idle_s: float = 120.0
    """Silence until the agent asks who is there; after as much again it ends the conversation."""
    typed_chars: int = 4096
    """Characters of words that are typed beside speech: a long paragraph."""
    drain_s: float = 30.0
    """How long a server that was told to stop lets replies finish."""


DEFAULT_LIMITS = Limits()
