"""The page on pivots lists what the code has."""

import re
from pathlib import Path

from gymbal.model.pivot import SkipReason
from gymbal.pivot.audit.rules import AUDIT_RULES
from gymbal.pivot.rules import RULES

PAGE = (Path(__file__).parents[2] / "docs" / "pivot.md").read_text(encoding="utf-8")


def test_page_lists_the_rules_with_their_statements() -> None:
    found = re.findall(r"^\| (P\d{3}) \| (.*) \| (\w+) \|$", PAGE, flags=re.MULTILINE)
    assert found == [(code, rule.statement, rule.severity.value) for code, rule in RULES.items()]


def test_page_lists_the_audit_rules_with_their_statements() -> None:
    found = re.findall(r"^\| (A\d{2}) \| (.*) \|$", PAGE, flags=re.MULTILINE)
    assert found == list(AUDIT_RULES.items())


def test_page_names_the_rules_that_need_a_config() -> None:
    names = [code for code, rule in RULES.items() if rule.needs_config]
    assert f"{', '.join(names[:-1])} and {names[-1]} need a config." in PAGE


def test_page_lists_the_skip_reasons_in_their_order() -> None:
    section = PAGE.split("## Skip reasons")[1].split("##")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE) == list(SkipReason)
