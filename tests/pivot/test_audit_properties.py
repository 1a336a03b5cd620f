"""What build makes of any episode audits clean, and an edit of any row is found."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from episodes import rollout
from hypothesis import given, settings
from hypothesis import strategies as st
from json_rows import read_rows, write_rows

from gymbal.commands.pivot_audit import pivot_audit
from gymbal.commands.pivot_build import pivot_build
from gymbal.model.audit import AuditReport

EPISODES = st.lists(st.text("RMCOU", max_size=12), min_size=1, max_size=3)

# Hoisted reasoning in the source breaks A12, whoever builds: the recorder did it, and not the builder.
OF_THE_SOURCE = {"A12"}


@contextmanager
def built(letters: list[str]) -> Iterator[tuple[Path, Path]]:
    """A dataset folder and its source."""
    with tempfile.TemporaryDirectory() as name:
        source = write_rows(Path(name) / "rollouts.jsonl", [rollout(each) for each in letters])
        pivot_build(source, Path(name) / "dataset")
        yield Path(name) / "dataset", source


def broken(report: AuditReport) -> set[str]:
    return {problem.rule for problem in report.problems} - OF_THE_SOURCE


@settings(max_examples=60)
@given(EPISODES)
def test_what_build_made_audits_clean(letters: list[str]) -> None:
    with built(letters) as (dataset, source):
        report = pivot_audit(dataset, source, max_problems=1000)
        assert broken(report) == set()
        assert report.calls == report.labelled + sum(report.skipped.values())
        assert report.unlabelled == {}


@settings(max_examples=60)
@given(EPISODES)
def test_rows_without_provenance_audit_clean(letters: list[str]) -> None:
    with built(letters) as (dataset, source):
        rows = [
            {name: row[name] for name in row if name != "pivot_info"}
            for row in read_rows(dataset / "pivots.jsonl")
        ]
        (dataset / "skipped.jsonl").unlink()
        report = pivot_audit(write_rows(dataset / "rows.jsonl", rows), source, max_problems=1000)
        assert broken(report) == set()
        assert report.located == {"provenance": 0, "content": len(rows), "nowhere": 0}
        assert "no_reason" not in report.unlabelled


@settings(max_examples=60)
@given(EPISODES, st.data())
def test_any_row_that_is_lost_or_changed_is_found(letters: list[str], data: st.DataObject) -> None:
    with built(letters) as (dataset, source):
        rows: list[dict[str, Any]] = read_rows(dataset / "pivots.jsonl")
        if not rows:
            return
        at = data.draw(st.integers(0, len(rows) - 1))
        before = json.dumps(rows[at])
        what = data.draw(st.sampled_from(["lost", "twice", "item", "label"]))
        if what == "lost":
            del rows[at]
        elif what == "twice":
            rows.append(rows[at])
        elif what == "item":
            items = rows[at]["responses_create_params"]["input"]
            del items[data.draw(st.integers(0, len(items) - 1))]
        else:
            rows[at]["expected_action"] = {"type": "message", "content": "never said"}
        assert what in ("lost", "twice") or json.dumps(rows[at]) != before
        report = pivot_audit(write_rows(dataset / "rows.jsonl", rows), source, max_problems=1000)
        expected = {"lost": {"A06"}, "twice": {"A01", "A06"}, "label": {"A02"}}
        found = broken(report)
        assert found >= expected[what] if what in expected else found & {"A01", "A03", "A04", "A05", "A09"}
