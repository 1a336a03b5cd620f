"""The Gym that the tests share: one set of servers, with a comparator server for each setting."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gym_prefork import GymPrefork
from gym_runs import QUIZ_AGENT, SINGLE_TURN_AGENT
from gym_stack import GymStack

import gymbal

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
MODEL = "demo-8b"
SERVERS = (
    *("resources_servers/mcqa", "resources_servers/parts_desk", "resources_servers/flagged_quiz"),
    "resources_servers/single_step_tool_use_with_argument_comparison",
    *("responses_api_agents/simple_agent", "responses_api_agents/tool_simulation_agent"),
    "environment_servers/legacy_agent",
)

DATASET = "desk_pivots"
THRESHOLD = 0.1
DATASET_SETTING: dict[str, Any] = {"word_count_similarity_threshold": THRESHOLD}
"""The setting of the config that `pivot_build` writes."""

SETTINGS: dict[str, dict[str, Any]] = {
    "fewer_calls": {
        "word_count_similarity_threshold": 0.4,
        "floating_point_comparison_threshold": 0.25,
        "parallel_tool_call_rewarding": True,
        "allow_subset": True,
    },
    "share_of_calls": {
        "word_count_similarity_threshold": 0.1,
        "parallel_tool_call_rewarding": True,
        "allow_superset": True,
        "parallel_tool_call_reward_mode": "fractional",
    },
    "f1_of_calls": {
        "word_count_similarity_threshold": 0.1,
        "parallel_tool_call_rewarding": True,
        "allow_subset": True,
        "allow_superset": True,
        "parallel_tool_call_reward_mode": "f1",
    },
}
"""Settings beside the dataset's own, by the name of their servers."""

_AGENT = """\
{name}_agent:
  responses_api_agents:
    tool_simulation_agent:
      entrypoint: app.py
      resources_server: {{type: resources_servers, name: {resources_server}}}
      model_server: {{type: responses_api_models, name: policy_model}}
{name}_environment_server:
  environment_servers:
    legacy_agent:
      entrypoint: app.py
      agent_server: {{type: responses_api_agents, name: {name}_agent}}
"""

_COMPARATOR = """\
{name}_resources_server:
  resources_servers:
    single_step_tool_use_with_argument_comparison:
      entrypoint: app.py
      domain: agent
      verified: false
      description: One setting of the comparator
      tool_call_comparator_config: {options}
"""


def comparator_settings() -> dict[str, dict[str, Any]]:
    """Every setting by the name of its agent, the dataset's own first."""
    named = {DATASET: DATASET_SETTING, **SETTINGS}
    return {f"{name}_agent": options for name, options in named.items()}


def dataset_folder(work: Path) -> Path:
    """Where the pivot dataset will be built: its config names that place, and the servers start before."""
    return work / DATASET


def shared_stack(python: GymPrefork, work: Path, model_url: str) -> GymStack:
    """The stack, not started yet."""
    return GymStack(
        python,
        work,
        servers=SERVERS,
        config_flags=[
            *("--search-dir", str(EXAMPLES / "gym"), "--search-dir", str(HERE / "gym")),
            *("--resources-server", "mcqa", "--resources-server", "parts_desk"),
            *("--resources-server", "flagged_quiz"),
            *("--config", str(_write_config(work))),
            *("--config", str(_write_dataset_config(work))),
        ],
        model_url=model_url,
        model=MODEL,
    )


def _write_config(work: Path) -> Path:
    agents = [_AGENT.format(name=SINGLE_TURN_AGENT.removesuffix("_agent"), resources_server="mcqa")]
    for name, options in SETTINGS.items():
        agents.append(_COMPARATOR.format(name=name, options=json.dumps(options)))
        agents.append(_AGENT.format(name=name, resources_server=f"{name}_resources_server"))
    path = work / "servers.yaml"
    path.write_text("".join(agents), encoding="utf-8")
    return path


def _write_dataset_config(work: Path) -> Path:
    """The config of a dataset built from the example's rollouts; the tests build it again from their own."""
    folder = dataset_folder(work)
    rollouts = EXAMPLES / "rollouts" / "tool_use.rollouts.jsonl"
    gymbal.pivot_build(rollouts, folder, name=DATASET, threshold=THRESHOLD)
    path = work / "dataset.yaml"
    path.write_bytes((folder / "config.yaml").read_bytes())
    return path


OBSERVED_CONFIG = """\
mcqa:
  resources_servers:
    mcqa: {{entrypoint: app.py, grading_mode: null, domain: knowledge, verified: false, description: Sums}}
{agent}:
  responses_api_agents:
    simple_agent:
      entrypoint: app.py
      resources_server: {{type: resources_servers, name: mcqa}}
      model_server: {{type: responses_api_models, name: policy_model}}
      datasets:
      - {{name: validation, type: validation, jsonl_fpath: {rows}, license: Apache 2.0}}
mcqa_environment_server:
  environment_servers:
    legacy_agent:
      entrypoint: app.py
      agent_server: {{type: responses_api_agents, name: {agent}}}
"""


def stack_of_one_run(python: GymPrefork, work: Path, rows: Path, model_url: str) -> GymStack:
    """What `GymStack.collect_alone` needs to run the quiz of `rows` with servers of its own."""
    config = work / "observed.yaml"
    config.write_text(OBSERVED_CONFIG.format(agent=QUIZ_AGENT, rows=json.dumps(str(rows))), encoding="utf-8")
    return GymStack(
        python,
        work,
        servers=("resources_servers/mcqa", "responses_api_agents/simple_agent", SERVERS[-1]),
        config_flags=["--config", str(config)],
        model_url=model_url,
        model=MODEL,
    )
