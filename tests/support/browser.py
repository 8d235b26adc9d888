"""A headless Chromium, driven over the DevTools protocol."""

import asyncio
import itertools
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

START_S = 60.0
"""A cold start of Chromium on two busy cores."""


class PageError(AssertionError):
    """A script on the page threw."""


class Tab:
    """One page."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self.troubles: list[str] = []
        """What the page's scripts threw, or complained of on the console."""

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the protocol and its result."""
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        while True:
            message = json.loads(await self._socket.receive_str())
            self._look(message)
            if message.get("id") == number:
                assert "error" not in message, message["error"]
                result: dict[str, Any] = message["result"]
                return result

    async def run(self, script: str) -> Any:
        """The value of an expression, awaited if it is a promise."""
        result = await self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in result:
            raise PageError(json.dumps(result["exceptionDetails"])[:2000])
        return result["result"].get("value")

    async def click(self, identity: str) -> None:
        """A user's click on an element: some things a page may only do on one."""
        await self.call(
            "Runtime.evaluate",
            expression=f"document.getElementById({identity!r}).click()",
            userGesture=True,
        )

    async def until(self, script: str, *, within_s: float = 30.0) -> Any:
        """The value of an expression, once it is true; looked at again with every frame."""
        try:
            async with asyncio.timeout(within_s):
                while not (value := await self.run(script)):
                    await self.run("new Promise(requestAnimationFrame)")
                return value
        except TimeoutError:
            page = await self.run("document.body.innerText")
            raise AssertionError(
                f"never true: {script}; {self.troubles}; the page: {page}"
            ) from None

    async def open(self, url: str) -> None:
        """Goes to a page and waits until its scripts have run."""
        self.troubles = []
        await self.call("Page.navigate", url=url)
        await self.until("document.readyState === 'complete' && !!window.voiceagent")

    async def type(self, text: str) -> None:
        """Keys into whatever has the focus."""
        await self.call("Input.insertText", text=text)

    async def key(self, key: str, *, down: bool) -> None:
        """One half of a key press."""
        await self.call(
            "Input.dispatchKeyEvent", type="keyDown" if down else "keyUp", key=key, text=""
        )

    async def press(
        self, key: str, *, modifiers: int = 0, code: int = 0, commands: Any = ()
    ) -> None:
        """One key; ``commands`` are what an editor does on it."""
        for kind in ("keyDown", "keyUp"):
            await self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                modifiers=modifiers,
                windowsVirtualKeyCode=code,
                text="\r" if (kind, key) == ("keyDown", "Enter") else "",  # presses a button
                commands=list(commands) if kind == "keyDown" else [],
            )

    def _look(self, message: dict[str, Any]) -> None:
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.troubles.append(json.dumps(parameters["exceptionDetails"])[:1000])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.troubles.append(parameters["entry"]["text"])


@asynccontextmanager
async def chromium(
    folder: Path, *, microphone: Path | None = None, again: bool = False
) -> AsyncIterator[Tab]:
    """A browser of its own with one empty page; ``microphone`` is what it hears, once or ``again``
    and again."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    assert program, "chromium is not installed: scripts/setup --dev"
    options = "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run"
    browser = await asyncio.create_subprocess_exec(
        program,
        *options.split(),
        *(() if microphone is None else _hearing(microphone, again=again)),
        "--remote-debugging-port=0",
        f"--user-data-dir={folder}",
        "about:blank",
        stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(START_S):
            address = await _address(browser)
        async with aiohttp.ClientSession() as session:
            base = address.split("/devtools")[0].replace("ws:", "http:")
            async with session.get(f"{base}/json/list") as response:
                pages = await response.json()
            url = next(each["webSocketDebuggerUrl"] for each in pages if each["type"] == "page")
            async with session.ws_connect(url, max_msg_size=0) as socket:
                tab = Tab(socket)
                for domain in ("Page", "Runtime", "Log"):
                    await tab.call(f"{domain}.enable")
                yield tab
    finally:
        if browser.returncode is None:
            browser.kill()
        await browser.wait()


def _hearing(sound: Path, *, again: bool) -> tuple[str, ...]:
    return (
        "--use-fake-device-for-media-stream",
        "--use-fake-ui-for-media-stream",  # whoever is asked for the microphone says yes
        f"--use-file-for-fake-audio-capture={sound}{'' if again else '%noloop'}",
    )


async def _address(browser: asyncio.subprocess.Process) -> str:
    assert browser.stderr is not None
    while line := await browser.stderr.readline():
        if b"DevTools listening on " in line:
            return line.decode().split("listening on ")[1].strip()
    raise AssertionError("chromium ended before it listened")
