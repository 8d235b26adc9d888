"""Standard input as text: UTF-8, or refused by the byte that is not."""

import codecs
import io
from collections.abc import Iterator

from voiceagent.core.errors import VoiceAgentError

CHUNK_BYTES = 65536


def pieces(source: io.BufferedIOBase) -> Iterator[str]:
    """The input as it arrives; a code point that is torn by a read waits for its rest."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    read_bytes = 0
    while True:
        data = source.read1(CHUNK_BYTES)
        read_bytes += len(data)
        try:
            yield decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            yield error.object[: error.start].decode()
            at = read_bytes - len(error.object) + error.start
            raise VoiceAgentError(
                f"standard input is not UTF-8: byte {at} cannot be read; convert it with iconv"
            ) from error
        if not data:
            return


def lines(source: io.BufferedIOBase) -> Iterator[str]:
    """The input line by line, as it arrives, without the line ends."""
    rest = ""
    for piece in pieces(source):
        *whole, rest = (rest + piece).split("\n")
        yield from (line.rstrip("\r") for line in whole)
    if rest:
        yield rest.rstrip("\r")
