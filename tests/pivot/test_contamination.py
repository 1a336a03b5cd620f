"""Pivots that share a task with an evaluation are found by the opening request and by words in a row."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from json_rows import read_rows, write_rows

from gymbal.commands.pivot_select import pivot_select
from gymbal.errors import InputError
from gymbal.model.selection import SelectionMetrics
from gymbal.pivot.selection.options import SelectOptions

TASK = (
    "Please move my flight from Lisbon to Oslo on the third of May to the evening of the same day, "
    "and keep the seat by the window if that is still free."
)
OTHER = (
    "My parcel with the blue lamp came broken this morning; I would like to have another one sent to the "
    "office instead of my home."
)


def row(identity: str, *users: str) -> dict[str, Any]:
    """One pivot after what its users said, an assistant message between any two."""
    state: list[dict[str, Any]] = [{"role": "system", "content": TASK + " These are the rules."}]
    for number, text in enumerate(users):
        if number:
            state.append({"role": "assistant", "content": [{"type": "output_text", "text": OTHER}]})
        state.append({"role": "user", "content": text})
    return {
        "responses_create_params": {"input": state, "tools": []},
        "expected_action": {"type": "message", "content": "Done."},
        "pivot_info": {"uuid": identity},
    }


def select(folder: Path, rows: list[dict[str, Any]], avoid: list[Path], **options: Any) -> SelectionMetrics:
    profile = [
        {"pivot": each["pivot_info"]["uuid"], "k": 2, "rewards": [0, 1], "mean": 0.5, "source": "sampled"}
        for each in rows
    ]
    return pivot_select(
        write_rows(folder / "pivots.jsonl", rows),
        write_rows(folder / "profile.jsonl", profile),
        folder / "out",
        options=SelectOptions(**options),
        avoid=avoid,
    )


def as_gym_tasks(path: Path) -> Path:
    state = [{"role": "system", "content": "Rules of the desk."}, {"role": "user", "content": TASK}]
    return write_rows(path / "eval.jsonl", [{"responses_create_params": {"input": state}}])


def as_questions(path: Path) -> Path:
    return write_rows(path / "eval.jsonl", [{"id": 1, "question": TASK, "answer": "yes"}])


def as_nested_turns(path: Path) -> Path:
    return write_rows(path / "eval.jsonl", [{"question": [[{"role": "user", "content": TASK}]]}])


def as_chat_document(path: Path) -> Path:
    document = path / "eval.json"
    document.write_text(json.dumps([{"messages": [{"role": "user", "content": TASK}]}], indent=1))
    return document


def as_scenario(path: Path) -> Path:
    document = path / "eval.json"
    document.write_text(json.dumps([{"id": "7", "scenario": {"instructions": {"reason": TASK}}}]))
    return document


def as_gzip(path: Path) -> Path:
    packed = path / "eval.jsonl.gz"
    packed.write_bytes(gzip.compress(as_questions(path).read_bytes()))
    return packed


FORMS = [as_gym_tasks, as_questions, as_nested_turns, as_chat_document, as_scenario, as_gzip]


@pytest.mark.parametrize("form", FORMS)
def test_task_is_found_in_whatever_form_the_evaluation_has(
    tmp_path: Path, form: Callable[[Path], Path]
) -> None:
    evaluation = form(tmp_path)
    rows = [row("same", TASK), row("shouted", TASK.upper().replace(",", " -")), row("other", OTHER)]
    rows += [row("within", OTHER, "Hello again. " + TASK), row("part", " ".join(TASK.split()[:14]))]
    metrics = select(tmp_path, rows, [evaluation])
    refused = {line["pivot"]: line["reason"] for line in read_rows(tmp_path / "out" / "skipped.jsonl")}
    assert refused == dict.fromkeys(["same", "shouted", "within", "part"], "contaminated")
    (file,) = metrics.avoided
    by_opening = 0 if form is as_scenario else 2
    assert (file.records, file.too_short) == (1, 0)
    assert (file.by_opening, file.by_words) == (by_opening, 4 - by_opening)
    assert {each.pivot for each in metrics.overlaps} == set(refused)
    assert any("4 pivots share a task with" in note for note in metrics.notes)


def test_overlap_names_the_record_and_the_words(tmp_path: Path) -> None:
    evaluation = write_rows(tmp_path / "eval.jsonl", [{"question": OTHER}, {"question": TASK}])
    metrics = select(tmp_path, [row("part", " ".join(TASK.split()[5:20]))], [evaluation])
    (found,) = metrics.overlaps
    assert (found.line, found.by) == (2, "lisbon to oslo on the third of may to the evening of the")
    assert len(found.by.split()) == 13


def test_system_prompts_and_answers_are_not_compared(tmp_path: Path) -> None:
    # Every row has TASK in its system prompt and OTHER in an assistant message.
    evaluation = write_rows(tmp_path / "eval.jsonl", [{"question": TASK}, {"question": OTHER}])
    rows = [row("a", "Could you look whether my order has left the house by now?", "And is it on time?")]
    assert select(tmp_path, rows, [evaluation]).kept == 1


def test_wording_that_many_tasks_have_is_no_task(tmp_path: Path) -> None:
    # 30 problems with one preamble of 19 words; a row with the preamble and a problem of its own is clean.
    preamble = (
        "Solve this problem step by step and put the final answer into a box at the end of your reply. "
    )
    problems = [
        f"How many apples does person {n} have after giving {n} of {n * 7} to friend {n + 1}?"
        for n in range(31)
    ]
    evaluation = write_rows(tmp_path / "eval.jsonl", [{"problem": preamble + each} for each in problems[:30]])
    rows = [row("clean", preamble + "What is the sum of both numbers?"), row("dirty", problems[7])]
    select(tmp_path, rows, [evaluation])
    assert [line["pivot"] for line in read_rows(tmp_path / "out" / "selected.jsonl")] == ["clean"]


def test_attempts_at_one_task_are_one_task(tmp_path: Path) -> None:
    # Its words stand in 40 of 41 records, but in one task: they are not the wording of the benchmark.
    records = [{"question": TASK, "attempt": n} for n in range(40)] + [{"question": OTHER}]
    evaluation = write_rows(tmp_path / "eval.jsonl", records)
    assert select(tmp_path, [row("part", " ".join(TASK.split()[3:20]))], [evaluation]).kept == 0


def test_short_records_are_counted_and_match_nothing(tmp_path: Path) -> None:
    evaluation = write_rows(tmp_path / "eval.jsonl", [{"question": "Hello there"}, {"question": TASK}])
    metrics = select(tmp_path, [row("a", "Hello there")], [evaluation])
    assert metrics.kept == 1
    assert metrics.avoided[0].too_short == 1
    assert any("1 of 2 records" in note for note in metrics.notes)


def test_length_of_the_run_of_words_can_be_chosen(tmp_path: Path) -> None:
    evaluation = as_questions(tmp_path)
    rows = [row("seven", "So, from Lisbon to Oslo on the third, says my calendar.")]
    assert select(tmp_path, rows, [evaluation]).kept == 1
    assert select(tmp_path, rows, [evaluation], avoid_words=7).kept == 0


def test_several_files_are_counted_apart(tmp_path: Path) -> None:
    first = write_rows(tmp_path / "one.jsonl", [{"question": TASK}])
    second = write_rows(tmp_path / "two.jsonl", [{"question": OTHER}])
    metrics = select(
        tmp_path, [row("a", TASK), row("b", OTHER), row("c", "Quite another thing")], [first, second]
    )
    assert [(Path(file.path).name, file.by_opening) for file in metrics.avoided] == [
        ("one.jsonl", 1),
        ("two.jsonl", 1),
    ]
    assert metrics.options["avoid"] == [str(first), str(second)]


@pytest.mark.parametrize(
    "text", ["", '{"question": ""}\n', "not JSON at all", '{"question": "x"}\n{"torn": ']
)
def test_evaluation_that_cannot_be_read_is_an_error(tmp_path: Path, text: str) -> None:
    evaluation = tmp_path / "eval.jsonl"
    evaluation.write_text(text)
    with pytest.raises(InputError, match=r"eval\.jsonl"):
        select(tmp_path, [row("a", TASK)], [evaluation])
    assert not (tmp_path / "out").exists()
