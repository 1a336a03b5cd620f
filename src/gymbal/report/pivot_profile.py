"""What a profile came to, as a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gymbal.model.profile_report import ProfileOutcomes, ProfileReport, RecordedReport, SampledReport
from gymbal.model.sampling import SamplingEnd
from gymbal.report.counts import count_section, count_table, share_section
from gymbal.report.document import Bullets, Document, Paragraph, Section, Table, Text, Tone, cells, paragraph

_ENDS = {
    SamplingEnd.COMPLETE: "Every sample that was wanted was asked.",
    SamplingEnd.INTERRUPTED: "Interrupted: the same command goes on from here.",
    SamplingEnd.TOKEN_BUDGET: "The token budget is used up: with a larger one the same command goes on.",
    SamplingEnd.COST_BUDGET: "The cost budget is used up: with a larger one the same command goes on.",
    SamplingEnd.USAGE_UNKNOWN: "Stopped: the server does not report tokens, so that no budget can be kept.",
    SamplingEnd.ENDPOINT_FAILING: "Stopped: many samples in a row failed. The same command goes on.",
}

_OUTCOMES = {
    "mixed": "mixed: what training can use",
    "all_one": "always 1",
    "all_zero": "always 0",
    "all_equal": "always the same, between 0 and 1",
    "undecided": "undecided: samples are missing",
    "unknown": "no reward at all",
}


def profile_document(report: ProfileReport) -> Document:
    """Outcomes first, then how they came about, and what to know before selecting."""
    sections = [
        Section("", tuple(_summary(report))),
        Section("Pivots", (_outcomes(report.outcomes, report.by_kind),)),
    ]
    if report.sampled is not None:
        sections += _sampled(report.sampled)
    if report.recorded is not None:
        sections.append(_recorded(report.recorded))
    if report.notes:
        sections.append(Section("Before selecting", (Bullets(report.notes),)))
    return Document("Pivot profile", tuple(sections))


def _summary(report: ProfileReport) -> Iterator[Paragraph]:
    mean = "" if report.mean is None else f" Their mean reward is {report.mean:.3f}."
    again = f", {report.duplicates} more rows repeat them" if report.duplicates else ""
    yield paragraph(f"{report.pivots} pivots{again}; {report.outcomes.mixed} are mixed.{mean}")
    yield paragraph(f"Written to {report.output}.")
    if report.sampled is not None:
        is_whole = report.sampled.end is SamplingEnd.COMPLETE
        yield paragraph(_ENDS[report.sampled.end], Tone.PLAIN if is_whole else Tone.DOUBT)


def _outcomes(total: ProfileOutcomes, by_kind: Mapping[str, ProfileOutcomes]) -> Table:
    count = sum(getattr(total, name) for name in _OUTCOMES)
    rows = []
    for name, said in _OUTCOMES.items():
        number = getattr(total, name)
        if number or name in ("mixed", "all_one", "all_zero"):
            kinds = [str(getattr(counts, name)) for counts in by_kind.values()]
            rows.append(cells(said, str(number), f"{number / count:.1%}" if count else "", *kinds))
    header = ("", "pivots", "share", *by_kind)
    return Table(header, tuple(rows), numeric=frozenset(range(1, len(header))))


def _sampled(report: SampledReport) -> Iterator[Section]:
    samples, tokens = report.samples, report.tokens
    rows = [
        cells("samples answered", str(samples.answered)),
        cells("of them in earlier runs, not asked again", str(samples.earlier)),
        cells("cut at the token limit", str(samples.truncated)),
        (
            Text("samples without an answer, never counted as 0"),
            Text(str(samples.failed), Tone.DOUBT if samples.failed else Tone.PLAIN),
        ),
        *(cells(f"  {name}", str(count)) for name, count in samples.failures.items()),
        cells("requests of this run", str(samples.requests)),
        cells("input tokens", str(tokens.input)),
        cells("output tokens", str(tokens.output)),
    ]
    if tokens.cached_share is not None:
        rows.append(cells("input tokens from the server's cache", f"{tokens.cached_share:.1%}"))
    if tokens.unknown:
        rows.append(cells("answers without a token count", str(tokens.unknown)))
    if tokens.cost is not None:
        rows.append(cells("cost", f"{tokens.cost:.4f}"))
    if report.rule is not None:
        rule = report.rule
        rows += [
            cells("zeros in a row that settle a pivot", str(rule.zeros)),
            cells("ones in a row that settle a pivot", str(rule.ones)),
            cells("decisions that this changes, expected", f"{rule.changed:.1%}"),
        ]
    title = f"Samples of {report.model}, {report.api.value} API, {report.seconds:.1f} s"
    yield Section(title, (Table(("", ""), tuple(rows), numeric=frozenset({1})),))
    yield from share_section("What the verifier said", "samples", samples.categories, samples.answered)
    yield from count_section("Pivots that could not be asked", "pivots", report.unaskable)
    if report.last_failure is not None:
        yield Section("Last failure", (paragraph(report.last_failure, Tone.QUIET),))


def _recorded(report: RecordedReport) -> Section:
    left_out = {f"left out: {name}": count for name, count in report.left_out.items()}
    rows = {"read": report.rows, "used": report.used, **left_out}
    return Section(f"Recorded in {report.path}", (count_table("rows", rows),))
