"""What number of model calls a recorder may have written down for a trajectory."""

from __future__ import annotations

from gymbal.model.inspection import SeededGreeting
from gymbal.model.trajectory import NonModelTurn, Trajectory


def expected_counts(
    trajectory: Trajectory,
    found: int,
    seed_calls: int,
    seeded_greeting: SeededGreeting = SeededGreeting.AUTO,
) -> frozenset[int]:
    """The numbers that stand for `found` model calls after a seed that holds `seed_calls` of them.

    A recorder counts from the end of the seed, or from the start of the conversation: then with the calls and
    the scripted opening that the seed holds. `seeded_greeting` says which of both; AUTO takes either.
    """
    opening = seed_calls + trajectory.non_model_turns.get(NonModelTurn.SCRIPTED_GREETING, 0)
    with_opening = found + max(opening, 1 if seeded_greeting is SeededGreeting.YES else 0)
    if seeded_greeting is SeededGreeting.YES:
        return frozenset({with_opening})
    return frozenset({found} if seeded_greeting is SeededGreeting.NO else {found, with_opening})
