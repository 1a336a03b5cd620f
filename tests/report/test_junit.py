"""JUnit XML of a gate: what a CI system counts, and that no text of a run can break it."""

from __future__ import annotations

from xml.etree import ElementTree

from gymbal.model.gate import (
    BenchmarkPolicy,
    CandidateDecision,
    Decision,
    GatePolicy,
    GateReport,
    GateResult,
    Tier,
)
from gymbal.report.gate import gate_document
from gymbal.report.junit import to_junit
from gymbal.report.markdown import to_markdown

HOSTILE = 'a<b>&"\x1b[31m\x00\ud800]]>\nline'
"""Markup, a terminal escape, and characters that XML cannot hold at all."""


def result(benchmark: str, candidate: str, decision: Decision, tier: Tier = Tier.BLOCKING) -> GateResult:
    return GateResult(
        benchmark=benchmark,
        candidate=candidate,
        tier=tier,
        decision=decision,
        reason="because",
        resolve=("do this",),
    )


def report(*results: GateResult) -> GateReport:
    names = dict.fromkeys(row.benchmark for row in results)
    return GateReport(
        base="base",
        decision=Decision.FAIL,
        exit_code=1,
        date="2026-11-29",
        test="a test",
        candidates=tuple(
            CandidateDecision(candidate=name, decision=Decision.FAIL)
            for name in dict.fromkeys(row.candidate for row in results)
        ),
        results=results,
        waivers=(),
        policy=GatePolicy(benchmarks=tuple(BenchmarkPolicy(name=name, margin=0.1) for name in names)),
    )


def test_each_decision_has_its_element() -> None:
    root = ElementTree.fromstring(
        to_junit(
            report(
                result("gpqa", "one", Decision.PASS),
                result("gpqa", "two", Decision.FAIL),
                result("quiz", "one", Decision.INCONCLUSIVE),
                result("quiz", "two", Decision.WARN),
                result("side", "one", Decision.INCONCLUSIVE, Tier.TRACKED),
            )
        )
    )
    assert {key: root.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "5",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
    }
    assert [(suite.get("name"), suite.get("tests")) for suite in root] == [
        ("gpqa", "2"),
        ("quiz", "2"),
        ("side", "1"),
    ]
    found = {(case.get("classname"), case.get("name")): case[0] for case in root.iter("testcase")}
    assert {key: element.tag for key, element in found.items()} == {
        ("gpqa", "one"): "system-out",
        ("gpqa", "two"): "failure",
        ("quiz", "one"): "error",
        ("quiz", "two"): "system-out",
        ("side", "one"): "skipped",
    }
    failure = found["gpqa", "two"]
    assert (failure.get("message"), failure.get("type")) == ("because", "FAIL")
    assert failure.text == "FAIL: because\ndo this"


def test_hostile_text_is_escaped() -> None:
    rows = report(
        GateResult(
            benchmark=HOSTILE,
            candidate=HOSTILE,
            tier=Tier.BLOCKING,
            decision=Decision.FAIL,
            reason=HOSTILE,
            resolve=(HOSTILE,),
        )
    )
    case = next(ElementTree.fromstring(to_junit(rows)).iter("testcase"))
    assert case.get("name") == 'a<b>&"\\x1b[31m\\x00\\ud800]]> line'
    assert "\x1b" not in to_markdown(gate_document(rows))
    assert "<b>" not in to_markdown(gate_document(rows)).replace("\\<b\\>", "")


def test_same_report_gives_the_same_bytes() -> None:
    rows = report(result("gpqa", "one", Decision.PASS))
    assert to_junit(rows) == to_junit(rows)
    assert to_junit(rows).startswith(b"<?xml")
