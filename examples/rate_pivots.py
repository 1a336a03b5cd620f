"""Makes `pivots/rated.jsonl`: the pivots of `rollouts/` with pass rates that were drawn, not measured.

    python examples/rate_pivots.py

Each row gets the three fields that NVIDIA's released pivot rows carry. Its true rate is drawn first: never,
always, or one in between, and then 8 samples of it. No policy was asked.
"""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path

from gymbal import pivot_build

HERE = Path(__file__).resolve().parent
SAMPLES = 8


def main() -> None:
    """Draw the rates and write the file."""
    rng = random.Random(4)
    target = HERE / "pivots" / "rated.jsonl"
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "tool_use"
        pivot_build(HERE / "rollouts" / "tool_use.rollouts.jsonl", built)
        lines = (built / "pivots.jsonl").read_text(encoding="utf-8").splitlines()
    with target.open("w", encoding="utf-8") as stream:
        for line in lines:
            rate = rng.choice((0.0, 0.0, 0.0, 1.0, 1.0, 0.1, 0.3, 0.5, 0.7))
            passed = sum(rng.random() < rate for _ in range(SAMPLES))
            fields = {
                "pass_rate": passed / SAMPLES,
                "pass_rate_total": SAMPLES,
                "pass_rate_passed": passed,
            }
            stream.write(f"{line[:-1]}, {json.dumps(fields)[1:]}\n")


if __name__ == "__main__":
    main()
