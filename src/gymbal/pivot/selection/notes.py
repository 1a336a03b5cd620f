"""What the counts of a selection mean: first of all whether the share of mixed pivots can be right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from gymbal.model.pivot import ActionKind
from gymbal.model.selection import RateClass, SelectionMetrics

HEALTHY_SHARE = (0.03, 0.5)
"""Mixed among the decided pivots. Where PivotRL was reproduced, 3 to 15 % were kept; none, or more than
half, came from a verifier or a sampler that was set up wrongly."""

DECIDED = (RateClass.MIXED, RateClass.NEVER, RateClass.ALWAYS, RateClass.UNIFORM)

ALIKE = 0.9
"""From this share on, one outcome is taken for the rule."""

FEW_DECIDED = 30
"""The share of fewer pivots says little."""

RECOMMENDED_SAMPLES = 8

MANY_FAILED = 0.1

TOO_MANY = (
    "Likely the rewards are noise: a temperature above that of training, answers cut at the token limit, or "
    "a verifier that decides on wording. Score the samples again under other settings first."
)
"""Where most pivots are mixed."""


def notes_on(metrics: SelectionMetrics, *, answered: int, unwritten: Sequence[str] = ()) -> Iterator[str]:
    """Yield what a user should act on, most important first.

    `answered` samples have a reward. `unwritten` are settings of the pivots' own config that the new one does
    not have.
    """
    yield from _on_share(metrics)
    if unwritten:
        yield (
            f"The config of the pivots also sets {', '.join(unwritten)}, and the new config.yaml does not: "
            "add it, so that the rows are scored as they were."
        )
    if not metrics.kept:
        yield "No pivot was selected. The funnel says where they went."
    yield from _on_samples(metrics, answered)
    yield from _on_profile(metrics)
    yield from _on_kept(metrics)
    yield from _on_evaluations(metrics)
    yield "A profile holds for the policy that it was made with: profile again when the policy has moved."


def _on_share(metrics: SelectionMetrics) -> Iterator[str]:
    share = metrics.mixed_share
    low, high = HEALTHY_SHARE
    decided = sum(metrics.rates[kind] for kind in DECIDED)
    if share is None or low <= share <= high:
        return
    found = f"{share:.1%} of {decided} decided pivots have mixed rewards; {low:.0%} to {high:.0%} is usual."
    if decided < FEW_DECIDED:
        yield f"{found} So few pivots say little about that."
        return
    yield f"{found} {TOO_MANY if share > high else _too_few(metrics, decided)}"


def _too_few(metrics: SelectionMetrics, decided: int) -> str:
    calls = Counter[str]()
    for kind in (ActionKind.FUNCTION_CALL, ActionKind.FUNCTION_CALL_BATCH):
        calls.update(metrics.by_label[kind])
    of_calls = sum(calls[kind] for kind in DECIDED)
    if of_calls and calls[RateClass.NEVER] >= ALIKE * of_calls:
        return (
            f"{calls[RateClass.NEVER] / of_calls:.0%} of those that call tools never pass. Likely the "
            "answers cannot match: an endpoint that parses no tool calls, tool names or arguments that the "
            "policy was not given, or a word threshold above 0.5. Look at the categories of some samples."
        )
    if metrics.rates[RateClass.ALWAYS] >= ALIKE * decided:
        messages = sum(metrics.by_label[ActionKind.MESSAGE].values()) / metrics.candidates
        return (
            f"{metrics.rates[RateClass.ALWAYS] / decided:.0%} always pass. Likely the verifier accepts too "
            f"much: a word threshold near 0, or labels that are messages ({messages:.0%} are), which any "
            "text satisfies. Else the policy has learned them."
        )
    return (
        "The others split into always and never. Likely the samples of a pivot are all alike: a temperature "
        "near 0, a seed that is fixed for all of them, or a cache in front of the endpoint."
    )


def _on_samples(metrics: SelectionMetrics, answered: int) -> Iterator[str]:
    failed = metrics.failed_samples
    if failed and failed >= MANY_FAILED * (failed + answered):
        yield (
            f"{failed} of {failed + answered} samples failed and have no reward. If long or hard pivots fail "
            "more often, the rates lean to the others: finish the profile first."
        )
    if metrics.rates[RateClass.UNDECIDED]:
        yield (
            f"{metrics.rates[RateClass.UNDECIDED]} pivots are undecided: fewer samples than were asked for, "
            "all alike. Resume the profile to decide them."
        )
    few = sum(count for k, count in metrics.samples.items() if k.isdecimal() and int(k) < RECOMMENDED_SAMPLES)
    if few:
        yield (
            f"{few} selected pivots have fewer than {RECOMMENDED_SAMPLES} samples. They are mixed, but their "
            "rates are rough."
        )
    if metrics.samples.get("unknown"):
        yield (
            f"{metrics.samples['unknown']} selected pivots have a pass rate of an unknown number of samples, "
            "so that it has no interval."
        )


def _on_profile(metrics: SelectionMetrics) -> Iterator[str]:
    if metrics.rates[RateClass.NOT_PROFILED]:
        yield f"The profile does not name {metrics.rates[RateClass.NOT_PROFILED]} pivots; none was selected."
    if metrics.profiled_elsewhere:
        yield f"The profile names {metrics.profiled_elsewhere} pivots that are none of these."


def _on_kept(metrics: SelectionMetrics) -> Iterator[str]:
    messages = metrics.split[ActionKind.MESSAGE]
    if metrics.kept and messages > metrics.kept / 2:
        yield (
            f"{messages} of {metrics.kept} selected labels are messages. The verifier accepts any text for "
            "them: thin them out with `--drop-messages`."
        )
    if metrics.expected_settled is not None and metrics.expected_settled >= 0.05 * metrics.kept:
        yield (
            f"About {metrics.expected_settled:g} of {metrics.kept} selected pivots are expected to have a "
            "true rate below 0.05 or above 0.95: few samples keep some by luck. More samples sort them out."
        )
    for name, rows in metrics.parts.items():
        if not rows:
            yield f"The {name} side of the split has no row: there are too few tasks for its share."


def _on_evaluations(metrics: SelectionMetrics) -> Iterator[str]:
    for file in metrics.avoided:
        found = file.by_opening + file.by_words
        if found:
            yield f"{found} pivots share a task with {file.path} and were left out."
        if file.too_short:
            short = f"{file.too_short} of {file.records} records of {file.path}"
            yield f"{short} have too few words to be found by."
