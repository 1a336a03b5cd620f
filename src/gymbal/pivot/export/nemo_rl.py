"""NeMo RL: the rows as they are, their Gym config, and a GRPO recipe that points at both.

The keys of the recipe are those of NeMo RL's own recipes for Gym in August 2026.
"""

from __future__ import annotations

import json

from gymbal.model.export import ExportTarget
from gymbal.pivot.export.target import ExportFormat, ExportSetting

RECIPE = "grpo.yaml"
BASE = "grpo_workplace_assistant_nemotron_nano_v2_9b.yaml"
"""NeMo RL's own recipe for Gym that others start from."""

_RECIPE = """\
# GRPO on the pivots beside this file. Model, parallelism, optimizer and cluster are those of the recipe that
# it starts from, which lies in examples/nemo_gym of NeMo RL: copy this file there, and set them for yours.
defaults: {base}

grpo:
  max_rollout_turns: 1  # a pivot is one model call
  num_generations_per_prompt: 16
{periods}
policy:
  generation:
    vllm_cfg:
      async_engine: true
      expose_http_server: true
      http_server_serving_chat_kwargs:
        enable_auto_tools: true
        tool_parser: hermes  # must be the one of the model's chat template, as must a reasoning_parser

data:
  default:
    dataset_name: NemoGymDataset
    env_name: nemo_gym
    processor: nemo_gym_data_processor
  train:
    data_path: {train}
{validation}
env:
  should_use_nemo_gym: true
  nemo_gym:
    config_paths:
    - responses_api_models/vllm_model/configs/vllm_model_for_training.yaml
    - {config}
"""

_VALIDATION = """\
  validation:
    data_path: {path}
"""

_NO_PERIODS = """\
  val_period: 0  # there are no rows for validation: export with --split to have some
  val_at_start: false
  val_at_end: false
"""

_NO_VALIDATION = """\
  validation: null
"""

_README = """\
# {dataset}

Pivot rows for GRPO with NeMo RL and NeMo Gym.

- `{recipe}`: the recipe. It starts from NeMo RL's `examples/nemo_gym/{base}`, so copy it into that folder.
- `config.yaml`: the Gym config that scores the rows.
- the rows, as they were read.

All paths are as they were given to `gymbal pivot export`. NeMo RL reads the rows after minutes of start-up:
check them before, with `gymbal pivot validate`. The tool parser and the reasoning parser of vLLM must be
those of the model.
"""


def _texts(setting: ExportSetting) -> dict[str, bytes]:
    train, *validation = (json.dumps(path) for path in setting.paths.values())  # JSON is YAML
    recipe = _RECIPE.format(
        base=BASE,
        periods="" if validation else _NO_PERIODS,
        train=train,
        validation=_VALIDATION.format(path=validation[0]) if validation else _NO_VALIDATION,
        config=json.dumps(setting.config_path),
    )
    readme = _README.format(dataset=setting.dataset, recipe=RECIPE, base=BASE)
    return {RECIPE: recipe.encode(), "README.md": readme.encode()}


NEMO_RL = ExportFormat(
    name=ExportTarget.NEMO_RL, title="NeMo RL", texts=_texts, has_gym_rows=True, needs_chat=False
)
