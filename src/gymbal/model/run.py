"""One side of a comparison: what a run directory holds, reduced to what a score can depend on."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import msgspec

from gymbal.model.evidence import Fact


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


class TaskContent(msgspec.Struct, frozen=True):
    """What a task asks and how it is judged, as digests; equal digests mean equal content."""

    prompt: str
    tools: str
    verifier: str | None
    """Digest of the input row's other fields. None: only the rollout is left, which drops those fields."""
    answer: str | None = None
    """Digest of the input row's answer fields; None where `verifier` is."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Sampling and limits as the request of a row states them; None means that the request left it unset."""

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
    tool_errors: int = 0
    """Tool results that report an error: an `error` member, or text that starts with "Error"."""
    model: str | None
    """`response.model`: what the endpoint says it is."""
    settings: Settings
    content: TaskContent
    """As the rollout echoes it; `verifier` and `answer` are always None here."""
    answer: str
    """Digest of the output's text and calls, ids left out."""
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


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """The last failed attempt of a rollout that was never scored."""

    key: RolloutKey
    agent: str
    line: int
    failure_class: str
    is_terminal: bool
    attempts: int


class Metrics(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of `<stem>_aggregate_metrics.json`: what Gym itself reports for one environment server."""

    agent: str
    server: str | None
    values: dict[str, float]
    """`agent_metrics` and `key_metrics` together, numbers only, in the units of the file."""
    key_names: tuple[str, ...]
    """Names in `key_metrics`, the headline that the server chose."""


class ProblemKind(StrEnum):
    NO_ROLLOUTS = "no_rollouts"
    NO_METRICS = "no_metrics"
    TORN_LINE = "torn_line"
    """The last line ends in the middle of a record: the writer was killed."""
    BAD_LINE = "bad_line"
    DUPLICATE_KEY = "duplicate_key"
    UNREADABLE_FILE = "unreadable_file"


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Something in the run's own files that cannot be read or contradicts itself."""

    kind: ProblemKind
    detail: str
    file: str
    line: int | None = None
    offset: int | None = None
    """Bytes from the start of the (decompressed) file."""
    rows: int = 1
    """Lines that could not be used, or surplus lines of duplicate keys. 0: the problem costs no line."""

    @property
    def where(self) -> str:
        text = self.file if self.line is None else f"{self.file}:{self.line}"
        return text if self.offset is None else f"{text} (byte {self.offset})"


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """Gym's own health verdicts, counted from `quality_summary.json`."""

    healthy: int
    unhealthy: int
    unobserved: int
    issues: dict[str, int]
    records: int | None = None
    """Rows that were checked. Another number than the run's rollouts: the summary is of another file or time.

    Its file name is fixed, so that each new check replaces it.
    """


class Captures(msgspec.Struct, frozen=True, kw_only=True):
    """Model calls in the run's capture folder; a folder can be shared, so some may be of other runs."""

    files: int
    calls: int
    failed: dict[str, int]
    """Calls by `error_category`, where they have one."""
    local: dict[str, int]
    """Calls that the model server answered by itself, by its reason: no model saw them."""
    incomplete: int
    """Rollouts some of whose exchanges could not be recorded."""
    unreadable: int
    """Lines that are no exchange, and files that cannot be read."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A run directory, read; `problems` names every row that could not be used."""

    label: str
    path: str
    stems: tuple[str, ...]
    """Rollouts files without suffix; several when shards were given together, none without rollouts."""
    rollouts: tuple[Rollout, ...]
    planned: tuple[PlannedRollout, ...] | None
    """None: no materialized inputs were kept, so the expected number of rollouts is unknown."""
    failures: tuple[Failure, ...]
    metrics: tuple[Metrics, ...] | None
    """None: there is no aggregate file."""
    health: Health | None
    facts: tuple[Fact, ...]
    problems: tuple[Problem, ...]
    failed_attempts: int = 0
    """Lines of the failures files. A rollout that a resume scored keeps the lines of its failed attempts."""
    omitted: int = 0
    """Rollouts that Gym itself recorded as left out (`_ng_omitted_rollout`)."""
    unhealthy: frozenset[RolloutKey] = frozenset()
    """Scored rollouts that Gym's health check found unhealthy, by `rollout_verdicts.jsonl`."""
    captures: Captures | None = None
    """None: no capture folder in the run directory."""

    @property
    def agents(self) -> tuple[str, ...]:
        """Names of the agents with at least one planned, scored, failed or aggregated row, sorted."""
        names = {row.agent for row in self.rollouts}
        names.update(row.agent for row in self.planned or ())
        names.update(row.agent for row in self.failures)
        names.update(row.agent for row in self.metrics or ())
        return tuple(sorted(names))
