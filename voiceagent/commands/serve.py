"""``voiceagent serve``: replies over HTTP, and calls over media streams."""

import argparse
import errno
import ipaddress
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from voiceagent.commands._arguments import port
from voiceagent.commands._quiet import be_quiet
from voiceagent.core.errors import VoiceAgentError

if TYPE_CHECKING:
    from aiohttp import web

    from voiceagent.config import Config

EPILOG = """\
examples:
  voiceagent serve
  voiceagent serve --preset tiny --port 8080
  curl -N http://127.0.0.1:8765/v1/replies -d '{"messages": [{"role": "user", "content": "Hi"}],
      "stream_protocol": "token_push", "retraction": true}'

POST /v1/replies streams the frames of docs/stream-protocol.md as server-sent events;
POST /v1/chat/completions speaks OpenAI's interface and never takes text back.
--telephony adds ws://.../telephony/media-stream, which speaks Twilio's media-stream messages.
It listens on this machine only: there is no authentication yet.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.epilog = EPILOG
    parser.add_argument("--host", type=_host, default="127.0.0.1", help="loopback address")
    parser.add_argument("--port", type=port, default=8765, help="0 takes a free one (8765)")
    parser.add_argument("--telephony", action="store_true", help="also answer calls")
    parser.add_argument("--preset", choices=("cpu", "gpu", "tiny"), help="which models")
    parser.add_argument("--config", type=Path, metavar="TOML", help="settings")


def run(arguments: argparse.Namespace) -> int:
    """Serves until it is interrupted."""
    from voiceagent.config import load_config

    config = load_config(arguments.config, flags={"preset": arguments.preset})
    be_quiet(warnings=True)
    with (
        _bound(arguments.host, arguments.port) as listener,
        _application(config, telephony=arguments.telephony) as application,
    ):
        from aiohttp import web

        web.run_app(application, sock=listener, print=_print_plainly)
    return 0


def _bound(host: str, port: int) -> socket.socket:
    """A socket that has its port, and listens once the models are there to answer.

    Raises:
        VoiceAgentError: the port is taken, or not for this user.
    """
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    # As every server does: a port is free again as soon as the last one has ended.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise VoiceAgentError(f"port {port} is in use: choose another with --port") from error
        reason = error.strerror or error
        raise VoiceAgentError(f"cannot listen on port {port} of {host}: {reason}") from error
    return listener


@contextmanager
def _application(config: "Config", *, telephony: bool) -> "Iterator[web.Application]":
    """The routes over loaded models; the speech models are only loaded to answer calls."""
    from voiceagent.config import cache_directory
    from voiceagent.gateway.app import Gateway, make_app
    from voiceagent.session.models import choose_preset
    from voiceagent.weights.store import Store

    preset, store = choose_preset(config), Store(cache_directory())
    with ExitStack() as stack:
        if telephony:
            from voiceagent.session.cores import share_cores
            from voiceagent.session.models import EngineSource, load_models
            from voiceagent.telephony.routes import media_stream_route

            shares = share_cores(config.decoding.threads)
            models = stack.enter_context(
                load_models(config, preset=preset, store=store, shares=shares)
            )
            assert isinstance(models.source, EngineSource), "serve has no other source yet"
            engine, routes = models.source.engine, [media_stream_route(models, config)]
        else:
            from voiceagent.decoding.engine import Engine

            engine = stack.enter_context(Engine.load(config.decoding, preset=preset, store=store))
            engine.warm_up()
            routes = []
        model = preset.files["target"][0].name
        application = make_app(
            Gateway(source=engine, model=model, max_tokens=config.decoding.max_tokens)
        )
        application.add_routes(routes)
        yield application


def _host(host: str) -> str:
    try:
        loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise argparse.ArgumentTypeError(
            f"{host!r} is not a loopback address and serve has no authentication yet: "
            "use 127.0.0.1 and put a reverse proxy that authenticates in front of it"
        )
    return host


def _print_plainly(banner: str) -> None:
    """The line with the address, without aiohttp's frame around it."""
    print(banner.replace("=", "").strip(), flush=True)
