#!/usr/bin/env bash
# Build wheel and sdist into dist/, and use both as a stranger would: in clean environments, away from the sources.
#   PYTHON   an interpreter with build, twine and what the tests need (default: that of `make env-test`)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root="$PWD"
python="${PYTHON:-.venv-test/bin/python}"
case "$python" in */*) python="$(cd "$(dirname "$python")" && pwd)/$(basename "$python")" ;; esac
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH PYTHONHOME VIRTUAL_ENV
export PYTHONNOUSERSITE=1 PIP_DISABLE_PIP_VERSION_CHECK=1

say() { printf '\n== %s\n' "$*"; }

say "build: the sdist, and the wheel out of the sdist"
rm -rf dist
"$python" -m build --outdir dist .
wheel="$(echo "$root"/dist/*.whl)"
sdist="$(echo "$root"/dist/*.tar.gz)"
"$python" -m twine check --strict "$wheel" "$sdist"

cd "$work"
say "the wheel alone, without extras"
"$python" -m venv clean
clean/bin/python -m pip install --quiet "$wheel"
clean/bin/python - "$root" <<'PY'
import importlib.metadata
import pathlib
import sys

import herald_gpu

home = pathlib.Path(herald_gpu.__file__).parent
assert pathlib.Path(sys.argv[1]) not in home.parents, home
assert (home / "py.typed").is_file()
assert importlib.metadata.version("herald-gpu") == herald_gpu.__version__
assert "torch" not in sys.modules
PY
clean/bin/herald --version
clean/bin/herald doctor
clean/bin/herald demo --nodes 400 --ratio 0.1 --quiet
du -sh clean | sed 's/clean/on disk, with what it depends on/'

say "with the extras eval, plot and arrow"
clean/bin/python -m pip install --quiet --constraint "$root/constraints-test.txt" "${wheel}[eval,plot,arrow]"
clean/bin/python - <<'PY'
import matplotlib
import pyarrow
import torch

from herald_gpu import condense
from herald_gpu.datasets import LabelledGraph, make_graph
from herald_gpu.evaluate import Training, evaluate, summarise

made = make_graph(300, n_classes=3, n_features=16, homophily=0.8, seed=1)
graph = LabelledGraph("made", made.edge_index, made.features, made.labels, n_classes=3).with_split(7)
small = condense(graph.edge_index, graph.features, graph.labels, graph.train, ratio=0.2)
assert isinstance(small.as_type("torch").features, torch.Tensor)
assert isinstance(small.as_type("arrow").edges, pyarrow.Table)
print(summarise(evaluate(small, graph, models="GCN", seeds=1, training=Training(epochs=20))))
print("matplotlib", matplotlib.__version__)
PY
clean/bin/herald reproduce --list

say "tests out of the sdist"
tar -xzf "$sdist"
cd "$(basename "$sdist" .tar.gz)"
PYTHONPATH="$PWD" "$python" -m pytest -q -p no:cacheprovider tests/test_budget.py tests/test_config.py tests/test_import.py \
    tests/docs/test_site.py tests/docker tests/packaging -m "not slow"
say "dist/ is good"
ls -l "$root/dist"
