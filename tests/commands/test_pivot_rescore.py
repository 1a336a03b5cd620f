"""Samples under two settings. All counts follow from the word overlaps that stand beside the texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from json_rows import write_encoded
from recorded_searches import answered, failed, gym_config, row, search, write_journal, write_run

from gymbal.commands.open_pivots import open_pivots
from gymbal.commands.pivot_index import pivot_index
from gymbal.commands.pivot_rescore import pivot_rescore
from gymbal.errors import InputError, UsageError
from gymbal.model.profile import SampleFailure
from gymbal.model.rescore import Direction, FlipGroup, RescoreReport, SamplesKind, SettingsSource

EXAMPLES = Path(__file__).parents[2] / "examples"

EXPECTED = "cheap flights to Oslo"
SHORTER = "cheap flights Oslo"  # 3 common of 4 + 3 words: 0.43
OTHER = "a hotel near Oslo"  # 1 common of 4 + 4 words: 0.125
WRONG = "weather tomorrow please"  # nothing in common

P0, P1, P2 = (row(number, search(q=EXPECTED)) for number in range(3))


@pytest.fixture
def pivots(tmp_path: Path) -> Path:
    return write_encoded(tmp_path / "pivots.jsonl", [P0, P1, P2, row(3, search(q="x"))])


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Rewards at 0.1: p0 1 1, p1 1 0, p2 1 1 with one failure."""
    samples = [
        answered(P0, 0, [search(q=EXPECTED)]),
        answered(P0, 1, [search(q=OTHER)]),
        answered(P1, 0, [search(q=OTHER)]),
        answered(P1, 1, [search(q=WRONG)]),
        answered(P2, 0, [search(q=SHORTER)]),
        answered(P2, 1, [search(q=EXPECTED)]),
        failed("p2", 2, SampleFailure.TIMEOUT),
    ]
    return write_journal(tmp_path / "profile.samples.jsonl", samples)


def rescored(samples: Path, pivots: Path, **options: Any) -> RescoreReport:
    return pivot_rescore(samples, pivots=pivots, **options)


def stricter(journal: Path, pivots: Path) -> RescoreReport:
    return rescored(journal, pivots, options={"word_count_similarity_threshold": 0.2})


def test_rescore_counts_what_changes(journal: Path, pivots: Path) -> None:
    report = stricter(journal, pivots)
    assert (report.kind, report.pivots) == (SamplesKind.JOURNAL, 4)
    assert (report.samples.read, report.samples.rescored) == (7, 6)
    assert report.samples.left_out == {"timeout": 1}
    # OTHER has 0.125: its two samples fall, and nothing rises.
    assert (report.rewards.same, report.rewards.up, report.rewards.down) == (4, 0, 2)
    assert report.rewards.mean_before == pytest.approx(5 / 6)
    assert report.rewards.mean_after == pytest.approx(3 / 6)
    assert [(c.option, c.before, c.after) for c in report.changes] == [
        ("word_count_similarity_threshold", 0.1, 0.2)
    ]


def test_rescore_counts_pivots_that_enter_and_leave_the_mixed_band(journal: Path, pivots: Path) -> None:
    moves = stricter(journal, pivots).pivot_moves
    # p0 goes from 1 1 to 1 0, p1 from 1 0 to 0 0, p2 stays 1 1, p3 has no sample.
    assert {(m.before, m.after): m.pivots for m in moves.moves} == {
        ("all_one", "mixed"): 1,
        ("mixed", "all_zero"): 1,
        ("all_one", "all_one"): 1,
        ("unknown", "unknown"): 1,
    }
    assert (moves.with_samples, moves.entering, moves.leaving) == (3, 1, 1)
    assert moves.entering_share == moves.leaving_share == pytest.approx(1 / 3)


def test_rescore_lists_the_pairs_that_flip(journal: Path, pivots: Path) -> None:
    (group,) = stricter(journal, pivots).flips
    assert (group.direction, group.tool, group.argument) == (Direction.DOWN, "search", "arguments.q")
    assert (group.rule, group.samples, group.pivots, group.different_pairs) == ("word overlap", 2, 2, 1)
    (pair,) = group.pairs
    assert (pair.expected, pair.actual) == (f'"{EXPECTED}"', f'"{OTHER}"')
    assert (pair.reward_before, pair.reward_after, pair.samples) == (1.0, 0.0, 2)
    assert pair.detail == "1 common words / (4 + 4) = 0.125, at least 0.2"


def test_rescore_quotes_no_secret(tmp_path: Path) -> None:
    # 1 common of 4 + 4 words: 0.125, as with OTHER.
    pivot = row(0, search(q="flights Oslo Bearer FAKEsecret1"))
    samples = [answered(pivot, 0, [search(q="hotel near Oslo token=FAKEsecret2")])]
    pivots = write_encoded(tmp_path / "pivots.jsonl", [pivot])
    (group,) = stricter(write_journal(tmp_path / "profile.samples.jsonl", samples), pivots).flips
    (pair,) = group.pairs
    assert (pair.expected, pair.actual) == ('"flights Oslo Bearer ****"', '"hotel near Oslo token=****"')


def test_rescore_explains_a_rise_by_what_failed_before(journal: Path, pivots: Path) -> None:
    report = rescored(
        journal, pivots, options={"argument_filters": {"search": {"included_argument_names": []}}}
    )
    (group,) = report.flips
    # Only WRONG had failed; with an empty filter nothing is compared but the tool.
    assert (group.direction, group.samples, group.pairs[0].actual) == (Direction.UP, 1, f'"{WRONG}"')
    assert group.pairs[0].detail == "0 common words / (4 + 3) = 0, at least 0.1"


def groups(samples: Path, pivots: Path, options: dict[str, Any]) -> list[FlipGroup]:
    return list(rescored(samples, pivots, options=options).flips)


def test_rescore_groups_by_place_and_puts_the_most_frequent_first(tmp_path: Path) -> None:
    tags = row(0, search(tags=["a", "b"]))
    pair = row(1, search(q="x y"), search(q="y z"))
    pivots = write_encoded(tmp_path / "pivots.jsonl", [tags, pair])
    half = [search(q="x y"), search(q="y y y y y y")]  # "y z": 1 of 2 + 6 words, 0.125
    samples = [
        answered(tags, 0, [search(tags=["b", "a"])]),
        answered(tags, 1, [search(tags=["b", "a"])]),
        answered(tags, 2, [search(tags=["a", "c"])]),
        answered(pair, 0, half),
    ]
    journal = write_journal(tmp_path / "j.samples.jsonl", samples)
    # In any order [b, a] is [a, b]; [a, c] has F1 1/2, which is the threshold.
    up = groups(journal, pivots, {"use_f1_for_list": True})
    assert [(g.argument, g.rule, g.samples, g.different_pairs) for g in up] == [
        ("arguments.tags[]", "exact text", 3, 2)
    ]
    assert [(pair.expected, pair.actual, pair.samples) for pair in up[0].pairs] == [
        ('"a"', '"b"', 2),
        ('"b"', '"c"', 1),
    ]
    # A batch names the tool of the call that failed.
    (down,) = groups(journal, pivots, {"word_count_similarity_threshold": 0.2})
    assert (down.tool, down.argument, down.direction) == ("search", "arguments.q", Direction.DOWN)


def test_rescore_pairs_the_calls_of_a_batch_that_matched_each_other(tmp_path: Path) -> None:
    pivot = row(0, search(q="a b"), search(q="c d"))
    pivots = write_encoded(tmp_path / "pivots.jsonl", [pivot])
    # At 0.1 "c d" matches "c x y" (1 of 5 words, 0.2), and "a b" itself, which comes first. At 0.3 "c d" is
    # without a partner; it is the third answer that it lost, not the first one that it is unlike.
    said = [search(q="a b"), search(q="z z"), search(q="c x y")]
    journal = write_journal(tmp_path / "j.samples.jsonl", [answered(pivot, 0, said)])
    (group,) = groups(journal, pivots, {"word_count_similarity_threshold": 0.3})
    assert (group.pairs[0].expected, group.pairs[0].actual) == ('"c d"', '"c x y"')


def test_rescore_tells_another_worth_from_another_match(tmp_path: Path) -> None:
    pivot = row(0, search(q="x"), search(q="y"))
    pivots = write_encoded(tmp_path / "pivots.jsonl", [pivot])
    journal = write_journal(
        tmp_path / "j.samples.jsonl", [answered(pivot, 0, [search(q="x"), search(q="z")])]
    )
    options = {"parallel_tool_call_rewarding": True, "parallel_tool_call_reward_mode": "fractional"}
    (group,) = groups(journal, pivots, options)
    # One of two calls matches both times; it was worth nothing and is worth 1 / 2.
    assert (group.tool, group.argument, group.rule) == (None, "expected_action", "matched calls")
    assert (group.pairs[0].reward_before, group.pairs[0].reward_after) == (0.0, 0.5)
    assert group.pairs[0].detail.endswith("and 1 / 2")


def test_rescore_lists_no_more_pairs_than_asked_and_counts_all(tmp_path: Path) -> None:
    pivot = row(0, search(q="a b"))
    samples = [answered(pivot, n, [search(q=f"a c{n}")]) for n in range(9)]  # 1 of 4 words: 0.25
    pivots = write_encoded(tmp_path / "pivots.jsonl", [pivot])
    journal = write_journal(tmp_path / "j.samples.jsonl", samples)
    (group,) = rescored(journal, pivots, options={"word_count_similarity_threshold": 0.3}, most_pairs=2).flips
    assert (len(group.pairs), group.different_pairs, group.samples) == (2, 9, 9)


def test_rescore_under_the_same_settings_changes_nothing(journal: Path, pivots: Path) -> None:
    report = rescored(journal, pivots, options={"word_count_similarity_threshold": 0.1})
    assert (report.changes, report.flips) == ((), ())
    assert (report.recorded.agree, report.recorded.differ, report.before_from) == (
        6,
        0,
        SettingsSource.JOURNAL,
    )


def test_rescore_takes_new_settings_from_a_gym_config_with_options_over_it(
    journal: Path, pivots: Path, tmp_path: Path
) -> None:
    config = gym_config(tmp_path / "new.yaml", word_count_similarity_threshold=0.2)
    assert rescored(journal, pivots, config=config).rewards.down == 2
    over = rescored(journal, pivots, config=config, options={"word_count_similarity_threshold": 0.1})
    assert over.rewards.down == 0


def test_rescore_takes_settings_before_from_the_dataset_folder(journal: Path, tmp_path: Path) -> None:
    folder = tmp_path / "dataset"
    folder.mkdir()
    write_encoded(folder / "pivots.jsonl", [P0, P1, P2])
    gym_config(folder / "config.yaml")
    by_server = {"one": {"word_count_similarity_threshold": 0.1}, "two": {}}
    several = write_journal(
        tmp_path / "several.samples.jsonl", [answered(P0, 0, [search(q=OTHER)])], by_server
    )
    report = rescored(several, folder, options={"word_count_similarity_threshold": 0.2})
    assert (report.before_from, report.rewards.down) == (SettingsSource.CONFIG, 1)
    with pytest.raises(UsageError, match="scored by several resources servers"):
        rescored(several, folder / "pivots.jsonl", options={"word_count_similarity_threshold": 0.2})


def test_rescore_says_when_the_settings_before_are_not_those_that_scored(
    journal: Path, pivots: Path, tmp_path: Path
) -> None:
    before = gym_config(tmp_path / "before.yaml", word_count_similarity_threshold=0.2)
    report = rescored(journal, pivots, before=before, options={"keep_quotes": True})
    # The two samples of OTHER were recorded with 1.
    assert (report.recorded.agree, report.recorded.differ) == (4, 2)
    assert report.notes[0].startswith("2 recorded rewards are not those of the settings before")


def test_rescore_says_when_labels_become_unwinnable(journal: Path, pivots: Path) -> None:
    # Equal texts of two words or more have 0.5; p3 expects one word.
    report = rescored(journal, pivots, options={"word_count_similarity_threshold": 0.6})
    assert (report.labels.below_one_before, report.labels.below_one_after) == (0, 3)
    assert any(note.startswith("3 labels score below 1 against themselves") for note in report.notes)


def test_rescore_passes_the_row_its_tools(journal: Path, pivots: Path) -> None:
    extra = answered(P0, 5, [search(q=EXPECTED, page=1)])
    samples = write_journal(journal.with_name("extra.samples.jsonl"), [extra])
    report = rescored(samples, pivots, options={"validate_against_declared_tool_schema": True})
    # Reward 0 both times, for other reasons: no flip.
    assert (report.rewards.same, report.flips) == (1, ())


def test_rescore_accounts_for_every_sample_that_it_leaves_out(tmp_path: Path, pivots: Path) -> None:
    endless = search(q=EXPECTED) | {"arguments": '{"q": ' + "9" * 5000 + "}"}
    samples = [
        answered(P0, 0, [search(q=EXPECTED)]),
        answered(P0, 0, [search(q=EXPECTED)]),
        failed("p0", 1, SampleFailure.RATE_LIMITED),
        answered(P0, 1, [search(q=EXPECTED)]),
        failed("p0", 2, None),
        answered(row(9, search(q="x")), 0, [search(q="x")]),
    ]
    unscorable = msgspec.structs.replace(failed("p1", 3, SampleFailure.UNSCORABLE), output=[endless])
    journal = write_journal(tmp_path / "j.samples.jsonl", [*samples, unscorable])
    report = stricter(journal, pivots)
    assert report.samples.left_out == {
        "answer_unscorable": 1,
        "failed": 1,
        "other_pivot": 1,
        "repeated": 1,
    }
    assert report.samples.read == report.samples.rescored + sum(report.samples.left_out.values()) == 6


def test_rescore_reads_gym_rollouts_through_their_pairs_of_numbers(tmp_path: Path, pivots: Path) -> None:
    # The same pivot twice: rollouts are joined by both numbers, and by what the row says.
    run = write_run(
        tmp_path / "run",
        [
            (P1, [search(q=OTHER)], 1.0),
            (P0, [search(q=EXPECTED)], 1.0),
            (P1, [search(q=WRONG)], 0.0),
        ],
    )
    report = stricter(run, pivots)
    assert (report.kind, report.before_from) == (SamplesKind.GYM, SettingsSource.STOCK)
    assert (report.samples.rescored, report.recorded.agree) == (3, 3)
    assert {(m.before, m.after): m.pivots for m in report.pivot_moves.moves} == {
        ("all_one", "all_one"): 1,
        ("mixed", "all_zero"): 1,
        ("unknown", "unknown"): 2,
    }
    assert report.notes == (
        "Nothing says which settings gave the recorded rewards; those of Gym's stock config agree.",
    )


def test_rescore_refuses_what_cannot_be_joined(tmp_path: Path, journal: Path, pivots: Path) -> None:
    others = write_encoded(tmp_path / "others.jsonl", [row(7, search(q="x"))])
    with pytest.raises(InputError, match="none of its 6 answers is of one of the pivots"):
        stricter(journal, others)
    with pytest.raises(UsageError, match="no other settings are given"):
        rescored(journal, pivots)
    with pytest.raises(UsageError, match="'threshold' is not an option"):
        rescored(journal, pivots, options={"threshold": 0.2})
    with pytest.raises(InputError):
        stricter(tmp_path / "nowhere", pivots)


def test_rescore_takes_an_index_for_the_rows(tmp_path: Path) -> None:
    index = tmp_path / "tool_use.index.jsonl"
    pivot_index(EXAMPLES / "rollouts" / "tool_use.rollouts.jsonl", index, name="tool_use")
    samples = EXAMPLES / "pivots" / "rated.samples.jsonl"
    options = {"word_count_similarity_threshold": 0.35}
    by_rows, by_index = (
        rescored(samples, pivots, options=options) for pivots in (EXAMPLES / "pivots" / "rated.jsonl", index)
    )
    assert by_index.flips == by_rows.flips
    assert by_index.pivot_moves == by_rows.pivot_moves
    # The index is another file than the one that the journal's first line names.
    assert by_index.notes == (
        "The journal is of another file than these pivots; samples were joined by the pivots' ids.",
    )


def test_rescore_takes_the_threshold_of_an_index_for_the_settings_before(tmp_path: Path) -> None:
    source = EXAMPLES / "rollouts" / "tool_use.rollouts.jsonl"
    index = tmp_path / "tool_use.index.jsonl"
    pivot_index(source, index, name="tool_use", threshold=0.3)
    first = next(iter(open_pivots(index)))
    asked = {"pivot_info": {"uuid": first.id}, "expected_action": {}, "responses_create_params": {}}
    run = write_run(tmp_path / "run", [(asked, [search(q="x")], 0.0)])
    report = rescored(run, index, options={"keep_quotes": True})
    assert report.before_from is SettingsSource.INDEX
    assert report.before == {"word_count_similarity_threshold": 0.3}
