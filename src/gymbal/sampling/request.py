"""The body of the request that asks the policy at one pivot."""

from __future__ import annotations

from typing import Any

import msgspec

from gymbal.model.sampling import Api, SamplingSettings
from gymbal.sampling.chat import UnaskableError, chat_request

PATHS = {Api.CHAT: "/chat/completions", Api.RESPONSES: "/responses"}
"""Behind the base URL."""


class _Row(msgspec.Struct, gc=False):
    responses_create_params: dict[str, msgspec.Raw]


_decode_row = msgspec.json.Decoder(_Row).decode
_decode_request = msgspec.json.Decoder(dict[str, Any]).decode


def request_body(row: bytes, settings: SamplingSettings) -> bytes:
    """The request at the pivot `row`: its state and tools, asked as `settings` say.

    A Responses request keeps the row's own bytes. What the settings leave open is as the row has it.
    Raises UnaskableError when the row has no request or one that the API cannot express.
    """
    try:
        request = _decode_row(row).responses_create_params
        if "input" not in request:
            raise UnaskableError("the request has no input")
        if settings.api is Api.CHAT:
            body: dict[str, Any] = chat_request(
                _decode_request(msgspec.json.encode(request)), settings.reasoning
            )
            limit = "max_tokens"
        else:
            body = {name: value for name, value in request.items() if bytes(value) != b"null"}
            limit = "max_output_tokens"
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnaskableError(f"the row has no request: {error}") from error
    chosen = {
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        limit: settings.max_output_tokens,
    }
    body.update({name: value for name, value in chosen.items() if value is not None})
    body.pop("stream", None)
    return msgspec.json.encode({**body, "model": settings.model, **settings.extra_body})
