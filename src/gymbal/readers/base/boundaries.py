"""Recorded ends of model calls, as counts of the items that the policy wrote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from gymbal.model.item import Item
from gymbal.model.json_fields import decode_fields
from gymbal.model.trajectory import CutEvidence, RecordedCut

_TOKEN_IDS = "generation_token_ids"
_TOKEN_IDS_KEY = b'"generation_token_ids"'
"""Stands in every item that carries token ids."""


def turn_cut(
    sizes: Sequence[int], items: Sequence[Item], *, splits_responses: bool
) -> tuple[RecordedCut, ...]:
    """The cut of a format that has one turn per model call, with `sizes` items of the policy each.

    It does not fit a source that `splits_responses` over several turns.
    """
    if not sizes:
        return ()
    fits = all(sizes) and sum(sizes) == sum(item.by_policy for item in items) and not splits_responses
    return (RecordedCut(CutEvidence.TURNS, tuple(sizes) if fits else None),)


def token_id_cut(items: Sequence[Item]) -> tuple[RecordedCut, ...]:
    """The cut of a training rollout, where the last item of each model call carries the sampled token ids.

    It does not fit when items of the policy stand after the last that carries them.
    """
    if not [item for item in items if _TOKEN_IDS_KEY in item.raw]:
        return ()
    written = [item for item in items if item.by_policy]
    sizes = tuple(_sizes(written))
    if not sizes:
        return ()
    return (RecordedCut(CutEvidence.TOKEN_IDS, sizes if sum(sizes) == len(written) else None),)


def _sizes(written: Sequence[Item]) -> Iterator[int]:
    size = 0
    for item in written:
        size += 1
        if _carries_token_ids(item.raw):
            yield size
            size = 0


def _carries_token_ids(raw: bytes) -> bool:
    if _TOKEN_IDS_KEY not in raw:
        return False
    return bytes(decode_fields(raw).get(_TOKEN_IDS, msgspec.Raw(b"null"))).startswith(b"[")
