"""What is read out of a rollout: stops, answers, calls, tokens, settings."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from run_builder import (
    assistant,
    call,
    echoed_request,
    lines,
    reasoning,
    response,
    result,
    rollout_row,
    write_file,
)

from gymbal.model.rollout import Rollout, Settings, Stop
from gymbal.model.rollout_table import RolloutTable
from gymbal.model.run import ProblemKind
from gymbal.readers.run import read_run


def read_rows(folder: Path, *rows: dict[str, Any]) -> RolloutTable:
    return read_run(write_file(folder / "rollouts.jsonl", lines(rows))).rollouts


def read_output(folder: Path, output: Any, **fields: Any) -> Rollout:
    (row,) = read_rows(folder, rollout_row(0, 0, response=response(output, **fields)))
    return row


def only_row(folder: Path, **fields: Any) -> Rollout:
    (row,) = read_rows(folder, rollout_row(0, 0, **fields))
    return row


@pytest.mark.parametrize(
    ("fields", "stop"),
    [
        ({"status": "completed"}, Stop.FINISHED),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            Stop.TRUNCATED,
        ),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, Stop.CONTENT_FILTER),
        ({"status": "incomplete"}, Stop.UNKNOWN),
        ({"status": "failed"}, Stop.FAILED),
        ({"status": None, "error": {"code": "server_error"}}, Stop.FAILED),
        ({"status": None}, Stop.UNKNOWN),
        # Gym before 0.5 left the status out and still said why it was cut.
        ({"status": None, "incomplete_details": {"reason": "max_output_tokens"}}, Stop.TRUNCATED),
    ],
)
def test_stop_says_why_the_last_call_ended(tmp_path: Path, fields: dict[str, Any], stop: Stop) -> None:
    assert read_output(tmp_path, [assistant("x")], **fields).stop is stop


@pytest.mark.parametrize(
    ("output", "is_empty"),
    [
        ([], True),
        ([reasoning()], True),
        ([assistant(" \n")], True),
        ([assistant("x")], False),
        ([call("look")], False),
        (
            [{"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}],
            False,
        ),
        ([{"type": "message", "role": "user", "content": "x"}], True),
        (None, False),  # no output at all is no empty answer
    ],
)
def test_is_empty_needs_neither_text_nor_call(tmp_path: Path, output: Any, is_empty: bool) -> None:
    assert read_output(tmp_path, output).is_empty is is_empty


@pytest.mark.parametrize(
    ("text", "is_left_in"),
    [
        ("<think>hm</think>4", True),
        ("hm</think>4", True),
        ("[THINK]hm[/THINK]4", True),
        ("◁think▷hm◁/think▷4", True),
        ("<seed:think>hm", True),
        ("<|channel|>analysis<|message|>hm", True),
        ("I think > 4", False),
        ("<reasoning>asked for by the prompt</reasoning>", False),
        ("rethink>", False),
    ],
)
def test_reasoning_tags_are_found_in_the_answer(tmp_path: Path, text: str, is_left_in: bool) -> None:
    assert read_output(tmp_path, [assistant(text)]).has_reasoning_in_text is is_left_in


def test_reasoning_tags_inside_reasoning_do_not_count(tmp_path: Path) -> None:
    row = read_output(tmp_path, [reasoning("<think>"), assistant("4"), result("<think>")])
    assert not row.has_reasoning_in_text


@pytest.mark.parametrize(
    ("output", "model_calls", "tool_calls"),
    [
        ([assistant("x")], 1, 0),
        ([], 0, 0),
        # Parallel calls are one model call, sequential ones are two.
        ([reasoning(), call("a"), call("b"), result(), result(), reasoning(), assistant("x")], 2, 2),
        ([call("a"), result(), call("b"), result(), assistant("x")], 3, 2),
        ([assistant("x"), {"type": "message", "role": "user", "content": "go on"}, assistant("y")], 2, 0),
        ([{"type": "web_search_call", "status": "completed"}, assistant("x")], 1, 1),
    ],
)
def test_model_calls_are_runs_of_the_models_own_items(
    tmp_path: Path, output: Any, model_calls: int, tool_calls: int
) -> None:
    row = read_output(tmp_path, output)
    assert (row.model_calls, row.tool_calls) == (model_calls, tool_calls)


def test_model_calls_are_taken_from_the_trajectory_where_it_recorded_them(tmp_path: Path) -> None:
    one, none, odd = (
        rollout_row(0, repeat, ng_trajectory=trajectory)
        for repeat, trajectory in enumerate([{"model_calls": [{}, {}, {}]}, {"model_calls": []}, ["odd"]])
    )
    assert [row.model_calls for row in read_rows(tmp_path, one, none, odd)] == [3, 1, 1]


def test_tools_used_are_named_once(tmp_path: Path) -> None:
    row = read_output(tmp_path, [call("a"), call("b"), call("a"), {"type": "web_search_call"}])
    assert row.tools_used == {"a", "b", "web_search_call"}


def test_answer_leaves_ids_reasoning_and_results_out(tmp_path: Path) -> None:
    first = read_output(
        tmp_path, [reasoning("one"), call("a", call_id="1"), result("x", "1"), assistant("y")]
    )
    same = read_output(tmp_path, [call("a", call_id="2"), result("z", "2"), assistant("y", id="other")])
    assert first.answer == same.answer
    for other in (
        [call("a"), result(), assistant("z")],
        [call("a", '{"b": 1}'), result(), assistant("y")],
        [call("b"), result(), assistant("y")],
        [assistant("y"), call("a"), result()],
    ):
        assert read_output(tmp_path, other).answer != first.answer


def test_output_of_one_list_per_step_is_read(tmp_path: Path) -> None:
    # As the aviary agent wrote it before Gym 0.3.
    row = read_output(tmp_path, [[call("a"), result()], [assistant("x")]])
    assert (row.model_calls, row.tool_calls, row.is_empty) == (2, 1, False)


def test_message_content_may_be_a_text(tmp_path: Path) -> None:
    plain = read_output(tmp_path, [{"type": "message", "role": "assistant", "content": "x"}])
    assert plain.answer == read_output(tmp_path, [assistant("x")]).answer


@pytest.mark.parametrize(
    ("fields", "is_unparsed"),
    [
        ({"extracted_answer": None}, True),
        ({"extracted_answer": ""}, True),
        ({"extracted_answer": "A"}, False),
        ({"extracted_answer": 0}, False),
        ({"parsed_output": {}}, True),
        ({"parsed_output": {"a": 1}}, False),
        ({}, None),
    ],
)
def test_is_unparsed_follows_the_verifiers_own_field(
    tmp_path: Path, fields: dict[str, Any], is_unparsed: bool | None
) -> None:
    row = rollout_row(0, 0)
    del row["extracted_answer"]
    assert read_rows(tmp_path, row | fields)[0].is_unparsed is is_unparsed


@pytest.mark.parametrize("answer", [b"1e400", b"9" * 5000, b"[[1e999]]", b'"\xff"', b"[" * 500 + b"]" * 500])
def test_an_answer_that_cannot_be_decoded_costs_a_row_nothing(tmp_path: Path, answer: bytes) -> None:
    line = lines([rollout_row(0, 0, reward=1.0) | {"extracted_answer": "ANSWER"}])
    write_file(tmp_path / "rollouts.jsonl", line.replace(b'"ANSWER"', answer))
    (row,) = read_run(tmp_path / "rollouts.jsonl").rollouts
    assert (row.reward, row.is_unparsed) == (1.0, False)


def test_rewards_keep_absent_apart_from_zero(tmp_path: Path) -> None:
    rows = [rollout_row(0, repeat, reward=reward) for repeat, reward in enumerate([0.0, None, 1])]
    rows.append(rollout_row(0, 3))
    del rows[-1]["reward"]
    rows.append(rollout_row(0, 4) | {"reward": True})
    assert [row.reward for row in read_rows(tmp_path, *rows)] == [0.0, None, 1.0, None, 1.0]


def test_masked_rows_are_kept_and_marked(tmp_path: Path) -> None:
    row = rollout_row(0, 0, reward=0.0, mask_sample=True, failure_kind="judge_failed")
    (read,) = read_rows(tmp_path, row)
    assert (read.is_masked, read.failure_kind, read.is_measured) == (True, "judge_failed", False)


def test_null_is_taken_everywhere(tmp_path: Path) -> None:
    row = dict.fromkeys(rollout_row(0, 0)) | {"reward": 1.0}
    (read,) = read_rows(tmp_path, row)
    assert (read.reward, read.stop, read.model, read.agent) == (1.0, Stop.UNKNOWN, None, "(unnamed)")


def test_odd_small_fields_do_not_cost_the_row(tmp_path: Path) -> None:
    odd: dict[str, Any] = {
        "failure_kind": 7,
        "_ng_attempt_index": "x",
        "agent_ref": "plain_name",
        "stage_index": [],
        "ng_trajectory": 3,
    }
    row = rollout_row(0, 0, **odd)
    row["response"] |= {"usage": [1], "model": {"a": 1}, "incomplete_details": "cut"}
    (read,) = read_rows(tmp_path, row)
    assert (read.agent, read.attempt, read.model, read.input_tokens) == ("quiz_server", 0, None, None)


def test_settings_state_what_the_request_set(tmp_path: Path) -> None:
    request = echoed_request(
        "x",
        temperature=1,
        top_p=0.95,
        max_output_tokens=256,
        max_tool_calls=3,
        tool_choice={"type": "function", "name": "a"},
        reasoning={"summary": None, "effort": "high"},
        model="asked-for",
        metadata={
            "extra_body": json.dumps({"seed": 4, "top_k": 20}),
            "chat_template_kwargs": json.dumps({"enable_thinking": False}),
            "instance_id": "x",
        },
    )
    (read,) = read_rows(tmp_path, rollout_row(0, 0, responses_create_params=request))
    assert read.settings == Settings(
        temperature=1.0,
        top_p=0.95,
        max_output_tokens=256,
        max_tool_calls=3,
        parallel_tool_calls=True,
        tool_choice='{"name":"a","type":"function"}',
        reasoning='{"effort":"high"}',
        requested_model="asked-for",
        extra_body='{"chat_template_kwargs":{"enable_thinking":false},"extra_body":{"top_k":20}}',
    )


def test_settings_of_repeats_are_equal_but_for_the_seed(tmp_path: Path) -> None:
    rows = [
        rollout_row(
            0,
            repeat,
            responses_create_params=echoed_request(
                "x", metadata={"extra_body": json.dumps({"seed": repeat})}
            ),
        )
        for repeat in range(3)
    ]
    first, *others = read_rows(tmp_path, *rows)
    assert all(row.settings is first.settings for row in others)
    assert first.settings.extra_body is None
    assert len({row.content for row in (first, *others)}) == 1


HIDDEN = ("sk-FAKEsecret1", "FAKEsecret2")

HEADERS = {"Authorization": f"Bearer {HIDDEN[1]}"}


@pytest.mark.parametrize(
    "request_fields",
    [
        {"metadata": {"extra_body": json.dumps({"extra_headers": HEADERS, "api_key": HIDDEN[0]})}},
        {"metadata": {"extra_body": {"note": json.dumps({"headers": HEADERS})}}},
        {"tool_choice": {"type": "mcp", "headers": HEADERS}},
        {"tool_choice": json.dumps({"headers": HEADERS})},
        {"reasoning": {"effort": "low", "token": HIDDEN[1]}},
        {"model": f"quiz-model?key={HIDDEN[0]}"},
    ],
)
def test_settings_hold_no_secret_and_tell_two_apart(tmp_path: Path, request_fields: dict[str, Any]) -> None:
    other = json.loads(json.dumps(request_fields).replace("FAKEsecret", "FAKEanother"))
    first, second, again = (
        only_row(tmp_path, responses_create_params=echoed_request("What?", **fields)).settings
        for fields in (request_fields, other, request_fields)
    )
    assert not any(secret in repr(first) for secret in HIDDEN)
    assert "****" in repr(first)
    assert first == again != second


def test_model_that_answered_is_named_without_secrets(tmp_path: Path) -> None:
    models = [
        only_row(tmp_path, response=response([assistant("x")], model=f"quiz {key}")).model
        for key in ("sk-FAKEsecret1", "sk-FAKEsecret2")
    ]
    assert models[0] is not None
    assert models[0].startswith("quiz **** (digest ")
    assert models[0] != models[1]


def test_rows_share_what_they_have_in_common(tmp_path: Path) -> None:
    first, second = read_rows(tmp_path, rollout_row(0, 0), rollout_row(0, 1))
    for name in ("content", "settings", "agent", "model", "tools_used", "file"):
        assert getattr(first, name) is getattr(second, name)


def test_message_content_of_no_known_shape_is_a_bad_line(tmp_path: Path) -> None:
    bad = rollout_row(0, 1, response=response([assistant("x") | {"content": 7}]))
    run = read_run(write_file(tmp_path / "rollouts.jsonl", lines([rollout_row(0, 0), bad])))
    assert [problem.line for problem in run.problems if problem.kind is ProblemKind.BAD_LINE] == [2]


def test_reward_beyond_any_verifier_is_a_bad_line(tmp_path: Path) -> None:
    rows = [rollout_row(0, 0), {**rollout_row(1, 0), "reward": 1e200}]
    run = read_run(write_file(tmp_path / "rollouts.jsonl", lines(rows)))
    assert [row.reward for row in run.rollouts] == [1.0]
    (problem,) = [problem for problem in run.problems if problem.kind is ProblemKind.BAD_LINE]
    assert problem.line == 2
    assert "1e+200" in problem.detail


ODD_ROWS: tuple[dict[str, Any], ...] = (
    {"reward": 1.0},
    {"reward": "high", "response": {}},
    {"reward": 1e300, "response": {}},
    {"response": {"output": [{"type": "web_search_call"}, {"type": "message", "content": "It is B."}]}},
    {"response": {"output": "It is B."}, "reward": 0.0},
    {"responses_create_params": 7, "reward": 0.0},
    {"_ng_task_index": 2**70, "reward": 1.0},
    {},
)


@given(odd=st.lists(st.sampled_from([*ODD_ROWS, None]), max_size=6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_rows_are_the_same_in_blocks_and_one_by_one(
    tmp_path_factory: pytest.TempPathFactory, odd: list[dict[str, Any] | None]
) -> None:
    # A blank line makes the reader take the block line by line.
    rows = [rollout_row(n, 0) if row is None else row for n, row in enumerate([None, *odd])]
    text = lines(rows)
    folder = tmp_path_factory.mktemp("run")
    plain, spaced = folder / "plain.jsonl", folder / "spaced.jsonl"
    plain.write_bytes(text)
    spaced.write_bytes(text.replace(b"\n", b"\n\n"))
    found = [read_run(path) for path in (plain, spaced)]
    seen = [[msgspec.structs.replace(row, line=0, file="") for row in run.rollouts] for run in found]
    assert seen[0] == seen[1]
    assert [problem.detail for problem in found[0].problems] == [p.detail for p in found[1].problems]


@pytest.mark.parametrize(
    ("first", "second", "are_equal"),
    [([1, 2, 3], [1, 2, 3], True), ([1, 2, 3], [1, 2, 4], False), ([1, 2], None, False)],
)
def test_prompt_tokens_are_those_of_the_first_model_call(
    tmp_path: Path, first: list[int], second: list[int] | None, are_equal: bool
) -> None:
    def row(repeat: int, token_ids: list[int] | None) -> dict[str, Any]:
        later = call("look", "{}") | {"prompt_token_ids": [9, repeat]}
        output = [assistant("I look.") | {"prompt_token_ids": token_ids}, result("r", "found"), later]
        return rollout_row(0, repeat, response=response(output))

    left, right = read_rows(tmp_path, row(0, first), row(1, second))
    assert (left.prompt_tokens == right.prompt_tokens) is are_equal
    assert left.prompt_tokens is not None
    assert (right.prompt_tokens is None) is (second is None)


@pytest.mark.parametrize(
    ("token_ids", "is_doubled"), [([151646, 151646, 5], True), ([1, 11, 5], False), ([1], False), ([], False)]
)
def test_first_token_twice_is_seen(tmp_path: Path, token_ids: list[int], is_doubled: bool) -> None:
    output = [assistant("B.") | {"prompt_token_ids": token_ids}]
    (row,) = read_rows(tmp_path, rollout_row(0, 0, response=response(output)))
    assert row.has_doubled_start is is_doubled
