"""List the agent skills that gymbal ships, and copy them to where a coding agent looks for skills.

Beside the files of an installed skill lies `.gymbal.json`: the digest of every file as gymbal installed it. A
file that still has its digest is ours to update; any other that differs from the shipped one was changed by
somebody and is kept unless `overwrite` is given. Files that gymbal does not ship are never touched.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import NamedTuple

import msgspec

from gymbal.errors import InputError, UsageError
from gymbal.io.decode import read_bounded
from gymbal.io.fingerprint import digest
from gymbal.io.write import make_folder, write_bytes
from gymbal.model.skill import FileStatus, InstalledFile, SkillInfo, SkillScope, SkillTarget

ENTRY_FILE = "SKILL.md"
MANIFEST_FILE = ".gymbal.json"
MANIFEST_VERSION = 1
MAX_INSTALLED_BYTES = 16 * 1024 * 1024

FOLDERS = {
    SkillTarget.CLAUDE: Path(".claude") / "skills",
    SkillTarget.CODEX: Path(".agents") / "skills",
    SkillTarget.AGENTS: Path(".agents") / "skills",
}
"""The same below a project and below the home folder.

Codex reads `.agents/skills` in both; its own `$CODEX_HOME/skills` is deprecated
(developers.openai.com/codex/skills).
"""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What `.gymbal.json` holds: digests of the files of one skill as they were installed, by path."""

    schema_version: int = MANIFEST_VERSION
    files: dict[str, str]


class Change(NamedTuple):
    """What is to happen to one file."""

    name: str
    """Path inside the skill's folder."""
    path: Path
    status: FileStatus
    shipped: bytes
    before: bytes | None
    """What the file holds now; None where there is none."""


def skills_list() -> tuple[SkillInfo, ...]:
    """Return the shipped skills, sorted by name."""
    return tuple(_describe(name, _shipped_files(name)) for name in _shipped_names())


def skills_install(
    names: Iterable[str] = (),
    *,
    target: SkillTarget | str = SkillTarget.CLAUDE,
    scope: SkillScope | str = SkillScope.PROJECT,
    root: Path | None = None,
    overwrite: bool = False,
) -> tuple[InstalledFile, ...]:
    """Copy skills to where the agent `target` looks for them, and return what happened to each file.

    `names`: the skills to install, all of them when empty. `root`: the folder that holds `.claude` or
    `.agents`; by default the working directory for scope `project` and the home folder for scope `user`.

    Either every file is installed or, after an error, every file is as it was before. A killed process can
    leave some files new and some old: `SKILL.md` is written after the files it refers to, and a second run
    completes the installation.

    Raises UsageError for an unknown name, target or scope; InputError when a place cannot be read or written.
    """
    folder = _target_folder(target, scope, root)
    plans = {name: _plan_skill(name, folder / name, overwrite=overwrite) for name in _chosen_names(names)}
    _apply([change for plan in plans.values() for change in plan])
    return tuple(
        InstalledFile(name, str(change.path), change.status)
        for name, plan in plans.items()
        for change in plan
        if change.name != MANIFEST_FILE
    )


def _target_folder(target: str, scope: str, root: Path | None) -> Path:
    try:
        below = FOLDERS[SkillTarget(target)]
        chosen_scope = SkillScope(scope)
    except ValueError as error:
        raise UsageError(
            f"{error}; targets: {', '.join(SkillTarget)}; scopes: {', '.join(SkillScope)}"
        ) from error
    if root is not None:
        return root / below
    if chosen_scope is SkillScope.PROJECT:
        return below
    return _home() / below


def _home() -> Path:
    """The home folder; raise UsageError where it is not known. Python takes an empty HOME for the root."""
    if os.environ.get("HOME") != "":
        with suppress(RuntimeError):
            return Path.home()
    raise UsageError("the home folder is not known", remedy="Set HOME, or install for the project.")


def _chosen_names(names: Iterable[str]) -> list[str]:
    shipped = _shipped_names()
    chosen = list(dict.fromkeys(names)) or shipped
    for name in chosen:
        if name not in shipped:
            raise UsageError(f"there is no skill named {name!r}; there are: {', '.join(shipped)}")
    return chosen


def _plan_skill(name: str, folder: Path, *, overwrite: bool) -> list[Change]:
    installed = _read_manifest(folder / MANIFEST_FILE).files
    changes = []
    for relative, shipped in sorted(_shipped_files(name).items(), key=_entry_file_last):
        path = folder / relative
        before = _read_present(path)
        status = _status(shipped, before, installed.get(relative), overwrite=overwrite)
        changes.append(Change(relative, path, status, shipped, before))
    return [*changes, _plan_manifest(folder / MANIFEST_FILE, installed, changes)]


def _entry_file_last(item: tuple[str, bytes]) -> tuple[bool, str]:
    return item[0] == ENTRY_FILE, item[0]


def _status(shipped: bytes, before: bytes | None, installed: str | None, *, overwrite: bool) -> FileStatus:
    if before is None:
        return FileStatus.WRITTEN
    if before == shipped:
        return FileStatus.UNCHANGED
    if overwrite or digest(before) == installed:
        return FileStatus.UPDATED
    return FileStatus.KEPT


def _plan_manifest(path: Path, installed: dict[str, str], changes: list[Change]) -> Change:
    digests = {}
    for change in changes:
        if change.status is not FileStatus.KEPT:
            digests[change.name] = digest(change.shipped)
        elif change.name in installed:
            # A kept file keeps the digest it was installed with: undoing the change makes it ours again.
            digests[change.name] = installed[change.name]
    data = msgspec.json.format(msgspec.json.encode(Manifest(files=digests), order="sorted")) + b"\n"
    before = _read_present(path)
    status = FileStatus.UNCHANGED if before == data else FileStatus.UPDATED
    return Change(MANIFEST_FILE, path, status, data, before)


def _read_manifest(path: Path) -> Manifest:
    data = _read_present(path)
    if data is None:
        return Manifest(files={})
    try:
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise InputError(
            f"is not a record of installed files: {error}", path=path, remedy="Delete it and install again."
        ) from error
    if manifest.schema_version != MANIFEST_VERSION:
        raise InputError(
            f"has schema_version {manifest.schema_version}; this gymbal reads {MANIFEST_VERSION}",
            path=path,
            remedy="Install with the newer gymbal that wrote it, or delete it and install again.",
        )
    return manifest


def _read_present(path: Path) -> bytes | None:
    """Return the bytes of `path`, or None where there is nothing; raise InputError where it is no file."""
    if not os.path.lexists(path):
        return None
    if not path.is_file():
        raise InputError("is in the way: it is not a regular file", path=path, remedy="Move it aside.")
    return read_bounded(path, MAX_INSTALLED_BYTES)


def _apply(changes: list[Change]) -> None:
    """Write what is to be written; on any error put everything back and raise it."""
    with ExitStack() as undo:
        for change in changes:
            if change.status in (FileStatus.UNCHANGED, FileStatus.KEPT):
                continue
            for folder in _missing_folders(change.path.parent):
                undo.callback(_remove_empty, folder)
            make_folder(change.path.parent)
            undo.callback(_put_back, change)
            write_bytes(change.path, change.shipped)
        undo.pop_all()


def _missing_folders(folder: Path) -> list[Path]:
    """Return `folder` and its parents that do not exist, outermost first."""
    return [path for path in (*reversed(folder.parents), folder) if not path.exists()]


def _remove_empty(folder: Path) -> None:
    # It may never have been made, or somebody else may have put something into it since.
    with suppress(OSError):
        folder.rmdir()


def _put_back(change: Change) -> None:
    if change.before is None:
        change.path.unlink(missing_ok=True)
    else:
        write_bytes(change.path, change.before)


def _shipped_names() -> list[str]:
    return sorted(entry.name for entry in _shipped_root().iterdir() if (entry / ENTRY_FILE).is_file())


def _shipped_root() -> Traversable:
    return resources.files("gymbal") / "skills"


def _shipped_files(name: str) -> dict[str, bytes]:
    """Return the files of a skill by their path inside its folder, parts separated by `/`."""
    return _files_below(_shipped_root() / name, "")


def _files_below(folder: Traversable, prefix: str) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for entry in folder.iterdir():
        if entry.is_dir():
            files |= _files_below(entry, f"{prefix}{entry.name}/")
        else:
            files[prefix + entry.name] = entry.read_bytes()
    return files


def _describe(name: str, files: dict[str, bytes]) -> SkillInfo:
    # Our own front matter holds each field on one line, so that no YAML parser is needed at start-up; a test
    # holds it equal to what a YAML parser reads.
    head = files[ENTRY_FILE].decode("utf-8").split("---\n", 2)[1]
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    return SkillInfo(name, fields["description"], tuple(sorted(files)))
