"""Builds small git repositories that look like NeMo Gym's, as far as a benchmark's own files go."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ENVIRONMENT = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_AUTHOR_DATE": "2026-11-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_COMMITTER_DATE": "2026-11-01T00:00:00Z",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}

QUIZ_CONFIG = """quiz_server:
  resources_servers:
    quiz:
      entrypoint: app.py
quiz_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.py
"""

START = {
    "resources_servers/quiz/configs/quiz.yaml": QUIZ_CONFIG,
    "resources_servers/quiz/app.py": "grade = 1\n",
    "resources_servers/other/app.py": "grade = 1\n",
    "responses_api_agents/simple_agent/app.py": "run = 1\n",
    "responses_api_models/vllm_model/app.py": "ask = 1\n",
    "responses_api_models/openai_model/app.py": "ask = 1\n",
    "environment_servers/legacy_agent/app.py": "serve = 1\n",
    "nemo_gym/rollout_collection.py": "collect = 1\n",
    "README.md": "Gym\n",
}


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *words],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **ENVIRONMENT},
    )
    return done.stdout.strip()


def new_repository(folder: Path) -> str:
    """Make a repository with `START` in it and return its commit."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    return commit(folder, "start", START)


def commit(folder: Path, subject: str, files: dict[str, str]) -> str:
    """Write the files, commit them and return the commit."""
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", subject)
    return git(folder, "rev-parse", "HEAD")
