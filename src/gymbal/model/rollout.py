"""A rollout, planned, scored or failed: what a score can depend on."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import msgspec


class RolloutKey(NamedTuple):
    """Identity of a rollout inside one run: never comparable between runs, whose task numbers may differ."""

    server: str
    """`_ng_environment_server`, or `agent_ref.name` where a Gym before 0.7 wrote the row."""
    stage: int | None
    task: int
    repeat: int


class Stop(StrEnum):
    """Why the last model call of a rollout ended."""

    FINISHED = "finished"
    TRUNCATED = "truncated"
    """Cut at the output-token limit: `incomplete_details.reason` is `max_output_tokens`."""
    CONTENT_FILTER = "content_filter"
    FAILED = "failed"
    UNKNOWN = "unknown"
    """The row does not say."""


class TaskContent(msgspec.Struct, frozen=True, gc=False):
    """What a task asks and how it is judged, as digests; equal digests mean equal content."""

    prompt: str
    tools: str
    verifier: str | None
    """Digest of the input row's other fields. None: only the rollout is left, which drops those fields."""
    answer: str | None = None
    """Digest of the input row's answer fields; None where `verifier` is."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Sampling and limits as the request of a row states them; None means that the request left it unset.

    Texts are without secrets. One that held some ends with a digest of what stood there.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: int | None = None
    max_tool_calls: int | None = None
    parallel_tool_calls: bool | None = None
    tool_choice: str | None = None
    reasoning: str | None = None
    """Canonical JSON of the request's `reasoning` object."""
    instructions: str | None = None
    """Digest of the request's `instructions`."""
    requested_model: str | None = None
    extra_body: str | None = None
    """Canonical JSON of the extra body and chat-template arguments, which Gym carries as texts in `metadata`.

    Without the seed: Gym gives each repeat its own.
    """


class Rollout(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One scored attempt: a line of `<stem>.jsonl`."""

    key: RolloutKey
    agent: str
    line: int
    attempt: int
    """0 for a first attempt; the number of earlier failed attempts for one that a resume retried."""
    reward: float | None
    """None: the row has no reward, which is not the same as 0."""
    is_masked: bool
    """Gym's `mask_sample`: the reward is no valid measurement and stays out of every metric."""
    failure_kind: str | None
    stop: Stop
    is_empty: bool
    """The response holds neither text nor a tool call."""
    has_reasoning_in_text: bool
    """The answer text still holds a reasoning tag, so that a parser did not remove it."""
    is_unparsed: bool | None
    """The verifier reports an extracted answer and it is null or empty. None: it reports no such field."""
    input_tokens: int | None
    output_tokens: int | None
    model_calls: int
    tool_calls: int
    tools_used: frozenset[str]
    has_tool_errors: bool = False
    """A tool's result reports an error: a text that begins with "Error", or an `error` member."""
    model: str | None
    """`response.model`: what the endpoint says it is."""
    settings: Settings
    content: TaskContent
    """As the rollout echoes it; `verifier` and `answer` are always None here."""
    answer: int
    """Hash of the output's text and calls, ids left out; good for comparisons within one process."""
    prompt_tokens: int | None = None
    """Hash of the token ids that the first model call read, good within one process; None: not recorded."""
    has_doubled_start: bool = False
    """The first two of these ids are equal."""
    file: str = ""
    """The rollouts file that holds it, relative to the run."""

    @property
    def is_measured(self) -> bool:
        """Whether Gym's metrics count this row: it has a reward and is not masked."""
        return self.reward is not None and not self.is_masked

    @property
    def is_truncated(self) -> bool:
        return self.stop is Stop.TRUNCATED


class PlannedRollout(msgspec.Struct, frozen=True, kw_only=True):
    """One expected attempt: a line of `<stem>_materialized_inputs.jsonl`."""

    key: RolloutKey
    agent: str
    content: TaskContent
    settings: Settings
    label: str | None
    """`uuid`, `task_id` or `id` of the dataset row: a name for people, never an identity."""
    cluster: str | None = None
    """JSON of the dataset field that tasks of one cluster share; None where none was asked for or held."""


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """The last failed attempt of a rollout that was never scored."""

    key: RolloutKey
    agent: str
    line: int
    failure_class: str
    is_terminal: bool
    attempts: int
