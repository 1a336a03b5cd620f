"""How far one total may lie from the score on other tasks like its own, as far as a total can say."""

from __future__ import annotations

import math

import msgspec

from gymbal.model.reference import ErrorKind, Reference
from gymbal.stats.estimate import NotEstimable
from gymbal.stats.published import possible_counts
from gymbal.stats.scores import TaskScores, spread_of_mean
from gymbal.triage.noise_estimates import scores_on
from gymbal.triage.side import SideView

Z_95 = 1.959963984540054
"""Half-width of a 95 % normal interval in standard errors."""

UNVARIED = "every task scored the same, which measures no noise"


class ScoreError(msgspec.Struct, frozen=True, kw_only=True):
    """The standard error of a score over tasks like these, as a proportion."""

    low: float
    """The least that it can be; 0 where nothing is known."""
    high: float | None
    """The largest, equal to `low` where it was measured or stated. None: not known."""
    basis: str
    """What both rest on, or why `high` is not known."""
    tasks: int | None
    is_pass_fail: bool
    """Whether each of `tasks` gave one value of 0 or 1, so that the score counts passes."""


def counts_repeats(metric: str) -> bool:
    """Whether the metric is a plain mean, so that score times n times k is a whole number of passes."""
    if metric.startswith("pass@") and "avg-of" not in metric:
        return metric.startswith("pass@1/")
    return True


def error_of_reference(reference: Reference, metric: str) -> ScoreError:
    """The error bar as stated where it is one over tasks, else what n and k leave open for 0/1 rewards."""
    match reference.error_kind:
        case ErrorKind.STANDARD_ERROR if reference.error is not None:
            return _stated(reference, float(reference.error) / reference.scale)
        case ErrorKind.CONFIDENCE_95 if reference.error is not None:
            return _stated(reference, float(reference.error) / reference.scale / Z_95)
        case ErrorKind.STANDARD_DEVIATION if reference.error is not None:
            return _above_reruns(reference, float(reference.error) / reference.scale)
    return _binomial(reference, metric)


def error_of_run(view: SideView) -> ScoreError:
    """The error of the metric's values of the tasks, the repeats of a task being one cluster."""
    scores = scores_on(view, [key for key, task in view.tasks.items() if task.value is not None])
    error, basis = _spread(scores)
    return ScoreError(
        low=error or 0.0,
        high=error,
        basis=basis,
        tasks=scores.tasks or None,
        is_pass_fail=scores.tasks >= 2 and scores.is_single_pass_fail,
    )


def _spread(scores: TaskScores) -> tuple[float | None, str]:
    """The standard error over tasks with its basis; None with the reason where the tasks measure none."""
    if scores.tasks < 2:
        return None, "fewer than two tasks were measured"
    spread = spread_of_mean(scores)
    error, basis = (
        (float(scores.mean_T.std(ddof=1)) / math.sqrt(scores.tasks), "over task means")
        if isinstance(spread, NotEstimable)
        else (spread.new_tasks, "clustered by task")
    )
    return (error, basis) if error else (None, UNVARIED)


def _stated(reference: Reference, error: float) -> ScoreError:
    return ScoreError(
        low=error,
        high=error,
        basis=f"{reference.error_kind.value} {reference.error} as printed",
        tasks=reference.tasks,
        is_pass_fail=False,
    )


def _above_reruns(reference: Reference, deviation: float) -> ScoreError:
    """Re-runs of the same tasks vary less than other tasks would, however little they vary."""
    low = 0.0 if reference.repeats is None else deviation / math.sqrt(reference.repeats)
    largest = _largest(reference)
    unknown = UNVARIED if reference.tasks is not None else "n is not stated"
    rest = unknown if largest is None else f"binomial over n {reference.tasks} at most"
    return ScoreError(
        low=low,
        high=None if largest is None else max(low, largest),
        basis=f"std {reference.error} of runs says nothing of other tasks, {rest}",
        tasks=reference.tasks,
        is_pass_fail=False,
    )


def _binomial(reference: Reference, metric: str) -> ScoreError:
    """Between all variance lying within tasks and all of it between them; without k, one run of each."""
    high, tasks, repeats = _largest(reference), reference.tasks, reference.repeats or 1
    if tasks is None:
        basis = "neither n nor an error bar of known kind is stated"
        return ScoreError(low=0.0, high=None, basis=basis, tasks=None, is_pass_fail=False)
    counts = possible_counts(reference.printed, tasks, scale=reference.scale)
    is_pass_fail = counts_repeats(metric) and repeats == 1 and len(counts) > 0
    if high is None:
        return ScoreError(low=0.0, high=None, basis=UNVARIED, tasks=tasks, is_pass_fail=is_pass_fail)
    if not counts_repeats(metric):
        # How a value of pass@k varies within a task depends on how many rollouts are behind it.
        basis = f"binomial over n {tasks} at most"
        return ScoreError(low=0.0, high=high, basis=basis, tasks=tasks, is_pass_fail=False)
    between = f", between n {tasks} and n x k {tasks * repeats}"
    return ScoreError(
        low=high / math.sqrt(repeats),
        high=high,
        basis=f"binomial over n {tasks}" if repeats == 1 else f"binomial{between}",
        tasks=tasks,
        is_pass_fail=is_pass_fail,
    )


def _largest(reference: Reference) -> float | None:
    """No values of n tasks between 0 and 1 vary more about this score than passes and failures do.

    None without n, and for a score of 0 or 1, whose tasks all scored the same.
    """
    if reference.tasks is None or reference.score in (0.0, 1.0):
        return None
    return math.sqrt(reference.score * (1 - reference.score) / reference.tasks)
