"""What a test asks of a program that runs in a trainer's environment, and where its reply goes.

    PYTHON program.py REQUEST REPLY

Both are files of JSON: trainers print to standard output.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def reply_with(answer: Callable[[dict[str, Any]], Any]) -> None:
    """Write what `answer` makes of the request."""
    request, reply = map(Path, sys.argv[1:])
    result = answer(json.loads(request.read_text(encoding="utf-8")))
    reply.write_text(json.dumps(result), encoding="utf-8")
