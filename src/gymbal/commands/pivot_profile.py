"""`gymbal pivot profile`: pivots and a policy in, the rewards of K samples at each pivot out."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gymbal.commands.different_pivots import different_pivots
from gymbal.commands.gym_config_file import read_gym_config_file
from gymbal.commands.open_pivots import Pivots, digest_of, open_pivots
from gymbal.commands.profile_options import check_profile_options
from gymbal.commands.profile_plan import ProfilePlan
from gymbal.errors import InputError, UsageError
from gymbal.io.fingerprint import fingerprint
from gymbal.io.jsonl import COMPRESSED_SUFFIXES
from gymbal.io.profile_file import check_target, write_profile
from gymbal.io.remote import is_remote, path_of
from gymbal.io.sample_journal import JournalWriter, read_journal_header
from gymbal.model.pivot_index import PivotEntry
from gymbal.model.profile import JournalHeader, PivotProfile, ProfileSource
from gymbal.model.profile_report import ProfileProgress, ProfileReport, SampledReport, TokenCounts
from gymbal.model.sampling import (
    Api,
    Budget,
    Endpoint,
    ReasoningForm,
    SamplingEnd,
    SamplingLimits,
    SamplingSettings,
)
from gymbal.model.target import Target
from gymbal.pivot.adaptive import fit, pilot_size
from gymbal.pivot.build import CONFIG
from gymbal.pivot.profile import OutcomeTally, notes_on
from gymbal.pivot.row_scorer import RowScorer
from gymbal.pivot.targets.detect import target_of_file
from gymbal.pivot.targets.servers import SERVERS
from gymbal.pivot.wiring import GymConfig
from gymbal.sampling.meter import Meter
from gymbal.sampling.run import detect_api, sample

DETECT = "auto"

JOURNAL_ENDING = ".samples.jsonl"
"""Behind the name of the profile, without its `.jsonl`."""


def pivot_profile(
    pivots: str | Path,
    output: str | Path,
    *,
    base_url: str,
    model: str,
    k: int = 8,
    adaptive: bool = False,
    api: str = DETECT,
    temperature: float | None = 1.0,
    top_p: float | None = None,
    max_output_tokens: int | None = None,
    reasoning: ReasoningForm = ReasoningForm.FIELD,
    extra_body: Mapping[str, Any] | None = None,
    config: str | Path | None = None,
    api_key_env: str | None = None,
    limits: SamplingLimits | None = None,
    budget: Budget | None = None,
    progress: Callable[[ProfileProgress], object] | None = None,
) -> ProfileReport:
    """Ask a policy for `k` one-turn samples at each pivot, score them, and write the profile.

    `pivots` is what `open_pivots` takes. The samples go into a journal beside `output`, a local file, as they
    come; where it is there already, what it holds is not asked again. `config` is the Gym config that scores
    the rows; by default the `config.yaml` beside them, for an index its threshold, else Gym's stock config.
    `api` is `chat`, `responses` or `auto`. `api_key_env` names the environment variable that holds the key.
    `progress` is called every few seconds.

    A run that was interrupted or used up its budget still writes the profile of what it has: see
    `SampledReport.end`. Raises UsageError, InputError, EndpointError when the endpoint cannot be asked, and
    KeyboardInterrupt, with nothing written, when it is interrupted before its API is known.
    """
    started = time.monotonic()
    limits, budget = limits or SamplingLimits(), budget or Budget()
    check_profile_options(
        k=k,
        temperature=temperature,
        top_p=top_p,
        max_output_tokens=max_output_tokens,
        extra_body=extra_body or {},
        limits=limits,
        budget=budget,
    )
    output = path_of(output)
    if is_remote(output):
        raise UsageError(f"{output} is remote, and a journal is appended to: name a local file")
    check_target(output)
    journal_path = output.with_name(output.name.removesuffix(".jsonl") + JOURNAL_ENDING)
    opened = open_pivots(pivots)
    entries, duplicates = different_pivots(opened)
    scorer = _scorer(opened, config)
    endpoint = Endpoint(base_url=base_url, api_key=_key(api_key_env))
    settings = SamplingSettings(
        model=model,
        api=_api(api, journal_path, endpoint, limits, model),
        temperature=temperature,
        top_p=top_p,
        max_output_tokens=max_output_tokens,
        reasoning=reasoning,
        extra_body=extra_body or {},
    )
    meter = Meter(budget)
    with JournalWriter(journal_path, _header(settings, base_url, scorer, opened)) as journal:
        plan = ProfilePlan(
            entries, k, journal, meter, scorer=scorer, row=opened.row, model=model, progress=progress
        )
        plan.recall(journal.known)
        end = _ask(plan, _lanes(entries, opened), endpoint, settings, limits, meter, adaptive=adaptive)
    tally = OutcomeTally()
    write_profile(output, _profiles(entries, plan, tally))
    return ProfileReport(
        pivots=tally.pivots,
        duplicates=duplicates,
        k=k,
        source=ProfileSource.SAMPLED,
        output=str(output),
        outcomes=tally.outcomes,
        by_kind=tally.by_kind,
        mean=tally.mean,
        sampled=_sampled(plan, settings, end, journal_path, _tokens(meter, budget), started),
        notes=tuple(_notes(tally, settings, scorer)),
    )


def _api(wanted: str, journal: Path, endpoint: Endpoint, limits: SamplingLimits, model: str) -> Api:
    """The API to ask; a journal that is gone on with has chosen it already."""
    if wanted in set(Api):
        return Api(wanted)
    if wanted != DETECT:
        raise UsageError(f"api must be {DETECT}, {' or '.join(Api)}, found {wanted!r}")
    if journal.is_file() and journal.stat().st_size:
        known = read_journal_header(journal).settings.get("api")
        if known in set(Api):
            return Api(known)
    return detect_api(endpoint, limits, model)


def _scorer(opened: Pivots, config: str | Path | None) -> RowScorer:
    """By the config that is named, else the one beside the rows, else what an index says of itself."""
    beside = opened.files[0].with_name(CONFIG)
    if config is None and opened.header is None and beside.is_file():
        config = beside
    found = None if config is None else read_gym_config_file(path_of(config))
    _refuse_other_target(opened, found)
    if found is not None:
        if not found.comparators:
            remedy = f"Name a config of {SERVERS[Target.SINGLE_STEP].name} with --config."
            raise InputError("has no server that scores pivots", path=str(config), remedy=remedy)
        return RowScorer(found)
    if opened.header is not None:
        return RowScorer(None, {"word_count_similarity_threshold": opened.header.threshold})
    return RowScorer(None)


def _refuse_other_target(opened: Pivots, config: GymConfig | None) -> None:
    """Raise UsageError for rows of another verifier than the one that is reproduced here."""
    if opened.header is not None:
        target = Target(opened.header.options.get("target", Target.SINGLE_STEP))
    else:
        target = target_of_file(opened.files[0], config)
    if target is not Target.SINGLE_STEP:
        raise UsageError(
            f"the pivots are made for {target.value}, whose rewards only Gym can give",
            remedy="Run them in Gym, and take the rewards over with --from-gym.",
        )


def _key(name: str | None) -> str | None:
    if name is None:
        return None
    key = os.environ.get(name)
    if not key:
        raise UsageError(f"the environment variable {name} is not set", remedy="It has to hold the API key.")
    if not key.isascii() or any(character.isspace() for character in key):
        raise UsageError(f"the environment variable {name} holds no API key: it has white space in it")
    return key


def _header(settings: SamplingSettings, base_url: str, scorer: RowScorer, opened: Pivots) -> JournalHeader:
    asked = {
        "api": settings.api.value,
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "max_output_tokens": settings.max_output_tokens,
        "reasoning": settings.reasoning.value,
        "extra_body": dict(settings.extra_body),
    }
    return JournalHeader(
        model=settings.model,
        base_url_digest=fingerprint(base_url.rstrip("/")),
        settings=asked,
        config=scorer.options,
        pivots=digest_of(opened),
    )


def _lanes(entries: Sequence[PivotEntry], opened: Pivots) -> list[list[str]]:
    """The pivots of each trajectory by depth, trajectories in order of their first pivot.

    Rows of a compressed file can only be read one after another: each is a lane of its own, in order.
    """
    lanes: dict[object, list[PivotEntry]] = {}
    is_packed = opened.header is None and any(path.suffix in COMPRESSED_SUFFIXES for path in opened.files)
    for entry in entries:
        key = None if is_packed else entry.origin or entry.rollout
        lanes.setdefault(entry.id if key is None else key, []).append(entry)
    return [
        [entry.id for entry in sorted(lane, key=lambda entry: (entry.depth or 0, entry.call))]
        for lane in lanes.values()
    ]


def _ask(
    plan: ProfilePlan,
    lanes: list[list[str]],
    endpoint: Endpoint,
    settings: SamplingSettings,
    limits: SamplingLimits,
    meter: Meter,
    *,
    adaptive: bool,
) -> SamplingEnd:
    """Ask for all that is wanted; an adaptive profile samples its pilot to the end first."""
    if adaptive:
        pivots = [pivot for lane in lanes for pivot in lane]
        # By a digest: a part of the file would be a part of the tasks.
        pilot = set(sorted(pivots, key=fingerprint)[: pilot_size(len(pivots))])
        plan.lanes = [kept for lane in lanes if (kept := [pivot for pivot in lane if pivot in pilot])]
        end = sample(plan, endpoint, settings, limits, meter)
        if end is not SamplingEnd.COMPLETE:
            return end
        plan.rule = fit((plan.rewards(pivot) for pivot in pilot), plan.k, pivots=len(pivots))
    plan.lanes = lanes
    return sample(plan, endpoint, settings, limits, meter)


def _profiles(
    entries: Iterable[PivotEntry], plan: ProfilePlan, tally: OutcomeTally
) -> Iterator[PivotProfile]:
    for entry in entries:
        profile = plan.profile(entry.id)
        tally.add(profile, entry.kind)
        yield profile


def _sampled(
    plan: ProfilePlan,
    settings: SamplingSettings,
    end: SamplingEnd,
    journal: Path,
    tokens: TokenCounts,
    started: float,
) -> SampledReport:
    return SampledReport(
        model=settings.model,
        api=settings.api,
        end=end,
        journal=str(journal),
        samples=plan.counts(),
        tokens=tokens,
        unaskable=plan.unaskable_counts(),
        rule=plan.rule,
        last_failure=plan.last_failure,
        seconds=round(time.monotonic() - started, 3),
    )


def _tokens(meter: Meter, budget: Budget) -> TokenCounts:
    says_cached = meter.cached_of > 0
    return TokenCounts(
        input=meter.input,
        output=meter.output,
        cached=meter.cached if says_cached else None,
        cached_share=meter.cached / meter.cached_of if says_cached else None,
        unknown=meter.unknown,
        cost=meter.cost if budget.prices is not None else None,
    )


def _notes(tally: OutcomeTally, settings: SamplingSettings, scorer: RowScorer) -> list[str]:
    notes = notes_on(tally.outcomes, tally.by_kind)
    if settings.temperature == 0.0:
        notes.append(
            "The temperature is 0: all samples of a pivot are nearly the same, and few groups mixed."
        )
    if not scorer.has_config:
        shown = ", ".join(f"{name} {value}" for name, value in scorer.options.items())
        notes.append(f"Scored without a Gym config, with {shown}.")
    return notes
