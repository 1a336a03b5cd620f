"""The page on targets lists what the code has."""

import re
from pathlib import Path

from gymbal.model.target import Target
from gymbal.pivot.targets.registry import HARNESSES_OF
from gymbal.pivot.targets.rules import OWN_RULES, rules_of
from gymbal.pivot.targets.servers import SERVERS

PAGE = (Path(__file__).parents[2] / "docs" / "targets.md").read_text(encoding="utf-8")


def test_page_lists_the_rules_with_their_statements() -> None:
    found = re.findall(r"^\| (P\d{3}) \| (.*) \| (\w+) \|$", PAGE, flags=re.MULTILINE)
    assert found == [(code, rule.statement, rule.severity.value) for code, rule in OWN_RULES.items()]


def test_every_rule_of_a_target_has_its_own_statement() -> None:
    shared = {code for target in Target if target is not Target.SINGLE_STEP for code in rules_of(target)}
    assert set(OWN_RULES) <= shared
    assert shared - set(OWN_RULES) == {
        f"P{number:03}" for number in (1, *range(3, 9), *range(10, 18), 21)
    } | {f"P{number:03}" for number in range(23, 32)}


def test_page_lists_the_targets_with_their_agents_and_thresholds() -> None:
    agents = re.findall(r"^\| `(\w+)` \| .* \| .* \| `(\w+)` \|$", PAGE, flags=re.MULTILINE)
    assert agents == [(target, SERVERS[target].agent) for target in Target]
    thresholds = re.findall(r"^\| `(\w+)` \| `([\w.]+)` \| ([\d.]+) \|$", PAGE, flags=re.MULTILINE)
    assert thresholds == [
        (target, server.threshold_key, str(server.default_threshold)) for target, server in SERVERS.items()
    ]


def test_page_names_every_harness() -> None:
    assert all(f"`{name}`" in PAGE for names in HARNESSES_OF.values() for name in names)
