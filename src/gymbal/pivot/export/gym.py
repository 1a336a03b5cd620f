"""NeMo Gym: the rows as they are, and their config."""

from __future__ import annotations

from gymbal.model.export import ExportTarget
from gymbal.pivot.export.target import ExportFormat, ExportSetting

_README = """\
# {dataset}

Pivot rows for NeMo Gym, as they were read, and the config that scores them.

    gym env validate --config {config}

`config.yaml` names the rows by the path that they were written to: change `jsonl_fpath` where they move.
State the `license` before you publish them.
"""


def _texts(setting: ExportSetting) -> dict[str, bytes]:
    return {"README.md": _README.format(dataset=setting.dataset, config=setting.config_path).encode()}


GYM = ExportFormat(name=ExportTarget.GYM, title="NeMo Gym", texts=_texts, has_gym_rows=True, needs_chat=False)
