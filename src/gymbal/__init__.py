"""gymbal explains why two scores differ and turns trajectories into single-step RL datasets.

Every command is a function here, beside the structs that it takes options in. All is loaded on first use, so
that `import gymbal` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from gymbal.version import __version__ as __version__

if TYPE_CHECKING:
    from gymbal.commands.evidence import evidence
    from gymbal.commands.gate import gate
    from gymbal.commands.pivot_audit import pivot_audit
    from gymbal.commands.pivot_build import pivot_build
    from gymbal.commands.pivot_config import pivot_config
    from gymbal.commands.pivot_export import pivot_export
    from gymbal.commands.pivot_index import pivot_index
    from gymbal.commands.pivot_inspect import pivot_inspect
    from gymbal.commands.pivot_profile import pivot_profile
    from gymbal.commands.pivot_rescore import pivot_rescore
    from gymbal.commands.pivot_select import pivot_select
    from gymbal.commands.pivot_stats import pivot_stats
    from gymbal.commands.pivot_validate import pivot_validate
    from gymbal.commands.record import record
    from gymbal.commands.skills import skills_install, skills_list
    from gymbal.commands.tasks import tasks
    from gymbal.commands.triage import triage_many, triage_runs
    from gymbal.errors import GymbalError
    from gymbal.model.sampling import Budget, SamplingLimits
    from gymbal.pivot.options import BuildOptions
    from gymbal.pivot.selection.options import SelectOptions
    from gymbal.pivot.validate_options import ValidateOptions

__all__ = [
    "Budget",
    "BuildOptions",
    "GymbalError",
    "SamplingLimits",
    "SelectOptions",
    "ValidateOptions",
    "evidence",
    "gate",
    "pivot_audit",
    "pivot_build",
    "pivot_config",
    "pivot_export",
    "pivot_index",
    "pivot_inspect",
    "pivot_profile",
    "pivot_rescore",
    "pivot_select",
    "pivot_stats",
    "pivot_validate",
    "record",
    "skills_install",
    "skills_list",
    "tasks",
    "triage_many",
    "triage_runs",
]

_HOME = {
    "Budget": "gymbal.model.sampling",
    "BuildOptions": "gymbal.pivot.options",
    "GymbalError": "gymbal.errors",
    "SamplingLimits": "gymbal.model.sampling",
    "SelectOptions": "gymbal.pivot.selection.options",
    "ValidateOptions": "gymbal.pivot.validate_options",
    "evidence": "gymbal.commands.evidence",
    "gate": "gymbal.commands.gate",
    "pivot_audit": "gymbal.commands.pivot_audit",
    "pivot_build": "gymbal.commands.pivot_build",
    "pivot_config": "gymbal.commands.pivot_config",
    "pivot_export": "gymbal.commands.pivot_export",
    "pivot_index": "gymbal.commands.pivot_index",
    "pivot_inspect": "gymbal.commands.pivot_inspect",
    "pivot_profile": "gymbal.commands.pivot_profile",
    "pivot_rescore": "gymbal.commands.pivot_rescore",
    "pivot_select": "gymbal.commands.pivot_select",
    "pivot_stats": "gymbal.commands.pivot_stats",
    "pivot_validate": "gymbal.commands.pivot_validate",
    "record": "gymbal.commands.record",
    "skills_install": "gymbal.commands.skills",
    "skills_list": "gymbal.commands.skills",
    "tasks": "gymbal.commands.tasks",
    "triage_many": "gymbal.commands.triage",
    "triage_runs": "gymbal.commands.triage",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'gymbal' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
