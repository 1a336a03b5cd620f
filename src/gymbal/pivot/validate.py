"""Holds a pivot dataset to the rules of `gymbal.pivot.rules`. Read this first: it is the whole flow.

files -> parts -> each row on its own (`validate_part`) -> joined in order -> rules on the dataset as a whole
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from gymbal.errors import InputError
from gymbal.io.secrets import mask_text
from gymbal.model.pivot import ActionKind, ValidatedFile, ValidationReport, Violation
from gymbal.pivot.equal_rows import EqualRows
from gymbal.pivot.parse import MAX_SHOWN, REQUEST, Check
from gymbal.pivot.rules import RULES, Rule, not_checked
from gymbal.pivot.validate_options import ValidateOptions, task_shown
from gymbal.pivot.validate_part import UNREADABLE, Drawn, Found, PartFindings, PartJob, TaskRows, check_part
from gymbal.pivot.wiring import GymConfig

Part = tuple[int, int | None]
"""First byte, and the one behind the last; None: the end of the file."""

CheckParts = Callable[[Sequence[PartJob]], Iterable[PartFindings]]
"""Runs `check_part` on each job; the results come in the order of the jobs."""


def whole_file(_: Path) -> Sequence[Part]:
    """One part."""
    return [(0, None)]


def in_this_process(jobs: Sequence[PartJob]) -> Iterator[PartFindings]:
    """Check the parts one after another."""
    return map(check_part, jobs)


class Validated(NamedTuple):
    report: ValidationReport
    sample: tuple[tuple[Path, Drawn], ...]
    """Rows that were drawn for an installed Gym, in the order of the dataset."""


def validate(
    path: Path,
    files: Sequence[Path],
    config: GymConfig | None,
    *,
    config_path: str | None = None,
    options: ValidateOptions | None = None,
    parts: Callable[[Path], Sequence[Part]] = whole_file,
    check_parts: CheckParts = in_this_process,
    rules: Mapping[str, Rule] = RULES,
) -> Validated:
    """Check every row of the JSONL files `files` of the dataset `path`, and say what breaks a rule.

    Each file is read once, in the `parts` that tile it; the report does not depend on them. Two rows of each
    part that is being checked are held in memory, and some 40 bytes of every row. Rules that need a config
    are skipped without one, and the report says so. A broken row is a violation, not an error; InputError is
    raised only for a file that cannot be read, or that changes meanwhile.
    """
    options = options or ValidateOptions()
    with_tasks = len(files) > 1
    jobs = [
        PartJob(path=file, start=start, stop=stop, config=config, options=options, with_tasks=with_tasks)
        for file in files
        for start, stop in parts(file)
    ]
    dataset = _Dataset(files, options, rules)
    found = iter(check_parts(jobs))
    for job in jobs:
        try:
            dataset.add(job, next(found))
        except InputError as error:
            raise dataset.placed(error, job) from error
    dataset.check_whole()
    return Validated(dataset.report(path, config_path, has_config=config is not None), dataset.sample())


class _File:
    """What was found in one file so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = 0
        self.end = 0
        self.rows = 0
        self.tasks: dict[str, TaskRows] = {}
        self.sample: list[Drawn] = []
        self.violations: list[Found] = []


class _Dataset:
    """Joins what was found in the parts, in their order, and checks what only all of them can tell."""

    def __init__(self, files: Sequence[Path], options: ValidateOptions, rules: Mapping[str, Rule]) -> None:
        self._rules = rules
        self._files = [_File(file) for file in files]
        self._file_now: _File | None = None
        self._options = options
        self._kinds: Counter[str] = Counter()
        self._checked: Counter[str] = Counter()
        self._broken: Counter[str] = Counter()
        self._warned: dict[str, tuple[_File, Found]] = {}
        self._violation_count = 0
        self._rows = EqualRows()
        self._unchecked: dict[str, None] = {}

    def add(self, job: PartJob, found: PartFindings) -> None:
        """Take note of the next part; raise InputError where it does not begin at the end of the last one."""
        file = self._file_of(job)
        if found.lines and found.begin != file.end:
            raise InputError("changed while it was read", path=job.path, offset=file.end)
        self._kinds.update(found.kinds)
        self._checked.update(found.checked)
        self._broken.update(found.broken)
        self._unchecked.update(dict.fromkeys(found.unchecked))
        for rule, first in found.warned.items():
            self._warned.setdefault(rule, (file, first._replace(line=first.line + file.lines)))
        self._violation_count += found.violation_count
        file.violations += [each._replace(line=each.line + file.lines) for each in found.violations]
        file.sample += [each._replace(line=each.line + file.lines) for each in found.sample]
        self._rows.add(found.keys, found.places, file.lines)
        for task, rows in found.tasks.items():
            known = file.tasks.get(task)
            shifted = rows._replace(line=rows.line + file.lines)
            file.tasks[task] = shifted if known is None else known._replace(rows=known.rows + rows.rows)
        file.rows += sum(found.kinds.values())
        if found.lines:
            file.lines, file.end = file.lines + found.lines, found.end

    def placed(self, error: InputError, job: PartJob) -> InputError:
        """The error of a part, with its line counted from the start of the file."""
        if error.line is None:
            return error
        line = error.line + self._file_of(job).lines
        return InputError(
            error.problem, path=error.path, line=line, offset=error.offset, key=error.key, remedy=error.remedy
        )

    def check_whole(self) -> None:
        """Check what is no matter of a single row: P021, P028 and P029."""
        for place, first in self._rows.pairs():
            elsewhere = "" if first.file == place.file else f" of {self._files[first.file].path.name}"
            found = f"same as line {first.line}{elsewhere}"
            self._add(self._files[place.file], place.line, place.offset, Check("P021", REQUEST, found))
        for earlier, later in zip(self._files, self._files[1:], strict=False):
            for task in sorted(earlier.tasks.keys() & later.tasks.keys()):
                there, rows = earlier.tasks[task], later.tasks[task]
                named = task_shown(task)[:MAX_SHOWN]
                found = f"{named}: {rows.rows} rows here, and line {there.line} of {earlier.path.name}"
                self._add(later, rows.line, rows.offset, Check("P029", "pivot_info.task", found))
        expected, rows_found = self._options.expect_rows, sum(file.rows for file in self._files)
        if expected is not None:
            self._checked["P028"] = rows_found
            if rows_found != expected:
                found = f"{rows_found} rows, and {expected} were expected"
                self._add(self._files[0], 0, 0, Check("P028", "", found))

    def sample(self) -> tuple[tuple[Path, Drawn], ...]:
        """The rows of the sample, in the order of the dataset."""
        drawn = [
            (each.key, number, each.line, each)
            for number, file in enumerate(self._files)
            for each in file.sample
        ]
        least = sorted(drawn)[: self._options.sample]
        return tuple(
            (self._files[number].path, each) for _, number, _, each in sorted(least, key=lambda x: x[1:3])
        )

    def report(self, path: Path, config_path: str | None, *, has_config: bool) -> ValidationReport:
        kinds = (*ActionKind, *([UNREADABLE] if self._kinds[UNREADABLE] else []))
        rows = sum(file.rows for file in self._files)
        return ValidationReport(
            path=str(path),
            files=tuple(
                ValidatedFile(path=str(file.path), rows=file.rows, lines=file.lines, bytes=file.end)
                for file in self._files
            ),
            config=config_path,
            rows=rows,
            split={name: self._kinds[name] for name in kinds},
            violations=tuple(islice(self._listed(), self._options.max_problems)),
            violation_count=self._violation_count,
            warnings=tuple(self._warnings(rows, has_config=has_config)),
            rules={rule: self._checked[rule] for rule in self._rules},
        )

    def _file_of(self, job: PartJob) -> _File:
        """The file of a job. Parts come in order, so that a new file follows the last one."""
        if self._file_now is None or self._file_now.path != job.path:
            index = 0 if self._file_now is None else self._files.index(self._file_now) + 1
            self._file_now = self._files[index]
            self._rows.start_file()
        return self._file_now

    def _add(self, file: _File, line: int, offset: int, check: Check) -> None:
        self._violation_count += 1
        self._broken[check.rule] += 1
        file.violations.append(Found(line, offset, check))

    def _listed(self) -> Iterator[Violation]:
        for file in self._files:
            for line, offset, check in sorted(file.violations, key=lambda each: each.line):
                yield Violation(
                    rule=check.rule,
                    file=str(file.path),
                    line=line,
                    offset=offset,
                    key=check.key,
                    found=mask_text(check.found or ""),
                    expected=self._rules[check.rule].statement,
                )

    def _warnings(self, rows: int, *, has_config: bool) -> Iterator[str]:
        if not rows:
            yield "the file holds no rows"
        if not has_config:
            skipped = (code for code, rule in self._rules.items() if rule.needs_config)
            yield not_checked(skipped, "no config was given")
        yield from self._unchecked
        for rule in self._rules:
            if rule in self._warned:
                file, (line, _, check) = self._warned[rule]
                name = "" if len(self._files) == 1 else f"{file.path.name} "
                yield (
                    f"{rule} ({self._rules[rule].statement}): broken by {self._broken[rule]} rows, first by "
                    f"{name}line {line}, {check.key}: {mask_text(check.found or '')}"
                )
