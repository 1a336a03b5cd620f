"""Which part of an evaluation a key of a Gym config belongs to, by its words."""

from __future__ import annotations

import re

from gymbal.model.evidence import Role

_PROMPT_WORDS = r"prompt|template|instruction|system_message|few_?shot|skills"

_MEANT_FILES = rf"{_PROMPT_WORDS}|rubric|(class|import)_path$"
"""Words of keys whose file or folder decides what happens: `judge_prompt_template_fpath` (nemo-gym 0.7.0)."""

_BY_LEAF: tuple[tuple[Role, re.Pattern[str]], ...] = (
    (
        Role.BOOKKEEPING,
        re.compile(
            rf"(?!.*({_MEANT_FILES}))(.*_)?(dir|fpath|path|paths)"
            r"|(.*_)?(host|hostname|port|ports|url)|uv_.*|entrypoint|port_range_.*"
            r"|description|license|value|verified|domain|dry_run|resumable|use_absolute_ip|skip_venv_if_present"
            r"|server_spinup_.*|.*_readiness_.*|num_samples_in_parallel|concurrency|allow_openai_version_skew"
            r"|observability_enabled|wandb_.*|mlflow_.*"
        ),
    ),
)
"""Keys whose last name says that they differ between equal runs, whatever section they are in."""

_BY_WORDS: tuple[tuple[Role, re.Pattern[str]], ...] = (
    (Role.BOOKKEEPING, re.compile(r"(^|\.)(head_server|otel|health_check|mounts|metrics_exporters?)(\.|$)")),
    (Role.JUDGE, re.compile(r"judge|grader|grading_model|reward_model|rubric")),
    (Role.USER_SIMULATOR, re.compile(r"user_sim|simulated_user|user_model|user_llm")),
    (
        Role.ACCOUNTING,
        re.compile(
            r"as_zero|route_failures|require_complete|disable_aggregation|retry_|max_rollout_attempts|mask_sample"
        ),
    ),
    (Role.REPEATS, re.compile(r"num_repeats|interleave_repeats|fan_out")),
    (Role.SERVING, re.compile(r"reasoning_parser|tool_parser|tool_call_parser")),
    (
        Role.LIMITS,
        re.compile(r"(^|[._])(max|min)_|timeout|budget|context_length|(^|[._])limit$|_limit$|truncation"),
    ),
    (
        Role.SAMPLING,
        re.compile(
            r"temperature|top_p|top_k|min_p|(^|[._])seed$|penalty|reasoning|thinking|chat_template|extra_body"
            r"|sampling|logit_bias|(^|\.)stop$|add_seed"
        ),
    ),
    (Role.PROMPT, re.compile(_PROMPT_WORDS)),
    (Role.TOOLS, re.compile(r"(^|[._])tools?([._]|$)|sandbox")),
    (Role.CODE, re.compile(r"^python_version$|_deps$|(^|[._])(commit|version)$|gym_install")),
    (
        Role.MODEL,
        re.compile(r"(^|[._])(openai_model|model|model_name|policy_model_name|quantization|dtype)$"),
    ),
    (Role.SERVING, re.compile(r"responses_api_models")),
)


def role_of(key: str, default: Role = Role.HARNESS) -> Role:
    """The role of a dotted config key; `default` for one whose words say nothing."""
    text = key.lower().replace("-", "_")
    leaf = text.rsplit(".", 1)[-1]
    for role, pattern in _BY_LEAF:
        if pattern.fullmatch(leaf):
            return role
    for role, pattern in _BY_WORDS:
        if pattern.search(text):
            return role
    return default
