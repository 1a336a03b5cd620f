"""How large a difference chance alone makes, on the tasks that both sides measured."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from gymbal.errors import UsageError
from gymbal.model.comparison import InferenceTarget
from gymbal.model.finding import Equivalence, Noise, NoiseEstimate, OddRepeat
from gymbal.stats import paired, power
from gymbal.stats.estimate import NotEstimable
from gymbal.stats.multiplicity import equivalence
from gymbal.stats.repeats import repeat_scatter
from gymbal.stats.scores import TaskScores, task_scores
from gymbal.stats.side_scores import bayes_difference, score_pairs
from gymbal.stats.sign_flip import paired_sign_flip_p
from gymbal.triage.metric import MetricKind, rollouts_behind
from gymbal.triage.side import SideView

NOTHING_COMMON = "no task was measured on both sides"


EQUIVALENCE_LEVEL = 0.90
"""Level of the interval behind two one-sided tests at 5 % each."""

ODD_REPEAT_P = 0.01
"""Below this p the repeats of a side are reported as odd; two sides are looked at, and most runs are fine."""


def estimate_noise(
    left: SideView,
    right: SideView,
    common: Sequence[str],
    *,
    level: float,
    margin: float | None = None,
    seed: int = 0,
    by_cluster: bool = False,
) -> tuple[Noise, str | None]:
    """Return the noise on `common`, and why the same-tasks estimate is missing where it is.

    `margin` asks whether the difference is shown to lie within +-margin; `seed` is that of permutation draws.
    With `by_cluster` the noise of new tasks is that of new clusters; raises UsageError where there are none.
    """
    if not common:
        return Noise(
            same_tasks=None, new_tasks=None, minimum_detectable=None, repeats_needed=None
        ), NOTHING_COMMON
    mine, theirs = scores_on(left, common), scores_on(right, common)
    same = paired.same_tasks(mine, theirs, level=level)
    clusters_T = _clusters(left, right, common) if by_cluster else None
    new = paired.new_tasks(mine, theirs, level=level, clusters_T=clusters_T)
    smallest = power.minimum_detectable(mine, theirs, level=level)
    difference = float(theirs.mean_T.mean() - mine.mean_T.mean())
    repeats = power.repeats_needed(mine, theirs, difference, level=level)
    is_varied = not isinstance(same, NotEstimable) and same.low < same.high
    noise = Noise(
        same_tasks=None if isinstance(same, NotEstimable) else same,
        new_tasks=None if isinstance(new, NotEstimable) else new,
        minimum_detectable=None if isinstance(smallest, NotEstimable) or not is_varied else smallest,
        repeats_needed=None if isinstance(repeats, NotEstimable) or not is_varied else repeats,
        sign_flip_p=paired_sign_flip_p(
            mine.mean_T.tolist(), theirs.mean_T.tolist(), seed=seed, clusters_T=clusters_T
        ),
        equivalence=None if margin is None else _equivalence(mine, theirs, margin),
        odd_repeats=tuple(odd for side in (left, right) if (odd := _odd_repeat(side, common)) is not None),
        scores=score_pairs(
            left.metric.name, (mine, theirs), _pass_rewards(left, right, common), level=level, seed=seed
        ),
        bayes=bayes_difference(mine, theirs, level=level),
    )
    return noise, same.reason if isinstance(same, NotEstimable) else None


def deciding_estimate(noise: Noise) -> tuple[InferenceTarget, NoiseEstimate] | None:
    """The estimate that judges a difference, and what it is about: the same tasks, where repeats can tell."""
    if noise.same_tasks is not None:
        return InferenceTarget.SAME_TASKS, noise.same_tasks
    return None if noise.new_tasks is None else (InferenceTarget.NEW_TASKS, noise.new_tasks)


def name_of_noise(noise: Noise) -> str:
    """What to call the noise that `deciding_estimate` measures."""
    found = deciding_estimate(noise)
    is_between = found is not None and found[0] is InferenceTarget.NEW_TASKS
    return "the noise between tasks" if is_between else "re-run noise"


def too_few_tasks(noise: Noise, level: float) -> str | None:
    """Why these tasks could show no difference, however large; None where they could."""
    estimate = noise.same_tasks or noise.new_tasks
    if estimate is None:
        return None
    if estimate.n < 2:
        return "a single task was measured on both sides"
    if estimate.least_p >= 1.0 - level:
        smallest = f"if all of them changed, p would be {estimate.least_p:.2g}"
        tasks = "that were run once" if estimate.k == 1 else f"with one value of {estimate.k:.3g} repeats"
        return f"{estimate.n} tasks {tasks} can show no difference: {smallest}"
    return None


def _equivalence(mine: TaskScores, theirs: TaskScores, margin: float) -> Equivalence | None:
    estimate = paired.same_tasks(mine, theirs, level=EQUIVALENCE_LEVEL)
    if isinstance(estimate, NotEstimable):
        return None
    return Equivalence(
        margin=margin,
        low=estimate.low,
        high=estimate.high,
        is_shown=equivalence(estimate, margin=margin),
    )


def _odd_repeat(side: SideView, common: Sequence[str]) -> OddRepeat | None:
    """The side's repeats, where all tasks have equally many and their means scatter too much."""
    found = repeat_scatter([side.tasks[key].rewards for key in common])
    if isinstance(found, NotEstimable) or found.p >= ODD_REPEAT_P:
        return None
    return OddRepeat(side=side.run.label, p=found.p, means=found.means)


def _clusters(left: SideView, right: SideView, common: Sequence[str]) -> list[tuple[str, str]]:
    """The cluster of each common task; a task without one is a cluster of its own."""
    named = {key: left.tasks[key].cluster or right.tasks[key].cluster for key in common}
    if not any(named.values()):
        raise UsageError(
            "no task that both sides measured has the field that names its cluster",
            remedy="name a field of the dataset, which <stem>_materialized_inputs.jsonl keeps",
        )
    return [("cluster", name) if name is not None else ("task", key) for key, name in named.items()]


def scores_on(side: SideView, common: Sequence[str]) -> TaskScores:
    """The side's rewards, or its values of pass@k, on the tasks of `common`, in their order."""
    observations = [_observations(side, key) for key in common]
    if side.metric.kind is not MetricKind.PASS_AT_K:
        return task_scores(observations)
    rollouts = [rollouts_behind(side.metric, side.tasks[key].rewards) for key in common]
    return task_scores(observations, rollouts_per_value=fmean(rollouts) if rollouts else 1.0)


def _pass_rewards(
    left: SideView, right: SideView, common: Sequence[str]
) -> tuple[list[list[float]], list[list[float]]] | None:
    """The rewards behind pass@k and pass^k; None for a metric that is one of them."""
    if left.metric.kind is MetricKind.PASS_AT_K:
        return None
    return [left.tasks[key].rewards for key in common], [right.tasks[key].rewards for key in common]


def _observations(side: SideView, key: str) -> list[float]:
    """The task's rewards, or its one value under a metric that is no mean of single rewards."""
    task = side.tasks[key]
    if side.metric.kind is not MetricKind.PASS_AT_K:
        return task.rewards if side.metric.k is None else task.rewards[: side.metric.k]
    return [] if task.value is None else [task.value]
