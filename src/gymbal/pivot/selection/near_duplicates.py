"""Finds pivots that expect the same action after nearly the same state.

Repeats of one task make them: their states differ by a word here and there. Two pivots are near duplicates
when the verifier expects the same of both, and the ends of their states have nearly the same shingles.
Whole states are not compared: all pivots of a long trajectory have most of theirs in common.
"""

from __future__ import annotations

from hashlib import blake2b

from gymbal.pivot.selection.state import RowText, shingles_of
from gymbal.stats.minhash import Signature, bands_of, signature_of, similarity

SHINGLE_WORDS = 5

MOST_IN_BUCKET = 64
"""Kept pivots that share a band and an action. Further ones are kept and not compared with."""


class StateSketch:
    """The few numbers by which a pivot is compared: about 0.7 KB, and 2 KB once it is kept."""

    __slots__ = ("action", "signature")

    def __init__(self, text: RowText) -> None:
        self.action = text.action
        self.signature: Signature = signature_of(list(shingles_of(text.tail, SHINGLE_WORDS)))


class NearDuplicates:
    """The pivots that were kept so far, by the bands of their signatures."""

    def __init__(self, least: float) -> None:
        self._least = least
        self._kept: list[tuple[str, Signature]] = []
        self._buckets: dict[bytes, list[int]] = {}

    def like(self, sketch: StateSketch) -> tuple[str, float] | None:
        """The first kept pivot that the new one nearly equals, and how much; None where there is none."""
        seen: set[int] = set()
        for bucket in self._buckets_of(sketch):
            for number in self._buckets.get(bucket, ()):
                if number in seen:
                    continue
                seen.add(number)
                identity, signature = self._kept[number]
                shared = similarity(sketch.signature, signature)
                if shared >= self._least:
                    return identity, shared
        return None

    def keep(self, identity: str, sketch: StateSketch) -> None:
        """Compare later pivots with this one, too."""
        number = len(self._kept)
        self._kept.append((identity, sketch.signature))
        for bucket in self._buckets_of(sketch):
            entries = self._buckets.setdefault(bucket, [])
            if len(entries) < MOST_IN_BUCKET:
                entries.append(number)

    @staticmethod
    def _buckets_of(sketch: StateSketch) -> list[bytes]:
        """Keys of 8 bytes, since there are many."""
        action = sketch.action.encode()
        return [
            blake2b(b"%d %b" % (band, values), digest_size=8, key=action[:64]).digest()
            for band, values in enumerate(bands_of(sketch.signature))
        ]
