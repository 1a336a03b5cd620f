"""Digests of tasks: equal for the same task however it is written down, different when it changed."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from run_builder import input_row, lines, rollout_row, write_file

from gymbal.model.rollout_table import PlanTable
from gymbal.readers.run import read_run
from gymbal.readers.run.content import Request, RequestReader
from gymbal.readers.run.verifier_fields import ANSWER_FIELDS, ANSWER_HOLDERS, ANSWER_PREFIXES


def request(**params: Any) -> Request:
    return RequestReader().read(msgspec.Raw(json.dumps(params).encode()))


def planned(folder: Path, *rows: dict[str, Any]) -> PlanTable:
    write_file(folder / "rollouts.jsonl", lines([rollout_row(0, 0)]))
    write_file(folder / "rollouts_materialized_inputs.jsonl", lines(rows))
    found = read_run(folder / "rollouts.jsonl").planned
    assert found is not None
    return found


SAME_INPUTS: list[Any] = [
    "What?",
    [{"role": "user", "content": "What?"}],
    [{"content": "What?", "role": "user", "type": "message", "phase": None, "status": None}],
    [{"role": "user", "content": [{"type": "input_text", "text": "What?"}], "status": "completed"}],
]


@pytest.mark.parametrize("written", SAME_INPUTS)
def test_prompt_digest_is_the_same_for_every_way_to_write_it(written: Any) -> None:
    plain = request(input="What?")
    echoed = request(input=written, temperature=0.6, tools=[], metadata=None, text=None, background=None)
    assert echoed.content == plain.content


@pytest.mark.parametrize(
    "params",
    [
        {"input": "What"},
        {"input": [{"role": "system", "content": "What?"}]},
        {"input": [{"role": "user", "content": "What?"}, {"role": "user", "content": "What?"}]},
        {"input": "What?", "metadata": {"instance_id": "x"}},
        {"input": "What?", "text": {"format": {"type": "json_schema"}}},
        {"input": "What?", "prompt": {"id": "p"}},
        {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "What?"}]}]},
    ],
)
def test_prompt_digest_sees_a_change(params: dict[str, Any]) -> None:
    assert request(**params).content.prompt != request(input="What?").content.prompt


def test_prompt_digest_leaves_settings_out() -> None:
    asked = request(
        input="What?", temperature=0.1, metadata={"extra_body": '{"seed": 1}'}, instructions="Be brief."
    )
    assert asked.content == request(input="What?").content
    assert asked.settings.instructions is not None


def test_parts_lose_only_the_defaults_that_the_echo_fills_in() -> None:
    parts = [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "u"}]
    echoed = [parts[0], parts[1] | {"detail": "auto", "file_id": None}]
    detailed = [parts[0], parts[1] | {"detail": "high"}]
    first, same, other = (
        request(input=[{"role": "user", "content": content}]).content.prompt
        for content in (parts, echoed, detailed)
    )
    assert first == same != other


def test_tools_digest_ignores_unset_members_and_sees_the_order() -> None:
    one = {"type": "function", "name": "one", "parameters": {"type": "object", "default": None}}
    two = {"type": "function", "name": "two"}
    tools = request(tools=[one, two]).content.tools
    assert request(tools=[one | {"description": None, "strict": None}, two]).content.tools == tools
    assert request(tools=[two, one]).content.tools != tools
    # A null inside a schema says something.
    assert request(tools=[one | {"parameters": {"type": "object"}}, two]).content.tools != tools
    assert request(tools=None).content.tools == request(tools=[]).content.tools == request().content.tools


def test_requests_that_are_equal_share_one_object() -> None:
    reader = RequestReader()
    raw = msgspec.Raw(b'{"input": "x", "temperature": 1}')
    assert reader.read(raw) is reader.read(msgspec.Raw(bytes(raw)))
    other = reader.read(msgspec.Raw(b'{"input": "y", "temperature": 1.0}'))
    assert other.settings is reader.read(raw).settings


def test_request_that_is_no_object_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        RequestReader().read(msgspec.Raw(b'"text"'))


def test_verifier_digest_sees_the_answer_and_not_the_names(tmp_path: Path) -> None:
    base, renamed, rekeyed, resampled, edited = planned(
        tmp_path,
        input_row(0, 0),
        input_row(0, 1, uuid="another", task_source="t", skills_ref={"hash": "h"}, task_id=4, id="i"),
        input_row(1, 0)
        | {"expected_answer": "0", "responses_create_params": input_row(0, 0)["responses_create_params"]},
        input_row(0, 2)
        | {"responses_create_params": {"input": "What is 0 plus nothing?", "temperature": 1.0}},
        input_row(0, 3, expected_answer="1"),
    )
    assert base.content == renamed.content == rekeyed.content == resampled.content
    assert edited.content.prompt == base.content.prompt
    assert edited.content.verifier == base.content.verifier
    assert edited.content.answer != base.content.answer
    assert base.settings != resampled.settings


@pytest.mark.parametrize(
    ("edit", "is_answer"),
    [
        # Field names of datasets that nemo-gym 0.7.0 ships.
        ({"expected_action": {"type": "function_call", "name": "f"}}, True),
        ({"expected_synonym_values": [1, 2]}, True),
        ({"ground_truth": ["x"]}, True),
        ({"gt_sql": "select 1"}, True),
        ({"answer": 3}, True),
        ({"verifier_metadata": {"ideal": "C", "conditions": "a"}}, True),
        ({"metadata": {"solution": "x", "difficulty": 1}}, True),
        ({"metadata": {"solution": "y", "difficulty": 2}}, False),
        ({"verifier_metadata": {"ideal": "CC", "conditions": "b"}}, False),
        ({"options": [{"A": "1"}]}, False),
        ({"rubric": "strict"}, False),
        ({"answer_format": "boxed"}, False),
        ({"expectedness": 1}, False),
    ],
)
def test_answer_fields_are_told_from_the_other_verifier_fields(
    tmp_path: Path, edit: dict[str, Any], is_answer: bool
) -> None:
    held = {"metadata": {"solution": "y", "difficulty": 1}}
    held["verifier_metadata"] = {"ideal": "CC", "conditions": "a"}
    base, edited = planned(tmp_path, input_row(0, 0) | held, input_row(0, 1) | held | edit)
    assert (edited.content.answer != base.content.answer) is is_answer
    assert (edited.content.verifier != base.content.verifier) is not is_answer


def test_verifier_digest_counts_the_names_in_where_the_prompt_is_empty(tmp_path: Path) -> None:
    # As in benchmarks whose environment looks the task up by its id.
    rows = planned(
        tmp_path,
        *(
            input_row(n, 0, task_id=f"t{n}")
            | {"responses_create_params": {"input": []}, "expected_answer": "", "uuid": None}
            for n in (0, 1)
        ),
    )
    assert rows[0].content.verifier != rows[1].content.verifier
    assert [row.label for row in rows] == ["t0", "t1"]


def test_materialized_taskset_has_the_content_of_the_flat_row(tmp_path: Path) -> None:
    flat = input_row(0, 0)
    fields = {key: value for key, value in flat.items() if not key.startswith("_ng_") and key != "agent_ref"}
    wrapped = {
        "task_id": {"taskset": "quiz", "task_id": "q0"},
        "task_input": fields,
        "_ng_task_index": 0,
        "_ng_rollout_index": 1,
        "_ng_environment_server": "quiz_server",
    }
    split = wrapped | {
        "_ng_rollout_index": 2,
        "task_input": {
            "responses_create_params": fields["responses_create_params"],
            "task_data": {key: value for key, value in fields.items() if key != "responses_create_params"},
        },
    }
    plain, taskset, task_data = planned(tmp_path, flat, wrapped, split)
    assert plain.content == taskset.content == task_data.content
    assert [row.label for row in (plain, taskset, task_data)] == ["quiz-0", "quiz-0", "quiz-0"]
    assert taskset.key.server == "quiz_server"


@pytest.mark.parametrize(
    ("fields", "label"),
    [
        ({"uuid": "u", "task_id": "t", "id": "i"}, "u"),
        ({"uuid": None, "task_id": 7, "id": "i"}, "7"),
        ({"uuid": "", "id": "i"}, "i"),
        ({"uuid": None}, None),
    ],
)
def test_label_is_the_datasets_own_name(tmp_path: Path, fields: dict[str, Any], label: str | None) -> None:
    (row,) = planned(tmp_path, input_row(0, 0) | fields)
    assert row.label == label


def test_answer_fields_are_all_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "triage.md").read_text(encoding="utf-8")
    missing = [
        name for name in (*ANSWER_FIELDS, *ANSWER_PREFIXES, *ANSWER_HOLDERS) if f"`{name}`" not in text
    ]
    assert missing == []


@pytest.mark.parametrize(
    ("field", "cluster"),
    [
        ("repo", '"gym"'),
        ("source.document", "7"),
        ("source.page", None),
        ("nothing", None),
        ("repo.name", None),
    ],
)
def test_cluster_is_the_value_of_a_dataset_field(tmp_path: Path, field: str, cluster: str | None) -> None:
    write_file(tmp_path / "rollouts.jsonl", lines([rollout_row(0, 0)]))
    row = input_row(0, 0) | {"repo": "gym", "source": {"document": 7, "page": None}}
    write_file(tmp_path / "rollouts_materialized_inputs.jsonl", lines([row]))
    plan = read_run(tmp_path / "rollouts.jsonl", cluster_field=field).planned
    assert plan is not None
    assert [planned.cluster for planned in plan] == [cluster]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    order=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12)), min_size=1, max_size=40),
    ending=st.sampled_from([b"\n", b"\r\n", b" \n", b"\n\n"]),
    colon=st.sampled_from([":", ": "]),
)
def test_planned_repeats_are_read_in_any_order_and_layout(
    tmp_path: Path, order: list[tuple[int, int]], ending: bytes, colon: str
) -> None:
    written = [
        json.dumps(input_row(task, repeat), separators=(",", colon)).encode() for task, repeat in order
    ]
    write_file(tmp_path / "rollouts.jsonl", lines([rollout_row(0, 0)]))
    write_file(tmp_path / "rollouts_materialized_inputs.jsonl", ending.join(written))
    found = read_run(tmp_path / "rollouts.jsonl").planned
    assert found is not None
    assert [(plan.key.task, plan.key.repeat, plan.label) for plan in found] == [
        (task, repeat, f"quiz-{task}") for task, repeat in order
    ]


def test_planned_repeats_in_a_row_are_all_counted(tmp_path: Path) -> None:
    order = [
        (task, repeat) for task, count in ((0, 4), (1, 4), (2, 9), (3, 1), (4, 9)) for repeat in range(count)
    ]
    found = planned(tmp_path, *(input_row(task, repeat) for task, repeat in order))
    assert list(zip(found.task_R, found.repeat_R, strict=True)) == order


def test_requests_with_equal_surroundings_keep_their_own_input() -> None:
    reader = RequestReader()
    texts = (
        b'{"input":[],"tools":[]}',
        b'{"tools":[],"input":[]}',
        b'{"tools":[],"input":[1]}',
        b'{"tools":[1],"input":[]}',
    )
    first, second, third, fourth = (reader.read(msgspec.Raw(text)).content for text in texts)
    assert first == second
    assert (third.tools == first.tools, third.prompt == first.prompt) == (True, False)
    assert (fourth.tools == first.tools, fourth.prompt == first.prompt) == (False, True)


VALUES = st.sampled_from(
    ['"a"', '"b"', "null", "1", "2", "[]", '[{"role":"user","content":"a"}]', '{"k":"a"}']
)
MEMBERS = st.lists(
    st.tuples(st.sampled_from(["input", "tools", "metadata", "temperature", "x"]), VALUES), max_size=4
)


@example([[("metadata", '{"k":"a"}'), ("input", '"a"')], [("metadata", '{"k":"b"}'), ("input", '"a"')]])
@given(st.lists(MEMBERS, min_size=2, max_size=6))
def test_request_is_read_alike_whatever_was_read_before(requests: list[list[tuple[str, str]]]) -> None:
    # Few names and values, so that requests often agree around their input, or around something else.
    reader = RequestReader()
    for members in requests:
        written = ",".join(f'"{name}":{value}' for name, value in members)
        text = msgspec.Raw(f"{{{written}}}".encode())
        alone, found = RequestReader().read(text), reader.read(text)
        assert (found.content, found.settings, found.is_empty) == (
            alone.content,
            alone.settings,
            alone.is_empty,
        )
