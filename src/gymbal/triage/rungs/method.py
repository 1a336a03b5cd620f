"""Method: sampled, limited, prompted and judged alike, by the configs and by what the rollouts show?"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

import msgspec

from gymbal.model.evidence import DIGESTED_IN_REQUESTS, Fact, Role, Strength, Value, contradicts
from gymbal.model.finding import Comparison, Finding, Rung, Status
from gymbal.model.rollout import Settings
from gymbal.model.rollout_table import RowKind
from gymbal.stats.multiplicity import holm
from gymbal.stats.row_groups import count_at_limit, known_mean, known_percentile
from gymbal.triage.facts import FactComparison, compare_facts, evidence_steps, some_names
from gymbal.triage.pair import Pair, row_share_p
from gymbal.triage.rendering import models, rendered_lengths, rendered_tokens
from gymbal.triage.side import SideView

ROLES = frozenset(
    {Role.SAMPLING, Role.LIMITS, Role.PROMPT, Role.TOOLS, Role.HARNESS, Role.JUDGE, Role.USER_SIMULATOR}
)

REQUEST_FIELDS = (
    "temperature",
    "top_p",
    "max_output_tokens",
    "max_tool_calls",
    "parallel_tool_calls",
    "tool_choice",
    "reasoning",
    "instructions",
    "extra_body",
)
"""Fields of `Settings` that are method; the requested model is not."""

NAMED_BY_A_CONFIG = ("harness", "judge", "chat template")
"""What only a whole config names."""

KEEP_CONFIG = "keep each run's config: launch with gymbal record, or gym env resolve with the run's arguments"

_CONFIGURED_PART = re.compile(
    r"config\.[^.]+\.(resources_servers|responses_api_agents|environment_servers)\."
)

REQUEST_SOURCE = "responses_create_params of the rollouts"
OUTPUT_SOURCE = "counted in the rollouts"
UNSET = "unset"
SUSPECTS = "chat template, system prompt or tokenizer"


def check(pair: Pair) -> Finding:
    """`different` when a request or config differs, or the outputs show what only a changed method does."""
    if not pair.left.rollouts or not pair.right.rollouts:
        return Finding(
            name=Rung.METHOD,
            status=Status.UNKNOWN,
            summary="one side has no rollouts that would show how it was sampled",
        )
    requests = [_request(pair, name) for name in REQUEST_FIELDS]
    configs = _beside(requests, compare_facts(pair.left.run.facts, pair.right.run.facts, ROLES))
    contradicted = tuple(fact for side in (pair.left, pair.right) for fact in _contradicted(side))
    configs = msgspec.structs.replace(
        configs, contradictions=(*(fact.contradiction for fact in contradicted), *configs.contradictions)
    )
    signs = _output_signs(pair)
    different = [fact for fact in requests if fact.left != fact.right]
    different += configs.different
    if pair.left.agent != pair.right.agent:
        different.append(Comparison(name="agent", left=pair.left.agent, right=pair.right.agent))
    facts = (
        *different,
        *(fact for fact in requests if fact.left == fact.right),
        *configs.equal,
        *_outputs(pair),
    )
    if different or signs:
        names = [f"{fact.name} {_shown(fact.left)} against {_shown(fact.right)}" for fact in different]
        return Finding(
            name=Rung.METHOD,
            status=Status.DIFFERENT,
            summary="; ".join([*names, *signs]),
            facts=facts,
            next=(
                *(("repeat one side with the other's settings before comparing",) if different else ()),
                *evidence_steps(configs),
            ),
        )
    return _agreeing(pair, requests, configs, facts, list(dict.fromkeys(fact.name for fact in contradicted)))


def _beside(requests: Collection[Comparison], configs: FactComparison) -> FactComparison:
    """What the configs say beside the requests: a value that both requests show needs no config to repeat it.

    Two configs that differ where the requests are equal contradict one of these.
    """
    shown = {fact.name for fact in requests if UNSET not in (fact.left, fact.right)}
    told = shown - DIGESTED_IN_REQUESTS | {fact.name for fact in requests if fact.left != fact.right}
    return msgspec.structs.replace(
        configs,
        different=tuple(fact for fact in configs.different if fact.name not in told),
        unknown=tuple(name for name in configs.unknown if name not in shown),
    )


def _contradicted(side: SideView) -> Iterator[Fact]:
    """What a config or command of the side says and its requests do not, with the request as a rival."""
    sent = {fact.name: fact for fact in request_facts(side)}
    for fact in side.run.facts:
        if fact.name in sent and contradicts(fact, sent[fact.name]):
            yield msgspec.structs.replace(fact, rivals=(sent[fact.name],))


def _agreeing(
    pair: Pair,
    requests: list[Comparison],
    configs: FactComparison,
    facts: tuple[Comparison, ...],
    contradicted: list[str],
) -> Finding:
    named = ", ".join(f"{fact.name} {_shown(fact.left)}" for fact in requests if fact.left != UNSET)
    is_whole = _has_config(pair.left) and _has_config(pair.right)
    if is_whole and not configs.unknown and not contradicted:
        return Finding(
            name=Rung.METHOD,
            status=Status.SAME,
            summary=f"requests and saved configs agree: {named}",
            facts=facts,
        )
    missing = some_names(configs.unknown if is_whole else [*configs.unknown, *NAMED_BY_A_CONFIG])
    reasons = [f"the configs say otherwise of {some_names(contradicted)}"] if contradicted else []
    reasons += [f"not recorded on both sides: {missing}"] if missing else []
    return Finding(
        name=Rung.METHOD,
        status=Status.UNKNOWN,
        summary="; ".join((f"the requests agree ({named})", *reasons)),
        facts=facts,
        next=(*evidence_steps(configs), *(() if is_whole and not configs.unknown else (KEEP_CONFIG,))),
    )


def _has_config(side: SideView) -> bool:
    """Whether a whole Gym config is known, and not only some settings out of a log or a command."""
    return any(fact.is_known and _CONFIGURED_PART.match(fact.name) for fact in side.run.facts)


def _request(pair: Pair, name: str) -> Comparison:
    return Comparison(
        name=name,
        left=_values(pair.left, name),
        right=_values(pair.right, name),
        source=REQUEST_SOURCE,
    )


def request_facts(side: SideView) -> tuple[Fact, ...]:
    """The side's own requests as facts, for a comparison with stated ones."""
    return tuple(
        Fact(
            name=name,
            role=Role.SAMPLING,
            value=value,
            strength=Strength.RECORDED,
            file="rollouts",
            key=f"responses_create_params.{name}",
        )
        for name in REQUEST_FIELDS
        if (value := _values(side, name)) != UNSET
    )


def _values(side: SideView, name: str) -> Value:
    """The one value of a request field over all rollouts, or all of them as text."""
    values = {getattr(settings, name) for settings in _all_settings(side)}
    known = sorted((value for value in values if value is not None), key=str)
    if not known:
        return UNSET
    if len(values) == 1:
        return known[0]  # type: ignore[no-any-return]
    return ", ".join([*map(_shown, known), *((UNSET,) if None in values else ())])


def _all_settings(side: SideView) -> set[Settings]:
    return {kind.settings for kind, _ in side.rollouts.kind_counts}


def _shown(value: Value) -> str:
    return "true" if value is True else "false" if value is False else str(value)


def _output_signs(pair: Pair) -> list[str]:
    """Differences in the outputs that a change of method makes and a change of skill rarely does.

    Their p-values are adjusted by Holm's method: with several signs looked at, one of them is often beyond
    chance between two runs of one model (docs/false_alarms.md).
    """
    checks: tuple[tuple[str, Callable[[RowKind], bool]], ...] = (
        ("reasoning left in the answer text", lambda kind: kind.has_reasoning_in_text),
        ("empty answers", lambda kind: kind.is_empty),
        ("prompts that begin with the same token twice, as a BOS added twice does", _is_doubled),
        ("rollouts with tool errors", lambda kind: kind.has_tool_errors),
    )
    counts = [(_count(pair.left, holds), _count(pair.right, holds)) for _, holds in checks]
    p_values = [
        1.0 if left == right else row_share_p(pair, holds, among=_is_complete)
        for (_, holds), (left, right) in zip(checks, counts, strict=True)
    ]
    signs = [
        f"{name}: {left} of {len(pair.left.rollouts)} against {right} of {len(pair.right.rollouts)}"
        for (name, _), (left, right), p in zip(checks, counts, holm(p_values).tolist(), strict=True)
        if p < 1.0 - pair.level
    ]
    return [*signs, *_rendering_signs(pair)]


def _rendering_signs(pair: Pair) -> list[str]:
    """Other input lengths for the same prompts; between two models another tokenizer is enough for that."""
    same_model = models(pair.left) == models(pair.right)
    tokens = rendered_tokens(pair)
    if tokens.different and same_model:
        share = f"{tokens.different} of {tokens.compared} tasks (first: {tokens.example})"
        return [f"the same prompts reached the model as other tokens in {share}: {SUSPECTS}"]
    found = rendered_lengths(pair)
    if found.example is None or not same_model:
        return []
    task, left, right = found.example
    lengths = f"{task}: {left} against {right} input tokens"
    share = f"{found.different} of {found.compared} tasks ({lengths})"
    return [f"the same prompts reached the model in another form in {share}: {SUSPECTS}"]


def _is_doubled(kind: RowKind) -> bool:
    return kind.has_doubled_start


def _is_complete(kind: RowKind) -> bool:
    """Measured and not cut off: truncation is accounting's subject, and empties what it cuts."""
    return kind.is_measured and not kind.is_truncated


def _count(side: SideView, holds: Callable[[RowKind], bool]) -> int:
    return side.rollouts.count(lambda kind: _is_complete(kind) and holds(kind))


def _outputs(pair: Pair) -> tuple[Comparison, ...]:
    """What the rollouts show of the method, side by side; context for a reader, not a test."""
    rows: tuple[tuple[str, Callable[[SideView], Value]], ...] = (
        ("mean_input_tokens", lambda side: known_mean(side.rollouts.input_tokens_R)),
        ("mean_output_tokens", lambda side: known_mean(side.rollouts.output_tokens_R)),
        ("output_tokens_p95", lambda side: known_percentile(side.rollouts.output_tokens_R, 0.95)),
        ("rollouts_at_token_limit", _at_limit),
        ("mean_model_calls", lambda side: known_mean(side.rollouts.model_calls_R)),
        ("mean_tool_calls", lambda side: known_mean(side.rollouts.tool_calls_R)),
        ("tools_used", _tools_used),
        ("empty_answers", lambda side: _count(side, lambda kind: kind.is_empty)),
        ("unparsed_answers", lambda side: _count(side, lambda kind: bool(kind.is_unparsed))),
        ("rollouts_with_tool_errors", lambda side: _count(side, lambda kind: kind.has_tool_errors)),
        ("reasoning_in_answer", lambda side: _count(side, lambda kind: kind.has_reasoning_in_text)),
    )
    return tuple(
        Comparison(name=name, left=value(pair.left), right=value(pair.right), source=OUTPUT_SOURCE)
        for name, value in rows
    )


def _at_limit(side: SideView) -> int:
    """Single-call rollouts whose output is as long as the request allows."""
    limit_K = [kind.settings.max_output_tokens for kind in side.rollouts.kinds]
    rows = side.rollouts
    return count_at_limit(rows.output_tokens_R, rows.model_calls_R, rows.kind_R, limit_K)


def _tools_used(side: SideView) -> str:
    names = sorted(set().union(*(kind.tools_used for kind, _ in side.rollouts.kind_counts)))
    return ", ".join(names) or "none"
