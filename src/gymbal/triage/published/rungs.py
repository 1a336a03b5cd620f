"""The ladder for a published number: what each rung can say from totals and stated facts."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gymbal.model.evidence import Fact, Role, Strength
from gymbal.model.finding import Comparison, Finding, Rung, Status
from gymbal.model.reference import ErrorKind, Grade
from gymbal.stats.published import MOST_REPEATS, implied_tasks_range, possible_counts, possible_repeats
from gymbal.triage.facts import compare_facts
from gymbal.triage.published.error import counts_repeats
from gymbal.triage.published.noise import TotalsNoise
from gymbal.triage.published.side import NumberSide
from gymbal.triage.rendering import models
from gymbal.triage.rungs import integrity, method
from gymbal.triage.rungs.benchmark import KEEP_THE_PLAN
from gymbal.triage.rungs.code import ROLES as CODE_ROLES
from gymbal.triage.side import SideView

ASK_FOR_TASKS = (
    "ask the publisher for per-task rewards, or run the reference's model through the same harness"
)


class NumberPair(msgspec.Struct, frozen=True, kw_only=True):
    left: NumberSide
    right: NumberSide
    totals: TotalsNoise

    @property
    def sides(self) -> tuple[NumberSide, NumberSide]:
        return self.left, self.right

    @property
    def opposed(self) -> tuple[tuple[NumberSide, NumberSide], ...]:
        """Each side with the other one."""
        return (self.left, self.right), (self.right, self.left)


def check_integrity(pair: NumberPair) -> Finding:
    """A run that broke, or a number that its own n and k cannot give."""
    faults = [
        f"{side.label}: {text}"
        for side in pair.sides
        if side.view is not None
        for text in integrity.side_faults(side.view).values()
    ]
    faults += [text for side, other in pair.opposed for text in _impossible(side, other)]
    if faults:
        return Finding(name=Rung.INTEGRITY, status=Status.DIFFERENT, summary="; ".join(faults))
    grades = [
        f"{side.label} is a {side.reference.grade.value.replace('_', ' ')}"
        for side in pair.sides
        if side.reference is not None
    ]
    needed = [text for side, other in pair.opposed for text in _unstated_repeats(side, other)]
    wanted = [
        f"{side.label}: state {', '.join(side.reference.missing)}"
        for side in pair.sides
        if side.reference is not None and side.reference.grade is not Grade.CONTRACT
    ]
    return Finding(
        name=Rung.INTEGRITY,
        status=Status.SAME,
        summary="; ".join(("the numbers are possible", *grades, *needed)),
        facts=tuple(_reference_facts(pair)),
        next=tuple(wanted),
    )


def _reference_facts(pair: NumberPair) -> list[Comparison]:
    return [
        Comparison(
            name=name,
            left=getattr(pair.left.reference, name, None),
            right=getattr(pair.right.reference, name, None),
            source="as stated",
        )
        for name in ("printed", "grade", "source", "read", "error", "error_kind")
    ]


def _impossible(side: NumberSide, other: NumberSide) -> list[str]:
    """Granularity: a mean of 0/1 rewards over n x k rollouts is a whole number of passes."""
    reference = side.reference
    if reference is None or reference.tasks is None or not _counts_passes(side, other):
        return []
    found = possible_repeats(reference.printed, reference.tasks, scale=reference.scale)
    prints = f"{side.label}: no count of passes prints as {reference.printed} for n {reference.tasks}"
    if reference.repeats is None:
        return [] if found else [f"{prints} with any k up to {MOST_REPEATS}"]
    rollouts = reference.tasks * reference.repeats
    if possible_counts(reference.printed, rollouts, scale=reference.scale):
        return []
    hint = f"first possible with k {found[0]}" if found else f"not possible with any k up to {MOST_REPEATS}"
    return [f"{prints}, k {reference.repeats} ({hint})"]


def _unstated_repeats(side: NumberSide, other: NumberSide) -> list[str]:
    """The repeats that a number needs which does not state them."""
    reference = side.reference
    if reference is None or reference.tasks is None or reference.repeats is not None:
        return []
    found = possible_repeats(reference.printed, reference.tasks, scale=reference.scale)
    if not _counts_passes(side, other) or not found or found[0] == 1:
        return []
    return [f"as a count of passes {side.label} takes a k of at least {found[0]} over n {reference.tasks}"]


def _counts_passes(side: NumberSide, other: NumberSide) -> bool:
    """Whether the side's score may be held to be a share of passes: partial rewards average to anything."""
    return counts_repeats(side.metric) and other.is_pass_fail is not False


def check_code(pair: NumberPair) -> Finding:
    """Stated code and serving facts against the run's recorded ones."""
    return _facts_finding(pair, Rung.CODE, CODE_ROLES, "code and serving")


def check_method(pair: NumberPair) -> Finding:
    """Stated config facts against the run's requests and configs, by name."""
    sides = [_with_requests(side) for side in pair.sides]
    named = NumberPair(left=sides[0], right=sides[1], totals=pair.totals)
    return _facts_finding(named, Rung.METHOD, method.ROLES | {Role.MODEL}, "method")


def _with_requests(side: NumberSide) -> NumberSide:
    if side.view is None:
        facts = tuple(_by_base_name(fact) if fact.role is Role.MODEL else fact for fact in side.facts)
        return msgspec.structs.replace(side, facts=facts)
    requests = (*method.request_facts(side.view), *_model_facts(side.view))
    names = {fact.name for fact in requests}
    rest = tuple(fact for fact in side.facts if fact.name not in names and fact.role is not Role.MODEL)
    return msgspec.structs.replace(side, facts=(*requests, *rest))


def _by_base_name(fact: Fact) -> Fact:
    """A model's name without its publisher's, in lower case: endpoints shorten what cards spell out."""
    return msgspec.structs.replace(fact, value=str(fact.value).rsplit("/", 1)[-1].lower())


def _model_facts(view: SideView) -> tuple[Fact, ...]:
    """The model that answered. A published number is easily one of a sibling: base for instruct, say."""
    names = models(view)
    if len(names) != 1:
        return ()
    (name,) = names
    return (
        _by_base_name(
            Fact(
                name="model",
                role=Role.MODEL,
                value=name,
                strength=Strength.RECORDED,
                file="rollouts",
                key="response.model",
            )
        ),
    )


def _facts_finding(pair: NumberPair, rung: Rung, roles: frozenset[Role], subject: str) -> Finding:
    facts = compare_facts(pair.left.facts, pair.right.facts, roles)
    shown = facts.different + facts.equal
    if facts.different:
        named = ", ".join(f"{fact.name} {fact.left} against {fact.right}" for fact in facts.different)
        return Finding(name=rung, status=Status.DIFFERENT, summary=named, facts=shown)
    agreeing = ", ".join(f"{fact.name} {fact.left}" for fact in facts.equal)
    summary = (
        f"stated and equal: {agreeing}; the rest of the {subject} is not stated"
        if agreeing
        else (f"the {subject} of both sides is not stated")
    )
    return Finding(name=rung, status=Status.UNKNOWN, summary=summary, facts=shown)


def check_benchmark(pair: NumberPair) -> Finding:
    """The number of tasks, stated or implied by the error bar; their content cannot be seen."""
    counts = tuple(side.tasks for side in pair.sides)
    facts = (Comparison(name="tasks", left=counts[0], right=counts[1]),)
    implied = [found for side, other in pair.opposed if (found := _implied_mismatch(side, other))]
    sentences = [text for status, text in implied if status is Status.DIFFERENT]
    against = f"{counts[0]} tasks against {counts[1]}"
    doubt = next((side for side, other in pair.opposed if _may_have_lost_tasks(side, other)), None)
    doubled = next((side for side, other in pair.opposed if _counts_lines_once(side, other)), None)
    if None not in counts and counts[0] != counts[1] and doubt is None and doubled is None:
        sentences.insert(0, against)
    if sentences:
        return Finding(
            name=Rung.BENCHMARK, status=Status.DIFFERENT, summary="; ".join(sentences), facts=facts
        )
    if doubt is not None:
        return Finding(
            name=Rung.BENCHMARK,
            status=Status.UNKNOWN,
            summary=f"{against}; {doubt.label}, which kept no plan, may have lost some",
            facts=facts,
            next=(KEEP_THE_PLAN,),
        )
    same = f"both have {counts[0]} tasks" if None not in counts else "the number of tasks is not stated"
    if doubled is not None:
        same = f"{against}, as equal lines of {doubled.label} are one task"
    unseen = "whether they are the same ones cannot be seen from a number"
    return Finding(
        name=Rung.BENCHMARK,
        status=Status.UNKNOWN,
        summary="; ".join((same, *(text for _, text in implied), unseen)),
        facts=facts,
        next=("state the benchmark's version and split in the reference",),
    )


def _may_have_lost_tasks(side: NumberSide, other: NumberSide) -> bool:
    """Whether the side is a run without a plan that shows fewer tasks than the other side has."""
    return side.lacks_plan and (side.tasks or 0) < (other.tasks or 0)


def _counts_lines_once(side: NumberSide, other: NumberSide) -> bool:
    """Whether the side is a run whose dataset has as many lines as the other side has tasks.

    Gym takes equal lines for more repeats of one task (nemo-gym 0.7.0); who prints an n mostly counts lines.
    """
    if side.view is None or not side.view.has_plan or side.tasks == other.tasks:
        return False
    planned = [task.planned for task in side.view.tasks.values()]
    repeats = min(planned, default=0)
    return (
        bool(repeats)
        and all(rows % repeats == 0 for rows in planned)
        and (sum(planned) // repeats == other.tasks)
    )


def _implied_mismatch(side: NumberSide, other: NumberSide) -> tuple[Status, str] | None:
    """A printed standard error implies n, where the rewards are 0/1 and tasks were run once.

    Repeats make an error smaller, and so seem to be more tasks: where k is not stated they may be.
    """
    reference = side.reference
    if reference is None or reference.error is None or reference.error_kind is not ErrorKind.STANDARD_ERROR:
        return None
    expected = reference.tasks or other.tasks
    if expected is None or (reference.repeats or 1) > 1 or float(reference.error) == 0.0:
        return None
    implied = implied_tasks_range(reference.printed, reference.error, scale=reference.scale)
    is_lower_bound = reference.tasks is None and other.lacks_plan
    if expected in implied or (is_lower_bound and expected < implied.low) or not _counts_passes(side, other):
        return None
    found = f"an error of {reference.error} implies {implied.low:.0f} to {implied.high:.0f} tasks"
    if reference.repeats is None and expected < implied.low:
        return Status.UNKNOWN, f"{side.label}: {found}, or repeats of {expected}"
    return Status.DIFFERENT, f"{side.label}: {found}, not {expected}"


def check_noise(pair: NumberPair) -> Finding:
    """Whether the totals differ by more than chance; `unknown` where that depends on what they leave open."""
    statuses = {True: Status.DIFFERENT, False: Status.SAME, None: Status.UNKNOWN}
    return Finding(
        name=Rung.NOISE,
        status=statuses[pair.totals.distinguishable],
        summary=pair.totals.summary,
        next=() if pair.totals.distinguishable else (ASK_FOR_TASKS,),
    )


def check_model(pair: NumberPair, earlier: Sequence[Finding]) -> Finding:
    """What is left, judged by the earlier findings."""
    causes = [
        finding.name.value
        for finding in earlier
        if finding.status is Status.DIFFERENT and finding.name is not Rung.NOISE
    ]
    if causes:
        return Finding(
            name=Rung.MODEL, status=Status.UNKNOWN, summary=f"cannot be judged: {', '.join(causes)} first"
        )
    if pair.totals.distinguishable is True:
        return Finding(
            name=Rung.MODEL,
            status=Status.DIFFERENT,
            summary="the totals differ by more than noise and nothing that is stated differs",
        )
    if pair.totals.distinguishable is None:
        return Finding(name=Rung.MODEL, status=Status.UNKNOWN, summary="cannot be judged: noise is unknown")
    return Finding(
        name=Rung.MODEL, status=Status.SAME, summary="totals alone show no difference beyond noise"
    )
