"""What a build leaves out when it is asked to, and that it says so."""

import json
from pathlib import Path
from typing import Any

import pytest
from episodes import call, items_of, rollout
from hypothesis import given, settings
from hypothesis import strategies as st
from json_rows import read_rows, write_rows
from target_builds import skips

from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_validate import pivot_validate
from gymbal.errors import UsageError
from gymbal.model.pivot import Boundary, BuildMetrics
from gymbal.pivot.options import BuildOptions, MixedGroups

Json = dict[str, Any]


def build(tmp_path: Path, rows: list[Json], **options: Any) -> tuple[BuildMetrics, Path]:
    source = write_rows(tmp_path / "rollouts.jsonl", rows)
    folder = tmp_path / "dataset"
    metrics = pivot_build(source, folder, options=BuildOptions(**options))
    assert metrics.candidates == metrics.kept + sum(metrics.skipped.values())
    assert len(read_rows(folder / "skipped.jsonl")) == sum(metrics.skipped.values())
    return metrics, folder


def episode(task: str, reward: float | None, output: str = "COM", number: int = 0) -> Json:
    """An episode that no other one equals."""
    seed = [{"role": "user", "content": f"{task} {number} {reward}"}]
    return rollout(output, seed=seed, uuid=task, reward=reward)


@pytest.mark.parametrize(
    ("options", "skipped"),
    [
        ({"min_reward": 0.5}, {"low_reward": 2, "no_reward": 2}),
        ({"success_only": True}, {"low_reward": 4, "no_reward": 2}),
        ({"success_only": True, "min_reward": 0.2}, {"low_reward": 4, "no_reward": 2}),
        ({"success_only": True, "min_reward": 2.0}, {"low_reward": 6, "no_reward": 2}),
        ({"min_reward": 0.0}, {"no_reward": 2}),
        ({}, {}),
    ],
)
def test_build_leaves_out_trajectories_by_reward(tmp_path: Path, options: Json, skipped: Json) -> None:
    rows = [episode("a", 1.0), episode("b", 0.5), episode("c", 0.0), episode("d", None)]
    metrics, folder = build(tmp_path, rows, **options)
    assert skips(metrics) == skipped
    assert json.loads((folder / "metrics.json").read_text())["options"] == options


GROUPS = [
    episode("mixed", 1.0),
    episode("mixed", 0.0),
    episode("uniform", 1.0, number=1),
    episode("uniform", 1.0, number=2),
    episode("alone", 1.0),
    episode("unrewarded", None),
]


@pytest.mark.parametrize(
    ("rule", "tasks"),
    [
        (MixedGroups.REQUIRE, {"mixed"}),
        (MixedGroups.PREFER, {"mixed", "alone", "unrewarded"}),
        (MixedGroups.IGNORE, {"mixed", "uniform", "alone", "unrewarded"}),
    ],
)
def test_build_selects_tasks_by_the_rewards_of_their_group(
    tmp_path: Path, rule: MixedGroups, tasks: set[str]
) -> None:
    metrics, folder = build(tmp_path, GROUPS, mixed_groups=rule)
    assert {row["pivot_info"]["task"] for row in read_rows(folder / "pivots.jsonl")} == tasks
    kinds = {"mixed": 1, "uniform": 1, "unknown": 2} if rule is not MixedGroups.IGNORE else {}
    assert metrics.groups == kinds


def test_build_sees_groups_before_it_leaves_out_low_rewards(tmp_path: Path) -> None:
    metrics, _ = build(tmp_path, GROUPS, mixed_groups=MixedGroups.REQUIRE, success_only=True)
    # Of the mixed task the solved trajectory stays, with its two calls.
    assert metrics.kept == 2
    assert skips(metrics) == {"low_reward": 2, "no_reward": 2, "group_not_mixed": 6}


def test_build_says_when_mixed_groups_have_nothing_to_act_on(tmp_path: Path) -> None:
    found = "No task has trajectories with different rewards (1 tasks have one reward throughout, 2 fewer"
    metrics, folder = build(tmp_path, GROUPS[2:], mixed_groups=MixedGroups.PREFER)
    assert metrics.kept == metrics.candidates
    assert metrics.notes[0].startswith(found)
    assert metrics.notes[0].endswith("`--mixed-groups prefer` had nothing to act on and left nothing out.")
    assert found in (folder / "README.md").read_text()
    metrics, _ = build(tmp_path, GROUPS[2:], mixed_groups=MixedGroups.REQUIRE)
    assert metrics.kept == 0
    assert metrics.notes[0].endswith("`--mixed-groups require` left everything out.")


def test_build_joins_groups_over_sources(tmp_path: Path) -> None:
    sources = [
        write_rows(tmp_path / f"{row['reward']}.jsonl", [row])
        for row in (episode("a", 1.0), episode("a", 0.0))
    ]
    options = BuildOptions(mixed_groups=MixedGroups.REQUIRE)
    assert pivot_build(sources, tmp_path / "dataset", options=options).kept == 4


def messages(count: int) -> list[Json]:
    return [episode(f"task {number}", 1.0, "M") for number in range(count)]


def test_build_thins_messages_by_their_content(tmp_path: Path) -> None:
    rows = messages(400)
    metrics, folder = build(tmp_path, rows, drop_messages=0.25)
    # A binomial count of 400 tries at 0.25 has mean 100 and standard deviation 8.7; four of them are 35.
    assert abs(metrics.skipped["message_thinned"] - 100) < 35
    kept = {row["pivot_info"]["uuid"] for row in read_rows(folder / "pivots.jsonl")}
    _, folder = build(tmp_path, [*reversed(rows), *messages(450)[400:]], drop_messages=0.25)
    assert {row["pivot_info"]["uuid"] for row in read_rows(folder / "pivots.jsonl")} >= kept


def test_build_thins_messages_only(tmp_path: Path) -> None:
    metrics, _ = build(tmp_path, [episode("a", 1.0, "COCCOOM")], drop_messages=1.0)
    assert skips(metrics) == {"message_thinned": 1}
    assert metrics.split == {"function_call": 1, "function_call_batch": 1, "message": 0}


@pytest.mark.parametrize(("most", "kept"), [(100, 1), (99, 0), (30, 0), (5, 0)])
def test_build_counts_characters_of_the_input(tmp_path: Path, most: int, kept: int) -> None:
    # {"role":"user","content":""} and the tools [] have 30 characters.
    text = json.dumps([{"role": "user", "content": "é" * 70}], separators=(",", ":"), ensure_ascii=False)
    assert len(text) - 2 + 2 == 100
    source = tmp_path / "rollouts.jsonl"
    answer = '{"role":"assistant","content":"done"}'
    source.write_text(
        f'{{"responses_create_params":{{"input":{text},"tools":[]}},"response":{{"output":[{answer}]}}}}\n',
        encoding="utf-8",
    )
    options = BuildOptions(max_input_characters=most)
    metrics = pivot_build(source, tmp_path / "dataset", options=options)
    assert (metrics.kept, metrics.skipped["input_too_long"]) == (kept, 1 - kept)


def test_build_keeps_equal_rows_when_told_to(tmp_path: Path) -> None:
    metrics, folder = build(tmp_path, [rollout("COM"), rollout("COM")], dedupe=False)
    assert (metrics.kept, metrics.skipped["duplicate"]) == (4, 0)
    assert pivot_validate(folder).violation_count == 2


@pytest.mark.parametrize(
    ("least", "skipped"),
    [
        (Boundary.GUESSED, {}),
        (Boundary.STRUCTURAL, {"low_confidence": 2}),
        (Boundary.RECORDED, {"low_confidence": 3}),
    ],
)
def test_build_leaves_out_uncertain_boundaries(
    tmp_path: Path, least: Boundary, skipped: dict[str, int]
) -> None:
    metrics, _ = build(tmp_path, [rollout("COMM")], min_confidence=least)
    assert skips(metrics) == skipped


def test_build_writes_the_model_call_as_reference(tmp_path: Path) -> None:
    output = items_of("RMCCOORM")
    _, folder = build(tmp_path, [rollout(output)], reference_output=True)
    first, second = read_rows(folder / "pivots.jsonl")
    assert (first["reference_output"], second["reference_output"]) == (output[:4], output[6:])
    assert pivot_validate(folder).violation_count == 0


def test_build_splices_the_reference(tmp_path: Path) -> None:
    item = r'{"role" : "assistant","content":"d\u006fne"}'
    source = tmp_path / "rollouts.jsonl"
    source.write_text(
        f'{{"responses_create_params":{{"input":"go","tools":[]}},"response":{{"output":[{item}]}}}}\n'
    )
    pivot_build(source, tmp_path / "dataset", options=BuildOptions(reference_output=True))
    assert f'"reference_output":[{item}],' in (tmp_path / "dataset" / "pivots.jsonl").read_text()


def test_build_gives_the_first_reason_of_several(tmp_path: Path) -> None:
    broken = rollout([call("a", "{"), *items_of("UM")], reward=0.0)
    metrics, _ = build(tmp_path, [broken], min_reward=1.0, drop_messages=1.0)
    assert skips(metrics) == {"low_reward": 2}
    metrics, _ = build(tmp_path, [rollout("M"), rollout("M")], drop_messages=1.0)
    assert skips(metrics) == {"message_thinned": 2}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"drop_messages": 1.5}, "drop_messages must be between 0 and 1"),
        ({"drop_messages": float("nan")}, "drop_messages must be between 0 and 1"),
        ({"max_input_characters": 0}, "max_input_characters must be at least 1"),
        ({"min_reward": float("nan")}, "min_reward must be a finite number, found nan"),
        ({"min_reward": float("inf")}, "min_reward must be a finite number, found inf"),
    ],
)
def test_build_refuses_impossible_options(tmp_path: Path, options: Json, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        build(tmp_path, [rollout("M")], **options)
    assert not (tmp_path / "dataset").exists()


@given(
    st.lists(
        st.tuples(
            st.text("RMCOU", max_size=8), st.sampled_from([None, 0.0, 0.5, 1.0]), st.sampled_from("ab")
        ),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from([None, 0.5]),
    st.sampled_from(MixedGroups),
    st.sampled_from(Boundary),
    st.sampled_from([0.0, 0.5]),
    st.sampled_from([None, 300]),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_build_accounts_for_every_candidate_under_any_options(
    tmp_path_factory: pytest.TempPathFactory,
    episodes: list[tuple[str, float | None, str]],
    min_reward: float | None,
    mixed_groups: MixedGroups,
    min_confidence: Boundary,
    drop_messages: float,
    most: int | None,
    dedupe: bool,
) -> None:
    folder = tmp_path_factory.mktemp("any")
    rows = [rollout(output, reward=reward, uuid=task) for output, reward, task in episodes]
    everything, _ = build(folder, rows, dedupe=False)
    metrics, written = build(
        folder,
        rows,
        min_reward=min_reward,
        mixed_groups=mixed_groups,
        min_confidence=min_confidence,
        drop_messages=drop_messages,
        max_input_characters=most,
        dedupe=dedupe,
    )
    assert metrics.candidates == everything.candidates
    assert len(read_rows(written / "pivots.jsonl")) == metrics.kept <= everything.kept
