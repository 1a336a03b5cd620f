"""Reports of triage, and what a test looks up in one."""

from __future__ import annotations

from gymbal.model.finding import Finding, PartName, Rung, TriageReport
from gymbal.readers.reference import read_reference
from gymbal.triage.published.explain import explain_published


def against(left: str, right: str) -> TriageReport:
    """The report on two published numbers, each given as its line."""
    return explain_published(read_reference(left), read_reference(right))


def rung(report: TriageReport, name: Rung) -> Finding:
    return next(finding for finding in report.rungs if finding.name is name)


def residual(report: TriageReport) -> float:
    return next(part.value for part in report.gap.parts if part.name is PartName.RESIDUAL)
