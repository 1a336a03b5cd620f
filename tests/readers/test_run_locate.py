"""Finding a run: folders, files, patterns, submitted jobs, and the choices left to the caller."""

import json
from pathlib import Path

import pytest
from run_builder import lines, rollout_row, write_file, write_run

from gymbal.errors import InputError, UsageError
from gymbal.model.run import ProblemKind
from gymbal.readers.run import read_run
from gymbal.readers.run.locate import locate


def write_job(folder: Path, *benchmarks: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    record = {"gym_job_id": folder.name, "gym_commit": "a" * 40, "schema_version": 1}
    (folder / "gym-job.json").write_text(json.dumps(record))
    for benchmark in benchmarks:
        (folder / benchmark).mkdir(exist_ok=True)
        (folder / benchmark / "job.sh").write_text("echo\n")
    return folder


def test_locate_finds_a_stem_by_content_and_leaves_other_files_alone(tmp_path: Path) -> None:
    write_run(tmp_path, stem="gpqa")
    for name in ("inputs.jsonl", "train_prepare.jsonl", "manifest.jsonl", "0-0.capture.jsonl"):
        (tmp_path / name).write_text('{"question": "?"}\n')
    (tmp_path / "rollout_verdicts.jsonl").write_text("")
    (tmp_path / "gpqa_reward_profiling.jsonl").write_text('{"reward": 1}\n')
    (tmp_path / ".gpqa.jsonl.migrate-1").write_text("")
    files = locate(tmp_path)
    assert [stem.stem for stem in files.stems] == ["gpqa"]


def test_locate_takes_an_empty_rollouts_file_that_has_companions(tmp_path: Path) -> None:
    write_file(tmp_path / "night.jsonl", b"")
    write_file(tmp_path / "night_failures.jsonl", b"")
    run = read_run(tmp_path)
    assert run.stems == ("night",)
    assert [problem.kind for problem in run.problems] == [ProblemKind.NO_ROLLOUTS]


def test_locate_takes_the_prefix_of_reverify_for_a_part_of_the_stem(tmp_path: Path) -> None:
    write_run(tmp_path, stem="unsafe_rollouts", with_inputs=False)
    assert read_run(tmp_path).stems == ("unsafe_rollouts",)


def test_locate_asks_to_choose_between_stems(tmp_path: Path) -> None:
    write_run(tmp_path, stem="easy")
    write_run(tmp_path, stem="hard")
    with pytest.raises(UsageError, match="2 rollouts files: easy, hard") as caught:
        read_run(tmp_path)
    assert f"{tmp_path}/easy.jsonl, {tmp_path}/hard.jsonl" in str(caught.value.remedy)
    assert read_run(tmp_path / "hard.jsonl").stems == ("hard",)


def test_locate_takes_a_companion_for_its_stem(tmp_path: Path) -> None:
    write_run(tmp_path, stem="easy")
    write_run(tmp_path, stem="hard", reward=lambda task, repeat: 0.0)
    run = read_run(tmp_path / "hard_aggregate_metrics.json")
    assert run.stems == ("hard",)
    assert {row.reward for row in run.rollouts} == {0.0}


def test_locate_takes_a_rollouts_file_of_any_suffix(tmp_path: Path) -> None:
    path = write_run(tmp_path)
    odd = path.rename(tmp_path / "rollouts.json")
    run = read_run(odd)
    assert (len(run.rollouts), len(run.planned or ())) == (6, 6)


def test_locate_refuses_two_versions_of_one_file(tmp_path: Path) -> None:
    write_run(tmp_path)
    write_run(tmp_path, suffix=".gz")
    with pytest.raises(UsageError, match="the same file of one run"):
        read_run(tmp_path)


def test_locate_merges_the_shards_of_a_pattern(tmp_path: Path) -> None:
    write_run(tmp_path, stem="shard-0", tasks=2, with_metrics=False, failed={(0, 0): "judge_failed"})
    write_run(tmp_path, stem="shard-1", tasks=2, first_task=2, with_metrics=False)
    run = read_run(f"{tmp_path}/shard-*.jsonl")
    assert run.stems == ("shard-0", "shard-1")
    assert (len(run.rollouts), len(run.planned or ()), len(run.failures)) == (7, 8, 1)
    assert {row.file for row in run.rollouts} == {"shard-0.jsonl", "shard-1.jsonl"}
    problem = run.problems[0]
    assert problem.kind is ProblemKind.NO_METRICS
    assert "2 shards have no common metrics" in problem.detail


def test_locate_merges_shards_of_several_folders(tmp_path: Path) -> None:
    write_run(tmp_path / "a", tasks=1, with_metrics=False)
    write_run(tmp_path / "b", tasks=1, first_task=1, with_metrics=False)
    run = read_run(f"{tmp_path}/*/rollouts.jsonl")
    assert run.stems == ("a/rollouts", "b/rollouts")
    assert [row.file for row in run.rollouts] == ["a/rollouts.jsonl"] * 2 + ["b/rollouts.jsonl"] * 2


def test_locate_says_when_the_numbers_of_shards_overlap(tmp_path: Path) -> None:
    write_file(tmp_path / "shard-0.jsonl", lines([rollout_row(0, 0)]))
    other = rollout_row(1, 0, _ng_task_index=0)
    write_file(tmp_path / "shard-1.jsonl", lines([other]))
    run = read_run(f"{tmp_path}/shard-?.jsonl")
    (problem,) = (p for p in run.problems if p.kind is ProblemKind.DUPLICATE_KEY)
    assert "with different prompts" in problem.detail


def test_locate_does_not_know_the_plan_of_shards_when_one_is_gone(tmp_path: Path) -> None:
    write_run(tmp_path, stem="shard-0", with_metrics=False)
    write_run(tmp_path, stem="shard-1", first_task=3, with_metrics=False, with_inputs=False)
    assert read_run(f"{tmp_path}/shard-?.jsonl").planned is None


def test_locate_refuses_a_pattern_without_rollouts(tmp_path: Path) -> None:
    write_run(tmp_path)
    with pytest.raises(InputError, match="matches 1 files, none of them rollouts"):
        read_run(f"{tmp_path}/*_failures.jsonl")
    with pytest.raises(InputError, match="matches nothing"):
        read_run(f"{tmp_path}/*.none")


def test_locate_reads_the_benchmark_of_a_submitted_job(tmp_path: Path) -> None:
    job = write_job(tmp_path / "gym-job-1", "gpqa", "aime25")
    write_run(job / "gpqa" / "artifacts")
    for place in (job, job / "gpqa", job / "gpqa" / "artifacts", job / "gym-job.json"):
        run = read_run(place)
        assert (run.label, len(run.rollouts)) == ("gym-job-1/gpqa", 6)
        assert {fact.name: fact.value for fact in run.facts}["submitter_gym_commit"] == "a" * 40


def test_locate_asks_to_choose_between_benchmarks(tmp_path: Path) -> None:
    job = write_job(tmp_path / "job", "gpqa", "aime25")
    write_run(job / "gpqa" / "artifacts")
    write_run(job / "aime25" / "artifacts")
    with pytest.raises(UsageError, match="holds 2 benchmarks") as caught:
        read_run(job)
    assert f"{job}/aime25, {job}/gpqa" in str(caught.value.remedy)


def test_locate_takes_a_job_that_left_nothing(tmp_path: Path) -> None:
    job = write_job(tmp_path / "job", "gpqa")
    for place in (job, job / "gpqa"):
        run = read_run(place)
        assert (run.stems, len(run.rollouts), run.planned, run.metrics) == ((), 0, None, None)
        assert [problem.kind for problem in run.problems] == [ProblemKind.NO_ROLLOUTS]
        assert any(fact.name == "gym_job_id" for fact in run.facts)


def test_locate_does_not_take_a_neighbour_for_the_job(tmp_path: Path) -> None:
    write_job(tmp_path)
    write_run(tmp_path / "unrelated")
    run = read_run(tmp_path / "unrelated")
    assert not any(fact.name == "gym_job_id" for fact in run.facts)


def test_locate_refuses_what_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist") as missing:
        read_run(tmp_path / "none")
    with pytest.raises(InputError, match="it is empty") as empty:
        read_run(tmp_path)
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(InputError, match=r"it has notes\.txt") as strange:
        read_run(tmp_path)
    for caught in (missing, empty, strange):
        assert caught.value.exit_code == 2
        assert "give a run directory" in str(caught.value.remedy)
