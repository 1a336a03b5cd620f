"""`pivot_build`: one row per model call, the folder it writes, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest
from episodes import TOOLS, call, items_of, rollout
from json_rows import read_rows, write_rows

from gymbal.commands.pivot_build import pivot_build
from gymbal.errors import InputError, UsageError
from gymbal.io.decode import read_yaml
from gymbal.model.pivot import BuildMetrics
from gymbal.pivot.build import FILES


def build(tmp_path: Path, *rows: dict[str, Any], **options: Any) -> tuple[BuildMetrics, Path]:
    source = write_rows(tmp_path / "rollouts.jsonl", rows)
    folder = tmp_path / "dataset"
    return pivot_build(source, folder, **options), folder


def skipped_of(tmp_path: Path, *rows: dict[str, Any]) -> list[tuple[int, str]]:
    """Model call and reason of every candidate that made no row."""
    metrics, folder = build(tmp_path, *rows)
    lines = read_rows(folder / "skipped.jsonl")
    assert metrics.candidates == metrics.kept + len(lines)
    return [(line["call"], line["reason"]) for line in lines]


def test_build_writes_one_row_per_model_call(tmp_path: Path) -> None:
    metrics, folder = build(tmp_path, rollout("RMCCOORM", _ng_task_index=4, _ng_rollout_index=1))
    first, second = read_rows(folder / "pivots.jsonl")
    seed, output = items_of("SU"), items_of("RMCCOORM")
    assert first["responses_create_params"] == {
        "input": seed,
        "tools": TOOLS,
        "tool_choice": "auto",
        "parallel_tool_calls": True,
    }
    assert first["expected_action"]["type"] == "function_call_batch"
    assert [entry["name"] for entry in first["expected_action"]["calls"]] == ["look", "look"]
    # Earlier reasoning is in the prefix, the pivot's own (item 6) is not.
    assert second["responses_create_params"]["input"] == seed + output[:6]
    assert second["responses_create_params"]["parallel_tool_calls"] is False
    assert second["expected_action"] == {"type": "message", "content": "text 7"}
    assert second["agent_ref"] == {"type": "responses_api_agents", "name": "dataset_agent"}
    assert (metrics.kept, metrics.candidates, metrics.trajectories) == (2, 2, 1)


def test_build_tells_where_a_row_came_from(tmp_path: Path) -> None:
    _, folder = build(tmp_path, rollout("RCORM", uuid="task-7", _ng_task_index=4, _ng_rollout_index=1))
    info = read_rows(folder / "pivots.jsonl")[1]["pivot_info"]
    assert len(info.pop("uuid")) == 36
    assert info == {
        "source": "rollouts.jsonl",
        "line": 1,
        "task": "task-7",
        "rollout": "4-1",
        "reward": 1.0,
        "call": 1,
        "depth": 1,
        "trajectory_length": 2,
        "own_reasoning_items": 1,
        "boundary": "structural",
    }


def test_build_leaves_unknown_provenance_out(tmp_path: Path) -> None:
    metrics, folder = build(tmp_path, rollout("M", reward=None))
    info = read_rows(folder / "pivots.jsonl")[0]["pivot_info"]
    assert {"reward", "rollout"} & info.keys() == set()
    assert (metrics.provenance["reward"], metrics.provenance["task"]) == (0, 1)


def test_build_splices_bytes_of_the_source(tmp_path: Path) -> None:
    seed = r'{"content" : "caf\u00e9", "role":"user"}'
    tools = '[ {"type":"function","name":"look","parameters":{ },"strict":null} ]'
    item = r'{"type":"function_call", "call_id":"c","name":"look","arguments":"{\"at\":\"\u00e9\"}"}'
    result = '{"type":"function_call_output","call_id":"c", "output":"1"}'
    answer = '{"role":"assistant","content":"d\\u006fne"}'
    source = tmp_path / "rollouts.jsonl"
    source.write_text(
        f'{{"responses_create_params":{{"instructions":"b\\u0065","input":[{seed}],"tools":{tools}}},'
        f'"response":{{"output":[{item} ,{result}, {answer}]}}}}\n'
    )
    pivot_build(source, tmp_path / "dataset")
    first, second = (tmp_path / "dataset" / "pivots.jsonl").read_text().splitlines()
    head = f'{{"responses_create_params":{{"instructions":"b\\u0065","input":[{seed}'
    tail = f'],"tools":{tools},"tool_choice":"auto","parallel_tool_calls":false}},"expected_action":'
    assert first.startswith(
        head + tail + r'{"type":"function_call","name":"look","arguments":"{\"at\":\"\u00e9\"}"},'
    )
    assert second.startswith(f'{head},{item},{result}{tail}{{"type":"message","content":"d\\u006fne"}},')


def test_build_puts_calls_of_the_seed_into_the_prefix_only(tmp_path: Path) -> None:
    metrics, folder = build(tmp_path, rollout("CO", seed="SUCOMU"))
    (row,) = read_rows(folder / "pivots.jsonl")
    assert [item["type"] for item in row["responses_create_params"]["input"]][2:4] == [
        "function_call",
        "function_call_output",
    ]
    assert (row["pivot_info"]["call"], row["pivot_info"]["depth"]) == (0, 2)
    assert (metrics.candidates, metrics.depth) == (1, {"2": 1})


def test_build_drops_tokens_of_the_source_policy_and_counts_them(tmp_path: Path) -> None:
    tokens = {"prompt_token_ids": [1], "generation_token_ids": [2], "generation_log_probs": [-0.1]}
    first, result, answer = items_of("COM")
    metrics, folder = build(tmp_path, rollout([first | tokens, result, answer | tokens]))
    row = read_rows(folder / "pivots.jsonl")[1]
    assert row["responses_create_params"]["input"][2:] == [first, result]
    assert metrics.dropped_fields == dict.fromkeys((f"function_call.{name}" for name in sorted(tokens)), 1)


@pytest.mark.parametrize(
    ("row", "skipped"),
    [
        (rollout("COM", seed=[]), [(0, "empty_prefix"), (1, "empty_prefix")]),
        (rollout("M", request={"previous_response_id": "resp_0"}), [(0, "empty_prefix")]),
        (rollout("COM", tools=None), [(0, "missing_tool_schema"), (1, "missing_tool_schema")]),
        (rollout("M", tools=[]), []),  # no tool was called: the empty list is the whole list
        (rollout("M", tools=[{"type": "function", "function": {"name": "look"}}]), [(0, "unsupported_tool")]),
        (rollout("COM", status="incomplete"), [(1, "truncated")]),
        (rollout("COM", status="failed"), [(1, "truncated")]),
        (rollout("CO", status="incomplete"), []),  # the cut response left no item
        (rollout("MXMUM"), [(1, "unsupported_item"), (2, "unsupported_item")]),
        (rollout("HUM"), [(0, "unsupported_item"), (1, "unsupported_item")]),
        (rollout("RUM"), [(0, "no_action")]),
        (rollout([call("a", "{"), *items_of("UM")]), [(0, "malformed_arguments"), (1, "open_call")]),
        (rollout([call("a", "7")]), [(0, "arguments_not_object")]),
        (rollout([call("a", "{}", name="gone")]), [(0, "tool_not_in_list")]),
        (rollout("COMOM"), [(2, "unmatched_result")]),
        (rollout("CCOM", seed="U"), [(1, "open_call")]),
        (rollout("M", seed="UC"), [(0, "open_call")]),
        (rollout([call("a", '{"x": NaN}')]), [(0, "label_rejected")]),
    ],
)
def test_build_skips_with_a_reason(
    tmp_path: Path, row: dict[str, Any], skipped: list[tuple[int, str]]
) -> None:
    assert skipped_of(tmp_path, row) == skipped


def test_build_skips_what_follows_reasoning_without_id(tmp_path: Path) -> None:
    reasoning, first, result, answer = items_of("RCOM")
    del reasoning["id"]
    assert skipped_of(tmp_path, rollout([reasoning, first, result, answer])) == [(1, "reasoning_without_id")]


def test_build_lets_a_result_answer_the_latest_open_call_of_its_id(tmp_path: Path) -> None:
    result = {"type": "function_call_output", "call_id": "same", "output": "1"}
    reused = [call("same", '{"n":1}'), result, call("same", '{"n":2}'), result, *items_of("M")]
    assert skipped_of(tmp_path, rollout(reused)) == []
    assert skipped_of(tmp_path, rollout([*reused[:2], result, *items_of("M")])) == [(1, "unmatched_result")]


def test_build_keeps_the_first_of_equal_rows(tmp_path: Path) -> None:
    again = rollout("COM", _ng_task_index=0, _ng_rollout_index=1)
    assert skipped_of(tmp_path, rollout("COM"), again) == [(0, "duplicate"), (1, "duplicate")]
    # The same state with another label, and the same label in another state, are rows of their own.
    assert skipped_of(tmp_path, rollout("COM"), rollout([call("a", "{}")]), rollout("COM", seed="UU")) == []


def test_build_rejects_labels_that_the_threshold_makes_unwinnable(tmp_path: Path) -> None:
    # "place 0" has two words: identical texts score 2 / (2 + 2) = 0.5, which is below 0.6.
    metrics, _ = build(tmp_path, rollout("COM"), threshold=0.6)
    assert metrics.skipped["label_rejected"] == 1


def test_build_counts_what_it_saw(tmp_path: Path) -> None:
    metrics, folder = build(
        tmp_path,
        rollout("RRMCCOORM", num_turns=2),  # hoisted; narrates and calls a batch
        rollout("CRORM", seed="U", num_turns=3, reward=0.5),  # interleaved; the count disagrees
        rollout("CMC", reward=0.0),  # two guessed model calls, the second with an open call before it
        rollout(
            "M", seed="UMU", reward=-1.0, num_turns=2
        ),  # the count includes the scripted turn of the seed
    )
    assert (metrics.trajectories, metrics.candidates, metrics.kept) == (4, 7, 6)
    assert {name: count for name, count in metrics.skipped.items() if count} == {"open_call": 1}
    assert metrics.split == {"function_call": 2, "function_call_batch": 1, "message": 3}
    assert metrics.batch_sizes == {"2": 1}
    assert metrics.tools == {"look": 4}
    assert metrics.depth == {"0": 3, "1": 3}
    assert metrics.narrate_and_call == 2
    assert metrics.boundaries == {"guessed": 2, "recorded": 0, "structural": 5}
    check = metrics.call_count_check
    assert (check.agree, check.disagree, check.skipped) == (2, 1, 1)
    reasoning = metrics.reasoning
    assert (reasoning.hoisted, reasoning.interleaved, reasoning.withheld) == (1, 1, 5)
    assert metrics.source_rewards == {"0": 1, "1": 1, "below 0": 1, "between": 1}
    assert metrics.shares["kept"] == pytest.approx(6 / 7, abs=1e-6)
    assert metrics.shares["message"] == 0.5
    assert json.loads((folder / "metrics.json").read_text())["kept"] == 6


def test_build_counts_tools_whose_names_are_numbers_of_any_length(tmp_path: Path) -> None:
    names = ["2", "10", "9" * 5000, "look"]
    tools = [{**TOOLS[0], "name": name} for name in names]
    output = [call(f"c{at}", "{}", name) for at, name in enumerate(names)]
    metrics, _ = build(tmp_path, rollout(output, tools=tools))
    assert list(metrics.tools) == ["look", "2", "10", "9" * 5000]


def test_build_says_when_rewards_leave_nothing_to_filter(tmp_path: Path) -> None:
    metrics, folder = build(tmp_path, rollout("COM"), rollout("COM", seed="U"))
    note = "All trajectories are of one reward class (1)"
    assert any(line.startswith(note) for line in metrics.notes)
    assert note in (folder / "README.md").read_text()


def test_build_does_not_say_that_rewards_of_one_class_are_one_reward(tmp_path: Path) -> None:
    metrics, _ = build(tmp_path, rollout("M", reward=0.2), rollout("M", seed="U", reward=0.8))
    assert metrics.source_rewards == {"between": 2}
    assert not any("reward class" in note for note in metrics.notes)


def test_build_counts_the_model_calls_of_seeds(tmp_path: Path) -> None:
    metrics, _ = build(tmp_path, rollout("M", seed="UCOMU"), rollout("M", seed="U"))
    assert (metrics.seed_calls, metrics.candidates) == (2, 2)


def test_build_writes_a_config_that_leads_from_row_to_comparator(tmp_path: Path) -> None:
    _, folder = build(tmp_path, rollout("M"), name="my_set", threshold=0.25)
    config = read_yaml(folder / "config.yaml")
    agent = read_rows(folder / "pivots.jsonl")[0]["agent_ref"]["name"]
    block = config[agent]["responses_api_agents"]["tool_simulation_agent"]
    server = config[block["resources_server"]["name"]]["resources_servers"]
    comparator = server["single_step_tool_use_with_argument_comparison"]["tool_call_comparator_config"]
    assert comparator == {"word_count_similarity_threshold": 0.25}
    assert block["datasets"][0]["jsonl_fpath"] == str(folder / "pivots.jsonl")
    environment = config["my_set_environment_server"]["environment_servers"]["legacy_agent"]
    assert environment["agent_server"]["name"] == agent


def test_build_merges_sources_in_the_order_given(tmp_path: Path) -> None:
    first = write_rows(tmp_path / "a.jsonl", [rollout("M")])
    second = write_rows(tmp_path / "b.jsonl", [rollout("M", seed="U")])
    pivot_build([second, first], tmp_path / "dataset")
    rows = read_rows(tmp_path / "dataset" / "pivots.jsonl")
    assert [row["pivot_info"]["source"] for row in rows] == ["b.jsonl", "a.jsonl"]


def test_build_gives_the_same_bytes_again(tmp_path: Path) -> None:
    rows = [rollout("RMCCOORM"), rollout("COM", tools=None), rollout("MM")]
    _, folder = build(tmp_path, *rows)
    before = {name: (folder / name).read_bytes() for name in FILES}
    build(tmp_path, *rows)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("folder", "name"),
    [("my-set.v2", "my_set_v2_agent"), ("2024", "pivots_2024_agent"), ("é", "pivots_agent")],
)
def test_build_names_the_dataset_after_its_folder(tmp_path: Path, folder: str, name: str) -> None:
    source = write_rows(tmp_path / "rollouts.jsonl", [rollout("M")])
    pivot_build(source, tmp_path / folder)
    assert read_rows(tmp_path / folder / "pivots.jsonl")[0]["agent_ref"]["name"] == name


def test_build_leaves_nothing_behind_after_a_bad_row(tmp_path: Path) -> None:
    source = tmp_path / "rollouts.jsonl"
    source.write_text(json.dumps(rollout("M")) + "\n{}\n")
    with pytest.raises(InputError, match=r"rollouts\.jsonl:2"):
        pivot_build(source, tmp_path / "dataset")
    assert [path.name for path in tmp_path.iterdir()] == ["rollouts.jsonl"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"name": "my-set"}, "letters, digits and underscores"),
        ({"name": ""}, "letters, digits and underscores"),
        ({"threshold": 1.5}, "between 0 and 1"),
        ({"threshold": float("nan")}, "between 0 and 1"),
    ],
)
def test_build_refuses_what_no_config_can_hold(tmp_path: Path, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        build(tmp_path, rollout("M"), **options)


def test_build_refuses_no_sources(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no source"):
        pivot_build([], tmp_path / "dataset")


def test_build_keeps_foreign_files_out_of_danger(tmp_path: Path) -> None:
    folder = tmp_path / "dataset"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"other files, such as notes\.txt"):
        build(tmp_path, rollout("M"))
    build(tmp_path, rollout("M"), overwrite=True)
    assert {path.name for path in folder.iterdir()} == {*FILES, "notes.txt"}
    assert (folder / "notes.txt").read_text() == "mine"
