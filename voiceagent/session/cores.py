"""How the processor's cores are shared between the models, in one place.

Two cores carry a recognizer, an engine, a voice and an event loop. Recognition comes before
decoding, and a first segment's synthesis goes before further decoding (``session/llm.py``), so
each may use both cores while it is its turn; the VAD and the end-of-turn model run beside all of
them and keep to one thread. The waiting of OpenMP threads is passive: an actively spinning thread
takes a whole core from whoever has the next turn (every small matrix product then takes 8 ms
instead of 1.6), which costs more than the 17 % that passive waiting costs the engine.
"""

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shares:
    """Threads of each model."""

    engine: int
    recognizer: int
    synthesizer: int
    turn: int = 1


def share_cores(cores: int | None = None) -> Shares:
    """Decides the shares. Call it before torch or an OpenMP library is loaded."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    usable = cores or len(os.sched_getaffinity(0))
    return Shares(
        engine=max(1, min(usable, 8)),
        recognizer=max(1, min(usable, 4)),
        synthesizer=max(1, min(usable, 2)),
    )
