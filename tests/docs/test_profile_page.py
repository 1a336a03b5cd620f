"""The page on profiles lists what the code has."""

import re
from pathlib import Path

from gymbal.cli.pivot_profile import profile_command
from gymbal.model.profile import SampleFailure
from gymbal.readers.run.pivot_rewards import LeftOut

PAGE = (Path(__file__).parents[2] / "docs" / "profile.md").read_text(encoding="utf-8")


def test_page_lists_the_kinds_of_failure_in_their_order() -> None:
    section = PAGE.split("## When something fails")[1].split("## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE) == list(SampleFailure)


def test_page_names_why_a_recorded_rollout_gives_no_reward() -> None:
    section = PAGE.split("## Without asking")[1].split("## ")[0]
    assert [reason for reason in LeftOut if f"`{reason}`" not in section] == []


def test_page_shows_every_option() -> None:
    usage = PAGE.split("```")[1]
    names = [
        max(option.opts, key=len) for option in profile_command.params if option.param_type_name == "option"
    ]
    shown = [name.replace("--samples", "-k") for name in names]
    assert [name for name in shown if name not in usage] == []
