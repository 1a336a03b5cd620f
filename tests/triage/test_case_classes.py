"""One pair of runs for each class of real "my score does not match" cases: the verdict names its rung.

`docs/checks.md` lists the classes with the evidence that reveals them; the last test holds the two together.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from run_factory import SETTINGS, make_run

from gymbal.model.evidence import Fact, Role, Strength
from gymbal.model.finding import Rung, TriageReport
from gymbal.model.rollout import Rollout, Stop
from gymbal.model.run import Run
from gymbal.readers.reference import read_reference
from gymbal.triage.explain import explain
from gymbal.triage.published.explain import explain_published

CHECKS = Path(__file__).parents[2] / "docs" / "checks.md"


def rewards(rate: float, seed: int) -> dict[str, list[float | None]]:
    """24 tasks x 4 repeats of a model that passes with `rate`."""
    draw = random.Random(seed)
    return {f"task {n}": [float(draw.random() < rate) for _ in range(4)] for n in range(24)}


BASE = rewards(0.7, seed=1)


def changed(**values: Any) -> Callable[[Rollout], Rollout]:
    return lambda row: msgspec.structs.replace(row, **values)


def fact(name: str, role: Role, value: str) -> Fact:
    return Fact(name=name, role=role, value=value, strength=Strength.RECORDED)


def with_fact(name: str, role: Role, value: str) -> Run:
    return make_run(BASE, facts=[fact(name, role, value)])


def parser_leaves_reasoning() -> TriageReport:
    return explain(make_run(BASE), make_run(BASE, change=changed(has_reasoning_in_text=True)))


def parser_empties_answers() -> TriageReport:
    def empty(row: Rollout) -> Rollout:
        return msgspec.structs.replace(row, is_empty=True, reward=0.0) if row.key.repeat < 2 else row

    return explain(make_run(BASE), make_run(BASE, change=empty))


def prompt_gets_another_template() -> TriageReport:
    return explain(make_run(BASE), make_run(BASE, change=changed(input_tokens=52)))


def failures_left_out() -> TriageReport:
    lost = {
        task: ([None] * 4 if sum(v or 0 for v in values) < 2 else values) for task, values in BASE.items()
    }
    return explain(make_run(BASE), make_run(lost, failed="agent_run_error"))


def rerun() -> TriageReport:
    return explain(make_run(BASE), make_run(rewards(0.7, seed=2)))


def output_limit_lowered() -> TriageReport:
    settings = msgspec.structs.replace(SETTINGS, max_output_tokens=128)
    return explain(make_run(BASE), make_run(BASE, change=changed(settings=settings)))


def answers_truncated() -> TriageReport:
    def cut(row: Rollout) -> Rollout:
        is_cut = row.key.repeat < 2
        return msgspec.structs.replace(row, stop=Stop.TRUNCATED, reward=0.0) if is_cut else row

    return explain(make_run(BASE), make_run(BASE, change=cut))


def serving_engine_changed() -> TriageReport:
    return explain(
        with_fact("serving_engine", Role.SERVING, "vllm 0.26.0"),
        with_fact("serving_engine", Role.SERVING, "vllm nightly"),
    )


def dataset_revised() -> TriageReport:
    return explain(make_run(BASE), make_run(BASE, answers={"task 3": "B", "task 9": "C"}))


def dataset_is_a_subset() -> TriageReport:
    return explain(make_run(BASE), make_run(dict(list(BASE.items())[:10])))


def harness_version_changed() -> TriageReport:
    return explain(with_fact("gym_commit", Role.CODE, "a" * 40), with_fact("gym_commit", Role.CODE, "b" * 40))


def judge_changed() -> TriageReport:
    return explain(
        with_fact("judge_model", Role.JUDGE, "judge-1106"), with_fact("judge_model", Role.JUDGE, "judge-0125")
    )


def score_divided_by_k() -> TriageReport:
    run = make_run(BASE)
    mean = sum(value or 0 for values in BASE.values() for value in values) / 96
    return explain(run, make_run(BASE, reported=mean / 4))


def verifier_container_changed() -> TriageReport:
    return explain(
        with_fact("driver_container", Role.CODE, "gym:1"), with_fact("driver_container", Role.CODE, "gym:2")
    )


def tools_break() -> TriageReport:
    def broken(row: Rollout) -> Rollout:
        return msgspec.structs.replace(row, has_tool_errors=True, reward=0.0) if row.key.repeat else row

    return explain(make_run(BASE), make_run(BASE, change=broken))


def published_for_another_model() -> TriageReport:
    return explain_published(make_run(BASE), read_reference("79.6% model=lab/demo-instruct"))


def temperature_changed() -> TriageReport:
    settings = msgspec.structs.replace(SETTINGS, temperature=0.0)
    return explain(make_run(BASE), make_run(BASE, change=changed(settings=settings)))


CASES: tuple[tuple[str, Rung, Callable[[], TriageReport]], ...] = (
    ("PARSER", Rung.METHOD, parser_leaves_reasoning),
    ("PARSER", Rung.METHOD, parser_empties_answers),
    ("PROMPT", Rung.METHOD, prompt_gets_another_template),
    ("ACCOUNTING", Rung.ACCOUNTING, failures_left_out),
    ("NOISE", Rung.NOISE, rerun),
    ("LIMITS", Rung.METHOD, output_limit_lowered),
    ("LIMITS", Rung.ACCOUNTING, answers_truncated),
    ("SERVING", Rung.CODE, serving_engine_changed),
    ("DATASET", Rung.BENCHMARK, dataset_revised),
    ("DATASET", Rung.BENCHMARK, dataset_is_a_subset),
    ("CODE", Rung.CODE, harness_version_changed),
    ("JUDGE", Rung.METHOD, judge_changed),
    ("AGGREGATION", Rung.INTEGRITY, score_divided_by_k),
    ("ENVIRONMENT", Rung.CODE, verifier_container_changed),
    ("ENVIRONMENT", Rung.METHOD, tools_break),
    ("PUBLISHED", Rung.METHOD, published_for_another_model),
    ("SAMPLING", Rung.METHOD, temperature_changed),
)


@pytest.mark.parametrize(
    ("name", "rung", "pair"), CASES, ids=[f"{name}-{pair.__name__}" for name, _, pair in CASES]
)
def test_verdict_names_the_rung_of_the_case(name: str, rung: Rung, pair: Callable[[], TriageReport]) -> None:
    assert pair().verdict.rung is rung


def test_checks_page_lists_each_class_with_its_rungs() -> None:
    rows = re.findall(r"^\| ([A-Z]+) \|.*\| ([a-z, ]+) \|$", CHECKS.read_text(), flags=re.MULTILINE)
    listed = {(name, rung.strip()) for name, rungs in rows for rung in rungs.split(",")}
    assert {(name, rung.value) for name, rung, _ in CASES} == listed


def test_other_prompt_tokens_for_the_same_prompts_are_method() -> None:
    def rendered(first: int) -> Callable[[Rollout], Rollout]:
        return lambda row: msgspec.structs.replace(row, prompt_tokens=hash((first, row.content.prompt)))

    report = explain(make_run(BASE, change=rendered(1)), make_run(BASE, change=rendered(2)))
    assert report.verdict.rung is Rung.METHOD
    (finding,) = [finding for finding in report.rungs if finding.name is Rung.METHOD]
    assert f"as other tokens in {len(BASE)} of {len(BASE)} tasks" in finding.summary
