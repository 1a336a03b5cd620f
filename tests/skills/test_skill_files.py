"""The shipped skills hold to the Agent Skills standard, and speak only of what this version of gymbal has."""

import json
import re
import shlex
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any, cast

import click
import pytest
import yaml
from json_rows import write_rows

from gymbal.cli.main import gymbal as root_command
from gymbal.commands.pivot_validate import pivot_validate
from gymbal.commands.skills import skills_list
from gymbal.model.finding import PartName, Rung, Status, TriageReport
from gymbal.model.item import Item, read_item
from gymbal.model.pivot import BuildMetrics, SkipReason
from gymbal.pivot.segment import split

SKILLS = sorted(
    folder for folder in Path(str(resources.files("gymbal") / "skills")).iterdir() if folder.is_dir()
)
PAGES = sorted(page for skill in SKILLS for page in skill.rglob("*.md"))

# Limits of the standard: agentskills.io/specification.
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
MOST_NAME_CHARACTERS = 64
MOST_DESCRIPTION_CHARACTERS = 1024
MOST_ENTRY_LINES = 500
STANDARD_FIELDS = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}

# Limits of Codex: the openai_yaml.md reference of its own skill-creator skill.
SHORT_DESCRIPTION_CHARACTERS = range(25, 65)

FEWEST_EVALS_A_KIND = 8

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
SPAN = re.compile(r"`([^`\n]+)`")
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)


def by_name(path: Path) -> str:
    return path.relative_to(SKILLS[0].parent).as_posix()


def front_matter(skill: Path) -> dict[str, Any]:
    _, head, _ = (skill / "SKILL.md").read_text(encoding="utf-8").split("---\n", 2)
    return cast(dict[str, Any], yaml.safe_load(head))


def command_lines(text: str) -> Iterator[str]:
    """Every gymbal command line: those after a prompt, and those in code spans of the prose."""
    for block in CONSOLE.findall(text):
        yield from (line.strip().removeprefix("$ ") for line in block.splitlines() if line.strip())
    yield from (span for span in SPAN.findall(text) if span.startswith("gymbal "))


def unknown_words(line: str) -> list[str]:
    """Subcommands and options of a gymbal command line that the command tree does not have."""
    program, *words = shlex.split(line)
    assert program == "gymbal"
    command: click.Command = root_command
    while isinstance(command, click.Group) and words:
        name = words.pop(0)
        found = command.get_command(click.Context(command), name)
        if found is None:
            return [name]
        command = found
    known = {
        option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)
    }
    if "--" in words:  # what follows is a command of somebody else
        words = words[: words.index("--")]
    return [word for word in words if word.startswith("--") and word.partition("=")[0] not in known]


def all_options(command: click.Command = root_command) -> set[str]:
    options = {
        option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)
    }
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            options |= all_options(found)
    return options


def first_column(page: Path, heading: str) -> list[str]:
    """The code spans in the first column of the table under `heading`."""
    section = page.read_text(encoding="utf-8").split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return [span for row in rows for span in SPAN.findall(row)]


@pytest.mark.parametrize("skill", SKILLS, ids=by_name)
def test_front_matter_follows_the_standard(skill: Path) -> None:
    fields = front_matter(skill)
    assert set(fields) <= STANDARD_FIELDS
    assert fields["name"] == skill.name
    assert NAME.fullmatch(skill.name)
    assert len(skill.name) <= MOST_NAME_CHARACTERS
    assert 0 < len(fields["description"]) <= MOST_DESCRIPTION_CHARACTERS


@pytest.mark.parametrize("skill", SKILLS, ids=by_name)
def test_description_says_when_to_use_the_skill_and_when_not(skill: Path) -> None:
    assert "Use when" in front_matter(skill)["description"]
    assert "Do not use it" in front_matter(skill)["description"]


def test_skills_list_reads_what_a_yaml_parser_reads() -> None:
    listed = {skill.name: skill.description for skill in skills_list()}
    assert listed == {skill.name: front_matter(skill)["description"] for skill in SKILLS}


@pytest.mark.parametrize("skill", SKILLS, ids=by_name)
def test_entry_file_is_short(skill: Path) -> None:
    assert len((skill / "SKILL.md").read_text(encoding="utf-8").splitlines()) < MOST_ENTRY_LINES


@pytest.mark.parametrize("skill", SKILLS, ids=by_name)
def test_entry_file_links_every_reference_and_no_other_file(skill: Path) -> None:
    linked = set(LINK.findall((skill / "SKILL.md").read_text(encoding="utf-8")))
    assert linked == {page.relative_to(skill).as_posix() for page in (skill / "references").iterdir()}


@pytest.mark.parametrize("skill", SKILLS, ids=by_name)
def test_references_do_not_lead_to_further_references(skill: Path) -> None:
    # The standard asks for references one level deep from the entry file.
    assert [
        page.name for page in (skill / "references").iterdir() if LINK.search(page.read_text("utf-8"))
    ] == []


@pytest.mark.parametrize("skill", SKILLS, ids=by_name)
def test_codex_interface_names_the_skill(skill: Path) -> None:
    interface = yaml.safe_load((skill / "agents" / "openai.yaml").read_text(encoding="utf-8"))["interface"]
    assert set(interface) == {"display_name", "short_description", "default_prompt"}
    assert len(interface["short_description"]) in SHORT_DESCRIPTION_CHARACTERS
    assert f"${skill.name}" in interface["default_prompt"]


@pytest.mark.parametrize("skill", SKILLS, ids=by_name)
def test_evals_say_what_should_trigger_the_skill_and_why(skill: Path) -> None:
    evals = json.loads((skill / "evals" / "evals.json").read_text(encoding="utf-8"))
    assert set(evals) == {"skill_name", "evals"}
    assert evals["skill_name"] == skill.name
    cases = evals["evals"]
    assert [case["id"] for case in cases] == list(range(1, len(cases) + 1))
    assert {frozenset(case) for case in cases} == {frozenset({"id", "prompt", "should_trigger", "reason"})}
    assert len({case["prompt"] for case in cases}) == len(cases)
    for wanted in (True, False):
        assert sum(case["should_trigger"] is wanted for case in cases) >= FEWEST_EVALS_A_KIND


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_pages_name_only_commands_and_options_that_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert {line: unknown_words(line) for line in command_lines(text) if unknown_words(line)} == {}
    options = {span.split()[0] for span in SPAN.findall(text) if span.startswith("--")}
    assert options - all_options() == set()


@pytest.mark.parametrize(
    ("line", "unknown"),
    [
        ("gymbal skills list --format json", []),
        ("gymbal skills install score-triage --user", []),
        ("gymbal skills remove", ["remove"]),
        ("gymbal skills list --colour=red", ["--colour=red"]),
        ("gymbal explain a b", ["explain"]),
        ("gymbal record --colour -- gym eval run --config x", ["--colour"]),
    ],
)
def test_command_check_sees_unknown_words(line: str, unknown: list[str]) -> None:
    assert unknown_words(line) == unknown


def test_triage_skill_lists_the_rungs_in_ladder_order() -> None:
    entry = SKILLS[0].parent / "score-triage" / "SKILL.md"
    assert first_column(entry, "The ladder") == list(Rung)


def test_triage_skill_explains_every_status_part_and_field() -> None:
    page = SKILLS[0].parent / "score-triage" / "references" / "reading-the-report.md"
    assert first_column(page, "Findings") == list(Status)
    assert first_column(page, "Gap parts") == list(PartName)
    fields = set(first_column(page, "Top level")) - {"rollouts"}
    assert fields == set(TriageReport.__struct_fields__) - {"schema_version"}


def test_pivot_skill_explains_every_metric_and_skip_reason() -> None:
    page = SKILLS[0].parent / "pivot-datasets" / "references" / "metrics.md"
    assert set(first_column(page, "`metrics.json`")) == set(BuildMetrics.__struct_fields__)
    assert first_column(page, "Skip reasons") == list(SkipReason)


ITEMS = {
    "R": {"type": "reasoning", "id": "rs_1", "summary": []},
    "M": {"type": "message", "role": "assistant", "content": "Done."},
    "C": {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"},
    "O": {"type": "function_call_output", "call_id": "a", "output": "1"},
}


def items_of(letters: str) -> list[Item]:
    return [read_item(json.dumps(ITEMS[letter]).encode()) for letter in letters]


def segmentation_rows() -> list[tuple[str, list[str], str]]:
    """Items, model calls and boundary of each row of the pivot skill's table."""
    page = SKILLS[0].parent / "pivot-datasets" / "references" / "segmentation.md"
    rows = [
        line.split("|")[1:4]
        for line in page.read_text(encoding="utf-8").splitlines()
        if line.startswith("| `")
    ]
    return [
        (SPAN.findall(items)[0].replace(" ", ""), SPAN.findall(calls), boundary.split(",")[0].strip())
        for items, calls, boundary in rows
        if set(SPAN.findall(items)[0]) <= {*ITEMS, " "}
    ]


@pytest.mark.parametrize(("letters", "calls", "boundary"), segmentation_rows())
def test_pivot_skill_cuts_items_as_the_builder_does(letters: str, calls: list[str], boundary: str) -> None:
    found = split(items_of(letters))
    assert [letters[call.start : call.stop] for call in found] == calls
    assert {call.boundary.value for call in found} == {boundary}


def test_pivot_skill_shows_six_ways_to_cut() -> None:
    assert len(segmentation_rows()) == 6


def test_pivot_skill_shows_rows_that_pass_validation(tmp_path: Path) -> None:
    page = SKILLS[0].parent / "pivot-datasets" / "references" / "row-contract.md"
    row_block, label_block = re.findall(r"```json\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    row = json.loads(row_block)
    (message, call, batch) = (json.loads(text) for text in re.split(r"\n(?=\{)", label_block.strip()))
    seat = row["responses_create_params"]["tools"][0]
    row["responses_create_params"]["tools"].append({**seat, "name": "get_seat"})
    rows = [{**row, "expected_action": label} for label in (message, call, batch)]
    rows[2]["responses_create_params"] = {**row["responses_create_params"], "parallel_tool_calls": True}
    file = tmp_path / "pivots.jsonl"
    write_rows(file, rows)
    report = pivot_validate(file)
    assert (report.rows, report.violations, report.split) == (
        3,
        (),
        {"message": 1, "function_call": 1, "function_call_batch": 1},
    )
