"""`pivot_inspect`: what a source holds, every rule for its boundaries, and two sources side by side.

All counts are worked out by hand from the letters: R reasoning, M text, C call, O result, U user.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from episodes import call, items_of, rollout
from json_rows import write_rows

from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_inspect import pivot_inspect
from gymbal.errors import InputError, UsageError
from gymbal.model.inspection import Inspection, RuleCheck, SignVerdict

TOKENS = {"prompt_token_ids": [1], "generation_token_ids": [2], "generation_log_probs": [-0.1]}


def look(tmp_path: Path, *rows: dict[str, Any], **options: Any) -> Inspection:
    source = write_rows(tmp_path / "rollouts.jsonl", rows)
    return pivot_inspect(source, **options).left


def rule(found: Inspection, name: str) -> RuleCheck:
    return next(check for check in found.rules if check.rule == name)


def nonzero(counts: Any) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}


def turns(*answers: list[dict[str, Any]]) -> dict[str, Any]:
    return {"turns": [{"invocation_id": "root", "answer": answer} for answer in answers]}


def indexed(*ids: str) -> list[dict[str, Any]]:
    """Calls and results: `a:0` is a call with that id, `O` answers the oldest open one."""
    items: list[dict[str, Any]] = []
    waiting: list[str] = []
    for name in ids:
        if name == "O":
            items.append({"type": "function_call_output", "call_id": waiting.pop(0), "output": "1"})
            continue
        waiting.append(name)
        items.append(call(name, "{}", name=name.partition(":")[0]))
    return items


def test_inspect_counts_what_a_source_holds(tmp_path: Path) -> None:
    found = look(tmp_path, rollout("RCCOOM"), rollout("MCOM", reward=0.0), rollout("XU", reward=None))
    assert (found.trajectories, found.tasks) == (3, 1)
    assert nonzero(found.items) == {
        "assistant": 3,
        "reasoning": 1,
        "function_call": 3,
        "function_call_output": 3,
        "other": 1,
        "user": 1,
    }
    assert nonzero(found.seed_items) == {"system": 3, "user": 3}
    assert found.shapes == {"MCOM": 1, "RC2O2M": 1, "XU": 1}
    assert (found.model_calls, found.kept, found.skips) == (4, 4, {})
    assert nonzero(found.decisions) == {"message": 2, "function_call": 1, "function_call_batch": 1}
    assert found.batch_sizes == {"1": 1, "2": 1}
    assert found.narrate_and_call == 1
    assert found.rewards == {"0": 1, "1": 1, "missing": 1}
    look_tool = found.tools["look"]
    assert (look_tool.declared, look_tool.calls, look_tool.undeclared_calls) == (3, 3, 0)


def test_inspect_names_decisions_that_no_label_can_express(tmp_path: Path) -> None:
    found = look(tmp_path, rollout("HUMUR"), rollout([call("a", "{}", name="gone")]))
    assert nonzero(found.decisions) == {"other_call": 1, "message": 1, "no_action": 1, "function_call": 1}
    assert found.skips == {"unsupported_item": 2, "no_action": 1, "tool_not_in_list": 1}
    assert list(found.tools) == ["gone", "web_search_call", "look"]
    assert found.tools["gone"].undeclared_calls == 1


@pytest.mark.parametrize(
    ("rewards", "group"),
    [
        ([1.0, 0.0], "mixed"),
        ([0.4, 0.5, None], "mixed"),
        ([1.0, 1.0], "all_1"),
        ([0.0, 0.0], "all_0"),
        ([0.5, 0.5], "uniform"),
        ([1.0], "single"),
        ([1.0, None], "single"),
        ([None, None], "missing"),
    ],
)
def test_inspect_groups_tasks_by_their_rewards(
    tmp_path: Path, rewards: list[float | None], group: str
) -> None:
    rows = [rollout("M", reward=reward, task_id="t") for reward in rewards]
    assert nonzero(look(tmp_path, *rows).groups) == {group: 1}


def test_inspect_holds_recorded_turns_against_item_types(tmp_path: Path) -> None:
    first, result, second, answer = items_of("COCO")
    serial = rollout([first, result, second, answer], ng_trajectory=turns([first, second]))
    plain = rollout("COM", ng_trajectory=turns([items_of("C")[0]], [items_of("M")[0]]))
    unfit = rollout("M", ng_trajectory=turns([items_of("C")[0]]))
    found = look(tmp_path, plain, serial, unfit, rollout("M"))
    check = rule(found, "turns")
    assert (check.applies, check.unusable, check.skipped) == (2, 1, 1)
    assert (check.agree, check.disagree, check.model_calls) == (1, 1, 3)
    assert [(e.source.line, e.call, e.detail) for e in check.examples] == [
        (2, 0, "turns: 2 items, execution runs: 1"),
        (3, None, "recorded boundaries do not fit the items"),
    ]
    runs = rule(found, "execution_runs")
    assert (runs.applies, runs.agree, runs.model_calls) == (4, 4, 2 + 2 + 1 + 1)
    assert nonzero(found.boundaries) == {"recorded": 3, "structural": 2}


def test_inspect_holds_token_ids_against_item_types(tmp_path: Path) -> None:
    first, result, second, answer = items_of("COCO")
    found = look(tmp_path, rollout([first, result, second | TOKENS, answer]))
    check = rule(found, "token_ids")
    assert (check.applies, check.agree, check.disagree, check.model_calls) == (1, 0, 1, 1)


@pytest.mark.parametrize(
    ("ids", "outcome"),
    [
        (("look:0", "look:1", "O", "O", "look:0", "O"), "agree"),
        (("functions.look:0", "functions.look:1", "O", "O"), "agree"),
        (("look:0", "look:0", "O", "O"), "disagree"),  # two responses without a result between
        (("look:0", "O", "look:1", "O", "look:0", "O"), "disagree"),  # one response, executed one by one
        (("look:0", "O", "look:1", "O"), "skipped"),  # counts through the trajectory
        (("look:1", "look:2", "O", "O", "look:1", "O"), "unusable"),
        (("look:0", "opaque", "O", "O"), "skipped"),
        (("take:0", "O"), "agree"),
        ((), "skipped"),
    ],
)
def test_inspect_holds_call_id_indices_against_item_types(
    tmp_path: Path, ids: tuple[str, ...], outcome: str
) -> None:
    items = indexed(*ids)
    for item in items:
        if item.get("name", "").startswith("functions."):
            item["name"] = item["name"].removeprefix("functions.")
    check = rule(look(tmp_path, rollout(items)), "call_id_index")
    counts = {name: getattr(check, name) for name in ("agree", "disagree", "skipped", "unusable")}
    assert nonzero(counts) == {outcome: 1}


@pytest.mark.parametrize(
    ("seed", "recorded", "auto", "yes", "no"),
    [
        ("SU", 2, True, False, True),
        ("SU", 3, False, True, False),  # auto allows one more only where the seed holds a turn
        ("SMU", 3, True, True, False),
        ("SMU", 2, True, False, True),
        ("SCOMU", 4, True, True, False),
        ("SU", 5, False, False, False),
    ],
)
def test_inspect_checks_the_recorded_number_of_model_calls(
    tmp_path: Path, seed: str, recorded: int, auto: bool, yes: bool, no: bool
) -> None:
    row = rollout("COM", seed=seed, num_turns=recorded)
    for mode, agrees in (("auto", auto), ("yes", yes), ("no", no)):
        check = look(tmp_path, row, seeded_greeting=mode).count_check
        assert (check.agree, check.disagree, check.skipped) == (int(agrees), int(not agrees), 0), mode
        assert check.fields == {"num_turns": 1}
        assert bool(check.examples) is not agrees


def test_inspect_reads_the_number_from_the_field_that_is_named(tmp_path: Path) -> None:
    rows = [rollout("COM", num_turns=9, stats={"calls": 3}), rollout("M")]
    check = look(tmp_path, *rows, call_count_field="stats.calls").count_check
    assert (check.fields, check.differences) == ({"stats.calls": 1}, {"+1": 1})
    assert (check.disagree, check.skipped) == (1, 1)


def test_inspect_says_where_reasoning_stands(tmp_path: Path) -> None:
    found = look(tmp_path, rollout("RCORRCOCRORM"), rollout("RU"), rollout("RRCRO"))
    # RC; RRC hoisted; CR interleaved; RM | R alone | RRCR hoisted and interleaved.
    placement = found.reasoning
    assert (placement.leading, placement.hoisted, placement.interleaved) == (2, 2, 2)
    assert (placement.alone, placement.without) == (1, 0)
    assert [(e.source.line, e.call, e.detail) for e in placement.examples] == [
        (1, 1, "hoisted: R2C"),
        (1, 2, "interleaved: CR"),
        (3, 0, "hoisted: R2CR"),
        (3, 0, "interleaved: R2CR"),
    ]


def test_inspect_keeps_as_many_examples_as_asked_for(tmp_path: Path) -> None:
    rows = [rollout("RRM") for _ in range(9)]
    assert len(look(tmp_path, *rows).reasoning.examples) == 5
    assert len(look(tmp_path, *rows, max_examples=2).reasoning.examples) == 2
    assert look(tmp_path, *rows, max_examples=0).reasoning.examples == ()


def test_inspect_counts_signs_with_their_chances(tmp_path: Path) -> None:
    reused = [call("same", "{"), *items_of("M"), call("same", "{}")]
    found = look(tmp_path, rollout("COMOM"), rollout("RRCOM"), rollout(reused), rollout("CUM"))
    signs = {sign.name: (sign.count, sign.chances) for sign in found.signs}
    assert signs["hoisted reasoning"] == (1, 1)
    assert signs["results that answer no call"] == (1, 3)  # COMOM: the second O
    assert signs["arguments that are no JSON object"] == (1, 5)
    assert signs["call ids used twice"] == (1, 4)
    assert signs["calls without a result"] == (2, 4)  # `same` before the last model call, and that of CUM
    assert signs["request input not recorded"] == (0, 4)


def test_inspect_reads_every_format(tmp_path: Path) -> None:
    formats = Path(__file__).parents[1] / "readers" / "formats"
    sources = [formats / "openai_chat" / "desk.jsonl", formats / "tau2_bench" / "results.json"]
    found = pivot_inspect(sources).left
    assert found.formats == {"openai_chat": 1, "tau2_bench": 3}
    assert found.sources == tuple(map(str, sources))
    assert nonzero(found.boundaries) == {"recorded": 4 + 5}
    assert found.non_model_turns["scripted_greeting"] == 2


def test_inspect_of_an_empty_source_says_so(tmp_path: Path) -> None:
    (tmp_path / "none.jsonl").write_text("")
    found = pivot_inspect(tmp_path / "none.jsonl", source_format="gym_rollouts").left
    assert (found.trajectories, found.model_calls, found.notes) == (
        0,
        0,
        ("The source holds no model call.",),
    )


def test_inspect_refuses_wrong_arguments(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rollouts.jsonl", [rollout("M")])
    with pytest.raises(UsageError, match="auto, yes or no"):
        pivot_inspect(source, seeded_greeting="maybe")
    with pytest.raises(UsageError, match="max_examples"):
        pivot_inspect(source, max_examples=-1)
    with pytest.raises(UsageError, match="no source"):
        pivot_inspect([])
    with pytest.raises(InputError, match=r"absent\.jsonl"):
        pivot_inspect(source, compare=[tmp_path / "absent.jsonl"])


def compare(tmp_path: Path, left: list[str], right: list[str]) -> dict[str, SignVerdict]:
    sides = [
        write_rows(tmp_path / f"{name}.jsonl", [rollout(letters) for letters in rows])
        for name, rows in (("left", left), ("right", right))
    ]
    report = pivot_inspect(sides[0], compare=[sides[1]])
    assert report.right is not None
    return {pair.name: pair.verdict for pair in report.signs}


def test_compare_says_which_source_alone_shows_a_sign(tmp_path: Path) -> None:
    # Every second reasoning call of the left is hoisted: of 8 on the right, 4 were to be expected.
    verdicts = compare(tmp_path, ["RRCORM"] * 2, ["RCORM"] * 4)
    assert verdicts["hoisted reasoning"] is SignVerdict.LEFT_ONLY
    assert verdicts["interleaved reasoning"] is SignVerdict.NEITHER
    assert "recorded turns cut otherwise than item types" not in verdicts
    assert compare(tmp_path, ["RCORM"] * 4, ["RRCORM"])["hoisted reasoning"] is SignVerdict.RIGHT_ONLY
    assert compare(tmp_path, ["RRM"], ["RRM"])["hoisted reasoning"] is SignVerdict.BOTH


def test_compare_does_not_take_few_chances_for_none(tmp_path: Path) -> None:
    # One of two on the left: of 4 on the right, 2 were to be expected, and none is no surprise.
    assert compare(tmp_path, ["RRCORM"], ["RCORM"] * 2)["hoisted reasoning"] is SignVerdict.TOO_FEW
    assert compare(tmp_path, ["RRCORM"], ["CO"] * 9)["hoisted reasoning"] is SignVerdict.TOO_FEW


def test_compare_says_what_it_means(tmp_path: Path) -> None:
    left = write_rows(tmp_path / "left.jsonl", [rollout("RRCORM")] * 4)
    right = write_rows(tmp_path / "right.jsonl", [rollout("RCORM")] * 4)
    (note,) = pivot_inspect(left, compare=[right]).notes
    assert note.startswith("Only the left source shows: hoisted reasoning. ")
    assert note.endswith("from its recorder or its model, not from the harness.")


def test_compare_of_two_harnesses_blames_nobody(tmp_path: Path) -> None:
    left = write_rows(tmp_path / "left.jsonl", [rollout("RRCORM")] * 4)
    other: list[dict[str, Any]] = [{"type": "function", "name": "take", "parameters": {}, "strict": None}]
    right = write_rows(tmp_path / "right.jsonl", [rollout("RM", tools=other)] * 9)
    (note,) = pivot_inspect(left, compare=[right]).notes
    assert "no tool in common" in note


def test_inspection_is_the_same_every_time(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rollouts.jsonl", [rollout("RCCOOM"), rollout("MCOM")])
    first, second = (msgspec.json.encode(pivot_inspect(source)) for _ in range(2))
    assert first == second
    assert json.loads(first)["schema_version"] == 1


def test_inspect_counts_duplicates_as_a_build_does(tmp_path: Path) -> None:
    found = look(tmp_path, rollout("COM"), rollout("COM"))
    metrics = pivot_build(tmp_path / "rollouts.jsonl", tmp_path / "set")
    assert (found.kept, found.skips) == (2, {"duplicate": 2})
    assert (metrics.kept, nonzero(metrics.skipped)) == (found.kept, found.skips)
