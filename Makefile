# make demo   condense a synthetic graph with nothing installed but the package itself
# make bench  what every stage takes beside its bare kernel, held against the targets
# make test   linters, type checker and tests, in an environment of their own
# make test-emulated   the tests of the GPU code, on CuPy emulated on the CPU
# make test-gpu        the same tests on a GPU
# make notebooks       execute the notebooks, into build/notebooks
# make docs            the documentation as a site, in site/
# make installs        resolve every pip line that is printed or run here (INSTALLS_ARGS=--all: RAPIDS too)
# make package         wheel and sdist in dist/, checked in environments of their own
PYTHON ?= python3
PYTEST_ARGS ?=
# Processes that share the tests; 0 for none but the caller's, as a debugger wants it.
PYTEST_WORKERS ?= 2
DEMO_ARGS ?=
BENCH_ARGS ?=
NOTEBOOKS ?=
INSTALLS_ARGS ?=

VENV := .venv
VENV_TEST := .venv-test
VENV_EMULATED := .venv-emulated
VENV_GPU := .venv-gpu
VENV_DOCS := .venv-docs
BIN := $(VENV)/bin
BIN_TEST := $(VENV_TEST)/bin
BIN_EMULATED := $(VENV_EMULATED)/bin
BIN_GPU := $(VENV_GPU)/bin
BIN_DOCS := $(VENV_DOCS)/bin
# cu13 needs driver 580 or later, cu12 535 or later
GPU_EXTRA ?= cu13
PYTEST := -m pytest --numprocesses $(PYTEST_WORKERS) --dist worksteal
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check

# Real graphs for the tests marked `data`; those tests are skipped where there are none.
ifndef HERALD_DATA
ifneq ($(wildcard ../shared/data/.),)
export HERALD_DATA := $(abspath ../shared/data)
endif
endif

# CuPy emulated on the CPU: a wheel of it, or a script that builds one and prints its path.
ifndef HERALD_CUPY_EMULATOR
ifneq ($(wildcard ../shared/tools/cupy-cpu/build.sh),)
export HERALD_CUPY_EMULATOR := $(abspath ../shared/tools/cupy-cpu/build.sh)
endif
endif

.DEFAULT_GOAL := help
.PHONY: help demo bench test test-emulated test-gpu installs notebooks docs package rapids-signatures lint format env env-test clean python-version

help:
	@echo "make demo     condense a synthetic graph           (DEMO_ARGS='--nodes 5000')"
	@echo "make bench    measure it, held against the targets (BENCH_ARGS='--check --only lid-dense')"
	@echo "make test     lint, type-check and run the tests   (PYTEST_ARGS='-k budget' PYTEST_WORKERS=4)"
	@echo "make test-emulated       test the GPU code on CuPy emulated on the CPU (HERALD_CUPY_EMULATOR)"
	@echo "make test-gpu            test it on a GPU                              (GPU_EXTRA=cu12)"
	@echo "make notebooks           execute the notebooks, into build/notebooks   (NOTEBOOKS='01 04')"
	@echo "make installs            resolve every pip line that is documented     (INSTALLS_ARGS=--all)"
	@echo "make docs     build the site into site/"
	@echo "make package  build wheel and sdist into dist/, and check them"
	@echo "make rapids-signatures   read the signatures of RAPIDS from its wheels again"
	@echo "make lint     ruff check, ruff format --check, mypy"
	@echo "make format   let ruff rewrite the files"
	@echo "make clean    remove environments, caches and builds"

demo: env
	$(BIN)/herald demo $(DEMO_ARGS)

# In the environment of the tests: it compares with torch, NetworkX and FAISS, and draws.
bench: env-test
	$(BIN_TEST)/herald bench $(BENCH_ARGS)

test: lint
	$(BIN_TEST)/python $(PYTEST) $(PYTEST_ARGS)

ifdef HERALD_CUPY_EMULATOR
test-emulated: $(VENV_EMULATED)/.installed
	$(BIN_EMULATED)/python $(PYTEST) -m emulated tests $(PYTEST_ARGS)
else
test-emulated:
	@echo "test-emulated skipped: HERALD_CUPY_EMULATOR names no wheel of emulated CuPy, nor a script that builds one"
endif

# Fails, with the reason, where there is no GPU. CONTRIBUTING.md says how to run it under compute-sanitizer.
test-gpu: $(VENV_GPU)/.installed
	$(BIN_GPU)/python -c 'import herald_gpu; herald_gpu.get_backend("rapids")'
	$(BIN_GPU)/python -m pytest -m gpu tests $(PYTEST_ARGS)

# Installs nothing; skipped, with the reason, where no index answers.
installs: python-version
	$(PYTHON) tools/check_installs.py $(INSTALLS_ARGS)

# HERALD_NOTEBOOK_SIZE=small is what the tests run; without it they take minutes.
notebooks: env-test
	$(BIN_TEST)/python tools/run_notebooks.py $(NOTEBOOKS)

# The theme announces its successor on every run.
docs: $(VENV_DOCS)/.installed
	NO_MKDOCS_2_WARNING=1 $(BIN_DOCS)/mkdocs build --strict --quiet
	@echo "open site/index.html; for the search box: $(PYTHON) -m http.server --directory site --bind 127.0.0.1"

package: env-test
	PYTHON=$(BIN_TEST)/python tools/check_package.sh

rapids-signatures: env-test
	$(BIN_TEST)/python tools/rapids_signatures.py

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

$(VENV_EMULATED)/.installed: pyproject.toml constraints-test.txt | python-version
	$(PYTHON) -m venv --clear $(VENV_EMULATED)
	wheel='$(HERALD_CUPY_EMULATOR)'; \
	case "$$wheel" in *.whl) ;; *) wheel="$$(PYTHON='$(PYTHON)' "$$wheel")" ;; esac && \
	$(BIN_EMULATED)/python $(PIP_INSTALL) --constraint constraints-test.txt "$$wheel" --editable '.[test-base]'
	@touch $@

$(VENV_GPU)/.installed: pyproject.toml constraints-test.txt | python-version
	$(PYTHON) -m venv $(VENV_GPU)
	$(BIN_GPU)/python $(PIP_INSTALL) --constraint constraints-test.txt --editable '.[test-base,$(GPU_EXTRA)]'
	@touch $@

# The site is made of sources: the package itself is not installed for it.
$(VENV_DOCS)/.installed: constraints-docs.txt | python-version
	$(PYTHON) -m venv $(VENV_DOCS)
	$(BIN_DOCS)/python $(PIP_INSTALL) --constraint constraints-docs.txt mkdocs-material mkdocstrings-python latex2mathml ruff
	@touch $@

python-version:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "$(PYTHON) is too old or absent: pass PYTHON=/path/to/python3.11 or later" >&2; exit 1; }

clean:
	rm -rf $(VENV) $(VENV_TEST) $(VENV_EMULATED) $(VENV_GPU) $(VENV_DOCS) build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage htmlcov
	find herald_gpu tests -type d -name __pycache__ -prune -exec rm -rf {} +
