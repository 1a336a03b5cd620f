"""Policies of a gate: what is read, and what is refused with its key."""

from __future__ import annotations

from pathlib import Path

import pytest

from gymbal.errors import InputError
from gymbal.model.comparison import InferenceTarget
from gymbal.model.finding import Rung
from gymbal.model.gate import Direction, Multiplicity, Tier
from gymbal.readers.gate_policy import read_gate_policy

FULL = """
level = 0.9
multiplicity = "none"

[[benchmark]]
name = "gpqa"
path = "gpqa*"
agent = "simple_agent"
metric = "pass@4/accuracy"
tier = "tracked"
direction = "lower"
target = "new_tasks"
margin = 0.02
max_gain = 0.1
min_clean_share = 0.95
require = ["code", "accounting"]
may_differ = ["method"]

[[waiver]]
benchmark = "gpqa"
candidate = "v2*"
reason = "known"
expires = 2026-12-31
"""

SHORT = '[[benchmark]]\nname = "quiz"\nmargin = 0.02\n'


def read(folder: Path, text: str) -> object:
    file = folder / "gate.toml"
    file.write_text(text)
    return read_gate_policy(file)


def test_policy_is_read_in_full(tmp_path: Path) -> None:
    (tmp_path / "gate.toml").write_text(FULL)
    policy = read_gate_policy(tmp_path / "gate.toml")
    assert (policy.level, policy.multiplicity) == (0.9, Multiplicity.NONE)
    (rule,) = policy.benchmarks
    assert (rule.name, rule.place, rule.agent, rule.metric) == (
        "gpqa",
        "gpqa*",
        "simple_agent",
        "pass@4/accuracy",
    )
    assert (rule.tier, rule.direction) == (Tier.TRACKED, Direction.LOWER)
    assert rule.target is InferenceTarget.NEW_TASKS
    assert (rule.margin, rule.max_gain, rule.min_clean_share) == (0.02, 0.1, 0.95)
    assert (rule.require, rule.may_differ) == ((Rung.CODE, Rung.ACCOUNTING), (Rung.METHOD,))
    assert policy.waivers[0].expires == "2026-12-31"


def test_policy_has_defaults_for_all_but_name_and_margin(tmp_path: Path) -> None:
    (tmp_path / "gate.toml").write_text(SHORT)
    policy = read_gate_policy(tmp_path / "gate.toml")
    (rule,) = policy.benchmarks
    assert (policy.level, policy.multiplicity, policy.waivers) == (0.95, Multiplicity.HOLM, ())
    assert (rule.place, rule.metric, rule.tier) == ("quiz", "mean/reward", Tier.BLOCKING)
    assert (rule.direction, rule.target) == (Direction.HIGHER, InferenceTarget.SAME_TASKS)
    assert (rule.max_gain, rule.min_clean_share, rule.require, rule.may_differ) == (None, None, (), ())


WAIVER = '[[waiver]]\nbenchmark = "quiz"\ncandidate = "*"\nreason = "known"\n'


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        ("levl = 0.9\n" + SHORT, "levl", "is no key of a policy"),
        (SHORT + "margn = 0.1\n", "benchmark[0].margn", "known here: name, margin, path"),
        (SHORT + WAIVER + "expires = 2026-12-31\nuntil = 1\n", "waiver[0].until", "is no key"),
        (SHORT.replace("margin = 0.02", ""), "benchmark[0].margin", "is missing"),
        ("level = 0.95\n", "benchmark", "is missing"),
        ("benchmark = []\n", "benchmark", "length >= 1"),
        ('benchmark = "quiz"\n', "benchmark", "expected array"),
        (SHORT.replace("0.02", "2"), "benchmark[0].margin", "expected float <= 1.0, found 2"),
        (SHORT.replace("0.02", "-0.1"), "benchmark[0].margin", ">= 0"),
        (SHORT.replace("0.02", "nan"), "benchmark[0].margin", "nan"),
        (SHORT.replace("0.02", '"2%"'), "benchmark[0].margin", "expected float"),
        (SHORT.replace('"quiz"', '""'), "benchmark[0].name", "length >= 1"),
        (SHORT + 'tier = "critical"\n', "benchmark[0].tier", "blocking, tracked, found 'critical'"),
        (SHORT + 'target = "new"\n', "benchmark[0].target", "new"),
        (SHORT + "min_clean_share = 95\n", "benchmark[0].min_clean_share", "<= 1"),
        (SHORT + 'require = ["tasks"]\n', "benchmark[0].require[0]", "expected one of integrity"),
        (SHORT + 'require = ["model"]\n', "benchmark[0].require", "integrity, code, benchmark, method"),
        (SHORT + 'may_differ = ["benchmark"]\n', "benchmark[0].may_differ", "expected some of method"),
        (
            SHORT + 'require = ["method"]\nmay_differ = ["method"]\n',
            "benchmark[0].may_differ",
            "required to be the same",
        ),
        (SHORT + 'path = "/data/quiz"\n', "benchmark[0].path", "below the folder"),
        (SHORT + 'path = "../quiz"\n', "benchmark[0].path", "below the folder"),
        (SHORT + SHORT, "benchmark[0].name", "names two benchmarks"),
        ("level = 1\n" + SHORT, "level", "<= 0.999"),
        ('multiplicity = "bonferroni"\n' + SHORT, "multiplicity", "bonferroni"),
        (SHORT + WAIVER, "waiver[0].expires", "is missing"),
        (SHORT + WAIVER + "expires = 2026-12-31T00:00:00Z\n", "waiver[0].expires", "expected a day"),
        (SHORT + WAIVER + 'expires = "soon"\n', "waiver[0].expires", "expected a day"),
        (SHORT + WAIVER + "expires = 20261231\n", "waiver[0].expires", "expected a day"),
        (
            SHORT + WAIVER.replace("quiz", "quizz") + "expires = 2026-12-31\n",
            "waiver[0].benchmark",
            "no benchmark of this policy",
        ),
    ],
)
def test_invalid_policy_is_refused_with_its_key(tmp_path: Path, text: str, key: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, text)
    assert error.value.key == key
    assert said in str(error.value)
    assert "gate.toml" in str(error.value)


@pytest.mark.parametrize("data", [b"level = \n", b"\xff\xfe", b"a = " + b"[" * 5000])
def test_file_that_is_no_toml_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "gate.toml").write_bytes(data)
    with pytest.raises(InputError, match="is not TOML"):
        read_gate_policy(tmp_path / "gate.toml")


def test_missing_policy_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        read_gate_policy(tmp_path / "nowhere.toml")


def test_quoted_day_is_read(tmp_path: Path) -> None:
    (tmp_path / "gate.toml").write_text(SHORT + WAIVER + 'expires = "2026-12-31"\n')
    assert read_gate_policy(tmp_path / "gate.toml").waivers[0].expires == "2026-12-31"
