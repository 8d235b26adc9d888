"""The description of the HTTP interface that programs read (OpenAPI 3.1)."""

from typing import Any

from aiohttp import web

from voiceagent import __version__
from voiceagent.config import MAX_WINDOW
from voiceagent.core.streams import StreamProtocol
from voiceagent.gateway.requests import BOUNDARIES, MAX_TOP_LOGPROBS, SURFACES

_ERROR = {
    "description": "Refused, with a reason in OpenAI's form.",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
}
_REFUSALS = {str(status): _ERROR for status in (400, 401, 403, 404, 405, 413, 503)}


async def openapi_page(request: web.Request) -> web.Response:
    """``GET /openapi.json``."""
    return web.json_response(description())


def description() -> dict[str, Any]:
    """The whole page."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "voiceagent", "version": __version__},
        "paths": {
            "/healthz": {"get": _answers("It lives.")},
            "/readyz": {"get": _answers("It takes requests, or is about to stop (503).")},
            "/metrics": {"get": _answers("Metrics for Prometheus.", kind="text/plain")},
            "/v1/models": {"get": _answers("The model that answers.")},
            "/v1/models/{model}": {"get": _answers("One model.", path=["model"])},
            "/v1/tools": {"get": _answers("The server's own tools.")},
            "/v1/talk": {
                "get": _answers("Whether there is room for a spoken conversation (a WebSocket).")
            },
            "/v1/tickets": {"post": _answers("A ticket for one WebSocket.")},
            "/v1/replies": {"post": _takes("Frames, as they come.", "ReplyRequest")},
            "/v1/replies/{reply}": {
                "get": _answers("A kept reply, again.", path=["reply"], kind="text/event-stream")
            },
            "/v1/replies/{reply}/report": {
                "get": _answers("Rounds and retractions of a kept reply.", path=["reply"])
            },
            "/v1/chat/completions": {"post": _takes("A completion.", "CompletionRequest")},
        },
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                "Error": _error_schema(),
                "ReplyRequest": _request_schema(),
                "CompletionRequest": _request_schema(),
            },
        },
    }


def _answers(
    text: str, *, kind: str = "application/json", path: list[str] | None = None
) -> dict[str, Any]:
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in path or []
    ]
    answer = {"description": text, "content": {kind: {}}}
    return {"parameters": parameters, "responses": {"200": answer, **_REFUSALS}}


def _takes(text: str, schema: str) -> dict[str, Any]:
    body = {"schema": {"$ref": f"#/components/schemas/{schema}"}}
    return {
        "requestBody": {"required": True, "content": {"application/json": body}},
        "responses": {
            "200": {
                "description": text,
                "content": {"application/json": {}, "text/event-stream": {}},
            },
            **_REFUSALS,
        },
    }


def _error_schema() -> dict[str, Any]:
    nullable = {"type": ["string", "null"]}
    fields = {"message": {"type": "string"}, "type": {"type": "string"}}
    error = {
        "type": "object",
        "required": ["message", "type", "param", "code"],
        "properties": {**fields, "param": nullable, "code": nullable},
    }
    return {"type": "object", "required": ["error"], "properties": {"error": error}}


def _request_schema() -> dict[str, Any]:
    message = {
        "type": "object",
        "required": ["role", "content"],
        "properties": {
            "role": {"enum": ["system", "developer", "user", "assistant", "tool"]},
            "content": {"type": "string", "maxLength": 200},
        },
    }
    strings = {"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": 4}
    return {
        "type": "object",
        "required": ["messages"],
        "properties": {
            "messages": {"type": "array", "items": message, "minItems": 1},
            "stream": {"type": "boolean"},
            "stream_protocol": {"enum": [each.value for each in StreamProtocol]},
            "surface": {"enum": list(SURFACES)},
            "boundary": {"enum": list(BOUNDARIES)},
            "retraction": {"type": "boolean"},
            "k": {"type": "integer", "minimum": 0, "maximum": MAX_WINDOW},
            "turn": {"enum": ["confirmed"]},
            "resumable": {"type": "boolean"},
            "max_tokens": {"type": "integer", "minimum": 1, "maximum": 1 << 20},
            "temperature": {"type": "number", "minimum": 0, "maximum": 2},
            "top_p": {"type": "number", "minimum": 0, "maximum": 1},
            "seed": {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1},
            "stop": {"oneOf": [{"type": "string", "minLength": 1}, strings]},
            "n": {"enum": [1]},
            "logprobs": {"type": "boolean"},
            "top_logprobs": {"type": "integer", "minimum": 0, "maximum": MAX_TOP_LOGPROBS},
            "presence_penalty": {"type": "number", "minimum": -2, "maximum": 2},
            "frequency_penalty": {"type": "number", "minimum": -2, "maximum": 2},
            "tools": {"type": "array"},
            "tool_choice": {},
            "response_format": {"type": "object"},
        },
    }
