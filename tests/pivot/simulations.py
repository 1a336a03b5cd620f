"""Results of tau2-bench with a file for each simulation."""

from __future__ import annotations

import json
from pathlib import Path


def write_results(folder: Path, count: int) -> Path:
    """Write `results.json` and `count` simulations, which ask for the name of the folder and their own."""
    (folder / "simulations").mkdir(parents=True)
    names = [f"s{number}" for number in range(count)]
    document = {
        "info": {"environment_info": {"domain_name": "d", "policy": "Be nice."}},
        "simulation_index": [{"id": name} for name in names],
    }
    (folder / "results.json").write_text(json.dumps(document))
    for name in names:
        write_simulation(folder, name, f"{folder.name} {name}")
    return folder / "results.json"


def write_simulation(folder: Path, name: str, asked: str) -> Path:
    messages = [{"role": "user", "content": asked}, {"role": "assistant", "content": "Done."}]
    path = folder / "simulations" / f"{name}.json"
    path.write_text(json.dumps({"id": name, "task_id": name, "trial": 0, "messages": messages}))
    return path
