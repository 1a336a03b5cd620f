"""The runs that the tests make with a real Gym, each by one function, made when first asked for.

They differ from `base` in one known thing each.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import parts_desk
import sums
from gym_stack import GymFailed, GymStack
from json_rows import write_rows
from model_script import parse_script
from model_server import ModelServer
from sums import Json

QUIZ_AGENT = "mcqa_simple_agent"
SINGLE_TURN_AGENT = "quiz_single_turn_agent"
FLAGGED_AGENT = "flagged_quiz_agent"
DESK_AGENT = "parts_desk_simple_agent"

SAMPLING = ("--temperature", "0.6", "--top-p", "0.95", "--max-output-tokens", "512")
ROUTED = "++route_failures_to_sidecar=true"
"""Without it, Gym 0.7.0 ends the whole run at the first rollout that fails."""

FAILING = {2: (0,), 8: (1, 2), 9: (0, 1), 10: (0, 1, 2, 3), 11: (0, 2, 3)}
"""Task -> repeats on which the endpoint fails: 12 of 48, most of them of the hardest tasks."""
BASE_SEED, OTHER_SEED = "base", "rerun"
"""Seeds of the model's answers. Draws of the same chances: nothing but the seed tells the two apart."""


class RunMaker:
    """Makes each run once a session, one after the other, with the script that it needs."""

    def __init__(self, gym: GymStack, model: ModelServer, work: Path) -> None:
        self.gym = gym
        self.work = work
        self._model = model
        self._made: dict[str, Path] = {}

    def run(self, name: str) -> Path:
        """The run directory `name`."""
        if name not in self._made:
            folder = self.work / "runs" / name
            folder.mkdir(parents=True)
            RUNS[name](self, folder)
            self._made[name] = folder
        return self._made[name]

    def play(self, script: Json) -> None:
        """Gives the model another script, from its beginning."""
        self._model.play(parse_script(script))

    def collect(
        self,
        folder: Path,
        script: Json,
        *flags: str,
        rows: Sequence[Json] | None = None,
        agent: str = QUIZ_AGENT,
        repeats: int = sums.REPEATS,
        stem: str = "rollouts",
    ) -> str:
        """Runs `gym eval run` into `folder`, one rollout at a time, so that draw n is repeat n."""
        self.play(script)
        # Named after the run: Gym records no input file, and the folder must hold nothing of ours.
        inputs = self.work / "inputs" / f"{folder.name}-{stem}.jsonl"
        write_rows(inputs, sums.rows() if rows is None else rows)
        return self.gym.collect(
            [
                *("--agent", agent, "--num-repeats", str(repeats), "--concurrency", "1"),
                *("--input", str(inputs), "--output", str(folder / f"{stem}.jsonl")),
                *SAMPLING,
                *flags,
            ]
        )


def base(maker: RunMaker, folder: Path) -> None:
    maker.collect(folder, sums.script(BASE_SEED))


def rerun(maker: RunMaker, folder: Path) -> None:
    """The same model once more."""
    maker.collect(folder, sums.script(OTHER_SEED))


def better(maker: RunMaker, folder: Path) -> None:
    """A model that is right more often on every task."""
    maker.collect(folder, sums.script(OTHER_SEED, better_by=0.45))


def failed(maker: RunMaker, folder: Path) -> None:
    """The endpoint fails on a quarter of the rollouts."""
    maker.collect(folder, sums.script(BASE_SEED, failing=FAILING), ROUTED)


def failed_as_zero(maker: RunMaker, folder: Path) -> None:
    """The same rollouts as `failed`, reported with failures counted as zero."""
    maker.collect(
        folder,
        sums.script(BASE_SEED, failing=FAILING),
        ROUTED,
        "++count_failure_classes_as_zero=[agent_run_error]",
    )


def aborted(maker: RunMaker, folder: Path) -> None:
    """The same failures, unrouted: the first one ends the run."""
    try:
        maker.collect(folder, sums.script(BASE_SEED, failing=FAILING))
    except GymFailed:
        return
    raise AssertionError("Gym was expected to end at the first failure")


def resumed(maker: RunMaker, folder: Path) -> None:
    """`failed`, completed by a resume once the endpoint works again."""
    shutil.copytree(maker.run("failed"), folder, dirs_exist_ok=True)
    maker.collect(folder, sums.script(BASE_SEED), ROUTED, "--resume")


def unstarted_as_zero(maker: RunMaker, folder: Path) -> None:
    """The endpoint turns slow and the time is short: what was never started is counted as zero."""

    def slower(task: int, repeat: int, letter: str) -> Json:
        return sums.plain(task, repeat, letter) | {"delay_s": 0.0 if task < 2 else 4.0}

    maker.collect(
        folder,
        sums.script(BASE_SEED, say=slower),
        ROUTED,
        *("++dispatch_budget_s=6", "++drain_margin_s=0", "++count_missing_rollouts_as_zero=true"),
    )


def shards(maker: RunMaker, folder: Path) -> None:
    """Two shards without metrics, their task numbers stamped by the caller."""
    rows = [row | {"_ng_task_index": task} for task, row in zip(sums.TASKS, sums.rows(), strict=True)]
    for shard, part in enumerate((rows[:7], rows[7:])):
        stem = f"shard-{shard}"
        maker.collect(folder, sums.script(BASE_SEED), "--disable-aggregation", rows=part, stem=stem)


def merged(maker: RunMaker, folder: Path) -> None:
    """The shards, put together by `gym eval aggregate`."""
    pattern = maker.run("shards") / "shard-*.jsonl"
    output = folder / "rollouts.jsonl"
    done = maker.gym.run("eval", "aggregate", "--input-glob", str(pattern), "--output", str(output))
    if done.returncode:
        raise GymFailed(f"gym eval aggregate ended with {done.returncode}:\n{done.stderr[-4000:]}")


def without_thinking(maker: RunMaker, folder: Path) -> None:
    """Another argument of the chat template, which Gym carries as JSON text in the request's metadata."""
    arguments = json.dumps(json.dumps({"enable_thinking": False}))
    flag = f"++responses_create_params.metadata={{chat_template_kwargs:{arguments}}}"
    maker.collect(folder, sums.script(BASE_SEED), flag)


def thoughts_left(maker: RunMaker, folder: Path) -> None:
    """No reasoning parser: the thoughts stand in the answer's text."""

    def aloud(task: int, repeat: int, letter: str) -> Json:
        answer = sums.plain(task, repeat, letter)
        return {"text": f"<think>Units first, then tens.</think>{answer['text']}"}

    maker.collect(folder, sums.script(OTHER_SEED, say=aloud))


def other_agent(maker: RunMaker, folder: Path) -> None:
    maker.collect(folder, sums.script(BASE_SEED), agent=SINGLE_TURN_AGENT)


def repeated_task(maker: RunMaker, folder: Path) -> None:
    """Three tasks stand in the input twice, under other names: Gym gives them numbers of their own."""
    rows = [*sums.rows(), *(row | {"uuid": f"{row['uuid']}-again"} for row in sums.rows((0, 1, 2)))]
    maker.collect(folder, sums.script(BASE_SEED, repeats=2 * sums.REPEATS), rows=rows)


def reordered(maker: RunMaker, folder: Path) -> None:
    """The tasks in reverse order, repeats interleaved and seeded: nothing that a score can depend on."""
    maker.collect(
        folder,
        sums.script(BASE_SEED),
        *("--interleave-repeats", "++num_repeats_add_seed=true"),
        rows=sums.rows(reversed(sums.TASKS)),
    )


def half_points(maker: RunMaker, folder: Path) -> None:
    """Rewards of 0, 0.5 and 1."""
    maker.collect(folder, sums.script(BASE_SEED, say=_half_point_for_even_tasks), agent=FLAGGED_AGENT)


def masked(maker: RunMaker, folder: Path) -> None:
    """The same answers; the verifier gives no verdict on some rollouts, and the endpoint fails on others."""

    def unsure(task: int, repeat: int, letter: str) -> Json:
        answer = _half_point_for_even_tasks(task, repeat, letter)
        has_verdict = task < 7 or repeat > 1
        return answer if has_verdict else {"text": f"{answer['text']} [no verdict]"}

    script = sums.script(BASE_SEED, say=unsure, failing={11: (2, 3)})
    maker.collect(folder, script, ROUTED, agent=FLAGGED_AGENT)


def _half_point_for_even_tasks(task: int, repeat: int, letter: str) -> Json:
    answer = sums.plain(task, repeat, letter)
    return answer if task % 2 else {"text": f"{answer['text']} [half]"}


def desk(maker: RunMaker, folder: Path) -> None:
    """Tool calls: the conversations of the example."""
    maker.collect(
        folder, parts_desk.model_script(), rows=parts_desk.input_rows(), agent=DESK_AGENT, repeats=2
    )


def desk_other_tools(maker: RunMaker, folder: Path) -> None:
    """The same tasks and answers; one tool is described in other words."""
    rows = parts_desk.input_rows()
    for row in rows:
        tools = row["responses_create_params"]["tools"]
        row["responses_create_params"]["tools"] = [
            tool | {"description": "Tells the number and the place of a part."}
            if tool["name"] == "check_stock"
            else tool
            for tool in tools
        ]
    maker.collect(folder, parts_desk.model_script(), rows=rows, agent=DESK_AGENT, repeats=2)


RUNS: dict[str, Callable[[RunMaker, Path], None]] = {
    make.__name__: make
    for make in (
        *(base, rerun, better, failed, failed_as_zero, aborted, resumed, unstarted_as_zero, shards, merged),
        *(without_thinking, thoughts_left, other_agent, repeated_task, reordered, half_points),
        *(masked, desk, desk_other_tools),
    )
}
