"""Container, GPUs, variables and other programs, as far as a test can have them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gymbal.probe.machine import kept_environment, read_container, read_gpus
from gymbal.probe.program import NoAnswer, ask_program

CONTAINER = "0123456789abcdef" * 4


def root_with(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return folder


def test_container_of_docker_is_known_by_its_control_group(tmp_path: Path) -> None:
    root = root_with(tmp_path, "proc/self/cgroup", f"0::/system.slice/docker-{CONTAINER}.scope\n")
    assert read_container({}, root) == {"id": CONTAINER}


def test_container_of_docker_is_known_by_its_mounts(tmp_path: Path) -> None:
    mounts = (
        f"1 0 0:1 / / rw - overlay o rw\n2 1 8:1 /docker/containers/{CONTAINER}/hostname /etc/hostname rw\n"
    )
    assert read_container({}, root_with(tmp_path, "proc/self/mountinfo", mounts)) == {"id": CONTAINER}


def test_container_of_podman_names_its_image(tmp_path: Path) -> None:
    root = root_with(tmp_path, "run/.containerenv", 'engine="podman"\nid="abc"\nimage="gym:1"\n')
    assert read_container({}, root) == {"id": "abc", "image": "gym:1"}


def test_container_of_apptainer_is_its_image(tmp_path: Path) -> None:
    assert read_container({"APPTAINER_CONTAINER": "/images/gym.sif"}, tmp_path) == {
        "image": "/images/gym.sif"
    }


def test_container_is_none_outside(tmp_path: Path) -> None:
    assert read_container({}, tmp_path) is None


def test_kept_environment_is_what_the_list_names_and_no_secret() -> None:
    environment = {
        "SLURM_JOB_ID": "7",
        "VLLM_USE_V1": "1",
        "VLLM_API_KEY": "x",
        "NEMO_GYM_EXTRA_ROOTS": "/gym",
        "MINE": "m",
        "OTHER": "o",
        "MY_TOKEN": "t",
    }
    kept = kept_environment(environment, ["MINE", "MY_TOKEN"])
    assert kept == {"MINE": "m", "NEMO_GYM_EXTRA_ROOTS": "/gym", "SLURM_JOB_ID": "7", "VLLM_USE_V1": "1"}


def test_gpus_are_what_nvidia_smi_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 'NVIDIA H100 80GB HBM3, 81559 MiB, 560.35.03'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = {"name": "NVIDIA H100 80GB HBM3", "memory.total": "81559 MiB", "driver_version": "560.35.03"}
    assert read_gpus() == [found]
    program.unlink()
    assert isinstance(read_gpus(), NoAnswer)


def test_program_answers_or_says_what_went_wrong(tmp_path: Path) -> None:
    python = sys.executable
    assert ask_program([python, "-c", "print('yes')"], seconds=60).text == "yes\n"
    failed = ask_program([python, "-c", "import sys; sys.exit('no such thing')"], seconds=60)
    assert (failed.text, "no such thing" in str(failed.problem)) == (None, True)
    late = ask_program([python, "-c", "import time; time.sleep(60)"], seconds=0.2)
    assert "took more than 0.2 seconds" in str(late.problem)
    assert "cannot be run" in str(ask_program([str(tmp_path / "none")], seconds=1).problem)
