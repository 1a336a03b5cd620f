"""The command that ran an evaluation: `gym eval run` with its flags and overrides, as facts of the config.

Each flag of `gym eval run` stands for a key of the config (nemo-gym 0.7.0), so a command and a saved config
name the same facts alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from gymbal.io.secrets import is_secret_path
from gymbal.io.shell_words import is_operator, shell_words
from gymbal.model.evidence import Fact, Role
from gymbal.readers.run.config import fact, leaf_facts
from gymbal.readers.run.interpolation import Leaf, Resolved

VALUE_FLAGS = {
    "--agent": "agent_name",
    "-a": "agent_name",
    "--input": "input_jsonl_fpath",
    "-i": "input_jsonl_fpath",
    "--output": "output_jsonl_fpath",
    "-o": "output_jsonl_fpath",
    "--limit": "limit",
    "--num-repeats": "num_repeats",
    "--prompt-config": "prompt_config",
    "--concurrency": "num_samples_in_parallel",
    "--split": "split",
    "--model": "policy_model_name",
    "-m": "policy_model_name",
    "--model-url": "policy_base_url",
    "--model-api-key": "policy_api_key",
    "--temperature": "responses_create_params.temperature",
    "--top-p": "responses_create_params.top_p",
    "--max-output-tokens": "responses_create_params.max_output_tokens",
    "--health-check-workers": "health_check_workers",
    "--health-check-ignore": "health_check_ignored_checks",
}
"""Flags of `gym eval run` with a value, and the config key that each sets."""

SWITCHES = {
    "--resume": "resume_from_cache",
    "--interleave-repeats": "interleave_repeats",
    "--disable-aggregation": "disable_aggregation",
    "--no-health-check": "disable_health_check",
    "--allow-unsupported-pairing": "allow_unsupported_pairing",
}
"""Flags without a value, and the config key that each sets to true."""

SELECTORS = (
    "--config",
    "--benchmark",
    "--environment",
    "--resources-server",
    "--model-type",
    "--agent-type",
    "--search-dir",
)
"""Flags that name config files, each possibly several times."""

NO_SERVE = "--no-serve"

VERBS = (("eval", "run"), ("env", "start"))

OLD_PROGRAMS = ("collect_rollouts", "e2e_collect_rollouts")
"""What `gym eval run` was called before Gym 0.4, behind a prefix: `ng_` or `nemo_gym_`."""

_COMMAND_IN_TEXT = re.compile(
    r"(?<![\w.-])gym\s+(?:eval\s+run|env\s+start)(?=\s|$)|\b(?:ng|nemo_gym)_(?:e2e_)?collect_rollouts\b"
)

_OVERRIDE = re.compile(r"(?:\+{1,2}|~)?[A-Za-z_][\w.\-/@]*=.*", re.DOTALL)


class GymCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A command line of Gym, taken apart."""

    verb: str
    """`eval run` or `env start`."""
    settings: dict[str, Any]
    """Config keys that flags and overrides set; a later one replaces an earlier."""
    sources: dict[str, str]
    """The flag or override that set each of them."""
    selectors: tuple[tuple[str, str], ...]
    """`--config` and the like with their values, in order."""
    overrides: tuple[str, ...] = ()
    """Flags and overrides as Hydra overrides, in order, as they were written."""
    is_serving: bool
    """Whether it starts its own servers."""

    @property
    def output(self) -> str | None:
        """Path of the rollouts file."""
        return self._text("output_jsonl_fpath")

    @property
    def input(self) -> str | None:
        """Path of the dataset."""
        return self._text("input_jsonl_fpath")

    @property
    def is_resume(self) -> bool:
        return self.settings.get("resume_from_cache") is True

    def selected(self, flag: str) -> tuple[str, ...]:
        """The values that `flag` was given."""
        return tuple(value for name, value in self.selectors if name == flag)

    @property
    def configs(self) -> tuple[tuple[str, ...], ...]:
        """The config files that it names, in order; for each the paths it can be at below Gym's roots."""
        return tuple(
            _config_candidates(flag, value) for flag, value in self.selectors if flag != "--search-dir"
        )

    def _text(self, key: str) -> str | None:
        value = self.settings.get(key)
        return None if value is None else str(value)


ASSETS = {
    "--benchmark": ("benchmarks/{name}", "config"),
    "--environment": ("environments/{name}", "config"),
    "--resources-server": ("resources_servers/{name}/configs", ""),
    "--model-type": ("responses_api_models/{name}/configs", ""),
    "--agent-type": ("responses_api_agents/{name}/configs", ""),
}
"""Where a component's config is, and its name where that is not the component's own (nemo-gym 0.7.0)."""


def _config_candidates(flag: str, value: str) -> tuple[str, ...]:
    if flag not in ASSETS:
        return (value,)
    folder, default = ASSETS[flag]
    name, _, flavor = value.partition("/")
    path = f"{folder.format(name=name)}/{flavor or default or name}.yaml"
    return (f"{folder.format(name=value)}/{default}.yaml", path) if flavor and default else (path,)


def find_gym_command(words: Sequence[str]) -> GymCommand | None:
    """The Gym command among the words of a launch command, behind whatever wraps it; None without one."""
    for place, word in enumerate(words):
        name = word.rsplit("/", 1)[-1]
        verb = tuple(words[place + 1 : place + 3])
        if name == "gym" and verb in VERBS:
            return read_arguments(" ".join(verb), words[place + 3 :])
        if name.removeprefix("nemo_gym_").removeprefix("ng_") in OLD_PROGRAMS:
            return read_arguments("eval run", words[place + 1 :])
    return None


def find_in_text(text: str) -> GymCommand | None:
    """The Gym command in a line of a log or script; None without one, or where its quotes do not match."""
    match = _COMMAND_IN_TEXT.search(text)
    if match is None:
        return None
    try:
        words = shell_words(text[match.start() :])
    except ValueError:
        return None
    end = next((place for place, word in enumerate(words) if is_operator(word)), len(words))
    return find_gym_command(words[:end])


def read_arguments(verb: str, words: Sequence[str]) -> GymCommand:
    """Take the words behind `gym eval run` apart; what is no known flag and no override is left out."""
    settings: dict[str, Any] = {}
    sources: dict[str, str] = {}
    selectors: list[tuple[str, str]] = []
    overrides: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        flag, equals, value = word.partition("=")
        key: str | None = None
        found: Any = None
        if word in SWITCHES:
            key, found = SWITCHES[word], True
        elif flag in VALUE_FLAGS or flag in SELECTORS:
            if not equals:
                value = rest.pop(0) if rest else ""
            if flag in SELECTORS:
                selectors.append((flag, value))
            else:
                key, found = VALUE_FLAGS[flag], plain_value(value)
        elif _OVERRIDE.fullmatch(word):
            key, found = flag.lstrip("+~"), plain_value(value)
        if key == "config_paths":
            selectors += [("--config", path.strip("'\" ")) for path in value.strip("[]").split(",")]
        elif key is not None:
            settings[key], sources[key] = found, flag
            overrides.append(word if flag not in (*VALUE_FLAGS, *SWITCHES) else f"+{key}={value or 'true'}")
    return GymCommand(
        verb=verb,
        settings=settings,
        sources=sources,
        selectors=tuple(selectors),
        overrides=tuple(overrides),
        is_serving=NO_SERVE not in words,
    )


def command_facts(command: GymCommand, file: str) -> Iterator[Fact]:
    """What the command sets, each under the name that the config key has elsewhere; no secret among them."""
    found = [Leaf(key=key, resolved=_resolved(key, value)) for key, value in command.settings.items()]
    for item in leaf_facts(found, file):
        yield msgspec.structs.replace(item, key=command.sources[item.key or ""])
    for kind in command.selected("--model-type"):
        leaf = Leaf(key="--model-type", resolved=Resolved(value=kind))
        yield fact("policy_model_type", Role.SERVING, leaf, file=file, key="--model-type")
    for flag in SELECTORS:
        values = command.selected(flag)
        if values:
            leaf = Leaf(key=flag, resolved=Resolved(value=", ".join(values)))
            name = f"command.{flag.lstrip('-').replace('-', '_')}"
            yield fact(name, Role.BOOKKEEPING, leaf, file=file, key=flag)


def plain_value(text: str) -> Any:
    """A value of an override the way YAML reads a plain one: number, truth, null, text, or a list of them."""
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    if re.fullmatch(r"[+-]?(\d+\.\d*|\.\d+|\d+)([eE][+-]?\d+)?", text):
        return float(text)
    if re.fullmatch(r"\[[^\[\]{}]*\]", text):
        return [plain_value(part.strip()) for part in text[1:-1].split(",") if part.strip()]
    plain = {"true": True, "false": False, "null": None, "~": None}
    if text.lower() in plain:
        return plain[text.lower()]
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def _resolved(key: str, value: Any) -> Resolved:
    """A shell variable that was not expanded says nothing of its value."""
    is_secret = is_secret_path(key.split("."))
    if isinstance(value, str) and "$" in value:
        return Resolved(value=None, remedy=f"the command took it from {value}", is_secret=is_secret)
    return Resolved(value=value, is_secret=is_secret)
