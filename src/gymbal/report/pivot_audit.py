"""What an audit found, as a document."""

from __future__ import annotations

from gymbal.model.audit import AuditedRule, AuditProblem, AuditReport, RuleStatus
from gymbal.report.counts import count_table
from gymbal.report.document import Bullets, Document, Paragraph, Section, Table, Text, Tone, cells, paragraph

_TONES = {
    RuleStatus.PASSED: Tone.GOOD,
    RuleStatus.VIOLATED: Tone.BAD,
    RuleStatus.SKIPPED: Tone.DOUBT,
}


def audit_document(report: AuditReport) -> Document:
    """The verdict, the first problems, every rule with how it went, and what became of each model call."""
    sections = [Section("", (_verdict(report),))]
    if report.problems:
        title = f"First {len(report.problems)} of {report.problem_count} problems"
        sections.append(Section(title, (_problems(report.problems),)))
    sections.append(Section("Rules", (_rules(report.rules),)))
    unchecked = tuple(_unchecked(report.rules))
    if unchecked:
        sections.append(Section("Not checked", (Bullets(unchecked),)))
    sections.append(Section("Model calls of the source", (_account(report),)))
    sections.append(Section("Rows by how their model call was found", (count_table("rows", report.located),)))
    return Document(f"Audit of {', '.join(report.pivots)}", tuple(sections))


def _verdict(report: AuditReport) -> Paragraph:
    against = f"{report.rows} rows against {report.calls} model calls of {report.trajectories} trajectories"
    if report.problem_count:
        return paragraph(f"{report.problem_count} problems in {against}.", Tone.BAD)
    if not report.rows:
        return paragraph(f"No rows to hold: {against}.", Tone.DOUBT)
    return paragraph(f"{against}: no rule is broken.", Tone.GOOD)


def _problems(problems: tuple[AuditProblem, ...]) -> Table:
    rows = tuple(
        (
            Text(problem.rule, Tone.BAD),
            *cells(f"{problem.file}:{problem.line}", str(problem.offset), problem.key, problem.found),
        )
        for problem in problems
    )
    return Table(("rule", "where", "byte", "key", "found"), rows, numeric=frozenset({2}))


def _rules(rules: tuple[AuditedRule, ...]) -> Table:
    rows = tuple(
        (
            Text(rule.rule),
            Text(rule.status, _TONES[rule.status]),
            *cells(str(rule.checked), str(rule.broken), rule.statement),
        )
        for rule in rules
    )
    return Table(("rule", "", "checked", "broken", "what must hold"), rows, numeric=frozenset({2, 3}))


def _unchecked(rules: tuple[AuditedRule, ...]) -> list[str]:
    """A reason for each rule that was not checked everywhere."""
    return [
        f"{rule.rule}: {reason}" + (f" ({count})" if count else "")
        for rule in rules
        for reason, count in rule.unchecked.items()
    ]


def _account(report: AuditReport) -> Table:
    rows = [cells("labelled by a row", str(report.labelled))]
    rows += [cells(f"listed as skipped: {name}", str(count)) for name, count in report.skipped.items()]
    for name, count in report.unlabelled.items():
        # The one that breaks A06 is told apart from those that a build would skip.
        is_broken = name == "no_reason"
        said = "without a row, for no reason" if is_broken else f"without a row; a build would skip: {name}"
        rows.append((Text(said, Tone.BAD if is_broken else Tone.PLAIN), Text(str(count))))
    return Table(("", "model calls"), tuple(rows), numeric=frozenset({1}))
