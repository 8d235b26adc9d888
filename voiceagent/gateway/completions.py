"""``/v1/chat/completions``: OpenAI's interface over accept-then-flush, which never takes back."""

import json
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any

from aiohttp import web

from voiceagent.core.frames import AppendFrame, EndFrame, ErrorFrame, Frame, StartFrame, ToolFrame
from voiceagent.decoding.record import Likelihood, Round
from voiceagent.gateway.errors import error_body
from voiceagent.gateway.http_replies import REPLIES, idempotency_key, json_body
from voiceagent.gateway.live import LiveReply
from voiceagent.gateway.requests import ReplyRequest
from voiceagent.gateway.sse import EventStream, SlowReader, event
from voiceagent.session.tools import CALL_BEGIN, CALL_END

_UNFINISHED = "the engine could not finish this reply"


async def post_completion(request: web.Request) -> web.StreamResponse:
    """One completion, streamed or whole."""
    replies = request.app[REPLIES]
    body = await json_body(request)
    wanted = replies.parse(body, append_only=True)
    live = await replies.open(wanted, body=body, key=idempotency_key(request))
    gateway = replies.gateway
    completion = Completion(
        wanted, live, model=gateway.model, text_of=getattr(gateway.source, "token_bytes", None)
    )
    headers = wanted.view.as_headers() | replies.announcement(wanted)
    with replies.reading(live, wanted.view) as watch:
        async with aclosing(live.read(wanted.view)) as lists:
            if not wanted.stream:
                frames = [frame async for each in lists for frame in each]
                watch.show(frames)
                return web.json_response(completion.whole(frames), headers=headers)
            events = await EventStream.open(
                request, headers=headers, patience_s=gateway.limits.write_s
            )
            try:
                async for frames in lists:
                    watch.show(frames)
                    chunks = [chunk for frame in frames for chunk in completion.chunks(frame)]
                    await events.send(*map(_event, chunks))
                await events.send(*map(_event, completion.last_chunks()), event("[DONE]"))
            except SlowReader:
                replies.metrics.rejected.labels("slow_reader").inc()
    return await events.close()


class Completion:
    """One reply in the shape of OpenAI's chat completions.

    Args:
        wanted: what was asked for.
        live: where the rounds with their likelihoods are.
        model: the name to answer with.
        text_of: the bytes of a token, for probabilities.
    """

    def __init__(
        self,
        wanted: ReplyRequest,
        live: LiveReply,
        *,
        model: str,
        text_of: Callable[[int], bytes] | None,
    ) -> None:
        self._wanted, self._live, self._text_of = wanted, live, text_of
        self._head = {
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "created": int(time.time()),
            "model": model,
            "system_fingerprint": None,
        }
        self._seen, self._told = "", 0
        self._calls = self._rounds_told = 0
        self._opened = False
        self._end: EndFrame | None = None
        self._usage: dict[str, Any] = {}

    # Streamed -------------------------------------------------------------------------------

    def chunks(self, frame: Frame) -> list[dict[str, Any]]:
        """What one frame is to the client: nothing, or some chunks."""
        match frame:
            case StartFrame() if not self._opened:
                self._opened = True
                return [self._chunk({"role": "assistant", "content": ""})]
            case AppendFrame():
                return self._text_chunks(frame.text)
            case ToolFrame() if frame.name not in self._wanted.tools.runs:
                call = _call(frame) | {"index": self._calls}
                self._calls += 1
                return [self._chunk({"tool_calls": [call]})]
            case EndFrame():
                self._see_end(frame)
                return []
            case _:
                return []

    def _text_chunks(self, text: str) -> list[dict[str, Any]]:
        if not self._wanted.tools.usable:
            return [self._chunk({"content": text})]
        self._seen += text
        more = self._new_words(_words(self._seen))
        return [self._chunk({"content": more})] if more else []

    def _new_words(self, words: str) -> str:
        more, self._told = words[self._told :], max(self._told, len(words))
        return more

    def _see_end(self, end: EndFrame) -> None:
        """One reply is over; another follows where the server ran a call of the last one."""
        self._end = end
        for name, count in end.usage.items():
            if isinstance(count, int):
                self._usage[name] = self._usage.get(name, 0) + count
            else:
                self._usage.setdefault(name, count)

    def last_chunks(self) -> list[dict[str, Any]]:
        """What comes behind the last frame."""
        end = self._end
        if end is None or not end.reason.is_complete:
            return [error_body(500, _UNFINISHED)]
        chunks = []
        if not self._calls and (rest := self._new_words(_words(self._seen, is_whole=True))):
            chunks.append(self._chunk({"content": rest}))
        chunks.append(self._chunk({}, finish=self._finish(end)))
        if self._wanted.include_usage:
            usage = {"choices": [], "usage": self._usage}
            chunks.append({**self._head, "object": "chat.completion.chunk", **usage})
        return chunks

    def _chunk(self, delta: dict[str, Any], *, finish: str | None = None) -> dict[str, Any]:
        choice = {
            "index": 0,
            "delta": delta,
            "logprobs": self._new_logprobs() if delta.get("content") or finish else None,
            "finish_reason": finish,
        }
        return {**self._head, "object": "chat.completion.chunk", "choices": [choice]}

    # Whole ----------------------------------------------------------------------------------

    def whole(self, frames: Sequence[Frame]) -> dict[str, Any]:
        """All frames as one answer."""
        calls: list[dict[str, Any]] = []
        for frame in frames:
            match frame:
                case AppendFrame():
                    self._seen += frame.text
                case ToolFrame() if frame.name not in self._wanted.tools.runs:
                    calls.append(_call(frame))
                case EndFrame():
                    self._see_end(frame)
                case ErrorFrame():
                    pass  # its end says the same
        end = self._end
        if end is None or not end.reason.is_complete:
            raise web.HTTPInternalServerError(reason=_UNFINISHED)
        self._calls = len(calls)
        return self._answer(calls, end)

    def _answer(self, calls: list[dict[str, Any]], end: EndFrame) -> dict[str, Any]:
        text = self._seen
        if self._wanted.tools.usable:
            text = _words(text, is_whole=not calls)
        message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
        if calls:
            message |= {"content": text or None, "tool_calls": calls}
        choice = {
            "index": 0,
            "message": message,
            "logprobs": self._new_logprobs(),
            "finish_reason": self._finish(end),
        }
        whole = {"object": "chat.completion", "choices": [choice], "usage": self._usage}
        return {**self._head, **whole}

    def _finish(self, end: EndFrame) -> str:
        # stop and length are OpenAI's words too
        return "tool_calls" if self._calls else end.reason.value

    # Probabilities --------------------------------------------------------------------------

    def _new_logprobs(self) -> dict[str, Any] | None:
        if self._wanted.top_logprobs is None or self._text_of is None:
            return None
        rounds = self._live.rounds[self._rounds_told :]
        self._rounds_told += len(rounds)
        return {"content": _logprobs(rounds, self._text_of), "refusal": None}


def _event(chunk: dict[str, Any]) -> str:
    return event(json.dumps(chunk, ensure_ascii=False))


def _words(text: str, *, is_whole: bool = False) -> str:
    """Text outside calls. Until all is there, what may become a call is held back."""
    kept: list[str] = []
    while (begin := text.find(CALL_BEGIN)) >= 0:
        end = text.find(CALL_END, begin)
        if end < 0:
            return "".join([*kept, text]) if is_whole else "".join([*kept, text[:begin]]).rstrip()
        kept.append(text[:begin])
        text = text[end + len(CALL_END) :]
    words = "".join([*kept, text])
    if is_whole:
        return words.strip() if kept else words
    return _without_beginning(words.rstrip())


def _without_beginning(text: str) -> str:
    """The text without an end that may be the beginning of a call."""
    for length in range(min(len(CALL_BEGIN) - 1, len(text)), 0, -1):
        if text.endswith(CALL_BEGIN[:length]):
            return text[:-length].rstrip()
    return text


def _call(frame: ToolFrame) -> dict[str, Any]:
    arguments = json.dumps(dict(frame.arguments), ensure_ascii=False)
    function = {"name": frame.name, "arguments": arguments}
    return {"id": frame.call_id, "type": "function", "function": function}


def _logprobs(rounds: Sequence[Round], text_of: Callable[[int], bytes]) -> list[dict[str, Any]]:
    return [
        _likelihood(each.token, each.logprob, text_of)
        | {"top_logprobs": [_likelihood(token, log, text_of) for token, log in each.top]}
        for each in _tokens_of_text(rounds, text_of)
    ]


def _tokens_of_text(rounds: Sequence[Round], text_of: Callable[[int], bytes]) -> list[Likelihood]:
    """The end of the reply is a token without text: it is not part of the content."""
    return [each for one in rounds for each in one.likelihoods if text_of(each.token)]


def _likelihood(token: int, logprob: float, text_of: Callable[[int], bytes]) -> dict[str, Any]:
    raw = text_of(token)
    return {"token": raw.decode(errors="replace"), "logprob": logprob, "bytes": list(raw)}
