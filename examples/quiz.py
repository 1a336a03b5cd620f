"""The quiz behind `runs/`: its tasks, and the script of the model that answers them.

The model is scripted. Each question has a chance of a right answer, the same on both sides; a seed per side
draws the answers. Nothing but the seed and the failures of the endpoint tells the two sides apart.
"""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

Json = dict[str, Any]

REPEATS = 4
LETTERS = "ABCD"
TRIES_OF_GYM = 3
"""Gym 0.7.0 asks an endpoint that answers HTTP 500 three times before it gives a rollout up."""

SIDES = {"baseline": "baseline-3", "candidate": "candidate-13"}
"""The seed of each side's answers; README.md says how they were chosen."""

CREATED = {"baseline": 1_790_000_000, "candidate": 1_790_604_800}
"""Unix seconds at which each side's endpoint began to answer; the candidate's run is a week younger."""

FAILED_REPEATS = {
    "quiz-10": (0, 2),
    "quiz-11": (0, 1, 2, 3),
    "quiz-15": (3,),
    "quiz-16": (0, 1, 2, 3),
    "quiz-17": (0, 1, 2, 3),
    "quiz-18": (1, 3),
}
"""Candidate only: repeats for which the endpoint answers HTTP 500 on every try."""

PHRASES = (
    "Step by step, this comes to {letter}.",
    "Of the four, only {letter} fits.",
    "An estimate and a check give {letter}.",
    "Working backwards confirms {letter}.",
)


class Question(NamedTuple):
    """`options` are A to D; `chance` is the scripted model's chance of a right answer."""

    text: str
    options: tuple[str, str, str, str]
    answer: str
    chance: float


QUESTIONS = (
    Question("What is 17 x 6?", ("96", "102", "112", "107"), "B", 0.95),
    Question("What is 15 % of 240?", ("24", "30", "32", "36"), "D", 0.95),
    Question("Which is the largest?", ("3/8", "2/5", "0.37", "1/3"), "B", 0.85),
    Question("What comes next: 2, 6, 12, 20, ...?", ("26", "28", "30", "32"), "C", 0.85),
    Question("How long is it from 14:35 to 16:10?", ("95 min", "85 min", "105 min", "75 min"), "A", 0.9),
    Question("What is 2^10 - 2^5?", ("32", "512", "960", "992"), "D", 0.85),
    Question("A price fell by 20 % to 40. What was it?", ("48", "50", "52", "60"), "B", 0.75),
    Question(
        "Today is Thursday. Which day is it in 100 days?",
        ("Friday", "Sunday", "Saturday", "Monday"),
        "C",
        0.7,
    ),
    Question("What is the sum of the digits of 99 x 101?", ("36", "18", "27", "20"), "A", 0.7),
    Question("Which angle do the hands of a clock make at 3:30?", ("60", "90", "82.5", "75"), "D", 0.3),
    Question("In how many orders can the letters of LEVEL stand?", ("120", "30", "60", "20"), "B", 0.2),
    Question("Two dice are thrown. How likely is a sum of 9?", ("1/12", "5/36", "1/9", "1/6"), "C", 0.7),
    Question(
        "Pipes fill a tank in 3 h and in 6 h. Both together?", ("2 h", "1.5 h", "4.5 h", "2.5 h"), "A", 0.75
    ),
    Question("What is the remainder of 7^5 divided by 10?", ("1", "3", "9", "7"), "D", 0.65),
    Question("How many of 1 to 60 are divisible by 4 or 6?", ("25", "20", "15", "18"), "B", 0.4),
    Question("How many zeros does 25! end with?", ("4", "5", "6", "8"), "C", 0.2),
    Question("In how many ways do 6 people form 3 pairs?", ("15", "90", "20", "45"), "A", 0.15),
    Question("What is the last digit of 3^2026?", ("1", "3", "7", "9"), "D", 0.3),
)


def task_id(number: int) -> str:
    """`quiz-01` for the first question."""
    return f"quiz-{number:02d}"


def prompt(question: Question) -> str:
    """The user message: what to do, the question, one option a line."""
    options = "\n".join(f"{letter}: {text}" for letter, text in zip(LETTERS, question.options, strict=True))
    return f"Answer with one letter in \\boxed{{}}.\n{question.text}\n{options}"


def input_rows() -> list[Json]:
    """Rows for Gym's `mcqa` resources server, one a question."""
    return [
        {
            "responses_create_params": {"input": [{"role": "user", "content": prompt(question)}]},
            "options": [{letter: text} for letter, text in zip(LETTERS, question.options, strict=True)],
            "expected_answer": question.answer,
            "uuid": task_id(number),
        }
        for number, question in enumerate(QUESTIONS, start=1)
    ]


def drawn_letter(seed: str, number: int, repeat: int) -> tuple[str, str]:
    """The letter that a side answers, and the sentence that it comes with."""
    question = QUESTIONS[number - 1]
    random = Random(f"{seed}/{task_id(number)}/{repeat}")
    is_right = random.random() < question.chance
    wrong = [letter for letter in LETTERS if letter != question.answer]
    letter = question.answer if is_right else wrong[int(random.random() * len(wrong))]
    phrase = PHRASES[int(random.random() * len(PHRASES))]
    return letter, phrase.format(letter=letter)


def model_script(side: str) -> Json:
    """The script of `tests/gym/model_server.py` for one side."""
    rules = []
    for number, question in enumerate(QUESTIONS, start=1):
        failed = FAILED_REPEATS.get(task_id(number), ()) if side == "candidate" else ()
        draws: list[list[Json]] = []
        for repeat in range(REPEATS):
            letter, sentence = drawn_letter(SIDES[side], number, repeat)
            answer = {"text": f"{sentence} \\boxed{{{letter}}}"}
            draws.append([{"errors": [500] * TRIES_OF_GYM} if repeat in failed else answer])
        rules.append({"name": task_id(number), "match": {"last_user": prompt(question)}, "draws": draws})
    return {"model": "demo-8b", "created": CREATED[side], "rules": rules}
