"""``voiceagent decode``: the decoding engine alone, every token's fate to be seen, and figures."""

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from voiceagent.commands._arguments import (
    count,
    file_path,
    positive_count,
    probability,
    probability_mass,
    quantity,
    window,
)
from voiceagent.commands._destinations import check_destinations, private_file
from voiceagent.config import Config, DrafterName, cache_directory, load_config

if TYPE_CHECKING:
    from voiceagent.decoding.completion import Completion
    from voiceagent.decoding.engine import Engine, Request
    from voiceagent.decoding.record import Round
    from voiceagent.weights.manifest import Preset
    from voiceagent.weights.store import Store

EPILOG = """\
examples:
  voiceagent decode "What is the capital of France?"
  voiceagent decode "Count to twenty." --draft ngram -k 4 --json
  voiceagent decode "Tell me a story." --temperature 0.8 --seed 7 --acceptance rejection
  echo "Name three rivers." | voiceagent decode - --preset tiny --trace rounds.jsonl

In a terminal every token shows its fate: accepted as drafted, [rejected], >recovered (the target's
replacement), +bonus (the target's extra token); plain tokens were never drafted.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the prompt, the sampler's parameters and the loop's."""
    parser.epilog = EPILOG
    add = parser.add_argument
    add("prompt", metavar="PROMPT", help="what the user says; - reads standard input")
    add("--system", metavar="TEXT", help="the system prompt (default: the configured persona)")
    add("--preset", choices=("cpu", "gpu", "tiny"), help="which models (default: the machine's)")
    add("--config", type=file_path, metavar="FILE", help="a TOML file; flags win over it")
    add("--draft", choices=get_args(DrafterName), help="who guesses (default: the preset's)")
    add(
        "-k", type=window, metavar="N", help="drafted tokens per round (default: chosen each round)"
    )
    add("--acceptance", choices=("coupled", "rejection"), help="the rule (default: coupled)")
    add("--temperature", type=quantity, metavar="T", help="0 is greedy, the default")
    add("--top-k", type=count, metavar="N", help="sample among the N most probable tokens")
    add(
        "--top-p",
        type=probability_mass,
        metavar="P",
        help="sample among the likeliest tokens of mass P",
    )
    add(
        "--min-p",
        type=probability,
        default=0.0,
        metavar="P",
        help="drop tokens below P times the top",
    )
    add("--seed", type=int, metavar="N", help="the same seed gives the same reply")
    add("--max-tokens", type=positive_count, metavar="N", help="end after N tokens (default: 200)")
    add("--stop", action="append", default=[], metavar="TEXT", help="end before TEXT; repeatable")
    add("--trace", type=file_path, metavar="FILE", help="write every round as a line of JSON")
    add("--json", action="store_true", help="end with one line that is a JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Decodes one reply and shows how it came about."""
    config = load_config(arguments.config, flags=_flags(arguments))
    check_destinations([arguments.trace], read=[arguments.config])
    prompt = sys.stdin.read() if arguments.prompt == "-" else arguments.prompt
    from voiceagent.decoding.completion import complete
    from voiceagent.decoding.engine import Engine
    from voiceagent.decoding.loading import machine_preset
    from voiceagent.weights.manifest import Manifest
    from voiceagent.weights.store import Store

    store = Store(cache_directory())
    preset = Manifest.load().preset(config.preset or machine_preset())
    with Engine.load(config.decoding, preset=preset, store=store) as engine:
        engine.warm_up()
        request = _request(engine, config, prompt, arguments)
        with _shown() as show:
            completion = complete(engine, request, on_event=show)
    if arguments.trace is not None:
        _write_trace(arguments.trace, completion.rounds, config=config, preset=preset, store=store)
    if arguments.json:
        print(json.dumps({"text": completion.text, **completion.figures()}, ensure_ascii=False))
    else:
        _print_figures(completion)
    return 0


def _flags(arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "preset": arguments.preset,
        "persona.system_prompt": arguments.system,
        "decoding.drafter": arguments.draft,
        "decoding.window": arguments.k,
        "decoding.acceptance": arguments.acceptance,
        "decoding.temperature": arguments.temperature,
        "decoding.top_k": arguments.top_k,
        "decoding.top_p": arguments.top_p,
        "decoding.seed": arguments.seed,
        "decoding.max_tokens": arguments.max_tokens,
    }


def _request(
    engine: "Engine", config: Config, prompt: str, arguments: argparse.Namespace
) -> "Request":
    from dataclasses import replace

    from voiceagent.core.history import Message, Role

    messages = [Message(Role.USER, prompt)]
    if config.persona.system_prompt:
        messages.insert(0, Message(Role.SYSTEM, config.persona.system_prompt))
    request = engine.request(messages, stop=tuple(arguments.stop))
    return replace(request, sampling=replace(request.sampling, min_p=arguments.min_p))


@contextmanager
def _shown() -> Iterator[Any]:
    """Shows events as they come in a terminal; elsewhere only the text, once it is verified."""
    from voiceagent.commands._rounds import LiveRounds, PlainText

    view = LiveRounds() if sys.stdout.isatty() else PlainText()
    with view:
        yield view


def _print_figures(completion: "Completion") -> None:
    figures = completion.figures()
    shares = ", ".join(f"{share:.2f}" for share in figures["acceptance_by_position"])
    stages = ", ".join(f"{stage} {ms:.0f}" for stage, ms in figures["stage_ms"].items())
    print()
    print(
        f"{figures['tokens_per_s']:.1f} tokens/s over {figures['tokens']} tokens in "
        f"{figures['rounds']} rounds; first token after {figures['first_token_ms']:.0f} ms"
    )
    print(
        f"drafted {figures['drafted']}, accepted {figures['accepted']}, rejected "
        f"{figures['rejected']}; recovered {figures['recovered']}, bonus {figures['bonus']}"
    )
    if figures["drafted"]:
        print(
            f"{figures['tokens_per_round']:.2f} tokens per speculative round; acceptance at "
            f"position 1, 2, ...: {shares}"
        )
    print(f"ms per stage: {stages}")


def _write_trace(
    path: Path, rounds: "tuple[Round, ...]", *, config: Config, preset: "Preset", store: "Store"
) -> None:
    """The rounds behind a header, readable by the owner alone, whole or not at all."""
    from voiceagent.core.trace import Header, RoundRecord, encode

    used = [preset.files[role][0] for role in ("target", "draft") if role in preset.files]
    header = Header(
        preset=preset.name,
        models={file.role: store.digest(file) for file in used},
        config=asdict(config),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    at_s = 0.0
    lines = [encode(header)]
    for each in rounds:
        at_s += each.times.total_s
        record = RoundRecord(reply="decode", epoch=1, at_s=at_s, fields=each.as_record())
        lines.append(encode(record))
    with private_file(path) as partial:
        partial.write_text("\n".join(lines) + "\n", encoding="utf-8")
