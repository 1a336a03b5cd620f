"""Counts the tokens of a row's input, by the tokenizer of the policy that will read it.

What is counted is the JSON of instructions, tools and input items, not the prompt that a chat template makes
of them: the envelope of JSON stands for that of the template.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

from gymbal.errors import InputError, UsageError, need
from gymbal.io.decode import read_bounded
from gymbal.model.pivot import Refusal, SkipReason
from gymbal.model.trajectory import Trajectory
from gymbal.pivot.candidate import Candidate, Judged
from gymbal.pivot.options import BuildOptions
from gymbal.pivot.replay import replay
from gymbal.pivot.row import Row

CHARACTERS_A_TOKEN = 4
"""What stands for a token where no tokenizer is given: about right for English text and code."""

_CACHED_TEXTS = 64

CountTokens = Callable[[str], int]


def token_counter(tokenizer: str | None) -> CountTokens:
    """Return what counts the tokens of a text: by a `tokenizer.json` or the name of one, else by characters.

    Raises InputError for a file that is no tokenizer, UsageError for a name that nothing is found under, and
    MissingExtraError without the extra `tokenizers`.
    """
    if tokenizer is None:
        return lambda text: -(-len(text) // CHARACTERS_A_TOKEN)
    loaded = need("tokenizers", extra="tokenizers", feature="counting tokens").Tokenizer
    path = Path(tokenizer)
    if path.is_dir():
        path /= "tokenizer.json"
    try:
        found = (
            loaded.from_buffer(read_bounded(path)) if path.is_file() else loaded.from_pretrained(tokenizer)
        )
    except ValueError as error:
        raise InputError(f"is no tokenizer: {error}", path=path) from error
    except OSError as error:
        raise UsageError(
            f"there is no tokenizer {tokenizer!r}: {error}",
            remedy="Give the tokenizer.json of the model, or its folder.",
        ) from error
    return lambda text: len(found.encode(text, add_special_tokens=False).ids)


class TokenLimit:
    """Refuses rows with more tokens than a limit. Each item of a trajectory is counted once."""

    def __init__(self, most: int, count: CountTokens) -> None:
        self._most = most
        self._count = count
        self._count_shared = lru_cache(maxsize=_CACHED_TEXTS)(self._of_bytes)

    @classmethod
    def of(cls, options: BuildOptions) -> TokenLimit | None:
        """The limit that is asked for; None without one. Raises as `token_counter` does."""
        if options.max_input_tokens is None:
            return None
        return cls(options.max_input_tokens, token_counter(options.tokenizer))

    def applied_to(self, judged: Judged) -> Judged:
        """Return `judged` with rows that are too long as refusals."""
        starts = [each.call.start for each in judged.candidates if isinstance(each.outcome, Row)]
        if not starts:
            return judged
        tokens = iter(self._of_calls(judged.trajectory, starts))
        kept = tuple(
            self._within(each, next(tokens)) if isinstance(each.outcome, Row) else each
            for each in judged.candidates
        )
        return judged._replace(candidates=kept)

    def _within(self, candidate: Candidate, tokens: int) -> Candidate:
        if tokens <= self._most:
            return candidate
        detail = f"the input has {tokens} tokens, limit {self._most}"
        return Candidate(candidate.call, Refusal(SkipReason.INPUT_TOO_LONG, detail))

    def _of_calls(self, trajectory: Trajectory, starts: Sequence[int]) -> list[int]:
        """Tokens of what the policy read before each of the items at `starts`."""
        shared = self._count_shared(trajectory.tools) + self._count_shared(trajectory.instructions or b"")
        items = (*trajectory.seed, *trajectory.items[: max(starts, default=0)])
        before = list(accumulate((self._of_bytes(replay(item).raw) for item in items), initial=shared))
        return [before[len(trajectory.seed) + start] for start in starts]

    def _of_bytes(self, data: bytes) -> int:
        return self._count(data.decode("utf-8", "replace")) if data else 0
