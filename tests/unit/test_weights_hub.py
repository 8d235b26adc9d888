"""The hub's files arrive whole, go on where they broke off, and an absent hub costs little."""

import time
from pathlib import Path

import pytest
from weights_sources import (
    Sources,
    break_after,
    content,
    hub_source,
    ignoring_range,
    serving,
    status,
)

from voiceagent.weights.errors import DiskFull, SourceError
from voiceagent.weights.hub import MAX_FRUITLESS_TRIES, TRANSFER_CHUNK_BYTES, Hub, matches_checksum

SOURCE = hub_source()
# Longer than the chunk that counts as progress.
DATA = content(3_000_000)


@pytest.fixture
def sources():
    """A hub on the loopback."""
    with serving() as running:
        yield running


class Download:
    """One download, its pauses counted instead of slept."""

    def __init__(self, sources: Sources, folder: Path, **options) -> None:
        self.pauses: list[float] = []
        self.hub = Hub(sources.hub_url, pause=self.pauses.append, **options)
        self.into = folder / "partial"
        self.seen: list[tuple[int, int | None]] = []

    def run(self, expected_bytes: int | None = len(DATA)) -> str | None:
        """Fetches the file."""
        return self.hub.download(
            SOURCE,
            self.into,
            expected_bytes=expected_bytes,
            on_bytes=lambda done, total: self.seen.append((done, total)),
        )


@pytest.fixture
def download(sources: Sources, tmp_path: Path) -> Download:
    """A download from a hub that has the file."""
    sources.add_hub(SOURCE, DATA)
    return Download(sources, tmp_path)


PATH = "/hub/team/model/resolve/" + "0" * 40 + "/model.gguf"


def test_a_file_arrives_whole_with_its_checksum(download: Download):
    """The hub names large files by SHA-256, which a first fetch is compared with."""
    checksum = download.run()
    assert download.into.read_bytes() == DATA
    assert len(checksum) == 64
    assert download.seen[-1] == (len(DATA), len(DATA))


def test_a_broken_connection_is_resumed_where_it_broke(download: Download, sources: Sources):
    """Bytes that arrived are not sent again."""
    sources.faults[PATH] = [break_after(2_000_000)]
    download.run()
    assert download.into.read_bytes() == DATA
    first, second = sources.asked_for(PATH)
    resumed_at = int(second.removeprefix("bytes=").removesuffix("-"))
    assert first is None
    assert 2_000_000 - TRANSFER_CHUNK_BYTES < resumed_at <= 2_000_000
    assert len(download.pauses) == 1


def test_a_later_run_resumes_too(download: Download, sources: Sources):
    """What an earlier process left is a beginning."""
    download.into.write_bytes(DATA[:1_000_000])
    download.run()
    assert download.into.read_bytes() == DATA
    assert sources.asked_for(PATH) == ["bytes=1000000-"]


def test_a_hub_that_cannot_resume_sends_it_all(download: Download, sources: Sources):
    """Ranges are a courtesy: without them the file starts over, and is right."""
    download.into.write_bytes(b"x" * 1_000_000)
    sources.faults[PATH] = [ignoring_range]
    download.run()
    assert download.into.read_bytes() == DATA


def test_all_that_is_there_needs_no_more(download: Download):
    """A stop between the last byte and the digest loses nothing."""
    download.into.write_bytes(DATA)
    download.run()
    assert download.into.read_bytes() == DATA


def test_more_than_the_whole_starts_over(download: Download):
    """What is too long is no beginning of the file."""
    download.into.write_bytes(DATA + b"more")
    download.run()
    assert download.into.read_bytes() == DATA


def test_a_download_that_does_not_advance_gives_up(download: Download, sources: Sources):
    """Each try waits longer, then the reason is told."""
    sources.faults[PATH] = [break_after(0)] * 10
    with pytest.raises(SourceError):
        download.run()
    assert len(sources.asked_for(PATH)) == MAX_FRUITLESS_TRIES
    assert download.pauses == [1.0, 2.0, 4.0]


def test_a_busy_hub_is_asked_again(download: Download, sources: Sources):
    """503 and 429 pass."""
    sources.faults[PATH] = [status(503), status(429)]
    download.run()
    assert download.into.read_bytes() == DATA


@pytest.mark.parametrize("code", [401, 403, 404])
def test_a_refusal_is_final(download: Download, sources: Sources, code: int):
    """What is not there does not appear by asking again."""
    sources.faults[PATH] = [status(code)] * 3
    with pytest.raises(SourceError, match=str(code)):
        download.run()
    assert len(sources.asked_for(PATH)) == 1


def test_another_size_is_refused_before_the_transfer(download: Download):
    """A gigabyte that can't be right is not fetched."""
    with pytest.raises(SourceError, match="it has 3000000 bytes there, expected 5"):
        download.run(expected_bytes=5)
    assert not download.into.exists()


def test_a_hub_out_of_reach_is_asked_once_and_quickly(tmp_path: Path):
    """Every later file goes straight to its next source."""
    hub = Hub("http://127.0.0.1:1/hub")
    begin = time.monotonic()
    for _ in range(50):
        with pytest.raises(SourceError, match=r"not reachable \(Connection refused\)"):
            hub.download(
                SOURCE, tmp_path / "x", expected_bytes=5, on_bytes=lambda _done, _total: None
            )
    assert time.monotonic() - begin < 5


def test_a_file_that_does_not_fit_is_refused_before_the_transfer(sources: Sources, tmp_path: Path):
    """The room that is asked for is what is still missing."""
    sources.add_hub(SOURCE, DATA)
    asked: list[int] = []

    def refuse(needed_bytes: int) -> None:
        asked.append(needed_bytes)
        raise DiskFull("no room")

    download = Download(sources, tmp_path, require_space=refuse)
    download.into.write_bytes(DATA[:1_000_000])
    with pytest.raises(DiskFull):
        download.run()
    assert asked == [2_000_000]


def test_small_files_are_compared_as_git_names_them(tmp_path: Path):
    """The hub has no SHA-256 for them; the blob name of a known content is git's own."""
    path = tmp_path / "hello"
    path.write_bytes(b"hello\n")
    git_name = "ce013625030ba8dba906f756967f9e9ca394464a"
    assert matches_checksum(path, "f" * 64, git_name)
    assert not matches_checksum(path, "f" * 64, "0" * 40)
    assert matches_checksum(path, "f" * 64, "f" * 64)
    assert not matches_checksum(path, "f" * 64, "0" * 64)
    assert matches_checksum(path, "f" * 64, None)
