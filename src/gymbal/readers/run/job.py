"""Facts from what `gym eval submit` writes above the artifacts: `gym-job.json` and `resolved-config.yaml`.

The commit that scored is `driver.gym_install.ref` of the submit config; `gym_commit` of the job record is
only the Gym that submitted. The config holds secrets in clear text (nemo-gym 0.7.0), none of which becomes
a fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gymbal.errors import InputError
from gymbal.io.decode import read_json, read_yaml
from gymbal.io.secrets import is_secret_name
from gymbal.model.evidence import Fact, Role, Strength
from gymbal.readers.run.config import fact, leaf_facts, shown_value
from gymbal.readers.run.flags import engine_facts, read_flags, with_defaults
from gymbal.readers.run.interpolation import Environment, Leaf, Resolved, leaves
from gymbal.readers.run.roles import role_of

MAX_RECORD_BYTES = 16 * 1024 * 1024

RECORD_FACTS = {
    "gym_commit": "submitter_gym_commit",
    "gym_version": "submitter_gym_version",
    "gym_job_id": "gym_job_id",
    "submitted_at": "submitted_at",
    "cluster": "cluster",
    "executor": "executor",
}
"""Keys of the job record that become facts, all bookkeeping: none of them describes the Gym that ran."""

SERVICE_FACTS = {
    "type": ("serving_engine", Role.SERVING),
    "container": ("serving_container", Role.SERVING),
    "model": ("model_checkpoint", Role.MODEL),
    "served_model_name": ("served_model_name", Role.MODEL),
}
"""Keys of the policy's service that are facts under a name of their own."""

ENGINES = ("vllm", "vllm_pd")
"""Types of a service whose `extra_args` are all the flags that the engine is given beside the settings."""

SERVICE_BOOKKEEPING = ("placement", "node_pool", "port", "health_check", "mounts", "data_parallel_rpc_port")

_FULL_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_VERSION_TAG = re.compile(r"v?(\d+\.\d+(?:\.\d+)?(?:(?:rc|a|b|\.post|\.dev)\d+)?)")


def read_record_facts(path: Path, name: str) -> tuple[Fact, ...]:
    """Facts of `gym-job.json`, which is called `name`; raises InputError when it is no JSON object."""
    record = read_json(path, MAX_RECORD_BYTES)
    if not isinstance(record, dict):
        raise InputError("is not a JSON object", path=path)
    return tuple(
        Fact(
            name=fact_name,
            role=Role.BOOKKEEPING,
            value=shown_value(record[key]),
            strength=Strength.RECORDED,
            file=name,
            key=key,
        )
        for key, fact_name in RECORD_FACTS.items()
        if isinstance(record.get(key), str)
    )


def read_submit_config(path: Path, name: str) -> dict[str, Any]:
    """The submit config, called `name` in problems, as plain values.

    Raises InputError when it is no YAML mapping.
    """
    config = read_yaml(path)
    if not isinstance(config, dict):
        raise InputError("is not a YAML mapping", path=path)
    return config


def driver_environment(config: Mapping[str, Any]) -> dict[str, Any]:
    """`driver.env`: the variables that the evaluation saw. It holds secrets: to look up in, never to show."""
    return _section(config, "driver", "env")


def submit_facts(
    config: Mapping[str, Any], benchmark: str | None, name: str, environment: Environment
) -> tuple[Fact, ...]:
    """Facts of the submit config, which is called `name`; `${oc.env:...}` is looked up in `environment`.

    What a benchmark alone was run with is included when `benchmark` names it, or when the job has only one.
    """
    driver = _section(config, "driver")
    benchmarks = _section(config, "driver", "benchmarks")
    if benchmark is None and len(benchmarks) == 1:
        benchmark = str(next(iter(benchmarks)))
    found: list[Fact] = [
        *_gym_facts(driver, name),
        *_text_fact(driver, "container", "driver_container", Role.CODE, name),
    ]
    found += _text_fact(driver, "policy_model_type", "policy_model_type", Role.SERVING, name)
    for service, settings in _section(config, "services").items():
        if isinstance(settings, dict):
            found += _service_facts(str(service), settings, str(driver.get("policy_model")), name)
    for pool_key, count in _gpu_counts(config):
        found.append(_recorded(f"compute.{pool_key}", Role.SERVING, count, name, f"compute.{pool_key}"))
    for variable, value in driver_environment(config).items():
        if not is_secret_name(str(variable)):
            role = role_of(str(variable), Role.BOOKKEEPING)
            found.append(_recorded(f"driver_env.{variable}", role, value, name, f"driver.env.{variable}"))
    if benchmark in benchmarks and isinstance(benchmarks[benchmark], dict):
        found += _benchmark_facts(benchmarks[benchmark], f"driver.benchmarks.{benchmark}.", environment, name)
    return tuple(found)


def _gym_facts(driver: Mapping[str, Any], file: str) -> Iterator[Fact]:
    """The Gym that scored: a full commit hash is sure, a branch or tag resolves anew when each job starts."""
    ref = _section(driver, "gym_install").get("ref")
    container = driver.get("container")
    key = "driver.gym_install.ref"
    yield from _text_fact(
        _section(driver, "gym_install"), "repo", "gym_repo", Role.CODE, file, "driver.gym_install."
    )
    if not isinstance(ref, str) or not ref:
        remedy = f"the job ran the Gym inside its container {container}: ask pip show nemo-gym there"
        yield Fact(
            name="gym_commit",
            role=Role.CODE,
            value=None,
            strength=Strength.MISSING,
            file=file,
            key=key,
            remedy=remedy,
        )
        return
    if _FULL_COMMIT.fullmatch(ref):
        yield _recorded("gym_commit", Role.CODE, ref, file, key)
        return
    yield _recorded("gym_ref", Role.CODE, ref, file, key)
    remedy = f"{ref} is no full commit hash and can move: see the job's log, or git rev-parse {ref}"
    yield Fact(
        name="gym_commit",
        role=Role.CODE,
        value=None,
        strength=Strength.MISSING,
        file=file,
        key=key,
        remedy=remedy,
    )
    version = _VERSION_TAG.fullmatch(ref)
    if version:
        yield Fact(
            name="gym_version",
            role=Role.CODE,
            value=version.group(1),
            strength=Strength.REBUILT,
            file=file,
            key=key,
        )


def _service_facts(service: str, settings: dict[str, Any], policy: str, file: str) -> Iterator[Fact]:
    """Facts of one service. Only the policy's have plain names: a judge's model is no model change."""
    is_policy = service == policy
    prefix = "" if is_policy else f"{service}."
    for leaf in leaves(settings):
        key = f"services.{service}.{leaf.key}"
        root = leaf.key.split(".")[0]
        if leaf.resolved.is_secret or root == "extra_args":
            continue
        name, role = SERVICE_FACTS.get(leaf.key, (f"serving.{leaf.key}", Role.SERVING))
        if root in SERVICE_BOOKKEEPING:
            role = Role.BOOKKEEPING
        yield fact(f"{prefix}{name}", role if is_policy else role_of(key), leaf, file=file, key=key)
    flags: dict[str, Any] = read_flags(settings.get("extra_args"))
    if is_policy and settings.get("type") in ENGINES:
        flags = with_defaults(flags)
    yield from engine_facts(flags, file=file, key=f"services.{service}.extra_args", prefix=prefix)


def _benchmark_facts(
    settings: dict[str, Any], prefix: str, environment: Environment, file: str
) -> Iterator[Fact]:
    """What this benchmark was run with: overrides of the Gym config, so they share the config's names."""
    run = environment.leaves(_section(settings, "run"))
    yield from leaf_facts(run, file, prefix=f"{prefix}run.")
    for leaf in environment.leaves(_section(settings, "prepare")):
        if not leaf.resolved.is_secret:
            yield fact(
                f"prepare.{leaf.key}", Role.HARNESS, leaf, file=file, key=f"{prefix}prepare.{leaf.key}"
            )
    yield from _text_fact(settings, "command", "benchmark_command", Role.HARNESS, file, prefix)


def _gpu_counts(config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for cluster in _section(config, "compute").items():
        for pool, settings in _section({"cluster": cluster[1]}, "cluster", "node_pools").items():
            for key in ("nodes", "gpus_per_node"):
                if isinstance(settings, dict) and isinstance(settings.get(key), int):
                    yield f"{pool}.{key}", settings[key]


def _text_fact(
    section: Mapping[str, Any], key: str, name: str, role: Role, file: str, prefix: str = "driver."
) -> tuple[Fact, ...]:
    value = section.get(key)
    return (_recorded(name, role, value, file, f"{prefix}{key}"),) if isinstance(value, str) and value else ()


def _recorded(name: str, role: Role, value: Any, file: str, key: str) -> Fact:
    return fact(name, role, Leaf(key=key, resolved=Resolved(value=value)), file=file, key=key)


def _section(config: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The mapping at a path of keys; empty when anything on the way is absent or no mapping."""
    node: Any = config
    for name in names:
        node = node.get(name) if isinstance(node, Mapping) else None
    return node if isinstance(node, dict) else {}
