"""A task report as a document."""

from __future__ import annotations

from gymbal.model.task_move import TaskMove, TaskReport
from gymbal.report.document import Block, Document, Section, Table, Text, Tone, cells, paragraph

MAX_SHOWN_CHARACTERS = 400


def tasks_document(report: TaskReport) -> Document:
    """Return `report` as counts, the moves, and the answers behind them."""
    moved = f"{report.up} up, {report.down} down, {report.equal} equal"
    counts = (
        f"{report.compared} tasks were measured by both: {moved}. "
        "Which ones moved is a screening: single tasks are not tested."
    )
    outcomes = Table(
        ("repeats that passed", report.left_label, report.right_label),
        tuple(
            cells(name, str(getattr(report.left, name)), str(getattr(report.right, name)))
            for name in ("always", "sometimes", "never")
        ),
        numeric=frozenset({1, 2}),
    )
    sections = [Section("", (paragraph(counts),)), Section("Tasks by outcome", (outcomes,))]
    if report.moves:
        sections.append(Section("Moved most", (_moves(report),)))
        sections += [_answers(report, move) for move in report.moves]
    return Document(f"Tasks of {report.left_label} -> {report.right_label}", tuple(sections))


def _moves(report: TaskReport) -> Table:
    rows = tuple(
        cells(move.task, _rewards(move.left_rewards), _rewards(move.right_rewards), f"{move.difference:+.3f}")
        for move in report.moves
    )
    return Table(("task", report.left_label, report.right_label, "difference"), rows, numeric=frozenset({3}))


def _rewards(rewards: tuple[float, ...]) -> str:
    return " ".join(f"{reward:.3g}" for reward in rewards)


def _answers(report: TaskReport, move: TaskMove) -> Section:
    rows = (
        (Text(report.left_label, Tone.QUIET), Text(_shown(move.left_answer))),
        (Text(report.right_label, Tone.QUIET), Text(_shown(move.right_answer))),
    )
    blocks: tuple[Block, ...] = (Table(("", ""), rows),)
    return Section(move.task, blocks)


def _shown(answer: str | None) -> str:
    if answer is None:
        return "(the row's output cannot be read)"
    if not answer:
        return "(no answer)"
    if len(answer) <= MAX_SHOWN_CHARACTERS:
        return answer
    return f"... {answer[-MAX_SHOWN_CHARACTERS:]}"
