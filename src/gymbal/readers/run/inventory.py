"""The files that a run can have: which are there, and what would write those that are not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gymbal.io.jsonl import COMPRESSED_SUFFIXES
from gymbal.model.sheet import SheetFile
from gymbal.readers.run.captures import FOLDER_NAME
from gymbal.readers.run.health import SUMMARY_NAME, VERDICTS_NAME
from gymbal.readers.run.locate import JOB_CONFIG, JOB_RECORD, JOB_SCRIPT, JobFiles, RunFiles, StemFiles

BY_STEM: tuple[tuple[str, str, str | None], ...] = (
    (".jsonl", "scored rollouts", "gym eval run writes it; without it nothing was scored"),
    ("_failures.jsonl", "failed attempts", None),
    (
        "_materialized_inputs.jsonl",
        "planned rollouts and task contents",
        "copy it from the folder of the run: without it losses and edited answer keys do not show",
    ),
    ("_aggregate_metrics.json", "the reported scores", "gym eval aggregate"),
    ("_resolved_config.yaml", "the merged config", "a Gym later than 0.7.0, or gymbal record"),
    ("_manifest.json", "digests of dataset, tasks and settings", None),
    (
        "_provenance.json",
        "what gymbal record saw at the launch",
        "launch with: gymbal record -- gym eval run ...",
    ),
    ("_agent_metrics.json", "statistics by agent", None),
    ("_repeat_level_metrics.json", "statistics by repeat", None),
    ("_reward_profiling.jsonl", "statistics by task", None),
)
"""Ending behind the stem, what the file holds, and what would write it, if its absence matters."""

BESIDE: tuple[tuple[str, str], ...] = (
    (SUMMARY_NAME, "health checks, counted"),
    (VERDICTS_NAME, "health checks by rollout"),
    (FOLDER_NAME, "recorded model calls"),
)


def inventory(files: RunFiles) -> Iterator[SheetFile]:
    """The files of the run, present and missing, in the order in which they matter."""
    for stem in files.stems:
        yield from _of_stem(stem, files)
    if len(files.stems) == 1:
        for name, holds in BESIDE:
            found = _existing(files.stems[0].folder / name)
            yield SheetFile(
                name=files.name(found or files.stems[0].folder / name), holds=holds, is_present=bool(found)
            )
    if files.job is not None:
        yield from _of_job(files.job, files)


def _of_stem(stem: StemFiles, files: RunFiles) -> Iterator[SheetFile]:
    for ending, holds, remedy in BY_STEM:
        path = stem.rollouts if ending == ".jsonl" and stem.rollouts else stem.folder / f"{stem.stem}{ending}"
        found = _existing(path)
        yield SheetFile(
            name=files.name(found or path),
            holds=holds,
            is_present=found is not None,
            remedy=None if found else remedy,
        )


def _of_job(job: JobFiles, files: RunFiles) -> Iterator[SheetFile]:
    parts = (
        (job.record, JOB_RECORD, "the submission"),
        (job.config, JOB_CONFIG, "the submit config"),
        (job.script, JOB_SCRIPT, "the commands of the job"),
    )
    for path, name, holds in parts:
        yield SheetFile(name=files.name(path) if path else name, holds=holds, is_present=path is not None)


def _existing(path: Path) -> Path | None:
    candidates = (path.with_name(f"{path.name}{suffix}") for suffix in ("", *COMPRESSED_SUFFIXES))
    return next((candidate for candidate in candidates if candidate.exists()), None)
