"""Makes the rows of an export: a pivot's state as chat messages, its prompt rendered, its label tried."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from gymbal.model.export import LeftOutReason
from gymbal.model.pivot_index import PivotEntry
from gymbal.model.sampling import ReasoningForm
from gymbal.pivot.export.chat_template import ChatTemplate, RenderError
from gymbal.pivot.export.row import ChatState, ExportRow, json_text, plain_messages
from gymbal.pivot.export.target import ExportFormat
from gymbal.sampling.chat import chat_request
from gymbal.verify import Comparator, LabelError


class Refused(NamedTuple):
    reason: LeftOutReason
    detail: str


class _Row(msgspec.Struct, gc=False):
    responses_create_params: dict[str, Any] = {}
    expected_action: msgspec.Raw = msgspec.Raw(b"")


class _Label(msgspec.Struct, gc=False):
    expected_action: msgspec.Raw = msgspec.Raw(b"")


_decode_row = msgspec.json.Decoder(_Row).decode
_decode_label = msgspec.json.Decoder(_Label).decode


class RowMaker:
    """Makes the rows of one export."""

    def __init__(
        self, format: ExportFormat, comparator: Comparator | None, template: ChatTemplate | None
    ) -> None:
        """`comparator` is None where the target takes rows as they are."""
        self._comparator, self._template = comparator, template
        self._has_table = format.table is not None
        self.without_tools = 0
        """Rendered prompts that lack the name of one of their tools."""

    def row(self, entry: PivotEntry, line: bytes, side: str, index: int) -> ExportRow | Refused:
        """The row of one pivot, or why it cannot be in the export."""
        if self._comparator is None:
            label = bytes(_decode_label(line).expected_action).decode() if self._has_table else ""
            return ExportRow(entry, line, side, index, label, None)
        try:
            row = _decode_row(line)
            body = chat_request(row.responses_create_params, ReasoningForm.FIELD)
            tools = body.get("tools", [])
            chat = ChatState(plain_messages(body["messages"]), json_text(tools), None)
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            # Beside what has no form: members of other types than the API's, which a hostile row may have.
            return Refused(LeftOutReason.NO_CHAT_FORM, str(error)[:300])
        fault = self._label_fault(row, tools, self._comparator)
        if fault is not None:
            return Refused(LeftOutReason.LABEL_UNSCORABLE, fault)
        if self._template is not None:
            try:
                chat = chat._replace(prompt=self._template.render(chat.messages, tools))
            except RenderError as error:
                return Refused(LeftOutReason.NOT_RENDERED, str(error))
            self._look_for_tools(chat.prompt or "", tools)
        return ExportRow(entry, line, side, index, bytes(row.expected_action).decode(), chat)

    def _label_fault(self, row: _Row, tools: list[Any], comparator: Comparator) -> str | None:
        try:
            found = comparator.score_label(msgspec.json.decode(row.expected_action), tools)
        except (LabelError, msgspec.DecodeError, RecursionError) as error:
            return str(error)[:300]
        return None if found.reward == 1.0 else f"it scores {found.reward} against itself"

    def _look_for_tools(self, prompt: str, tools: list[Any]) -> None:
        names = (tool["function"].get("name") for tool in tools)
        self.without_tools += not all(isinstance(name, str) and name in prompt for name in names)
