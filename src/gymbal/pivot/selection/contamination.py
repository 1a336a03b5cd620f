"""Finds pivots that share a task with an evaluation: by the same opening request, or by words in a row.

Only what users say is compared. System prompts, tools and tool results are the same by design where a
policy is trained for the environment that it is evaluated in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from gymbal.errors import InputError
from gymbal.io.fingerprint import digest
from gymbal.model.selection import AvoidedFile, Overlap
from gymbal.pivot.selection.evaluation_file import EvaluationRecord, read_evaluation
from gymbal.pivot.selection.state import RowText, run_hashes, words_of

LEAST_OPENING_WORDS = 5
"""A shorter opening, such as a greeting, is no task. Real tasks of six words are known."""

COMMON_RECORDS, COMMON_SHARE = 3, 0.1
"""Words in a row that so many records, and such a share of them, have are the benchmark's own wording."""

MOST_RUNS = 5_000_000
"""Runs of words that are held, in about 0.6 GB: as many as the users of all avoided tasks say words."""

MOST_LISTED = 20
"""Overlaps that the metrics list; all are in the list of pivots that were not selected."""

MOST_REMEMBERED = 100_000

OPENING = "opening"


class Match(NamedTuple):
    """The evaluation record that a row shares a task with."""

    file: int
    """Position among the avoided files."""
    line: int
    by: str
    """`OPENING`, or the shared words."""


class _Place(NamedTuple):
    file: int
    line: int


class Avoided:
    """The tasks of evaluation files, and which pivots were found to share one."""

    def __init__(self, files: Sequence[Path], words: int) -> None:
        """Read the files; raise InputError for one that cannot be read or holds no text."""
        self._files = files
        self._words = words
        self._openings: dict[str, _Place] = {}
        self._runs: dict[int, int] = {}
        self._places: list[_Place] = []
        self._records = [0] * len(files)
        self._short = [0] * len(files)
        self._found: list[Counter[str]] = [Counter() for _ in files]
        self._looked_up: dict[str, Match | None] = {}
        self.overlaps: list[Overlap] = []
        common: Counter[int] = Counter()
        for number, path in enumerate(files):
            for record in read_evaluation(path):
                self._add(record, number, common)
            if not self._records[number]:
                raise InputError("holds no record with text", path=path)
        self._forget_common(common)

    def match(self, identity: str, text: RowText) -> Match | None:
        """The first record that shares a task with the row of pivot `identity`, counted; None without one."""
        found = self._by_opening(text.opening)
        if found is None:
            found = next((match for said in text.user if (match := self._by_words(said))), None)
        if found is not None:
            self._found[found.file][OPENING if found.by == OPENING else "words"] += 1
            if len(self.overlaps) < MOST_LISTED:
                file = str(self._files[found.file])
                self.overlaps.append(Overlap(pivot=identity, file=file, line=found.line, by=found.by))
        return found

    def place_of(self, match: Match) -> str:
        """File and line of the record."""
        return f"{self._files[match.file]}:{match.line}"

    def files(self) -> tuple[AvoidedFile, ...]:
        """What was found of each file so far."""
        return tuple(
            AvoidedFile(
                path=str(path),
                records=self._records[number],
                too_short=self._short[number],
                by_opening=self._found[number][OPENING],
                by_words=self._found[number]["words"],
            )
            for number, path in enumerate(self._files)
        )

    def _add(self, record: EvaluationRecord, file: int, common: Counter[int]) -> None:
        self._records[file] += 1
        place = _Place(file, record.line)
        opening = words_of(record.opening)
        key = _key(opening)
        if key in self._openings:
            return  # an attempt at a task that is known
        is_long = len(opening) >= LEAST_OPENING_WORDS
        if is_long:
            self._openings[key] = place
        runs = {run for text in record.texts for run in run_hashes(words_of(text), self._words)}
        if not runs and not is_long:
            self._short[file] += 1
            return
        if len(self._runs) + len(runs) > MOST_RUNS:
            problem = f"the evaluation files have more than {MOST_RUNS} runs of {self._words} words"
            raise InputError(problem, path=self._files[file])
        self._places.append(place)
        number = len(self._places) - 1
        common.update(run for run in runs if self._runs.setdefault(run, number) != number)

    def _forget_common(self, common: Counter[int]) -> None:
        most = max(COMMON_RECORDS - 1, COMMON_SHARE * len(self._places))
        for run, again in common.items():
            if again + 1 > most:
                del self._runs[run]

    def _by_opening(self, opening: str) -> Match | None:
        words = words_of(opening)
        place = self._openings.get(_key(words)) if len(words) >= LEAST_OPENING_WORDS else None
        return None if place is None else Match(place.file, place.line, OPENING)

    def _by_words(self, text: str) -> Match | None:
        """Rows of one trajectory repeat what its user said: each text is looked through once."""
        key = digest(text.encode("utf-8", "surrogatepass"))
        if key not in self._looked_up:
            if len(self._looked_up) >= MOST_REMEMBERED:
                self._looked_up.clear()
            self._looked_up[key] = self._look_through(words_of(text))
        return self._looked_up[key]

    def _look_through(self, words: list[str]) -> Match | None:
        for start, run in enumerate(run_hashes(words, self._words)):
            number = self._runs.get(run)
            if number is not None:
                place = self._places[number]
                return Match(place.file, place.line, " ".join(words[start : start + self._words]))
        return None


def _key(words: Iterable[str]) -> str:
    return digest(" ".join(words).encode("utf-8", "surrogatepass"))
