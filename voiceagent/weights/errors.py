"""What can go wrong with model files; each text is one line that says what to do."""

import errno

from voiceagent.core.errors import VoiceAgentError


class ManifestError(VoiceAgentError):
    """The manifest cannot be read, or something in it has no meaning."""


class MissingWeights(VoiceAgentError):
    """A model file is not in the cache."""


class DamagedWeights(VoiceAgentError):
    """A model file in the cache is not the one that the manifest names."""


class FetchError(VoiceAgentError):
    """No source gave the file; the message says what failed at each."""


class DiskFull(VoiceAgentError):
    """The cache's disk has no room."""


class SourceError(Exception):
    """One source failed. The next one is tried; the text ends up in a `FetchError`."""


NO_SPACE_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT})


def is_disk_full(error: BaseException) -> bool:
    """Whether ``error`` says that the disk, or the user's share of it, is full."""
    return isinstance(error, OSError) and error.errno in NO_SPACE_ERRNOS
