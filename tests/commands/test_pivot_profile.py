"""Profiles of a scripted policy behind a real HTTP server, which misbehaves where a test wants it to."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from json_rows import write_rows
from order_rows import order_row
from policy_server import Faults, PolicyServer, last_user

from gymbal.commands import profile_plan
from gymbal.commands.pivot_build import pivot_build
from gymbal.commands.pivot_config import pivot_config
from gymbal.commands.pivot_index import pivot_index
from gymbal.commands.pivot_profile import pivot_profile
from gymbal.commands.pivot_rescore import pivot_rescore
from gymbal.errors import InputError, UsageError
from gymbal.io.profile_file import read_profile
from gymbal.io.sample_journal import read_journal_header, read_samples
from gymbal.model.profile import PivotProfile, SampleStatus
from gymbal.model.profile_report import ProfileProgress, ProfileReport, SampledReport
from gymbal.model.sampling import Api, Budget, Prices, SamplingEnd, SamplingLimits
from gymbal.sampling.client import EndpointError

NAN = float("nan")
QUICK = SamplingLimits(concurrency=16, timeout=20.0, attempts=8, first_wait=0.01, longest_wait=0.05)
EXAMPLE = Path(__file__).parents[2] / "examples" / "rollouts" / "tool_use.rollouts.jsonl"


def profile(server: PolicyServer, rows: Path, **options: Any) -> ProfileReport:
    options = {"model": "policy", "k": 4, "api": "chat", "limits": QUICK, **options}
    return pivot_profile(rows, rows.with_name("profile.jsonl"), base_url=server.base_url, **options)


def sampled(report: ProfileReport) -> SampledReport:
    assert report.sampled is not None
    return report.sampled


def profiles(rows: Path) -> dict[str, PivotProfile]:
    return {found.pivot: found for found in read_profile(rows.with_name("profile.jsonl"))}


def journal(rows: Path) -> Path:
    return rows.with_name("profile.samples.jsonl")


def answered(rows: Path) -> Counter[tuple[str, int]]:
    return Counter((s.pivot, s.sample) for s in read_samples(journal(rows)) if s.status is SampleStatus.OK)


def all_samples(pivots: int, k: int = 4) -> Counter[tuple[str, int]]:
    return Counter((f"p{pivot}", sample) for pivot in range(pivots) for sample in range(k))


def test_profile_scores_every_sample_of_every_pivot(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(n, rate) for n, rate in enumerate((0.0, 0.5, 1.0))])
    with PolicyServer() as server:
        report = profile(server, rows, k=8)
        assert server.seen.answered == {"p0": 8, "p1": 8, "p2": 8}
    assert (report.outcomes.mixed, report.outcomes.all_one, report.outcomes.all_zero) == (1, 1, 1)
    found = profiles(rows)
    assert found["p0"].rewards == (0.0,) * 8
    assert found["p2"].rewards == (1.0,) * 8
    assert found["p1"].is_mixed
    assert all((each.k, each.failed, each.asked) == (8, 0, 8) for each in found.values())


def test_profile_journals_the_whole_answer(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(0, 1.0)])
    with PolicyServer() as server:
        profile(server, rows)
    header = read_journal_header(journal(rows))
    assert header.model == "policy"
    assert header.config == {"word_count_similarity_threshold": 0.1}
    assert header.settings["temperature"] == 1.0
    one = next(read_samples(journal(rows)))
    assert one.action == {"type": "function_call", "name": "look_up", "arguments": '{"key": "k0"}'}
    assert [item["type"] for item in one.output or ()] == ["reasoning", "function_call"]
    assert (one.reward, one.category) == (1.0, "A tool call that matches the expected tool call was found")
    assert (one.model, one.attempts) == ("policy-1", 1)
    assert one.usage.output == 5


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses"])
def test_profile_finds_the_api_that_the_endpoint_has(path: str, tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(0, 1.0)])
    dialect = "chat" if "chat" in path else "responses"
    with PolicyServer(paths={path: dialect}) as server:
        report = profile(server, rows, api="auto")
        assert sampled(report).api is Api(dialect)
        assert profile(server, rows, api="auto").sampled is not None
    assert report.outcomes.all_one == 1


def test_profile_of_an_endpoint_without_either_api_says_so(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(0, 1.0)])
    with PolicyServer(paths={}) as server, pytest.raises(EndpointError, match="no such path"):
        profile(server, rows, api="auto")
    with pytest.raises(EndpointError, match="cannot be reached"):
        profile(server, rows, api="auto")


def test_profile_asks_with_tools_settings_and_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLICY_KEY", "sk-very-secret-0123456789")
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(0, 1.0)])
    with PolicyServer(keeps=True) as server:
        profile(
            server,
            rows,
            api_key_env="POLICY_KEY",
            temperature=0.7,
            top_p=0.9,
            max_output_tokens=50,
            extra_body={"top_k": 5},
        )
        body, headers = server.seen.bodies[0], server.seen.headers[0]
    assert headers["authorization"] == "Bearer sk-very-secret-0123456789"
    assert (body["temperature"], body["top_p"], body["max_tokens"], body["top_k"]) == (0.7, 0.9, 50, 5)
    assert body["parallel_tool_calls"] is True
    assert [tool["function"]["name"] for tool in body["tools"]] == ["look_up"]
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"sk-very-secret" not in written
    assert server.base_url.encode() not in written


def test_profile_survives_a_rough_server(tmp_path: Path) -> None:
    faults = Faults(
        too_many=0.05, server_error=0.05, stall=0.004, malformed=0.05, dropped=0.03, stall_seconds=20
    )
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(n, n % 5 / 4) for n in range(200)])
    limits = msgspec.structs.replace(QUICK, timeout=2.0)
    with PolicyServer(faults=faults) as server:
        report = profile(server, rows, limits=limits)
        assert server.seen.faults.keys() == {"too_many", "server_error", "stall", "malformed", "dropped"}
        assert sampled(report).samples.requests == 200 * 4 + server.seen.faults.total()
    assert sampled(report).end is SamplingEnd.COMPLETE
    assert sampled(report).samples.failed == 0
    assert answered(rows) == all_samples(200)


def test_profile_waits_as_long_as_the_server_asks(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(0, 1.0)])
    # Every first request of a pivot is answered by 429 with a Retry-After of 0.05 s.
    with PolicyServer(faults=Faults(too_many=1.0)) as server:
        started = time.monotonic()
        report = profile(server, rows, k=2, limits=SamplingLimits(attempts=3, first_wait=0.001))
        assert time.monotonic() - started >= 4 * 0.05
    assert sampled(report).samples.failures == {"rate_limited": 2}


def test_failures_are_never_a_reward_of_zero(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(0, 1.0), order_row(1, 1.0)])
    with PolicyServer(statuses=lambda body, asked: 500 if "p1 " in last_user(body) else 200) as server:
        report = profile(server, rows)
    assert profiles(rows)["p0"].mean == 1.0
    lost = profiles(rows)["p1"]
    assert (lost.k, lost.mean, lost.rewards, lost.failed) == (0, None, (), 4)
    assert report.outcomes.unknown == 1
    assert sampled(report).samples.failures == {"server_error": 4}
    assert report.mean == 1.0
    assert {s.reward for s in read_samples(journal(rows)) if s.pivot == "p1"} == {None}


def test_failed_samples_are_asked_again_by_the_next_run_and_no_others(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(n, 0.5) for n in range(6)])
    with PolicyServer() as server:
        server.statuses = lambda body, asked: 503 if "p2 " in last_user(body) else 200
        profile(server, rows, limits=SamplingLimits(attempts=1))
        server.statuses = lambda body, asked: 200
        again = profile(server, rows)
        assert server.seen.answered == {f"p{n}": 4 for n in range(6)}
    assert sampled(again).samples.earlier == 20
    assert sampled(again).samples.failed == 0
    assert answered(rows) == all_samples(6)
    assert profiles(rows)["p2"].failed == 0


def test_a_finished_profile_asks_nothing_again(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(n, 0.5) for n in range(5)])
    with PolicyServer() as server:
        profile(server, rows)
        before = rows.with_name("profile.jsonl").read_bytes()
        asked = server.seen.requests
        profile(server, rows)
        assert server.seen.requests == asked
    assert rows.with_name("profile.jsonl").read_bytes() == before


def test_a_profile_grows_to_a_larger_k(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(0, 0.5)])
    with PolicyServer() as server:
        profile(server, rows, k=2)
        profile(server, rows, k=5)
    assert answered(rows) == all_samples(1, 5)


def test_a_journal_is_not_mixed_with_other_settings(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(0, 0.5)])
    with PolicyServer() as server:
        profile(server, rows)
        for other in ({"temperature": 0.5}, {"model": "other"}, {"api": "responses"}):
            with pytest.raises(UsageError, match="asked otherwise"):
                profile(server, rows, **other)
        write_rows(rows, [order_row(0, 0.5), order_row(1, 0.5)])
        with pytest.raises(UsageError, match="pivots was"):
            profile(server, rows)


def test_a_torn_journal_is_gone_on_with(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(n, 0.5) for n in range(3)])
    with PolicyServer() as server:
        profile(server, rows)
        journal(rows).write_bytes(journal(rows).read_bytes()[:-30])
        profile(server, rows)
    assert answered(rows) == all_samples(3)


@pytest.mark.parametrize(("status", "said"), [(401, "refuses the key"), (404, "does not answer")])
def test_an_endpoint_that_refuses_everybody_stops_at_once(status: int, said: str, tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(n, 1.0) for n in range(50)])
    with PolicyServer(statuses=lambda body, asked: status) as server:
        with pytest.raises(EndpointError, match=said):
            profile(server, rows)
        assert server.seen.requests <= QUICK.concurrency
    assert list(read_samples(journal(rows))) == []


def test_an_endpoint_that_keeps_failing_is_asked_no_more(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(n, 1.0) for n in range(200)])
    limits = SamplingLimits(concurrency=4, attempts=1)
    with PolicyServer(statuses=lambda body, asked: 500) as server:
        report = profile(server, rows, limits=limits)
        assert server.seen.requests <= 20 + limits.concurrency
    assert sampled(report).end is SamplingEnd.ENDPOINT_FAILING
    assert sampled(report).last_failure == "HTTP 500 scripted"
    assert report.outcomes.unknown == 200


def test_a_request_that_is_refused_is_sent_once(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(n, 1.0) for n in range(30)])
    with PolicyServer(statuses=lambda body, asked: 400 if "p7 " in last_user(body) else 200) as server:
        report = profile(server, rows, limits=SamplingLimits(concurrency=1))
        assert server.seen.requests == 29 * 4 + 1
    assert sampled(report).samples.failures == {"refused": 1}
    assert profiles(rows)["p7"].is_undecided


def test_a_row_that_the_api_cannot_hold_is_counted(tmp_path: Path) -> None:
    odd = order_row(1, 1.0)
    odd["responses_create_params"]["tools"].append({"type": "web_search"})
    broken = order_row(2, 1.0)
    broken["expected_action"]["arguments"] = "{"
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(0, 1.0), odd, broken])
    with PolicyServer() as server:
        report = profile(server, rows)
        assert server.seen.answered == {"p0": 4}
    reasons = sampled(report).unaskable
    assert sum(reasons.values()) == 2
    assert any("web_search" in reason for reason in reasons)
    assert report.outcomes.unknown == 2


def test_token_budget_stops_and_resumes(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(n, 0.5) for n in range(40)])
    limits = SamplingLimits(concurrency=2)
    with PolicyServer() as server:
        report = profile(server, rows, limits=limits, budget=Budget(tokens=1500))
        tokens = sampled(report).tokens
        assert sampled(report).end is SamplingEnd.TOKEN_BUDGET
        # Each answer takes about 75 tokens, and at most one more than the budget was in flight.
        assert 1500 <= tokens.input + tokens.output < 1500 + 2 * 100
        asked = server.seen.requests
        assert sampled(profile(server, rows, limits=limits, budget=Budget(tokens=1500))).samples.requests == 0
        assert server.seen.requests == asked
        profile(server, rows, limits=limits, budget=Budget(tokens=10**6))
    assert answered(rows) == all_samples(40)


def test_cost_budget_stops(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(n, 0.5) for n in range(40)])
    budget = Budget(cost=0.01, prices=Prices(input=0.0, output=100.0))
    with PolicyServer() as server:
        report = profile(server, rows, limits=SamplingLimits(concurrency=1), budget=budget)
    # 5 output tokens an answer at 100 a million: 0.0005, so 20 answers.
    assert sampled(report).end is SamplingEnd.COST_BUDGET
    assert sampled(report).samples.answered == 20
    assert sampled(report).tokens.cost == pytest.approx(0.01)


def test_budget_needs_a_server_that_counts(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(n, 0.5) for n in range(20)])
    with PolicyServer(says_usage=False) as server:
        report = profile(server, rows, limits=SamplingLimits(concurrency=1), budget=Budget(tokens=10**6))
        assert sampled(report).end is SamplingEnd.USAGE_UNKNOWN
        assert server.seen.requests == 1
        assert sampled(profile(server, rows)).tokens.unknown == 20 * 4


def deep_rows(trajectories: int, depth: int) -> list[dict[str, Any]]:
    """Rows whose prefix grows by a page of text at each depth, in the order that serves a cache worst."""
    rows = []
    for level in range(depth):
        for number in range(trajectories):
            talk = [
                {"role": "user", "content": f"page {page} of {number} " + "x" * 1000} for page in range(level)
            ]
            place = {"source": "s.jsonl", "line": number + 1, "depth": level, "call": level}
            rows.append(order_row(number * depth + level, 0.5, before=talk, **place))
    return rows


def test_trajectories_are_asked_by_depth_for_the_prefix_cache(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", deep_rows(12, 6))
    limits = SamplingLimits(concurrency=4)
    # Room for about 3 of the 12 trajectories.
    with PolicyServer(cache_blocks=300, keeps=True) as server:
        report = profile(server, rows, limits=limits)
        depths: dict[str, list[int]] = {}
        for body in server.seen.bodies:
            number = int(last_user(body).split()[1][1:])
            depths.setdefault(str(number // 6), []).append(number % 6)
        assert sampled(report).tokens.cached == server.seen.cached_tokens
    # The last ones overlap, where no other trajectory is left to keep 4 requests in flight.
    assert sum(order == sorted(order) for order in depths.values()) >= 12 - 4
    share = sampled(report).tokens.cached_share
    assert share is not None
    assert share > 0.8


def test_concurrency_is_bounded_and_used(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(n, 0.5) for n in range(10)])
    with PolicyServer(delay=0.1) as server:
        profile(server, rows, limits=SamplingLimits(concurrency=7))
        assert server.seen.most_at_once == 7


def test_equal_rows_are_asked_once(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(0, 1.0), order_row(1, 1.0), order_row(0, 1.0)])
    with PolicyServer() as server:
        report = profile(server, rows)
        assert server.seen.answered == {"p0": 4, "p1": 4}
    assert (report.pivots, report.duplicates) == (2, 1)


def test_compressed_rows_are_profiled(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", deep_rows(3, 3))
    packed = tmp_path / "rows.jsonl.gz"
    packed.write_bytes(gzip.compress(rows.read_bytes()))
    with PolicyServer() as server:
        report = profile(server, packed)
        assert server.seen.answered.total() == 9 * 4
    assert report.pivots == 9


def test_a_folder_is_scored_by_its_own_config(tmp_path: Path) -> None:
    folder = tmp_path / "dataset"
    metrics = pivot_build(EXAMPLE, folder, name="desk", threshold=0.3)
    with PolicyServer(answer=lambda body, draw: {"role": "assistant", "content": "Hello."}) as server:
        report = pivot_profile(
            folder, tmp_path / "profile.jsonl", base_url=server.base_url, model="m", k=2, api="chat"
        )
    # Any text is right where a message is expected, and wrong where a call is.
    assert report.by_kind["message"].all_one == metrics.split["message"]
    assert report.by_kind["function_call"].all_zero == metrics.split["function_call"]
    header = read_journal_header(tmp_path / "profile.samples.jsonl")
    assert header.config == {"word_count_similarity_threshold": 0.3}
    assert any("parse tools" in note for note in report.notes)


def test_a_config_that_does_not_score_the_rows_is_refused(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(0, 1.0)])
    config = tmp_path / "config.yaml"
    config.write_text("a: 1\n")
    with PolicyServer() as server, pytest.raises(InputError, match="no server"):
        profile(server, rows, config=config)
    config.unlink()
    pivot_build(EXAMPLE, tmp_path / "desk")
    with PolicyServer() as server, pytest.raises(UsageError, match="orders_agent"):
        profile(server, rows, config=tmp_path / "desk" / "config.yaml")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"k": 1}, "at least 2"),
        ({"api": "telnet"}, "telnet"),
        ({"limits": SamplingLimits(concurrency=0)}, "concurrency"),
        ({"budget": Budget(tokens=0)}, "budget"),
        ({"budget": Budget(cost=1.0)}, "prices"),
        ({"budget": Budget(cost=NAN, prices=Prices(input=1.0, output=1.0))}, "budget in money"),
        ({"budget": Budget(cost=1.0, prices=Prices(input=NAN, output=1.0))}, "price of input tokens"),
        ({"budget": Budget(cost=1.0, prices=Prices(input=1.0, output=-1.0))}, "price of output tokens"),
        ({"budget": Budget(prices=Prices(input=1.0, output=1.0, cached=NAN))}, "price of cached tokens"),
        ({"limits": SamplingLimits(timeout=NAN)}, "timeout"),
        ({"temperature": NAN}, "temperature must be a finite number"),
        ({"temperature": float("inf")}, "temperature must be a finite number"),
        ({"top_p": NAN}, "top_p must be above 0 and at most 1"),
        ({"max_output_tokens": 0}, "longest answer"),
        ({"extra_body": {"a": [NAN]}}, "extra body is not JSON"),
        ({"api_key_env": "NO_SUCH_KEY_HERE"}, "NO_SUCH_KEY_HERE"),
    ],
)
def test_profile_refuses_options_that_make_no_sense(
    options: dict[str, Any], said: str, tmp_path: Path
) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(0, 1.0)])
    with PolicyServer() as server:
        with pytest.raises(UsageError, match=said):
            profile(server, rows, **options)
        assert server.seen.requests == 0
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


@pytest.mark.parametrize("name", ["", ".", "/", "taken", "/dev/null", "memory://profiles/profile.jsonl"])
def test_an_output_that_cannot_be_written_costs_no_sample(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(0, 1.0)])
    (tmp_path / "taken").mkdir()
    monkeypatch.chdir(tmp_path)
    with PolicyServer() as server:
        with pytest.raises(UsageError, match=r"not a file|name a local file"):
            pivot_profile(rows, name, base_url=server.base_url, model="policy")
        assert server.seen.requests == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.jsonl", "taken"]


def test_local_urls_are_the_files_that_they_name(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(0, 0.5)])
    config = tmp_path / "config.yaml"
    pivot_config(rows, config, name="orders")
    with PolicyServer() as server:
        pivot_profile(
            f"file://{rows}",
            f"file://{tmp_path}/profile.jsonl",
            base_url=server.base_url,
            model="policy",
            api="chat",
            config=f"file://{config}",
        )
    assert list(profiles(rows)) == ["p0"]
    report = pivot_rescore(
        f"file://{journal(rows)}",
        pivots=f"file://{rows}",
        config=f"file://{config}",
        before=f"file://{config}",
        options={"use_f1_for_list": True},
    )
    assert report.samples.rescored == 8


@pytest.mark.parametrize(
    "address",
    [
        "localhost:8000",
        "ftp://x/v1",
        "http://",
        "http://u:p@h/v1",
        "http://h/v1?a=b",
        "http://[x/v1",
        "http://h:0/v1",
        "http://a..b",
    ],
)
def test_profile_refuses_an_address_that_is_none(address: str, tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(0, 1.0)])
    with pytest.raises(UsageError, match="base URL"):
        pivot_profile(rows, tmp_path / "p.jsonl", base_url=address, model="m", api="chat")


def test_an_empty_pivot_file_is_an_input_error(tmp_path: Path) -> None:
    with PolicyServer() as server, pytest.raises(InputError, match="no pivots"):
        profile(server, write_rows(tmp_path / "rows.jsonl", []))
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


def command(rows: Path, base_url: str, *more: str) -> list[str]:
    output = rows.with_name("profile.jsonl")
    asking = ("--base-url", base_url, "--model", "policy", "-k", "4", "--api", "chat", "--concurrency", "8")
    return [sys.executable, "-m", "gymbal", "pivot", "profile", str(rows), "-o", str(output), *asking, *more]


def wait_for(rows: Path, samples: int, process: subprocess.Popen[str]) -> None:
    """Wait until the journal holds so many samples."""
    end = time.monotonic() + 30
    while time.monotonic() < end and process.poll() is None:
        if journal(rows).exists() and journal(rows).read_bytes().count(b"\n") > samples:
            return
        time.sleep(0.01)
    raise AssertionError(f"no {samples} samples; {process.poll()}")


def test_a_killed_profile_goes_on_where_it_was(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(n, n % 5 / 4) for n in range(200)])
    faults = Faults(too_many=0.02, server_error=0.02, malformed=0.02, dropped=0.01)
    with PolicyServer(faults=faults, delay=0.002) as server:
        process = subprocess.Popen(command(rows, server.base_url), stdout=subprocess.DEVNULL, text=True)
        wait_for(rows, 300, process)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        done = subprocess.run(command(rows, server.base_url), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        # What was in flight at the kill had an answer that nobody wrote down: at most 8 samples.
        assert 800 <= server.seen.answered.total() <= 800 + 8
    assert answered(rows) == all_samples(200)
    assert len(profiles(rows)) == 200


def test_ctrl_c_stops_gracefully(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(n, 0.5) for n in range(200)])
    with PolicyServer(delay=0.05) as server:
        process = subprocess.Popen(
            command(rows, server.base_url, "--format", "json"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_for(rows, 20, process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        answers = server.seen.answered.total()
    assert process.returncode == 130, err
    report = json.loads(out)
    assert report["sampled"]["end"] == "interrupted"
    # Requests in flight were waited for: every answer that the server gave is in the journal.
    assert answered(rows).total() == answers == report["sampled"]["samples"]["answered"]
    assert len(profiles(rows)) == 200


def test_second_ctrl_c_does_not_wait(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(n, 0.5) for n in range(50)])
    with PolicyServer(faults=Faults(stall=0.2, stall_seconds=60)) as server:
        process = subprocess.Popen(command(rows, server.base_url), stdout=subprocess.PIPE, text=True)
        wait_for(rows, 5, process)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert process.returncode == 130
    assert max(answered(rows).values()) == 1
    assert len(profiles(rows)) == 50


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_the_api_is_asked_for_leaves_nothing(number: int, tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(0, 0.5)])
    with PolicyServer(faults=Faults(stall=1.0, stall_seconds=60)) as server:
        process = subprocess.Popen(
            command(rows, server.base_url, "--api", "auto"), stderr=subprocess.PIPE, text=True
        )
        end = time.monotonic() + 30
        while not server.seen.requests and time.monotonic() < end:
            time.sleep(0.01)
        process.send_signal(number)
        _, err = process.communicate(timeout=20)
    assert (process.returncode, err.strip()) == (130, "")
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


def test_adaptive_profile_stops_at_pivots_that_are_settled(tmp_path: Path) -> None:
    rates = [0.0, 0.0, 0.5, 1.0]
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(n, rates[n % 4]) for n in range(240)])
    with PolicyServer() as server:
        report = profile(server, rows, k=8, adaptive=True)
        assert sampled(report).samples.answered == server.seen.answered.total() <= 0.6 * 240 * 8
    rule = sampled(report).rule
    assert rule is not None
    assert rule.pilot == 50
    assert report.outcomes.undecided == report.outcomes.unknown == 0
    # 60 pivots are right half of the time; each of the others always gets the same reward.
    assert 45 <= report.outcomes.mixed <= 60
    assert report.outcomes.mixed + report.outcomes.all_one + report.outcomes.all_zero == 240
    assert all(found.k == found.asked for found in profiles(rows).values())


def test_adaptive_profile_comes_out_the_same_when_it_is_resumed(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(n, n % 5 / 4) for n in range(120)])
    with PolicyServer() as server:
        profile(server, rows, k=8, adaptive=True, budget=Budget(tokens=30_000))
        report = profile(server, rows, k=8, adaptive=True)
        asked = server.seen.requests
        again = profile(server, rows, k=8, adaptive=True)
        assert server.seen.requests == asked
    assert again.outcomes == report.outcomes
    assert sampled(again).rule == sampled(report).rule


def test_an_index_is_profiled_like_its_rows(tmp_path: Path) -> None:
    pivot_build(EXAMPLE, tmp_path / "desk", name="desk", threshold=0.2)
    index = tmp_path / "desk.index.jsonl"
    pivot_index([EXAMPLE], index, name="desk", threshold=0.2)
    with PolicyServer(answer=lambda body, draw: {"role": "assistant", "content": "Hello."}) as server:
        found = [
            pivot_profile(pivots, output, base_url=server.base_url, model="m", k=2, api="chat", limits=QUICK)
            for pivots, output in (
                (tmp_path / "desk", tmp_path / "rows.jsonl"),
                (index, tmp_path / "index.jsonl"),
            )
        ]
    assert found[0].outcomes == found[1].outcomes
    assert (tmp_path / "rows.jsonl").read_bytes() == (tmp_path / "index.jsonl").read_bytes()
    assert read_journal_header(tmp_path / "index.samples.jsonl").config == {
        "word_count_similarity_threshold": 0.2
    }


def test_progress_is_told_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile_plan, "PROGRESS_SECONDS", 0.0)
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(n, 0.5) for n in range(5)])
    told: list[ProfileProgress] = []
    with PolicyServer() as server:
        profile(server, rows, progress=told.append)
    assert [progress.answered for progress in told] == list(range(1, 21))
    assert told[-1] == ProfileProgress(answered=20, failed=0, most=20)


def test_rows_of_another_verifier_are_left_to_gym(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [order_row(0, 1.0, target="swe_pivot")])
    with PolicyServer() as server, pytest.raises(UsageError, match="swe_pivot"):
        profile(server, rows)


def test_rows_are_scored_by_the_config_beside_them(tmp_path: Path) -> None:
    pivot_build(EXAMPLE, tmp_path / "desk", threshold=0.4)
    with PolicyServer() as server:
        profile(server, tmp_path / "desk" / "pivots.jsonl", k=2)
    header = read_journal_header(tmp_path / "desk" / "profile.samples.jsonl")
    assert header.config == {"word_count_similarity_threshold": 0.4}
