"""The text of `reward.py`, the module that a trainer imports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

REWARD = "reward.py"

_HEAD = '''\
"""Reward of the pivots beside this file, for {trainer}. Needs `pip install gymbal`.

Completions are read by `gymbal.verify.completion`: <think> is left out, <tool_call> holds a call as JSON, all
other text is a message. A policy that writes calls in another way needs another reader there.
"""

{imports}

COMPARATOR = Comparator(json.loads({options}))
"""The settings that the pivots came with."""


'''

_IMPORTS = """\
import json

from gymbal.verify import Comparator
from gymbal.verify.completion import reward_of"""


def reward_module(trainer: str, options: Mapping[str, Any], body: str, *, imports: str = "") -> bytes:
    """The module that defines `body` on top of `COMPARATOR` and `reward_of`."""
    lines = f"{_IMPORTS}\n{imports}" if imports else _IMPORTS
    # Text in JSON in a Python literal: no setting, however odd, can end it.
    literal = repr(json.dumps(dict(options), sort_keys=True))
    return (_HEAD.format(trainer=trainer, imports=lines, options=literal) + body).encode()
