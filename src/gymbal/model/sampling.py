"""How a policy is asked for samples, and how such a run ended."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec


class Api(StrEnum):
    """The two request forms that an OpenAI-compatible endpoint can have."""

    CHAT = "chat"
    """POST /chat/completions"""
    RESPONSES = "responses"
    """POST /responses"""


class ReasoningForm(StrEnum):
    """How a chat request shows the policy the reasoning of earlier calls. Responses carry the items."""

    FIELD = "field"
    """As `reasoning` and `reasoning_content` of the assistant message; the chat template decides."""
    THINK = "think"
    """Before the text, between <think> and </think>."""
    OMIT = "omit"
    """Not at all: only for a policy that never sees earlier reasoning."""


class SamplingSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a request asks for besides the pivot. None: as the row says, else the server's own default."""

    model: str
    api: Api
    temperature: float | None = 1.0
    top_p: float | None = None
    max_output_tokens: int | None = None
    reasoning: ReasoningForm = ReasoningForm.FIELD
    extra_body: Mapping[str, Any] = {}
    """Further fields of every request, as the server names them; they win over all others."""


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Where the policy is served. Never written to any file: `base_url` and `api_key` are the user's own."""

    base_url: str
    """With its `/v1`."""
    api_key: str | None = None

    def __repr__(self) -> str:
        return "Endpoint(...)"


class SamplingLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How hard an endpoint is asked. Times are in seconds."""

    concurrency: int = 32
    """Samples in flight; one that waits to be tried again counts."""
    timeout: float = 600.0
    """For one request, from connecting to the end of the body."""
    attempts: int = 6
    """Requests for one sample before it counts as failed."""
    first_wait: float = 0.5
    longest_wait: float = 60.0


class Prices(msgspec.Struct, frozen=True, kw_only=True):
    """Cost of a million tokens, in whatever currency the budget is in."""

    input: float
    output: float
    cached: float | None = None
    """Of input tokens that a cache held; None: as other input tokens."""


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """What a profile may use up, with what its journal already holds. None: no limit."""

    tokens: int | None = None
    """Input and output tokens together, as the server counts them."""
    cost: float | None = None
    prices: Prices | None = None
    """Needed with `cost`."""


class SamplingEnd(StrEnum):
    """Why no more samples were asked for."""

    COMPLETE = "complete"
    INTERRUPTED = "interrupted"
    TOKEN_BUDGET = "token_budget"
    COST_BUDGET = "cost_budget"
    USAGE_UNKNOWN = "usage_unknown"
    """A budget was given, and the server does not say what a request used."""
    ENDPOINT_FAILING = "endpoint_failing"
    """Many samples in a row failed: the endpoint is down or misconfigured, and the rest would fail too."""
