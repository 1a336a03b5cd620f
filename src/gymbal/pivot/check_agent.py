"""Holds a row's agent to the config, and its label to the comparator that the agent leads to."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
from msgspec import Raw

from gymbal.pivot.candidate import equal_scalars_match
from gymbal.pivot.parse import AGENT, LABEL, REQUEST, Check, read_agent
from gymbal.pivot.rules import not_checked
from gymbal.pivot.scorer import Scorer, scorer_for
from gymbal.pivot.wiring import GymConfig
from gymbal.verify import Comparator, UnscorableError


class AgentVerdict(NamedTuple):
    """What there is to say to a row by its agent alone."""

    rules: tuple[str, ...]
    broken: tuple[Check, ...]
    scoring: Scoring | None
    """How the row's label is scored; None where that is not known."""


class Scoring(NamedTuple):
    rules: tuple[str, ...]
    broken: tuple[Check, ...]
    comparator: Comparator | None
    takes_scalars: bool = False
    """Whether the comparator surely gives a label 1.0 whose arguments are scalars."""


class AgentChecker:
    """Follows the agents of rows through the config, each of them once."""

    def __init__(self, config: GymConfig | None, *, is_required: bool) -> None:
        self._config = config
        self._is_required = is_required
        self._unchecked: dict[str, None] = {}
        self._verdicts: dict[str | None, AgentVerdict] = {}
        self._last: tuple[Raw, AgentVerdict] | None = None

    @property
    def unchecked(self) -> list[str]:
        """Which rules that need the config could not be checked on some rows, and why."""
        return list(self._unchecked)

    def check(self, agent_ref: Raw) -> AgentVerdict:
        """Return what the row's agent breaks."""
        if self._last is None or self._last[0] != agent_ref:
            # A copy, since what a decoder returns keeps the whole line.
            self._last = agent_ref.copy(), self._verdict(agent_ref)
        return self._last[1]

    def _verdict(self, agent_ref: Raw) -> AgentVerdict:
        agent = read_agent(agent_ref)
        if isinstance(agent, Check):
            return AgentVerdict(("P017",), (agent,), None)
        if agent not in self._verdicts:
            self._verdicts[agent] = self._follow(agent)
        return self._verdicts[agent]

    def _follow(self, agent: str | None) -> AgentVerdict:
        if self._config is None:
            if not self._is_required:
                return AgentVerdict(("P017",), (), None)
            missing = (Check("P025", AGENT, "missing"),) if agent is None else ()
            return AgentVerdict(("P017", "P025"), missing, None)
        scorer = scorer_for(self._config, agent)
        if agent is None and not self._is_required and scorer.broken is not None:
            return AgentVerdict(("P017",), (), None)
        if scorer.unchecked is not None:
            rules = ("P020", "P022") if scorer.is_linked else ("P018", "P019", "P020", "P022")
            self._unchecked[not_checked(rules, scorer.unchecked)] = None
        return AgentVerdict(("P017",), (), _scoring(scorer))


def check_score(label: Raw, tools: bytes | None, comparator: Comparator) -> list[Check]:
    """What breaks P020: the label, scored against itself in a request with these `tools`."""
    declared: list[Any] | None = None
    try:
        if comparator.config.validate_against_declared_tool_schema:
            declared = msgspec.json.decode(tools or b"[]", type=list[Any])
        score = comparator.score_label(msgspec.json.decode(label), declared)
    except msgspec.DecodeError as error:
        return [Check("P020", f"{REQUEST}.tools", str(error))]
    except UnscorableError as error:
        return [Check("P020", error.key, error.message)]
    if score.reward == 1.0:
        return []
    return [Check("P020", LABEL, f"scores {score.reward}: {score.category}")]


def _scoring(scorer: Scorer) -> Scoring:
    if scorer.broken is not None:
        # A row without a known agent says nothing about that agent's server.
        rules = ("P018", "P019") if scorer.broken.rule == "P019" else ("P018",)
        return Scoring(rules, (scorer.broken,), None)
    if scorer.comparator is None:
        return Scoring(("P018", "P019") if scorer.is_linked else (), (), None)
    threshold = scorer.comparator.config.word_count_similarity_threshold
    found = Check("P022", "tool_call_comparator_config", f"word_count_similarity_threshold is {threshold}")
    broken = () if 0.0 < threshold <= 0.5 else (found,)
    takes_scalars = equal_scalars_match(scorer.comparator.config)
    return Scoring(("P018", "P019", "P020", "P022"), broken, scorer.comparator, takes_scalars)
