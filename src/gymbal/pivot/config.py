"""The Gym config of a pivot dataset, as it is written.

Gym 0.7.0 runs an agent through an environment server. It would still add a missing one by itself, with a
warning that this will end, so the config names one, as Gym's own configs do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gymbal.io.printable import printable
from gymbal.model.target import Target
from gymbal.pivot.row import agent_name
from gymbal.pivot.targets.servers import SERVERS

_TEMPLATE = """\
{name}_resources_server:
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
        name: {name}_resources_server
      model_server:
        type: responses_api_models
        name: policy_model
      datasets:
{datasets}{name}_environment_server:
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
    """Return `config.yaml`. `dataset`, and `agent` where it is given, match `row.DATASET_NAME`.

    `paths` says where the rows will lie, by Gym's type of a dataset: `train` or `validation`. `agent` is the
    name that the rows call their agent by, where it is not that of a new dataset. `comparator` holds further
    options of the comparator, as a config has them; they are the single-step target's.
    """
    server = SERVERS[target]
    return _TEMPLATE.format(
        name=dataset,
        server=server.name,
        settings=server.lines(threshold),
        options="".join(
            f"        {json.dumps(name)}: {json.dumps(value)}\n" for name, value in (comparator or {}).items()
        ),
        description=json.dumps(f"Pivot dataset {dataset}: one row per model call, {server.description}."),
        agent_name=agent_name(dataset) if agent is None else agent,
        agent=server.agent,
        agent_settings="".join(f"      {line}\n" for line in server.agent_settings),
        datasets="".join(
            _DATASET.format(type=type, path=json.dumps(printable(path)))  # a JSON string is a YAML string
            for type, path in paths.items()
        ),
    ).encode()
