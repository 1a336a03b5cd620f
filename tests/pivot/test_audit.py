"""`pivot_audit`: each fault that a converter can make breaks its rule, on rows that another program wrote."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from converter import (
    FIRST,
    INPUT,
    LABEL,
    ROWS,
    SECOND_CALLS,
    SECOND_SEED,
    SOURCE,
    Row,
    audited,
    broken,
    convert,
    episodes,
    good_rows,
    inputs,
    without_provenance,
)
from episodes import TOOLS, call, items_of, rollout
from json_rows import write_rows

from gymbal.commands.pivot_audit import pivot_audit
from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_stats import pivot_stats
from gymbal.errors import InputError, UsageError
from gymbal.model.audit import RuleStatus
from gymbal.model.pivot_stats import PivotStats
from gymbal.pivot.audit.rules import AUDIT_RULES
from gymbal.pivot.options import BuildOptions, ReasoningRepair

Edit = Callable[[list[Row]], object]


@pytest.mark.parametrize("has_provenance", [True, False])
def test_audit_passes_right_rows(tmp_path: Path, has_provenance: bool) -> None:
    rows = good_rows()
    report = audited(tmp_path, rows if has_provenance else without_provenance(rows))
    assert broken(report) == []
    by = "provenance" if has_provenance else "content"
    assert report.located == {"provenance": 0, "content": 0, "nowhere": 0} | {by: 5}
    assert (report.calls, report.labelled, report.unlabelled, report.skipped) == (5, 5, {}, {})
    status = {rule.rule: (rule.status, rule.checked) for rule in report.rules}
    # A batch is on one row; three rows have reasoning before them; one episode records its count.
    rows_of_rule = dict.fromkeys(AUDIT_RULES, 5) | {"A08": 1, "A11": 1, "A12": 3, "A13": 3}
    expected = {rule: (RuleStatus.PASSED, count) for rule, count in rows_of_rule.items()}
    assert status == expected | dict.fromkeys(("A07", "A14", "A15"), (RuleStatus.SKIPPED, 0))
    reasons = {rule.rule: rule.unchecked for rule in report.rules}
    assert reasons["A07"] == {"call ids carry no index": 2}
    assert reasons["A11"] == {"the source records no count": 1}
    assert reasons["A14"] == reasons["A15"] == {"the row has no pivot_info of a build": 5}


def test_audit_takes_rows_that_say_the_same_in_another_way(tmp_path: Path) -> None:
    # Ids, status, null fields, bare text and key order differ between converters; the policy reads the same.
    rows = good_rows()
    for row in rows:
        for at, item in enumerate(inputs(row)):
            if item["type"] == "message":
                text = item["content"] if isinstance(item["content"], str) else item["content"][0]["text"]
                inputs(row)[at] = {"content": text, "role": item["role"], "status": None}
            elif item["type"] == "function_call":
                inputs(row)[at] = dict(reversed(item.items())) | {"id": "other", "status": "completed"}
    assert broken(audited(tmp_path, rows)) == []


def swap_arguments(rows: list[Row]) -> None:
    one, other = rows[1][LABEL]["calls"]
    one["arguments"], other["arguments"] = other["arguments"], one["arguments"]


def split_batch(rows: list[Row]) -> None:
    first, second = rows[1][LABEL]["calls"]
    rows[1][LABEL] = first
    later = copy.deepcopy(rows[1]) | {LABEL: second}
    items = items_of(FIRST)
    inputs(later).extend([items[3], items[4]])
    rows.insert(2, later)


def merge_calls(rows: list[Row]) -> None:
    batch = [rows[0][LABEL], *rows[1][LABEL]["calls"]]
    rows[0][LABEL] = {"type": "function_call_batch", "calls": batch}


def serialise_again(rows: list[Row]) -> None:
    label = rows[0][LABEL]
    label["arguments"] = json.dumps(json.loads(label["arguments"]), separators=(",", ":"))


def own_reasoning(rows: list[Row]) -> None:
    inputs(rows[0]).append(items_of(FIRST)[0])


FAULTS: list[Any] = [
    (
        "split batch",
        split_batch,
        [
            ("A02", ROWS, 2, LABEL),
            ("A05", ROWS, 3, f"{INPUT}[6]"),
            ("A01", ROWS, 3, INPUT),
            ("A03", ROWS, 3, f"{INPUT}[5]"),
            ("A02", ROWS, 3, LABEL),
            ("A01", ROWS, 3, ""),
            ("A06", SOURCE, 1, "model call 1"),
        ],
    ),
    (
        "calls of two responses in one batch",
        merge_calls,
        [("A02", ROWS, 1, LABEL), ("A08", ROWS, 1, f"{LABEL}.calls")],
    ),
    ("dropped call", lambda rows: rows[1][LABEL]["calls"].pop(), [("A02", ROWS, 2, LABEL)]),
    ("dropped row", lambda rows: rows.pop(1), [("A06", SOURCE, 1, "model call 1")]),
    (
        "order of a batch",
        lambda rows: rows[1][LABEL]["calls"].reverse(),
        [("A02", ROWS, 2, f"{LABEL}.calls")],
    ),
    ("swapped arguments", swap_arguments, [("A02", ROWS, 2, f"{LABEL}.calls")]),
    (
        "swapped labels",
        lambda rows: (
            rows[0].update({LABEL: rows[1][LABEL]}) or rows[1].update({LABEL: good_rows()[0][LABEL]})
        ),
        [("A02", ROWS, 1, LABEL), ("A02", ROWS, 2, LABEL)],
    ),
    ("label encoded again", serialise_again, [("A02", ROWS, 1, f"{LABEL}.arguments")]),
    (
        "other text",
        lambda rows: rows[2][LABEL].update(content="text"),
        [("A02", ROWS, 3, LABEL)],
    ),
    (
        "row twice",
        lambda rows: rows.append(copy.deepcopy(rows[0])),
        [("A01", ROWS, 6, ""), ("A06", SOURCE, 1, "model call 0")],
    ),
    ("own reasoning", own_reasoning, [("A09", ROWS, 1, INPUT)]),
    ("earlier reasoning missing", lambda rows: inputs(rows[1]).pop(2), [("A09", ROWS, 2, INPUT)]),
    ("reasoning without id", lambda rows: inputs(rows[1])[2].pop("id"), [("A13", ROWS, 2, f"{INPUT}[2]")]),
    ("item missing", lambda rows: inputs(rows[2]).pop(4), [("A03", ROWS, 3, f"{INPUT}[4]")]),
    ("item changed", lambda rows: inputs(rows[1])[4].update(output="x"), [("A03", ROWS, 2, f"{INPUT}[4]")]),
    (
        "prefix ends on a call",
        lambda rows: inputs(rows[0]).append(call("new", "{}")),
        [("A05", ROWS, 1, f"{INPUT}[2]"), ("A03", ROWS, 1, f"{INPUT}[2]")],
    ),
    (
        "reference_output of the whole episode",
        lambda rows: rows[0].update(reference_output=items_of(FIRST)),
        [("A10", ROWS, 1, "reference_output")],
    ),
]


@pytest.mark.parametrize("has_provenance", [True, False])
@pytest.mark.parametrize(("edit", "expected"), [fault[1:] for fault in FAULTS], ids=[f[0] for f in FAULTS])
def test_audit_names_the_rule_of_a_fault(
    tmp_path: Path, edit: Edit, expected: list[tuple[str, str, int, str]], has_provenance: bool
) -> None:
    rows = good_rows()
    edit(rows)
    report = audited(tmp_path, rows if has_provenance else without_provenance(rows))
    assert broken(report) == expected
    violated = {rule.rule for rule in report.rules if rule.status is RuleStatus.VIOLATED}
    assert violated == {rule for rule, *_ in expected}


def test_audit_quotes_no_secret(tmp_path: Path) -> None:
    rows = good_rows()
    rows[1][LABEL]["calls"][0]["arguments"] = json.dumps({"headers": {"X-Team": "FAKEsecret"}})
    (problem,) = audited(tmp_path, rows).problems
    assert "FAKEsecret" not in problem.found
    assert "****" in problem.found


def test_audit_names_the_rule_of_another_seed(tmp_path: Path) -> None:
    rows = good_rows()
    request = rows[1]["responses_create_params"]
    request["input"] = [*SECOND_SEED, *request["input"][2:]]
    # The row says that it is of the first episode, whose seed it lacks.
    assert broken(audited(tmp_path, rows)) == [("A04", ROWS, 2, INPUT)]
    # Without its word it starts like the second episode, none of whose model calls did what its label says.
    report = audited(tmp_path, without_provenance(rows))
    assert ("A02", ROWS, 2) in [found[:3] for found in broken(report)]


def test_audit_finds_a_row_by_its_label_where_no_episode_has_its_seed(tmp_path: Path) -> None:
    rows = without_provenance(good_rows())
    inputs(rows[1])[0] = {"type": "message", "role": "user", "content": "No task of the source."}
    report = audited(tmp_path, rows)
    assert broken(report) == [("A04", ROWS, 2, INPUT)]
    assert report.located == {"provenance": 0, "content": 5, "nowhere": 0}
    rules = {rule.rule: rule.unchecked for rule in report.rules}
    assert rules["A03"] == {"the row does not start with the seed of its trajectory": 1}


def test_audit_says_that_a_row_is_of_another_place_than_it_names(tmp_path: Path) -> None:
    rows = good_rows()
    rows[3]["pivot_info"]["line"] = 1
    report = audited(tmp_path, rows)
    assert broken(report) == [("A04", ROWS, 4, INPUT)]
    assert report.problems[0].found.endswith(f"rollouts.jsonl:1, and fits {tmp_path / 'rollouts.jsonl'}:2")


def test_audit_leaves_unchecked_what_it_cannot_place(tmp_path: Path) -> None:
    stranger = {
        "responses_create_params": {"input": [], "tools": []},
        LABEL: {"type": "message", "content": "Who?"},
    }
    report = audited(tmp_path, [*good_rows(), stranger])
    assert broken(report) == [("A04", ROWS, 6, "")]
    assert report.located["nowhere"] == 1
    assert {rule.rule: rule.unchecked for rule in report.rules}["A02"] == {
        "the row's model call was not found": 1
    }


def invented(seed: list[Row]) -> Row:
    items = [*seed, *items_of("MU")]
    label = {"type": "function_call", "name": "look", "arguments": "{}"}
    request = {"input": items, "tools": TOOLS}
    return {"responses_create_params": request, LABEL: label, "pivot_info": {"source": SOURCE, "line": 3}}


@pytest.mark.parametrize("has_provenance", [True, False])
def test_audit_finds_a_row_of_a_trajectory_without_model_calls(tmp_path: Path, has_provenance: bool) -> None:
    seed = [{"type": "message", "role": "user", "content": "A task that nobody answered."}]
    rows = [*good_rows(), invented(seed)]
    source = [*episodes(), rollout([], seed=seed)]
    report = audited(tmp_path, rows if has_provenance else without_provenance(rows), source)
    assert broken(report) == [("A01", ROWS, 6, INPUT)]
    expected = f"starts like {tmp_path / SOURCE}:3, where the source has no model call"
    assert report.problems[0].found == expected
    assert report.located["nowhere"] == 1
    assert {rule.rule: rule.unchecked for rule in report.rules}["A03"] == {
        "the row's model call was not found": 1
    }


def test_audit_does_not_take_a_trajectory_without_model_calls_for_that_of_a_row(tmp_path: Path) -> None:
    """The seed of one attempt is the beginning of another's, which the policy never answered."""
    source = [rollout("MUM"), rollout([], seed=[*items_of("SU"), *items_of("MU")])]
    rows = without_provenance(convert(source[:1], [[(0, 1), (2, 3)]]))
    rows[1][LABEL]["content"] = "never said"
    assert broken(audited(tmp_path, rows, source)) == [("A02", ROWS, 2, LABEL)]


HOSTILE = {
    "too deep": "[" * 5000 + "]" * 5000,
    "deep": '[{"x":' + "[" * 900 + "]" * 900 + "}]",
    "long number": "1" * 5000,
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_audit_and_stats_survive_a_hostile_item(tmp_path: Path, content: str) -> None:
    item = f'{{"type":"message","role":"user","content":{content}}}'
    label = '{"type":"message","content":"x"}'
    row = (
        f'{{"responses_create_params":{{"input":[{item}]}},"expected_action":{label},"pivot_info":{content}}}'
    )
    write_rows(tmp_path / "rollouts.jsonl", episodes())
    (tmp_path / "rows.jsonl").write_text(row)
    assert pivot_audit(tmp_path / "rows.jsonl", tmp_path / "rollouts.jsonl").rows == 1
    stats = pivot_stats(tmp_path / "rows.jsonl")
    assert isinstance(stats, PivotStats)
    assert stats.rows + stats.unreadable == 1


@pytest.mark.parametrize(
    ("line", "rule"), [("[]", "A03"), ('{"responses_create_params":{"input":[]}}', "A02")]
)
def test_audit_takes_a_broken_row_as_a_problem(tmp_path: Path, line: str, rule: str) -> None:
    write_rows(tmp_path / "rollouts.jsonl", episodes())
    (tmp_path / "rows.jsonl").write_text(line)
    report = pivot_audit(tmp_path / "rows.jsonl", tmp_path / "rollouts.jsonl")
    assert report.problems[0].rule == rule


def test_audit_gives_equal_rows_to_equal_calls(tmp_path: Path) -> None:
    # Two attempts at one task that begin alike: without provenance each row still gets a call of its own.
    source = [rollout("RCOM"), rollout("RCOM")]
    rows = without_provenance(convert(source, [SECOND_CALLS, SECOND_CALLS]))
    assert broken(audited(tmp_path, rows, source)) == []
    # A converter that leaves out the second of equal rows has a reason to.
    report = audited(tmp_path, rows[:2], source)
    assert (broken(report), report.unlabelled) == ([], {"duplicate": 2})


def test_audit_counts_calls_with_a_reason_to_skip_them(tmp_path: Path) -> None:
    output = items_of("COM")
    output[0]["arguments"] = "not JSON"
    source = [rollout(output)]
    rows = convert(source, [[(0, 1), (2, 3)]])[1:]
    report = audited(tmp_path, rows, source)
    assert (broken(report), report.unlabelled) == ([], {"malformed_arguments": 1})


def test_audit_believes_the_list_of_skipped_candidates(tmp_path: Path) -> None:
    skipped = {
        "source": {"path": "x/rollouts.jsonl", "line": 1, "offset": 0},
        "call": 1,
        "reason": "too_dull",
    }
    write_rows(tmp_path / "skipped.jsonl", [skipped])
    rows = good_rows()
    del rows[1]
    report = audited(tmp_path, rows)
    assert (broken(report), report.skipped, report.labelled) == ([], {"too_dull": 1}, 4)


def test_audit_finds_a_recorded_count_that_disagrees(tmp_path: Path) -> None:
    report = audited(tmp_path, good_rows(), episodes(num_turns=5))
    assert broken(report) == [("A11", SOURCE, 2, "num_turns")]
    assert report.problems[0].found == "recorded 5, found 2"


def indexed(output: list[Row], ids: list[str]) -> list[Row]:
    """The items with these call ids in place of their own."""
    names = dict(
        zip([item["call_id"] for item in output if item["type"] == "function_call"], ids, strict=True)
    )
    return [item | {"call_id": names[item["call_id"]]} if "call_id" in item else item for item in output]


def test_audit_holds_the_cut_against_indexed_call_ids(tmp_path: Path) -> None:
    output = indexed(items_of("CCOOCOM"), ["look:0", "look:1", "look:0"])
    cut = [(0, 2), (4, 5), (6, 7)]
    # A result answers the latest call of its id, so that equal ids are no fault.
    report = audited(tmp_path, convert([rollout(output)], [cut]), [rollout(output)])
    assert broken(report) == []
    assert {rule.rule: rule.checked for rule in report.rules}["A07"] == 1
    # One response of two calls, which a serial executor wrote as call, result, call, result.
    serial = indexed(items_of("COCOCOM"), ["look:0", "look:1", "look:0"])
    rows = convert([rollout(serial)], [[(0, 1), (2, 3), (4, 5), (6, 7)]])
    assert ("A07", SOURCE, 1, "model call 1") in broken(audited(tmp_path, rows, [rollout(serial)]))


def test_audit_skips_call_ids_that_never_restart(tmp_path: Path) -> None:
    output = indexed(items_of("COCOM"), ["look:0", "look:1"])
    report = audited(tmp_path, convert([rollout(output)], [[(0, 1), (2, 3), (4, 5)]]), [rollout(output)])
    rules = {rule.rule: (rule.status, rule.unchecked) for rule in report.rules}
    assert rules["A07"] == (RuleStatus.SKIPPED, {"call ids count through the whole trajectory": 1})


def test_audit_finds_hoisted_reasoning(tmp_path: Path) -> None:
    source = [rollout("RRCOM")]
    report = audited(tmp_path, convert(source, [[(0, 3), (4, 5)]]), source)
    assert broken(report) == [("A12", ROWS, 2, f"{INPUT}[2]")]


def test_audit_reads_instructions_as_the_first_message(tmp_path: Path) -> None:
    source = [rollout("CO", seed="U", request={"instructions": "Be brief."})]
    rows = convert(source, [[(0, 1)]])
    assert {rule for rule, *_ in broken(audited(tmp_path, rows, source))} == {"A04"}
    inputs(rows[0]).insert(0, {"role": "system", "content": "Be brief."})
    assert broken(audited(tmp_path, rows, source)) == []
    rows = convert(source, [[(0, 1)]])
    rows[0]["responses_create_params"]["instructions"] = "Be brief."
    assert broken(audited(tmp_path, rows, source)) == []


def test_audit_lists_a_few_problems_and_counts_all(tmp_path: Path) -> None:
    write_rows(tmp_path / "rollouts.jsonl", episodes())
    (tmp_path / "rows.jsonl").write_text("")
    report = pivot_audit(tmp_path / "rows.jsonl", tmp_path / "rollouts.jsonl", max_problems=2)
    assert (report.problem_count, len(report.problems), report.unlabelled) == (5, 2, {"no_reason": 5})
    problem = report.problems[0]
    assert (problem.rule, problem.line, problem.offset, problem.source) == ("A06", 1, 0, None)
    assert problem.expected == AUDIT_RULES["A06"]


def test_audit_refuses_what_makes_no_sense(tmp_path: Path) -> None:
    write_rows(tmp_path / "rollouts.jsonl", episodes())
    with pytest.raises(UsageError, match="no source"):
        pivot_audit(tmp_path / "rows.jsonl", [])
    with pytest.raises(UsageError, match="negative"):
        pivot_audit(tmp_path / "rows.jsonl", tmp_path / "rollouts.jsonl", max_problems=-1)
    with pytest.raises(InputError, match="cannot be read"):
        pivot_audit(tmp_path / "rows.jsonl", tmp_path / "rollouts.jsonl")
    with pytest.raises(InputError, match=r"holds no pivots\.jsonl"):
        pivot_audit(tmp_path, tmp_path / "rollouts.jsonl")
    write_rows(tmp_path / "rows.jsonl", good_rows())
    (tmp_path / "skipped.jsonl").write_text("{}")
    with pytest.raises(InputError, match="skipped candidate"):
        pivot_audit(tmp_path / "rows.jsonl", tmp_path / "rollouts.jsonl")


def test_audit_takes_an_index_of_absurd_length_for_no_index(tmp_path: Path) -> None:
    items = items_of("COM")
    items[0]["call_id"] = items[1]["call_id"] = "look:" + "1" * 5000
    source = [rollout(items)]
    report = audited(tmp_path, convert(source, [[(0, 1), (2, 3)]]), source)
    reasons = {rule.rule: rule.unchecked for rule in report.rules}
    assert reasons["A07"] == {"call ids carry no index": 1}


@pytest.mark.parametrize(("recorded", "agrees"), [(2, True), (3, True), (4, False)])
def test_audit_and_build_agree_on_a_count_with_a_scripted_opening(
    tmp_path: Path, recorded: int, agrees: bool
) -> None:
    messages = [
        {"role": "assistant", "content": "How can I help?"},
        {"role": "user", "content": "Say yes."},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": "Say no."},
        {"role": "assistant", "content": "No."},
    ]
    source = write_rows(tmp_path / "chat.jsonl", [{"messages": messages, "num_agent_messages": recorded}])
    check = pivot_build(source, tmp_path / "set").call_count_check
    assert (check.agree, check.disagree) == ((1, 0) if agrees else (0, 1))
    rules = [problem.rule for problem in pivot_audit(tmp_path / "set", source).problems]
    assert rules == ([] if agrees else ["A11"])


def test_audit_leaves_reasoning_alone_that_was_redistributed_as_asked(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rollouts.jsonl", [rollout("RCRCOOM")])
    options = BuildOptions(repair_reasoning=ReasoningRepair.REDISTRIBUTE)
    pivot_build(source, tmp_path / "set", options=options)
    report = pivot_audit(tmp_path / "set", source, repair_reasoning="redistribute")
    assert broken(report) == []
    assert {rule.rule: rule.status for rule in report.rules}["A12"] is RuleStatus.SKIPPED
