# Everything runs from .venv, which the first target that needs it creates and fills.

PYTHON ?= python3
BIN := .venv/bin
STYLE = $(BIN)/ruff check . && $(BIN)/ruff format --check .
LINT = $(BIN)/lint-imports && $(BIN)/python -m website.prose
TYPES = $(BIN)/mypy --strict src benchmarks tests

# Tests start Python hundreds of times; without bytecode each start compiles everything again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test test-all check figures pictures docs sheets wheel audit studio coverage bench fuzz mutants lock options theorems format golden

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' Makefile

demo: .venv/with-charts ## the story of Millbrook, told by the program
	@$(BIN)/hubbub demo

studio: .venv/with-charts,studio ## the page for people who do not live in a terminal, on the town of Millbrook
	@$(BIN)/hubbub studio hubbub-demo --example

# Layers, pages and types are checked while the tests run, since each waits now and then; what they say comes last. One
# process is enough for types: two would do some of the work twice.
test: .venv/with-charts,studio,dev ## check, and run the fast tests: four minutes on two cores
	@$(STYLE)
	@{ $(LINT) && $(TYPES); } > .venv/checks.txt 2>&1 & checks=$$!; trap "kill $$checks 2>/dev/null" INT TERM; \
	  $(BIN)/python -m pytest -m "not slow"; tests=$$?; \
	  wait $$checks; checked=$$?; cat .venv/checks.txt; [ $$checked = 0 ] && exit $$tests

# A database server is started by one process and not by two. (Among the options of pyproject.toml it has no effect.)
test-all: .venv/with-charts,studio,dev ## run the tests that are left: servers, Spark, a browser, kills, long statistics
	@$(BIN)/python -m pytest -m slow --dist=loadgroup

check: .venv/with-charts,studio,dev ## lint, formatting, types, import layers, readable pages
	@$(STYLE) && $(LINT)
	@$(TYPES) --num-workers 2

pictures: .venv/with-charts,studio,dev ## take the pictures of the README and the studio's tutorial again (needs Chromium)
	@HUBBUB_PICTURES=docs/tutorials/studio $(BIN)/python -m pytest -n0 -q tests/browser/test_studio.py
	@$(BIN)/hubbub --version > docs/tutorials/studio/version.txt

figures: .venv/with-charts,docs ## draw the figures of the theory pages again
	@$(BIN)/python -m website.figures

theorems: .venv/with-charts,studio,dev ## write docs/theorem-map.md again, from website/theorems
	@$(BIN)/python -m website.theorem_map

format: .venv/with-dev ## write the schema and the page of certificates again
	@$(BIN)/python -m website.certificate_format

golden: .venv/with-dev ## make the golden releases again: only while nobody has published in their format
	@$(BIN)/python -m tests.golden

options: .venv/with-dev ## write the types of the options of every release again
	@$(BIN)/python -m website.options

# Material warns of MkDocs 2, and version 1 is pinned: docs/decisions/site.md says why. Any other warning stops this.
docs: .venv/with-charts,docs ## the documentation as a site, in site/index.html
	@NO_MKDOCS_2_WARNING=1 XDG_DATA_HOME=$(CURDIR)/.venv/docs XDG_STATE_HOME=$(CURDIR)/.venv/docs $(BIN)/python -m mkdocs build --quiet
	@echo "Open site/index.html"

sheets: .venv/with-charts,studio,dev ## pictures of every report and every page of the studio, in out/sheets/index.html
	@$(BIN)/python -m tests.browser.sheets

wheel: .venv/with-dev,package ## build the wheel, and do the README's tour with it in an empty environment
	@$(BIN)/python -m website.tour

fuzz: .venv/with-charts,studio,dev ## search for a person who changes more than one count (about a quarter of an hour)
	@$(BIN)/python -m tests.fuzz.csv_reader
	@$(BIN)/python -m tests.fuzz.neighbours
	@$(BIN)/python -m tests.fuzz.ballot_readers 5000
	@$(BIN)/python -m tests.fuzz.joint_loss 5000
	@HUBBUB_LONG=1 $(BIN)/python -m pytest -n0 tests/unit/engines/spark/test_spark_cluster.py tests/conformance tests/unit/benchmarks/test_benchmarks.py -k "connect or cluster or of_spark"

coverage: .venv/with-charts,studio,dev,coverage ## which lines the tests run, as docs/coverage.md
	@$(BIN)/python -m pytest --dist=loadgroup --ignore=tests/browser -k "not spark and not 23_a_kill" --cov=hubbub --cov-report=json:.venv/coverage.json --cov-report=
	@$(BIN)/python -m website.coverage .venv/coverage.json

mutants: .venv/with-charts,dev ## plant faults in what carries the promises; docs/mutants.md says which go unnoticed (an hour or more)
	@$(BIN)/python -m tests.mutation

audit: .venv/with-charts,dev .venv/auditees/installed ## try to break everything, and write docs/audit.md (some minutes)
	@$(BIN)/python -m benchmarks.audit

# One part that fails, or peers that cannot be installed, do not stop the others; the exit code tells.
bench: .venv/with-bench ## measure, side by side with the peers
	@$(MAKE) --no-print-directory --keep-going .venv/peers/installed .venv/accountants/installed || true
	@$(BIN)/python -m benchmarks

.venv/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Hubbub needs Python 3.11 or newer, and $(PYTHON) is not: name one that is, like make PYTHON=python3.12 test" >&2; \
	  exit 1; }
	@$(PYTHON) -m venv .venv

lock: ## write hashes.txt again, after a change of constraints.txt (some minutes; needs the package index)
	@$(PYTHON) website/lock.py write

# One stamp for each set of extras; a change of the three files below installs again. Packages are installed by their
# hashes; where those of this platform are not listed, by their versions, and that is said.
.venv/with-%: pyproject.toml constraints.txt hashes.txt | .venv/pyvenv.cfg
	@echo "Installing hubbub[$*] into .venv" >&2
	@$(BIN)/python website/lock.py install '$*'
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

.venv/synthesizers/installed: benchmarks/utility-peers.txt | .venv/pyvenv.cfg
	@echo "Installing the synthesizers of benchmarks.utility into .venv/synthesizers" >&2
	@$(PYTHON) -m venv .venv/synthesizers
	@.venv/synthesizers/bin/python -m pip --disable-pip-version-check --no-input -qq install --requirement $<
	@touch $@

.venv/tumult/installed: benchmarks/spark-peers.txt | .venv/pyvenv.cfg
	@echo "Installing Tumult for benchmarks.utility into .venv/tumult" >&2
	@$(PYTHON) -m venv .venv/tumult
	@.venv/tumult/bin/python -m pip --disable-pip-version-check --no-input -qq install --requirement $<
	@touch $@

.venv/auditees/installed: benchmarks/audit-peers.txt | .venv/pyvenv.cfg
	@echo "Installing what benchmarks.audit_peers looks at into .venv/auditees" >&2
	@$(PYTHON) -m venv .venv/auditees
	@.venv/auditees/bin/python -m pip --disable-pip-version-check --no-input -qq install --requirement $<
	@touch $@
