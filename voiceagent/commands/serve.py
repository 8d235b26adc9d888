"""``voiceagent serve``: replies over HTTP and WebSocket, spoken with the page or by telephone."""

import argparse
import errno
import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from voiceagent.commands._arguments import file_path, port
from voiceagent.commands._quiet import be_quiet
from voiceagent.core.errors import VoiceAgentError

if TYPE_CHECKING:
    from aiohttp import web

    from voiceagent.config import Config
    from voiceagent.gateway.access import Access
    from voiceagent.gateway.author import ReplySource
    from voiceagent.gateway.service import Gateway
    from voiceagent.gateway.talk.route import Talks
    from voiceagent.session.models import Models
    from voiceagent.telephony.service import Telephony

EPILOG = """\
examples:
  voiceagent serve
  voiceagent serve --preset tiny --port 8080
  curl -N http://127.0.0.1:8765/v1/replies -d '{"messages": [{"role": "user", "content": "Hi"}],
      "stream_protocol": "token_push", "retraction": true}'
  voiceagent serve --host 0.0.0.0 --token-file token --certificate cert.pem --key key.pem

The page at / holds a conversation, typed or spoken; POST /v1/replies (also a WebSocket) streams the
frames of docs/stream-protocol.md; ws://.../v1/talk is a spoken conversation with any RTVI client;
POST /v1/chat/completions speaks OpenAI's interface and never takes text back. docs/gateway.md
describes all of it. Any address but this machine's own needs a token, from --token-file or
VOICEAGENT_TOKEN; elsewhere a browser gives a microphone to https alone.
--telephony answers calls: Twilio's media streams at /telephony/media-stream, signed if
TWILIO_AUTH_TOKEN is set, and Asterisk's AudioSocket (docs/telephony.md).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.epilog = EPILOG
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=port, default=8765, help="0 takes a free one (8765)")
    parser.add_argument("--token-file", type=file_path, metavar="FILE", help="the bearer token")
    parser.add_argument("--certificate", type=file_path, metavar="PEM", help="serve over TLS")
    parser.add_argument("--key", type=file_path, metavar="PEM", help="of the certificate")
    parser.add_argument(
        "--origin", action="append", default=[], help="another origin whose pages may ask"
    )
    parser.add_argument(
        "--undeclared-until",
        type=_date,
        metavar="DATE",
        help="last day for clients that do not say how they are streamed to (YYYY-MM-DD)",
    )
    parser.add_argument(
        "--engine", choices=("local", "openai"), default="local", help="who decodes (local)"
    )
    parser.add_argument("--base-url", metavar="URL", help="of an OpenAI-compatible server")
    parser.add_argument("--model", help="its model (the first that it lists)")
    parser.add_argument("--telephony", action="store_true", help="also answer calls")
    parser.add_argument(
        "--no-voice",
        dest="voice",
        action="store_false",
        help="no spoken conversations with the page; without calls, no models of speech are loaded",
    )
    parser.add_argument("--preset", choices=("cpu", "gpu", "tiny"), help="which models")
    parser.add_argument("--config", type=file_path, metavar="TOML", help="settings")


def run(arguments: argparse.Namespace) -> int:
    """Serves until it is told to stop, then finishes what is under way."""
    from voiceagent.config import bearer_token, load_config

    config = load_config(arguments.config, flags={"preset": arguments.preset})
    token = bearer_token(arguments.token_file)
    _check_address(arguments.host, token)
    tls = _tls(arguments.certificate, arguments.key)
    be_quiet(warnings=True)
    with _bound(arguments.host, arguments.port) as listener, ExitStack() as stack:
        from aiohttp import web

        from voiceagent.gateway.access import Access

        access = Access(token=token, origins=arguments.origin)
        application = stack.enter_context(_application(config, arguments, access=access))
        web.run_app(
            application,
            sock=listener,
            ssl_context=tls,
            print=_print_plainly,
            handler_cancellation=True,  # a client that goes away stops its reply at once
            access_log=None,  # a query may hold a ticket
            shutdown_timeout=5.0,
        )
    return 0


def _check_address(host: str, token: str | None) -> None:
    from voiceagent.gateway.access import is_loopback

    if token is None and not is_loopback(host):
        raise VoiceAgentError(
            f"{host} is not a loopback address: give a token with --token-file or "
            "VOICEAGENT_TOKEN, so that not everybody can use this engine"
        )


def _tls(certificate: Path | None, key: Path | None) -> ssl.SSLContext | None:
    if certificate is None:
        if key is not None:
            raise VoiceAgentError("--key needs --certificate")
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        pair = f"{certificate} and {key}" if key else f"{certificate}"
        raise VoiceAgentError(
            f"{pair}: no PEM certificate and its private key ({error}); give both, as "
            "openssl or your authority made them"
        ) from error
    return context


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
def _application(
    config: "Config", arguments: argparse.Namespace, *, access: "Access"
) -> "Iterator[web.Application]":
    """The routes over whatever decodes."""
    from voiceagent.gateway.app import make_app

    with _engine(config, arguments) as (source, model, models):
        gateway = _gateway(config, source, model, arguments.undeclared_until)
        talks = _talks(config, models) if arguments.voice else None
        if not arguments.telephony:
            yield make_app(gateway, access=access, talks=talks)
            return
        telephony = _telephony(config, models)
        app = make_app(
            gateway,
            access=access,
            talks=talks,
            routes=telephony.routes,
            own_doors=telephony.own_doors,
        )
        app.cleanup_ctx.append(telephony.listen)
        yield app


def _talks(config: "Config", models: "Models | None") -> "Talks | None":
    """Spoken conversations of the page, where there are models of speech."""
    if models is None:
        return None
    from voiceagent.gateway.talk.route import Talks

    return Talks(models, config)


def _telephony(config: "Config", models: "Models | None") -> "Telephony":
    """The telephone lines."""
    from voiceagent.config import line_key, twilio_account
    from voiceagent.telephony.call_tools import with_call_tools
    from voiceagent.telephony.service import Telephony

    assert models is not None, "--telephony loads them"
    return Telephony(models, with_call_tools(config), account=twilio_account(), key=line_key())


def _gateway(
    config: "Config", source: "ReplySource", model: str, undeclared_until: date | None
) -> "Gateway":
    from voiceagent.gateway.service import Gateway
    from voiceagent.session.tool_registry import Registry

    return Gateway(
        source=source,
        model=model,
        max_tokens=config.decoding.max_tokens,
        registry=Registry(config.tools),
        undeclared_until=undeclared_until,
    )


@contextmanager
def _engine(
    config: "Config", arguments: argparse.Namespace
) -> "Iterator[tuple[ReplySource, str, Models | None]]":
    """What decodes, its model's name, and the models of speech around it, if they are wanted."""
    if arguments.engine == "openai":
        yield (*_remote(arguments), None)
        return
    from voiceagent.config import cache_directory
    from voiceagent.session.cores import share_cores

    speaks = arguments.voice or arguments.telephony
    # Before torch is loaded, as the speech models want a part of the cores.
    shares = share_cores(config.decoding.threads) if speaks else None
    from voiceagent.decoding.engine import Engine
    from voiceagent.session.models import choose_preset, join_models
    from voiceagent.weights.store import Store

    preset, store = choose_preset(config), Store(cache_directory())
    with Engine.load(config.decoding, preset=preset, store=store) as engine:
        engine.warm_up()
        models = None
        if shares is not None:
            models = join_models(lambda: engine, config, preset=preset, store=store, shares=shares)
        yield engine, preset.files["target"][0].name, models


def _remote(arguments: argparse.Namespace) -> "tuple[ReplySource, str]":
    """An OpenAI-compatible server, asked once whether it is there."""
    from voiceagent.config import remote_key
    from voiceagent.decoding.remote import RemoteEngine

    if arguments.base_url is None:
        raise VoiceAgentError("--engine openai needs --base-url, such as http://127.0.0.1:8000/v1")
    if arguments.telephony:
        raise VoiceAgentError("--telephony works with the local engine only")
    engine = RemoteEngine(arguments.base_url, model=arguments.model, key=remote_key())
    return engine, engine.model


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date (YYYY-MM-DD)") from None


def _print_plainly(banner: str) -> None:
    """The line with the address, without aiohttp's frame around it."""
    print(banner.replace("=", "").strip(), flush=True)
