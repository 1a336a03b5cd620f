from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gymbal.errors import InputError, UsageError
from gymbal.io import sample_journal
from gymbal.io.profile_file import read_profile, write_profile
from gymbal.io.sample_journal import JournalWriter, read_journal_header, read_samples, read_state
from gymbal.model.profile import (
    JournalHeader,
    PivotProfile,
    ProfileSource,
    Sample,
    SampleFailure,
    SampleStatus,
    Usage,
)

HEADER = JournalHeader(
    model="m", base_url_digest="d", settings={"temperature": 1.0}, config={"threshold": 0.1}, pivots="p"
)


def sample(pivot: str, number: int, reward: float | None = 1.0) -> Sample:
    return Sample(
        pivot=pivot,
        sample=number,
        status=SampleStatus.FAILED if reward is None else SampleStatus.OK,
        reward=reward,
        failure=SampleFailure.TIMEOUT if reward is None else None,
        output=[{"type": "message", "content": "é\n"}],
        usage=Usage(3, 2, 1),
    )


def written(path: Path, *samples: Sample) -> Path:
    with JournalWriter(path, HEADER) as journal:
        for item in samples:
            journal.append(item)
    return path


def test_journal_gives_back_its_samples(tmp_path: Path) -> None:
    samples = (sample("a", 0), sample("a", 1, None), sample("b", 0, 0.5))
    path = written(tmp_path / "j.jsonl", *samples)
    assert read_journal_header(path) == HEADER
    assert tuple(read_samples(path)) == samples


def test_journal_is_appended_to_when_opened_again(tmp_path: Path) -> None:
    path = written(tmp_path / "j.jsonl", sample("a", 0))
    with JournalWriter(path, HEADER) as journal:
        assert [(known.pivot, known.sample) for known in journal.known] == [("a", 0)]
        journal.append(sample("a", 1))
    assert [item.sample for item in read_samples(path)] == [0, 1]


@given(cut=st.integers(min_value=0))
def test_journal_cut_anywhere_loses_at_most_the_torn_line(
    cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = written(tmp_path_factory.mktemp("cut") / "j.jsonl", *(sample("a", n) for n in range(4)))
    whole = path.read_bytes()
    kept = whole[: cut % (len(whole) + 1)]
    path.write_bytes(kept)
    with JournalWriter(path, HEADER) as journal:
        numbers = [known.sample for known in journal.known]
        journal.append(sample("a", 9))
    # A line whose line break alone is missing is whole.
    ends = [i for i in range(1, len(whole)) if whole[i : i + 1] == b"\n"]
    assert numbers == list(range(sum(end <= len(kept) for end in ends[1:])))
    assert [item.sample for item in read_samples(path)] == [*numbers, 9]
    assert path.read_bytes().endswith(b"\n")


def test_journal_with_a_bad_line_in_the_middle_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "j.jsonl", sample("a", 0), sample("a", 1))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b'{"pivot": 3}\n' + lines[2])
    with pytest.raises(InputError, match=r"j\.jsonl:2"):
        read_state(path)
    with pytest.raises(InputError, match=r"j\.jsonl:2"):
        list(read_samples(path))


def test_journal_refuses_another_header(tmp_path: Path) -> None:
    path = written(tmp_path / "j.jsonl", sample("a", 0))
    before = path.read_bytes()
    other = JournalHeader(
        model="other",
        base_url_digest="d",
        settings={"temperature": 1.0},
        config={"threshold": 0.1},
        pivots="p",
    )
    with pytest.raises(UsageError, match="model was 'm', is now 'other'"):
        JournalWriter(path, other)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"some notes", b'{"a": 1}\n', b'{"journal": 99}\n', b"\xff\xfe\n"])
def test_journal_leaves_a_file_that_is_none_as_it_is(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError):
        JournalWriter(path, HEADER)
    assert path.read_bytes() == content


def test_journal_has_one_writer_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with JournalWriter(path, HEADER), pytest.raises(UsageError, match="another process"):
        JournalWriter(path, HEADER)
    with JournalWriter(path, HEADER):
        pass


def test_journal_of_a_disk_that_keeps_nothing_is_an_input_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def fail_once(file: int) -> None:
        asked.append(file)
        if len(asked) == 1:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(sample_journal, "SYNC_SECONDS", 0.0)
    monkeypatch.setattr(os, "fsync", fail_once)
    # A disk tells of a failure once; the journal says so however often it is asked again.
    with pytest.raises(InputError, match="cannot be written: Input/output error"):
        written(tmp_path / "j.jsonl", sample("a", 0))
    assert len(asked) == 2


def test_journal_does_not_wait_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    may_end = threading.Event()
    monkeypatch.setattr(sample_journal, "SYNC_SECONDS", 0.0)
    monkeypatch.setattr(os, "fsync", lambda file: may_end.wait(10))
    with JournalWriter(tmp_path / "j.jsonl", HEADER) as journal:
        for number in range(20):
            journal.append(sample("a", number))
        assert len(list(read_samples(tmp_path / "j.jsonl"))) == 20
        may_end.set()


def test_journal_in_a_folder_that_is_not_there_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        JournalWriter(tmp_path / "no" / "j.jsonl", HEADER)


def test_journal_is_never_a_device() -> None:
    with pytest.raises(InputError, match="is not a file"):
        JournalWriter(Path("/dev/null"), HEADER)


def test_profile_file_gives_back_its_profiles(tmp_path: Path) -> None:
    profiles = [
        PivotProfile(
            pivot="a", k=2, rewards=(0.0, 1.0), mean=0.5, failed=1, asked=3, source=ProfileSource.SAMPLED
        ),
        PivotProfile(pivot="b", k=None, rewards=None, mean=0.25, source=ProfileSource.PASS_RATE),
    ]
    path = tmp_path / "profile.jsonl"
    write_profile(path, profiles)
    assert list(read_profile(path)) == profiles


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"pivot":"a","k":1,"rewards":[1.0],"mean":2.0,"source":"gym"}', "from 0 to 1"),
        ('{"pivot":"a","k":3,"rewards":[1.0],"mean":1.0,"source":"gym"}', "1 rewards"),
        ('{"pivot":"a"}', "no profile"),
        ("[" * 100_000, "no profile"),
    ],
)
def test_profile_file_with_impossible_numbers_is_refused(line: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "profile.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(InputError, match=said):
        list(read_profile(path))


@pytest.mark.parametrize(
    ("rewards", "mean", "mixed"),
    [((0.0, 0.0), 0.0, False), ((0.5, 0.5), 0.5, False), ((0.0, 1.0), 0.5, True), (None, 0.5, True)],
)
def test_profile_is_mixed_when_rewards_differ(
    rewards: tuple[float, ...] | None, mean: float, mixed: bool
) -> None:
    k = None if rewards is None else len(rewards)
    profile = PivotProfile(pivot="a", k=k, rewards=rewards, mean=mean, source=ProfileSource.GYM)
    assert profile.is_mixed is mixed
