"""`gymbal pivot export`: pivots in, a folder that a trainer reads out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from gymbal.commands.dataset_files import name_after, name_after_agent, rows_files_of
from gymbal.commands.export_rows import Refused, RowMaker
from gymbal.commands.open_pivots import Pivots, open_pivots, refuse_empty
from gymbal.commands.pivot_config import only_agent
from gymbal.commands.scoring_of import Scoring, scoring_of
from gymbal.errors import UsageError
from gymbal.io.folder import atomic_folder
from gymbal.io.printable import printable
from gymbal.io.remote import path_of
from gymbal.model.export import ExportReport, LeftOut, LeftOutReason
from gymbal.model.pivot_index import PivotEntry
from gymbal.model.target import Target
from gymbal.pivot.build import check_name_and_threshold
from gymbal.pivot.export.chat_template import ChatTemplate, read_chat_template
from gymbal.pivot.export.notes import notes_of
from gymbal.pivot.export.parquet import has_parquet, need_parquet
from gymbal.pivot.export.row import ExportRow
from gymbal.pivot.export.target import Container, ExportFormat, ExportSetting
from gymbal.pivot.export.targets import export_format
from gymbal.pivot.export.write import REPORT, ExportWriter, file_names, trainer_files
from gymbal.pivot.split import PARTS, part_of, split_of
from gymbal.pivot.targets.servers import SERVERS
from gymbal.verify import Comparator


def pivot_export(
    pivots: str | Path,
    output: str | Path,
    *,
    to: str,
    chat_template: str | Path | None = None,
    split: dict[str, float] | None = None,
    name: str | None = None,
    threshold: float | None = None,
    overwrite: bool = False,
) -> ExportReport:
    """Write the folder `output` with the pivots in the form that the trainer `to` reads.

    `pivots` is a dataset folder, any pivot JSONL file, or an index. `to` is one of the names of
    `model.export.ExportTarget`. With `chat_template`, a file or a tokenizer's folder, prompts are rendered,
    tools and all, for trainers that render no tools of a row. `split` are the shares of `train` and
    `validation`, by task; a folder that is split stays so. `name` begins the names of the blocks of a Gym
    config, by default after the agent of the rows, else after the folder. `threshold` and the other settings
    of the comparator are those that the pivots come with, else Gym's. The same pivots give the same bytes.
    A folder that an export to the same target wrote is replaced; one that holds other files only with
    `overwrite`.

    Raises InputError for what cannot be read, for no pivots and an index whose source has changed;
    UsageError for arguments that no export can have; MissingExtraError without jinja2 or pyarrow where they
    are needed. The folder is then as it was.
    """
    format = export_format(to)
    _check_template(format, is_given=chat_template is not None)
    target, opened = path_of(output), open_pivots(pivots)
    template = None if chat_template is None else read_chat_template(path_of(chat_template))
    sides = _Sides(path_of(pivots), opened, split)
    agent = _agent_of(opened)
    dataset = name or (name_after(target.name) if agent is None else name_after_agent(agent))
    scoring = scoring_of(opened, agent, threshold)
    check_name_and_threshold(dataset, scoring.threshold)
    comparator = _comparator(format, scoring)
    setting = _setting(format, target, dataset, agent, scoring, sides.names, template)
    with atomic_folder(
        target, names=file_names(format, setting), earlier=_layouts(format, setting), overwrite=overwrite
    ) as folder:
        maker = RowMaker(format, comparator, template)
        report = _write(opened, sides, maker, ExportWriter(format, setting, folder), format, setting, scoring)
        (folder / REPORT).write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n")
    return report


def _check_template(format: ExportFormat, *, is_given: bool) -> None:
    """Raise UsageError for a chat template that has no use, and for one that is missing."""
    if is_given and not format.takes_prompt:
        raise UsageError(
            f"{format.title} takes no rendered prompts: it has no use for a chat template",
            remedy="Leave the chat template out.",
        )
    if format.needs_template and not is_given:
        raise UsageError(
            f"{format.title} takes prompts as texts alone, and renders no tools in them",
            remedy="Name the chat template of the model: --chat-template FILE.",
        )


class _Sides:
    """Says on which side of the split a pivot is."""

    def __init__(self, named: Path, pivots: Pivots, shares: dict[str, float] | None) -> None:
        self._parts = () if shares is None else split_of(shares)
        self._of_file: dict[str, str] = {}
        if len(pivots.files) > 1:
            if self._parts:
                raise UsageError(f"the tasks of {named} are split already", remedy="Leave the split out.")
            self._of_file = {str(path): part for part, path in rows_files_of(named).items()}
        self.names = PARTS if self._parts or self._of_file else PARTS[:1]

    def of(self, entry: PivotEntry) -> str | None:
        """None where the tasks are divided and the pivot names none."""
        if self._parts:
            return None if entry.task is None else part_of(entry.task, self._parts)
        return self._of_file.get(entry.read_from.path, PARTS[0])


def _agent_of(pivots: Pivots) -> str | None:
    agents = Counter(entry.agent for entry in pivots)
    if not agents:
        refuse_empty(pivots)
    return only_agent(agents)


def _comparator(format: ExportFormat, scoring: Scoring) -> Comparator | None:
    """What `reward.py` scores with. Raises UsageError where it cannot score as Gym would."""
    if not format.needs_chat:
        return None
    if scoring.target is not Target.SINGLE_STEP:
        raise UsageError(
            f"rows of {scoring.target} are scored by Gym alone, and {format.title} would score them itself",
            remedy="Export them to gym, nemo-rl or huggingface.",
        )
    comparator = Comparator(_options(scoring))
    if comparator.config.validate_against_declared_tool_schema and not format.reward_sees_tools:
        raise UsageError(
            f"validate_against_declared_tool_schema needs the tools, which {format.title} gives no reward",
            remedy="Score without it, or export to another target.",
        )
    return comparator


def _options(scoring: Scoring) -> dict[str, object]:
    key = SERVERS[scoring.target].threshold_key.rpartition(".")[2]
    return {key: scoring.threshold, **scoring.further}


def _setting(
    format: ExportFormat,
    target: Path,
    dataset: str,
    agent: str | None,
    scoring: Scoring,
    sides: Sequence[str],
    template: ChatTemplate | None,
) -> ExportSetting:
    containers = () if format.table is None else format.table.containers
    if containers[:1] == (Container.PARQUET,):
        need_parquet()
    written = tuple(each for each in containers if each is not Container.PARQUET or has_parquet())
    paths = {side: str(target / file) for side, file in trainer_files(format, sides, written).items()}
    return ExportSetting(
        dataset=dataset,
        verifier=scoring.target,
        gym_config=scoring.config(dataset, agent, paths),
        folder=printable(str(target)),
        paths={side: printable(path) for side, path in paths.items()},
        comparator=_options(scoring),
        is_rendered=template is not None,
        end_tokens=() if template is None else template.end_tokens,
        containers=written,
    )


def _layouts(format: ExportFormat, setting: ExportSetting) -> list[tuple[str, ...]]:
    """What other exports to the same target can have written: split or not, with Parquet or without."""
    return [
        file_names(format, setting._replace(paths=dict.fromkeys(sides, ""), containers=containers))
        for sides in (PARTS, PARTS[:1])
        for containers in (setting.containers, () if format.table is None else format.table.containers)
    ]


def _write(
    pivots: Pivots,
    sides: _Sides,
    maker: RowMaker,
    writer: ExportWriter,
    format: ExportFormat,
    setting: ExportSetting,
    scoring: Scoring,
) -> ExportReport:
    exported = dict.fromkeys(setting.sides, 0)
    left_out = dict.fromkeys(LeftOutReason, 0)
    with writer:
        for entry in pivots:
            side = sides.of(entry)
            made: ExportRow | Refused
            if side is None:
                made = Refused(LeftOutReason.TASK_UNKNOWN, "it names no task to divide by")
            else:
                made = maker.row(entry, pivots.row(entry), side, exported[side])
            if isinstance(made, Refused):
                left_out[made.reason] += 1
                writer.leave_out(_left_out(entry, made))
            else:
                exported[made.side] += 1
                writer.add(made)
        writer.write_texts()
    return ExportReport(
        target=format.name,
        dataset=setting.dataset,
        pivots=sum(exported.values()) + sum(left_out.values()),
        exported=exported,
        left_out=left_out,
        files=tuple(sorted(file_names(format, setting))),
        rendered=setting.is_rendered,
        comparator=dict(setting.comparator),
        notes=notes_of(format, setting, exported, maker.without_tools, scoring.unwritten),
    )


def _left_out(entry: PivotEntry, refused: Refused) -> LeftOut:
    return LeftOut(
        pivot=entry.id,
        path=printable(entry.read_from.path),
        line=entry.read_from.line,
        reason=refused.reason,
        detail=printable(refused.detail),
    )
