"""The journal of a profile: samples of a policy, one line each, appended as they come and never changed.

A killed writer leaves at most one torn last line: a reader passes over it, and the next writer cuts it off.
A line goes to the operating system in one piece before the sample counts as done, so that no kill of the
process loses it. The disk is asked to keep it every `SYNC_SECONDS` and at the end: a power failure can cost
the samples since then, which are asked again. A disk takes its time to answer, so a thread waits for it while
the policy is asked for more.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import msgspec

from gymbal.errors import InputError, UsageError, unwritable
from gymbal.io.jsonl import Line, read_lines
from gymbal.model.profile import JOURNAL_VERSION, JournalHeader, Sample, SampleFailure, SampleStatus, Usage

SYNC_SECONDS = 1.0

MAX_HEADER_BYTES = 1024 * 1024
HEADER_START = b'{"journal":'

_encode = msgspec.json.Encoder().encode
_decode_header = msgspec.json.Decoder(JournalHeader).decode
_decode_sample = msgspec.json.Decoder(Sample).decode


class KnownSample(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What resuming and counting need of a sample; the answer itself stays in the file."""

    pivot: str
    sample: int
    status: SampleStatus
    reward: float | None = None
    category: str | None = None
    truncated: bool = False
    failure: SampleFailure | None = None
    attempts: int = 1
    usage: Usage = Usage()


_decode_known = msgspec.json.Decoder(KnownSample).decode


class JournalState(NamedTuple):
    """A journal as it was found."""

    header: JournalHeader
    samples: tuple[KnownSample, ...]
    """In file order. A sample that failed in one run and was answered in the next has a line of each."""
    torn_at: int | None
    """Where a torn last line begins, in bytes from the start."""
    is_terminated: bool
    """Whether the last whole line has its line break."""


def read_journal_header(path: Path) -> JournalHeader:
    """Read the first line. Raises InputError when `path` cannot be read or is no journal."""
    return _header(next(read_lines(path), None), path)


def read_samples(path: Path) -> Iterator[Sample]:
    """Yield the samples of a journal in the order in which they were finished, with their answers.

    Raises InputError when `path` is no journal or a line other than a torn last one is no sample.
    """
    lines = read_lines(path)
    _header(next(lines, None), path)
    for line in lines:
        try:
            yield _decode_sample(line.data)
        except (msgspec.DecodeError, RecursionError) as error:
            _refuse_unless_torn(line, error, path)


def read_state(path: Path) -> JournalState:
    """Read all that is needed to go on with a journal; raises as `read_samples` does."""
    lines = read_lines(path)
    first = next(lines, None)
    header = _header(first, path)
    is_terminated = first is not None and first.is_terminated
    samples = []
    for line in lines:
        try:
            samples.append(_decode_known(line.data))
        except (msgspec.DecodeError, RecursionError) as error:
            _refuse_unless_torn(line, error, path)
            return JournalState(header, tuple(samples), line.offset, True)
        is_terminated = line.is_terminated
    return JournalState(header, tuple(samples), None, is_terminated)


def _header(line: Line | None, path: Path) -> JournalHeader:
    try:
        if line is None:
            raise InputError("is empty, not a journal of samples", path=path)
        header = _decode_header(line.data)
    except (msgspec.DecodeError, RecursionError) as error:
        problem = f"is no journal of samples: its first line is no header ({error})"
        raise InputError(problem, path=path, line=1) from error
    if header.journal != JOURNAL_VERSION:
        problem = f"is a journal of version {header.journal}; this gymbal reads version {JOURNAL_VERSION}"
        raise InputError(problem, path=path, line=1)
    return header


def _refuse_unless_torn(line: Line, error: Exception, path: Path) -> None:
    if line.is_terminated:
        raise InputError(f"is no sample: {error}", path=path, line=line.number, offset=line.offset) from error


class JournalWriter:
    """Appends samples to one journal; a context, at whose end the disk has them all."""

    def __init__(self, path: Path, header: JournalHeader) -> None:
        """Make `path` with `header`, or go on with the journal that is there; `known` is what it holds.

        Raises UsageError when it was written with another header or another process writes it, InputError
        when it cannot be read or written.
        """
        self.path = path
        self.known: tuple[KnownSample, ...] = ()
        if path.exists() and not path.is_file():
            raise InputError("cannot be written: is not a file", path=path)
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise unwritable(path, error) from error
        try:
            self._lock()
            self._begin(header)
        except BaseException:
            os.close(self._file)
            raise
        self._synced = time.monotonic()
        self._syncing: threading.Thread | None = None
        self._unsynced: OSError | None = None

    def append(self, sample: Sample) -> None:
        """Append one finished sample. Raises InputError when the disk is full or gone."""
        self._write(_encode(sample) + b"\n")
        now = time.monotonic()
        if now - self._synced >= SYNC_SECONDS and not (self._syncing and self._syncing.is_alive()):
            self._check_synced()
            self._synced = now
            self._syncing = threading.Thread(target=self._sync)
            self._syncing.start()

    def __enter__(self) -> JournalWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._syncing is not None:
                self._syncing.join()
            self._sync()
            self._check_synced()
        finally:
            os.close(self._file)

    def _lock(self) -> None:
        """Keep others out: two writers would ask the same samples twice. The lock ends with the process."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UsageError(f"{self.path} is being written by another process") from error

    def _begin(self, header: JournalHeader) -> None:
        if _is_torn_header(self._file):
            self._cut(0)
            self._write(_encode(header) + b"\n")
            return
        state = read_state(self.path)
        _refuse_other_header(state.header, header, self.path)
        self.known = state.samples
        if state.torn_at is not None:
            self._cut(state.torn_at)
        elif not state.is_terminated:
            self._write(b"\n")

    def _cut(self, size: int) -> None:
        try:
            os.ftruncate(self._file, size)
        except OSError as error:
            raise unwritable(self.path, error) from error

    def _write(self, record: bytes) -> None:
        data = memoryview(record)
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            raise unwritable(self.path, error) from error

    def _sync(self) -> None:
        try:
            os.fsync(self._file)
        except OSError as error:
            # The kernel tells of a failure once: it is kept, whatever a later call says.
            self._unsynced = self._unsynced or error

    def _check_synced(self) -> None:
        if self._unsynced is not None:
            raise unwritable(self.path, self._unsynced) from self._unsynced


def _is_torn_header(file: int) -> bool:
    """Whether the file is empty, or a kill left only the beginning of its first line: it holds no sample."""
    start = os.pread(file, MAX_HEADER_BYTES, 0)
    return not start or (b"\n" not in start and start.startswith(HEADER_START[: len(start)]))


def _refuse_other_header(found: JournalHeader, wanted: JournalHeader, path: Path) -> None:
    """Samples asked in two ways are no group: raise UsageError naming what differs."""
    differing = [
        f"{name} was {getattr(found, name)!r}, is now {getattr(wanted, name)!r}"
        for name in JournalHeader.__struct_fields__
        if getattr(found, name) != getattr(wanted, name)
    ]
    if differing:
        raise UsageError(
            f"{path} holds samples that were asked otherwise: {'; '.join(differing)}",
            remedy="Ask as before to go on with it, or name another output.",
        )
