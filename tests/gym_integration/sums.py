"""Tasks of the integration tests: sums with four answers, and the scripts of a model that answers them.

The model is right by a chance of each task; a seed draws its answers. So two seeds are two runs of one model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from random import Random
from typing import Any

Json = dict[str, Any]

TASKS = tuple(range(12))
REPEATS = 4
LETTERS = "ABCD"
CHANCES = (0.95, 0.9, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.4, 0.35, 0.3, 0.2)
"""Of a right answer, by task; the last tasks are the hard ones."""
TRIES_OF_GYM = 3
"""Gym 0.7.0 asks an endpoint that answers HTTP 500 three times before it gives a rollout up."""


def prompt(task: int) -> str:
    """What the task asks, the four answers included."""
    total = _total(task)
    options = "\n".join(f"{letter}: {total + offset}" for letter, offset in _offsets(task).items())
    return f"Answer with one letter in \\boxed{{}}.\nWhat is {37 + 4 * task} + {48 + 7 * task}?\n{options}"


def right_letter(task: int) -> str:
    return next(letter for letter, offset in _offsets(task).items() if offset == 0)


def _total(task: int) -> int:
    return 85 + 11 * task


def _offsets(task: int) -> dict[str, int]:
    """How far each answer is from the right one."""
    offsets = [0, 1, -2, 10]
    turn = (3 * task + 1) % 4
    return dict(zip(LETTERS, offsets[turn:] + offsets[:turn], strict=True))


def rows(tasks: Iterable[int] = TASKS) -> list[Json]:
    """Rows for Gym's `mcqa` server, one a task."""
    return [
        {
            "responses_create_params": {"input": [{"role": "user", "content": prompt(task)}]},
            "options": [{letter: str(_total(task) + offset)} for letter, offset in _offsets(task).items()],
            "expected_answer": right_letter(task),
            "uuid": f"sum-{task:02d}",
        }
        for task in tasks
    ]


def draw(seed: str, task: int, repeat: int, *, better_by: float = 0.0) -> str:
    """The letter that the model answers."""
    random = Random(f"{seed}/{task}/{repeat}")
    if random.random() < CHANCES[task] + better_by:
        return right_letter(task)
    return random.choice([letter for letter in LETTERS if letter != right_letter(task)])


def plain(task: int, repeat: int, letter: str) -> Json:
    """A turn that answers `letter` and nothing else."""
    return {"text": f"The sum is in line {letter}. \\boxed{{{letter}}}"}


Say = Callable[[int, int, str], Json]
"""A turn of the script, from task, repeat and letter."""


def script(
    seed: str,
    *,
    say: Say = plain,
    failing: Mapping[int, Collection[int]] | None = None,
    better_by: float = 0.0,
    repeats: int = REPEATS,
) -> Json:
    """The script of the model; the endpoint fails on the `failing` repeats of a task."""
    rules = []
    for task in TASKS:
        turns: list[list[Json]] = []
        for repeat in range(repeats):
            if repeat in (failing or {}).get(task, ()):
                turns.append([{"errors": [500] * TRIES_OF_GYM}])
            else:
                letter = draw(seed, task, repeat, better_by=better_by)
                turns.append([say(task, repeat, letter)])
        rules.append({"name": f"sum-{task:02d}", "match": {"last_user": prompt(task)}, "draws": turns})
    return {"model": "demo-8b", "created": 1_790_000_000, "rules": rules}


def rewards(seed: str, *, better_by: float = 0.0, repeats: int = REPEATS) -> dict[int, list[int]]:
    """What the answers are worth: 1 for the right letter, by task."""
    return {
        task: [
            int(draw(seed, task, repeat, better_by=better_by) == right_letter(task))
            for repeat in range(repeats)
        ]
        for task in TASKS
    }
