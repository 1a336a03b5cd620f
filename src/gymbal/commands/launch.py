"""What there is to ask about a launch, one question each; every answer is a part of the provenance file."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from hashlib import file_digest
from pathlib import Path
from typing import Any

import msgspec

from gymbal.commands.record import file_state
from gymbal.errors import InputError
from gymbal.io.fingerprint import fingerprint
from gymbal.io.secrets import MASK
from gymbal.io.shell_words import command_words, is_operator
from gymbal.model.history import COMPONENT_FOLDERS
from gymbal.model.recording import LaunchPlan
from gymbal.probe.endpoint import ask_head_server, ask_model_endpoint
from gymbal.probe.git import Checkout, read_checkout
from gymbal.probe.gym import (
    InstalledGym,
    config_files,
    find_below,
    python_of,
    read_installed_gym,
    read_resolved,
    resolve_config,
    search_roots,
    unmask,
    variables_of,
)
from gymbal.probe.machine import kept_environment, read_container, read_gpus
from gymbal.probe.program import NoAnswer
from gymbal.readers.run.command import GymCommand, find_gym_command
from gymbal.readers.run.interpolation import leaves
from gymbal.readers.run.task_digest import read_task_digest

POLL_SECONDS = 1.0

RETRY_SECONDS = 5.0
"""Between two tries: a server that is still starting refuses connections."""

HEAD_SERVER = ("127.0.0.1", 11000)
"""Where Gym's head server listens unless it is told otherwise (nemo-gym 0.7.0)."""

POLICY_URLS = ("base_url", "openai_base_url")

Answer = dict[str, Any]
"""Parts of the provenance file by name; `problem` says why something is missing from them."""


class Launch:
    """A command that was started, and the questions about it. They wait for each other where they must."""

    def __init__(self, plan: LaunchPlan) -> None:
        self.ended = threading.Event()
        """Set when the command has ended: questions that are still waiting give up."""
        self._plan = plan
        self._words = list(command_words(plan.command))
        self._command: GymCommand | None = find_gym_command(_gym_words(self._words))
        self._environment = {**os.environ, **_assignments(self._words)}
        self._config: dict[str, Any] = {}
        self._config_known = threading.Event()
        self._gym = _gym_program(self._words, Path(plan.folder))
        self._installed: InstalledGym | NoAnswer = NoAnswer("there is no gym in the command")
        self._installed_known = threading.Event()

    @property
    def is_resume(self) -> bool:
        return self._command is not None and self._command.is_resume

    def settings(self) -> Iterator[tuple[str, Any]]:
        """Names and values of the command and the config, secrets among them: to mask those elsewhere."""
        if self._command is not None:
            yield from self._command.settings.items()
        for leaf in leaves(self._config):
            yield ("secret" if leaf.resolved.is_secret else leaf.key), leaf.resolved.value

    def questions(self) -> dict[str, Callable[[], Answer]]:
        """Every question by its name."""
        return {
            "gym": self._ask_gym,
            "working folder": self._ask_working_folder,
            "config": self._ask_config,
            "endpoint": self._ask_endpoint,
            "machine": self._ask_machine,
            "dataset": self._digest_dataset,
            "tasks": self._digest_tasks,
        }

    def _ask_gym(self) -> Answer:
        python = python_of(self._gym) if self._gym else None
        if python is not None:
            self._installed = read_installed_gym(python)
        self._installed_known.set()
        if isinstance(self._installed, NoAnswer):
            return {"problem": self._installed.problem}
        found = msgspec.structs.asdict(self._installed)
        packages = found.pop("packages")
        versions = {name: version for name, version in packages.items() if version}
        return {"gym": found, "packages": {"digest": fingerprint(versions), "versions": versions}}

    def _ask_working_folder(self) -> Answer:
        checkout = read_checkout(self._plan.folder)
        if checkout is None:
            return {}
        holds = any((Path(self._plan.folder) / name).is_dir() for name in COMPONENT_FOLDERS)
        return {"working_folder": {**_as_dict(checkout), "holds_gym_parts": holds}}

    def _ask_config(self) -> Answer:
        try:
            return self._find_config()
        finally:
            self._config_known.set()

    def _find_config(self) -> Answer:
        if self._command is None:
            return {"problem": "there is no gym command in it"}
        if not self._command.is_serving:
            return self._config_of_running_servers(self._command)
        if self._gym is None:
            return {"problem": "the gym that it runs was not found"}
        return self._resolved_config(self._gym, self._command)

    def _config_of_running_servers(self, command: GymCommand) -> Answer:
        """Servers that run already tell the config that they were started with."""
        host = str(command.settings.get("head_server.host", HEAD_SERVER[0]))
        port = command.settings.get("head_server.port", HEAD_SERVER[1])
        config = self._retry(lambda: ask_head_server(host, int(port)))
        if isinstance(config, NoAnswer):
            return {"problem": config.problem}
        self._config = config
        return {"config": config, "config_source": f"head server at {host}:{port}"}

    def _resolved_config(self, gym: Path, command: GymCommand) -> Answer:
        self._installed_known.wait()
        folder = None if isinstance(self._installed, NoAnswer) else self._installed.folder
        roots = [Path(root) for root in command.selected("--search-dir")]
        roots += search_roots(self._plan.folder, folder)
        paths = [_first_existing(candidates, roots) for candidates in command.configs]
        arguments = [word for path in paths for word in ("--config", path)]
        arguments += [word for root in command.selected("--search-dir") for word in ("--search-dir", root)]
        texts = config_files([*paths, "env.yaml"], roots).values()
        answer = resolve_config(
            gym,
            [*arguments, *command.overrides],
            folder=self._plan.folder,
            environment=_assignments(self._words),
            nice=True,
        )
        taken = {name: self._environment.get(name) for name in sorted(variables_of(texts))}
        if answer.text is None:
            return {"config_environment": taken, "problem": answer.problem}
        config = read_resolved(answer.text)
        if isinstance(config, NoAnswer):
            return {"config_environment": taken, "problem": config.problem}
        self._config = unmask(config, texts, set(command.settings))
        return {"config": self._config, "config_environment": taken, "config_source": "gym env resolve"}

    def _ask_endpoint(self) -> Answer:
        """The endpoint of the policy. It may start only now, so it is asked until it answers."""
        url, key, model = self._endpoint()
        if url is None:
            while not self._config_known.wait(POLL_SECONDS) and not self.ended.is_set():
                pass
            url, key, model = self._endpoint()
        if url is None:
            return {"problem": "neither the command nor the config names its address"}
        address = url
        answer = self._retry(lambda: ask_model_endpoint(address, key))
        found = {"url": url, "model": model}
        if isinstance(answer, NoAnswer):
            return {"endpoint": found, "problem": answer.problem}
        return {"endpoint": {**found, **answer}}

    def _endpoint(self) -> tuple[str | None, str | None, str | None]:
        """Address, key and model of the policy, as far as known by now."""
        known: dict[str, Any] = {}
        servers = self._config.get("policy_model")
        kinds = servers.get("responses_api_models") if isinstance(servers, dict) else None
        for kind in kinds.values() if isinstance(kinds, dict) else ():
            urls = [kind.get(name) for name in POLICY_URLS] if isinstance(kind, dict) else []
            known["policy_base_url"] = next((url for url in urls if url), None)
        known |= {name: value for name, value in self._config.items() if name.startswith("policy_") and value}
        known |= dict(self._command.settings) if self._command else {}
        url = known.get("policy_base_url")
        if isinstance(url, list):
            url = url[0] if url else None
        key, model = known.get("policy_api_key"), known.get("policy_model_name")
        is_address = isinstance(url, str) and "${" not in url
        return (
            url if is_address else None,
            str(key) if key and MASK not in str(key) else None,
            str(model) if model else None,
        )

    def _ask_machine(self) -> Answer:
        gpus = read_gpus()
        return {
            "environment": kept_environment(self._environment, self._plan.keep),
            "container": read_container(self._environment),
            "gpus": [] if isinstance(gpus, NoAnswer) else gpus,
        }

    def _digest_dataset(self) -> Answer:
        path = self._command.input if self._command else None
        if path is None:
            return {}
        file = Path(self._plan.folder) / path
        try:
            with file.open("rb") as stream:
                digest = file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            return {"problem": f"{path}: {error.strerror or error}"}
        return {"dataset": {"path": path, "bytes": file.stat().st_size, "digest": digest}}

    def _digest_tasks(self) -> Answer:
        """The tasks, read while the command runs: Gym writes them before the first rollout."""
        rollouts = Path(self._plan.rollouts)
        ending = "_materialized_inputs.jsonl"
        file = rollouts.with_name(rollouts.stem + ending)
        state = self._plan.before[ending]
        while True:
            is_over = self.ended.wait(POLL_SECONDS)
            seen = file_state(file)
            if seen not in ("", self._plan.before[ending]) and (is_over or seen == state):
                break
            if is_over:
                return {"problem": f"{file.name} was not written"}
            state = seen
        try:
            digest = read_task_digest(file)
        except InputError as error:
            return {"problem": error.message}
        return {"tasks": msgspec.structs.asdict(digest)}

    def _retry(self, ask: Callable[[], dict[str, Any] | NoAnswer]) -> dict[str, Any] | NoAnswer:
        """Ask until there is an answer or the command has ended."""
        while True:
            answer = ask()
            if not isinstance(answer, NoAnswer) or self.ended.wait(RETRY_SECONDS):
                return answer


def _gym_words(words: list[str]) -> list[str]:
    """The words up to the shell operator behind Gym; what follows is another command."""
    start = next((place for place, word in enumerate(words) if Path(word).name == "gym"), 0)
    ends = (place for place, word in enumerate(words) if place > start and is_operator(word))
    return words[: next(ends, len(words))]


def _gym_program(words: list[str], folder: Path) -> Path | None:
    """The gym that the words start. `uv run` takes that of the project before the one on PATH."""
    named = next((word for word in words if Path(word).name == "gym"), None)
    if named is None:
        return None
    if "/" in named:
        return folder / named
    found = shutil.which(named)
    project = folder / ".venv" / "bin" / "gym"
    if (found is None or "uv" in words[: words.index(named)]) and project.is_file():
        return project
    return Path(found) if found else None


def _assignments(words: list[str]) -> dict[str, str]:
    """Variables that the command sets in front of Gym, as `env NAME=value gym ...` does."""
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if Path(word).name == "gym":
            return found
        if equals and name.isidentifier():
            found[name] = value
    return {}


def _first_existing(candidates: tuple[str, ...], roots: list[Path]) -> str:
    existing = (path for path in candidates if find_below(roots, path) is not None)
    return next(existing, candidates[0])


def _as_dict(checkout: Checkout) -> Mapping[str, Any]:
    return {"root": checkout.root, "commit": checkout.commit, "changes": checkout.changes}
