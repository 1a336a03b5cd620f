"""`gymbal triage`: runs and published numbers in; one explanation, or a table of several, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from gymbal.commands.handoff import named_launch, with_commands
from gymbal.commands.labels import check_candidates, distinct_labels, told_apart
from gymbal.commands.side import NO_EVIDENCE, Evidence, read_side
from gymbal.errors import UsageError
from gymbal.model.comparison import ComparisonReport
from gymbal.model.finding import TriageReport
from gymbal.model.reference import Reference
from gymbal.model.run import Run
from gymbal.readers.reference import is_reference, read_reference
from gymbal.readers.run.locate import locate
from gymbal.readers.run.plans import Plans
from gymbal.triage.explain import HistoryBetween
from gymbal.triage.explain_many import explain_many, explain_sides
from gymbal.triage.metric import DEFAULT_METRIC


def triage_runs(
    left: str | Path,
    right: str | Path,
    *,
    metric: str = DEFAULT_METRIC,
    agent: str | None = None,
    level: float = 0.95,
    seed: int = 0,
    margin: float | None = None,
    cluster: str | None = None,
    strict: bool = False,
    left_evidence: Evidence = NO_EVIDENCE,
    right_evidence: Evidence = NO_EVIDENCE,
    gym_repo: str | Path | None = None,
) -> TriageReport:
    """Say why `right` scores differently from `left`.

    A side is a run directory, a rollouts file in one, a glob of shards, or a published number: a `.toml` file
    or a line such as `73.2% n=198 k=8`. Evidence for a run that is not in its folder, such as its launcher's
    log, is given apart; with a clone of NeMo Gym, `gym_repo`, git says what lies between two commits. Raises
    InputError or UsageError for what cannot be read or chosen; a broken run is a finding, not an error.

    `cluster` is a field of the dataset rows, dots leading into objects: tasks with the same value there
    (documents, repositories) are then one cluster in the interval of new tasks.
    """
    plans = Plans()
    mine, theirs = told_apart(
        read_side(left, left_evidence, cluster=cluster, plans=plans),
        read_side(right, right_evidence, cluster=cluster, plans=plans),
        given=(str(left), str(right)),
    )
    report = explain_sides(
        mine,
        theirs,
        metric=metric,
        agent=agent,
        level=level,
        seed=seed,
        margin=margin,
        by_cluster=cluster is not None,
        strict=strict,
        history=None if gym_repo is None else _history(gym_repo),
    )
    return with_commands(report, (str(left), named_launch(mine)), (str(right), named_launch(theirs)))


def triage_many(
    base: str | Path,
    candidates: Sequence[str | Path],
    *,
    metrics: Sequence[str] = (DEFAULT_METRIC,),
    agent: str | None = None,
    level: float = 0.95,
    seed: int = 0,
    margin: float | None = None,
    cluster: str | None = None,
    strict: bool = False,
    base_evidence: Evidence = NO_EVIDENCE,
    candidate_evidence: Mapping[str, Evidence] | None = None,
    gym_repo: str | Path | None = None,
) -> ComparisonReport:
    """Say for each candidate and metric why it scores differently from `base`, and judge them together.

    Sides are as in `triage_runs`; each is read once, and one candidate is held at a time. Two sides of the
    same name go by their paths. `candidate_evidence` is by candidate, as it was given. Raises InputError or
    UsageError for what cannot be read or chosen.
    """
    given = (str(base), *check_candidates(candidates))
    evidence = candidate_evidence or {}
    for name in evidence:
        if name not in given[1:]:
            raise UsageError(f"{name} is no candidate", remedy=f"there are: {', '.join(given[1:])}")
    labels = distinct_labels([_label(side) for side in given], given)
    beside = [base_evidence, *(evidence.get(side, NO_EVIDENCE) for side in given[1:])]
    launches: dict[str, str | None] = {}
    plans = Plans()

    def read(place: int) -> Run | Reference:
        side = read_side(given[place], beside[place], cluster=cluster, plans=plans)
        launches[labels[place]] = named_launch(side)
        return msgspec.structs.replace(side, label=labels[place])

    table = explain_many(
        read(0),
        (read(place) for place in range(1, len(given))),
        metrics=metrics,
        agent=agent,
        level=level,
        seed=seed,
        margin=margin,
        by_cluster=cluster is not None,
        strict=strict,
        history=None if gym_repo is None else _history(gym_repo),
    )
    known = {label: (text, launches[label]) for label, text in zip(labels, given, strict=True)}
    reports = (with_commands(row, known[labels[0]], known[row.right.label]) for row in table.candidates)
    return msgspec.structs.replace(table, candidates=tuple(reports))


def _history(gym_repo: str | Path) -> HistoryBetween:
    # Only here, so that a triage without a repository does not wait for what starts programs.
    from gymbal.commands.history import history_between

    return lambda left, right: history_between(left, right, gym_repo)


def _label(side: str) -> str:
    """The side's own name, found without reading its rows; so that a wrong path is refused at once."""
    return read_reference(side).label if is_reference(side) else locate(side).label
