"""Makes `runs/` and `rollouts/` with a real NeMo Gym and a scripted model. See README.md.

    PYTHONPATH=tests/gym python examples/make_examples.py --gym-venv DIR --work DIR

`tests/gym` holds the model server and the runner of Gym, which the integration tests share. `--gym-venv` is
an environment that holds nemo-gym 0.7.0; `--work` is a scratch folder. No network is needed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import parts_desk
import quiz
from gym_prefork import GymPrefork
from gym_stack import GymStack
from model_script import parse_script
from model_server import ModelServer

HERE = Path(__file__).resolve().parent
MODEL = "demo-8b"
SERVERS = [
    "resources_servers/mcqa",
    "resources_servers/parts_desk",
    "responses_api_agents/simple_agent",
    "environment_servers/legacy_agent",
]
CONFIG_FLAGS = [
    *("--search-dir", str(HERE / "gym")),
    *("--resources-server", "mcqa"),
    *("--resources-server", "parts_desk"),
]
SAMPLING_FLAGS = ["--temperature", "0.6", "--top-p", "0.95", "--max-output-tokens", "512"]
ALWAYS_FLAGS = [
    # One rollout at a time, so that draw n of a task is its repeat n.
    *("--concurrency", "1"),
    # Without it, Gym 0.7.0 ends the whole run at the first rollout that fails.
    "++route_failures_to_sidecar=true",
]


@dataclass(frozen=True)
class Collection:
    """One `gym eval run`: what it asks, what the model says, and where its files go."""

    rollouts: str
    """Path of the rollouts file, relative to this folder; Gym names the other files after it."""
    agent: str
    repeats: int
    rows: Sequence[quiz.Json]
    script: quiz.Json
    seed: str
    kept: Sequence[str]
    """Names of the files that belong to the example; a `*` stands for the stem of the rollouts file."""


RUN_FILES = (
    "*.jsonl",
    "*_failures.jsonl",
    "*_materialized_inputs.jsonl",
    "*_aggregate_metrics.json",
    "quality_summary.json",
    "rollout_verdicts.jsonl",
)
COLLECTIONS = (
    *(
        Collection(
            rollouts=f"runs/{side}/rollouts.jsonl",
            agent="mcqa_simple_agent",
            repeats=quiz.REPEATS,
            rows=quiz.input_rows(),
            script=quiz.model_script(side),
            seed=seed,
            kept=RUN_FILES,
        )
        for side, seed in quiz.SIDES.items()
    ),
    Collection(
        rollouts="rollouts/tool_use.rollouts.jsonl",
        agent="parts_desk_simple_agent",
        repeats=2,
        rows=parts_desk.input_rows(),
        script=parts_desk.model_script(),
        seed="tool-use",
        kept=("*.jsonl", "*_materialized_inputs.jsonl"),
    ),
)


def main() -> None:
    """Runs the collections one after the other against one set of Gym servers."""
    parser = argparse.ArgumentParser(
        description="Makes runs/ and rollouts/ with a real Gym and a scripted model."
    )
    parser.add_argument("--gym-venv", type=Path, required=True, help="environment that holds nemo-gym 0.7.0")
    parser.add_argument("--work", type=Path, required=True, help="scratch folder")
    arguments = parser.parse_args()
    work: Path = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    # A plain kill would leave Gym's servers behind; an exit ends them.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    started = time.monotonic()
    with (
        ModelServer(parse_script(COLLECTIONS[0].script)) as server,
        GymPrefork(arguments.gym_venv, work) as python,
    ):
        stack = GymStack(
            python,
            work,
            servers=SERVERS,
            config_flags=CONFIG_FLAGS,
            model_url=server.base_url,
            model=MODEL,
        )
        with stack as gym:
            say(f"servers ready after {time.monotonic() - started:.0f} s")
            for collection in COLLECTIONS:
                server.play(parse_script(collection.script), seed=collection.seed)
                start = time.monotonic()
                collect(collection, gym, work)
                statuses = Counter(served.status for served in server.served)
                say(f"{collection.rollouts}: {time.monotonic() - start:.0f} s, statuses {dict(statuses)}")
    say(f"all done after {time.monotonic() - started:.0f} s")


def collect(collection: Collection, gym: GymStack, work: Path) -> None:
    """Runs one collection in the scratch folder and copies the files that belong to the example."""
    rollouts = work / collection.rollouts
    rollouts.parent.mkdir(parents=True, exist_ok=True)
    rows = work / f"{collection.agent}.input.jsonl"
    rows.write_text("".join(json.dumps(row) + "\n" for row in collection.rows), encoding="utf-8")
    printed = gym.collect(
        [
            *("--agent", collection.agent, "--num-repeats", str(collection.repeats)),
            *("--input", str(rows), "--output", str(rollouts)),
            *SAMPLING_FLAGS,
            *ALWAYS_FLAGS,
        ]
    )
    rollouts.with_suffix(".stdout.log").write_text(printed, encoding="utf-8")
    target = (HERE / collection.rollouts).parent
    target.mkdir(parents=True, exist_ok=True)
    for name in collection.kept:
        name = name.replace("*", rollouts.stem)
        shutil.copyfile(rollouts.parent / name, target / name)


def say(line: str) -> None:
    """Reports progress."""
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    main()
