# Everything runs from .venv, which the first target that needs it creates and fills.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input -qq

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test check bench fuzz

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-7s %s\n", $$1, $$2}' Makefile

demo: .venv/with-charts ## the story of Millbrook, told by the program
	@$(BIN)/hubbub demo

test: check ## check, then run every test
	@$(BIN)/python -m pytest

check: .venv/with-charts,dev ## lint, formatting, types, import layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy --strict src benchmarks tests
	@$(BIN)/lint-imports

fuzz: .venv/with-charts,dev ## search for a person who changes more than one count (about a quarter of an hour)
	@$(BIN)/python -m tests.fuzz.csv_reader
	@$(BIN)/python -m tests.fuzz.neighbours

bench: .venv/with-bench .venv/peers/installed .venv/accountants/installed ## measure, side by side with the peers
	@$(BIN)/python -m benchmarks.noise
	@$(BIN)/python -m benchmarks.channels
	@$(BIN)/python -m benchmarks.release
	@$(BIN)/python -m benchmarks.statistics
	@$(BIN)/python -m benchmarks.csv_files
	@$(BIN)/python -m benchmarks.ledger
	@$(BIN)/python -m benchmarks.people
	@$(BIN)/python -m benchmarks.graphs
	@$(BIN)/python -m benchmarks.commands
	@$(BIN)/python -m benchmarks.queries
	@PYTHONPATH=src .venv/peers/bin/python -m benchmarks.voting
	@PYTHONPATH=src .venv/accountants/bin/python -m benchmarks.composition

.venv/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Hubbub needs Python 3.11 or newer, and $(PYTHON) is not: name one that is, like make PYTHON=python3.12 test" >&2; \
	  exit 1; }
	@$(PYTHON) -m venv .venv

# One stamp for each set of extras; a change of the two files below installs again. Setuptools comes first
# and the build uses it as it is, so that the version in constraints.txt is the one that builds.
.venv/with-%: pyproject.toml constraints.txt | .venv/pyvenv.cfg
	@echo "Installing hubbub[$*] into .venv" >&2
	@$(PIP) install --constraint constraints.txt setuptools
	@$(PIP) install --constraint constraints.txt --no-build-isolation --editable '.[$*]'
	@touch $@

# The peers of the voting benchmark want older packages than ours, so they have an environment of their own.
.venv/peers/installed: benchmarks/voting-peers.txt | .venv/pyvenv.cfg
	@echo "Installing the peers of benchmarks.voting into .venv/peers" >&2
	@$(PYTHON) -m venv .venv/peers
	@.venv/peers/bin/python -m pip --disable-pip-version-check --no-input -qq install --requirement $<
	@touch $@

.venv/accountants/installed: benchmarks/composition-peers.txt | .venv/pyvenv.cfg
	@echo "Installing the peer of benchmarks.composition into .venv/accountants" >&2
	@$(PYTHON) -m venv .venv/accountants
	@.venv/accountants/bin/python -m pip --disable-pip-version-check --no-input -qq install --requirement $<
	@touch $@
