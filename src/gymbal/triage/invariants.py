"""What must hold among the metrics that one run reports, whatever its model did."""

from __future__ import annotations

import re
from collections import defaultdict

from gymbal.stats.passk import monotonicity_problems
from gymbal.triage.side import SideView

_METRIC = re.compile(r"pass(?P<kind>[@^])(?P<k>\d+)/(?P<score>[^/]+)")
_PERCENT = 100.0

RATE_SCORES = frozenset({"accuracy", "reward", "symbolic_accuracy"})
"""Scores for which more is better, so that pass@k can only rise with k. `no_answer` and the like may not."""


def broken_invariants(side: SideView) -> tuple[str, ...]:
    """Sentences on pass@k that falls or pass^k that rises with k; empty where that cannot be judged.

    Gym averages pass@k over the tasks with at least k rollouts, so only runs whose tasks all have equally
    many are judged.
    """
    if len({len(task.rewards) for task in side.tasks.values()}) != 1:
        return ()
    found: dict[str, dict[str, dict[int, float]]] = defaultdict(lambda: {"@": {}, "^": {}})
    for entry in side.run.metrics or ():
        for name, value in entry.values.items():
            match = _METRIC.fullmatch(name)
            if entry.agent == side.agent and match and match["score"] in RATE_SCORES:
                found[match["score"]][match["kind"]][int(match["k"])] = value / _PERCENT
    return tuple(
        f"{score}: {problem}"
        for score, values in sorted(found.items())
        for problem in monotonicity_problems(values["@"], values["^"])
    )
