"""Where the files of a run are: a folder, one rollouts file, a pattern of shards, or a submitted job.

Gym derives every name from the rollouts file's stem, so a run is found by its stems. A folder can hold
several: then the caller has to choose, since merging runs that do not belong together would make a new
score.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from gymbal.errors import InputError, UsageError
from gymbal.io.jsonl import COMPRESSED_SUFFIXES, read_lines

COMPANION_ENDINGS = (
    "_failures.jsonl",
    "_materialized_inputs.jsonl",
    "_reward_profiling.jsonl",
    "_aggregate_metrics.json",
    "_agent_metrics.json",
    "_repeat_level_metrics.json",
    "_resolved_config.yaml",
    "_manifest.json",
    "_provenance.json",
)
"""What Gym, and at last `gymbal record`, append to a stem."""

STEM_SHOWING_ENDINGS = (
    "_failures.jsonl",
    "_materialized_inputs.jsonl",
    "_aggregate_metrics.json",
    "_resolved_config.yaml",
)
"""A file of these shows that its stem was run, even when the rollouts are empty or gone."""

NEVER_ROLLOUTS = ("_prepare.jsonl", ".capture.jsonl", "rollout_verdicts.jsonl", "manifest.jsonl")
"""Endings of JSON Lines files that Gym writes beside rollouts and that belong to no stem."""

JOB_RECORD = "gym-job.json"
JOB_CONFIG = "resolved-config.yaml"
JOB_SCRIPT = "job.sh"
ARTIFACTS = "artifacts"

WHAT_A_RUN_IS = (
    "give a run directory (<stem>.jsonl and its companions), a rollouts file, a quoted pattern of shards, "
    f"or the folder of gym eval submit ({JOB_RECORD})"
)


class StemFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The files of one stem; None for one that does not exist."""

    stem: str
    folder: Path
    rollouts: Path | None = None
    failures: Path | None = None
    inputs: Path | None = None
    metrics: Path | None = None
    config: Path | None = None
    manifest: Path | None = None
    provenance: Path | None = None


class JobFiles(msgspec.Struct, frozen=True, kw_only=True):
    """What `gym eval submit` left above a benchmark's artifacts."""

    record: Path | None
    config: Path | None
    script: Path | None
    """The job's own, in its benchmark's folder."""
    benchmark: str | None
    """None: the job as a whole was named."""


class RunFiles(msgspec.Struct, frozen=True, kw_only=True):
    label: str
    path: str
    """As it was given."""
    folder: Path
    """Names in facts and problems are relative to it."""
    stems: tuple[StemFiles, ...]
    """None at all: a submitted job that left no artifacts."""
    job: JobFiles | None

    def name(self, file: Path) -> str:
        """`file` relative to the run's folder."""
        return Path(os.path.relpath(file, self.folder)).as_posix()


class _Probe(msgspec.Struct):
    """What tells a rollout from other JSON objects."""

    response: msgspec.Raw = msgspec.Raw()
    reward: msgspec.Raw = msgspec.Raw()


def locate(path: str | Path) -> RunFiles:
    """Find the files of the run at `path`.

    Raises UsageError when there is more than one run to choose from, InputError when there is none.
    """
    text = os.fspath(path)
    place = Path(text)
    # os.path, as Path raises for a text that is too long for a name.
    if os.path.isdir(text):  # noqa: PTH112 - see above
        return _from_folder(place, text)
    if os.path.isfile(text):  # noqa: PTH113 - see above
        return _from_file(place, text)
    if os.path.exists(text):  # noqa: PTH110 - see above
        raise InputError("is no regular file", path=text, remedy=WHAT_A_RUN_IS)
    if glob.has_magic(text):
        return _from_pattern(text)
    raise InputError("does not exist", path=text, remedy=WHAT_A_RUN_IS)


def _from_file(file: Path, text: str) -> RunFiles:
    if file.name in (JOB_RECORD, JOB_CONFIG):
        return _from_folder(file.parent, text)
    folder = file.parent
    stem = _stem_of(file)
    rollouts = None if _is_companion(file) else file
    return RunFiles(
        label=f"{folder.resolve().name}/{stem}",
        path=text,
        folder=folder,
        stems=(_stem_files(folder, stem, rollouts),),
        job=_find_job(folder),
    )


def _from_pattern(pattern: str) -> RunFiles:
    matches = sorted(Path(match) for match in glob.glob(pattern, recursive=True))  # noqa: PTH207 - Path.glob takes no absolute pattern
    files = [file for file in matches if file.is_file() and not _is_companion(file)]
    if not files:
        found = f"{len(matches)} files, none of them rollouts" if matches else "nothing"
        raise InputError(f"the pattern matches {found}", path=pattern, remedy=WHAT_A_RUN_IS)
    folder = Path(os.path.commonpath([file.parent for file in files]))
    stems = tuple(_stem_files(file.parent, _stem_of(file), file) for file in files)
    twice = [item for item in stems if sum((s.folder, s.stem) == (item.folder, item.stem) for s in stems) > 1]
    if twice:
        raise UsageError(
            f"{pattern} matches {twice[0].stem} more than once",
            remedy=f"give a pattern that matches one of: {_listed(s.rollouts for s in twice if s.rollouts)}",
        )
    return RunFiles(label=pattern, path=pattern, folder=folder, stems=stems, job=_find_job(folder))


def _from_folder(folder: Path, text: str) -> RunFiles:
    stems = _find_stems(folder)
    job = _find_job(folder)
    home = folder
    if not stems and (folder / ARTIFACTS).is_dir():
        home = folder / ARTIFACTS
        stems = _find_stems(home)
        job = job or _find_job(home)
    if not stems and job is not None and job.benchmark is None:
        benchmarks = {
            sub.name: found for sub in _subfolders(folder) if (found := _find_stems(sub / ARTIFACTS))
        }
        if len(benchmarks) > 1:
            raise UsageError(
                f"{folder} holds {len(benchmarks)} benchmarks",
                remedy=f"give one of: {_listed(folder / name for name in benchmarks)}",
            )
        for name, found in benchmarks.items():
            home, stems = folder / name / ARTIFACTS, found
            job = msgspec.structs.replace(job, benchmark=name, script=_existing(folder / name / JOB_SCRIPT))
    if not stems and job is None:
        raise _nothing_found(folder)
    if len(stems) > 1:
        raise UsageError(
            f"{home} holds {len(stems)} rollouts files: {', '.join(sorted(stems))}",
            remedy=f"give one of: {_listed(stems.values())}; or, for the shards of one run, a quoted pattern "
            f"that matches them alone, such as '{home}/shard-*.jsonl'",
        )
    return RunFiles(
        label=_label(folder, job),
        path=text,
        folder=folder,
        stems=tuple(_stem_files(home, stem, None) for stem in stems),
        job=job,
    )


def _find_stems(folder: Path) -> dict[str, Path]:
    """The stems run in `folder`, each with a file that shows it: the rollouts where there are any."""
    if not folder.is_dir():
        return {}
    files = sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith("."))
    shown = {_stem_of(file): file for file in files if _plain_name(file).endswith(STEM_SHOWING_ENDINGS)}
    for file in files:
        if not _plain_name(file).endswith(".jsonl") or _is_companion(file):
            continue
        if _stem_of(file) in shown or _starts_with_a_rollout(file):
            shown[_stem_of(file)] = file
    return dict(sorted(shown.items()))


def _starts_with_a_rollout(file: Path) -> bool:
    try:
        line = next(read_lines(file), None)
        probe = msgspec.json.decode(line.data, type=_Probe) if line else _Probe()
    except (InputError, msgspec.DecodeError, RecursionError):
        return False
    return bool(bytes(probe.response) or bytes(probe.reward))


def _stem_files(folder: Path, stem: str, rollouts: Path | None) -> StemFiles:
    def existing(name: str) -> Path | None:
        found = [
            file for file in (folder / f"{name}{end}" for end in ("", *COMPRESSED_SUFFIXES)) if file.is_file()
        ]
        if len(found) > 1:
            raise UsageError(f"{_listed(found)} are the same file of one run", remedy="move all but one away")
        return found[0] if found else None

    return StemFiles(
        stem=stem,
        folder=folder,
        rollouts=rollouts or existing(f"{stem}.jsonl"),
        failures=existing(f"{stem}_failures.jsonl"),
        inputs=existing(f"{stem}_materialized_inputs.jsonl"),
        metrics=existing(f"{stem}_aggregate_metrics.json"),
        config=existing(f"{stem}_resolved_config.yaml"),
        manifest=existing(f"{stem}_manifest.json"),
        provenance=existing(f"{stem}_provenance.json"),
    )


def _find_job(folder: Path) -> JobFiles | None:
    """The submitted job of `folder`, which is the job's, a benchmark's, or that one's artifacts."""
    here = folder.resolve()
    candidates: list[tuple[Path, str | None]] = [(here, None)]
    if (here / ARTIFACTS).is_dir() or (here / JOB_SCRIPT).is_file():
        candidates.append((here.parent, here.name))
    if here.name == ARTIFACTS:
        candidates.append((here.parent.parent, here.parent.name))
    for root, benchmark in candidates:
        record, config = root / JOB_RECORD, root / JOB_CONFIG
        if record.is_file() or config.is_file():
            return JobFiles(
                record=_existing(record),
                config=_existing(config),
                script=None if benchmark is None else _existing(root / benchmark / JOB_SCRIPT),
                benchmark=benchmark,
            )
    return None


def _existing(file: Path) -> Path | None:
    return file if file.is_file() else None


def _label(folder: Path, job: JobFiles | None) -> str:
    name = folder.resolve().name
    if job is None or job.benchmark is None:
        return name
    root = (job.record or job.config or folder).parent.name
    return f"{root}/{job.benchmark}"


def _nothing_found(folder: Path) -> InputError:
    names = sorted(entry.name for entry in folder.iterdir())
    found = f"it has {', '.join(names[:5])}{' ...' if len(names) > 5 else ''}" if names else "it is empty"
    return InputError(f"no run in this folder: {found}", path=folder, remedy=WHAT_A_RUN_IS)


def _subfolders(folder: Path) -> list[Path]:
    return sorted(entry for entry in folder.iterdir() if entry.is_dir())


def _plain_name(file: Path) -> str:
    """The file's name without a compression suffix."""
    return file.stem if file.suffix in COMPRESSED_SUFFIXES else file.name


def _stem_of(file: Path) -> str:
    name = _plain_name(file)
    for ending in COMPANION_ENDINGS:
        if name.endswith(ending) and name != ending:
            return name.removesuffix(ending)
    return Path(name).stem


def _is_companion(file: Path) -> bool:
    return _plain_name(file).endswith((*COMPANION_ENDINGS, *NEVER_ROLLOUTS))


def _listed(files: Iterable[Path]) -> str:
    return ", ".join(str(file) for file in files)
