"""The Gym config of a pivot dataset, as it is written.

Gym 0.7.0 runs an agent through an environment server. It would still add a missing one by itself, with a
warning that this will end, so the config names one, as Gym's own configs do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gymbal.errors import UsageError
from gymbal.io.printable import printable
from gymbal.model.target import Target
from gymbal.pivot.row import agent_name
from gymbal.pivot.targets.servers import SERVERS

POLICY_MODEL = "policy_model"
"""The model server that Gym's command line defines."""

_YAML_WORDS = frozenset({"y", "yes", "n", "no", "on", "off", "true", "false", "null"})
"""Words that YAML 1.1 reads as a truth value or as null, in any case."""

_TEMPLATE = """\
{server_name}:
  resources_servers:
    {server}:
      entrypoint: app.py
      domain: agent
{settings}{options}      verified: false
      description: {description}
{agent_name}:
  responses_api_agents:
    {agent}:
      entrypoint: app.py
{agent_settings}      resources_server:
        type: resources_servers
        name: {server_name}
      model_server:
        type: responses_api_models
        name: {model}
      datasets:
{datasets}{environment_name}:
  environment_servers:
    legacy_agent:
      entrypoint: app.py
      agent_server:
        type: responses_api_agents
        name: {agent_name}
"""

_DATASET = """\
      - name: {type}
        type: {type}
        jsonl_fpath: {path}
        num_repeats: 1
        license: TBD
"""


def config_yaml(
    dataset: str,
    threshold: float,
    paths: Mapping[str, str],
    *,
    agent: str | None = None,
    comparator: Mapping[str, Any] | None = None,
    target: Target = Target.SINGLE_STEP,
) -> bytes:
    """Return `config.yaml`.

    `dataset` matches `row.DATASET_NAME` and `agent`, where it is given, `row.AGENT_NAME`. `paths` says
    where the rows will lie, by Gym's type of a dataset: `train` or `validation`. `agent` is the name that the
    rows call their agent by, where it is not that of a new dataset. `comparator` holds further options of the
    comparator, as a config has them; they are the single-step target's. Raises UsageError where `agent` is
    called like another block.
    """
    server = SERVERS[target]
    server_name, environment_name = f"{dataset}_resources_server", f"{dataset}_environment_server"
    if agent in (server_name, environment_name, POLICY_MODEL):
        remedy = (
            "Gym calls the policy so: name the agent of the rows otherwise."
            if agent == POLICY_MODEL
            else "Choose another name for the dataset."
        )
        raise UsageError(f"the agent of the rows is called like another block, {agent!r}", remedy=remedy)
    return _TEMPLATE.format(
        server_name=server_name,
        environment_name=environment_name,
        model=POLICY_MODEL,
        server=server.name,
        settings=server.lines(threshold),
        options="".join(
            f"        {json.dumps(name)}: {json.dumps(value)}\n" for name, value in (comparator or {}).items()
        ),
        description=json.dumps(f"Pivot dataset {dataset}: one row per model call, {server.description}."),
        agent_name=_yaml_text(agent_name(dataset) if agent is None else agent),
        agent=server.agent,
        agent_settings="".join(f"      {line}\n" for line in server.agent_settings),
        datasets="".join(
            _DATASET.format(type=type, path=json.dumps(printable(path)))  # a JSON string is a YAML string
            for type, path in paths.items()
        ),
    ).encode()


def _yaml_text(name: str) -> str:
    """A name as YAML, in quotes where it would be read as a value of another kind."""
    return json.dumps(name) if name.lower() in _YAML_WORDS else name
