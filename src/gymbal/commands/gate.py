"""`gymbal gate`: a policy, a base and candidates in; one decision out."""

from __future__ import annotations

import datetime
import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from gymbal.commands.labels import check_candidates, distinct_labels
from gymbal.errors import InputError, UsageError
from gymbal.model.gate import BenchmarkPolicy, GatePolicy, GateReport
from gymbal.model.run import Run
from gymbal.readers.gate_policy import read_gate_policy
from gymbal.readers.run import read_run
from gymbal.triage.gate.contest import Absence, Contest, Evidence, weigh
from gymbal.triage.gate.judge import judge
from gymbal.triage.metric import parse_metric
from gymbal.triage.reported import UnreportedMetricError


def gate(
    policy: str | Path,
    base: str | Path,
    candidates: Sequence[str | Path],
    *,
    today: datetime.date,
    seed: int = 0,
) -> GateReport:
    """Decide by the policy file `policy` whether each candidate may replace `base`.

    A side is a folder with one run directory per benchmark, or, for benchmarks whose `path` is `.`, whatever
    `triage_runs` takes for a run. Waivers count until `today`, `seed` is that of permutation draws. A run
    that is missing or cannot be read is a reason for INCONCLUSIVE. Raises InputError for a policy that is
    not valid and for a side that does not exist, UsageError for a candidate that is given twice and for a
    metric that neither run reports.
    """
    rules = read_gate_policy(policy)
    _check_metrics(rules, Path(policy))
    given = (str(base), *check_candidates(candidates))
    for side in given:
        if not Path(side).exists():
            raise InputError("does not exist", path=side, remedy="give a folder of run directories")
    labels = distinct_labels([Path(side).resolve().name for side in given], given)
    contests = [
        contest
        for rule in rules.benchmarks
        for contest in _contests(rule, tuple(zip(given, labels, strict=True)), rules.level, seed)
    ]
    return judge(rules, contests, base=labels[0], today=today.isoformat())


def _check_metrics(policy: GatePolicy, path: Path) -> None:
    for number, rule in enumerate(policy.benchmarks):
        try:
            parse_metric(rule.metric)
        except UsageError as error:
            key = f"benchmark[{number}].metric"
            raise InputError(error.message, path=path, key=key, remedy=error.remedy) from error


def _contests(
    rule: BenchmarkPolicy, sides: Sequence[tuple[str, str]], level: float, seed: int
) -> Iterator[Contest]:
    """One contest per candidate. The base is read once, and one candidate is held at a time."""
    (base, base_label), *candidates = sides
    mine = _read(rule, base, base_label)
    for candidate, label in candidates:
        found = mine if isinstance(mine, Absence) else _weigh(rule, mine, candidate, label, level, seed)
        yield Contest(rule=rule, candidate=label, found=found)


def _weigh(
    rule: BenchmarkPolicy, base: Run, candidate: str, label: str, level: float, seed: int
) -> Evidence | Absence:
    theirs = _read(rule, candidate, label)
    if isinstance(theirs, Absence):
        return theirs
    try:
        return weigh(rule, base, theirs, level=level, seed=seed)
    except UnreportedMetricError as error:
        raise UsageError(f"benchmark {rule.name}: {error.message}", remedy=error.remedy) from error
    except UsageError as error:
        return Absence(
            reason=error.message, remedy="name the agent of this benchmark in the policy: agent = ..."
        )


def _read(rule: BenchmarkPolicy, side: str, label: str) -> Run | Absence:
    place = _find(rule, side)
    if isinstance(place, Absence):
        return place
    try:
        return msgspec.structs.replace(read_run(place), label=label)
    except (InputError, UsageError) as error:
        remedy = error.remedy or "repeat the run, or correct the benchmark's path in the policy"
        return Absence(reason=f"{label} cannot be read: {error.message}", remedy=remedy)


def _find(rule: BenchmarkPolicy, side: str) -> str | Absence:
    """The one run of the benchmark below `side`: a folder, a file, or a pattern of shards."""
    place = Path(side) / rule.place
    if place.exists():
        return str(place)
    pattern = os.path.join(glob.escape(side), rule.place)  # noqa: PTH118 - a Path would drop the escapes' meaning
    matches = sorted(glob.glob(pattern)) if glob.has_magic(rule.place) else []  # noqa: PTH207 - escaped above
    folders = [match for match in matches if Path(match).is_dir()]
    if not matches:
        reason = f"{rule.name} is missing: {place} does not exist"
        return Absence(reason=reason, remedy="run the benchmark, or correct its path in the policy")
    if not folders:
        return pattern
    if len(matches) > 1:
        reason = f"{rule.name} is not clear: {place} matches {len(matches)} runs, {', '.join(matches)}"
        return Absence(reason=reason, remedy="give the benchmark a path that matches one run")
    return folders[0]
