"""What a build counted, and what a validation found, as documents."""

from __future__ import annotations

from gymbal.model.pivot import BuildMetrics, ValidationReport
from gymbal.model.target import Target
from gymbal.report.counts import count_section, share_section, without_zeros
from gymbal.report.document import (
    Block,
    Bullets,
    Document,
    Paragraph,
    Section,
    Table,
    Text,
    Tone,
    cells,
    paragraph,
)


def build_document(metrics: BuildMetrics, folder: str) -> Document:
    """What was kept, what was skipped and why, and what to know before training."""
    counted = f"{metrics.kept} of {metrics.candidates} model calls of {metrics.trajectories} trajectories"
    summary = f"{counted} became rows in {folder}."
    tone = Tone.GOOD if metrics.kept else Tone.BAD
    sections = [
        Section("", (paragraph(summary, tone),)),
        *share_section("Labels", "kept rows", metrics.split, metrics.kept),
        *share_section("Split", "kept rows", metrics.parts, metrics.kept),
        *share_section("Skipped", "candidates", without_zeros(metrics.skipped), metrics.candidates),
        *share_section("Batch sizes", "batches", metrics.batch_sizes, sum(metrics.batch_sizes.values())),
        *share_section("Boundaries", "candidates", metrics.boundaries, metrics.candidates),
        *share_section("Source rewards", "trajectories", metrics.source_rewards, metrics.trajectories),
        *share_section("Groups by their rewards", "tasks", metrics.groups, sum(metrics.groups.values())),
        *share_section("Read as", "trajectories", metrics.formats, metrics.trajectories),
        *count_section("Turns that make no row", "turns", metrics.non_model_turns),
        *count_section("Conversions", "times", metrics.conversions),
        *count_section("Repairs that were asked for", "times", metrics.repairs),
        Section("Checks", (_checks(metrics),)),
        Section("Before training", (Bullets(metrics.notes),)),
    ]
    return Document(f"Pivot dataset {metrics.dataset}", tuple(sections))


def _checks(metrics: BuildMetrics) -> Table:
    counted = metrics.call_count_check
    seed_calls = metrics.seed_calls
    rows = (
        cells("call counts that agree with the source", str(counted.agree)),
        (
            Text("call counts that disagree"),
            Text(str(counted.disagree), Tone.DOUBT if counted.disagree else Tone.PLAIN),
        ),
        cells("trajectories without a recorded count", str(counted.skipped)),
        *((cells("model calls in seeds, which make no row", str(seed_calls)),) if seed_calls else ()),
        cells("candidates that narrate and call", str(metrics.narrate_and_call)),
        cells("candidates with hoisted reasoning", str(metrics.reasoning.hoisted)),
        cells("candidates with interleaved reasoning", str(metrics.reasoning.interleaved)),
        cells("own reasoning items withheld from rows", str(metrics.reasoning.withheld)),
        cells("fields left out of prefix items", str(sum(metrics.dropped_fields.values()))),
    )
    return Table(("", "count"), rows, numeric=frozenset({1}))


def validation_document(report: ValidationReport) -> Document:
    """The verdict, the first violations, the warnings, and how many rows each rule was checked on."""
    sections = [Section("", (_verdict(report), *_labels(report)))]
    if report.violations:
        title = f"First {len(report.violations)} of {report.violation_count} violations"
        sections.append(Section(title, (_violations(report), _broken_rules(report))))
    if report.warnings:
        sections.append(Section("Warnings", (Bullets(report.warnings),)))
    sections.append(Section("Rules by the number of rows they were checked on", (_rules(report),)))
    return Document(f"Validation of {report.path}", tuple(sections))


def _verdict(report: ValidationReport) -> Paragraph:
    if report.violation_count:
        return paragraph(f"{report.violation_count} violations in {report.rows} rows.", Tone.BAD)
    if not report.rows:
        return paragraph("No rows.", Tone.DOUBT)
    under = "no config" if report.config is None else report.config
    made_for = "" if report.target is Target.SINGLE_STEP else f" of {report.target}"
    return paragraph(f"{report.rows} rows{made_for} break no rule, under {under}.", Tone.GOOD)


def _labels(report: ValidationReport) -> tuple[Block, ...]:
    if not report.rows:
        return ()
    said = [", ".join(f"{count} {name}" for name, count in report.split.items())]
    if len(report.files) > 1:
        said += [f"{file.rows} rows in {file.path}" for file in report.files]
    if report.gym is not None:
        said.append(f"NeMo Gym {report.gym} judged {report.rules['P030']} of the rows too")
    return (paragraph("; ".join(said), Tone.QUIET),)


def _violations(report: ValidationReport) -> Table:
    """With the name of the file where there are several."""
    has_files = len(report.files) > 1
    rows = tuple(
        (
            Text(violation.rule, Tone.BAD),
            *cells(*([violation.file.rpartition("/")[2]] if has_files else [])),
            *cells(str(violation.line), str(violation.offset), violation.key, violation.found),
        )
        for violation in report.violations
    )
    if has_files:
        return Table(("rule", "file", "line", "byte", "key", "found"), rows, numeric=frozenset({2, 3}))
    return Table(("rule", "line", "byte", "key", "found"), rows, numeric=frozenset({1, 2}))


def _broken_rules(report: ValidationReport) -> Bullets:
    """What each of the listed rules says, once."""
    statements = {violation.rule: violation.expected for violation in report.violations}
    return Bullets(tuple(f"{rule}: {statement}" for rule, statement in sorted(statements.items())))


def _rules(report: ValidationReport) -> Table:
    """A rule that was checked on no row was not passed; it stands out."""
    by_count: dict[int, list[str]] = {}
    for rule, count in report.rules.items():
        by_count.setdefault(count, []).append(rule)
    rows = tuple(
        (Text(str(count)), Text(", ".join(rules), Tone.PLAIN if count else Tone.DOUBT))
        for count, rules in sorted(by_count.items(), reverse=True)
    )
    return Table(("rows", "rules"), rows, numeric=frozenset({0}))
