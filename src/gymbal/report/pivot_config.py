"""The Gym config that was written for existing rows, as a document."""

from __future__ import annotations

from gymbal.model.pivot_config import ConfigResult
from gymbal.model.target import Target
from gymbal.report.document import Block, Document, Paragraph, Section, Table, Tone, cells, paragraph


def config_document(result: ConfigResult) -> Document:
    """The blocks of the config, the rows that it runs, and what Gym said to it."""
    rows = tuple(cells(f"{type} rows", str(count)) for type, count in result.rows.items())
    facts = (
        cells("agent block", result.agent),
        cells("resources server block", f"{result.dataset}_resources_server"),
        *([] if result.target is Target.SINGLE_STEP else [cells("target", result.target)]),
        cells(result.threshold_key, str(result.threshold)),
        *rows,
    )
    blocks: list[Block] = [paragraph(f"Written to {result.path}."), Table(("", ""), facts)]
    if result.without_agent:
        routed = f"{result.without_agent} rows name no agent: the dataset entry of the config routes them."
        blocks.append(paragraph(routed, Tone.DOUBT))
    blocks.append(_gym(result))
    return Document(f"Gym config of {result.dataset}", (Section("", tuple(blocks)),))


def _gym(result: ConfigResult) -> Paragraph:
    if result.check is None:
        return paragraph("Not checked by NeMo Gym: no check was asked for.", Tone.DOUBT)
    verdict = "takes it" if result.check.is_valid else "refuses it"
    tone = Tone.GOOD if result.check.is_valid else Tone.BAD
    return paragraph(f"NeMo Gym {result.check.version} {verdict}: {result.check.said}", tone)
