"""`gymbal gate`."""

from __future__ import annotations

import datetime

import click

from gymbal.cli.render import emit, format_option


@click.command()
@click.argument("policy", metavar="POLICY.toml")
@click.argument("base")
@click.argument("candidates", nargs=-1, required=True, metavar="CANDIDATE...")
@format_option
@click.option("--junit", metavar="FILE", help="Write the decisions as JUnit XML, too.")
@click.option("--summary", metavar="FILE", help="Write the report as Markdown, too.")
@click.option(
    "--date",
    type=click.DateTime(formats=["%Y-%m-%d"]),
    help="Day by which waivers expire; by default today's, in UTC.",
)
@click.pass_context
def gate(
    ctx: click.Context,
    policy: str,
    base: str,
    candidates: tuple[str, ...],
    format: str,
    junit: str | None,
    summary: str | None,
    date: datetime.datetime | None,
) -> None:
    """Decide by POLICY.toml whether each CANDIDATE may replace BASE.

    Each side is a folder that holds one run directory per benchmark.

    \b
    Exit codes
      0  PASS or WARN
      1  FAIL: a blocking benchmark got worse by more than its margin
      2  usage error, or a policy that is not valid
      3  INCONCLUSIVE: a blocking benchmark shows neither, or is missing
    """
    if junit is not None and summary is not None and _same_place(junit, summary):
        raise click.UsageError("--junit and --summary name the same file")
    from gymbal.commands.gate import gate as decide
    from gymbal.report.gate import gate_document

    day = datetime.datetime.now(datetime.UTC) if date is None else date
    report = decide(policy, base, candidates, today=day.date())
    document = gate_document(report)
    if junit is not None:
        from gymbal.report.junit import to_junit

        _write(junit, to_junit(report))
    if summary is not None:
        from gymbal.report.markdown import to_markdown

        _write(summary, to_markdown(document).encode())
    emit(document, report, format)
    ctx.exit(report.exit_code)


def _same_place(one: str, other: str) -> bool:
    """Whether two paths lead to one file, be it there or not."""
    import os

    return os.path.realpath(one) == os.path.realpath(other)


def _write(file: str, data: bytes) -> None:
    from pathlib import Path

    from gymbal.errors import UsageError
    from gymbal.io.write import make_folder, write_bytes

    path = Path(file)
    if not path.name:
        raise UsageError(f"{file!r} is no name of a file to write")
    make_folder(path.parent)
    write_bytes(path, data)
