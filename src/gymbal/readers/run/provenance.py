"""Facts from `<stem>_provenance.json`, which `gymbal record` writes beside the rollouts.

The file has one entry for each launch that wrote to the rollouts: a resumed run has several, and what they
disagree in is not known of the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from gymbal.errors import InputError
from gymbal.io.decode import read_json
from gymbal.io.secrets import MASK
from gymbal.model.evidence import DIRTY, Fact, Role, Strength
from gymbal.readers.run.command import GymCommand, command_facts, find_gym_command, find_in_text
from gymbal.readers.run.config import leaf_facts, model_server_facts, shown_value
from gymbal.readers.run.engine_log import LEFT_TO_THE_ENGINE, SETTINGS
from gymbal.readers.run.flags import engine_facts, flag_name
from gymbal.readers.run.interpolation import leaves
from gymbal.readers.run.recorded import recorded_fact
from gymbal.readers.run.roles import role_of

SCHEMA_VERSION = 1

MAX_BYTES = 64 * 1024 * 1024

EARLIER = "earlier launches"
"""What `missing` calls the launches of a resumed run that nobody recorded."""

ENGINES_BY_OWNER = ("vllm", "sglang")
"""What an engine calls itself as the owner of the models that it lists."""

LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "0.0.0.0")


def read_provenance_facts(path: Path, name: str) -> tuple[Fact, ...]:
    """Facts of the file, which is called `name`; of every launch.

    They count as rebuilt where rollouts of an unrecorded launch were kept, which may have used others.
    Raises InputError when it is no JSON object with launches, or of a newer schema.
    """
    launches = read_launches(path)
    facts = tuple(
        fact for place, launch in enumerate(launches) for fact in _facts(launch, name, f"launches.{place}")
    )
    if launches and EARLIER in _section(launches[0], "missing"):
        return tuple(
            replace(fact, strength=Strength.REBUILT) if fact.strength is Strength.RECORDED else fact
            for fact in facts
        )
    return facts


def read_environment_of(path: Path) -> dict[str, Any]:
    """The variables that the config of the last launch took from the environment, but those masked."""
    launches = read_launches(path)
    taken = _section(launches[-1], "config_environment") if launches else {}
    return {name: value for name, value in taken.items() if isinstance(value, str) and MASK not in value}


def read_launches(path: Path) -> list[dict[str, Any]]:
    """The entries of the file, oldest first; raises InputError as `read_provenance_facts` does."""
    document = read_json(path, MAX_BYTES)
    launches = document.get("launches") if isinstance(document, dict) else None
    if not isinstance(launches, list) or not all(isinstance(launch, dict) for launch in launches):
        raise InputError("is no record of launches", path=path, key="launches")
    version = document.get("schema_version")
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise InputError(
            f"has schema_version {version}; this gymbal reads up to {SCHEMA_VERSION}",
            path=path,
            remedy="read it with the gymbal that wrote it",
        )
    return launches


def _facts(launch: Mapping[str, Any], file: str, at: str) -> Iterator[Fact]:
    config = _section(launch, "config")
    found = list(leaves(config))
    merged = [*model_server_facts(found, file), *leaf_facts(found, file, prefix=f"{at}.config.")]
    yield from merged
    known = {fact.name for fact in merged if fact.is_known}
    command = _gym_command(launch.get("command"))
    if command is not None:
        # What the config masks, and all of it where the config could not be had.
        yield from (fact for fact in command_facts(command, file) if fact.name not in known)
    yield from _gym(_section(launch, "gym"), file, f"{at}.gym")
    yield from _working_folder(_section(launch, "working_folder"), file, f"{at}.working_folder")
    yield from _endpoint(_section(launch, "endpoint"), file, f"{at}.endpoint")
    yield from _machine(launch, file, at)
    for name, value in _section(launch, "environment").items():
        role = role_of(name, Role.BOOKKEEPING)
        yield _fact(f"driver_env.{name}", role, value, file, f"{at}.environment.{name}")
    for name in ("started", "ended", "exit_code"):
        yield _fact(name, Role.BOOKKEEPING, launch.get(name), file, f"{at}.{name}")


def _gym_command(words: Any) -> GymCommand | None:
    """The Gym command of a launch, also where a shell was given it as one text."""
    texts = [str(word) for word in words] if isinstance(words, list) else []
    in_shell = (find_in_text(text) for text in texts if " " in text)
    return find_gym_command(texts) or next((found for found in in_shell if found), None)


def _gym(gym: Mapping[str, Any], file: str, at: str) -> Iterator[Fact]:
    if gym.get("version"):
        yield _fact("gym_version", Role.CODE, gym["version"], file, f"{at}.version")
    if gym.get("known_from"):
        yield _fact("gym_install", Role.BOOKKEEPING, gym["known_from"], file, f"{at}.known_from")
    commit = gym.get("commit")
    if isinstance(commit, str):
        yield _fact("gym_commit", Role.CODE, commit, file, f"{at}.commit")
        if commit.endswith(DIRTY):
            yield _changes("gym_changes", gym, file, at)


def _working_folder(folder: Mapping[str, Any], file: str, at: str) -> Iterator[Fact]:
    """The checkout that the command ran in: code where it holds parts of Gym, which come first."""
    commit = folder.get("commit")
    if not isinstance(commit, str):
        return
    role = Role.CODE if folder.get("holds_gym_parts") else Role.BOOKKEEPING
    yield _fact("working_folder_commit", role, commit, file, f"{at}.commit")
    if commit.endswith(DIRTY) and role is Role.CODE:
        yield _changes("working_folder_changes", folder, file, at)


def _changes(name: str, checkout: Mapping[str, Any], file: str, at: str) -> Fact:
    """The digest of what a checkout had changed; without it, equal commits do not mean equal code."""
    digest = checkout.get("changes")
    if isinstance(digest, str):
        return _fact(name, Role.CODE, digest, file, f"{at}.changes")
    remedy = "the checkout had changes of its own: compare git diff in both checkouts"
    return Fact(
        name=name,
        role=Role.CODE,
        value=None,
        strength=Strength.MISSING,
        file=file,
        key=f"{at}.changes",
        remedy=remedy,
    )


def _endpoint(endpoint: Mapping[str, Any], file: str, at: str) -> Iterator[Fact]:
    """What the model endpoint says of itself: /v1/models, /version, and SGLang's /server_info."""
    listed = _section(endpoint, "models").get("data")
    models = listed if isinstance(listed, list) else []
    asked = endpoint.get("model")
    for place, model in enumerate(models):
        if not isinstance(model, dict) or (len(models) > 1 and model.get("id") != asked):
            continue
        key = f"{at}.models.data.{place}"
        if model.get("owned_by") in ENGINES_BY_OWNER:
            yield _fact("serving_engine", Role.SERVING, model["owned_by"], file, f"{key}.owned_by")
        if model.get("root"):
            yield from engine_facts({"model": model["root"]}, file=file, key=f"{key}.root")
        if isinstance(model.get("max_model_len"), int):
            length = {"max_model_len": model["max_model_len"]}
            yield from engine_facts(length, file=file, key=f"{key}.max_model_len")
    version = _section(endpoint, "version").get("version")
    info = _section(endpoint, "server_info")
    for value, key in ((version, "version.version"), (info.get("version"), "server_info.version")):
        if isinstance(value, str):
            yield _fact("serving_engine_version", Role.SERVING, value, file, f"{at}.{key}")
    flags = {flag_name(str(name)): value for name, value in info.items()}
    told = {n: v for n, v in flags.items() if n in SETTINGS and v not in LEFT_TO_THE_ENGINE}
    yield from engine_facts(told, file=file, key=f"{at}.server_info")


def _machine(launch: Mapping[str, Any], file: str, at: str) -> Iterator[Fact]:
    container = _section(launch, "container")
    if container.get("image"):
        yield _fact("driver_container", Role.CODE, container["image"], file, f"{at}.container.image")
    if container.get("id"):
        yield _fact("container_id", Role.BOOKKEEPING, container["id"], file, f"{at}.container.id")
    gpus = launch.get("gpus")
    if isinstance(gpus, list) and gpus:
        names = sorted({str(gpu.get("name")) for gpu in gpus if isinstance(gpu, dict)})
        url = str(_section(launch, "endpoint").get("url"))
        # The machine that asks is the one that serves only where the endpoint is its own.
        serves = any(f"//{host}" in url for host in LOOPBACK)
        name, role = ("gpu_type", Role.SERVING) if serves else ("driver_gpu_type", Role.BOOKKEEPING)
        yield _fact(name, role, ", ".join(names), file, f"{at}.gpus")
    packages = _section(launch, "packages")
    if packages.get("digest"):
        yield _fact("packages_digest", Role.BOOKKEEPING, packages["digest"], file, f"{at}.packages.digest")
    for name in ("dataset", "tasks"):
        found = _section(launch, name).get("digest")
        if found:
            yield _fact(f"{name}_digest", Role.BOOKKEEPING, found, file, f"{at}.{name}.digest")


def _fact(name: str, role: Role, value: Any, file: str, key: str) -> Fact:
    return recorded_fact(name, role, shown_value(value), file, key)


def _section(launch: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = launch.get(name)
    return found if isinstance(found, dict) else {}
