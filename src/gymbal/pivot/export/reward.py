"""The text of `reward.py`, the module that a trainer imports."""

from __future__ import annotations

import json
from typing import Any

from gymbal.pivot.export.target import ExportSetting

REWARD = "reward.py"

_HEAD = '''\
"""Reward of the pivots beside this file, for {trainer}. Needs `pip install gymbal`.

Completions are read by `gymbal.verify.completion`: <think> is left out, <tool_call> holds a call as JSON, all
other text is a message. A policy that writes calls in another way needs another reader there.
"""

{imports}

COMPARATOR = Comparator(json.loads({options}))
"""The settings that the pivots came with."""
END_TOKENS = json.loads({end_tokens})
"""Special tokens that are taken off the end of a completion."""


'''

_IMPORTS = """\
import json

from gymbal.verify import Comparator
from gymbal.verify.completion import reward_of"""


def reward_module(trainer: str, setting: ExportSetting, body: str, *, imports: str = "") -> bytes:
    """The module that defines `body` on top of `COMPARATOR`, `END_TOKENS` and `reward_of`."""
    lines = f"{_IMPORTS}\n{imports}" if imports else _IMPORTS
    head = _HEAD.format(
        trainer=trainer,
        imports=lines,
        options=_literal(dict(setting.comparator)),
        end_tokens=_literal(setting.end_tokens),
    )
    return (head + body).encode()


def _literal(value: Any) -> str:
    """Text in JSON in a Python literal: no value, however odd, can end it."""
    return repr(json.dumps(value, sort_keys=True))
