"""Which models answered, by the recorded exchanges: only there do a judge and a user simulator show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from gymbal.errors import InputError
from gymbal.io.jsonl import read_lines
from gymbal.model.evidence import Fact, Role, Strength
from gymbal.readers.run.captures import ENDINGS
from gymbal.readers.run.config import shown_value
from gymbal.readers.run.keys import text_or_none
from gymbal.readers.run.roles import role_of

MAX_FILES = 50
"""One file per rollout; which models answer does not change from one to the next."""

POLICY = "policy_model"


class _Exchange(msgspec.Struct):
    """A line of a capture file, as far as it says who answered."""

    model_ref: Any = None
    response: Any = None


_DECODER = msgspec.json.Decoder(_Exchange)


def read_captured_facts(folder: Path, name: str) -> tuple[Fact, ...]:
    """Models other than the policy's in the first exchanges of the capture folder, which is called `name`."""
    answered: dict[str, set[str]] = defaultdict(set)
    files = sorted(file for file in folder.iterdir() if file.name.endswith(ENDINGS))[:MAX_FILES]
    for server, model in (pair for file in files for pair in _answers(file)):
        if server != POLICY:
            answered[server].add(model)
    return tuple(
        Fact(
            name=f"captured.{server}.model",
            role=role_of(server, Role.MODEL),
            value=shown_value(", ".join(sorted(models))),
            strength=Strength.RECORDED,
            file=name,
            key="response.model",
        )
        for server, models in sorted(answered.items())
    )


def _answers(file: Path) -> Iterator[tuple[str, str]]:
    try:
        lines = list(islice(read_lines(file), MAX_FILES))
    except InputError:
        return
    for line in lines:
        try:
            exchange = _DECODER.decode(line.data)
        except (msgspec.DecodeError, RecursionError):
            continue
        reference = exchange.model_ref if isinstance(exchange.model_ref, dict) else {}
        server = text_or_none(reference.get("name"))
        response = exchange.response
        model = text_or_none(response.get("model")) if isinstance(response, dict) else None
        if server and model:
            yield server, model
