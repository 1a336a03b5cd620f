"""How often a whole triage finds a cause between two runs of the same model, in seeded simulation.

Both runs of a pair are written as files and read again, so that every step of `gymbal triage` takes part.
Prints Markdown and writes nothing that stays; docs/false_alarms.md says how it is renewed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from drawn_rates import task_rates
from gymbal.model.finding import Rung, Status, TriageReport
from gymbal.readers.run import read_run
from gymbal.triage.explain import explain

TASKS = (30, 198, 500)
REPEATS = (1, 4, 16)
PASS_RATES = (0.1, 0.5, 0.9)
CORRELATIONS = (0.0, 0.4)
"""ICC(1) of the reward: 0 is no task effects, 0.4 is what tau-bench airline shows."""
NOMINAL = 0.05
MAX_TOKENS = 512
MORE_ROWS = 4
"""Times as many rollouts for the worlds with few cells, so that their share of all pairs is as sure."""

ROUTE = '"agent_ref": {"name": "quiz_agent"}, "_ng_environment_server": "quiz_server"'
"""Members of every row and of the aggregate entry, as JSON."""

Rates = npt.NDArray[np.float64]


class World(NamedTuple):
    """What goes wrong on both sides alike, as shares of the rollouts."""

    title: str
    truncated: float = 0.0
    empty: float = 0.0
    reasoning_left: float = 0.0
    tool_error: float = 0.0
    failed: float = 0.0

    @property
    def shares(self) -> tuple[float, ...]:
        return self.truncated, self.empty, self.reasoning_left, self.tool_error, self.failed


PLAIN = World("Every rollout is healthy")
UNHEALTHY = World("Some rollouts are not healthy", 0.05, 0.05, 0.05, 0.05)
LOSSY = World("Some rollouts are lost", failed=0.02)

WORLDS = (PLAIN, UNHEALTHY, LOSSY)
TEXTS = {
    PLAIN: "",
    UNHEALTHY: """On both sides 5 % each are truncated, empty, with reasoning left in the answer, and with
a tool error; truncated and empty ones score 0.""",
    LOSSY: """On both sides 2 % end in a failure and have no score. Where their scores alone could close the
gap, triage says so under accounting. That is no false alarm, and its share is shown for what it is.""",
}


class Cell(NamedTuple):
    tasks: int
    repeats: int
    rate: float
    correlation: float


HEAD = """# How often triage finds a cause where there is none

Renew this page with `python benchmarks/false_alarms.py > docs/false_alarms.md` (an hour on one core).

Each pair is the same model run twice: two run directories, written, read and explained as `gymbal triage`
does, seed {seed}. Shown is how often, in percent of the pairs, the verdict is `model`, and how often each
rung says `different`. ICC is the share of the variance that lies between tasks. The level is 95 %, so that
5 % is what one test of no difference may find. **Bold** is above 5 % by more than chance makes of that many
pairs (1 in 1000)."""

COLUMNS = ("tasks", "repeats", "pass rate", "ICC", "pairs", "verdict model")
RUNGS = (Rung.NOISE, Rung.METHOD, Rung.ACCOUNTING)
OTHERS = (Rung.INTEGRITY, Rung.CODE, Rung.BENCHMARK)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--rows", type=int, default=24_000, help="rollouts to simulate a cell of healthy ones"
    )
    parser.add_argument("--pairs", type=int, default=12, help="pairs a cell, at least")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(HEAD.format(seed=options.seed))
    for number, world in enumerate(WORLDS):
        print_world(world, options.rows, options.pairs, [options.seed, number])
    return 0


def print_world(world: World, rows: int, fewest: int, seed: list[int]) -> None:
    columns = (*COLUMNS, *(f"{rung.value} differs" for rung in RUNGS), "another rung differs")
    print(f"\n## {world.title}\n")
    if TEXTS[world]:
        print(f"{TEXTS[world]}\n")
    print(f"| {' | '.join(columns)} |")
    print(f"|{' ---: |' * len(columns)}")
    total: Counter[str] = Counter()
    sizes, rates = (TASKS, PASS_RATES) if world is PLAIN else (TASKS[:1], PASS_RATES[1:2])
    if world is not PLAIN:
        rows *= MORE_ROWS
    for index, values in enumerate(product(sizes, REPEATS, rates, CORRELATIONS)):
        cell = Cell(*values)
        pairs = max(fewest, rows // (2 * cell.tasks * cell.repeats))
        found = count(simulate(cell, world, pairs, [*seed, index]))
        total.update(found)
        print(line([str(value) for value in cell], found), flush=True)
    print(line(["all", "", "", ""], total), flush=True)


def line(names: list[str], found: Counter[str]) -> str:
    pairs = found["pairs"]
    shares = [share(found[name], pairs) for name in ("model verdict", *RUNGS, "other")]
    return f"| {' | '.join([*names, str(pairs), *shares])} |"


def share(times: int, pairs: int) -> str:
    limit = NOMINAL + 3.1 * sqrt(NOMINAL * (1 - NOMINAL) / pairs)
    text = f"{100 * times / pairs:.1f}"
    return text if times / pairs <= limit else f"**{text}**"


def count(reports: Iterable[TriageReport]) -> Counter[str]:
    """How many pairs there were, and in how many of them each thing was found."""
    found: Counter[str] = Counter()
    for report in reports:
        different = {finding.name for finding in report.rungs if finding.status is Status.DIFFERENT}
        found["pairs"] += 1
        found["model verdict"] += report.verdict.rung is Rung.MODEL
        found["other"] += not different.isdisjoint(OTHERS)
        found.update(rung for rung in RUNGS if rung in different)
    return found


def simulate(cell: Cell, world: World, pairs: int, seed: list[int]) -> Iterator[TriageReport]:
    """Triage `pairs` pairs of runs; the tasks are drawn anew for each pair, both of its runs share them."""
    rng = np.random.default_rng(seed)
    for _ in range(pairs):
        rates_T = task_rates(cell.rate, cell.correlation, cell.tasks, rng)
        wrongs_T = [task_rates(wrong, cell.correlation, cell.tasks, rng) for wrong in world.shares]
        with tempfile.TemporaryDirectory() as folder:
            sides = [Path(folder) / name for name in ("left", "right")]
            for side in sides:
                write_run(side, cell, rates_T, wrongs_T, rng)
            yield explain(read_run(sides[0]), read_run(sides[1]))


def write_run(
    folder: Path, cell: Cell, rates_T: Rates, wrongs_T: list[Rates], rng: np.random.Generator
) -> None:
    """Write rollouts, failures, inputs and metrics as Gym 0.7.0 does."""
    folder.mkdir()
    shape = (cell.tasks, cell.repeats)
    passed = rng.random(shape) < rates_T[:, None]
    truncated, empty, left_in, errors, failed = (rng.random(shape) < wrong[:, None] for wrong in wrongs_T)
    passed &= ~truncated & ~empty
    inputs, rollouts, failures, rewards = [], [], [], []
    for task, repeat in np.ndindex(shape):
        at = (task, repeat)
        numbers = f'"_ng_task_index": {task}, "_ng_rollout_index": {repeat}, {ROUTE}}}'
        inputs.append(f"{planned(task)}, {numbers}")
        if failed[at]:
            failures.append(f'{{"_ng_failure_class": "agent_run_error", {numbers}')
            continue
        rewards.append(float(passed[at]))
        answer = answered(task, bool(truncated[at]), bool(empty[at]), bool(left_in[at]), bool(errors[at]))
        rollouts.append(f'{answer}, "reward": {rewards[-1]}, "mask_sample": false, {numbers}')
    for name, rows in (("", rollouts), ("_failures", failures), ("_materialized_inputs", inputs)):
        (folder / f"rollouts{name}.jsonl").write_text("".join(f"{row}\n" for row in rows))
    metrics = {"mean/reward": sum(rewards) / len(rewards)} if rewards else {}
    entry = {"agent_metrics": metrics, "key_metrics": metrics} | json.loads(f"{{{ROUTE}}}")
    (folder / "rollouts_aggregate_metrics.json").write_text(json.dumps([entry]))


def request(task: int) -> dict[str, Any]:
    question = {"role": "user", "content": f"What is {task} plus nothing?"}
    return {"input": [question], "temperature": 0.6, "max_output_tokens": MAX_TOKENS}


@cache
def planned(task: int) -> str:
    """A row of the inputs as JSON, open at its end."""
    row = {"responses_create_params": request(task), "expected_answer": str(task), "uuid": f"quiz-{task}"}
    return json.dumps(row)[:-1]


@cache
def answered(task: int, is_truncated: bool, is_empty: bool, is_reasoning_left: bool, is_error: bool) -> str:
    """Request and response of a rollout as JSON, open at its end."""
    output: list[dict[str, Any]] = []
    if is_error:
        output.append({"type": "function_call", "call_id": "c", "name": "search", "arguments": "{}"})
        output.append({"type": "function_call_output", "call_id": "c", "output": "Error: timed out"})
    text = "" if is_empty else "<think>so</think>It is 3." if is_reasoning_left else "It is 3."
    part = {"type": "output_text", "text": text, "annotations": []}
    output.append({"type": "message", "role": "assistant", "status": "completed", "content": [part]})
    response = {
        "model": "demo",
        "status": "incomplete" if is_truncated else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if is_truncated else None,
        "output": output,
        "usage": {"input_tokens": 40, "output_tokens": MAX_TOKENS if is_truncated else 50},
    }
    return json.dumps({"responses_create_params": request(task), "response": response})[:-1]


if __name__ == "__main__":
    raise SystemExit(main())
