"""A remote engine: any OpenAI-compatible server as a second source of the same events.

What such a server sends counts already, so every piece of text is drafted and verified in one step;
there is no rollback. Each reply has a thread of its own, which waits for the network.
"""

import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from http.client import HTTPException
from typing import Any

import requests

from voiceagent.core.events import Draft, EndReason, Finish, Verify
from voiceagent.decoding.errors import EngineBusy, EngineClosed, EngineError
from voiceagent.decoding.far_request import BrokenOff, FarRequest
from voiceagent.decoding.generation import Generation, OnEvent, Request

CONNECT_S, SILENCE_S = 5.0, 120.0
"""How long it may take to answer at all, and to say the next thing."""
MAX_AT_ONCE = 64
"""Replies under way: a thread each, which mostly waits."""
_REASONS = {"stop": EndReason.STOP, "length": EndReason.LENGTH}


class RemoteGeneration(Generation):
    """The handle on a reply that another machine writes."""

    completion_tokens = 0
    """As the server counts them; 0 where it does not."""

    def __init__(self, request: Request, *, far: FarRequest) -> None:
        super().__init__(request, prompt_tokens=0)
        self.far = far

    def cancel(self) -> None:
        """Hangs up at once, also while the far server is silent; it stops when it notices."""
        super().cancel()
        self.far.break_off()


class RemoteEngine:
    """Decodes on another machine.

    Args:
        base_url: such as ``http://127.0.0.1:8000/v1``.
        model: the server's name for it; None takes the first that it lists.
        key: sent as a bearer token.

    Raises:
        EngineError: the server does not answer, or lists no model.
    """

    takes_grammar = False

    def __init__(self, base_url: str, *, model: str | None = None, key: str | None = None) -> None:
        self._base_url = base_url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._places = threading.Semaphore(MAX_AT_ONCE)
        self._closed = False
        self.model = model or self._first_model()

    def submit(self, request: Request, *, on_event: OnEvent) -> RemoteGeneration:
        """Starts a reply; ``on_event`` is called on a thread of its own, last with a `Finish`.

        Raises:
            EngineBusy: too many replies are under way.
            EngineClosed: the engine was closed.
            EngineError: the request needs what a remote engine cannot do.
        """
        if self._closed:
            raise EngineClosed("the engine was closed")
        if request.top_logprobs is not None or request.grammar is not None:
            raise EngineError("a remote engine is asked for text alone: no logprobs, no grammar")
        if not self._places.acquire(blocking=False):
            raise EngineBusy(f"{MAX_AT_ONCE} replies are under way already")
        far = FarRequest(
            f"{self._base_url}/chat/completions",
            headers=self._headers,
            connect_s=CONNECT_S,
            silence_s=SILENCE_S,
        )
        generation = RemoteGeneration(request, far=far)
        threading.Thread(
            target=self._run, args=(generation, on_event), name="remote", daemon=True
        ).start()
        return generation

    def close(self) -> None:
        """Takes no more requests."""
        self._closed = True

    def _run(self, generation: RemoteGeneration, on_event: OnEvent) -> None:
        reason, error = EndReason.ERROR, None
        try:
            reason = self._write(generation, on_event)
        except BrokenOff:
            reason = EndReason.CANCELLED
        except (OSError, HTTPException, ValueError, LookupError, TypeError) as failure:
            error = f"the remote engine failed: {type(failure).__name__}"
        self._places.release()
        generation.error = error
        try:
            on_event(Finish(reason=reason))
        finally:
            generation.finish(reason, error=error)

    def _write(self, generation: RemoteGeneration, on_event: OnEvent) -> EndReason:
        length, reason = 0, EndReason.ERROR
        for chunk in _chunks(generation.far.lines(_body(generation.request, model=self.model))):
            _count(generation, chunk.get("usage"))
            for choice in chunk.get("choices", [])[:1]:
                text = choice["delta"].get("content") or ""
                if text:
                    length += len(text)
                    on_event(Draft(text=text))
                    on_event(Verify(to=length))
                reason = _REASONS.get(choice.get("finish_reason") or "", reason)
        return reason

    def _first_model(self) -> str:
        try:
            answer = requests.get(
                f"{self._base_url}/models", headers=self._headers, timeout=CONNECT_S
            )
            answer.raise_for_status()
            return str(answer.json()["data"][0]["id"])
        except (requests.RequestException, ValueError, LookupError, TypeError) as error:
            raise EngineError(
                f"no engine answers at {self._base_url} ({type(error).__name__}): start one, or "
                "name another with --base-url"
            ) from error


def _body(request: Request, *, model: str) -> dict[str, Any]:
    sampling = request.sampling
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": str(m.role), "content": m.content} for m in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": request.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "seed": sampling.seed,
        "presence_penalty": sampling.presence_penalty,
        "frequency_penalty": sampling.frequency_penalty,
    }
    return body | ({"stop": list(request.stop)} if request.stop else {})


def _chunks(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for line in lines:
        data = line.removeprefix(b"data:").strip()
        if not line.startswith(b"data:") or data == b"[DONE]":
            continue
        chunk = json.loads(data)
        if not isinstance(chunk, dict) or "error" in chunk:
            raise ValueError("an error in the stream")
        yield chunk


def _count(generation: RemoteGeneration, usage: Mapping[str, Any] | None) -> None:
    if usage:
        generation.prompt_tokens = int(usage.get("prompt_tokens", 0))
        generation.completion_tokens = int(usage.get("completion_tokens", 0))
