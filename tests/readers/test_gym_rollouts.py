"""The reader of Gym rollouts: bytes kept, odd but legal rows taken, bad rows named."""

import json
from pathlib import Path
from typing import Any

import pytest

from gymbal.errors import InputError
from gymbal.model.item import ItemKind
from gymbal.model.trajectory import Trajectory
from gymbal.readers.base.format import ReadOptions
from gymbal.readers.gym_rollouts import read

MESSAGE = {
    "type": "message",
    "id": "m",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "hi", "annotations": []}],
}
CALL = {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c", "output": "1"}
REASONING = {"type": "reasoning", "id": "r", "summary": []}


def row(output: list[Any], **fields: Any) -> dict[str, Any]:
    params = {"input": [{"role": "user", "content": "go"}]} | fields.pop("request", {})
    return {"responses_create_params": params, "response": {"output": output}, "reward": 1.0} | fields


def read_text(tmp_path: Path, text: str | bytes) -> list[Trajectory]:
    path = tmp_path / "rollouts.jsonl"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(read(path, ReadOptions()))


def read_one(tmp_path: Path, record: dict[str, Any]) -> Trajectory:
    (trajectory,) = read_text(tmp_path, json.dumps(record) + "\n")
    return trajectory


def test_read_keeps_the_bytes_of_items_and_tools(tmp_path: Path) -> None:
    item = '{ "content" : [ {"text":"caf\\u00e9 \\/ \\"x\\"",  "annotations":[ ], "type":"output_text"}], '
    item += '"role":"assistant","id":"m","type":"message" , "score":1.50e0}'
    tools = '[ {"name":"look",  "type":"function"} ]'
    seed = '{"content":  "hé",\t"role":"user"}'
    text = f'{{"reward":1,"response":{{"output":[ {item} ]}},'
    text += f'"responses_create_params":{{"tools":{tools},"input":[{seed}]}}}}\n'
    (trajectory,) = read_text(tmp_path, text)
    assert trajectory.items[0].raw == item.encode()
    assert trajectory.items[0].text == 'café / "x"'
    assert trajectory.seed[0].raw == seed.encode()
    assert trajectory.tools == tools.encode()


def test_read_turns_text_input_into_one_user_message(tmp_path: Path) -> None:
    trajectory = read_one(tmp_path, row([MESSAGE], request={"input": 'say "hi"'}))
    assert [item.kind for item in trajectory.seed] == [ItemKind.USER]
    assert json.loads(trajectory.seed[0].raw) == {"type": "message", "role": "user", "content": 'say "hi"'}


@pytest.mark.parametrize("empty", ["", []])
def test_read_takes_empty_input_for_no_seed(tmp_path: Path, empty: Any) -> None:
    assert read_one(tmp_path, row([MESSAGE], request={"input": empty})).seed == ()


def test_read_takes_nulls_and_missing_fields(tmp_path: Path) -> None:
    nulls = {"tools": None, "instructions": None, "parallel_tool_calls": None, "metadata": None}
    record = row([], request=nulls, reward=None, ng_trajectory=None, num_turns=None)
    record["response"]["output"] = None
    trajectory = read_one(tmp_path, record)
    assert trajectory.items == ()
    assert trajectory.tools == b"[]"
    assert trajectory.instructions is None
    assert trajectory.allows_parallel_calls is None
    assert trajectory.reward is None
    assert trajectory.rollout is None
    assert trajectory.call_count is None


def test_read_names_kinds_by_type_and_role(tmp_path: Path) -> None:
    output = [
        MESSAGE,
        CALL,
        RESULT,
        REASONING,
        {"role": "assistant", "content": "bare"},
        {"type": "message", "role": "user", "content": "u"},
        {"role": "developer", "content": "d"},
        {"type": "custom_tool_call", "call_id": "c", "name": "n", "input": "x"},
        {"type": "compaction"},
        {"type": "message", "role": "critic", "content": "?"},
        {"call_id": "c", "output": "no type"},
    ]
    trajectory = read_one(tmp_path, row(output))
    assert [item.kind.value for item in trajectory.items] == [
        "assistant",
        "function_call",
        "function_call_output",
        "reasoning",
        "assistant",
        "user",
        "system",
        "other_call",
        "other",
        "other",
        "other",
    ]
    assert trajectory.items[4].text == "bare"


def test_read_keeps_arguments_that_are_no_string_unread(tmp_path: Path) -> None:
    trajectory = read_one(tmp_path, row([CALL | {"arguments": {"at": 1}}]))
    assert trajectory.items[0].arguments is None


def test_read_takes_a_carriage_return_between_tokens(tmp_path: Path) -> None:
    text = json.dumps(row([MESSAGE])).replace('"role": "assistant"', '"role":\r"assistant"')
    (trajectory,) = read_text(tmp_path, text)
    assert b"\r" not in trajectory.items[0].raw
    assert json.loads(trajectory.items[0].raw) == MESSAGE


def test_read_names_the_task_by_the_row_or_by_its_content(tmp_path: Path) -> None:
    rows = [
        row([], uuid="abc", instance_id="repo-1"),
        row([], uuid="abc"),
        row([], id=7),
        row([], _ng_task_index=3, _ng_rollout_index=0),
        row([], _ng_task_index=5, _ng_rollout_index=1),
        row([], request={"input": "another"}),
    ]
    found = read_text(tmp_path, "".join(json.dumps(record) + "\n" for record in rows))
    assert [trajectory.task for trajectory in found[:3]] == ["repo-1", "abc", "7"]
    by_content = [trajectory.task for trajectory in found[3:]]
    assert by_content[0] == by_content[1]  # the same task under another number
    assert by_content[0] != by_content[2]
    assert [trajectory.rollout for trajectory in found[3:5]] == ["3-0", "5-1"]


@pytest.mark.parametrize("name", ["num_agent_messages", "num_agent_calls", "num_turns"])
def test_read_takes_the_recorded_call_count(tmp_path: Path, name: str) -> None:
    assert read_one(tmp_path, row([MESSAGE], **{name: 4})).call_count == 4


def turns(*answers: list[dict[str, Any]], invocation: str = "root") -> dict[str, Any]:
    return {"turns": [{"invocation_id": invocation, "answer": answer} for answer in answers]}


@pytest.mark.parametrize(
    ("output", "recorded", "sizes"),
    [
        ([REASONING, CALL, CALL, RESULT, RESULT, REASONING, MESSAGE], turns([CALL, CALL], [MESSAGE]), (3, 2)),
        ([CALL, RESULT, CALL, RESULT], turns([CALL, CALL]), (2,)),  # executed one by one
        ([CALL, RESULT, CALL, RESULT], turns([CALL], [CALL]), (1, 1)),
        ([CALL, REASONING, RESULT, MESSAGE], turns([CALL], [MESSAGE]), (2, 1)),
        ([MESSAGE], turns([], [MESSAGE]), (1,)),  # a failed call answers nothing
        ([MESSAGE, MESSAGE], turns([MESSAGE]), None),
        ([MESSAGE], turns([MESSAGE], [MESSAGE]), None),
        ([MESSAGE], turns([CALL]), None),
        ([REASONING, RESULT, MESSAGE], turns([MESSAGE]), None),
        ([MESSAGE], {"turns": []}, None),
        (
            [MESSAGE, MESSAGE],
            {"turns": turns([MESSAGE])["turns"] + turns([MESSAGE], invocation="b")["turns"]},
            None,
        ),
    ],
)
def test_read_takes_recorded_turns_that_fit_the_items(
    tmp_path: Path, output: list[Any], recorded: dict[str, Any], sizes: tuple[int, ...] | None
) -> None:
    trajectory = read_one(tmp_path, row(output, ng_trajectory=recorded))
    assert trajectory.call_sizes == sizes
    # What the turns say about the number of model calls stands even where they do not fit.
    has_one_agent = len({turn["invocation_id"] for turn in recorded["turns"]}) == 1
    answered = sum(1 for turn in recorded["turns"] if turn["answer"])
    assert trajectory.call_count == (answered if has_one_agent else None)


def test_read_marks_a_response_that_was_cut(tmp_path: Path) -> None:
    record = row([MESSAGE])
    record["response"]["status"] = "incomplete"
    assert read_one(tmp_path, record).is_truncated


@pytest.mark.parametrize("field", ["previous_response_id", "conversation", "prompt"])
def test_read_names_the_field_that_hides_input(tmp_path: Path, field: str) -> None:
    assert read_one(tmp_path, row([MESSAGE], request={field: "elsewhere"})).hidden_state == field


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[1]", "is not a rollout: Expected `object`, got `array`"),
        ('{"responses_create_params":{"input":[]}}', "missing required field `response`"),
        ('{"response":{"output":[]}}', "missing required field `responses_create_params`"),
        ('{"responses_create_params":{"input":[]},"response":null}', "Expected `object`, got `null`"),
        ('{"responses_create_params":{"input":7},"response":{"output":[]}}', "responses_create_params.input"),
        ('{"responses_create_params":{"input":[]},"response":{"output":[[]]}}', "response.output[0]: is not"),
        (
            '{"responses_create_params":{"input":[3]},"response":{"output":[]}}',
            "responses_create_params.input[0]",
        ),
        (
            '{"responses_create_params":{"input":[],"tools":{}},"response":{"output":[]}}',
            "tools: is not a list",
        ),
        ("not json", "malformed"),
        ("[" * 100_000, "is not a rollout"),
        (b'{"a":"\xff"}', "is not UTF-8"),
    ],
)
def test_read_says_where_and_what_a_bad_line_is(tmp_path: Path, text: str | bytes, problem: str) -> None:
    data = text if isinstance(text, bytes) else text.encode()
    good = json.dumps(row([MESSAGE])).encode() + b"\n\n"
    with pytest.raises(InputError) as caught:
        read_text(tmp_path, good + data + b"\n")
    assert problem in str(caught.value)
    assert "Expected one rollout per line" in str(caught.value)
    assert (caught.value.line, caught.value.offset) == (3, len(good))


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("is_list", [True, False])
def test_read_takes_a_json_document(tmp_path: Path, ending: str, indent: int | None, is_list: bool) -> None:
    rows = [row([MESSAGE], id="a"), row([CALL, RESULT, MESSAGE], id="b")]
    document = json.dumps(rows if is_list else rows[1], indent=indent).replace("\n", ending)
    found = read_text(tmp_path, document)
    assert [trajectory.task for trajectory in found] == (["a", "b"] if is_list else ["b"])
    for trajectory in found:
        place = trajectory.source
        # The record starts with its first field.
        assert document[place.offset :].split()[0].startswith("{")
        assert json.JSONDecoder().raw_decode(document, place.offset)[0]["id"] == trajectory.task
        assert place.line == document.count("\n", 0, place.offset) + 1
        assert b"\n" not in trajectory.items[0].raw
        assert json.loads(trajectory.items[-1].raw) == MESSAGE
    assert [trajectory.source.record for trajectory in found] == ([0, 1] if is_list else [None])


def test_read_says_which_rollout_of_a_list_is_bad(tmp_path: Path) -> None:
    text = f"[{json.dumps(row([MESSAGE]))},\n {json.dumps(row([[]]))}]"
    with pytest.raises(InputError, match=r"response\.output\[0\]: is not an item") as caught:
        read_text(tmp_path, text)
    assert (caught.value.line, caught.value.offset) == (2, text.index("\n") + 2)


def test_read_refuses_a_file_that_is_no_json_at_all(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is neither JSON nor JSON Lines") as caught:
        read_text(tmp_path, "\n not json\n")
    assert (caught.value.line, caught.value.offset) == (2, 2)


def test_read_says_where_half_a_character_stands(tmp_path: Path) -> None:
    good = json.dumps(row([MESSAGE])) + "\n"
    bad = json.dumps(row([RESULT | {"output": "\ud83d\ude00 \\ud800 \ud800x"}]))
    for text, line in ((good + bad, 2), (bad, 1), (bad + "\n" + good, 1)):
        with pytest.raises(InputError) as caught:
            read_text(tmp_path, text)
        # The pair before it is one character, and behind two backslashes stands no escape.
        where = bad.rindex("\\ud800")
        assert f"the escape \\ud800 at its byte {where} is half a character" in str(caught.value)
        assert caught.value.line == line


def test_read_tells_a_torn_last_line_from_a_wrong_file(tmp_path: Path) -> None:
    good = json.dumps(row([MESSAGE])) + "\n"
    with pytest.raises(InputError, match="no line break: if its writer was killed") as caught:
        read_text(tmp_path, good + good[:30])
    assert (caught.value.line, caught.value.offset) == (2, len(good))


def test_read_takes_an_empty_file_for_no_rollouts(tmp_path: Path) -> None:
    assert read_text(tmp_path, "") == []


TOKENS = {"prompt_token_ids": [1], "generation_token_ids": [2], "generation_log_probs": [-0.1]}


@pytest.mark.parametrize(
    ("output", "sizes"),
    [
        ([REASONING, CALL, CALL | TOKENS, RESULT, RESULT, MESSAGE | TOKENS], (3, 1)),
        ([CALL, RESULT, CALL | TOKENS, RESULT], (2,)),  # executed one by one
        ([MESSAGE | TOKENS, MESSAGE | TOKENS], (1, 1)),
        ([CALL | TOKENS, RESULT, MESSAGE], None),  # the last item carries none
        ([CALL, RESULT | TOKENS], None),
        ([MESSAGE | {"note": 'a "generation_token_ids" here'}], None),
        ([MESSAGE | {"generation_token_ids": None}], None),
    ],
)
def test_read_takes_token_ids_for_the_end_of_a_model_call(
    tmp_path: Path, output: list[Any], sizes: tuple[int, ...] | None
) -> None:
    assert read_one(tmp_path, row(output)).call_sizes == sizes


def test_read_prefers_recorded_turns_to_token_ids(tmp_path: Path) -> None:
    trajectory = read_one(
        tmp_path, row([CALL | TOKENS, RESULT, MESSAGE | TOKENS], ng_trajectory=turns([CALL, MESSAGE]))
    )
    assert trajectory.call_sizes == (2,)
    assert [(cut.evidence, cut.sizes) for cut in trajectory.cuts] == [("turns", (2,)), ("token_ids", (1, 1))]


def test_read_falls_back_to_token_ids_where_turns_do_not_fit(tmp_path: Path) -> None:
    trajectory = read_one(tmp_path, row([MESSAGE | TOKENS], ng_trajectory=turns([CALL])))
    assert trajectory.call_sizes == (1,)


def test_read_takes_the_call_count_from_the_field_that_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    path.write_text(json.dumps(row([MESSAGE], num_turns=4, stats={"calls": 3.0, "odd": 2.5})) + "\n")

    def count(field: str | None) -> tuple[int | None, str | None]:
        (trajectory,) = read(path, ReadOptions(call_count_field=field))
        return trajectory.call_count, trajectory.call_count_field

    assert count(None) == (4, "num_turns")
    assert count("stats.calls") == (3, "stats.calls")
    assert count("stats.odd") == (None, None)
    assert count("stats.gone.further") == (None, None)


def test_read_refuses_instructions_that_are_no_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"responses_create_params\.instructions: is not text"):
        read_one(tmp_path, row([MESSAGE], request={"instructions": 7}))
