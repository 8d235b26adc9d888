"""``voiceagent serve``: replies over HTTP, and calls over media streams."""

import argparse
import ipaddress
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

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
    parser.add_argument("--host", default="127.0.0.1", help="loopback address to listen on")
    parser.add_argument("--port", type=_port, default=8765, help="0 takes a free one (8765)")
    parser.add_argument("--telephony", action="store_true", help="also answer calls")
    parser.add_argument("--preset", choices=("cpu", "gpu", "tiny"), help="which models")
    parser.add_argument("--config", type=Path, metavar="TOML", help="settings")


def run(arguments: argparse.Namespace) -> int:
    """Serves until it is interrupted."""
    _check_loopback(arguments.host)
    from voiceagent.config import load_config

    config = load_config(arguments.config, flags={"preset": arguments.preset})
    with _application(config, telephony=arguments.telephony) as application:
        from aiohttp import web

        web.run_app(application, host=arguments.host, port=arguments.port, print=_print_plainly)
    return 0


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


def _check_loopback(host: str) -> None:
    try:
        loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise VoiceAgentError(
            f"{host} is not a loopback address and serve has no authentication yet: "
            "use 127.0.0.1 and put a reverse proxy that authenticates in front of it"
        )


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{port} is not a port (0 to 65535)")
    return port


def _print_plainly(banner: str) -> None:
    """The line with the address, without aiohttp's frame around it."""
    print(banner.replace("=", "").strip(), flush=True)
