"""Whatever a record holds, a reader gives a trajectory that builds and validates, or says what is wrong."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from json_rows import write_rows

from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_inspect import pivot_inspect
from gymbal.commands.pivot_validate import pivot_validate
from gymbal.errors import GymbalError
from gymbal.readers import FORMATS

FOLDER = Path(__file__).parent / "formats"

FILES = {
    "gym_rollouts": ("desk.jsonl", "token_ids.jsonl"),
    "pivot_rows": ("rows.jsonl",),
    "openai_chat": ("desk.jsonl", "awkward.jsonl", "split_responses.jsonl"),
    "openai_responses": ("desk_chained.jsonl", "awkward.jsonl"),
    "tau_bench": ("desk.json",),
    "tau2_bench": ("results.json",),
}

ODD_VALUES: list[Any] = [
    *(None, True, 0, 1.5, -1, 2**70, "", "x", "\ud800", "{", "null", '"', [], {}, [[]], [{}], [None], ["x"]),
    *({"type": "text"}, {"type": "text", "text": None}, {"role": "assistant"}, {"type": "function_call"}),
]
ODD = st.sampled_from(ODD_VALUES)


def paths_in(value: Any) -> list[tuple[Any, ...]]:
    """The path of every value inside `value`."""
    if isinstance(value, dict):
        steps = list(value.items())
    elif isinstance(value, list):
        steps = list(enumerate(value))
    else:
        return []
    return [path for key, inner in steps for path in ((key,), *((key, *rest) for rest in paths_in(inner)))]


def changed(document: Any, path: tuple[Any, ...], value: Any, *, delete: bool) -> Any:
    """A copy of `document` with another value at `path`, or none."""
    copy = deepcopy(document)
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    if delete:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return copy


def written(document: Any, suffix: str, folder: Path) -> Path:
    path = folder / f"source{suffix}"
    if suffix == ".jsonl":
        write_rows(path, document)
    else:
        path.write_text(json.dumps(document, indent=1))
    return path


@pytest.mark.parametrize("name", [known.name for known in FORMATS])
@settings(max_examples=10)
@given(data=st.data())
def test_reader_copes_with_any_change_of_a_record(name: str, data: st.DataObject) -> None:
    file = FOLDER / name / data.draw(st.sampled_from(FILES[name]))
    text = file.read_text()
    document = (
        [json.loads(line) for line in text.splitlines()] if file.suffix == ".jsonl" else json.loads(text)
    )
    for _ in range(data.draw(st.integers(1, 2))):
        paths = paths_in(document)
        if not paths:
            break  # its only record was taken away
        path = data.draw(st.sampled_from(paths))
        document = changed(document, path, data.draw(ODD), delete=data.draw(st.booleans()))
    with TemporaryDirectory() as folder:
        source = written(document, file.suffix, Path(folder))
        tools = file.parent / "tools.json"
        refusal = None
        try:
            metrics = pivot_build(
                source,
                Path(folder) / "dataset",
                source_format=name,
                tools=tools if tools.exists() else None,
            )
        except GymbalError as error:
            refusal = str(error)
        if refusal is not None:
            assert str(source) in refusal
            return
        assert metrics.candidates == metrics.kept + sum(metrics.skipped.values())
        report = pivot_validate(Path(folder) / "dataset")
        assert (report.rows, report.violations) == (metrics.kept, ())
        assert pivot_inspect(source, source_format=name).left.model_calls == metrics.candidates
