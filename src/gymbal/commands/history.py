"""What git says about the two Gym commits of a comparison."""

from __future__ import annotations

import re
from pathlib import Path

from gymbal.model.evidence import DIRTY, Fact, agree
from gymbal.model.history import CodeHistory
from gymbal.model.run import Run
from gymbal.probe.git import check_repository, code_history
from gymbal.triage.own_files import own_files
from gymbal.triage.rungs.code import COMMIT

_HASH = re.compile(r"[0-9a-f]{7,64}")


def history_between(left: Run, right: Run, repository: str | Path) -> CodeHistory | None:
    """The commits of `repository` between the two runs' Gym that touch their benchmark; None for one commit.

    Where a commit is not known, not in the repository, or git is not there, the history says so. Raises
    InputError when `repository` is no git repository.
    """
    problem = check_repository(repository)
    mine, theirs = (_commit(run) for run in (left, right))
    if problem is None and mine is not None and theirs is not None:
        if agree(mine, theirs):
            return None
        own = own_files(left, right)
        return code_history(repository, _plain(mine), _plain(theirs), own.paths, own.instances)
    unknown = [run.label for run, fact in ((left, mine), (right, theirs)) if fact is None]
    return CodeHistory(
        left="" if mine is None else _plain(mine),
        right="" if theirs is None else _plain(theirs),
        problem=problem or f"the Gym commit of {' and of '.join(unknown)} is not known",
    )


def _commit(run: Run) -> Fact | None:
    fact = next((fact for fact in run.facts if fact.name == COMMIT), None)
    return fact if fact is not None and fact.is_known and _HASH.fullmatch(_plain(fact)) else None


def _plain(fact: Fact) -> str:
    """The commit that a checkout with changes of its own was at."""
    return str(fact.value).lower().removesuffix(DIRTY)
