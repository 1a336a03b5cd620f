"""`gymbal pivot profile` without a policy: rewards that a Gym run or the rows themselves record."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from gymbal.commands.different_pivots import different_pivots
from gymbal.commands.open_pivots import Pivots, open_pivots
from gymbal.errors import InputError, UsageError
from gymbal.io.profile_file import check_target, write_profile
from gymbal.io.remote import path_of
from gymbal.model.pivot_index import PivotEntry
from gymbal.model.profile import PivotProfile, ProfileSource
from gymbal.model.profile_report import ProfileReport, RecordedReport
from gymbal.pivot.profile import OutcomeTally, notes_on, profile_of
from gymbal.readers.run.pivot_rewards import RecordedReward, RecordedRewards, read_pivot_rewards

NOT_A_PIVOT = "other_pivot"
"""The run's row is none of the dataset's."""

NO_FIELD = "no_field"
"""The row does not have the field."""

TOTAL_ENDING = "_total"
"""Of a field beside a pass rate, which says of how many samples: `pass_rate_total`."""


def pivot_profile_from_gym(pivots: str | Path, output: str | Path, run: str | Path) -> ProfileReport:
    """Write the profile of `pivots` that a Gym run over them makes.

    `run` is a run directory or rollouts file with its materialized inputs beside it, or the
    `<stem>_reward_profiling.jsonl` that `gym eval profile` wrote. Rollouts that failed, were lost or are
    masked count as failed, not as 0. Raises InputError when no row of the run is one of the pivots.
    """
    target = path_of(output)
    check_target(target)
    found = read_pivot_rewards(path_of(run))
    by_pivot: dict[str, list[RecordedReward]] = defaultdict(list)
    for reward in found.rewards:
        if reward.pivot is not None:
            by_pivot[reward.pivot].append(reward)
    entries, duplicates = different_pivots(open_pivots(pivots))
    known = {entry.id for entry in entries}
    strangers = sum(len(rewards) for pivot, rewards in by_pivot.items() if pivot not in known)
    if not known & (by_pivot.keys() | found.planned.keys()):
        raise InputError(
            "none of its rows is one of the pivots", path=run, remedy="Name the pivot file that was run."
        )
    profiles = [_gym_profile(entry.id, by_pivot.get(entry.id, []), found) for entry in entries]
    recorded = RecordedReport(
        path=str(run),
        rows=found.rows,
        used=found.rows - found.left_out.total() - strangers,
        left_out={**found.left_out, **({NOT_A_PIVOT: strangers} if strangers else {})},
    )
    return _report(entries, duplicates, profiles, target, ProfileSource.GYM, recorded)


def pivot_profile_from_field(pivots: str | Path, output: str | Path, field: str) -> ProfileReport:
    """Write the profile that the rows carry in `field`: a pass rate from 0 to 1.

    `field` is a path such as `pass_rate` or `qwen_235b_info.reward_mean`. The number of samples comes from
    the field with `_total` behind its name. Rows without the field have no profile. Raises InputError for a
    value that is no rate, and when no row has the field.
    """
    target = path_of(output)
    check_target(target)
    opened = open_pivots(pivots)
    if opened.header is not None:
        raise UsageError("an index has no rows with fields: name the pivot file itself")
    entries, duplicates = different_pivots(opened)
    profiles = [_field_profile(opened, entry, field) for entry in entries]
    without = sum(profile.mean is None for profile in profiles)
    if without == len(profiles):
        raise InputError(f"no row has a field {field}", path=pivots)
    recorded = RecordedReport(
        path=str(pivots),
        rows=len(profiles),
        used=len(profiles) - without,
        left_out={NO_FIELD: without} if without else {},
    )
    return _report(entries, duplicates, profiles, target, ProfileSource.PASS_RATE, recorded)


def _gym_profile(pivot: str, rewards: list[RecordedReward], run: RecordedRewards) -> PivotProfile:
    single = sorted((r.repeat, r.reward) for r in rewards if r.reward is not None)
    lost = sum(reward.lost for reward in rewards)
    means = [reward for reward in rewards if reward.mean is not None]
    if means and not single:
        # Several task profiles of one pivot: its mean is that of all their rollouts.
        k = sum(reward.k or 0 for reward in means)
        mean = sum((reward.mean or 0.0) * (reward.k or 0) for reward in means) / k if k else means[0].mean
        return PivotProfile(
            pivot=pivot, k=k, rewards=None, mean=mean, failed=lost, asked=k + lost, source=ProfileSource.GYM
        )
    asked = run.planned.get(pivot) or (len(single) + lost if rewards else None)
    failed = asked - len(single) if asked is not None else 0
    return profile_of(
        pivot, [reward for _, reward in single], failed=failed, asked=asked, source=ProfileSource.GYM
    )


def _field_profile(opened: Pivots, entry: PivotEntry, field: str) -> PivotProfile:
    row = msgspec.json.decode(opened.row(entry))
    rate = _at(row, field)
    if rate is None:
        mean = None
    elif isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 1:
        raise InputError(
            f"must be a rate from 0 to 1, found {str(rate)[:80]}",
            path=entry.read_from.path,
            line=entry.read_from.line,
            key=field,
        )
    else:
        mean = float(rate)
    total = _at(row, field + TOTAL_ENDING)
    k = total if isinstance(total, int) and not isinstance(total, bool) and total > 0 else None
    if mean is None:
        k = 0
    return PivotProfile(pivot=entry.id, k=k, rewards=None, mean=mean, source=ProfileSource.PASS_RATE)


def _at(row: Any, path: str) -> Any:
    for name in path.split("."):
        row = row.get(name) if isinstance(row, dict) else None
    return row


def _report(
    entries: Iterable[PivotEntry],
    duplicates: int,
    profiles: list[PivotProfile],
    output: Path,
    source: ProfileSource,
    recorded: RecordedReport,
) -> ProfileReport:
    tally = OutcomeTally()
    for entry, profile in zip(entries, profiles, strict=True):
        tally.add(profile, entry.kind)
    write_profile(output, profiles)
    numbers = [number for profile in profiles if (number := profile.asked or profile.k)]
    return ProfileReport(
        pivots=tally.pivots,
        duplicates=duplicates,
        k=max(numbers, default=None),
        source=source,
        output=str(output),
        outcomes=tally.outcomes,
        by_kind=tally.by_kind,
        mean=tally.mean,
        recorded=recorded,
        notes=tuple(notes_on(tally.outcomes, tally.by_kind)),
    )
