"""`gymbal pivot profile`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click
import msgspec

from gymbal.cli.exit_codes import INTERRUPTED_EXIT
from gymbal.cli.render import emit, format_option
from gymbal.errors import UsageError

if TYPE_CHECKING:
    from gymbal.model.profile_report import ProfileProgress, ProfileReport

_ASKING = (
    click.option("--base-url", metavar="URL", help="Endpoint to ask, up to its /v1."),
    click.option("--model", help="Name of the policy there."),
    click.option("-k", "--samples", "k", default=8, show_default=True, help="Samples of each pivot."),
    click.option(
        "--adaptive", is_flag=True, help="Stop early at pivots that are settled; see docs/profile.md."
    ),
    click.option(
        "--api",
        type=click.Choice(("auto", "chat", "responses")),
        default="auto",
        show_default=True,
        help="Chat completions or Responses; auto asks the endpoint.",
    ),
    click.option(
        "--api-key-env", metavar="NAME", help="Environment variable with the key; it is written nowhere."
    ),
    click.option("--config", help="Gym config to score with; by default the config.yaml beside the rows."),
    click.option(
        "--temperature",
        type=click.FloatRange(min=0),
        default=1.0,
        show_default=True,
        help="As in the training to come.",
    ),
    click.option(
        "--top-p", type=click.FloatRange(0, 1, min_open=True), help="By default the row's, else the server's."
    ),
    click.option(
        "--max-output-tokens",
        type=click.IntRange(min=1),
        help="Longest answer; by default the row's, else the server's.",
    ),
    click.option(
        "--reasoning",
        type=click.Choice(("field", "think", "omit")),
        default="field",
        show_default=True,
        help="How chat requests hold the reasoning of earlier calls.",
    ),
    click.option(
        "--extra-body", metavar="JSON", help='Further fields of each request, such as {"top_k": 20}.'
    ),
    click.option(
        "--concurrency", type=click.IntRange(min=1), default=32, show_default=True, help="Requests at once."
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=600.0,
        show_default=True,
        help="Seconds for one request.",
    ),
    click.option(
        "--attempts",
        type=click.IntRange(min=1),
        default=6,
        show_default=True,
        help="Requests for one sample before it counts as failed.",
    ),
    click.option("--max-tokens-total", type=click.IntRange(min=1), help="Token budget of the whole journal."),
    click.option("--max-cost", type=click.FloatRange(min=0, min_open=True), help="Budget in money."),
    click.option("--price-input", type=click.FloatRange(min=0), help="Price of a million input tokens."),
    click.option("--price-output", type=click.FloatRange(min=0), help="Price of a million output tokens."),
    click.option(
        "--price-cached", type=click.FloatRange(min=0), help="Price of a million cached input tokens."
    ),
)


def _asking_options(command: Any) -> Any:
    for option in reversed(_ASKING):
        command = option(command)
    return command


@click.command("profile")
@click.argument("pivots")
@click.option(
    "--output", "-o", required=True, metavar="FILE", help="Profile to write, such as profile.jsonl."
)
@_asking_options
@click.option("--from-gym", metavar="RUN", help="Take rewards from a Gym run over PIVOTS, and ask nobody.")
@click.option(
    "--from-field", metavar="NAME", help="Take pass rates from a field of the rows, and ask nobody."
)
@format_option
def profile_command(
    pivots: str,
    output: str,
    from_gym: str | None,
    from_field: str | None,
    format: str,
    **asking: Any,
) -> None:
    """Measure which of PIVOTS a policy can learn from: rewards of K one-turn samples at each.

    PIVOTS is a pivot file, a dataset folder or an index. Samples are kept in a journal beside FILE, whose
    name ends in .samples.jsonl; the same command goes on with it, and asks nothing again that was answered.

    \b
    Exit codes
      0    every pivot has its samples, or rewards were taken over
      1    samples are missing: some failed, a budget is used up, or the endpoint kept failing
      2    usage error, unreadable input, or an endpoint that cannot be asked
      130  interrupted; what was answered is kept
    """
    from gymbal.report.pivot_profile import profile_document

    if (from_gym is not None) + (from_field is not None) + (asking["base_url"] is not None) != 1:
        raise UsageError("give one of --base-url, --from-gym and --from-field")
    if from_gym is not None:
        from gymbal.commands.pivot_profile_recorded import pivot_profile_from_gym

        report = pivot_profile_from_gym(pivots, output, from_gym)
    elif from_field is not None:
        from gymbal.commands.pivot_profile_recorded import pivot_profile_from_field

        report = pivot_profile_from_field(pivots, output, from_field)
    else:
        report = _ask(pivots, output, **asking)
        if sys.stderr is not None and sys.stderr.isatty():
            click.echo("\r\x1b[K", nl=False, err=True)
    emit(profile_document(report), report, format)
    click.get_current_context().exit(_exit_code(report))


def _ask(
    pivots: str,
    output: str,
    *,
    base_url: str,
    model: str | None,
    concurrency: int,
    timeout: float,
    attempts: int,
    reasoning: str,
    extra_body: str | None,
    max_tokens_total: int | None,
    max_cost: float | None,
    price_input: float | None,
    price_output: float | None,
    price_cached: float | None,
    **plain: Any,
) -> ProfileReport:
    from gymbal.commands.pivot_profile import pivot_profile
    from gymbal.model.sampling import Budget, Prices, ReasoningForm, SamplingLimits

    if model is None:
        raise UsageError("--base-url needs --model", remedy="The endpoint's /models lists the names.")
    prices = None
    if price_input is not None and price_output is not None:
        prices = Prices(input=price_input, output=price_output, cached=price_cached)
    elif (price_input, price_output, price_cached) != (None, None, None):
        raise UsageError("prices need both --price-input and --price-output")
    return pivot_profile(
        pivots,
        output,
        base_url=base_url,
        model=model,
        reasoning=ReasoningForm(reasoning),
        extra_body=_object(extra_body),
        limits=SamplingLimits(concurrency=concurrency, timeout=timeout, attempts=attempts),
        budget=Budget(tokens=max_tokens_total, cost=max_cost, prices=prices),
        progress=_show if sys.stderr is not None and sys.stderr.isatty() else None,
        **plain,
    )


def _show(progress: ProfileProgress) -> None:
    """One line that the next one overwrites."""
    failed = f", {progress.failed} failed" if progress.failed else ""
    click.echo(f"\r{progress.answered} of {progress.most} samples{failed}\x1b[K", nl=False, err=True)


def _object(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        # Unlike json.loads, this takes no NaN and no number that is too large.
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise UsageError("--extra-body must be a JSON object")
    return value


def _exit_code(report: ProfileReport) -> int:
    from gymbal.model.sampling import SamplingEnd

    if report.sampled is None:
        return 0
    if report.sampled.end is SamplingEnd.INTERRUPTED:
        return INTERRUPTED_EXIT
    is_whole = report.sampled.end is SamplingEnd.COMPLETE and not report.sampled.samples.failed
    return 0 if is_whole and not report.sampled.unaskable else 1
