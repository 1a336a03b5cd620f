"""`gymbal pivot profile` as a user runs it: output and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from json_rows import write_rows
from order_rows import order_row
from policy_server import PolicyServer
from run_gymbal import assert_refused, gymbal


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    rates = (0.0, 0.5, 1.0)
    return write_rows(tmp_path / "rows.jsonl", [order_row(n, rates[n % 3]) for n in range(6)])


def test_profile_prints_what_came_of_it(rows: Path, tmp_path: Path) -> None:
    with PolicyServer() as server:
        done = gymbal(
            *("pivot", "profile", rows, "-o", tmp_path / "out.jsonl"),
            *("--base-url", server.base_url, "--model", "policy", "-k", "8"),
        )
    assert done.returncode == 0, done.stderr
    assert "6 pivots; 2 are mixed." in done.stdout
    assert "Every sample that was wanted was asked." in done.stdout
    assert "Scored without a Gym config" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "out.jsonl",
        "out.samples.jsonl",
        "rows.jsonl",
    ]


def test_profile_exits_with_1_when_samples_are_missing(rows: Path, tmp_path: Path) -> None:
    with PolicyServer(statuses=lambda body, asked: 400 if asked else 200) as server:
        done = gymbal(
            *("pivot", "profile", rows, "-o", tmp_path / "out.jsonl", "--format", "json"),
            *("--base-url", server.base_url, "--model", "policy", "--concurrency", "1"),
        )
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    assert report["sampled"]["samples"]["failures"] == {"refused": 6 * 7}
    assert report["outcomes"]["undecided"] == 6


def test_profile_exits_with_2_when_the_endpoint_is_not_there(rows: Path, tmp_path: Path) -> None:
    with PolicyServer() as server:
        address = server.base_url
    done = gymbal(
        *("pivot", "profile", rows, "-o", tmp_path / "out.jsonl", "--base-url", address, "--model", "policy")
    )
    assert_refused(done, "cannot be reached")


def test_profile_takes_pass_rates_of_the_rows(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(0, 0.5) | {"pass_rate": 0.5}])
    done = gymbal("pivot", "profile", rows, "-o", tmp_path / "out.jsonl", "--from-field", "pass_rate")
    assert done.returncode == 0, done.stderr
    assert "1 pivots; 1 are mixed." in done.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "give one of --base-url, --from-gym and --from-field"),
        (("--base-url", "http://h/v1", "--from-field", "x"), "give one of"),
        (("--base-url", "http://h/v1"), "--base-url needs --model"),
        (("--base-url", "http://h/v1", "--model", "m", "--extra-body", "[1]"), "must be a JSON object"),
        (("--base-url", "http://h/v1", "--model", "m", "--extra-body", "{"), "must be a JSON object"),
        (("--base-url", "http://h/v1", "--model", "m", "--extra-body", '{"a": NaN}'), "JSON object"),
        (("--base-url", "http://h/v1", "--model", "m", "--extra-body", '{"a": 1e999}'), "JSON object"),
        (("--base-url", "http://h/v1", "--model", "m", "--temperature", "nan"), "temperature"),
        (("--base-url", "http://h/v1", "--model", "m", "--price-input", "1"), "prices need both"),
        (("--base-url", "http://h/v1", "--model", "m", "--max-cost", "1", "--api", "chat"), "prices"),
        (("--base-url", "h:80", "--model", "m"), "no http address"),
        (("--base-url", "http://h/v1", "--model", "m", "--api-key-env", "NO_KEY_HERE"), "NO_KEY_HERE"),
        (("--from-gym", "nowhere"), "does not exist"),
    ],
)
def test_profile_refuses_options_that_make_no_sense(
    options: tuple[str, ...], said: str, rows: Path, tmp_path: Path
) -> None:
    assert_refused(gymbal("pivot", "profile", rows, "-o", tmp_path / "out.jsonl", *options), said)
    assert not (tmp_path / "out.jsonl").exists()
    assert not (tmp_path / "out.samples.jsonl").exists()
