"""Exports, loaded back: what is in the files, what their reward functions say, what was left out and why."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from export_states import BATCH, CALL, LABELS, MESSAGE, TEMPLATE, TOOL, call, completion_of, pivot_row
from json_rows import read_rows, write_encoded
from pyarrow import parquet

from gymbal.commands.pivot_export import pivot_export
from gymbal.commands.pivot_index import pivot_index
from gymbal.commands.pivot_validate import pivot_validate
from gymbal.errors import InputError, MissingExtraError, UsageError
from gymbal.io.decode import read_yaml
from gymbal.model.export import ExportReport, ExportTarget, LeftOutReason
from gymbal.pivot.export.targets import TARGETS
from gymbal.verify import score

STOCK = {"word_count_similarity_threshold": 0.1}
NO_TOOLS_SHOWN = ("trl", "unsloth", "verl", "skyrl")
RENDERED = (*NO_TOOLS_SHOWN, "openrlhf")


@pytest.fixture
def pivots(tmp_path: Path) -> Path:
    return write_encoded(tmp_path / "trips.jsonl", [pivot_row(n, label) for n, label in enumerate(LABELS)])


@pytest.fixture
def template(tmp_path: Path) -> Path:
    path = tmp_path / "template.jinja"
    path.write_text(TEMPLATE, encoding="utf-8")
    return path


def template_for(to: str, template: Path) -> dict[str, Any]:
    """The option, for the targets that take it."""
    return {"chat_template": template} if to in RENDERED else {}


def exported(pivots: Path, to: str, **options: Any) -> tuple[Path, ExportReport]:
    output = pivots.parent / f"out_{to}"
    return output, pivot_export(pivots, output, to=to, **options)


def parquet_rows(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
    return rows


def run_python(folder: Path, code: str, data: Any) -> Any:
    """What `code`, run beside `reward.py`, prints as JSON of `data`, its standard input."""
    done = subprocess.run(
        [sys.executable, "-c", f"import json, sys\ndata = json.load(sys.stdin)\n{code}"],
        cwd=folder,
        input=json.dumps(data),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


ANSWERS = [completion_of(label) for label in LABELS] + [
    completion_of(call("search_flights", to="Málaga", people=3)),
    completion_of(call("search_hotels", to="Málaga", people=2)),
    "<think>Which way</think>I have booked it.",
]


def items_of(answer: str) -> list[dict[str, Any]]:
    """The answers above as a server would return them, written out by hand."""
    calls: dict[str, list[dict[str, Any]]] = {
        completion_of(CALL): [CALL],
        completion_of(BATCH): list(BATCH["calls"]),
        ANSWERS[3]: [call("search_flights", to="Málaga", people=3)],
        ANSWERS[4]: [call("search_hotels", to="Málaga", people=2)],
    }
    if answer in calls:
        return calls[answer]
    text = answer.rpartition("</think>")[2]
    return [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}]


PAIRS = [(label, answer) for label in LABELS for answer in ANSWERS]
REWARDS = [score(label, items_of(answer), STOCK).reward for label, answer in PAIRS]


def test_answers_are_right_and_wrong() -> None:
    # Each label is met by its own answer; the message by both texts, one call by the batch that holds it.
    assert REWARDS == [1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1]


@pytest.mark.parametrize("to", ["gym", "nemo-rl", "verifiers"])
def test_gym_rows_are_written_byte_for_byte_and_validate(pivots: Path, to: str) -> None:
    output, report = exported(pivots, to)
    assert (output / "pivots.jsonl").read_bytes() == pivots.read_bytes()
    assert report.exported == {"train": 3}
    assert pivot_validate(output / "pivots.jsonl", config=output / "config.yaml").violation_count == 0


def test_recipe_of_nemo_rl_points_at_the_files(pivots: Path) -> None:
    output, _ = exported(pivots, "nemo-rl")
    recipe: Any = read_yaml(output / "grpo.yaml")
    assert recipe["grpo"]["max_rollout_turns"] == 1
    assert recipe["data"]["default"]["dataset_name"] == "NemoGymDataset"
    assert recipe["data"]["train"]["data_path"] == str(output / "pivots.jsonl")
    assert recipe["data"]["validation"] is None
    assert recipe["grpo"]["val_period"] == 0
    assert recipe["env"]["nemo_gym"]["config_paths"][1] == str(output / "config.yaml")


def test_recipe_of_a_split_dataset_validates(tmp_path: Path) -> None:
    rows = [pivot_row(n, CALL, task=f"t{n}") for n in range(20)]
    output, report = exported(
        write_encoded(tmp_path / "p.jsonl", rows), "nemo-rl", split={"train": 0.5, "validation": 0.5}
    )
    recipe: Any = read_yaml(output / "grpo.yaml")
    assert recipe["data"]["validation"]["data_path"] == str(output / "validation.jsonl")
    assert "val_period" not in recipe["grpo"]
    assert sum(report.exported.values()) == 20
    assert len(read_rows(output / "train.jsonl")) == report.exported["train"]


@pytest.mark.parametrize("to", RENDERED)
def test_rendered_prompt_holds_state_and_tools(pivots: Path, template: Path, to: str) -> None:
    output, report = exported(pivots, to, chat_template=template)
    assert report.rendered
    assert [note for note in report.notes if "ends an answer" not in note] == []
    name = "train.parquet" if to == "verl" else "train.jsonl"
    rows = parquet_rows(output / name) if to == "verl" else read_rows(output / name)
    for number, row in enumerate(rows):
        prompt = row["prompt"] if isinstance(row["prompt"], str) else row["prompt"][0]["content"]
        assert '"name": "search_flights"' in prompt
        assert "Finds <flights> & fares." in prompt  # not escaped as HTML is
        assert f'[user]Trip {number}: "Málaga" <b> \u2028[/]' in prompt
        assert '<tool_call>{"name": "search_flights", "arguments": {"to": "Oslo"}}</tool_call>' in prompt
        assert "(thought: Fly?)" in prompt
        assert prompt.endswith("[tool]none[/]\n[assistant]")


@pytest.mark.parametrize("to", ["trl", "unsloth", "skyrl"])
def test_both_containers_hold_the_same_records(pivots: Path, template: Path, to: str) -> None:
    output, _ = exported(pivots, to, chat_template=template)
    assert parquet_rows(output / "train.parquet") == read_rows(output / "train.jsonl")


def test_options_of_verl_are_words_of_a_shell_that_hydra_takes(template: Path, tmp_path: Path) -> None:
    folder = tmp_path / "it's mine"
    folder.mkdir()
    pivots = write_encoded(folder / "p.jsonl", [pivot_row(0, CALL)])
    output, _ = exported(pivots, "verl", chat_template=template)
    lines = (output / "README.md").read_text(encoding="utf-8").splitlines()
    words = [word for line in lines if line.startswith("    ") for word in shlex.split(line, comments=True)]
    path = str(output).replace("'", "\\'")
    # Within quotes, Hydra takes all but a quote and a backslash as it is; outside, it takes no {.
    assert words[0] == f"data.train_files='{path}/train.parquet'"
    assert words[1] == f"reward.custom_reward_function.path='{path}/reward.py'"
    assert words[-1] == "+data.apply_chat_template_kwargs.chat_template='{{ messages[0].content }}'"


def test_labels_and_tools_are_json_texts(pivots: Path, template: Path) -> None:
    trl = read_rows(exported(pivots, "trl", chat_template=template)[0] / "train.jsonl")
    verl = parquet_rows(exported(pivots, "verl", chat_template=template)[0] / "train.parquet")
    skyrl = read_rows(exported(pivots, "skyrl", chat_template=template)[0] / "train.jsonl")
    openrlhf = read_rows(exported(pivots, "openrlhf", chat_template=template)[0] / "train.jsonl")
    for n, label in enumerate(LABELS):
        assert json.loads(trl[n]["expected_action"]) == label
        assert json.loads(verl[n]["reward_model"]["ground_truth"]) == label
        assert json.loads(skyrl[n]["reward_spec"]["ground_truth"]) == label
        assert json.loads(openrlhf[n]["label"]) == label
        for tools in (trl[n]["tools"], verl[n]["extra_info"]["tools"], skyrl[n]["extra_info"]["tools"]):
            assert json.loads(tools)[0]["function"]["name"] == "search_flights"
    assert [row["extra_info"]["index"] for row in verl] == [0, 1, 2]
    assert verl[0]["reward_model"]["style"] == "rule"


@pytest.mark.parametrize("to", NO_TOOLS_SHOWN)
def test_without_a_template_the_messages_are_exported_with_a_warning(pivots: Path, to: str) -> None:
    output, report = exported(pivots, to)
    assert not report.rendered
    assert "renders no tools of a row" in report.notes[0]
    messages = parquet_rows(output / "train.parquet")[0]["prompt"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool"]
    assert messages[2]["tool_calls"][0]["function"]["arguments"] == '{"to": "Oslo"}'
    assert messages[2]["reasoning_content"] == "Fly?"
    assert messages[3]["tool_call_id"] == "c1"


@pytest.mark.parametrize("to", ["trl", "unsloth"])
def test_reward_of_trl_is_that_of_the_verifier(pivots: Path, template: Path, to: str) -> None:
    output, _ = exported(pivots, to, chat_template=template)
    rows = read_rows(output / "train.jsonl")
    code = """
from reward import reward_func
rows, answers = data
rows = [row for row in rows for _ in answers]
columns = {name: [row[name] for row in rows] for name in rows[0] if name != "prompt"}
texts = answers * (len(rows) // len(answers))
prompts = [row["prompt"] for row in rows]
chats = [[{"role": "assistant", "content": text}] for text in texts]
extra = {"completion_ids": [], "trainer_state": None, "log_extra": None, "log_metric": None}
print(json.dumps([
    reward_func(prompts=prompts, completions=each, **extra, **columns) for each in (texts, chats)
]))
"""
    assert run_python(output, code, [rows, ANSWERS]) == [REWARDS, REWARDS]


def test_reward_of_verl_is_that_of_the_verifier(pivots: Path, template: Path) -> None:
    output, _ = exported(pivots, "verl", chat_template=template)
    code = """
from reward import compute_score
rows, answers = data
print(json.dumps([
    compute_score(row["data_source"], answer, row["reward_model"]["ground_truth"], row["extra_info"])
    for row in rows for answer in answers
]))
"""
    assert run_python(output, code, [parquet_rows(output / "train.parquet"), ANSWERS]) == REWARDS


def test_reward_of_openrlhf_is_that_of_the_verifier(pivots: Path, template: Path) -> None:
    output, _ = exported(pivots, "openrlhf", chat_template=template)
    code = """
import reward
reward.tensor = list  # what the trainer's own torch would hold
rows, answers = data
print(json.dumps([
    reward.reward_func([row["prompt"] + answer], [row["prompt"]], [row["label"]])["rewards"][0]
    for row in rows for answer in answers
]))
"""
    assert run_python(output, code, [read_rows(output / "train.jsonl"), ANSWERS]) == REWARDS


END = "<|im_end|>"

OPENRLHF_REWARDS = """
import reward
reward.tensor = list  # what the trainer's own torch would hold
row, answers = data
print(json.dumps([
    reward.reward_func([row["prompt"] + answer], [row["prompt"]], [row["label"]])["rewards"][0]
    for answer in answers
]))
"""


@pytest.mark.parametrize("has_tokenizer", [False, True])
def test_special_tokens_behind_thoughts_are_no_message(tmp_path: Path, has_tokenizer: bool) -> None:
    if has_tokenizer:
        source = tmp_path / "tokenizer"
        source.mkdir()
        config = {"chat_template": TEMPLATE, "eos_token": {"content": END}, "pad_token": "[PAD]"}
        (source / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    else:
        source = tmp_path / "template.jinja"
        source.write_text(TEMPLATE.replace("[/]", END), encoding="utf-8")
    pivots = write_encoded(tmp_path / "p.jsonl", [pivot_row(0, MESSAGE), pivot_row(1, CALL)])
    output, report = exported(pivots, "openrlhf", chat_template=source)
    assert report.notes == ()
    message, call_row = read_rows(output / "train.jsonl")
    # Thoughts are no message, with the token or without; a word behind them is one.
    answers = [f"<think>a</think>{end}" for end in ("", END, f"{END}\n{END}\n", f"Where?{END}")]
    assert run_python(output, OPENRLHF_REWARDS, [message, answers]) == [0.0, 0.0, 0.0, 1.0]
    # A call that the end of the answer closes, and one that closes itself.
    unclosed = completion_of(CALL).removesuffix("</tool_call>")
    answers = [f"{unclosed}{END}", f"{completion_of(CALL)}{END}"]
    assert run_python(output, OPENRLHF_REWARDS, [call_row, answers]) == [1.0, 1.0]


def test_openrlhf_says_that_it_knows_no_end_of_an_answer(pivots: Path, template: Path) -> None:
    _, report = exported(pivots, "openrlhf", chat_template=template)
    assert [note for note in report.notes if "ends an answer" in note] == list(report.notes) != []


def test_openrlhf_refuses_a_query_without_its_prompt(pivots: Path, template: Path) -> None:
    output, _ = exported(pivots, "openrlhf", chat_template=template)
    code = """
import reward
try:
    reward.reward_func(["cut"], ["prompt"], ["{}"])
except ValueError as error:
    print(json.dumps(str(error)))
"""
    assert "does not hold its prompt" in run_python(output, code, None)


SKYRL_STAND_IN = """
import sys, types
base = types.ModuleType("skyrl_gym.envs.base_text_env")
base.BaseTextEnv = type("BaseTextEnv", (), {})
base.BaseTextEnvStepOutput = dict
for name in ("skyrl_gym", "skyrl_gym.envs"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["skyrl_gym.envs.base_text_env"] = base
"""


def test_environment_of_skyrl_rewards_as_the_verifier(pivots: Path, template: Path) -> None:
    output, _ = exported(pivots, "skyrl", chat_template=template)
    code = f"""{SKYRL_STAND_IN}
from reward import PivotEnv
rows, answers = data
steps = [
    PivotEnv(extras={{k: v for k, v in row.items() if k != "prompt"}}).step(answer)
    for row in rows for answer in answers
]
assert all(step["done"] for step in steps)
print(json.dumps([step["reward"] for step in steps]))
"""
    assert run_python(output, code, [read_rows(output / "train.jsonl"), ANSWERS]) == REWARDS


def test_reward_of_verifiers_is_that_of_the_verifier(pivots: Path) -> None:
    output, report = exported(pivots, "verifiers")
    assert report.notes == ()
    code = """
from reward import pivot_reward
rows, answers = data
print(json.dumps([
    pivot_reward([{"role": "assistant", "content": answer}], row["answer"], row["info"], state={})
    for row in rows for answer in answers
]))
"""
    assert run_python(output, code, [read_rows(output / "v0_train.jsonl"), ANSWERS]) == REWARDS


def test_info_of_verifiers_has_the_tools_of_the_row_and_no_task(tmp_path: Path) -> None:
    bare = {"type": "function", "name": "stop"}
    row = pivot_row(0, CALL, task="t1", tools=[TOOL, bare])
    output, _ = exported(write_encoded(tmp_path / "p.jsonl", [row]), "verifiers")
    info = json.loads(read_rows(output / "v0_train.jsonl")[0]["info"])
    found, stop = info["tool_defs"]
    assert (found["name"], found["description"]) == ("search_flights", TOOL["description"])
    assert found["parameters"] == TOOL["parameters"]
    # verifiers wants all three, whatever the tool says of itself.
    assert stop == {"name": "stop", "description": "", "parameters": {"type": "object", "properties": {}}}
    assert "task" not in info  # verifiers would take it for the whole task
    assert info["pivot_task"] == "t1"


def test_config_of_verifiers_points_at_the_rows(tmp_path: Path) -> None:
    folder = tmp_path / 'a "b" \\c'
    folder.mkdir()
    output, _ = exported(write_encoded(folder / "p.jsonl", [pivot_row(0, CALL)]), "verifiers")
    text = (output / "README.md").read_text(encoding="utf-8").partition("Version 0")[0]
    lines = [line.strip() for line in text.splitlines() if line.startswith("    ")]
    config = tomllib.loads("\n".join(lines))["env"]
    assert config["taskset"]["dataset"] == str(output / "pivots.jsonl")
    assert config["agent"]["max_turns"] == 1


def test_huggingface_folder_gives_back_the_rows(pivots: Path) -> None:
    output, _ = exported(pivots, "huggingface")
    rows = read_rows(output / "train.jsonl")
    assert "".join(row["row"] + "\n" for row in rows).encode() == pivots.read_bytes()
    assert [row["kind"] for row in rows] == ["function_call", "function_call_batch", "message"]
    header = (output / "README.md").read_text(encoding="utf-8").split("---\n")[1]
    card = output / "header.yaml"
    card.write_text(header, encoding="utf-8")
    loaded: Any = read_yaml(card)
    assert loaded["configs"][0]["data_files"] == [{"split": "train", "path": "train.jsonl"}]


def test_settings_of_the_pivots_reach_the_reward(tmp_path: Path, template: Path) -> None:
    # "to" shares 1 of 2 + 2 words: 0.25, which passes at 0.1 and not at 0.3.
    label = call("search_flights", to="near Oslo")
    pivots = write_encoded(tmp_path / "p.jsonl", [pivot_row(0, label)])
    answer = completion_of(call("search_flights", to="near Bergen"))
    for threshold, reward in ((0.1, 1.0), (0.3, 0.0)):
        output, report = exported(pivots, "verl", chat_template=template, threshold=threshold)
        assert report.comparator == {"word_count_similarity_threshold": threshold}
        code = "from reward import compute_score\nprint(compute_score('', data[0], data[1], None))"
        assert run_python(output, code, [answer, json.dumps(label)]) == reward


def test_every_pivot_is_exported_or_left_out_with_a_reason(tmp_path: Path, template: Path) -> None:
    broken = pivot_row(4, CALL)
    broken["responses_create_params"]["input"][3]["arguments"] = "{"
    rows = [
        pivot_row(0, CALL),
        pivot_row(1, CALL, tools=[{"type": "web_search"}]),
        pivot_row(2, CALL, input=[{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]),
        pivot_row(3, {**CALL, "arguments": "{"}),
        broken,
        pivot_row(5, CALL, instructions=7),
        pivot_row(6, CALL, input=[{"type": "reasoning", "summary": 3}]),
        pivot_row(7, CALL, input=[{"type": "function_call", "call_id": 1, "name": "x", "arguments": "{}"}]),
    ]
    output, report = exported(write_encoded(tmp_path / "p.jsonl", rows), "trl", chat_template=template)
    assert report.exported == {"train": 1}
    assert report.left_out == {
        LeftOutReason.TASK_UNKNOWN: 0,
        LeftOutReason.NO_CHAT_FORM: 5,
        LeftOutReason.LABEL_UNSCORABLE: 1,
        LeftOutReason.NOT_RENDERED: 1,
    }
    assert report.pivots == len(rows)
    left = read_rows(output / "left_out.jsonl")
    assert [line["pivot"] for line in left] == [f"p{n}" for n in range(1, 8)]
    assert "web_search" in left[0]["detail"]
    assert json.loads((output / "export.json").read_text())["left_out"] == report.left_out


def test_label_that_no_policy_can_win_is_left_out(tmp_path: Path) -> None:
    # Equal texts of two words share 2 of 2 + 2: 0.5, below 0.6.
    pivots = write_encoded(tmp_path / "p.jsonl", [pivot_row(0, call("search_flights", to="near Oslo"))])
    _, report = exported(pivots, "trl", threshold=0.6)
    assert report.left_out[LeftOutReason.LABEL_UNSCORABLE] == 1
    assert report.notes[0] == "No pivot was exported: left_out.jsonl says why."


def test_split_divides_by_task_and_leaves_out_rows_without_one(tmp_path: Path) -> None:
    rows = [pivot_row(n, CALL, task=f"t{n // 2}") for n in range(20)] + [pivot_row(20, CALL)]
    pivots = write_encoded(tmp_path / "p.jsonl", rows)
    output, report = exported(pivots, "trl", split={"train": 0.5, "validation": 0.5})
    assert report.left_out[LeftOutReason.TASK_UNKNOWN] == 1
    tasks = [{row["task"] for row in read_rows(output / f"{side}.jsonl")} for side in report.exported]
    assert tasks[0] & tasks[1] == set()
    assert len(tasks[0] | tasks[1]) == 10


def test_folder_that_is_split_stays_so(tmp_path: Path) -> None:
    folder = tmp_path / "dataset"
    folder.mkdir()
    write_encoded(folder / "train.jsonl", [pivot_row(0, CALL), pivot_row(1, CALL)])
    write_encoded(folder / "validation.jsonl", [pivot_row(2, MESSAGE)])
    output = tmp_path / "out"
    report = pivot_export(folder, output, to="gym")
    assert report.exported == {"train": 2, "validation": 1}
    for name in ("train.jsonl", "validation.jsonl"):
        assert (output / name).read_bytes() == (folder / name).read_bytes()
    with pytest.raises(UsageError, match="split already"):
        pivot_export(folder, output, to="gym", split={"train": 0.5, "validation": 0.5})


def test_index_exports_what_its_rows_would(tmp_path: Path) -> None:
    source = Path(__file__).parents[2] / "examples" / "rollouts" / "tool_use.rollouts.jsonl"
    pivot_index([source], tmp_path / "p.index")
    report = pivot_export(tmp_path / "p.index", tmp_path / "rows", to="gym")
    again = pivot_export(tmp_path / "rows" / "pivots.jsonl", tmp_path / "again", to="gym")
    assert report.exported == again.exported
    assert (tmp_path / "rows" / "pivots.jsonl").read_bytes() == (tmp_path / "again/pivots.jsonl").read_bytes()


@pytest.mark.parametrize("to", [target.value for target in ExportTarget])
def test_same_pivots_give_the_same_bytes(pivots: Path, template: Path, to: str) -> None:
    options = template_for(to, template)
    output, report = exported(pivots, to, **options)
    first = {path.name: path.read_bytes() for path in output.iterdir()}
    exported(pivots, to, **options)
    assert {path.name: path.read_bytes() for path in output.iterdir()} == first
    assert tuple(sorted(first)) == report.files


def test_every_target_has_one_format() -> None:
    assert [target.name for target in TARGETS] == list(ExportTarget)


@pytest.mark.parametrize("to", sorted({target.value for target in ExportTarget} - {*RENDERED}))
def test_a_template_that_has_no_use_is_refused(pivots: Path, template: Path, to: str) -> None:
    with pytest.raises(UsageError, match="no use for a chat template"):
        exported(pivots, to, chat_template=template)
    assert not (pivots.parent / f"out_{to}").exists()


def test_openrlhf_needs_a_template(pivots: Path) -> None:
    with pytest.raises(UsageError, match="--chat-template"):
        exported(pivots, "openrlhf")


def test_tool_schemas_cannot_be_validated_without_tools(pivots: Path, template: Path) -> None:
    exported(pivots, "gym")
    config = pivots.parent / "config.yaml"
    text = (pivots.parent / "out_gym" / "config.yaml").read_text()
    threshold = "        word_count_similarity_threshold: 0.1\n"
    assert threshold in text
    config.write_text(
        text.replace(threshold, f"{threshold}        validate_against_declared_tool_schema: true\n")
    )
    with pytest.raises(UsageError, match="gives no reward"):
        exported(pivots, "openrlhf", chat_template=template)
    output, _ = exported(pivots, "trl", chat_template=template)
    rows = read_rows(output / "train.jsonl")
    wrong = completion_of(call("search_flights", to="Málaga", people="two"))
    code = """
from reward import reward_func
rows, texts = data
columns = {name: [row[name] for row in rows] for name in rows[0] if name != "prompt"}
print(json.dumps(reward_func(None, texts, **columns)))
"""
    assert run_python(output, code, [rows[:1] * 2, [ANSWERS[0], wrong]]) == [1.0, 0.0]


def test_rows_of_another_verifier_go_to_gym_alone(tmp_path: Path) -> None:
    row = pivot_row(0, CALL)
    del row["expected_action"]
    row |= {"expected_answer": "{}", "metadata": {"harness": "terminus_2"}}
    pivots = write_encoded(tmp_path / "p.jsonl", [row])
    with pytest.raises(UsageError, match="scored by Gym alone"):
        exported(pivots, "trl")
    output, _ = exported(pivots, "gym")
    assert (output / "pivots.jsonl").read_bytes() == pivots.read_bytes()
    output, _ = exported(pivots, "huggingface")
    assert read_rows(output / "train.jsonl")[0]["expected_action"] is None


def test_unknown_target_and_no_pivots_are_refused(tmp_path: Path, pivots: Path) -> None:
    with pytest.raises(UsageError, match="known are gym, nemo-rl"):
        exported(pivots, "axolotl")
    with pytest.raises(InputError, match="holds no pivots"):
        exported(write_encoded(tmp_path / "none.jsonl", []), "gym")


def test_missing_packages_are_named(
    pivots: Path, template: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for package in ("pyarrow", "jinja2"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"gymbal\[export\]"):
        exported(pivots, "verl")
    with pytest.raises(MissingExtraError, match=r"gymbal\[export\]"):
        exported(pivots, "trl", chat_template=template)
    assert not (tmp_path / "out_verl").exists()


@pytest.mark.parametrize("to", list(ExportTarget))
def test_names_that_are_no_utf8_are_escaped(tmp_path: Path, template: Path, to: str) -> None:
    folder = tmp_path / "odd\udcff"
    folder.mkdir()
    rows = [pivot_row(0, CALL), pivot_row(1, {**CALL, "arguments": "{"})]
    output, report = exported(write_encoded(folder / "p.jsonl", rows), to, **template_for(to, template))
    assert report.pivots == 2
    for line in read_rows(output / "left_out.jsonl"):
        assert line["path"].endswith("odd\\udcff/p.jsonl")
