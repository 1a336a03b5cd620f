"""One side of a comparison with all evidence for it: its folder, and what lies outside of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from gymbal.errors import UsageError
from gymbal.model.evidence import Fact
from gymbal.model.reference import Reference
from gymbal.model.run import Run
from gymbal.readers.environment import read_environment
from gymbal.readers.reference import is_reference, read_reference
from gymbal.readers.run import read_run
from gymbal.readers.run.plans import Plans


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """Evidence for a run that is not in its folder."""

    logs: Sequence[str | Path] = ()
    """Logs of what launched it, or served its model."""
    env_files: Sequence[str | Path] = ()
    """Environment that it was launched in; a later file replaces values of an earlier."""
    gym_configs: Sequence[str] = ()
    """Configs that it was started with, to rebuild what it did not save."""
    overrides: Sequence[str] = ()
    gym_python: str | Path | None = None
    """The Python of the Gym that rebuilds."""

    @property
    def is_empty(self) -> bool:
        return not (self.logs or self.env_files or self.gym_configs or self.overrides)


NO_EVIDENCE = Evidence()


def read_side(
    side: str | Path,
    evidence: Evidence = NO_EVIDENCE,
    *,
    cluster: str | None = None,
    plans: Plans | None = None,
) -> Run | Reference:
    """Read a run with the evidence for it, or a published number; `cluster` is a field of the dataset.

    Sides that are read with the same `plans` share the plan of inputs that are the same to the byte.

    Raises InputError or UsageError for what cannot be read or chosen, and for evidence beside a published
    number, whose config belongs into it.
    """
    text = str(side)
    if not is_reference(text):
        return read_run_with(side, evidence, cluster=cluster, plans=plans)
    if not evidence.is_empty:
        remedy = "write what is known of it into the reference, such as temperature=0.6"
        raise UsageError(f"{text} is a published number and takes no logs, files or configs", remedy=remedy)
    if cluster is not None:
        raise UsageError(f"{text} is a published number, and has no tasks that could be in clusters")
    return read_reference(text)


def read_run_with(
    side: str | Path, evidence: Evidence, *, cluster: str | None = None, plans: Plans | None = None
) -> Run:
    """Read a run with the evidence for it; raises InputError or UsageError for what cannot be read."""
    variables = {name: value for file in evidence.env_files for name, value in read_environment(file).items()}
    logged = _read_logs(evidence.logs) if evidence.logs else []
    rebuilt: tuple[Fact, ...] = ()
    if evidence.gym_configs or evidence.overrides:
        # Only here, so that reading a run does not wait for what starts programs.
        from gymbal.commands.rebuild import rebuild_facts

        rebuilt = rebuild_facts(
            evidence.gym_configs,
            evidence.overrides,
            gym_python=evidence.gym_python,
            environment=variables,
        )
    return read_run(side, cluster_field=cluster, stated=variables, more=(logged, rebuilt), plans=plans)


def _read_logs(logs: Sequence[str | Path]) -> list[Fact]:
    from gymbal.readers.run.log import read_log_facts

    return [fact for log in logs for fact in read_log_facts(Path(log), str(log))]
