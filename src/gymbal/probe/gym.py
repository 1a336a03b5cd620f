"""The Gym that is installed: where it is, which one it is, and what it makes of a config.

Gym is never imported here: it is asked by its command line and through the metadata of the Python it is
installed in, so any version can be asked, and none has to be installed beside gymbal.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from gymbal.errors import InputError
from gymbal.io.decode import decode_yaml
from gymbal.io.secrets import MASK, is_secret_path
from gymbal.probe.git import read_checkout
from gymbal.probe.program import Answer, NoAnswer, ask_program

DISTRIBUTION = "nemo-gym"

RELEASE = "release"
"""How a Gym is known that came as a package of its version: there is no commit, and none is needed."""

PYTHON_SECONDS = 30.0

RESOLVE_SECONDS = 300.0
"""`gym env resolve` imports all of Gym: 8 seconds of work, and minutes on a busy machine."""

QUIET_HYDRA = ("hydra.output_subdir=null", "hydra/job_logging=disabled", "hydra/hydra_logging=disabled")
"""Hydra would keep the overrides, secrets included, below the working folder."""

NO_EXPORT = ("++wandb_project=null", "++mlflow_tracking_uri=null")
"""Resolving a config opens the exporters that it names; to look at it must leave no trace on a server."""

MAX_CONFIG_FILES = 200
MAX_CONFIG_BYTES = 4 * 1024 * 1024

MAX_STARTS = 20
"""Lines of what `gym env resolve` printed that are tried as the config's first."""

_START = re.compile(r"^[A-Za-z_][\w.-]*:(?: |$)", re.MULTILINE)
_LOADED = re.compile(r"^\s*-\s*['\"]?([\w./-]+\.ya?ml)['\"]?\s*$", re.MULTILINE)
_VARIABLE = re.compile(r"\$\{oc\.env:\s*([A-Za-z_]\w*)\s*(,|\})")

_PYTHON_PROBE = """
import importlib.metadata as metadata, importlib.util as util, json, platform, sys
sys.path = [entry for entry in sys.path if entry]
found = {"python": platform.python_version(), "executable": sys.executable, "packages": {}}
for distribution in metadata.distributions():
    name = distribution.metadata["Name"]
    if not name:
        continue
    direct = json.loads(distribution.read_text("direct_url.json") or "{}")
    commit = (direct.get("vcs_info") or {}).get("commit_id")
    found["packages"][name.lower().replace("_", "-")] = [distribution.version, commit]
spec = util.find_spec("nemo_gym")
found["origin"] = spec.origin if spec else None
print(json.dumps(found))
"""


class InstalledGym(msgspec.Struct, frozen=True, kw_only=True):
    """What the metadata of one Python environment say of the Gym in it."""

    python: str
    """Version of Python."""
    executable: str
    packages: dict[str, str]
    """Version by distribution name; `version @ commit` for one that was installed from git."""
    version: str | None = None
    """None: Gym is not installed there."""
    commit: str | None = None
    """Commit of the install or of the checkout it is imported from; `-dirty` with changes of its own."""
    changes: str | None = None
    """Digest of those changes."""
    known_from: str | None = None
    """Where the commit is known from."""
    folder: str | None = None
    """The folder that holds the `nemo_gym` package and the components beside it."""


class _Probed(msgspec.Struct):
    python: str
    executable: str
    packages: dict[str, tuple[str | None, str | None]]
    origin: str | None = None


def gym_program(python: str | Path | None = None) -> Path | None:
    """The `gym` program: beside `python`, or the first one on PATH. None without one."""
    if python is not None:
        beside = Path(python).parent / "gym"
        return beside if beside.is_file() else None
    found = shutil.which("gym")
    return Path(found) if found else None


def python_of(program: Path) -> Path | None:
    """The Python that runs an installed program: by its first lines, else the one beside it."""
    try:
        with program.open("rb") as stream:
            head = stream.read(1024).decode("utf-8", "replace")
    except OSError:
        return None
    # An installer whose path is too long for a first line puts it, quoted, on the second.
    match = re.match(r"#!\s*(/\S*python[\w.]*)\s*\n|#!/bin/sh\n'''exec' [\"']?(/[^\"'\n]*python[\w.]*)", head)
    if match:
        return Path(match[1] or match[2])
    beside = program.parent / "python"
    return beside if beside.exists() else None


def read_installed_gym(python: str | Path) -> InstalledGym | NoAnswer:
    """What is installed for `python`."""
    answer = ask_program([str(python), "-c", _PYTHON_PROBE], seconds=PYTHON_SECONDS)
    if answer.text is None:
        return NoAnswer(answer.problem or "it said nothing")
    try:
        probed = msgspec.json.decode(answer.text.strip().rsplit("\n", 1)[-1], type=_Probed)
    except msgspec.DecodeError as error:
        return NoAnswer(f"{python} said something else: {error}")
    version, commit = probed.packages.get(DISTRIBUTION, (None, None))
    package = Path(probed.origin).parent if probed.origin else None
    installed = InstalledGym(
        python=probed.python,
        executable=probed.executable,
        packages={name: _shown(*found) for name, found in sorted(probed.packages.items())},
        version=version,
        folder=str(package.parent) if package else None,
    )
    if commit is not None:
        return msgspec.structs.replace(installed, commit=commit, known_from="direct_url.json of the install")
    checkout = read_checkout(package, tracks="__init__.py") if package else None
    if checkout is None:
        return msgspec.structs.replace(installed, known_from=RELEASE) if version else installed
    return msgspec.structs.replace(
        installed, commit=checkout.commit, changes=checkout.changes, known_from="git checkout of the package"
    )


def _shown(version: str | None, commit: str | None) -> str:
    return f"{version} @ {commit}" if commit else str(version)


def resolve_config(
    gym: str | Path,
    arguments: Sequence[str],
    *,
    folder: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
    seconds: float = RESOLVE_SECONDS,
    nice: bool = False,
) -> Answer:
    """What `gym env resolve` prints for the arguments, as it stands: YAML, with Gym's own masks.

    It leaves nothing behind, neither files nor a run on an experiment tracker.
    """
    with tempfile.TemporaryDirectory(prefix="gymbal-resolve-") as scratch:
        kept = [word for word in arguments if not _names_exporter(word)]
        words = [str(gym), "env", "resolve", *kept, f"hydra.run.dir={scratch}", *QUIET_HYDRA, *NO_EXPORT]
        if nice and shutil.which("nice"):
            words = ["nice", "-n", "19", *words]
        quiet = {"COLUMNS": "10000", "NO_COLOR": "1", "WANDB_MODE": "disabled", **(environment or {})}
        return ask_program(words, seconds=seconds, folder=folder, environment=quiet)


def _names_exporter(override: str) -> bool:
    key = override.lstrip("+~").partition("=")[0]
    return any(key == word.strip("+").partition("=")[0] for word in NO_EXPORT)


def read_resolved(text: str) -> dict[str, Any] | NoAnswer:
    """The config in what `gym env resolve` printed, maybe behind other lines."""
    problem = "gym env resolve printed no config"
    for start in islice(_START.finditer(text), MAX_STARTS):
        try:
            config = decode_yaml(text[start.start() :], "gym env resolve")
        except InputError as error:
            problem = error.message
            continue
        if isinstance(config, dict):
            return {name: value for name, value in config.items() if not _names_exporter(str(name))}
    return NoAnswer(problem)


def config_files(paths: Sequence[str], roots: Sequence[Path]) -> dict[str, str]:
    """The texts of config files and of those that they load in turn, by path; what overrides comes first.

    Of files that are named together a later one overrides an earlier, and each overrides what it loads. A
    relative path is looked up below `roots`, the first that holds it, as Gym does. One that does not exist is
    left out: Gym itself says so.
    """
    texts: dict[str, str] = {}
    waiting = list(paths)
    while waiting and len(texts) < MAX_CONFIG_FILES:
        path = waiting.pop()
        file = find_below(roots, path)
        if file is None or str(file) in texts or file.stat().st_size > MAX_CONFIG_BYTES:
            continue
        texts[str(file)] = file.read_text("utf-8", "replace")
        waiting += _LOADED.findall(texts[str(file)])
    return texts


def unmask(config: dict[str, Any], texts: Iterable[str], overridden: Collection[str]) -> dict[str, Any]:
    """The config with the values that Gym masked although they are no secrets, taken from its files.

    Gym masks by words, `max_output_tokens` among them. Keys that were overridden, and values that a file
    takes from elsewhere, stay masked.
    """
    files = []
    for text in texts:
        try:
            files.append(decode_yaml(text, "config file"))
        except InputError:
            continue

    def fill(node: Any, path: tuple[str, ...]) -> Any:
        if isinstance(node, dict):
            return {name: fill(value, (*path, str(name))) for name, value in node.items()}
        if node != MASK or is_secret_path(path) or ".".join(path) in overridden:
            return node
        found = next((value for file in files if (value := _at(file, path)) is not None), node)
        return node if isinstance(found, dict | list) or "${" in str(found) else found

    filled = fill(config, ())
    return filled if isinstance(filled, dict) else config


def _at(node: Any, path: Sequence[str]) -> Any:
    for name in path:
        node = node.get(name) if isinstance(node, dict) else None
    return node


def variables_of(texts: Iterable[str]) -> dict[str, bool]:
    """Environment variables that the configs take values from; whether each has a default everywhere."""
    found: dict[str, bool] = {}
    for text in texts:
        for name, end in _VARIABLE.findall(text):
            found[name] = found.get(name, True) and end == ","
    return found


def search_roots(folder: str | Path, gym_folder: str | None) -> list[Path]:
    """Where Gym looks for a relative path: the extra roots, the working folder, its own folder."""
    extra = [Path(root) for root in os.environ.get("NEMO_GYM_EXTRA_ROOTS", "").split(os.pathsep) if root]
    return [*extra, Path(folder), *([Path(gym_folder)] if gym_folder else [])]


def find_below(roots: Iterable[Path], path: str) -> Path | None:
    """The file that Gym takes for a relative path: the one below the first of `roots` that has it."""
    return next((root / path for root in roots if (root / path).is_file()), None)
