"""Noise: would a re-run of the same two runs differ as much?"""

from __future__ import annotations

from gymbal.model.finding import Finding, NoiseEstimate, Rung, Status
from gymbal.triage.noise_estimates import name_of_noise
from gymbal.triage.pair import Pair


def check(pair: Pair) -> Finding:
    """`different` when the paired difference is larger than re-run noise on the same tasks."""
    if pair.gap.distinguishable is None:
        return Finding(
            name=Rung.NOISE,
            status=Status.UNKNOWN,
            summary=f"not estimable: {pair.noise_reason}",
        )
    sentences = [
        f"{question}: {estimate_text(estimate)}"
        for question, estimate in (
            ("same tasks, re-run", pair.noise.same_tasks),
            ("new tasks like these", pair.noise.new_tasks),
        )
        if estimate is not None
    ]
    if pair.noise.same_tasks is None:
        sentences.insert(0, f"same tasks, re-run: not estimable, {pair.noise_reason}")
    sentences += [
        f"the repeats of {odd.side} scatter more than chance (p {odd.p:.2g}): {_listed(odd.means)}"
        for odd in pair.noise.odd_repeats
    ]
    name = name_of_noise(pair.noise)
    if pair.gap.distinguishable:
        return Finding(
            name=Rung.NOISE,
            status=Status.DIFFERENT,
            summary=f"larger than {name} ({'; '.join(sentences)})",
        )
    return Finding(
        name=Rung.NOISE,
        status=Status.SAME,
        summary=f"within {name} ({'; '.join(sentences)})",
        next=_next(pair),
    )


def _listed(means: tuple[float, ...]) -> str:
    return ", ".join(f"{mean:.3f}" for mean in means)


def estimate_text(estimate: NoiseEstimate) -> str:
    """The estimate as one clause with everything that it rests on."""
    interval = f"{100 * estimate.level:.4g}% interval [{estimate.low:+.4f}, {estimate.high:+.4f}]"
    basis = f"n {estimate.n} tasks, k {estimate.k:g}, {estimate.method}"
    return f"{estimate.difference:+.4f}, {interval}, p {estimate.p:.3g}, {basis}"


def _next(pair: Pair) -> tuple[str, ...]:
    if pair.noise.minimum_detectable is None:
        return ()
    text = (
        f"a difference below {pair.noise.minimum_detectable:.3f} would go unseen with these tasks and repeats"
    )
    if pair.noise.repeats_needed is not None:
        text += f"; to settle one of this size, run {pair.noise.repeats_needed} repeats a side"
    return (text,)
