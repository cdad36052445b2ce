# Everything a new clone needs: Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers

.PHONY: demo test lint test-all test-oldest bench reproduce docs clean

demo: $(VENV)/.demo  ## from a table to a model: every command on a built-in set
	$(BIN)/protolearn demo

test: $(VENV)/.test  ## the tests
	$(BIN)/python -m pytest -n auto --dist worksteal

lint: $(VENV)/.test  ## style, types, direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test-all: test test-oldest docs  ## oldest and newest dependencies, many more generated cases
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -n auto --dist worksteal tests

test-oldest: .venv-oldest/.test
	.venv-oldest/bin/python -m pytest -n auto --dist worksteal tests

bench: $(VENV)/.test $(PEERS)/sklvq/.ready $(PEERS)/prosemble/.ready $(PEERS)/rvm/.ready  ## speed, as ratios in one run
	$(BIN)/python -m benchmarks

reproduce: $(VENV)/.demo  ## the papers' tables and figures again, into docs/reproduced
	$(BIN)/protolearn reproduce all --out docs/reproduced

docs: $(VENV)/.docs  ## the documentation, into docs/_build
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

clean:
	rm -rf .venv .venv-oldest $(PEERS) docs/_build

define create
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "protolearn needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1)."; \
	    echo "Install one, then: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(1)/bin/pip || $(PYTHON) -m venv $(1) || \
	  { rm -rf $(1); echo; echo "$(PYTHON) -m venv failed: the venv module is missing."; \
	    echo "Debian, Ubuntu: apt install python3-venv    Fedora: dnf install python3"; exit 1; }
endef

$(VENV)/.demo: pyproject.toml
	$(call create,$(VENV))
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[report]'
	@touch $@

$(VENV)/.test: pyproject.toml
	$(call create,$(VENV))
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[report,test]'
	@touch $@

$(VENV)/.docs: pyproject.toml
	$(call create,$(VENV))
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[report,docs]'
	@touch $@

.venv-oldest/.test: pyproject.toml tests/oldest.txt
	$(call create,.venv-oldest)
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test]' \
	  -c tests/oldest.txt
	@touch $@

$(PEERS)/%/.ready: benchmarks/peers/%.txt
	$(call create,$(PEERS)/$*)
	@if $(PEERS)/$*/bin/python -m pip install --quiet --disable-pip-version-check -r $<; \
	then touch $@; \
	else rm -f $@; echo "$* cannot be installed here: its rows are left out."; fi
