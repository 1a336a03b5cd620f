"""The machine and the container that a command runs in, and the variables that may be written down."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gymbal.io.secrets import is_secret_name
from gymbal.probe.program import NoAnswer, ask_program

GPU_SECONDS = 10.0

GPU_FIELDS = ("name", "memory.total", "driver_version")

KEPT_VARIABLES = (
    "APPTAINER_CONTAINER",
    "CONDA_DEFAULT_ENV",
    "CUDA_VISIBLE_DEVICES",
    "HF_DATASETS_OFFLINE",
    "HF_HOME",
    "HF_HUB_OFFLINE",
    "HOSTNAME",
    "LANG",
    "NVIDIA_BUILD_ID",
    "NVIDIA_PRODUCT_NAME",
    "NVIDIA_VISIBLE_DEVICES",
    "PYTHONHASHSEED",
    "PYTHONPATH",
    "SINGULARITY_CONTAINER",
    "SLURM_CLUSTER_NAME",
    "SLURM_JOB_ID",
    "SLURM_JOB_NAME",
    "SLURM_JOB_NUM_NODES",
    "SLURM_JOB_PARTITION",
    "TRANSFORMERS_OFFLINE",
    "TZ",
    "VIRTUAL_ENV",
)
"""Variables that are recorded where they are set. `docs/evidence.md` lists them."""

KEPT_PREFIXES = ("NEMO_GYM_", "SGLANG_", "VLLM_")

IMAGE_VARIABLES = ("APPTAINER_CONTAINER", "SINGULARITY_CONTAINER")

_CONTAINER_ID = re.compile(r"[/-]([0-9a-f]{64})(?:[/.]|$)", re.MULTILINE)
_PODMAN_FIELD = re.compile(r'^(id|image)="([^"]*)"$', re.MULTILINE)


def kept_environment(environment: Mapping[str, str], more: Iterable[str] = ()) -> dict[str, str]:
    """The variables that are recorded, sorted; `more` adds names. None is named like a secret."""
    wanted = {*KEPT_VARIABLES, *more}
    return {
        name: environment[name]
        for name in sorted(environment)
        if (name in wanted or name.startswith(KEPT_PREFIXES)) and not is_secret_name(name)
    }


def read_container(environment: Mapping[str, str], root: Path = Path("/")) -> dict[str, str] | None:
    """Id and image of the container, as far as its runtime says; None outside of one."""
    found: dict[str, str] = {}
    image = next((environment[name] for name in IMAGE_VARIABLES if environment.get(name)), None)
    if image:
        found["image"] = image
    for name in ("proc/self/cgroup", "proc/self/mountinfo"):
        match = _CONTAINER_ID.search(_text(root / name))
        if match and "id" not in found:
            found["id"] = match[1]
    found.update(dict(_PODMAN_FIELD.findall(_text(root / "run/.containerenv"))))
    if not found and (root / ".dockerenv").exists() and environment.get("HOSTNAME"):
        found["id"] = environment["HOSTNAME"]
    return found or None


def read_gpus() -> list[dict[str, Any]] | NoAnswer:
    """Name, memory and driver of each GPU, as nvidia-smi lists them."""
    query = f"--query-gpu={','.join(GPU_FIELDS)}"
    answer = ask_program(["nvidia-smi", query, "--format=csv,noheader"], seconds=GPU_SECONDS)
    if answer.text is None:
        return NoAnswer(answer.problem or "nvidia-smi said nothing")
    rows = (line.split(", ") for line in answer.text.splitlines() if line.strip())
    return [dict(zip(GPU_FIELDS, row, strict=False)) for row in rows]


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
