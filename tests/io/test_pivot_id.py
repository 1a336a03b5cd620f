from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from gymbal.io.pivot_id import pivot_id, pivot_id_of_line

ROW: dict[str, Any] = {
    "responses_create_params": {"input": [{"role": "user", "content": "é"}], "tools": []},
    "expected_action": {"type": "message", "content": "x"},
}


def both(row: dict[str, Any]) -> str:
    found = pivot_id(row)
    assert pivot_id_of_line(json.dumps(row).encode()) == found
    return found


def test_pivot_id_is_the_uuid_that_gymbal_gave() -> None:
    assert both({**ROW, "pivot_info": {"uuid": "u-1", "line": 3}}) == "u-1"


@pytest.mark.parametrize("info", [None, {}, {"uuid": ""}, {"uuid": 7}, [], "x"])
def test_pivot_id_without_uuid_is_of_the_content(info: object) -> None:
    assert both({**ROW, "pivot_info": info}) == both(ROW)


def test_pivot_id_of_content_ignores_sampling_settings_and_other_uuids() -> None:
    request = {**ROW["responses_create_params"], "temperature": 0.3, "max_output_tokens": 5}
    assert both({**ROW, "responses_create_params": request, "uuid": "x", "_ng_task_index": 1}) == both(ROW)


@pytest.mark.parametrize("field", ["input", "instructions", "tools"])
def test_pivot_id_of_content_tells_states_apart(field: str) -> None:
    request = {**ROW["responses_create_params"], field: "other"}
    assert both({**ROW, "responses_create_params": request}) != both(ROW)


def test_pivot_id_of_content_tells_labels_apart() -> None:
    assert both({**ROW, "expected_action": {"type": "message", "content": "y"}}) != both(ROW)


def test_pivot_id_of_no_object_is_a_decode_error() -> None:
    with pytest.raises(msgspec.DecodeError):
        pivot_id_of_line(b"[1]")


def test_rows_that_expect_another_answer_have_another_id() -> None:
    # terminus_judge rows have `expected_answer` in place of an expected action.
    state = {"responses_create_params": {"input": "x", "tools": []}}
    ids = {pivot_id(state | {"expected_answer": answer}) for answer in ("a", "b")}
    assert len(ids) == 2
