"""Files that a config names: the same one of Gym's repository has another path in every checkout."""

from __future__ import annotations

from pathlib import PurePosixPath

FILE_KEY_ENDINGS = ("path", "dir", "file", "prompt_config")
"""Keys of Gym configs that end so name a file or folder (nemo-gym 0.7.0)."""

GYM_FOLDERS = frozenset(
    {
        "benchmarks",
        "environment_servers",
        "environments",
        "nemo_gym",
        "resources_servers",
        "responses_api_agents",
        "responses_api_models",
    }
)
"""The folders at the root of Gym's repository that hold configs and prompts (nemo-gym 0.7.0)."""


def is_same_file(left: str, right: str) -> bool | None:
    """Whether two paths name one file, each in its own checkout of Gym.

    None: the last names are equal and a path is absolute, so that the folders may be two checkouts, or hold
    two versions of the file.
    """
    if _in_checkout(left) == _in_checkout(right):
        return True
    mine, theirs = PurePosixPath(left), PurePosixPath(right)
    if mine.name != theirs.name:
        return False
    return None if mine.is_absolute() or theirs.is_absolute() else False


def _in_checkout(path: str) -> PurePosixPath:
    """The path from a root folder of Gym on; as it is where it leads through none."""
    parts = PurePosixPath(path).parts
    start = next((place for place, part in enumerate(parts) if part in GYM_FOLDERS), 0)
    return PurePosixPath(*parts[start:])
