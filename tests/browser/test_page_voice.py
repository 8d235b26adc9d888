"""The page's microphone in a real browser, whose fake one plays a recording."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest
import soundfile
from aiohttp.test_utils import TestClient, TestServer
from browser import Tab, chromium
from gateway_doubles import playing, said
from recordings import fixture_path
from talk_doubles import ScriptedSource, models, recording

from voiceagent.config import Config, Decoding, Persona, cache_directory
from voiceagent.core.audit import audit
from voiceagent.core.events import Ended, EndReason, Heard, Paused
from voiceagent.core.trace import Header
from voiceagent.gateway.app import Gateway, make_app
from voiceagent.gateway.talk.route import Talks
from voiceagent.session.cores import share_cores
from voiceagent.session.happenings import Happening, TurnHappened
from voiceagent.session.models import Models, load_models
from voiceagent.session.trace_file import TraceFile
from voiceagent.sound.files import read_sound
from voiceagent.weights.manifest import Manifest
from voiceagent.weights.store import Store

QUIET = Config(persona=Persona(greeting=""))
REPLY = "It is about two miles from here. You can walk there in half an hour, or take the bus."
SPOKEN = Config(decoding=Decoding(max_tokens=24), persona=Persona(greeting=""))
SHOWN = "document.getElementById('conversation').innerText"
VOICE = "document.getElementById('voice').textContent"


@asynccontextmanager
async def talking(
    folder: Path, sound: Path, with_models: Models, config: Config = QUIET, *, again: bool = False
) -> AsyncIterator[tuple[Tab, list[Happening]]]:
    """The page before a gateway with a voice; the trace has to pass the audit."""
    path, happened = folder / "trace.jsonl", []
    trace = TraceFile(path, header=Header(preset="tiny"))
    talks = Talks(with_models, config, listeners=lambda: [happened.append, trace])
    gateway = Gateway(source=playing(*said("Typed.")), model="double", max_tokens=64)
    async with (
        TestClient(TestServer(make_app(gateway, talks=talks))) as client,
        chromium(folder / "chromium", microphone=sound, again=again) as tab,
    ):
        await tab.open(f"http://{client.host}:{client.port}/")
        yield tab, happened
        assert tab.troubles == []
    trace.close()
    with path.open(encoding="utf-8") as lines:
        assert audit(lines) == []


def spoken(folder: Path, *pieces: tuple[str, float]) -> Path:
    """A recording of doubles as the browser's microphone."""
    path = folder / "microphone.wav"
    sound = recording(*pieces)
    soundfile.write(path, sound.pcm, sound.rate_hz, subtype="PCM_16")
    return path


async def test_a_spoken_question_is_answered_and_heard_as_the_page_reports(tmp_path: Path) -> None:
    """From the fake microphone to words on the page, and from the page's ear to the ledger."""
    sound = spoken(tmp_path, ("pause", 1.0), ("voice", 0.8), ("pause", 20.0))
    source = ScriptedSource([REPLY, "As you like."])
    doubles = models(hears=["How far is it?"], source=source)
    async with talking(tmp_path, sound, doubles) as (tab, happened):
        await tab.run("document.getElementById('words').value = 'Where is it?'")
        await tab.click("send")
        await tab.until("document.querySelectorAll('#figures tr').length === 1")
        await tab.click("talk")
        await tab.until(f"{VOICE}.startsWith('Listening')")
        await tab.until(f"{SHOWN}.includes('How far is it?')")
        await tab.until("window.voiceagent.voice.talk.figures.played > 24000")
        await tab.until("document.querySelectorAll('#figures tr').length === 2")
        assert REPLY in await tab.run(SHOWN)
        said_before = [message.content for message in source.prompts[-1]][1:]
        assert said_before == ["Where is it?", "Typed.", "How far is it?"]
        heard = [each.to for each in happened if isinstance(each, Heard)]
        assert len(heard) > 5
        assert heard[-1] == len(REPLY)
        await tab.click("mute")
        await tab.run("document.getElementById('words').value = 'Shorter, please.'")
        await tab.click("send")
        await tab.until("document.querySelectorAll('#figures tr').length === 3")
        assert "As you like." in await tab.run(SHOWN)
        await tab.click("talk")
        await tab.until(f"{VOICE} === 'Not listening.'")


async def test_of_a_long_conversation_in_writing_the_newest_messages_are_known(
    tmp_path: Path,
) -> None:
    """What one message over the socket can hold; more would close it before a word is spoken."""
    sound = spoken(tmp_path, ("pause", 1.0), ("voice", 0.8), ("pause", 20.0))
    source = ScriptedSource([REPLY])
    async with talking(tmp_path, sound, models(hears=["And now?"], source=source)) as (tab, _):
        await tab.run(
            "for (let i = 0; i < 400; i++) window.voiceagent.voice.history.push("
            "{ role: i % 2 ? 'assistant' : 'user', content: `${i} ` + '\\u{1F642}'.repeat(450) })"
        )
        await tab.click("talk")
        await tab.until(f"{SHOWN}.includes({REPLY!r})")
    said_before = [message.content for message in source.prompts[-1]][1:]
    assert [words.split()[0] for words in said_before] == [*map(str, range(389, 400)), "And"]


async def test_words_over_a_reply_end_it_where_the_page_had_played_it(tmp_path: Path) -> None:
    """The page is held at the user's onset and cut at the words; what it played is what counts."""
    question, words = (("voice", 0.8), ("pause", 2.5)), (("voice", 1.2), ("pause", 20.0))
    sound = spoken(tmp_path, ("pause", 0.5), *question, *words)
    doubles = models(hears=["How far is it?", "No, stop."], replies=[REPLY, "All right."])
    async with talking(tmp_path, sound, doubles) as (tab, happened):
        await tab.click("talk")
        await tab.until("window.voiceagent.voice.talk?.figures.played > 12000")
        # What had been played when the page was told to throw the rest away.
        await tab.run(
            "(() => { const talk = window.voiceagent.voice.talk, before = talk.onFrame;"
            " window.played = 0; const look = () => { window.played = Math.max(window.played,"
            " talk.figures.played); if (!window.ended) requestAnimationFrame(look); }; look();"
            " talk.onFrame = (frame, client) => { if (frame.type === 'end') window.ended ??= frame;"
            " before(frame, client); }; })()"
        )
        end = await tab.until("window.ended")
        assert end["reason"] == "interrupted"
        # Twenty characters are said in a second; a word is heard when half of it was.
        played = await tab.run("window.played") / 24_000 * 20
        assert 0 < end["at"] < len(REPLY)
        assert -12 < end["at"] - played < 4
        await tab.until("document.querySelectorAll('#figures tr').length === 2")
        assert "All right." in await tab.run(SHOWN)
        flushed = [each for each in happened if isinstance(each, Paused)]
        assert flushed, "held before it was cut"


async def test_push_to_talk_hears_nobody_until_it_is_held(tmp_path: Path) -> None:
    """The microphone plays a voice all the time; it counts while the button is down."""
    sound = spoken(tmp_path, ("voice", 0.6), ("pause", 0.6))
    doubles = models(hears=["Now."] * 9, replies=[REPLY])
    async with talking(tmp_path, sound, doubles, again=True) as (tab, happened):
        await tab.click("push")
        await tab.click("talk")
        await tab.until(f"{VOICE}.startsWith('Listening')")
        await tab.until("window.voiceagent.voice.talk.figures.sent > 3 * 16000")
        assert [each for each in happened if isinstance(each, TurnHappened)] == []
        await tab.run("document.getElementById('hold').focus()")
        await tab.key(" ", down=True)
        await tab.until(f"{VOICE} === 'You are speaking.'")
        await tab.key(" ", down=False)
        await tab.until(f"{SHOWN}.includes('Now.')")
        await tab.until("document.querySelectorAll('#figures tr').length === 1")
        assert REPLY in await tab.run(SHOWN)


async def test_a_page_before_a_server_without_a_voice_says_so(tmp_path: Path) -> None:
    """A browser tells nothing of a refused upgrade: the page asks again without one."""
    gateway = Gateway(source=playing(*said("Typed.")), model="double", max_tokens=64)
    sound = spoken(tmp_path, ("pause", 5.0))
    async with (
        TestClient(TestServer(make_app(gateway))) as client,
        chromium(tmp_path / "chromium", microphone=sound) as tab,
    ):
        await tab.open(f"http://{client.host}:{client.port}/")
        await tab.click("talk")
        await tab.until(f"{VOICE}.includes('without a voice')")
        await tab.until("document.getElementById('talk').ariaPressed === 'false'")


async def test_a_page_that_finds_no_room_says_why(tmp_path: Path) -> None:
    """A second tab: the conversation that is being held goes on."""
    sound = spoken(tmp_path, ("pause", 20.0))
    async with talking(tmp_path, sound, models(hears=[])) as (tab, happened):
        await tab.run(
            "new Promise((resolve) => { const first = new WebSocket('/v1/talk');"
            " first.onopen = resolve; window.first = first; })"
        )
        await tab.click("talk")
        line = await tab.until(f"{VOICE}.startsWith('Not listening: ') && {VOICE}")
        assert "one spoken conversation at a time" in line
        assert happened == []


@pytest.fixture(scope="module")
def real_models() -> Iterator[Models]:
    """The tiny preset."""
    preset, store = Manifest.load().preset("tiny"), Store(cache_directory())
    with load_models(SPOKEN, preset=preset, store=store, shares=share_cores(2)) as models:
        yield models


async def test_real_models_hear_a_person_through_the_page(
    tmp_path: Path, real_models: Models
) -> None:
    """A recording of a question, through the browser's own processing, to a real recognizer."""
    question = read_sound(fixture_path("largest-planet"))
    sound = tmp_path / "microphone.wav"
    parts = [np.zeros(question.rate_hz), question.pcm, np.zeros(20 * question.rate_hz)]
    soundfile.write(sound, np.concatenate(parts), question.rate_hz, subtype="PCM_16")
    async with talking(tmp_path, sound, real_models, SPOKEN) as (tab, happened):
        await tab.click("talk")
        await tab.until(f"{SHOWN}.toLowerCase().includes('planet')", within_s=60)
        await tab.until("document.querySelectorAll('#figures tr').length === 1", within_s=60)
        ended = next(each for each in happened if isinstance(each, Ended))
        heard = [each.to for each in happened if isinstance(each, Heard)]
        assert ended.reason in (EndReason.STOP, EndReason.LENGTH)
        assert heard[-1] == ended.at > 0
