"""What an audit has found so far, by rule."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from gymbal.io.secrets import mask_text
from gymbal.model.audit import AuditedRule, AuditProblem, RuleStatus
from gymbal.pivot.audit.outcome import Outcome, Unchecked, Where
from gymbal.pivot.audit.rules import AUDIT_RULES
from gymbal.pivot.parse import Check

NOTHING = "there was nothing to check it on"


class Findings:
    """How each rule went: counts of everything, texts of the first few problems."""

    def __init__(self, max_problems: int, waived: Mapping[str, str]) -> None:
        self._waived = waived
        self.checked: Counter[str] = Counter()
        self.broken: Counter[str] = Counter()
        self.unchecked: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.problems: list[AuditProblem] = []
        self.problem_count = 0
        self._max_problems = max_problems

    def add(self, outcomes: Iterable[Outcome], where: Where) -> None:
        """Take note of all outcomes of one row, model call or trajectory."""
        checked, broken = set(), set()
        for outcome in outcomes:
            if outcome.rule in self._waived:
                outcome = Unchecked(outcome.rule, self._waived[outcome.rule])
            if isinstance(outcome, Unchecked):
                self.unchecked[outcome.rule][outcome.reason] += 1
                continue
            checked.add(outcome.rule)
            if outcome.found is not None:
                broken.add(outcome.rule)
                self._add_problem(outcome, outcome.found, where)
        self.checked.update(checked)
        self.broken.update(broken)

    def _add_problem(self, check: Check, found: str, where: Where) -> None:
        self.problem_count += 1
        if len(self.problems) == self._max_problems:
            return
        self.problems.append(
            AuditProblem(
                rule=check.rule,
                file=where.file,
                line=where.line,
                offset=where.offset,
                key=check.key,
                found=mask_text(found),
                expected=AUDIT_RULES[check.rule],
                source=where.source,
            )
        )

    def rules(self) -> Iterator[AuditedRule]:
        for rule, statement in AUDIT_RULES.items():
            status = RuleStatus.VIOLATED if self.broken[rule] else RuleStatus.PASSED
            unchecked = dict(self.unchecked[rule])
            if not self.checked[rule]:
                status = RuleStatus.SKIPPED
                unchecked = unchecked or {NOTHING: 0}
            yield AuditedRule(
                rule=rule,
                statement=statement,
                status=status,
                checked=self.checked[rule],
                broken=self.broken[rule],
                unchecked=unchecked,
            )
