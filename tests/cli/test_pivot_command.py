"""`gymbal pivot` as a user runs it: output, files and exit codes."""

import json
from pathlib import Path

from run_gymbal import pivot_in

MESSAGE = {
    "type": "message",
    "id": "m",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "hi", "annotations": []}],
}


def write_source(folder: Path) -> None:
    row = {
        "responses_create_params": {"input": "go", "tools": []},
        "response": {"output": [MESSAGE]},
        "reward": 1.0,
    }
    (folder / "rollouts.jsonl").write_text(json.dumps(row) + "\n")


def test_pivot_build_and_validate_exit_with_0(tmp_path: Path) -> None:
    write_source(tmp_path)
    built = pivot_in(tmp_path, "build", "rollouts.jsonl", "--output", "desk", "--format", "json")
    assert built.returncode == 0, built.stderr
    assert json.loads(built.stdout)["kept"] == 1
    assert 'jsonl_fpath: "desk/pivots.jsonl"' in (tmp_path / "desk" / "config.yaml").read_text()
    checked = pivot_in(tmp_path, "validate", "desk")
    assert checked.returncode == 0, checked.stderr
    assert "1 rows break no rule, under desk/config.yaml." in checked.stdout


def test_pivot_validate_exits_with_1_on_a_broken_rule(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("{}\n")
    checked = pivot_in(tmp_path, "validate", "rows.jsonl", "--format", "json", "--max-problems", "1")
    report = json.loads(checked.stdout)
    assert checked.returncode == 1
    assert (report["violation_count"], len(report["violations"])) == (2, 1)


def test_pivot_errors_exit_with_2_and_one_message(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("{}\n")
    for arguments in (
        ("build", "rows.jsonl", "--output", "desk"),
        ("build", "rows.jsonl", "--output", "desk", "--name", "a-b"),
        ("build", "rows.jsonl"),
        ("validate", "rows.jsonl", "--config", "absent.yaml"),
    ):
        done = pivot_in(tmp_path, *arguments)
        assert done.returncode == 2, arguments
        assert done.stderr
        assert "Traceback" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.jsonl"]


def test_pivot_build_takes_options_and_splits(tmp_path: Path) -> None:
    write_source(tmp_path)
    options = ("--success-only", "--mixed-groups", "prefer", "--no-dedupe", "--reference-output")
    split = ("--split", "train=0.9,validation=0.1", "--max-input-characters", "1000")
    built = pivot_in(
        tmp_path, "build", "rollouts.jsonl", "--output", "desk", "--format", "json", *options, *split
    )
    assert built.returncode == 0, built.stderr
    metrics = json.loads(built.stdout)
    assert metrics["options"] == {
        "success_only": True,
        "mixed_groups": "prefer",
        "dedupe": False,
        "reference_output": True,
        "max_input_characters": 1000,
        "split": {"train": 0.9, "validation": 0.1},
    }
    rows = [(tmp_path / "desk" / f"{part}.jsonl").read_text() for part in ("train", "validation")]
    assert sorted(text.count("\n") for text in rows) == [0, 1]
    refused = pivot_in(tmp_path, "build", "rollouts.jsonl", "--output", "desk", "--split", "train=1")
    assert refused.returncode == 2
    assert "train=0.95,validation=0.05" in refused.stderr


def test_pivot_validate_takes_what_to_ask_of_the_rows(tmp_path: Path) -> None:
    write_source(tmp_path)
    pivot_in(tmp_path, "build", "rollouts.jsonl", "--output", "desk")
    fields = ("--require-field", "pivot_info.uuid", "--require-any-field", "uuid,pivot_info.uuid")
    engine = ("--engine", "processes", "--workers", "2")
    checked = pivot_in(tmp_path, "validate", "desk", "--expect-rows", "1", *fields, *engine)
    assert checked.returncode == 0, checked.stderr
    options = ("--expect-rows", "2", "--require-field", "task", "--no-require-agent-ref", "--format", "json")
    report = json.loads(pivot_in(tmp_path, "validate", "desk", *options).stdout)
    assert [(each["rule"], each["line"], each["key"]) for each in report["violations"]] == [
        ("P028", 0, ""),
        ("P026", 1, "task"),
    ]
    refused = pivot_in(tmp_path, "validate", "desk", "--require-field", "a..b")
    assert (refused.returncode, "is no path of a field" in refused.stderr) == (2, True)


def test_pivot_build_says_how_far_it_is_only_when_asked(tmp_path: Path) -> None:
    write_source(tmp_path)
    for engine in ("in-process", "processes"):
        build = ("build", "rollouts.jsonl", "--output", "desk", "--engine", engine, "--workers", "1")
        quiet = pivot_in(tmp_path, *build)
        assert (quiet.returncode, quiet.stderr) == (0, "")
        told = pivot_in(tmp_path, *build, "--progress")
        assert (told.returncode, told.stdout) == (0, quiet.stdout)
        assert told.stderr == "0% of 0.0 MB\n"
