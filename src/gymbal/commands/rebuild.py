"""The config of a run that saved none, rebuilt by the Gym that is installed now."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gymbal.errors import UsageError
from gymbal.io.secrets import mask_text
from gymbal.model.evidence import Fact, Strength
from gymbal.probe.gym import (
    config_files,
    gym_program,
    python_of,
    read_installed_gym,
    read_resolved,
    resolve_config,
    search_roots,
    unmask,
    variables_of,
)
from gymbal.probe.program import NoAnswer
from gymbal.readers.run.config import config_facts
from gymbal.readers.run.interpolation import Environment

SOURCE = "gym env resolve"

OF_THE_RESOLVER = ("python_version", "head_server_deps")
"""Keys that `gym env resolve` sets after the Python that it runs in."""

UNSET = "gymbal-unset-"
"""Stands, before its name, for a value that nobody gave; a setting that holds it is not known."""

POLICY_KEYS = ("policy_base_url", "policy_api_key", "policy_model_name")
"""What every model config takes from the command line or from `env.yaml`."""

MAX_TRIES = 8
"""Gym names one missing value at a time."""

_MISSING_VARIABLE = re.compile(r"Environment variable '(\w+)' not found")
_MISSING_KEY = re.compile(r"references '([\w.]+)', which is not set")
_DUMMY = re.compile(re.escape(UNSET) + r"([\w.]+)")


def rebuild_facts(
    configs: Sequence[str],
    overrides: Sequence[str] = (),
    *,
    gym_python: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> tuple[Fact, ...]:
    """What `gym env resolve` makes of `configs` and `overrides` today; every fact is rebuilt, none recorded.

    Gym is the one beside `gym_python`, else the first on PATH. Variables come from `environment`, then from
    that of this process; one that nobody set gets a dummy value, and what depends on it is missing. What the
    config says of the Python that resolves it is left out. Raises UsageError when there is no Gym or it
    refuses the configs.
    """
    if not configs:
        raise UsageError(
            "--override needs --gym-config", remedy="name the configs that the run was started with"
        )
    gym = gym_program(gym_python)
    if gym is None:
        where = f"beside {gym_python}" if gym_python else "on PATH"
        raise UsageError(
            f"there is no gym {where}", remedy="name the Python it is installed in with --gym-python"
        )
    python = gym_python or python_of(gym)
    installed = read_installed_gym(python) if python else NoAnswer("its Python is not known")
    folder = None if isinstance(installed, NoAnswer) else installed.folder
    config = _resolve(gym, configs, overrides, dict(environment or {}), search_roots(Path.cwd(), folder))
    config = {name: value for name, value in config.items() if name not in OF_THE_RESOLVER}
    source = SOURCE
    if not isinstance(installed, NoAnswer) and installed.version:
        source += f" (nemo-gym {installed.version})"
    return tuple(_rebuilt(fact) for fact in config_facts(config, source, Environment()))


def _resolve(
    gym: Path, configs: Sequence[str], overrides: Sequence[str], variables: dict[str, str], roots: list[Path]
) -> dict[str, Any]:
    """Resolve, with a dummy for all that is unset: what the config files name, then what Gym asks for."""
    texts = config_files(configs, roots)
    arguments = [word for config in configs for word in ("--config", config)]
    arguments += [word if word[:1] in "+~" else f"++{word}" for word in overrides]
    given = {word.lstrip("+~").partition("=")[0] for word in arguments}
    stored = "\n".join(config_files(["env.yaml"], roots).values())
    for key in POLICY_KEYS:
        is_stored = re.search(rf"^{key}:", stored, re.MULTILINE) is not None
        if key not in given and not is_stored and any(f"${{{key}}}" in text for text in texts.values()):
            arguments.append(f"++{key}={UNSET}{key}")
    for name, has_default in variables_of(texts.values()).items():
        if not has_default:
            variables.setdefault(name, f"{UNSET}{name}")
    config = _try_to_resolve(gym, arguments, variables)
    return unmask(
        config, [stored, *texts.values()], {word.lstrip("+~").partition("=")[0] for word in arguments}
    )


def _try_to_resolve(gym: Path, arguments: list[str], variables: dict[str, str]) -> dict[str, Any]:
    problem = ""
    for _ in range(MAX_TRIES):
        answer = resolve_config(gym, arguments, environment=variables)
        if answer.text is not None:
            config = read_resolved(answer.text)
            if not isinstance(config, NoAnswer):
                return config
            problem = config.problem
            break
        problem = answer.problem or ""
        variable, key = _MISSING_VARIABLE.search(problem), _MISSING_KEY.search(problem)
        if variable and variable[1] not in variables:
            variables[variable[1]] = f"{UNSET}{variable[1]}"
        elif key and f"++{key[1]}={UNSET}{key[1]}" not in arguments:
            arguments.append(f"++{key[1]}={UNSET}{key[1]}")
        else:
            break
    raise UsageError(
        f"gym env resolve refused the configs: {mask_text(problem)}",
        remedy="check --gym-config and --override; values of the environment can be given with --env-file",
    )


def _rebuilt(fact: Fact) -> Fact:
    dummy = _DUMMY.search(str(fact.value))
    if dummy:
        remedy = (
            f"the value of {dummy[1]} when the run was launched (--env-file, or --override {dummy[1]}=...)"
        )
        return msgspec.structs.replace(fact, value=None, strength=Strength.MISSING, remedy=remedy)
    return msgspec.structs.replace(fact, strength=Strength.REBUILT) if fact.is_known else fact
