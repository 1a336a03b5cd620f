"""`gymbal pivot rescore`: recorded samples and other comparator settings in, what would change out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gymbal.commands.different_pivots import different_pivots
from gymbal.commands.gym_config_file import read_gym_config_file
from gymbal.commands.open_pivots import Pivots, digest_of, open_pivots
from gymbal.errors import InputError, UsageError
from gymbal.io.jsonl import read_lines
from gymbal.io.remote import path_of
from gymbal.io.sample_journal import HEADER_START, read_journal_header, read_samples
from gymbal.model.profile import JournalHeader
from gymbal.model.rescore import NotRescored, RescoreReport, SamplesKind, SampleUse, SettingsSource
from gymbal.pivot.build import CONFIG
from gymbal.pivot.rescore import RescoreTally, changed_options
from gymbal.pivot.row_scorer import STOCK_OPTIONS, ReadyRow, RowScorer
from gymbal.pivot.wiring import GymConfig
from gymbal.readers.run.pivot_answers import read_pivot_answers
from gymbal.verify import UnscorableError

MOST_PAIRS = 5

NEEDED_OPTION = "word_count_similarity_threshold"
"""Without it a mapping is no comparator's, but one of servers to their options."""


class _Answer(NamedTuple):
    pivot: str
    reward: float | None
    output: list[dict[str, Any]]


class _Settings(NamedTuple):
    config: GymConfig | None
    options: Mapping[str, Any]
    source: SettingsSource

    @property
    def shown(self) -> Mapping[str, Any]:
        return RowScorer(self.config, self.options).options


def pivot_rescore(
    samples: str | Path,
    *,
    pivots: str | Path,
    config: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    before: str | Path | None = None,
    most_pairs: int = MOST_PAIRS,
) -> RescoreReport:
    """Score recorded `samples` of `pivots` again under other settings, and say which verdicts flip and why.

    `samples` is a journal of `pivot_profile`, or a run directory or rollouts file of a Gym run over the
    pivots. `pivots` is what `open_pivots` takes. The new settings are those of the Gym config `config`, by
    default the settings before, with `options` over them. The settings before are those of the Gym config
    `before`; by default those that a journal records, those of the dataset folder, or Gym's stock ones.
    No model is asked and nothing is written. A flip is explained by the check that failed: under the
    settings before where the reward rises, under the new ones where it falls.

    Raises UsageError when no other settings are given or they are none of the comparator's, InputError for
    what cannot be read and when no answer is of one of the pivots.
    """
    if config is None and not options:
        raise UsageError("no other settings are given", remedy="Name a config, or options to change.")
    path = path_of(samples)
    header = read_journal_header(path) if _is_journal(path) else None
    opened = open_pivots(pivots)
    was = _before(before, header, path_of(pivots), opened)
    now = _after(was, config, options or {})
    left_out: Counter[str] = Counter()
    answers = _journal_answers(path, left_out) if header is not None else _gym_answers(path, left_out)
    tally = RescoreTally()
    ready, unscorable = _rows(opened, was, now, tally)
    for answer in answers:
        rows = ready.get(answer.pivot)
        if rows is None:
            left_out[
                NotRescored.LABEL_UNSCORABLE if answer.pivot in unscorable else NotRescored.OTHER_PIVOT
            ] += 1
            continue
        try:
            tally.add(answer.pivot, answer.output, answer.reward, *rows)
        except UnscorableError:
            left_out[NotRescored.ANSWER_UNSCORABLE] += 1
    strangers = left_out[NotRescored.OTHER_PIVOT]
    if strangers and not tally.rescored:
        raise InputError(
            f"none of its {strangers} answers is of one of the pivots",
            path=path,
            remedy="Name the pivot file that was sampled.",
        )
    read = tally.rescored + left_out.total()
    return RescoreReport(
        samples_from=str(samples),
        kind=SamplesKind.GYM if header is None else SamplesKind.JOURNAL,
        pivots=len(ready) + len(unscorable),
        samples=SampleUse(read=read, rescored=tally.rescored, left_out=dict(sorted(left_out.items()))),
        before_from=was.source,
        before=was.shown,
        after=now.shown,
        changes=tuple(changed_options(was.shown, now.shown)),
        recorded=tally.agreement,
        rewards=tally.rewards,
        pivot_moves=tally.pivot_moves([*ready, *unscorable]),
        labels=tally.labels,
        flips=tuple(tally.flips(most_pairs)),
        notes=tuple(_notes(tally, was, header, opened)),
    )


def _is_journal(path: Path) -> bool:
    if not path.is_file():
        return False
    first = next(read_lines(path), None)
    return first is not None and first.data.startswith(HEADER_START)


def _before(
    before: str | Path | None, header: JournalHeader | None, pivots: Path, opened: Pivots
) -> _Settings:
    """The settings that gave the recorded rewards, as far as anything says."""
    if before is not None:
        return _Settings(_gym_config(before), STOCK_OPTIONS, SettingsSource.CONFIG)
    if header is not None and NEEDED_OPTION in header.config:
        return _Settings(None, header.config, SettingsSource.JOURNAL)
    if pivots.is_dir() and (pivots / CONFIG).is_file():
        return _Settings(_gym_config(pivots / CONFIG), STOCK_OPTIONS, SettingsSource.CONFIG)
    if header is not None:
        raise UsageError(
            "the journal was scored by several resources servers, and does not say which row by which",
            remedy="Name the Gym config that it was scored with as the settings before.",
        )
    if opened.header is not None:
        return _Settings(None, {NEEDED_OPTION: opened.header.threshold}, SettingsSource.INDEX)
    return _Settings(None, STOCK_OPTIONS, SettingsSource.STOCK)


def _after(was: _Settings, config: str | Path | None, options: Mapping[str, Any]) -> _Settings:
    now = was if config is None else was._replace(config=_gym_config(config))
    if now.config is None:
        return now._replace(options={**now.options, **options})
    servers = {name: block.with_comparator(options) for name, block in now.config.comparators.items()}
    return now._replace(config=now.config._replace(servers=servers))


def _gym_config(path: str | Path) -> GymConfig:
    found = read_gym_config_file(path_of(path))
    if not found.comparators:
        raise InputError("has no server that scores pivots", path=path)
    return found


def _rows(
    opened: Pivots, was: _Settings, now: _Settings, tally: RescoreTally
) -> tuple[dict[str, tuple[ReadyRow, ReadyRow]], set[str]]:
    """Each different pivot, ready under both settings; and those whose label cannot be scored."""
    scorers = (RowScorer(was.config, was.options), RowScorer(now.config, now.options))
    ready: dict[str, tuple[ReadyRow, ReadyRow]] = {}
    unscorable: set[str] = set()
    entries, _ = different_pivots(opened)
    for entry in entries:
        row = opened.row(entry)
        try:
            ready[entry.id] = (scorers[0].ready(row), scorers[1].ready(row))
        except UnscorableError:
            unscorable.add(entry.id)
        else:
            tally.add_label(*ready[entry.id])
    return ready, unscorable


def _journal_answers(path: Path, left_out: Counter[str]) -> Iterator[_Answer]:
    """Samples with an answer, also those that had none to begin with. Failures are counted at the end."""
    answered: set[tuple[str, int]] = set()
    failed: dict[tuple[str, int], str] = {}
    for sample in read_samples(path):
        key = (sample.pivot, sample.sample)
        if sample.output is None:
            failed[key] = NotRescored.FAILED if sample.failure is None else sample.failure.value
        elif key in answered:
            left_out[NotRescored.REPEATED] += 1
        else:
            answered.add(key)
            yield _Answer(sample.pivot, sample.reward, sample.output)
    left_out.update(kind for key, kind in failed.items() if key not in answered)


def _gym_answers(path: Path, left_out: Counter[str]) -> Iterator[_Answer]:
    for found in read_pivot_answers(path):
        if found.left_out is None:
            yield _Answer(found.pivot, found.reward, found.output)
        else:
            left_out[found.left_out.value] += 1


def _notes(
    tally: RescoreTally, was: _Settings, header: JournalHeader | None, opened: Pivots
) -> Iterator[str]:
    differ = tally.agreement.differ
    if differ:
        yield (
            f"{differ} recorded rewards are not those of the settings before: something else scored these "
            "samples. Name the right settings with --before, or read the flips as between two guesses."
        )
    elif was.source is SettingsSource.STOCK:
        yield "Nothing says which settings gave the recorded rewards; those of Gym's stock config agree."
    if header is not None and header.pivots != digest_of(opened):
        yield "The journal is of another file than these pivots; samples were joined by the pivots' ids."
    below = tally.labels.below_one_after
    if below > tally.labels.below_one_before:
        yield (
            f"{below} labels score below 1 against themselves under the new settings, "
            f"{tally.labels.below_one_before} before: no policy can win such a row."
        )
