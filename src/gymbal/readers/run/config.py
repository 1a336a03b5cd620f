"""Facts from what Gym saves beside the rollouts: `<stem>_resolved_config.yaml` and `<stem>_manifest.json`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gymbal.errors import InputError
from gymbal.io.decode import read_json, read_yaml
from gymbal.io.fingerprint import canonical_json, digest
from gymbal.io.secrets import mask_text
from gymbal.model.evidence import Fact, Role, Strength, Value
from gymbal.readers.run.interpolation import Environment, Leaf, leaves
from gymbal.readers.run.roles import role_of

MAX_VALUE_CHARACTERS = 500
"""A longer text, such as a prompt, is held as its digest."""

REQUEST_PREFIX = "responses_create_params."

OWN_NAMES = frozenset({"num_repeats", "policy_model_name", "python_version", "head_server_deps"})
"""Root keys that are facts under their own name; any other key is `config.<key>`."""

MODEL_SERVERS = "policy_model.responses_api_models."

MAX_MANIFEST_BYTES = 16 * 1024 * 1024


def read_config_facts(path: Path, name: str, environment: Environment) -> tuple[Fact, ...]:
    """Facts of a saved config, which is called `name`; secrets are left out.

    `${oc.env:...}` is looked up in `environment`. Raises InputError when the file is no YAML mapping.
    """
    config = read_yaml(path)
    if not isinstance(config, dict):
        raise InputError("is not a YAML mapping", path=path)
    return config_facts(config, name, environment)


def config_facts(config: Mapping[str, Any], name: str, environment: Environment) -> tuple[Fact, ...]:
    """Facts of a config that was already decoded, as `read_config_facts` gives them."""
    found = list(environment.leaves(config))
    return (*model_server_facts(found, name), *leaf_facts(found, name))


def read_manifest_facts(path: Path, name: str) -> tuple[Fact, ...]:
    """Facts of `<stem>_manifest.json`: digests of dataset, tasks and settings, which only Gym can recompute.

    Raises InputError when the file is no JSON object.
    """
    document = read_json(path, MAX_MANIFEST_BYTES)
    if not isinstance(document, dict):
        raise InputError("is not a JSON object", path=path)
    return tuple(
        fact(f"manifest.{leaf.key}", Role.BOOKKEEPING, leaf, file=name, key=leaf.key)
        for leaf in leaves(document)
        if not leaf.resolved.is_secret
    )


def leaf_facts(found: Iterable[Leaf], file: str, *, prefix: str = "") -> Iterator[Fact]:
    """Every value of a Gym config as a fact; `prefix` is where the config starts inside `file`."""
    for leaf in found:
        if leaf.resolved.is_secret:
            continue
        key = leaf.key.lstrip("+~")
        name = f"config.{key}"
        if key.startswith(REQUEST_PREFIX):
            name = key.removeprefix(REQUEST_PREFIX)
        elif key in OWN_NAMES:
            name = key
        yield fact(name, role_of(key), leaf, file=file, key=f"{prefix}{leaf.key}")


def model_server_facts(found: Iterable[Leaf], file: str) -> tuple[Fact, ...]:
    """Which kind of model server the policy is behind: it decides the API that the endpoint is asked by."""
    kinds = sorted(
        {
            leaf.key.removeprefix(MODEL_SERVERS).split(".")[0]
            for leaf in found
            if leaf.key.startswith(MODEL_SERVERS)
        }
    )
    if not kinds:
        return ()
    return (
        Fact(
            name="policy_model_type",
            role=Role.SERVING,
            value=", ".join(kinds),
            strength=Strength.RECORDED,
            file=file,
            key=MODEL_SERVERS.rstrip("."),
        ),
    )


def fact(name: str, role: Role, leaf: Leaf, *, file: str, key: str) -> Fact:
    """The fact that a config's value is: recorded or stated where known, else missing with its remedy."""
    resolved = leaf.resolved
    is_known = resolved.remedy is None
    known = Strength.STATED if resolved.is_stated else Strength.RECORDED
    return Fact(
        name=name,
        role=role,
        value=shown_value(resolved.value) if is_known else None,
        strength=known if is_known else Strength.MISSING,
        file=file,
        key=key,
        remedy=resolved.remedy,
    )


def shown_value(value: Any) -> Value:
    """A value as a fact holds it: short, without secrets, a list as JSON."""
    if isinstance(value, list):
        value = canonical_json(value).decode()
    if not isinstance(value, str):
        return value if isinstance(value, int | float) or value is None else str(value)
    if len(value) > MAX_VALUE_CHARACTERS:
        return f"text of {len(value)} characters, digest {digest(value.encode('utf-8', 'surrogatepass'))}"
    return mask_text(value)
