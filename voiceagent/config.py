"""One frozen configuration tree, and the only reader of its file, flags and environment.

Precedence, lowest first: the defaults below, the TOML file, flags. Unknown keys stop the start,
by name. ``VOICEAGENT_CACHE`` moves the cache of models, ``HF_ENDPOINT`` names
a mirror of the hub, ``VOICEAGENT_TOKEN`` is the gateway's secret, ``OPENAI_API_KEY`` that
for a remote engine, ``TWILIO_ACCOUNT_SID``, ``TWILIO_AUTH_TOKEN``,
``VOICEAGENT_SIP_PASSWORD`` and ``VOICEAGENT_LINE_KEY`` those of the telephone.
"""

import dataclasses
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from voiceagent.core.errors import VoiceAgentError

DrafterName = Literal["model", "ngram", "best", "none"]
"""``best``: n-grams where they match three tokens and more, else the draft model."""
TrialName = Literal["model", "ngram", "best", "none", "file"]
"""``file``: a draft model that is not in the preset (``trial_file``)."""
AcceptanceName = Literal["coupled", "rejection"]
VoiceEngineName = Literal["piper", "espeak"]
PresetName = Literal["cpu", "gpu", "tiny"]
TOKEN_VARIABLE = "VOICEAGENT_TOKEN"
"""The environment variable that holds the gateway's bearer token."""
_TELEPHONY_SECRETS = ("TWILIO_ACCOUNT_SID", "TWILIO_AUTH_TOKEN")
_SIP_PASSWORD = "VOICEAGENT_SIP_PASSWORD"
_LINE_KEY = "VOICEAGENT_LINE_KEY"
_SECRETS = (
    *(TOKEN_VARIABLE, "OPENAI_API_KEY"),
    *(*_TELEPHONY_SECRETS, _SIP_PASSWORD, _LINE_KEY),
)
MIN_TOKEN_CHARS = 16
MAX_WINDOW = 16
"""Drafted tokens of a round: beyond it no drafter is ever right."""
"""Shorter ones can be guessed."""


class ConfigError(VoiceAgentError):
    """A configuration value that cannot be used; the message names the key."""


def _require(condition: bool, key: str, expected: str) -> None:
    if not condition:
        raise ConfigError(f"configuration key {key}: it has to be {expected}")


@dataclass(frozen=True, kw_only=True)
class Persona:
    """Who speaks."""

    system_prompt: str = (
        "You are a helpful voice assistant. Your words are read aloud: answer in one to three "
        "short plain sentences, without lists, markup or code."
    )
    greeting: str = "Hello! How can I help you?"
    """Spoken first as a scripted reply; empty for none."""
    language: str = "en"


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """How replies are decoded."""

    drafter: DrafterName | None = None
    """None takes the preset's own: the draft model, or n-grams where there is none."""
    window: int | None = None
    """Drafted tokens per round (K); None lets the controller choose."""
    trial: TrialName | None = None
    """Another drafter on trial: in shadow, or for a share of the replies."""
    trial_file: str | None = None
    """Weights (GGUF) of a new draft model; taken only with the digest below."""
    trial_file_sha256: str | None = None
    trial_share: float = 0.0
    """Of the replies, from 0 (shadow: asked beside the one in use, and never used) to 1."""
    acceptance: AcceptanceName = "coupled"
    temperature: float = 0.0
    top_k: int = 0
    """0 keeps all tokens."""
    top_p: float = 1.0
    seed: int = 0
    max_tokens: int = 200
    context_tokens: int = 4096
    """Of one conversation."""
    cache_tokens: int = 32768
    """Of all conversations together: with the cpu preset 40 kB each, taken as they are used."""
    threads: int = 2

    def __post_init__(self) -> None:
        """Refuses what no decoder could use."""
        right = self.window is None or 0 <= self.window <= MAX_WINDOW
        _require(right, "decoding.window", f"0 to {MAX_WINDOW}")
        _require(0 <= self.trial_share <= 1, "decoding.trial_share", "from 0 to 1")
        named = (self.trial_file is None, self.trial_file_sha256 is None)
        _require(len(set(named)) == 1, "decoding.trial_file", "given with trial_file_sha256")
        known = self.trial != "file" or self.trial_file is not None
        _require(known, "decoding.trial_file", 'given for trial = "file"')
        _require(0 <= self.temperature < inf, "decoding.temperature", "0 or more, and finite")
        _require(self.top_k >= 0, "decoding.top_k", "0 or more")
        _require(0 < self.top_p <= 1, "decoding.top_p", "above 0 and at most 1")
        _require(self.max_tokens >= 1, "decoding.max_tokens", "1 or more")
        _require(self.context_tokens >= 1, "decoding.context_tokens", "1 or more")
        _require(self.cache_tokens >= 1, "decoding.cache_tokens", "1 or more")
        _require(self.threads >= 1, "decoding.threads", "1 or more")


@dataclass(frozen=True, kw_only=True)
class Voice:
    """How replies sound."""

    engine: VoiceEngineName | None = None
    """None chooses by the persona's language: Piper's voice for English, else espeak-ng."""
    name: str | None = None
    """Of an espeak-ng voice (``de+f3``); None takes the language's own."""
    gain: float = 1.0
    length_scale: float = 1.0
    noise_scale: float = 0.667
    noise_width: float = 0.8

    def __post_init__(self) -> None:
        """Refuses what no voice could use."""
        _require(0 <= self.gain < inf, "voice.gain", "0 or more, and finite")
        _require(0 < self.length_scale < inf, "voice.length_scale", "above 0, and finite")
        _require(0 <= self.noise_scale < inf, "voice.noise_scale", "0 or more, and finite")
        _require(0 <= self.noise_width < inf, "voice.noise_width", "0 or more, and finite")


@dataclass(frozen=True, kw_only=True)
class Sip:
    """Our user agent for SIP; the password is ``VOICEAGENT_SIP_PASSWORD``."""

    user: str = ""
    """Whom callers dial; empty for no SIP at all."""
    domain: str = ""
    """Where the user is registered; empty for the address that is listened on."""
    registrar: str = ""
    """``sip.example.com`` or a whole SIP URI; empty to be called directly, without registering."""
    transport: Literal["udp", "tcp", "tls"] = "udp"
    listen: str = "127.0.0.1:5060"
    """An address of this machine, not a name or a wildcard: it is told to the far end."""
    rtp_ports: str = "10000-10200"
    codecs: tuple[str, ...] = ("pcmu", "pcma")
    """In order of preference; ``g722/16000/1`` is wideband."""


@dataclass(frozen=True, kw_only=True)
class Telephony:
    """How calls are answered; secrets are in the environment (see ``twilio_account``)."""

    public_url: str = ""
    """The address under which providers reach this server, such as ``https://phone.example.com``:
    signatures are made over it, never over what a request says of itself."""
    max_calls: int = 4
    """As many replies as the engine decodes in turns; one more caller is refused, not starved."""
    max_call_s: float = 1800.0
    idle_s: float = 20.0
    """Silence after which the caller is asked who is there; as long again, and the call ends."""
    greets: bool = True
    """Whether the agent speaks first; else it waits for the caller's first words."""
    hangs_up: bool = False
    """Whether the model may end a call, with a tool; models that are too small end it too soon."""
    presses_keys: bool = False
    """Whether the model may press keys, with a tool: SIP and Plivo take them."""
    transfer_to: str = ""
    """Whom callers are handed to who want a human, or when the agent fails: a number or SIP URI."""
    caller_id: str = ""
    """A number of the Twilio account's that outgoing calls show; empty if Twilio places none."""
    may_call: tuple[str, ...] = ()
    """Beginnings of the numbers that may be called, such as ``+4930``; without any there are no
    outgoing calls. A stolen token would otherwise dial premium numbers."""
    record_to: str = ""
    """A folder for stereo recordings of all calls (caller left, agent right); empty for none.
    Recording without telling the caller is a crime in many places."""
    audiosocket_host: str = "127.0.0.1"
    audiosocket_port: int = 0
    """Where Asterisk's AudioSocket is answered; 0 for nowhere. The protocol has no password."""
    sip: Sip = Sip()

    def __post_init__(self) -> None:
        """Refuses what no call could be answered with."""
        url = self.public_url
        right = url == "" or (url.startswith("https://") and not url.endswith("/"))
        _require(right, "telephony.public_url", "an https:// address without a slash at its end")
        _require(self.max_calls >= 1, "telephony.max_calls", "1 or more")
        _require(0 < self.max_call_s < inf, "telephony.max_call_s", "above 0, and finite")
        _require(0 < self.idle_s < inf, "telephony.idle_s", "above 0, and finite")
        port = self.audiosocket_port
        _require(0 <= port < 65536, "telephony.audiosocket_port", "0 to 65535")


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool the model may call; it runs only past the tool gate."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """A JSON schema of the arguments."""
    command: tuple[str, ...] = ()
    """The program that runs it: arguments as JSON on standard input, the result on output."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """Everything that can be set."""

    preset: PresetName | None = None
    """None picks ``gpu`` where CUDA is available and ``cpu`` elsewhere."""
    persona: Persona = Persona()
    decoding: Decoding = Decoding()
    voice: Voice = Voice()
    telephony: Telephony = Telephony()
    tools: tuple[Tool, ...] = ()


def load_config(path: Path | None = None, *, flags: Mapping[str, Any] | None = None) -> Config:
    """Reads the TOML file at ``path``, then lays ``flags`` over it.

    ``flags`` are dotted keys (``"decoding.window"``); a value of None means not given.

    Raises:
        ConfigError: the file cannot be read or parsed, or a key or value is unknown.
    """
    tree: dict[str, Any] = {} if path is None else _read_toml(path)
    for dotted, value in (flags or {}).items():
        if value is not None:
            _set(tree, dotted.split("."), value)
    try:
        config: Config = _build(Config, tree, at="")
        for tool in config.tools:
            _require(bool(tool.command), f"tools.{tool.name}.command", "a program that runs it")
    except ConfigError as error:
        raise ConfigError(str(error) if path is None else f"{path}: {error}") from error
    return config


def cache_directory() -> Path:
    """Where models and what is made from them are kept."""
    if chosen := os.environ.get("VOICEAGENT_CACHE"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "voiceagent"


def bearer_token(path: Path | None) -> str | None:
    """The gateway's secret: the first line of ``path``, else ``VOICEAGENT_TOKEN``; None for none.

    Raises:
        ConfigError: the file cannot be read, or the secret is too short to keep anybody out.
    """
    try:
        given = path.read_text(encoding="utf-8") if path else os.environ.get(TOKEN_VARIABLE, "")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the token in {path}: {error}") from error
    token = given.strip().partition("\n")[0].strip()
    if not token and path is None:
        return None
    return _long_enough(token, "the token")


def line_key() -> str | None:
    """``VOICEAGENT_LINE_KEY``: what telephone providers that sign nothing show; None for none.

    Raises:
        ConfigError: it is too short to keep anybody out.
    """
    given = os.environ.get(_LINE_KEY, "").strip()
    return _long_enough(given, _LINE_KEY) if given else None


def _long_enough(secret: str, name: str) -> str:
    if len(secret) < MIN_TOKEN_CHARS or not secret.isascii() or not secret.isprintable():
        raise ConfigError(
            f"{name} has to be {MIN_TOKEN_CHARS} or more ASCII characters: "
            "make one with: python3 -c 'import secrets; print(secrets.token_urlsafe(32))'"
        )
    return secret


def remote_key() -> str | None:
    """The secret for a remote engine: ``OPENAI_API_KEY``, as in OpenAI's own tools."""
    return os.environ.get("OPENAI_API_KEY") or None


@dataclass(frozen=True, kw_only=True)
class TwilioAccount:
    """Who we are to Twilio; printed without the secret."""

    sid: str
    token: str = field(repr=False)


def twilio_account() -> TwilioAccount | None:
    """``TWILIO_ACCOUNT_SID`` and ``TWILIO_AUTH_TOKEN``, as in Twilio's own tools; None without a
    token. The identifier is needed for outgoing calls alone."""
    sid, token = (os.environ.get(name, "").strip() for name in _TELEPHONY_SECRETS)
    return TwilioAccount(sid=sid, token=token) if token else None


def sip_password() -> str:
    """``VOICEAGENT_SIP_PASSWORD``; empty where the far end knows us by our address."""
    return os.environ.get(_SIP_PASSWORD, "")


def environment_of_tools(*, call_id: str) -> dict[str, str]:
    """The environment of a tool's program: this one without secrets, and the call's identity."""
    kept = {name: value for name, value in os.environ.items() if name not in _SECRETS}
    return kept | {"VOICEAGENT_CALL_ID": call_id}


def hub_endpoint() -> str:
    """Where Hugging Face is: ``HF_ENDPOINT`` names a mirror, as in the hub's own tools."""
    return os.environ.get("HF_ENDPOINT") or "https://huggingface.co"


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not TOML: {error}") from error


def _set(tree: dict[str, Any], keys: list[str], value: object) -> None:
    *parents, last = keys
    for key in parents:
        tree = tree.setdefault(key, {})
    tree[last] = value


def _build(cls: type[Any], tree: Mapping[str, Any], *, at: str) -> Any:
    if not isinstance(tree, Mapping):
        raise ConfigError(f"configuration key {at.rstrip('.')}: expected a table")
    hints = get_type_hints(cls)
    unknown = sorted(set(tree) - set(hints))
    if unknown:
        raise ConfigError(
            f"unknown configuration key {at}{unknown[0]}; known here: {', '.join(sorted(hints))}"
        )
    values = {key: _convert(hints[key], value, at=f"{at}{key}") for key, value in tree.items()}
    try:
        return cls(**values)
    except TypeError as error:
        raise ConfigError(f"configuration {at.rstrip('.')}: {error}") from error


def _convert(hint: Any, value: Any, *, at: str) -> Any:
    if dataclasses.is_dataclass(hint):
        return _build(hint, value, at=f"{at}.")  # type: ignore[arg-type]  # a class, not an object
    options = get_args(hint)
    if get_origin(hint) is Literal:
        return _one_of(options, value, at=at)
    if get_origin(hint) is tuple:
        return _sequence(options[0], value, at=at)
    if get_origin(hint) is not None and get_origin(hint) is not Mapping and options:
        return _alternative(options, value, at=at)
    return _scalar(hint, value, at=at)


def _alternative(options: tuple[Any, ...], value: Any, *, at: str) -> Any:
    kept = [option for option in options if option is not type(None)]
    return _convert(kept[0], value, at=at)


def _one_of(options: tuple[Any, ...], value: Any, *, at: str) -> Any:
    if value not in options:
        raise ConfigError(f"configuration key {at}: {value!r} is not one of {', '.join(options)}")
    return value


def _sequence(item: Any, value: Any, *, at: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise ConfigError(f"configuration key {at}: expected a list")
    return tuple(_convert(item, each, at=f"{at}[{i}]") for i, each in enumerate(value))


def _scalar(hint: Any, value: Any, *, at: str) -> Any:
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    expected = dict if get_origin(hint) is not None or hint is Mapping else hint
    if not isinstance(value, expected) or (isinstance(value, bool) and hint is not bool):
        raise ConfigError(f"configuration key {at}: expected {expected.__name__}, got {value!r}")
    return value
