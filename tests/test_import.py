"""Importing the package is cheap: neither CUDA, RAPIDS, torch nor anything else heavy is loaded."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from herald_gpu.datasets import make_graph

GPU = {"cupy", "cupyx", "cudf", "cuml", "cugraph", "pylibcugraph", "pylibcudf", "cuvs", "rmm", "pylibraft"}
HEAVY = GPU | {
    "torch",
    "torch_geometric",
    "pandas",
    "numba",
    "scipy",
    "sklearn",
    "networkx",
    "polars",
    "pyarrow",
    "tqdm",
}
OPTIONAL = GPU | {"torch", "torch_geometric", "networkx", "polars", "matplotlib"}

MODULES = "import json, sys; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"


def run(code):
    """Give what a fresh interpreter prints, as JSON."""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)  # noqa: S603 - our own code
    return json.loads(done.stdout.splitlines()[-1])


def loaded(code):
    return set(run(f"{code}\n{MODULES}"))


def test_importing_the_package_loads_nothing_heavy():
    assert not loaded("import herald_gpu") & HEAVY


def test_looking_around_loads_nothing_heavy():
    assert not loaded("import herald_gpu; dir(herald_gpu); herald_gpu.__version__; herald_gpu.HeraldConfig") & HEAVY


def test_importing_the_package_adds_few_modules_to_numpy():
    count = (
        "import json, sys, numpy; before = set(sys.modules); import herald_gpu; print(len(set(sys.modules) - before))"
    )
    assert run(count) <= 10


def test_importing_the_package_takes_no_time_to_speak_of():
    code = "import time, numpy; start = time.perf_counter(); import herald_gpu; print(time.perf_counter() - start)"
    assert min(run(code) for _ in range(3)) < 0.5


@pytest.mark.parametrize("name", ["condense", "CondensedGraph", "HeraldCondenser", "Report", "get_backend"])
def test_a_public_name_loads_no_optional_library(name):
    assert not loaded(f"from herald_gpu import {name}") & OPTIONAL


def test_the_pyg_transform_says_what_it_needs():
    code = (
        "import json, sys; sys.modules['torch_geometric'] = None; import herald_gpu\n"
        "try:\n    herald_gpu.pyg\n"
        "except ImportError as error:\n    print(json.dumps([type(error).__name__, str(error)]))"
    )
    name, message = run(code)
    assert name == "MissingDependencyError"
    assert "pip install torch torch-geometric" in message


def test_condensing_arrays_loads_no_optional_library():
    code = (
        "from herald_gpu import condense; from herald_gpu.datasets import make_graph\n"
        "g = make_graph(60, n_classes=2, n_features=4, seed=1)\n"
        "r = condense(g.edge_index, g.features, g.labels, g.train, ratio=0.5, backend='cpu')\n"
        "r.transform(g.features), r.to_scipy(), str(r), r.scores\n"
    )
    assert not loaded(code) & OPTIONAL


def test_condensing_arrays_loads_neither_pandas_nor_scikit_learn():
    code = (
        "from herald_gpu import condense; from herald_gpu.datasets import make_graph\n"
        "g = make_graph(60, n_classes=2, n_features=4, seed=1)\n"
        "r = condense(g.edge_index, g.features, g.labels, g.train, ratio=0.5, backend='cpu')\n"
        "r.transform(g.features), r.features, r.labels, r.edges, r.node_ids, r.train_mask, str(r)\n"
    )
    assert not loaded(code) & {"pandas", "pyarrow", "sklearn"}


@pytest.mark.parametrize(
    "options",
    [["--dataset", "mine"], ["--dataset", "mine", "--output", "small.herald"], ["--data", "mine.npz", "--split", "1"]],
    ids=["data set", "data set, saved", "archive"],
)
def test_the_first_result_loads_what_it_needs_and_no_more(tmp_path, monkeypatch, options):
    graph = make_graph(60, n_classes=2, n_features=4, seed=1)
    np.savez(tmp_path / "mine.npz", edge_index=graph.edge_index, x=graph.features, y=graph.labels)
    monkeypatch.setenv("HERALD_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    argv = ["condense", *options, "--ratio", "0.5", "--quiet", "--force"]  # it is run twice
    code = f"from herald_gpu.cli import main; assert main({argv}) == 0"
    needless = {"pandas", "pyarrow", "sklearn", "tqdm", "asyncio", "dask", "distributed"}
    assert not loaded(code) & (needless | OPTIONAL)
    assert (tmp_path / "small.herald").exists() == ("--output" in options)
    parts = "import json, sys; print(json.dumps(sorted(sys.modules)))"
    needless = {f"scipy.{part}" for part in ("fft", "optimize", "sparse.linalg", "spatial", "special", "stats")}
    assert not set(run(f"{code}\n{parts}")) & needless


def test_the_package_shows_its_public_names_only():
    names = run("import herald_gpu, json; print(json.dumps(dir(herald_gpu)))")
    used = run(
        "import herald_gpu, herald_gpu.api, herald_gpu.errors, json; herald_gpu.condense; herald_gpu.load\n"
        "print(json.dumps(dir(herald_gpu)))"
    )
    assert names == used == sorted([*sys.modules["herald_gpu"].__all__, "pyg"])


def test_type_hints_resolve_and_load_no_optional_library():
    code = (
        "import inspect, typing, herald_gpu\n"
        "seen = []\n"
        "def look(name, value):\n"
        "    inner = (getattr(value, part, None) for part in ('fget', 'func', '__func__'))\n"
        "    value = next(filter(None, inner), value)\n"
        "    if inspect.isfunction(value) or inspect.isclass(value):\n"
        "        typing.get_type_hints(value); seen.append(name)\n"
        "for name in herald_gpu.__all__:\n"
        "    look(name, getattr(herald_gpu, name))\n"
        "    if inspect.isclass(getattr(herald_gpu, name)):\n"
        "        for inner, value in vars(getattr(herald_gpu, name)).items():\n"
        "            if not inner.startswith('_'): look(f'{name}.{inner}', value)\n"
    )
    seen = run(f"{code}\nimport json; print(json.dumps(seen))")
    wanted = {"condense", "load", "plan", "get_backend", "HeraldConfig", "Report", "CondensedGraph"}
    methods = ("save", "load", "to_pyg", "to_networkx", "to_dgl")
    assert wanted | {f"CondensedGraph.{name}" for name in methods} <= set(seen)
    assert not loaded(code) & OPTIONAL


def test_public_names_are_listed_and_resolve():
    import herald_gpu

    assert set(herald_gpu.__all__) <= set(dir(herald_gpu))
    for name in herald_gpu.__all__:
        assert getattr(herald_gpu, name) is not None
    assert (
        run("import herald_gpu, json; print(json.dumps(sorted(set(herald_gpu.__all__) - set(dir(herald_gpu)))))") == []
    )
