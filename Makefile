.DEFAULT_GOAL := help
.PHONY: help setup demo test test-vllm check lint types generated lock docs golden bench soak format lab-build lab-up lab-down

PYTHON ?= python3
BIN := .venv/bin

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: .venv/installed ## Make the virtual environment (.venv) with everything pinned

# The stamp comes last, so that an interrupted installation is done again.
.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "pulumi-lws needs Python 3.11 or newer, but '$(PYTHON)' is $$($(PYTHON) --version 2>&1)." \
	       "Name another one: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: setup ## Provision the local stack from nothing: lab, engine, policies, objects
	$(BIN)/python -m lab demo

test: setup ## Run every test, on the real engine and a real API server
	$(BIN)/python -m pytest

test-vllm: setup ## Check every command line of vLLM with vLLM itself (installs 9.4 GB)
	$(BIN)/python -m lab.vllm
	PULUMI_LWS_TEST_VLLM=1 $(BIN)/python -m pytest tests/vllm

check: lint types generated test ## Everything that must hold before a change lands

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

generated: setup
	$(BIN)/python -m pytest --quiet --durations=0 tests/test_generated.py

format: setup ## Format the code and mend what a machine can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: setup ## Write the pins anew; existing ones stay unless UPGRADE=--upgrade
	$(BIN)/uv pip compile --quiet --all-extras --universal --no-header --no-annotate --no-emit-index-url \
	  --python-version 3.11 $(UPGRADE) --output-file constraints.txt pyproject.toml

docs: setup ## Write the generated pages anew
	$(BIN)/python -m lab.docs

golden: setup ## Write the reviewed files of rendered objects anew
	REWRITE_GOLDEN=1 $(BIN)/python -m pytest --quiet --durations=0 -m 'not lab' tests

bench: setup ## Measure against bare programs, in one run
	$(BIN)/python -m lab.bench

soak: setup ## Kill twenty updates of the whole local stack at random points; SEED=… again at the same
	$(BIN)/python -m lab.soak $(if $(SEED),--seed $(SEED))

lab-build: setup ## Find, download or build every program of the lab
	$(BIN)/python -m lab build

lab-up: setup ## Start the lab with two fake p5.48xlarge nodes
	$(BIN)/python -m lab up --nodes p5=p5.48xlarge:1x2

lab-down: setup ## Stop the lab and delete its state
	$(BIN)/python -m lab down
