"""Scores answers against the rows of a dataset, under the config that the dataset is scored with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from gymbal.errors import UsageError
from gymbal.pivot.scorer import scorer_for
from gymbal.pivot.wiring import GymConfig
from gymbal.verify import Check, Comparator, Explanation, Label, LabelError, Score, explain
from gymbal.verify.trace import trace_call

STOCK_OPTIONS = {"word_count_similarity_threshold": 0.1}
"""What Gym's own config of the server sets."""


class _Agent(msgspec.Struct):
    name: str


class _Row(msgspec.Struct):
    responses_create_params: dict[str, msgspec.Raw] = {}
    expected_action: msgspec.Raw = msgspec.Raw(b"null")
    agent_ref: _Agent | None = None


_decode_row = msgspec.json.Decoder(_Row).decode


class ReadyRow:
    """One row, decoded once for many answers."""

    def __init__(self, row: _Row, comparator: Comparator) -> None:
        """Raises LabelError when the label cannot be scored, not even against itself."""
        self._label = Label(_decoded(row.expected_action))
        self._comparator = comparator
        self._tools: Sequence[Any] | None = None
        if comparator.config.validate_against_declared_tool_schema:
            tools = _decoded(row.responses_create_params.get("tools", msgspec.Raw(b"[]")))
            self._tools = tools if isinstance(tools, list) else []
        self.label_score = comparator.score_label(self._label, self._tools)

    @property
    def expected_tools(self) -> tuple[str, ...]:
        """The tools of the expected calls, in order; none for a message."""
        return tuple(call.name for call in self._label.calls)

    def score(self, output: Sequence[Mapping[str, Any]]) -> Score:
        """Score the items of one answer. Raises LabelError or ResponseError where Gym would fail."""
        return self._comparator.score(self._label, output, self._tools)

    def explain(self, output: Sequence[Mapping[str, Any]]) -> Explanation:
        """Say what decided the score of the same answer; raises as `score` does."""
        return explain(self._label, output, self._comparator.config, tools=self._tools)

    def last_check(self, expected: int, action: Mapping[str, Any]) -> Check:
        """Compare one expected call with one actual call as those of a batch: the check that decided."""
        return trace_call(self._label.calls[expected], action, self._comparator.config)[-1]


class RowScorer:
    """Finds the comparator of each row: by the row's agent in `config`, else one for all with `options`."""

    def __init__(self, config: GymConfig | None, options: Mapping[str, Any] = STOCK_OPTIONS) -> None:
        self._config = config
        self._options = options
        self._by_agent: dict[str | None, Comparator] = {}

    @property
    def has_config(self) -> bool:
        """Whether a Gym config says how rows are scored."""
        return self._config is not None

    @property
    def options(self) -> dict[str, Any]:
        """The options of the comparator by name; by resources server where the config has several."""
        if self._config is None:
            return dict(self._options)
        by_server = {name: dict(block.comparator or {}) for name, block in self._config.comparators.items()}
        return next(iter(by_server.values())) if len(by_server) == 1 else by_server

    def ready(self, row: bytes) -> ReadyRow:
        """Make the row in a line ready for answers.

        Raises UsageError when the config does not say how it is scored, LabelError when its label cannot be.
        """
        try:
            decoded = _decode_row(row)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise LabelError(f"the row cannot be read: {error}", key="expected_action") from error
        agent = None if decoded.agent_ref is None else decoded.agent_ref.name
        comparator = self._by_agent.get(agent)
        if comparator is None:
            comparator = self._by_agent[agent] = self._comparator(agent)
        return ReadyRow(decoded, comparator)

    def _comparator(self, agent: str | None) -> Comparator:
        if self._config is None:
            return Comparator(self._options)
        scorer = scorer_for(self._config, agent)
        if scorer.comparator is None:
            said = scorer.unchecked or (scorer.broken.found if scorer.broken else "")
            raise UsageError(
                f"the config does not say how rows are scored: {said}",
                remedy="Name another one with --config.",
            )
        return scorer.comparator


def _decoded(raw: msgspec.Raw) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise LabelError(f"cannot be read: {error}", key="expected_action") from error
