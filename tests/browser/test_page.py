"""The page in a real browser: guesses vanish, committed text never changes, nothing is lost."""

import queue
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio
from browser import Tab, chromium
from gateway_doubles import ScriptedSource, said, serving
from made_rounds import guessed

from voiceagent.core.events import Draft, EndReason, Finish, Rollback, Verify
from voiceagent.decoding.generation import EngineEvent, Request
from voiceagent.gateway.limits import Limits

pytestmark = pytest.mark.asyncio(loop_scope="module")

HEAD = "It is two miles."
FIRST, SECOND = f"{HEAD} Not", " more than that."
"""The first sentence is certain to end only with what follows it."""
TABLE = "A table:\n\n| a | b |\n|---|---|\n| 1 | **2** |\n\n```\nx = 1\n```\n\nDone."


class Stepped:
    """A source whose events a test lets go one by one."""

    def __init__(self) -> None:
        self.source = ScriptedSource(self._script)
        self.source.may_go.set()
        self.queue: queue.Queue[EngineEvent] = queue.Queue()

    def expect(self) -> None:
        """What is let go from now on belongs to the next request, however soon it is let go."""
        self.queue = queue.Queue()

    def _script(self, request: Request) -> Any:
        return iter(self.queue.get, None)

    def let(self, *events: EngineEvent) -> None:
        for event in events:
            self.queue.put(event)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tab(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Tab]:
    """One browser for all."""
    async with chromium(tmp_path_factory.mktemp("chromium")) as tab:
        yield tab


@pytest_asyncio.fixture(loop_scope="module")
async def stepped(tab: Tab) -> AsyncIterator[Stepped]:
    """The page, opened, before a source that waits for the test."""
    stepped = Stepped()
    async with serving(stepped.source, limits=Limits(drain_s=1.0)) as client:
        await tab.open(f"http://{client.host}:{client.port}/")
        yield stepped
        assert tab.troubles == []
        await tab.call("Page.navigate", url="about:blank")


async def ask(tab: Tab, stepped: Stepped, **settings: str) -> None:
    """Chooses the settings and asks by keyboard alone."""
    for name, value in settings.items():
        await tab.run(
            f"(() => {{ const it = document.getElementById({name!r}); it.value = {value!r};"
            " it.dispatchEvent(new Event('change')); })()"
        )
    stepped.expect()
    asked = len(stepped.source.requests)
    await tab.run("document.getElementById('words').focus()")
    await tab.type("How far is it?")
    await tab.press("Enter", code=13)
    while len(stepped.source.requests) == asked:
        await tab.run("new Promise(requestAnimationFrame)")


def shown(kind: str) -> str:
    """The text that stands in one state, as an expression."""
    return (
        f"[...document.querySelectorAll('#conversation article:last-child .{kind}')]"
        ".map((each) => each.textContent).join('')"
    )


async def test_a_wrong_guess_vanishes_and_committed_text_never_changes(
    tab: Tab, stepped: Stepped
) -> None:
    """Nodes of committed text are watched: nothing but their state is ever touched."""
    await ask(tab, stepped, protocol="token_push")
    stepped.let(Draft(text="No, never"))
    await tab.until(f"{shown('provisional')} === 'No, never'")
    stepped.let(Rollback(to=0), Draft(text=FIRST), Verify(to=len(FIRST)), Draft(text=" less"))
    await tab.until(f"{shown('committed')} === {HEAD!r}")
    assert "never" not in await tab.run("document.body.innerText")
    await tab.run(
        "window.changes = []; new MutationObserver((all) => window.changes.push(...all.map("
        "(each) => each.type))).observe(document.querySelector('#conversation .settled')"
        ".firstChild, {childList: true, characterData: true, subtree: true})"
    )
    whole = FIRST + SECOND
    stepped.let(Rollback(to=len(FIRST)), Draft(text=SECOND), Verify(to=len(whole)), Finish())
    await tab.until(f"{shown('committed')} === {whole!r}")
    assert await tab.run("window.changes") == []
    announced = await tab.run("document.getElementById('announcer').textContent")
    assert announced == whole
    assert await tab.until("document.getElementById('figures').textContent.includes('token_push')")


async def test_what_is_copied_is_committed_text_alone(tab: Tab, stepped: Stepped) -> None:
    """Select everything, copy: guesses stay where they are."""
    await ask(tab, stepped, protocol="token_push")
    stepped.let(Draft(text=FIRST), Verify(to=len(FIRST)), Draft(text=" at all"))
    await tab.until(f"{shown('provisional')} !== ''")
    copied = await tab.run(
        "(() => { getSelection().selectAllChildren(document.getElementById('conversation'));"
        " const event = new ClipboardEvent('copy', {clipboardData: new DataTransfer(),"
        " bubbles: true, cancelable: true});"
        " document.querySelector('#conversation article:last-child').dispatchEvent(event);"
        " return event.clipboardData.getData('text/plain'); })()"
    )
    stepped.let(Finish(reason=EndReason.STOP))
    assert copied.endswith(HEAD)
    assert "at all" not in copied


@pytest.mark.parametrize("target", ["field", "document"])
async def test_a_rollback_leaves_the_caret_the_selection_and_undo(
    tab: Tab, stepped: Stepped, target: str
) -> None:
    """A user clicked into the text and types while the reply is written into it."""
    await ask(tab, stepped, protocol="token_push", target=target)
    text = f"document.getElementById('{target}')"
    value = f"({text}.value ?? {text}.textContent)"
    stepped.let(Draft(text=FIRST), Verify(to=len(FIRST)), Draft(text="No, "))
    await tab.until(f"{value}.includes('miles')")
    await tab.run(
        f"(() => {{ const it = {text}; it.focus(); if (it.setSelectionRange)"
        " it.setSelectionRange(0, 0); else getSelection().collapse(it, 0); })()"
    )
    await tab.type("Mine: ")
    where = (
        f"(() => {{ const it = {text}; if (it.setSelectionRange) return [it.selectionStart,"
        " it.selectionEnd]; const range = getSelection().getRangeAt(0).cloneRange();"
        " range.setStart(it, 0); return [range.toString().length, range.toString().length]; })()"
    )
    before = await tab.run(where)
    whole = FIRST + SECOND
    stepped.let(Rollback(to=len(FIRST)), Draft(text=SECOND), Verify(to=len(whole)), Finish())
    await tab.until(f"{value}.includes({SECOND!r})")
    assert await tab.run(where) == before == [6, 6]
    assert (await tab.run(value)).startswith(f"Mine: {FIRST + SECOND}")
    while "Mine" in await tab.run(value):  # the user's own words are still in the history
        assert await tab.run("document.execCommand('undo')")


async def test_a_broken_connection_loses_and_repeats_nothing(tab: Tab, stepped: Stepped) -> None:
    """The socket drops in the middle; the page comes back and goes on behind the last frame."""
    await ask(tab, stepped, protocol="token_push")
    stepped.let(Draft(text=FIRST), Verify(to=len(FIRST)))
    await tab.until(f"{shown('settled')} !== '' || {shown('verified')} !== ''")
    await tab.run("window.voiceagent.connection.drop()")
    whole = FIRST + SECOND
    stepped.let(Draft(text=SECOND), Verify(to=len(whole)), Finish())
    await tab.until(f"{shown('committed')} === {whole!r}")
    assert await tab.run("window.voiceagent.connection.opened") == 2
    assert len(stepped.source.requests) == 1


async def test_the_protocol_can_be_switched_while_it_runs(tab: Tab, stepped: Stepped) -> None:
    """From the same reply's beginning, without guesses from then on."""
    await ask(tab, stepped, protocol="token_push")
    stepped.let(Draft(text=FIRST), Verify(to=len(FIRST)), Draft(text="No, "))
    await tab.until(f"{shown('provisional')} === 'No, '")
    await tab.run(
        "(() => { const it = document.getElementById('protocol'); it.value = 'boundary_commit';"
        " it.dispatchEvent(new Event('change')); })()"
    )
    await tab.until(f"{shown('committed')} !== '' && {shown('provisional')} === ''")
    whole = FIRST + SECOND
    stepped.let(Rollback(to=len(FIRST)), Draft(text=SECOND), Verify(to=len(whole)), Finish())
    await tab.until(f"{shown('committed')} === {whole!r}")


async def test_markdown_is_painted_block_by_block_and_never_again(
    tab: Tab, stepped: Stepped
) -> None:
    """Tables and code appear whole; a model's HTML stays text."""
    await ask(tab, stepped, protocol="boundary_commit", surface="markdown")
    stepped.let(*said(TABLE[:15], TABLE[15:40], TABLE[40:], "\n\n<img src=x onerror=alert(1)>"))
    await tab.until("!!document.querySelector('#conversation article:last-child pre code')")
    await tab.until(f"{shown('settled')}.includes('onerror')")
    made = await tab.run(
        "(() => { const it = document.querySelector('#conversation article:last-child');"
        " return [it.querySelector('th').textContent, it.querySelector('td strong').textContent,"
        " it.querySelector('pre').textContent, it.querySelectorAll('img').length]; })()"
    )
    assert made == ["a", "2", "x = 1", 0]


async def test_the_rounds_are_a_strip_to_step_through(tab: Tab, stepped: Stepped) -> None:
    """By keyboard: which tokens were drafted, which were accepted, what was emitted instead."""
    await ask(tab, stepped, protocol="token_push")
    text = "It is about two miles."
    made = guessed(2, 1)
    rounds = [made, replace(made, index=2)]
    stepped.let(Draft(text=text), Verify(to=len(text)), *rounds, Finish())
    await tab.until("document.querySelectorAll('#strip button').length === 2")
    assert await tab.run("document.getElementById('round-number').textContent") == "round 1 of 2"
    await tab.run("document.getElementById('later').focus()")
    await tab.press("Enter", code=13)
    await tab.until("document.getElementById('round-number').textContent === 'round 2 of 2'")
    marked = await tab.run(
        "[...document.querySelectorAll('#round .token')].map((each) => each.className)"
    )
    assert marked == ["token accepted", "token rejected", "token emitted", "token emitted"]


async def test_a_narrow_page_has_no_sideways_scroll(tab: Tab, stepped: Stepped) -> None:
    """Phone width, dark and light: everything has a name, and nothing hangs out."""
    size = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    await tab.call("Emulation.setDeviceMetricsOverride", **size)
    await ask(tab, stepped, protocol="token_push")
    stepped.let(*said(FIRST * 10))
    await tab.until(f"{shown('committed')} !== ''")
    assert await tab.run("document.documentElement.scrollWidth <= innerWidth")
    inks = []
    for scheme in ("light", "dark"):
        feature = [{"name": "prefers-color-scheme", "value": scheme}]
        await tab.call("Emulation.setEmulatedMedia", features=feature)
        inks.append(await tab.run("getComputedStyle(document.body).color"))
    assert inks[0] != inks[1]
    nameless = await tab.run(
        "[...document.querySelectorAll('button, input, select, textarea')].filter((each) =>"
        " !(each.labels?.length || each.textContent.trim())).map((each) => each.id)"
    )
    assert nameless == []
    await tab.call("Emulation.clearDeviceMetricsOverride")
