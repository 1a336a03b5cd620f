"""tau-bench and tau2-bench: what the policy saw, what it did, and what others did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gymbal.errors import InputError
from gymbal.model.item import ItemKind
from gymbal.model.trajectory import Conversion, NonModelTurn, Trajectory
from gymbal.readers.detect import read_trajectories

FORMATS = Path(__file__).parent / "formats"

GREETING = {"role": "assistant", "content": "Hi!", "raw_data": None, "usage": None}
USER = {"role": "user", "content": "go"}


def read(path: Path) -> list[Trajectory]:
    return list(read_trajectories([path]))


def tau2(tmp_path: Path, *messages: dict[str, Any], **environment: Any) -> Trajectory:
    info = {"environment_info": {"domain_name": "d"} | environment}
    run = {"id": "s", "task_id": "t", "trial": 0, "messages": messages, "reward_info": {"reward": 1.0}}
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"info": info, "simulations": [run]}))
    (trajectory,) = read(path)
    return trajectory


def kinds(trajectory: Trajectory) -> list[ItemKind]:
    return [item.kind for item in (*trajectory.seed, *trajectory.items)]


def sampled(content: str | None = "x", **message: Any) -> dict[str, Any]:
    raw = {"choices": [{"finish_reason": "stop", "message": {"content": content} | message}]}
    return {"role": "assistant", "content": content, "raw_data": raw}


def test_tau_bench_record_tells_task_trial_and_reward() -> None:
    first, second, failed = read(FORMATS / "tau_bench" / "desk.json")
    assert first.task == second.task
    assert [str(t.task).split("-")[0] for t in (first, second, failed)] == ["0", "0", "1"]
    assert [t.rollout for t in (first, second, failed)] == [
        f"{first.task}-0",
        f"{first.task}-1",
        f"{failed.task}-0",
    ]
    assert [t.reward for t in (first, second, failed)] == [1.0, 0.0, 0.0]
    assert [t.source.record for t in (first, second, failed)] == [0, 1, 2]
    assert (failed.seed, failed.items) == ((), ())


def tau_task(tmp_path: Path, policy: str, said: str, instruction: str | None) -> str | None:
    """The task of attempt 0 of a domain with this policy, whose user simulator said this when told that."""
    messages = [{"role": "system", "content": policy}, {"role": "user", "content": said}]
    info = {} if instruction is None else {"task": {"instruction": instruction}}
    path = tmp_path / "attempts.json"
    path.write_text(json.dumps([{"task_id": 0, "traj": messages, "info": info}]))
    (trajectory,) = read(path)
    return trajectory.task


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        (("airline", "Hello, cancel my flight", "cancel"), True),
        (("retail", "Hi, cancel", "cancel"), False),
        (("airline", "Hi, cancel", "book"), False),  # task 0 of another split
    ],
)
def test_tau_bench_task_is_one_of_its_domain(
    tmp_path: Path, other: tuple[str, str, str], is_same: bool
) -> None:
    task = tau_task(tmp_path, "airline", "Hi, cancel", "cancel")
    assert (tau_task(tmp_path, *other) == task) is is_same


def test_tau_bench_task_is_told_by_the_system_prompt_where_no_instruction_is_kept(tmp_path: Path) -> None:
    names = [tau_task(tmp_path, policy, said, None) for policy, said in ("ax", "ay", "bx")]
    assert names[0] == names[1] != names[2]


def test_tau2_task_is_one_of_its_domain(tmp_path: Path) -> None:
    first, again, other, changed = (
        tau2(tmp_path, {"role": "user", "content": said}, domain_name=name, policy=policy).task
        for said, name, policy in (("a", "d", "p"), ("b", "d", "p"), ("a", "e", "p"), ("a", "d", "q"))
    )
    assert first == again
    assert len({first, other, changed}) == 3


def test_tau_bench_may_end_on_a_tool_result() -> None:
    ended = read(FORMATS / "tau_bench" / "desk.json")[1]
    assert kinds(ended)[-1] is ItemKind.RESULT
    assert ended.call_sizes == (1,)


def test_tau2_policy_does_not_see_what_the_user_simulator_asks_of_tools() -> None:
    trajectory = read(FORMATS / "tau2_bench" / "results.json")[0]
    assert kinds(trajectory) == [
        *(ItemKind.SYSTEM, ItemKind.ASSISTANT, ItemKind.USER),
        *(ItemKind.REASONING, ItemKind.CALL, ItemKind.CALL, ItemKind.RESULT, ItemKind.RESULT),
        *(ItemKind.ASSISTANT, ItemKind.USER, ItemKind.CALL, ItemKind.RESULT, ItemKind.ASSISTANT),
        ItemKind.USER,
    ]
    assert dict(trajectory.non_model_turns) == {
        NonModelTurn.SCRIPTED_GREETING: 1,
        NonModelTurn.USER_SIMULATOR_CALL: 1,
        NonModelTurn.USER_SIMULATOR_RESULT: 1,
    }
    assert trajectory.call_sizes == (3, 1, 1, 1)


def test_tau2_takes_the_arguments_string_of_the_provider_where_it_says_the_same() -> None:
    trajectory = read(FORMATS / "tau2_bench" / "results.json")[0]
    calls = [item.arguments for item in trajectory.items if item.kind is ItemKind.CALL]
    # The provider's third string has 1 day where the recorded object has 14.0: the object is believed.
    assert calls == ['{"title":"Dune"}', '{"title":"Emma"}', '{"title": "Dune", "days": 14.0}']


def test_tau2_simulations_in_a_folder_are_those_of_the_document() -> None:
    (inside, *_), (outside,) = (
        read(FORMATS / "tau2_bench" / name) for name in ("results.json", "split/results.json")
    )
    assert (inside.seed, inside.items, inside.task) == (outside.seed, outside.items, outside.task)
    assert outside.source.path.endswith("split/simulations/s1.json")


def test_tau2_folder_that_lacks_a_simulation_is_refused(tmp_path: Path) -> None:
    (tmp_path / "simulations").mkdir()
    document = {"info": {"environment_info": {}}, "simulation_index": [{"id": "gone"}]}
    (tmp_path / "results.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match="lists simulations that are not there, such as gone"):
        read(tmp_path / "results.json")


@pytest.mark.parametrize("calls", [{}, {"tool_calls": None}, {"tool_calls": []}])
def test_tau2_user_who_calls_no_tool_is_seen(tmp_path: Path, calls: dict[str, Any]) -> None:
    trajectory = tau2(tmp_path, GREETING, USER | calls, sampled())
    assert kinds(trajectory) == [ItemKind.ASSISTANT, ItemKind.USER, ItemKind.ASSISTANT]
    assert dict(trajectory.non_model_turns) == {NonModelTurn.SCRIPTED_GREETING: 1}


def test_tau2_empty_call_ids_are_none(tmp_path: Path) -> None:
    calls: list[dict[str, Any]] = [{"id": "", "name": name, "arguments": {}} for name in ("look", "take")]
    asked = {"role": "assistant", "content": None, "tool_calls": calls}
    results = [{"role": "tool", "id": "", "content": text} for text in ("1", "2")]
    trajectory = tau2(tmp_path, USER, asked, *results, {"role": "assistant", "content": "x"})
    assert [item.call_id for item in trajectory.items[:4]] == ["made_call_0", "made_call_1"] * 2
    assert dict(trajectory.conversions)[Conversion.CALL_ID_MADE] == 2


@pytest.mark.parametrize("nothing", [None, {}])
def test_tau2_greeting_with_empty_provider_fields_was_not_sampled(tmp_path: Path, nothing: Any) -> None:
    greeting = GREETING | {"raw_data": nothing, "usage": nothing}
    trajectory = tau2(tmp_path, greeting, USER, sampled())
    assert (len(trajectory.seed), trajectory.call_sizes) == (2, (1,))


def test_tau2_greeting_is_told_by_its_place_where_no_response_is_kept(tmp_path: Path) -> None:
    answer = {"role": "assistant", "content": "x"}
    trajectory = tau2(tmp_path, GREETING, USER, answer)
    assert trajectory.call_sizes == (1,)
    assert dict(trajectory.non_model_turns) == {NonModelTurn.SCRIPTED_GREETING: 1}


def test_tau2_history_that_was_given_is_part_of_the_seed(tmp_path: Path) -> None:
    given = {"role": "assistant", "content": "before", "raw_data": None}
    trajectory = tau2(tmp_path, GREETING, USER, given, USER, sampled())
    assert (len(trajectory.seed), trajectory.call_sizes) == (4, (1,))
    assert dict(trajectory.non_model_turns) == {
        NonModelTurn.SCRIPTED_GREETING: 1,
        NonModelTurn.GIVEN_HISTORY: 1,
    }


def test_tau2_agent_alone_opens_by_itself(tmp_path: Path) -> None:
    call = {"id": "c", "name": "look", "arguments": {}, "requestor": "assistant"}
    opening = {"role": "assistant", "content": None, "tool_calls": [call]}
    trajectory = tau2(tmp_path, opening, policy="Be kind.")
    assert (len(trajectory.seed), trajectory.call_sizes) == (1, (1,))
    assert trajectory.non_model_turns == {}


def test_tau2_system_prompt_is_the_recorded_one_where_there_is_one(tmp_path: Path) -> None:
    trajectory = tau2(tmp_path, {"role": "system", "content": "whole"}, USER, sampled(), policy="part")
    assert [item.kind for item in trajectory.seed] == [ItemKind.SYSTEM, ItemKind.USER]
    assert b"whole" in trajectory.seed[0].raw
    assert trajectory.conversions == {}


def test_tau2_last_response_that_hit_the_limit_is_truncated(tmp_path: Path) -> None:
    cut = sampled()
    cut["raw_data"]["choices"][0]["finish_reason"] = "length"
    assert tau2(tmp_path, USER, cut).is_truncated
    assert not tau2(tmp_path, USER, sampled()).is_truncated


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"info": {"environment_info": {}}, "simulations": 7}, "is no document of tau2-bench"),
        ({"info": {"environment_info": {}}, "simulations": [{"messages": [7]}]}, None),
        (
            {
                "info": {"environment_info": {}},
                "simulations": [{"messages": [{"role": "user", "content": 7}]}],
            },
            None,
        ),
    ],
)
def test_tau2_odd_documents_are_refused_or_read(
    tmp_path: Path, document: dict[str, Any], problem: str | None
) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps(document))
    if problem is None:
        assert len(list(read_trajectories([path], "tau2_bench"))) == 1
    else:
        with pytest.raises(InputError, match=problem):
            list(read_trajectories([path], "tau2_bench"))
