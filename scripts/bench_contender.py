"""One contender of scripts/bench_decode, in a process of its own so that no two thread pools meet.

Speaks JSON lines: says what it is once its model is loaded, then answers each request
``{"mode", "messages", "ids", "max_tokens"}`` with its tokens and the second each of them was there.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

Timed = Iterator[tuple[list[int], dict[str, Any]]]
"""Tokens as they come, with figures of the contender's own."""


class Ours:
    """This project's engine; a mode is a drafter, with ``@K`` where K is fixed."""

    def __init__(self, target: Path, draft: Path, threads: int) -> None:
        from voiceagent.decoding.engine import Engine

        self._engine = Engine.open("cpu", threads=threads, context_tokens=2048)

    def answer(self, request: dict[str, Any]) -> Timed:
        """Decodes one reply."""
        from queue import SimpleQueue

        from voiceagent.core.events import Finish
        from voiceagent.core.history import Message, Role
        from voiceagent.decoding.generation import EngineEvent
        from voiceagent.decoding.record import Round

        drafter, _, window = request["mode"].partition("@")
        events: SimpleQueue[EngineEvent] = SimpleQueue()
        generation = self._engine.submit(
            self._engine.request(
                [Message(Role(role), text) for role, text in request["messages"]],
                max_tokens=request["max_tokens"],
                drafter=None if drafter == "auto" else drafter,
                window=int(window) if window else None,
            ),
            on_event=events.put,
        )
        while not isinstance(event := events.get(), Finish):
            if isinstance(event, Round):
                yield (
                    list(event.emitted),
                    {
                        "drafted": len(event.drafted),
                        "accepted": event.accepted,
                        "window": event.window,
                        "draft_s": event.times.draft_s,
                        "score_s": event.times.score_s,
                        "round_s": event.times.total_s,
                    },
                )
        generation.wait()
        if generation.error:
            raise RuntimeError(generation.error)


class LlamaCpp:
    """llama.cpp through llama-cpp-python: ``plain`` or its prompt ``lookup``."""

    def __init__(self, target: Path, draft: Path, threads: int) -> None:
        import llama_cpp
        from llama_cpp.llama_speculative import LlamaPromptLookupDecoding

        options: dict[str, Any] = {"n_ctx": 2048, "n_threads": threads, "n_threads_batch": threads}
        lookup = LlamaPromptLookupDecoding(num_pred_tokens=2)  # as its documentation has for CPUs
        self._models = {
            "plain": llama_cpp.Llama(str(target), verbose=False, **options),
            "lookup": llama_cpp.Llama(
                str(target), verbose=False, draft_model=lookup, logits_all=True, **options
            ),
        }

    def answer(self, request: dict[str, Any]) -> Timed:
        """Decodes one reply."""
        model = self._models[request["mode"]]
        for token in model.generate(request["ids"], temp=0.0, repeat_penalty=1.0):
            yield [token], {}


class Transformers:
    """transformers in bfloat16: ``plain``, ``assisted`` by the draft model, prompt ``lookup``."""

    def __init__(self, target: Path, draft: Path, threads: int) -> None:
        import torch
        from transformers import AutoModelForCausalLM

        torch.set_num_threads(threads)
        self._target, self._draft = (
            AutoModelForCausalLM.from_pretrained(
                path.parent, gguf_file=path.name, dtype=torch.bfloat16
            ).eval()
            for path in (target, draft)
        )

    def answer(self, request: dict[str, Any]) -> Timed:
        """Decodes one reply; tokens are told as its streamer is told."""
        import torch
        from transformers.generation.streamers import BaseStreamer

        stamps: list[tuple[list[int], float]] = []

        class Streamer(BaseStreamer):  # type: ignore[misc]  # transformers is not typed
            def put(self, value: Any) -> None:
                stamps.append((value.flatten().tolist(), time.perf_counter()))

            def end(self) -> None:
                """Nothing to close."""

        options: dict[str, Any] = {
            "assisted": {"assistant_model": self._draft},
            "lookup": {"prompt_lookup_num_tokens": 3},
        }.get(request["mode"], {})
        ids = torch.tensor([request["ids"]])
        with torch.inference_mode():
            self._target.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=request["max_tokens"],
                do_sample=False,
                streamer=Streamer(),
                **options,
            )
        for tokens, at_s in stamps[1:]:  # the first is the prompt
            yield tokens, {"at_s": at_s}


CONTENDERS: dict[str, tuple[Callable[[Path, Path, int], Any], str]] = {
    "ours": (Ours, "voiceagent"),
    "llama.cpp": (LlamaCpp, "llama-cpp-python"),
    "transformers": (Transformers, "transformers"),
}


def timed(contender: Any, request: dict[str, Any]) -> dict[str, Any]:
    """The reply with the time of each token, in seconds after the request."""
    started_s = time.perf_counter()
    tokens: list[int] = []
    at_s: list[float] = []
    rounds: list[dict[str, Any]] = []
    for more, figures in contender.answer(request):
        now_s = figures.pop("at_s", None) or time.perf_counter()
        tokens += more
        at_s += [now_s - started_s] * len(more)
        if figures:
            rounds.append(figures)
        if len(tokens) >= request["max_tokens"] or set(more) & set(request["eos_ids"]):
            break
    return {"tokens": tokens, "at_s": at_s, "rounds": rounds, "peak_mb": peak_mb()}


def peak_mb() -> float:
    """The most memory this process has held."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return round(int(line.split()[1]) / 1024, 1)


def main() -> None:
    """Serves requests until standard input ends."""
    name, target, draft, threads = sys.argv[1:]
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    make, package = CONTENDERS[name]
    started_s = time.perf_counter()
    contender = make(Path(target), Path(draft), int(threads))
    loaded = {"load_s": round(time.perf_counter() - started_s, 2), "version": version(package)}
    print(json.dumps(loaded), file=out, flush=True)
    for line in sys.stdin:
        print(json.dumps(timed(contender, json.loads(line))), file=out, flush=True)


if __name__ == "__main__":
    main()
