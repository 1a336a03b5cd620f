"""Audits and stats of pivot datasets as text: what must be seen is there."""

from gymbal.model.audit import AuditedRule, AuditProblem, AuditReport, RuleStatus
from gymbal.model.pivot_config import ConfigResult, GymCheck
from gymbal.report.markdown import to_markdown
from gymbal.report.pivot_audit import audit_document
from gymbal.report.pivot_config import config_document

PROBLEM = AuditProblem(
    rule="A02",
    file="rows.jsonl",
    line=3,
    offset=120,
    key="expected_action",
    found="1 of 2 calls",
    expected="the label is what that call did",
    source="rollouts.jsonl:1, model call 2",
)


def rule(code: str, status: RuleStatus, unchecked: dict[str, int]) -> AuditedRule:
    checked = 0 if status is RuleStatus.SKIPPED else 5
    broken = 4 if status is RuleStatus.VIOLATED else 0
    return AuditedRule(
        rule=code, statement="it holds", status=status, checked=checked, broken=broken, unchecked=unchecked
    )


def audit(problems: int, rows: int = 5) -> AuditReport:
    return AuditReport(
        pivots=("rows.jsonl",),
        sources=("rollouts.jsonl",),
        rows=rows,
        located={"provenance": rows, "content": 0, "nowhere": 0},
        trajectories=2,
        calls=8,
        labelled=5,
        skipped={"duplicate": 1},
        unlabelled={"no_reason": 1, "open_call": 1},
        rules=(
            rule("A02", RuleStatus.VIOLATED if problems else RuleStatus.PASSED, {}),
            rule("A11", RuleStatus.SKIPPED, {"the source records no count": 2}),
        ),
        problems=(PROBLEM,) * min(problems, 1),
        problem_count=problems,
    )


def test_audit_report_shows_where_each_problem_is_and_how_each_rule_went() -> None:
    text = to_markdown(audit_document(audit(4)))
    assert "4 problems in 5 rows against 8 model calls of 2 trajectories." in text
    assert "First 1 of 4 problems" in text
    assert "| A02 | rows.jsonl:3 | 120 | expected\\_action | 1 of 2 calls |" in text
    assert "| A02 | violated | 5 | 4 | it holds |" in text
    assert "| A11 | skipped | 0 | 0 | it holds |" in text
    assert "A11: the source records no count" in text
    assert "| listed as skipped: duplicate | 1 |" in text
    assert "| without a row, for no reason | 1 |" in text
    assert "| without a row; a build would skip: open\\_call | 1 |" in text


def test_audit_report_does_not_call_an_empty_dataset_clean() -> None:
    assert "no rule is broken" in to_markdown(audit_document(audit(0)))
    empty = to_markdown(audit_document(audit(0, rows=0)))
    assert "No rows to hold" in empty
    assert "no rule is broken" not in empty


def test_config_report_says_what_gym_said_or_that_it_was_not_asked() -> None:
    result = ConfigResult(
        path="gym.yaml",
        dataset="desk",
        agent="desk_agent",
        threshold=0.1,
        rows={"train": 5},
        without_agent=5,
        check=None,
    )
    text = to_markdown(config_document(result))
    assert "Not checked by NeMo Gym" in text
    assert "5 rows name no agent" in text
    refused = GymCheck(version="0.7.0", is_valid=False, said="No such block.")
    values = {name: getattr(result, name) for name in ConfigResult.__struct_fields__}
    text = to_markdown(config_document(ConfigResult(**values | {"check": refused})))
    assert "NeMo Gym 0.7.0 refuses it: No such block." in text
