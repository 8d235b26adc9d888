"""The error that a user reads: one line that says what failed and what to do."""


class VoiceAgentError(Exception):
    """An expected failure. The command line prints its text as one line and exits 1."""
