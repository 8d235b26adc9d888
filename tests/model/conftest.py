"""What the tests of the engine share."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from engines import CONFIG, DRAFT, TARGET, LetterTokenizer

from voiceagent.decoding.engine import Engine


@pytest.fixture
def open_engine() -> Iterator[Callable[..., Engine]]:
    """Makes engines and closes them."""
    opened: list[Engine] = []

    def open_(**changes: Any) -> Engine:
        values: dict[str, Any] = {"config": CONFIG, "draft": DRAFT, **changes}
        opened.append(Engine(values.pop("target", TARGET), LetterTokenizer(), **values))
        return opened[-1]

    yield open_
    for engine in opened:
        engine.close()
