"""Pivot builds and validations as text: what must be seen is there."""

import msgspec

from gymbal.model.pivot import (
    BuildMetrics,
    CallCountCheck,
    ReasoningCounts,
    ValidationReport,
    Violation,
)
from gymbal.report.markdown import to_markdown
from gymbal.report.pivot import build_document, validation_document

METRICS = BuildMetrics(
    dataset="desk",
    trajectories=4,
    candidates=10,
    kept=8,
    skipped={"open_call": 2, "duplicate": 0},
    split={"message": 2, "function_call": 6, "function_call_batch": 0},
    batch_sizes={},
    tools={"look": 6},
    depth={"0": 4, "1": 4},
    narrate_and_call=3,
    boundaries={"recorded": 0, "structural": 10, "guessed": 0},
    call_count_check=CallCountCheck(agree=3, disagree=1, skipped=0),
    reasoning=ReasoningCounts(hoisted=0, interleaved=0, withheld=8),
    source_rewards={"1": 4},
    dropped_fields={},
    provenance={"task": 8},
    shares={},
    notes=("Look at the batches.",),
)


def test_build_report_shows_counts_with_shares_and_notes() -> None:
    text = to_markdown(build_document(METRICS, "out/desk"))
    assert "8 of 10 model calls of 4 trajectories became rows in out/desk." in text
    assert "| open\\_call | 2 | 20.0% |" in text
    assert "duplicate" not in text  # nothing was skipped for it
    assert "| function\\_call | 6 | 75.0% |" in text
    assert "| call counts that disagree | 1 |" in text
    assert "Look at the batches." in text
    assert "Batch sizes" not in text


def test_build_report_shows_what_reading_took() -> None:
    read = msgspec.structs.replace(
        METRICS,
        formats={"openai_chat": 4},
        non_model_turns={"scripted_greeting": 3},
        conversions={"call_id_made": 7},
    )
    text = to_markdown(build_document(read, "out/desk"))
    assert "| openai\\_chat | 4 | 100.0% |" in text
    assert "| scripted\\_greeting | 3 |" in text
    assert "| call\\_id\\_made | 7 |" in text


def report(violations: int, rows: int = 5) -> ValidationReport:
    violation = Violation(
        rule="P006",
        line=3,
        offset=120,
        key="expected_action.name",
        found="Look",
        expected="the tool is there",
    )
    return ValidationReport(
        path="out/desk/pivots.jsonl",
        config=None,
        rows=rows,
        split={"message": rows},
        violations=(violation,) * min(violations, 1),
        violation_count=violations,
        warnings=("P020 was not checked",),
        rules={"P001": 5, "P006": 5, "P020": 0},
    )


def test_validation_report_shows_where_and_what_rule() -> None:
    text = to_markdown(validation_document(report(7)))
    assert "7 violations in 5 rows." in text
    assert "First 1 of 7 violations" in text
    assert "| P006 | 3 | 120 | expected\\_action.name | Look |" in text
    assert "P006: the tool is there" in text
    assert "P020 was not checked" in text
    assert "| 0 | P020 |" in text


def test_validation_report_says_under_what_config_rows_are_clean() -> None:
    assert "5 rows break no rule, under no config." in to_markdown(validation_document(report(0)))


def test_validation_report_does_not_call_an_empty_file_clean() -> None:
    text = to_markdown(validation_document(report(0, rows=0)))
    assert "No rows." in text
    assert "break no rule" not in text
