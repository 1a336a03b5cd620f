"""A gate's decisions as JUnit XML: a test suite for each benchmark, a test case for each candidate.

FAIL is a failure and a blocking INCONCLUSIVE an error, which CI systems show in red; a tracked INCONCLUSIVE
is skipped, so that it is seen and stops nothing. The format has no warning: a WARN passes, with its reason
as output. No times and no host: the same gate gives the same bytes.
"""

from __future__ import annotations

from xml.etree import ElementTree

from gymbal.model.gate import Decision, GateReport, GateResult, Tier
from gymbal.report.escape import visible

KINDS = ("failure", "error", "skipped")


def to_junit(report: GateReport) -> bytes:
    """Return `report` as JUnit XML in UTF-8, ending in a line break."""
    root = ElementTree.Element("testsuites", {"name": "gymbal gate", **_counts(report.results)})
    for rule in report.policy.benchmarks:
        rows = [row for row in report.results if row.benchmark == rule.name]
        suite = ElementTree.SubElement(root, "testsuite", {"name": visible(rule.name), **_counts(rows)})
        for row in rows:
            suite.append(_case(row))
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _case(row: GateResult) -> ElementTree.Element:
    case = ElementTree.Element(
        "testcase", {"classname": visible(row.benchmark), "name": visible(row.candidate)}
    )
    detail = "\n".join(map(visible, (f"{row.decision.value}: {row.reason}", *row.resolve)))
    kind = _kind(row)
    if kind is None:
        ElementTree.SubElement(case, "system-out").text = detail
        return case
    attributes = {"message": visible(row.reason)}
    if kind != "skipped":
        attributes["type"] = row.decision.value
    ElementTree.SubElement(case, kind, attributes).text = detail
    return case


def _kind(row: GateResult) -> str | None:
    if row.decision is Decision.FAIL:
        return "failure"
    if row.decision is Decision.INCONCLUSIVE:
        return "error" if row.tier is Tier.BLOCKING else "skipped"
    return None


def _counts(rows: tuple[GateResult, ...] | list[GateResult]) -> dict[str, str]:
    kinds = [_kind(row) for row in rows]
    names = zip(("failures", "errors", "skipped"), KINDS, strict=True)
    return {"tests": str(len(rows)), **{name: str(kinds.count(kind)) for name, kind in names}}
