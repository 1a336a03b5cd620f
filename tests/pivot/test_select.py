"""A selection keeps what a policy gets right sometimes, and accounts for everything else."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from episodes import rollout
from hypothesis import given, settings
from hypothesis import strategies as st
from json_rows import read_rows, write_rows

from gymbal.commands.open_pivots import open_pivots
from gymbal.commands.pivot_audit import pivot_audit
from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_index import pivot_index
from gymbal.commands.pivot_select import pivot_select
from gymbal.commands.pivot_validate import pivot_validate
from gymbal.errors import InputError, UsageError
from gymbal.io.decode import read_yaml
from gymbal.model.pivot import ActionKind
from gymbal.model.selection import BalanceField, SelectionMetrics
from gymbal.model.target import Target
from gymbal.pivot.options import BuildOptions
from gymbal.pivot.selection.options import SelectOptions
from gymbal.pivot.split import split_of

TOOLS = [
    {"type": "function", "name": name, "parameters": {"type": "object", "properties": {}}, "strict": False}
    for name in ("look", "walk")
]


def row(number: int, **fields: Any) -> dict[str, Any]:
    """One pivot that calls a tool; `number` makes its state and its id its own."""
    name = fields.pop("tool", "look")
    label = {"type": "function_call", "name": name, "arguments": "{}"}
    if name is None:
        label = {"type": "message", "content": "Done."}
    state = [{"role": "user", "content": f"request {number}"}]
    request = {"input": state, "tools": TOOLS, "tool_choice": "auto", "parallel_tool_calls": False}
    info = {"uuid": fields.pop("uuid", f"pivot {number}"), "call": number} | fields.pop("info", {})
    return {"responses_create_params": request, "expected_action": label, "pivot_info": info} | fields


def profile_of(folder: Path, passed: dict[str, int | None], k: int = 8) -> Path:
    """`passed` of `k` samples by pivot; None: all failed."""
    lines = []
    for pivot, count in passed.items():
        rewards = [] if count is None else [1.0] * count + [0.0] * (k - count)
        mean = None if count is None else count / k
        line = {"pivot": pivot, "k": len(rewards), "rewards": rewards, "mean": mean, "source": "sampled"}
        lines.append(line | {"failed": k - len(rewards), "asked": k})
    return write_rows(folder / "profile.jsonl", lines)


def selected(folder: Path) -> list[str]:
    return [line["pivot"] for line in read_rows(folder / "selected.jsonl")]


def select(
    folder: Path, rows: list[dict[str, Any]], passed: dict[str, int | None], **options: Any
) -> SelectionMetrics:
    """Select from `rows` into `folder/out`."""
    pivots = write_rows(folder / "pivots.jsonl", rows)
    profile = profile_of(folder, passed)
    return pivot_select(pivots, profile, folder / "out", options=SelectOptions(**options))


def test_selection_keeps_mixed_pivots_and_lists_the_others(tmp_path: Path) -> None:
    passed = {"pivot 0": 0, "pivot 1": 1, "pivot 2": 4, "pivot 3": 8, "pivot 4": None, "pivot 5": 7}
    rows = [row(number) for number in (0, 1, 2, 3, 4, 5, 5, 6)]
    metrics = select(tmp_path, rows, passed)
    out = tmp_path / "out"
    assert selected(out) == ["pivot 1", "pivot 2", "pivot 5"]
    assert read_rows(out / "pivots.jsonl") == [rows[1], rows[2], rows[5]]
    assert [(line["pivot"], line["reason"]) for line in read_rows(out / "skipped.jsonl")] == [
        ("pivot 0", "never_passed"),
        ("pivot 3", "always_passed"),
        ("pivot 4", "no_samples"),
        ("pivot 5", "duplicate"),
        ("pivot 6", "not_profiled"),
    ]
    assert (metrics.candidates, metrics.kept, sum(metrics.skipped.values())) == (8, 3, 5)
    # Decided: pivots 0, 1, 2, 3 and 5 twice; four of these six are mixed.
    assert metrics.mixed_share == pytest.approx(4 / 6, abs=1e-6)
    assert [step.left for step in metrics.funnel] == [7, 5, 3, 3, 3, 3, 3, 3, 3]
    assert json.loads((out / "metrics.json").read_bytes())["kept"] == 3


def test_selection_writes_row_bytes_as_they_are(tmp_path: Path) -> None:
    lines = [json.dumps(row(number), indent=None, separators=(" , ", ":  ")) for number in range(3)]
    pivots = tmp_path / "pivots.jsonl"
    pivots.write_text("\n\n".join(lines))
    profile = profile_of(tmp_path, {"pivot 0": 1, "pivot 1": 8, "pivot 2": 2})
    metrics = pivot_select(pivots, profile, tmp_path / "out")
    written = (tmp_path / "out" / "pivots.jsonl").read_text()
    assert written == f"{lines[0]}\n{lines[2]}\n"
    assert metrics.row_bytes == len(written)
    assert metrics.candidate_bytes == len(written) + len(lines[1]) + 1


def test_selection_prefers_the_hardest_or_the_nearest_to_the_target(tmp_path: Path) -> None:
    passed: dict[str, int | None] = {f"pivot {n}": n + 1 for n in range(7)}  # 1/8 ... 7/8
    rows = [row(number) for number in range(7)]
    for options, kept in (
        ({"budget": 2}, {0, 1}),
        ({"budget": 3, "target_rate": 0.5}, {2, 3, 4}),
        ({"budget": 2, "target_rate": 1.0}, {5, 6}),
        ({"max_rate": 0.375}, {0, 1, 2}),
        ({"max_rate": 0.5, "budget": 2, "target_rate": 0.6}, {2, 3}),
    ):
        select(tmp_path, rows, passed, **options)
        assert set(selected(tmp_path / "out")) == {f"pivot {n}" for n in kept}, options


def test_budget_is_spread_over_classes(tmp_path: Path) -> None:
    # 10 calls of look, 2 of walk, 4 messages, budget 8: walk has 2 only, and the others share the 6 left.
    tools = ["look"] * 10 + ["walk"] * 2 + [None] * 4
    rows = [row(number, tool=tool) for number, tool in enumerate(tools)]
    passed: dict[str, int | None] = {f"pivot {number}": 4 for number in range(16)}
    metrics = select(tmp_path, rows, passed, budget=8, balance=(BalanceField.TOOL,))
    assert (metrics.tools, metrics.split[ActionKind.MESSAGE]) == ({"look": 3, "walk": 2}, 3)
    assert metrics.skipped["over_budget"] == 8


@pytest.mark.parametrize(
    ("field", "a", "b"),
    [
        (BalanceField.DOMAIN, {"domain": "air"}, {"domain": "shop"}),
        (BalanceField.DOMAIN, {"info": {"source": "air.jsonl", "line": 1}}, {"info": {}}),
        (BalanceField.TASK, {"info": {"task": "t1"}}, {"info": {"task": "t2"}}),
        (BalanceField.LABEL, {"tool": "look"}, {"tool": None}),
        (BalanceField.TOOL, {"tool": "look"}, {"tool": "walk"}),
    ],
)
def test_balance_knows_the_classes_of_each_field(
    tmp_path: Path, field: BalanceField, a: dict[str, Any], b: dict[str, Any]
) -> None:
    rows = [row(n, **json.loads(json.dumps(a if n < 20 else b))) for n in range(22)]
    # The two of b are the easiest: without a balance none of them would be kept.
    passed: dict[str, int | None] = {f"pivot {n}": 1 if n < 20 else 7 for n in range(22)}
    select(tmp_path, rows, passed, budget=4, balance=(field,))
    assert {"pivot 20", "pivot 21"} < set(selected(tmp_path / "out"))
    select(tmp_path, rows, passed, budget=4)
    assert not {"pivot 20", "pivot 21"} & set(selected(tmp_path / "out"))


def test_cap_keeps_the_best_of_each_trajectory(tmp_path: Path) -> None:
    rows = [row(n, info={"source": "s.jsonl", "line": 1 + n % 2}) for n in range(6)]
    rows += [row(n) for n in (6, 7)]  # of unknown trajectories: not capped
    passed: dict[str, int | None] = {f"pivot {n}": (7 - n if n < 6 else 4) for n in range(8)}
    metrics = select(tmp_path, rows, passed, cap_per_trajectory=2)
    assert set(selected(tmp_path / "out")) == {f"pivot {n}" for n in (2, 3, 4, 5, 6, 7)}
    assert metrics.skipped["trajectory_cap"] == 2


def test_thinning_drops_its_share_of_messages_whatever_else_is_there(tmp_path: Path) -> None:
    rows = [row(n, tool=None if n % 2 else "look") for n in range(400)]
    passed: dict[str, int | None] = {f"pivot {n}": 4 for n in range(400)}
    metrics = select(tmp_path, rows, passed, drop_messages=0.5)
    kept = set(selected(tmp_path / "out"))
    # 200 messages: half of them, give or take four standard deviations of sqrt(200 / 4).
    assert metrics.split[ActionKind.FUNCTION_CALL] == 200
    assert abs(metrics.split[ActionKind.MESSAGE] - 100) < 4 * 50**0.5
    select(tmp_path, rows[100:300], passed, drop_messages=0.5)
    assert set(selected(tmp_path / "out")) == kept & {f"pivot {n}" for n in range(100, 300)}


def test_split_puts_every_task_on_one_side(tmp_path: Path) -> None:
    rows = [row(n, info={"task": f"task {n % 40}"}) for n in range(120)] + [row(200)]
    passed: dict[str, int | None] = {f"pivot {n}": 3 for n in [*range(120), 200]}
    split = split_of({"train": 0.7, "validation": 0.3})
    metrics = select(tmp_path, rows, passed, split=split)
    sides = {
        side: {each["pivot_info"]["task"] for each in read_rows(tmp_path / "out" / f"{side}.jsonl")}
        for side in ("train", "validation")
    }
    assert not sides["train"] & sides["validation"]
    assert metrics.parts["train"] + metrics.parts["validation"] == metrics.kept == 120
    assert metrics.skipped["no_task"] == 1
    with pytest.raises(UsageError, match=r"were split into train\.jsonl and validation\.jsonl"):
        pivot_select(tmp_path / "out", tmp_path / "profile.jsonl", tmp_path / "again")


EPISODES = ["RMCCOORM", "COM", "MM", "CMC", "COCOCOM", "RUM", "CCOORM"]


def trajectories(folder: Path) -> Path:
    rows = [
        rollout(letters, seed=[{"role": "user", "content": f"ask {n}"}], uuid=f"task {n}")
        for n, letters in enumerate(EPISODES * 2)
    ]
    return write_rows(folder / "source.jsonl", rows)


def some_profile(folder: Path, pivots: Path) -> Path:
    ids = [entry.id for entry in open_pivots(pivots)]
    return profile_of(folder, {each: n % 9 for n, each in enumerate(ids)})


def test_index_and_rows_are_selected_alike(tmp_path: Path) -> None:
    source = trajectories(tmp_path)
    pivot_build(source, tmp_path / "built", name="same")
    pivot_index(source, tmp_path / "index.jsonl", name="same")
    profile = some_profile(tmp_path, tmp_path / "built")
    options = SelectOptions(
        budget=9, balance=(BalanceField.LABEL,), cap_per_trajectory=2, near_duplicates=0.9
    )
    from_rows = pivot_select(tmp_path / "built", profile, tmp_path / "out", options=options)
    written = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    from_index = pivot_select(tmp_path / "index.jsonl", profile, tmp_path / "out", options=options)
    again = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert from_rows.kept == from_index.kept == 9
    assert {name for name in written if written[name] != again[name]} == {"metrics.json"}
    assert sorted(written) == [
        "README.md",
        "config.yaml",
        "metrics.json",
        "pivots.jsonl",
        "selected.jsonl",
        "skipped.jsonl",
    ]


def test_selection_is_valid_and_its_audit_knows_every_call(tmp_path: Path) -> None:
    source = trajectories(tmp_path)
    pivot_build(source, tmp_path / "built", threshold=0.3)
    profile = some_profile(tmp_path, tmp_path / "built")
    metrics = pivot_select(tmp_path / "built", profile, tmp_path / "out")
    assert 0 < metrics.kept < metrics.candidates
    report = pivot_validate(tmp_path / "out")
    assert (report.rows, report.violation_count) == (metrics.kept, 0)
    audit = pivot_audit(tmp_path / "out", source)
    assert audit.problem_count == 0
    assert sum(audit.skipped.values()) == metrics.candidates - metrics.kept
    config = read_yaml(tmp_path / "out" / "config.yaml")
    server = config["built_resources_server"]["resources_servers"]
    (block,) = server.values()
    assert block["tool_call_comparator_config"] == {"word_count_similarity_threshold": 0.3}


@pytest.mark.parametrize("is_index", [False, True])
@pytest.mark.parametrize(
    ("target", "threshold", "key"),
    [
        (Target.SWE_PIVOT, None, "similarity_full_credit: 0.8"),
        (Target.SWE_PIVOT, 0.7, "similarity_full_credit: 0.7"),
        (Target.TERMINAL_MULTI_HARNESS, 0.6, "string_similarity_threshold: 0.6"),
    ],
)
def test_selection_is_scored_by_the_target_of_its_pivots(
    tmp_path: Path, is_index: bool, target: Target, threshold: float | None, key: str
) -> None:
    source, options = trajectories(tmp_path), BuildOptions(target=target)
    if is_index:
        pivots = tmp_path / "index.jsonl"
        pivot_index(source, pivots, name="same", threshold=threshold, options=options)
    else:
        pivots = tmp_path / "built"
        pivot_build(source, pivots, name="same", threshold=threshold, options=options)
    metrics = pivot_select(pivots, some_profile(tmp_path, pivots), tmp_path / "out")
    config = (tmp_path / "out" / "config.yaml").read_text()
    assert metrics.kept
    assert f"    {target}:\n" in config
    assert key in config
    assert key in (tmp_path / "out" / "README.md").read_text()
    assert pivot_validate(tmp_path / "out").violation_count == 0


def test_selection_says_which_settings_it_does_not_write(tmp_path: Path) -> None:
    pivot_build(trajectories(tmp_path), tmp_path / "built", options=BuildOptions(target=Target.SWE_PIVOT))
    config = tmp_path / "built" / "config.yaml"
    old = "reward_mode: binary\n"
    config.write_text(config.read_text().replace(old, old + "      enable_target_match: false\n"))
    metrics = pivot_select(tmp_path / "built", some_profile(tmp_path, tmp_path / "built"), tmp_path / "out")
    assert any("also sets enable_target_match" in note for note in metrics.notes)


def test_selection_keeps_the_scoring_of_its_pivots(tmp_path: Path) -> None:
    pivot_build(trajectories(tmp_path), tmp_path / "built")
    config = tmp_path / "built" / "config.yaml"
    old = "word_count_similarity_threshold: 0.1\n"
    new = old + "        parallel_tool_call_rewarding: true\n        parallel_tool_call_reward_mode: f1\n"
    config.write_text(config.read_text().replace(old, new))
    pivot_select(tmp_path / "built", some_profile(tmp_path, tmp_path / "built"), tmp_path / "out")
    server = read_yaml(tmp_path / "out" / "config.yaml")["built_resources_server"]["resources_servers"]
    (block,) = server.values()
    assert block["tool_call_comparator_config"] == {
        "word_count_similarity_threshold": 0.1,
        "parallel_tool_call_rewarding": True,
        "parallel_tool_call_reward_mode": "f1",
    }
    assert pivot_validate(tmp_path / "out").violation_count == 0


@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 3), st.booleans()), min_size=1, max_size=30),
    st.integers(1, 30),
    st.integers(1, 4),
    st.sampled_from([None, 0.0, 0.5, 1.0]),
    st.lists(st.sampled_from(BalanceField), unique=True, max_size=2),
    st.randoms(use_true_random=False),
)
@settings(max_examples=40)
def test_selection_holds_its_promises(
    tmp_path_factory: pytest.TempPathFactory,
    drawn: list[tuple[int, int, bool]],
    budget: int,
    cap: int,
    target: float | None,
    balance: list[BalanceField],
    rng: Any,
) -> None:
    folder = tmp_path_factory.mktemp("select")
    rows = [
        row(n, tool="look" if is_call else None, info={"source": "s", "line": line, "task": str(line)})
        for n, (_, line, is_call) in enumerate(drawn)
    ]
    passed: dict[str, int | None] = {f"pivot {n}": count for n, (count, _, _) in enumerate(drawn)}
    options = {"budget": budget, "cap_per_trajectory": cap, "target_rate": target, "balance": tuple(balance)}
    metrics = select(folder, rows, passed, **options)
    kept = selected(folder / "out")
    lines = {n: drawn[n][1] for n in range(len(drawn))}
    mixed = {n for n in lines if 0 < drawn[n][0] < 8}
    capped = Counter(lines[n] for n in mixed)
    # Nothing disappears; only mixed pivots are kept; the cap holds; the budget is spent as far as it can be.
    assert metrics.candidates == len(rows) == metrics.kept + sum(metrics.skipped.values())
    assert len(kept) == metrics.kept == min(budget, sum(min(cap, count) for count in capped.values()))
    assert {int(each.split()[1]) for each in kept} <= mixed
    assert max(Counter(lines[int(each.split()[1])] for each in kept).values(), default=0) <= cap
    assert [step.left for step in metrics.funnel][-1] == metrics.kept
    # The order of the rows makes no difference to which of them are kept.
    rng.shuffle(rows)
    select(folder, rows, passed, **options)
    assert set(selected(folder / "out")) == set(kept)


BAD_OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"max_rate": 1.5}, "max_rate must be between 0 and 1"),
    ({"target_rate": -0.1}, "target_rate must be between 0 and 1"),
    ({"budget": 0}, "budget must be at least 1"),
    ({"cap_per_trajectory": 0}, "cap_per_trajectory must be at least 1"),
    ({"near_duplicates": 0.2}, "near_duplicates must be at least 0.5"),
    ({"avoid_words": 2}, "avoid_words must be at least 5"),
    ({"balance": (BalanceField.TASK,)}, "needs a budget"),
    ({"balance": (BalanceField.TASK,) * 2, "budget": 3}, "named twice"),
]


@pytest.mark.parametrize(("options", "said"), BAD_OPTIONS, ids=[said for _, said in BAD_OPTIONS])
def test_options_that_make_no_sense_are_refused(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        select(tmp_path, [row(0)], {"pivot 0": 1}, **options)
    assert not (tmp_path / "out").exists()


def test_profile_of_other_pivots_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"profile\.jsonl: names none of the 2 pivots"):
        select(tmp_path, [row(0), row(1)], {"pivot 7": 1})
    with pytest.raises(InputError, match="holds no pivots"):
        select(tmp_path, [], {"pivot 7": 1})
    metrics = select(tmp_path, [row(0), row(1)], {"pivot 0": 1, "pivot 7": 1})
    assert (metrics.profiled_elsewhere, metrics.skipped["not_profiled"]) == (1, 1)


def test_rows_of_several_agents_are_refused(tmp_path: Path) -> None:
    rows = [row(n, agent_ref={"type": "responses_api_agents", "name": f"agent_{n}"}) for n in range(2)]
    with pytest.raises(UsageError, match="the rows name 2 agents"):
        select(tmp_path, rows, {"pivot 0": 1, "pivot 1": 1})


def test_folder_of_others_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"holds other files, such as mine\.txt"):
        select(tmp_path, [row(0)], {"pivot 0": 1})
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


def notes_for(folder: Path, counts: dict[int, int], **fields: Any) -> str:
    """The notes on as many pivots with so many passed as `counts` says."""
    passed: dict[str, int | None] = {}
    for count, pivots in counts.items():
        passed |= {f"pivot {len(passed) + n}": count for n in range(pivots)}
    return "\n".join(select(folder, [row(n, **fields) for n in range(len(passed))], passed).notes)


@pytest.mark.parametrize(
    ("counts", "tool", "said"),
    [
        ({0: 99, 4: 1}, "look", "1.0% of 100 decided pivots have mixed rewards"),
        ({0: 99, 4: 1}, "look", "99% of those that call tools never pass. Likely the answers cannot match"),
        ({8: 99, 4: 1}, None, "labels that are messages (100% are)"),
        ({8: 50, 0: 50}, "look", "a temperature near 0"),
        ({4: 60, 0: 40}, "look", "Likely the rewards are noise"),
        ({0: 10}, "look", "So few pivots say little"),
        ({0: 40}, "look", "No pivot was selected"),
    ],
)
def test_notes_name_the_cause_of_an_unhealthy_share(
    tmp_path: Path, counts: dict[int, int], tool: str | None, said: str
) -> None:
    assert said in notes_for(tmp_path, counts, tool=tool)


def test_endpoint_that_parses_no_tool_calls_is_suspected(tmp_path: Path) -> None:
    # Such a policy only ever writes text: every message passes, and no call does.
    rows = [row(n, tool=None if n % 2 else "look") for n in range(60)]
    passed: dict[str, int | None] = {f"pivot {n}": 8 * (n % 2) for n in range(60)}
    notes = "\n".join(select(tmp_path, rows, passed).notes)
    assert "100% of those that call tools never pass" in notes
    assert "parses no tool calls" in notes


def test_healthy_share_needs_no_warning(tmp_path: Path) -> None:
    assert "is usual" not in notes_for(tmp_path, {0: 70, 4: 15, 8: 15})
