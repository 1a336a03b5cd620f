"""`gymbal record` around real processes: nothing of the command changes, and its launch is written down."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gymbal.commands import record as record_module
from gymbal.commands.record import OUTPUT_FLAGS, OUTPUT_KEY, find_output, record
from gymbal.model.evidence import Strength
from gymbal.readers.run import read_run
from gymbal.readers.run.command import VALUE_FLAGS

WAIT = "60"
"""Unfinished questions get this long; a machine that is not busy answers at once."""

RUN = """
import json, sys
stem = sys.argv[sys.argv.index("--output") + 1].removesuffix(".jsonl")
mode = "a" if "--resume" in sys.argv else "w"
request = {"input": "1 + 1?", "temperature": 0.6}
numbers = {"_ng_task_index": 0, "_ng_rollout_index": 0, "agent_ref": {"name": "quiz_agent"}}
with open(stem + "_materialized_inputs.jsonl", mode) as file:
    print(json.dumps({"responses_create_params": request, "expected_answer": "2", **numbers}), file=file)
with open(stem + ".jsonl", mode) as file:
    row = {"response": {"model": "quiz-model", "status": "completed", "output": []}, "reward": 1.0, **numbers}
    print(json.dumps({"responses_create_params": request, **row}), file=file)
print("done")
"""
"""What stands in for `gym eval run`: it writes one rollout and its input."""

GYM = f"""#!{sys.executable}
import sys
if sys.argv[1:3] == ["env", "resolve"]:
    print('''policy_model:
  responses_api_models:
    vllm_model:
      api_key: '****'
      max_output_tokens: '****'
policy_api_key: '****'
judge_model: judge-x
quiz:
  resources_servers:
    quiz:
      grading_mode: strict
''')
    sys.exit()
{RUN}
"""

CONFIG = """judge_model: ${oc.env:JUDGE_MODEL}
judge_key: ${oc.env:JUDGE_API_KEY}
policy_model:
  responses_api_models:
    vllm_model:
      max_output_tokens: 777
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of the commands."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def recorded(
    *command: str, options: tuple[str, ...] = ("--wait", WAIT), **env: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "gymbal", "record", *options, "--", *command],
        capture_output=True,
        env={**os.environ, **env},
        check=False,
        timeout=300,
    )


def python(code: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code, *arguments)


def launches(file: Path) -> list[dict[str, Any]]:
    document: dict[str, Any] = json.loads(file.read_text())
    assert document["schema_version"] == 1
    found: list[dict[str, Any]] = document["launches"]
    return found


def test_output_and_exit_code_are_those_of_the_command(folder: Path) -> None:
    code = "import sys; print('out'); print('err', file=sys.stderr); print(sys.stdin.read()); sys.exit(3)"
    done = subprocess.run(
        [sys.executable, "-m", "gymbal", "record", "--rollouts", "r.jsonl", "--", *python(code)],
        input=b"in",
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode, done.stdout) == (3, b"out\nin\n")
    assert done.stderr.startswith(b"err\n")


def test_big_output_comes_through_whole(folder: Path) -> None:
    size = 20_000_000
    done = recorded(*python(f"import sys; sys.stdout.buffer.write(b'x' * {size})"))
    assert (done.returncode, len(done.stdout)) == (0, size)


@pytest.mark.parametrize(
    ("command", "code"), [(["./none"], 127), (["./plain"], 126), (["true"], 0), (["false"], 1)]
)
def test_exit_code_is_what_a_shell_would_show(folder: Path, command: list[str], code: int) -> None:
    (folder / "plain").write_text("no program\n")
    assert recorded(*command).returncode == code


def test_command_that_a_signal_ends_ends_the_wrapper_alike(folder: Path) -> None:
    done = recorded(*python("import os, signal; os.kill(os.getpid(), signal.SIGKILL)"))
    assert done.returncode == -signal.SIGKILL


COUNTING = """
import signal, sys, time
seen = []
signal.signal(signal.{name}, lambda *_: seen.append(1))
print("ready", flush=True)
end = time.monotonic() + 60
while not seen and time.monotonic() < end:
    time.sleep(0.01)
time.sleep(0.5)
print("seen", len(seen), flush=True)
sys.exit(7)
"""
"""Exits with 7 half a second after the first signal, and says how many there were."""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGUSR1"])
def test_signal_to_the_wrapper_reaches_the_command_once(folder: Path, name: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "gymbal", "record", "--", *python(COUNTING.format(name=name))],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(getattr(signal, name))
    assert process.stdout.read() == b"seen 1\n"
    assert process.wait(60) == 7
    process.stdout.close()


def test_interrupt_from_a_terminal_reaches_the_command_once(folder: Path) -> None:
    # pty.spawn copies what it is given to the terminal of the command: byte 3 is Ctrl-C.
    inner = [sys.executable, "-m", "gymbal", "record", "--", *python(COUNTING.format(name="SIGINT"))]
    outer = f"import pty, os, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn({inner!r})))"
    process = subprocess.Popen([sys.executable, "-c", outer], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline().strip() == b"ready"
    process.stdin.write(b"\x03")
    process.stdin.flush()
    assert b"seen 1" in process.stdout.read()
    assert process.wait(60) == 7
    process.stdin.close()
    process.stdout.close()


def test_launch_is_written_beside_the_rollouts(folder: Path) -> None:
    (folder / "out").mkdir()
    done = recorded(
        *python(RUN, "--output", "out/r.jsonl", "--model-api-key", "plainsecret1"), DB_PASSWORD="plainsecret2"
    )
    assert (done.returncode, done.stdout) == (0, b"done\n")
    (launch,) = launches(folder / "out" / "r_provenance.json")
    assert launch["command"][-1] == "****"
    assert (launch["exit_code"], launch["signal"], launch["folder"]) == (0, None, str(folder))
    assert launch["started"] < launch["ended"]
    assert launch["started"].endswith("Z")
    assert (launch["tasks"]["rows"], launch["tasks"]["tasks"]) == (1, 1)
    assert "gym" in launch["missing"]
    assert b"plainsecret" not in (folder / "out" / "r_provenance.json").read_bytes()
    assert b"gymbal record: not recorded: gym" in done.stderr


def test_launch_of_gym_names_code_config_and_environment(folder: Path) -> None:
    gym = folder / "bin" / "gym"
    gym.parent.mkdir()
    gym.write_text(GYM)
    gym.chmod(0o755)
    (folder / "quiz.yaml").write_text(CONFIG)
    (folder / "in.jsonl").write_text("{}\n")
    words = "eval run --config quiz.yaml --input in.jsonl --output r.jsonl ++policy_api_key=plainsecret1"
    done = recorded(
        str(gym),
        *words.split(),
        "--model-url",
        "http://127.0.0.1:9/v1",
        JUDGE_MODEL="judge-x",
        JUDGE_API_KEY="plainsecret2",
    )
    assert (done.returncode, done.stdout) == (0, b"done\n")
    (launch,) = launches(folder / "r_provenance.json")
    assert launch["config"]["quiz"]["resources_servers"]["quiz"]["grading_mode"] == "strict"
    assert launch["config"]["policy_model"]["responses_api_models"]["vllm_model"] == {
        "api_key": "****",
        "max_output_tokens": 777,
    }
    assert launch["config_environment"] == {"JUDGE_API_KEY": "****", "JUDGE_MODEL": "judge-x"}
    assert launch["gym"]["executable"]
    assert len(launch["packages"]["digest"]) == 32
    # The digest is that of `printf '{}\n' | sha256sum`.
    assert launch["dataset"]["digest"] == "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356"
    assert launch["endpoint"]["url"] == "http://127.0.0.1:9/v1"
    assert "no answer from" in launch["missing"]["endpoint"]
    assert b"plainsecret" not in (folder / "r_provenance.json").read_bytes()
    facts = {fact.name: fact for fact in read_run(folder / "r.jsonl").facts}
    assert facts["config.judge_model"].value == "judge-x"
    assert facts["config.quiz.resources_servers.quiz.grading_mode"].file == "r_provenance.json"


def test_resumed_run_keeps_its_earlier_launches_and_a_fresh_one_does_not(folder: Path) -> None:
    gym = folder / "gym"
    gym.write_text(GYM)
    gym.chmod(0o755)
    words = (str(gym), "eval", "run", "--output", "r.jsonl")
    recorded(*words, "--temperature", "0.5")
    recorded(*words, "--resume", "--temperature", "0.7")
    assert len(launches(folder / "r_provenance.json")) == 2
    facts = {fact.name: fact for fact in read_run(folder / "r.jsonl").facts}
    assert (facts["temperature"].value, len(facts["temperature"].rivals)) == (None, 2)
    recorded(*words)
    assert len(launches(folder / "r_provenance.json")) == 1


def test_resumed_run_whose_start_nobody_recorded_says_so(folder: Path) -> None:
    code = (sys.executable, "-c", RUN, "--output", "r.jsonl")
    subprocess.run(code, check=True, capture_output=True)
    gym = folder / "gym"
    gym.write_text(GYM)
    gym.chmod(0o755)
    recorded(str(gym), "eval", "run", "--output", "r.jsonl", "--resume", "--temperature", "0.7")
    (launch,) = launches(folder / "r_provenance.json")
    assert "earlier launches" in launch["missing"]
    facts = {fact.name: fact for fact in read_run(folder / "r.jsonl").facts}
    assert (facts["temperature"].value, facts["temperature"].strength) == (0.7, Strength.REBUILT)


def test_command_that_wrote_nothing_leaves_the_record_of_the_old_rollouts(folder: Path) -> None:
    recorded(*python(RUN, "--output", "r.jsonl"))
    before = (folder / "r_provenance.json").read_bytes()
    done = recorded(*python("import sys; sys.exit(5)", "--output", "r.jsonl"))
    assert done.returncode == 5
    assert b"wrote nothing to" in done.stderr
    assert (folder / "r_provenance.json").read_bytes() == before


def test_command_without_output_runs_with_a_warning(folder: Path) -> None:
    done = recorded(*python("print('ran')"))
    assert (done.returncode, done.stdout) == (0, b"ran\n")
    assert b"names no rollouts file" in done.stderr
    assert list(folder.iterdir()) == []


def test_recorder_that_fails_costs_the_command_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_module, "RECORDER", "gymbal.nonesuch")
    recording = record(python(RUN + "sys.exit(4)", "--output", "r.jsonl"), wait=60)
    assert (recording.exit_code, recording.provenance) == (4, None)
    assert "the recorder failed" in recording.problems[0]


def test_words_that_are_no_utf8_are_recorded_with_escapes(folder: Path) -> None:
    done = recorded(*python(RUN, "--output", "r.jsonl", "odd\udcff"))
    assert (done.returncode, done.stdout) == (0, b"done\n")
    assert launches(folder / "r_provenance.json")[0]["command"][-1] == "odd\\udcff"


def test_a_rollouts_file_whose_name_is_no_utf8_is_run_unrecorded(folder: Path) -> None:
    done = recorded(*python("print('ran')"), options=("--rollouts", "odd\udcff.jsonl"))
    assert (done.returncode, done.stdout) == (0, b"ran\n")
    assert b"is no UTF-8" in done.stderr
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("wait", ["nan", "-1"])
def test_a_wait_that_is_no_time_is_refused_before_anything_runs(wait: str, folder: Path) -> None:
    done = recorded(*python("print('ran')"), options=("--rollouts", "r.jsonl", "--wait", wait))
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Traceback" not in done.stderr


def test_killed_wrapper_takes_the_command_along_and_leaves_a_launch_without_end(folder: Path) -> None:
    code = RUN + "\nimport time\nsys.stdout.flush()\ntime.sleep(600)"
    process = subprocess.Popen(
        [sys.executable, "-m", "gymbal", "record", "--", *python(code, "--output", "r.jsonl")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"done\n"
    process.kill()
    process.wait(60)
    # The pipe ends when the command, its last writer, is gone.
    assert process.stdout.read() == b""
    process.stdout.close()
    file = folder / "r_provenance.json"
    deadline = time.monotonic() + 120
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    (launch,) = launches(file)
    assert (launch["ended"], launch["exit_code"]) == (None, None)


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (["gym", "eval", "run", "--output", "a/r.jsonl"], "a/r.jsonl"),
        (["srun", "--output=slurm.log", "/bin/gym", "eval", "run", "-o", "r.jsonl"], "r.jsonl"),
        (["gym", "eval", "run", "++output_jsonl_fpath=r.jsonl"], "r.jsonl"),
        (["bash", "-c", "cd x; gym eval run --output 'r 1.jsonl'"], "r 1.jsonl"),
        (["sh", "-c", "gym eval run --output r.jsonl; cp --output x y"], "r.jsonl"),
        (["gym", "eval", "run"], None),
        (["gym", "eval", "run", "--output"], None),
    ],
)
def test_rollouts_file_is_the_one_that_the_command_names(command: list[str], output: str | None) -> None:
    assert find_output(command) == (None if output is None else Path(output))


def test_flags_that_name_the_rollouts_file_are_those_of_the_reader() -> None:
    assert {flag for flag, key in VALUE_FLAGS.items() if key == OUTPUT_KEY} == set(OUTPUT_FLAGS)
