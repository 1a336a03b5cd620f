"""One sample from an endpoint: its request, tried until it is answered or given up."""

from __future__ import annotations

import asyncio
import time
from types import TracebackType
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

import msgspec

from gymbal.errors import GymbalError, UsageError
from gymbal.io.secrets import mask_text, mask_values
from gymbal.model.profile import SampleFailure
from gymbal.model.sampling import Api, Endpoint, SamplingLimits
from gymbal.sampling.answer import Answer, MalformedBodyError, read_answer
from gymbal.sampling.connections import Connections
from gymbal.sampling.reply import Reply, ReplyError, TooLongError
from gymbal.sampling.request import PATHS
from gymbal.sampling.retry import TRIED_AGAIN, failure_of_status, retry_after_seconds, wait_before

MAX_BODY_BYTES = 64 * 1024 * 1024
"""A longer reply is no answer: 100,000 tokens are half a megabyte."""

MAX_DETAIL = 300
"""Characters of a server's message that are kept."""

_CODINGS_READ = frozenset({"", "identity"})


class EndpointError(GymbalError):
    """The endpoint cannot be asked at all: no such path or model, no permission, no connection."""


class Outcome(NamedTuple):
    """What became of one sample."""

    answer: Answer | None
    failure: SampleFailure | None
    detail: str | None
    status: int | None
    """HTTP status of the last attempt; None where there was no reply."""
    attempts: int
    seconds: float


class _Attempt(NamedTuple):
    answer: Answer | None = None
    failure: SampleFailure | None = None
    detail: str | None = None
    status: int | None = None
    retry_after: float | None = None


class Client:
    """Asks one endpoint; an asynchronous context. Raises UsageError for an address that cannot be asked."""

    def __init__(self, endpoint: Endpoint, limits: SamplingLimits) -> None:
        self._base = _checked_base(endpoint.base_url)
        self._private = [endpoint.api_key or "", self._base.hostname or ""]
        self._limits = limits
        self._headers = {
            "user-agent": "gymbal",
            "accept": "application/json",
            "accept-encoding": "identity",
            "content-type": "application/json",
        }
        if endpoint.api_key:
            self._headers["authorization"] = f"Bearer {endpoint.api_key}"

    async def __aenter__(self) -> Client:
        self._connections = Connections(
            self._base, self._headers, timeout=self._limits.timeout, most_body=MAX_BODY_BYTES
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._connections.close()

    async def ask(self, api: Api, body: bytes, stop: asyncio.Event) -> Outcome | None:
        """Ask until there is an answer, the failure is final, or the attempts are used up.

        None: `stop` was set while it waited to try again.
        """
        start = time.monotonic()
        attempt = 1
        while True:
            found = await self._try(api, body)
            if found.failure not in TRIED_AGAIN or attempt >= self._limits.attempts:
                seconds = time.monotonic() - start
                return Outcome(
                    found.answer, found.failure, found.detail, found.status, attempt, round(seconds, 3)
                )
            attempt += 1
            if await _is_set_within(stop, wait_before(attempt, self._limits, found.retry_after)):
                return None

    async def detect_api(self, model: str) -> Api:
        """The API that the endpoint has; chat, where it has both: model servers of Gym use it.

        Asks each for one token. Raises EndpointError when it has neither, or takes no request at all.
        """
        said = []
        probes: dict[Api, dict[str, Any]] = {
            Api.CHAT: {"messages": [{"role": "user", "content": "Say yes."}], "max_tokens": 1},
            Api.RESPONSES: {"input": "Say yes.", "max_output_tokens": 16},
        }
        for api, probe in probes.items():
            found = await self._try(api, msgspec.json.encode({**probe, "model": model}))
            if found.failure is SampleFailure.CONNECTION and found.status is None:
                raise EndpointError(f"the endpoint cannot be reached: {found.detail}")
            if found.status in (401, 403):
                raise permission_error(found.detail)
            if found.status not in (404, 405, 501):
                return api
            said.append(f"{PATHS[api]}: {found.detail}")
        raise EndpointError(
            f"the endpoint has neither chat completions nor responses: {'; '.join(said)}",
            remedy="The base URL usually ends in /v1, and the model is named as /v1/models lists it.",
        )

    async def _try(self, api: Api, body: bytes) -> _Attempt:
        try:
            return self._attempt(api, await self._connections.post(PATHS[api], body))
        except (MalformedBodyError, TooLongError) as error:
            return _Attempt(failure=SampleFailure.MALFORMED_BODY, detail=self._shown(str(error)), status=200)
        except TimeoutError as error:
            said = f"{error}; the limit is {self._limits.timeout:g} s"
            return _Attempt(failure=SampleFailure.TIMEOUT, detail=said)
        except (ReplyError, OSError) as error:
            return _Attempt(failure=SampleFailure.CONNECTION, detail=self._shown(_named(error)))

    def _attempt(self, api: Api, reply: Reply) -> _Attempt:
        """What a whole reply says. Raises MalformedBodyError for a body that is no answer."""
        if reply.status == 200:
            coding = reply.headers.get("content-encoding", "")
            if coding.lower() not in _CODINGS_READ:
                raise MalformedBodyError(f"the body is packed as {coding}, which was not asked for")
            return _Attempt(answer=read_answer(api, reply.body), status=200)
        return _Attempt(
            failure=failure_of_status(reply.status),
            detail=self._shown(f"HTTP {reply.status} {_message(reply.body)}"),
            status=reply.status,
            retry_after=retry_after_seconds(reply.headers.get("retry-after")),
        )

    def _shown(self, text: str) -> str:
        """What a server said, short, without key and address: journals are passed on, endpoints are not."""
        return mask_values(mask_text(text), filter(None, self._private))[:MAX_DETAIL]


def permission_error(detail: str | None) -> EndpointError:
    """The error of an endpoint that asks for another key."""
    return EndpointError(
        f"the endpoint refuses the key: {detail}",
        remedy="Name the environment variable that holds the key with --api-key-env.",
    )


def _checked_base(base_url: str) -> SplitResult:
    remedy = "Give the address that ends in /v1, such as http://127.0.0.1:8000/v1."
    try:
        parts = urlsplit(base_url.rstrip("/"))
        host = (parts.hostname or "").encode("idna")
        is_address = parts.scheme in ("http", "https") and bool(host) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        raise UsageError("the base URL is no http address", remedy=remedy)
    if parts.username is not None or parts.password is not None:
        raise UsageError("the base URL holds a user or password", remedy="Use --api-key-env for a key.")
    if parts.query or parts.fragment:
        raise UsageError("the base URL holds a query", remedy=remedy)
    return parts


def _message(data: bytes) -> str:
    """The message of an error body, wherever servers put it, else its start."""
    try:
        body = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        body = None
    inner = body.get("error", body) if isinstance(body, dict) else None
    told = inner.get("message", inner.get("detail")) if isinstance(inner, dict) else inner
    return told if isinstance(told, str) else data[:MAX_DETAIL].decode("utf-8", "replace")


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


async def _is_set_within(event: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return False
    return True
