# Everything that a developer or CI runs. Needs Python 3.11 or newer, git and make; uses uv where it is on PATH.
#
# .venv is made once and refreshed when pyproject.toml changes: two stamp files in it say what it holds.

VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.runtime-installed
DEV := $(VENV)/.dev-installed
UV := $(shell command -v uv 2>/dev/null)
GYM_VENV := $(or $(GYMBAL_GYM_VENV),.venv-gym)
TRAINER_VENVS := $(or $(GYMBAL_TRAINER_VENVS),.venv-trainers)
POLICY := $(or $(GYMBAL_POLICY),.policy)

# Start-up time is a promise, and without .pyc files every import is compiled again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-gym test-trainers test-policy check fix bench clean

help:  ## list the targets
	@sed -n 's/^\([a-z%-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do printf '  make %-14s %s\n' "$$name" "$$text"; done
	@printf '\n  PYTHON=/path/to/python3.12 chooses the interpreter of a new .venv; ARGS="..." is passed on to pytest or the benchmark.\n'

demo: $(RUNTIME)  ## explain one gap and build one pivot dataset from the examples
	rm -rf build/demo
	$(BIN)/gymbal triage examples/runs/baseline examples/runs/candidate || [ $$? -eq 1 ]  # 1: a difference was found
	$(BIN)/gymbal pivot build examples/rollouts/tool_use.rollouts.jsonl --output build/demo
	$(BIN)/gymbal pivot validate build/demo

test: $(DEV)  ## run the tests
	$(BIN)/python -m pytest $(ARGS)

test-gym: $(DEV)  ## run the tests against a real NeMo Gym, which is installed into .venv-gym the first time
	@$(BIN)/python tests/gym/gym_venv.py "$(GYM_VENV)"; code=$$?; \
	if [ $$code -eq 77 ]; then exit 0; elif [ $$code -ne 0 ]; then exit $$code; fi; \
	GYMBAL_GYM_VENV="$(GYM_VENV)" $(BIN)/python -m pytest -m gym tests/gym_integration $(ARGS)

test-trainers: $(DEV)  ## load exports by the trainers themselves; TRAINERS="trl verl" names some, all take 7 GB
	@PYTHONPATH=tests/gym $(BIN)/python tests/trainers/trainer_venv.py "$(TRAINER_VENVS)" $(TRAINERS); code=$$?; \
	if [ $$code -eq 77 ]; then exit 0; elif [ $$code -ne 0 ]; then exit $$code; fi; \
	GYMBAL_TRAINER_VENVS="$(TRAINER_VENVS)" $(BIN)/python -m pytest -m trainers tests/trainer_integration $(ARGS)

test-policy: $(DEV)  ## profile pivots with a small language model, which is brought into .policy the first time: 180 MB
	@PYTHONPATH=tests/gym $(BIN)/python tests/policy/policy_files.py "$(POLICY)"; code=$$?; \
	if [ $$code -eq 77 ]; then exit 0; elif [ $$code -ne 0 ]; then exit $$code; fi; \
	GYMBAL_POLICY="$(POLICY)" $(BIN)/python -m pytest -m policy tests/policy $(ARGS)

check: $(DEV)  ## check format, lint, types and the house rules
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/house

fix: $(DEV)  ## format, and mend what the linter can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: bench-startup  ## measure the start-up

bench-%: $(DEV)  ## run benchmarks/%.py
	$(BIN)/python benchmarks/$*.py $(ARGS)

clean:  ## remove .venv, caches and build results
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@for candidate in $(or $(PYTHON),python3.13 python3.12 python3.11 python3); do \
	  if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$$candidate; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo 'gymbal needs Python 3.11 or newer; tried: $(or $(PYTHON),python3.13 python3.12 python3.11 python3).' >&2; \
	  echo 'Install one, or name it: make PYTHON=/path/to/python3.12' >&2; exit 1; \
	fi; \
	if [ -n "$(UV)" ]; then set -- uv venv --quiet --python "$$python" $(VENV); \
	elif "$$python" -c 'import ensurepip, venv' 2>/dev/null; then set -- "$$python" -m venv $(VENV); \
	else echo "$$python has no venv module; on Debian or Ubuntu: apt-get install python3-venv" >&2; exit 1; fi; \
	rm -rf $(VENV); echo "$$*"; "$$@" || { rm -rf $(VENV); exit 1; }

ifdef UV
INSTALL := uv pip install --quiet --python $(BIN)/python --compile-bytecode
INSTALL_DEV := $(INSTALL)
else
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# pip reads dependency groups from 25.1 on.
INSTALL_DEV := $(INSTALL) --upgrade 'pip>=25.1' && $(INSTALL)
endif

$(RUNTIME): pyproject.toml | $(BIN)/python
	$(INSTALL) --editable .
	@touch $@

$(DEV): pyproject.toml | $(BIN)/python
	$(INSTALL_DEV) --editable . --group dev
	@touch $@ $(RUNTIME)
