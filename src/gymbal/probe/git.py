"""git: which commit a folder is at, what it has changed of its own, and what lies between two commits.

A repository is somebody's data: nothing in it is run (no external diff, no hooks, no file monitor), nothing
is fetched, and no lock is taken that could disturb its owner.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path

import msgspec

from gymbal.errors import InputError
from gymbal.io.fingerprint import DIGEST_CHARACTERS
from gymbal.model.evidence import DIRTY
from gymbal.model.history import COMPONENT_FOLDERS, CodeHistory, Commit, component_of
from gymbal.probe.program import Answer, ask_program

SECONDS = 60.0
"""The longest that any question may take; a log over years of a large repository takes a few."""

MAX_COMMITS = 200
"""Commits that are listed; all are counted."""

MAX_UNTRACKED_BYTES = 64 * 1024 * 1024
"""Above this, untracked files are somebody's data and no change of the code."""

BENCHMARK_FOLDERS = ("benchmarks/", "environments/", "resources_servers/")
"""Where the files of a benchmark are; without one of them nothing is known of it."""

CORE = "nemo_gym"
"""The folder of Gym's own package, which every benchmark runs on."""

_SAFE = (
    "--no-pager",
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "protocol.allow=never",
)
_ENVIRONMENT = {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
_PLAIN_DIFF = ("--no-ext-diff", "--no-textconv", "--no-color")

_SEPARATOR = "\x1f"
_FORMAT = _SEPARATOR.join(("%H", "%m", "%cI", "%s"))

MAX_CONFIGS = 20
"""Config files that define an instance of a name; usually it is one."""

_INSTANCE = re.compile(r"[\w.-]{1,200}")
_KINDS = "|".join(COMPONENT_FOLDERS)
_SERVER = re.compile(rf"^ +({_KINDS}):\s*\n +([\w.-]+):", re.MULTILINE)
_CONFIG_PATH = re.compile(rf"\b(?:{_KINDS})/[\w./-]+\.ya?ml\b")


class Checkout(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a git checkout."""

    root: str
    commit: str
    """HEAD, with `-dirty` where the checkout has changes of its own; as in Gym, untracked files are some."""
    changes: str | None
    """Digest of those changes. None: there are none, or they could not be read."""


def ask_git(folder: str | Path, *words: str) -> Answer:
    """Run git on the repository of `folder`; neither the network nor its settings take part."""
    return ask_program(["git", *_SAFE, "-C", str(folder), *words], seconds=SECONDS, environment=_ENVIRONMENT)


def read_checkout(folder: str | Path, *, tracks: str | None = None) -> Checkout | None:
    """The checkout that `folder` lies in; None for none, or for one that does not track the file `tracks`."""
    if tracks is not None and ask_git(folder, "ls-files", "--error-unmatch", "--", tracks).text is None:
        return None
    root = ask_git(folder, "rev-parse", "--show-toplevel").text
    head = ask_git(folder, "rev-parse", "--verify", "HEAD^{commit}").text
    status = ask_git(folder, "status", "--porcelain").text
    if root is None or head is None or status is None:
        return None
    is_dirty = bool(status.strip())
    return Checkout(
        root=root.strip(),
        commit=head.strip() + (DIRTY if is_dirty else ""),
        changes=_changes(Path(root.strip())) if is_dirty else None,
    )


def _changes(root: Path) -> str | None:
    """Digest of the difference to HEAD and of the untracked files, by name and content."""
    diff = ask_git(root, "diff", "HEAD", "--binary", *_PLAIN_DIFF).text
    untracked = ask_git(root, "ls-files", "--others", "--exclude-standard", "-z").text
    if diff is None or untracked is None:
        return None
    found = sha256(diff.encode())
    left = MAX_UNTRACKED_BYTES
    for name in sorted(filter(None, untracked.split("\0"))):
        file = root / name
        try:
            data = file.read_bytes() if file.is_file() and not file.is_symlink() else b""
        except OSError:
            return None
        left -= len(data)
        if left < 0:
            return None
        found.update(f"\0{name}\0{len(data)}\0".encode("utf-8", "surrogateescape"))
        found.update(data)
    return found.hexdigest()[:DIGEST_CHARACTERS]


def check_repository(folder: str | Path) -> str | None:
    """None for a folder in a git repository, a reason without git; any other folder raises InputError."""
    answer = ask_git(folder, "rev-parse", "--git-dir")
    if answer.text is not None:
        return None
    if ask_program(["git", "--version"], seconds=SECONDS).text is None:
        return "git is not installed"
    raise InputError("is no git repository", path=folder, remedy="give a clone of NeMo Gym")


def code_history(
    repository: str | Path, left: str, right: str, own_paths: Sequence[str], instances: Iterable[str] = ()
) -> CodeHistory:
    """What lies between the commits `left` and `right` and touches one benchmark.

    `own_paths` are folders of the repository; `instances` are names of servers and agents, whose config files
    in either commit name more. Anything that keeps git from answering is the history's `problem`.
    """
    known: list[str] = []
    for commit in (left, right):
        found = ask_git(repository, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}").text
        if found is None:
            return _unknown_commit(repository, left, right, commit)
        known.append(found.strip())
    wanted = [*own_paths, *_paths_of_instances(repository, known, instances)]
    paths = _existing_paths(repository, known, _with_whole_kinds(wanted))
    if not any(path.startswith(BENCHMARK_FOLDERS) for path in paths):
        problem = "no file of this benchmark is known: no config names its servers"
        remedy = "save the run's config, or name the benchmark's folder in it"
        return CodeHistory(left=left, right=right, problem=problem, remedy=remedy)
    ends = f"{known[0]}...{known[1]}"
    own = ask_git(repository, "log", "--left-right", f"--format={_FORMAT}", ends, "--", *paths)
    core = ask_git(repository, "rev-list", "--count", ends, "--", CORE)
    total = ask_git(repository, "rev-list", "--count", ends)
    changed = ask_git(repository, "diff", "--name-only", *_PLAIN_DIFF, *known, "--", *paths)
    core_changed = ask_git(repository, "diff", "--name-only", *_PLAIN_DIFF, *known, "--", CORE)
    answers = (own, core, total, changed, core_changed)
    failed = next((answer.problem for answer in answers if answer.text is None), None)
    if failed is not None:
        return CodeHistory(left=left, right=right, own_paths=paths, problem=failed)
    own_text, core_text, total_text, changed_text, core_changed_text = (
        str(answer.text) for answer in answers
    )
    return CodeHistory(
        left=known[0],
        right=known[1],
        own_paths=paths,
        commits=tuple(_commits(own_text)),
        changed=tuple(changed_text.splitlines()),
        core_commits=int(core_text),
        core_changed=tuple(core_changed_text.splitlines()),
        total=int(total_text),
        is_complete=not _is_shallow(repository),
    )


def _commits(text: str) -> Iterable[Commit]:
    for line in text.splitlines():
        commit, mark, date, subject = line.split(_SEPARATOR, 3)
        yield Commit(id=commit, date=date, subject=subject, side="left" if mark == "<" else "right")


def _with_whole_kinds(paths: Sequence[str]) -> list[str]:
    """The paths, and the whole folder of every kind that each run has one of and that none of them names."""
    kinds = ("responses_api_agents", "responses_api_models", "environment_servers")
    return [*paths, *(kind for kind in kinds if not any(path.startswith(f"{kind}/") for path in paths))]


def _unknown_commit(repository: str | Path, left: str, right: str, commit: str) -> CodeHistory:
    problem = f"{commit} is not in {repository}"
    if _is_shallow(repository):
        return CodeHistory(
            left=left,
            right=right,
            problem=f"{problem}, a shallow clone",
            remedy=f"git -C {repository} fetch --unshallow",
        )
    remedy = f"git -C {repository} fetch origin, then once more; a commit of somebody's own is in their clone"
    return CodeHistory(left=left, right=right, problem=problem, remedy=remedy)


def _is_shallow(repository: str | Path) -> bool:
    answer = ask_git(repository, "rev-parse", "--is-shallow-repository").text
    return answer is not None and answer.strip() == "true"


def _existing_paths(repository: str | Path, commits: Sequence[str], paths: Iterable[str]) -> tuple[str, ...]:
    """The paths that at least one of the commits holds, each once."""
    return tuple(
        path
        for path in dict.fromkeys(paths)
        if any(
            ask_git(repository, "cat-file", "-e", f"{commit}:{path}").text is not None for commit in commits
        )
    )


def _paths_of_instances(
    repository: str | Path, commits: Sequence[str], instances: Iterable[str]
) -> list[str]:
    """The components whose config files define one of the instances, and those that these files name."""
    names = sorted({name for name in instances if _INSTANCE.fullmatch(name)})
    if not names:
        return []
    pattern = f"^({'|'.join(re.escape(name) for name in names)}):"
    found: list[str] = []
    for commit in dict.fromkeys(commits):
        listing = ask_git(repository, "grep", "-l", "-E", pattern, commit, "--", "*.yaml", "*.yml").text or ""
        for line in listing.splitlines()[:MAX_CONFIGS]:
            path = line.removeprefix(f"{commit}:")
            text = ask_git(repository, "cat-file", "blob", f"{commit}:{path}").text or ""
            found += [path, *_CONFIG_PATH.findall(text)]
            found += [f"{kind}/{name}/" for kind, name in _SERVER.findall(text)]
    return [component for path in found if (component := component_of(path))]
