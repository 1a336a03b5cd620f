"""A row is read the same whatever row came before it: what is cut out of a line changes nothing."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymbal.io.line_spans import LineSpans
from gymbal.pivot import row_reader
from gymbal.pivot.parse import Check
from gymbal.pivot.row_reader import ReadRow, RowReader

ITEM = st.sampled_from(
    [
        *('{"role":"user","content":"é \\"input\\":[ "}', '{"role":"user","content":"b"}', "1", "12", '"a"'),
        *('{"type":"reasoning","id":"r","input":[1]}', "null", "[[]]", '{"tools":[{"name":"t"}],"input":[]}'),
    ]
)
ITEMS = st.lists(ITEM, max_size=5)
SEPARATOR = st.sampled_from([",", ", ", " ,\t"])
TOOLS = st.sampled_from(["[]", json.dumps([{"name": "t" * 30}]), "7"])
BEHIND = st.sampled_from(
    ["", ',"tool_choice":"auto"', ',"input":[1]', ',"odd":{"input":[1]}', ',"metadata":null']
)
BEFORE = st.sampled_from(
    ['"instructions":"i",', '"metadata":{"input":["a"]},', "", '"input":[1, 12],', '"odd":1,']
)
END = st.sampled_from(
    ["}", ',"tools":[]}', ',"input":[12]}', "", "}}", ',"expected_action":{"type":"message"}}']
)


@st.composite
def lines(draw: st.DrawFn) -> str:
    items = draw(SEPARATOR).join(draw(ITEMS))
    parts = [f'"input": [{items}]', f'"tools":{draw(TOOLS)}']
    request = draw(BEFORE) + ",".join(draw(st.permutations(parts))) + draw(BEHIND)
    row = '{"pivot_info":{"input":[1]},' if draw(st.booleans()) else "{"
    return row + '"responses_create_params":{' + request + "}" + draw(END)


def said(found: ReadRow | Check, before: list[bytes]) -> object:
    """What a row says, whole: `before` are the items of the row before."""
    if isinstance(found, Check):
        return found
    fields = None if found.fields is None else {name: bytes(value) for name, value in found.fields.items()}
    label, agent = bytes(found.expected_action), bytes(found.agent_ref)
    items = [*before[: found.known], *found.items]
    return fields, found.tools, found.odd_input, found.has_items, items, label, agent


@settings(max_examples=400)
@given(texts=st.lists(lines(), min_size=1, max_size=6))
def test_row_reader_reads_each_row_as_if_it_stood_alone(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    path.write_text("\n".join(texts), encoding="utf-8")
    reader, before = RowReader(), list[bytes]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_reader, "_LEAST_TOOLS_BYTES", 3)
        for span in LineSpans(path):
            found, alone = reader.read(span), RowReader().read(span)
            assert said(found, before) == said(alone, [])
            if isinstance(alone, ReadRow) and alone.has_items:
                before = alone.items


def test_row_reader_decodes_only_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    items = [{"role": "user", "content": str(number) * 1000} for number in range(9)]
    tools = [{"type": "function", "name": "t" * 4000}]
    rows = [{"responses_create_params": {"input": items[:count], "tools": tools}} for count in (7, 8, 9)]
    for separators in ((",", ":"), (", ", ": ")):
        path.write_text("".join(json.dumps(row, separators=separators) + "\n" for row in rows))
        reader = RowReader()
        first, second, third = (reader.read(span) for span in LineSpans(path))
        assert isinstance(first, ReadRow)
        assert isinstance(second, ReadRow)
        assert isinstance(third, ReadRow)
        assert (first.known, second.known, third.known) == (0, 7, 8)
        assert (len(second.items), len(third.items)) == (1, 1)
        assert len(first.line) > 10_000
        assert len(second.line) < 1500
        assert len(third.line) < 1500


def test_row_reader_decodes_of_framed_rows_only_new_items_and_what_stands_behind(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    items = [{"role": "user", "content": str(number) * 1000} for number in range(9)]
    request = {"tools": [{"name": "t" * 4000}], "instructions": "i" * 4000}
    rows = [
        {"responses_create_params": {"input": some, **request}, "expected_action": number}
        for number, some in enumerate((items[:2], items[:3], items[:3], items[:1], items[4:6], []))
    ]
    path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
    reader = RowReader()
    found = [row for row in map(reader.read, LineSpans(path)) if isinstance(row, ReadRow)]
    assert [(row.known, len(row.items)) for row in found] == [(0, 2), (2, 1), (3, 0), (1, 0), (0, 2), (0, 0)]
    assert [bytes(row.expected_action) for row in found] == [b"0", b"1", b"2", b"3", b"4", b"5"]
    # The fields of a request that all rows have in common are decoded once: the object is the same.
    assert {id(row.fields) for row in found[1:5]} == {id(found[1].fields)}


BEHIND_ITEMS = [
    # What stands behind the items of the second row, in place of what the first one has there.
    '],"a":[2],"tools":[1]},"expected_action":1}',
    '],"tools":[1]},"responses_create_params":{"input":[2]},"expected_action":1}',
    '],"tools":[1]},"expected_action":1,"responses_create_params":{"input":[2]}}',
    '],"tools":[1]},"expected_action":1,"expected_action":2}',
    '],"tools":[1]},"expected_action":1,"agent_ref":3,"agent_ref":4}',
    ',{"a":[1],"tools":[1]},"expected_action":1}],"tools":[1]},"expected_action":1}',
    '],"tools":[1]},"expected_action":{"a":[],"tools":[1]},"expected_action":1}}',
    '],"tools":[1]}},"expected_action":1}',
    '],"tools":[1]},"expected_action":1',
    ',],"tools":[1]},"expected_action":1}',
    ',"\\"],"tools":[1]},"expected_action":1}',
]


@pytest.mark.parametrize("behind", BEHIND_ITEMS)
@pytest.mark.parametrize("start", ["", '"agent_ref":{},', '"expected_action":5,'])
def test_row_reader_takes_no_other_row_for_a_framed_one(tmp_path: Path, start: str, behind: str) -> None:
    path = tmp_path / "rows.jsonl"
    before = f'{{{start}"responses_create_params":{{"input":[{{"role":"user"}}'
    first = before + '],"tools":[1]},"expected_action":1}'
    path.write_text("\n".join((first, first, before + behind, first, before + ",2" + behind, first)))
    reader, known = RowReader(), list[bytes]()
    for span in LineSpans(path):
        found, alone = reader.read(span), RowReader().read(span)
        assert said(found, known) == said(alone, [])
        if isinstance(alone, ReadRow) and alone.has_items:
            known = alone.items
