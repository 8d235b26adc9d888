"""``voiceagent talk``: one spoken conversation, with a recording or the microphone."""

import argparse
import asyncio
import contextlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from voiceagent.commands import _talk_output as output
from voiceagent.commands._arguments import file_path, number, positive_count, quantity, window
from voiceagent.commands._quiet import be_quiet
from voiceagent.commands._stopping import Stopping
from voiceagent.config import Config, DrafterName, cache_directory, load_config

if TYPE_CHECKING:
    from voiceagent.audio.hold import Held
    from voiceagent.session.happenings import Listener
    from voiceagent.session.models import Models
    from voiceagent.session.trace_file import TraceFile
    from voiceagent.sound.files import Sound

REFRESH_S = 0.1
LISTENING = "listening: speak whenever you like, Ctrl-C ends the conversation"
EPILOG = """\
examples:
  voiceagent talk --in audio_fixtures/blue-sky.wav --out reply.wav --trace trace.jsonl
  voiceagent talk --in audio_fixtures/blue-sky.wav --out reply.wav --fast --json
  voiceagent talk --mic
  voiceagent talk --config persona.toml --in questions.flac --no-wait --record both.wav

A recording with several questions is several turns of one conversation. It stands still while the
agent has the floor, so that every reply is heard to its end; with --no-wait it runs on, and speech
during a reply interrupts it. --fast takes as long as the models take; the timing of its sound is
that of an agent that needs no time to think, so it has no response gap.

A trace and a report hold what was said. They are written only when asked for, readable by you
alone, and appear under their names once they are whole; --redact keeps the structure of a trace
without the words. The wav files are ordinary files, which others may be able to read.
Ctrl-C (or kill) with a recording leaves no file; with the microphone it ends the conversation.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.epilog = EPILOG
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--in", dest="sound", type=file_path, metavar="SOUND", help="what the user says"
    )
    source.add_argument("--mic", action="store_true", help="talk over the sound card")
    files = parser.add_argument_group("files")
    files.add_argument(
        "--out", type=file_path, metavar="WAV", help="the agent's voice, as it was heard"
    )
    files.add_argument("--record", type=file_path, metavar="WAV", help="user left, agent right")
    files.add_argument("--trace", type=file_path, metavar="JSONL", help="everything that happened")
    files.add_argument("--redact", action="store_true", help="keep words out of the trace")
    files.add_argument(
        "--report", type=file_path, metavar="HTML", help="a page about the conversation"
    )
    manner = parser.add_argument_group("manner")
    manner.add_argument("--fast", action="store_true", help="do not keep to real time")
    manner.add_argument("--no-wait", action="store_true", help="do not hold the recording")
    manner.add_argument("--no-greeting", action="store_true", help="let the user speak first")
    manner.add_argument("--input-device", metavar="NAME", help="microphone, by part of its name")
    manner.add_argument("--output-device", metavar="NAME", help="speaker, by part of its name")
    manner.add_argument(
        "--echo-guard",
        choices=("cancel", "half-duplex", "off"),
        default="cancel",
        help="against the agent's own sound in the microphone (cancel)",
    )
    manner.add_argument(
        "--echo", type=number, metavar="DB", help="let it come back in a recording, so loud (-20)"
    )
    manner.add_argument(
        "--idle",
        type=quantity,
        metavar="S",
        default=120,
        help="with --mic: silence until the agent asks who is there, then ends (120; 0 never)",
    )
    _add_settings(parser)
    parser.add_argument("--json", action="store_true", help="end with one line that is JSON")


def _add_settings(parser: argparse.ArgumentParser) -> None:
    settings = parser.add_argument_group("settings (over those of --config)")
    settings.add_argument(
        "--config", type=file_path, metavar="TOML", help="persona, voice, tools, ..."
    )
    settings.add_argument("--preset", choices=("cpu", "gpu", "tiny"), help="which models")
    settings.add_argument("--draft", choices=get_args(DrafterName), help="who drafts")
    settings.add_argument("-k", type=window, metavar="N", help="drafted tokens per round")
    settings.add_argument("--system-prompt", metavar="TEXT", help="who the agent is")
    settings.add_argument("--greeting", metavar="TEXT", help="what the agent says first")
    settings.add_argument("--language", metavar="TAG", help="of user and agent (en)")
    settings.add_argument("--max-tokens", type=positive_count, metavar="N", help="longest reply")
    settings.add_argument("--temperature", type=quantity, metavar="T", help="0 is greedy")
    settings.add_argument("--seed", type=int, metavar="N", help="of the sampler")


def run(arguments: argparse.Namespace) -> int:
    """Holds the conversation and writes what was asked for."""
    with Stopping() as stopping:
        return _run(arguments, stopping)


def _run(arguments: argparse.Namespace, stopping: Stopping) -> int:
    config = _config(arguments)
    output.check_destinations(arguments)
    from voiceagent.session.cores import share_cores

    shares = share_cores(config.decoding.threads)
    be_quiet()  # what matters reaches the terminal that shows the conversation anyway
    sound = _read(arguments.sound)
    from voiceagent.session.models import choose_preset, load_models
    from voiceagent.weights.store import Store

    preset = choose_preset(config)
    with (
        output.progress() as on_step,
        load_models(
            config, preset=preset, store=Store(cache_directory()), shares=shares, on_step=on_step
        ) as models,
    ):
        on_step("ready", 0, 0)
        with output.telling_what_was_written() as written:
            with _trace(arguments, config, models, preset.name) as trace:
                if trace is not None:
                    stopping.leave_nothing = trace.discard
                held = asyncio.run(_hold(arguments, config, models, sound, trace, stopping))
                if held.stopped and not arguments.mic:
                    raise KeyboardInterrupt
                output.write_sound(arguments, held, written)
            if trace is not None:
                written.append(arguments.trace)
            return output.finish(arguments, held)


def _config(arguments: argparse.Namespace) -> Config:
    return load_config(
        arguments.config,
        flags={
            "preset": arguments.preset,
            "decoding.drafter": arguments.draft,
            "decoding.window": arguments.k,
            "decoding.max_tokens": arguments.max_tokens,
            "decoding.temperature": arguments.temperature,
            "decoding.seed": arguments.seed,
            "persona.system_prompt": arguments.system_prompt,
            "persona.greeting": arguments.greeting,
            "persona.language": arguments.language,
        },
    )


def _read(path: Path | None) -> "Sound | None":
    if path is None:
        return None
    from voiceagent.sound.files import read_sound

    return read_sound(path)


@contextlib.contextmanager
def _trace(
    arguments: argparse.Namespace, config: Config, models: "Models", preset: str
) -> Iterator["TraceFile | None"]:
    """The trace file: under its name if all went well, nowhere if not."""
    if arguments.trace is None:
        yield None
        return
    from voiceagent.session.trace_file import TraceFile

    header = output.header(config, models, preset)
    trace = TraceFile(arguments.trace, header=header, redacted=arguments.redact)
    try:
        yield trace
        trace.close()
    finally:
        trace.discard()


async def _hold(
    arguments: argparse.Namespace,
    config: Config,
    models: "Models",
    sound: "Sound | None",
    trace: "TraceFile | None",
    stopping: Stopping,
) -> "Held":
    """One conversation, shown as it happens; Ctrl-C breaks it off."""
    from voiceagent.audio.hold import Manner, hold
    from voiceagent.commands._terminal import open_terminal
    from voiceagent.session.patience import Patience

    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    stopping.on_stop = partial(loop.call_soon_threadsafe, stopped.set)
    manner = Manner(
        fast=arguments.fast,
        waits=not arguments.no_wait,
        greets=not arguments.no_greeting,
        echo_db=arguments.echo,
        guard=arguments.echo_guard,
        patience=Patience(idle_s=arguments.idle or None if arguments.mic else None),
    )
    with open_terminal() as terminal:
        screen = output.Screen(terminal)
        listeners: list[Listener] = [screen] if trace is None else [screen, trace]
        drawing = asyncio.create_task(_draw(screen), name="draw")
        try:
            if sound is None:
                from voiceagent.audio.hold import hold_live

                return await hold_live(
                    models,
                    config,
                    manner=manner,
                    listeners=listeners,
                    stopped=stopped,
                    devices=(arguments.input_device, arguments.output_device),
                    on_ready=partial(terminal.note, LISTENING),
                )
            return await hold(
                sound, models, config, manner=manner, listeners=listeners, stopped=stopped
            )
        finally:
            drawing.cancel()
            stopping.on_stop = None


async def _draw(screen: "output.Screen") -> None:
    while True:
        await asyncio.sleep(REFRESH_S)
        screen.refresh()
