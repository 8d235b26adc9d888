"""Whatever goes wrong becomes an answer in OpenAI's form, and never more than that."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from voiceagent.core.errors import VoiceAgentError
from voiceagent.decoding.errors import ContextOverflow, EngineBusy, EngineClosed, EngineError
from voiceagent.decoding.grammar import GrammarError
from voiceagent.decoding.sampling import SamplingError
from voiceagent.decoding.tokenizer import TokenizerError
from voiceagent.gateway.fields import BadRequest
from voiceagent.gateway.service import Unavailable

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
RETRY_AFTER_S = 1

_log = logging.getLogger(__name__)


def keep_requests_out_of_logs() -> None:
    """aiohttp logs what it cannot parse, and a broken header may hold a token."""
    logging.getLogger("aiohttp.server").addFilter(_is_about_no_request)


def _is_about_no_request(record: logging.LogRecord) -> bool:
    kind = record.exc_info[0] if record.exc_info else None
    return kind is None or not issubclass(kind, HttpProcessingError)


@web.middleware
async def errors_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turns exceptions into answers; an answer that has begun is left to its route."""
    try:
        return await handler(request)
    except web.HTTPException as error:
        if error.status < 400:
            raise
        return _answer(error.status, error_body(error.status, error.reason), headers=_allow(error))
    except VoiceAgentError as error:
        status, body = describe(error)
        busy = {"Retry-After": str(RETRY_AFTER_S)} if status == 503 else {}
        return _answer(status, body, headers=busy)
    except ConnectionError:
        raise  # the client is gone: nobody is left to be told
    except Exception:  # noqa: BLE001  # one request's alone; whatever nobody foresaw
        _log.exception("a request failed unexpectedly: %s %s", request.method, request.path)
        return _answer(500, error_body(500, "something went wrong here"))


def describe(error: VoiceAgentError) -> tuple[int, dict[str, Any]]:
    """Status and body of an error of ours."""
    message = str(error)
    match error:
        case BadRequest():
            return 400, error_body(400, message, field=error.field, code=error.code)
        case ContextOverflow():
            code = "context_length_exceeded"
            return 400, error_body(400, message, field="messages", code=code)
        case GrammarError():
            return 400, error_body(400, message, field="response_format")
        case SamplingError():
            return 400, error_body(400, message, field=message.split()[0])
        case TokenizerError():
            return 400, error_body(400, message, field="messages")
        case EngineBusy() | EngineClosed() | Unavailable():
            return 503, error_body(503, message, code="overloaded")
        case EngineError():  # the engine cannot do what is asked for
            return 400, error_body(400, message)
        case _:
            return 500, error_body(500, message)


def error_body(
    status: int, message: str, *, field: str | None = None, code: str | None = None
) -> dict[str, Any]:
    """An error in OpenAI's form."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"error": {"message": message, "type": kind, "param": field, "code": code}}


def _answer(
    status: int, body: dict[str, Any], *, headers: dict[str, str] | None = None
) -> web.Response:
    return web.json_response(body, status=status, headers=headers)


def _allow(error: web.HTTPException) -> dict[str, str]:
    kept = ("Allow", "WWW-Authenticate", "Retry-After")
    return {name: error.headers[name] for name in kept if name in error.headers}
