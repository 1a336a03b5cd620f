"""The prefix that an audit carries from row to row is the one that it would make of each row alone."""

from typing import Any

import pytest
from episodes import item_of
from hypothesis import given, settings
from hypothesis import strategies as st
from json_rows import write_rows

from gymbal.io.line_spans import LineSpans
from gymbal.pivot.audit.row import AuditRow, AuditRowReader

ITEMS = st.lists(st.sampled_from("RMCUH"), max_size=6)


def row_of(kinds: list[str], instructions: str | None, label: Any) -> dict[str, Any]:
    items = [item_of(kind, number) for number, kind in enumerate(kinds)]
    request = {"input": items, "tools": [], "instructions": instructions}
    return {"responses_create_params": request, "expected_action": label}


@settings(max_examples=80)
@given(
    rows=st.lists(
        st.builds(
            row_of,
            ITEMS,
            st.sampled_from([None, "a", "b", ""]),
            st.sampled_from([{"type": "message", "content": "x"}, 7]),
        ),
        max_size=6,
    )
)
def test_audit_reads_each_row_as_if_it_stood_alone(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    write_rows(path, rows)
    reader = AuditRowReader()
    for span in LineSpans(path):
        found, alone = reader.read(span), AuditRowReader().read(span)
        if not isinstance(found, AuditRow) or not isinstance(alone, AuditRow):
            assert found == alone
            continue
        assert vars(found.prefix) == vars(alone.prefix)
        assert found._replace(prefix=alone.prefix) == alone
