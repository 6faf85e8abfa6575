# make demo   condense a synthetic graph with nothing installed but the package itself
# make test   linters, type checker and tests, in an environment of their own
PYTHON ?= python3
PYTEST_ARGS ?=
DEMO_ARGS ?=

VENV := .venv
VENV_TEST := .venv-test
BIN := $(VENV)/bin
BIN_TEST := $(VENV_TEST)/bin

# Real graphs for the tests marked `data`; those tests are skipped where there are none.
ifndef HERALD_DATA
ifneq ($(wildcard ../shared/data/.),)
export HERALD_DATA := $(abspath ../shared/data)
endif
endif

.DEFAULT_GOAL := help
.PHONY: help demo test lint format env env-test clean python-version

help:
	@echo "make demo     condense a synthetic graph           (DEMO_ARGS='--nodes 5000')"
	@echo "make test     lint, type-check and run the tests   (PYTEST_ARGS='-k budget')"
	@echo "make lint     ruff check, ruff format --check, mypy"
	@echo "make format   let ruff rewrite the files"
	@echo "make clean    remove environments, caches and builds"

demo: env
	$(BIN)/herald demo $(DEMO_ARGS)

test: lint
	$(BIN_TEST)/python -m pytest $(PYTEST_ARGS)

lint: env-test
	$(BIN_TEST)/ruff check .
	$(BIN_TEST)/ruff format --check .
	$(BIN_TEST)/mypy

format: env-test
	$(BIN_TEST)/ruff check --fix .
	$(BIN_TEST)/ruff format .

env: $(VENV)/.installed

env-test: $(VENV_TEST)/.installed

# The package is installed editable: only a change of what it depends on calls for another installation.
$(VENV)/.installed: pyproject.toml | python-version
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV_TEST)/.installed: pyproject.toml constraints-test.txt | python-version
	$(PYTHON) -m venv $(VENV_TEST)
	$(BIN_TEST)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints-test.txt --editable '.[dev]'
	@touch $@

python-version:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "$(PYTHON) is too old or absent: pass PYTHON=/path/to/python3.11 or later" >&2; exit 1; }

clean:
	rm -rf $(VENV) $(VENV_TEST) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage htmlcov
	find herald_gpu tests -type d -name __pycache__ -prune -exec rm -rf {} +
