"""R2: what the real libraries do without a GPU, and that the doubles refuse what they refuse."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from support import doubles
from support.backends import FACTORIES

from herald_gpu import get_backend
from herald_gpu.backend.probe import probe
from herald_gpu.errors import BackendUnavailable

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from rapids_signatures import Snapshot

SNAPSHOT = Snapshot()
LIBRARIES = ("cuml", "cuvs", "pylibcugraph", "rmm")
UNREADABLE = (
    *("pylibcugraph.SGGraph", "pylibcugraph.ResourceHandle", "pylibcugraph.GraphProperties"),
    *("cuvs.common.Resources", "cuvs.neighbors.all_neighbors.AllNeighborsParams"),
    "cuvs.neighbors.nn_descent.IndexParams",
    *("rmm.mr.LimitingResourceAdaptor", "rmm.mr.ManagedMemoryResource", "rmm.mr.PoolMemoryResource"),
    "rmm.mr.StatisticsResourceAdaptor",
)
"""Cython extension types have no signature that can be asked for: only the source has it."""


def is_real(name):
    """Whether a library itself is installed, and not its double."""
    there = sys.modules.get(name)
    return not getattr(there, "is_double", False) and importlib.util.find_spec(name) is not None


@pytest.fixture(params=["real", pytest.param("double", marks=pytest.mark.emulated)])
def libraries(request):
    """Give the modules, the real ones and the doubles."""
    if request.param == "double":
        FACTORIES["emulated"]()
    else:
        missing = [name for name in LIBRARIES if not is_real(name)]
        if missing:
            pytest.skip(f"{', '.join(missing)} not installed: pip install '.[cu13]' (5 GB)")
    return importlib.import_module


def resolve(imported, target):
    """Find a dotted name by importing as much of it as is a module."""
    owner, _, name = target.rpartition(".")
    if not owner:
        return imported(target)
    try:
        return getattr(resolve(imported, owner), name)
    except AttributeError:
        return imported(target)


@pytest.mark.parametrize(
    "target", [n for n, text in SNAPSHOT.texts.items() if text is not None and n not in UNREADABLE]
)
def test_installed_signatures_are_those_of_the_snapshot(libraries, target):
    named = resolve(libraries, target)  # of a class its `__init__`: cuDF's `__new__` takes anything
    found = inspect.signature(named.__init__ if inspect.isclass(named) else named)
    names = [p for p in found.parameters.values() if p.name != "self"]
    expected = list(SNAPSHOT.signature(target).parameters.values())
    assert [(p.name, p.kind) for p in names] == [(p.name, p.kind) for p in expected]
    assert [p.default is p.empty for p in names] == [p.default is p.empty for p in expected]


MADE = {
    "neighbours": lambda get: get("cuml.neighbors").NearestNeighbors(
        n_neighbors=9, algorithm="brute", metric="cosine", output_type="cupy"
    ),
    "components": lambda get: get("cuml.decomposition").PCA(n_components=2, svd_solver="full", output_type="cupy"),
    "forest": lambda get: get("cuml.ensemble").RandomForestClassifier(
        n_estimators=1, bootstrap=False, max_features=1.0, max_depth=50, n_bins=128, n_streams=1, random_state=42
    ),
    "handle": lambda get: get("pylibcugraph").ResourceHandle(),
    "properties": lambda get: get("pylibcugraph").GraphProperties(is_symmetric=True, is_multigraph=False),
    "descent": lambda get: get("cuvs.neighbors.nn_descent").IndexParams(
        metric="sqeuclidean", graph_degree=64, intermediate_graph_degree=128, dist_comp_dtype="fp32"
    ),
    "graph of neighbours": lambda get: get("cuvs.neighbors.all_neighbors").AllNeighborsParams(
        algo="nn_descent", metric="sqeuclidean", nn_descent_params=MADE["descent"](get)
    ),
}
"""Everything the backend makes before it touches the device."""


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_objects_are_made(libraries, make):
    assert make(libraries) is not None


HOST = np.zeros(3, dtype=np.int32)
REFUSED = {
    "neighbours by position": (TypeError, lambda get: get("cuml.neighbors").NearestNeighbors(5)),
    "neighbours misspelt": (TypeError, lambda get: get("cuml.neighbors").NearestNeighbors(n_neighbours=5)),
    "components by position": (TypeError, lambda get: get("cuml.decomposition").PCA(2)),
    "forest by position": (TypeError, lambda get: get("cuml.ensemble").RandomForestClassifier(1)),
    "forest not fitted": (NotFittedError, lambda get: get("cuml.ensemble").RandomForestClassifier().as_treelite()),
    "too many properties": (TypeError, lambda get: get("pylibcugraph").GraphProperties(True, False, 1)),
    "graph without handle": (TypeError, lambda get: get("pylibcugraph").SGGraph(None, 1, HOST, HOST)),
    "graph on the host": (
        TypeError,
        lambda get: get("pylibcugraph").SGGraph(MADE["handle"](get), MADE["properties"](get), HOST, HOST),
    ),
    "sample without its keywords": (
        TypeError,
        lambda get: get("pylibcugraph").neighbor_sample(MADE["handle"](get), None, HOST, HOST),
    ),
    "sample of another kind of graph": (
        TypeError,
        lambda get: get("pylibcugraph").neighbor_sample(
            MADE["handle"](get), HOST, HOST, HOST, with_replacement=False, do_expensive_check=False
        ),
    ),
    "pagerank without its arguments": (
        TypeError,
        lambda get: get("pylibcugraph").personalized_pagerank(MADE["handle"](get), None),
    ),
    "descent by position": (TypeError, lambda get: get("cuvs.neighbors.nn_descent").IndexParams("sqeuclidean")),
    "descent by an unknown metric": (
        KeyError,
        lambda get: get("cuvs.neighbors.nn_descent").IndexParams(metric="angle"),
    ),
    "descent in a type spelt at run time": (
        ValueError,
        lambda get: get("cuvs.neighbors.nn_descent").IndexParams(dist_comp_dtype=f"fp{len(HOST)}2"),
    ),
    "neighbours by an unknown algorithm": (
        ValueError,
        lambda get: get("cuvs.neighbors.all_neighbors").AllNeighborsParams(algo="hnsw"),
    ),
    "neighbours by two metrics": (
        ValueError,
        lambda get: get("cuvs.neighbors.all_neighbors").AllNeighborsParams(
            metric="cosine", nn_descent_params=MADE["descent"](get)
        ),
    ),
    "neighbours without parameters": (
        TypeError,
        lambda get: get("cuvs.neighbors.all_neighbors").build(HOST, 3, None),
    ),
    "allocator misspelt": (TypeError, lambda get: get("rmm").reinitialize(managed=True)),
}


@pytest.mark.parametrize(("error", "call"), REFUSED.values(), ids=REFUSED)
def test_the_real_libraries_and_the_doubles_refuse_alike(libraries, error, call):
    with pytest.raises(error):
        call(libraries)


# Without a GPU


@pytest.fixture
def no_gpu():
    """Skip unless the libraries are there and a GPU is not."""
    missing = [name for name in LIBRARIES if not is_real(name)]
    if missing or doubles.emulated():
        pytest.skip(f"{', '.join(missing) or 'real CuPy'} not installed: pip install '.[cu13]' (5 GB)")
    if probe().available:
        pytest.skip("there is a GPU")


def test_the_backend_is_imported_and_says_why_it_cannot_run(no_gpu):  # noqa: ARG001 - a precondition
    import herald_gpu.backend.rapids as backend

    assert "cuml-cu13" in backend.RapidsBackend().versions() or "cuml-cu12" in backend.RapidsBackend().versions()
    with pytest.raises(BackendUnavailable, match=r"no NVIDIA driver|no usable CUDA device|too old"):
        get_backend("rapids")


PROXIES = """
import warnings
warnings.simplefilter("ignore")
import cudf.pandas
cudf.pandas.install()
import numpy as np
import pandas as pd
from herald_gpu import condense
from herald_gpu.io.kinds import kind_of, unproxy

edges = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]})
assert cudf.pandas.is_proxy_object(edges)
for proxy in (edges, edges["src"], edges["src"].values, edges.index):
    plain = unproxy(proxy)
    assert not cudf.pandas.is_proxy_object(plain), type(plain)
    assert kind_of(plain) in ("pandas", "numpy"), type(plain)
feats = pd.DataFrame(np.eye(4, 3, dtype=np.float32), columns=list("abc"))
result = condense(edges, feats, pd.Series([0, 1, 0, 1]), ratio=0.9, backend="cpu")
assert sorted(result.node_ids)
"""


def test_proxies_of_cudf_pandas_are_seen_through():
    if not is_real("cudf"):
        pytest.skip("cudf not installed: pip install '.[cu13]' (5 GB)")
    command = [sys.executable, "-c", PROXIES]  # a process of its own: pandas must not be imported before
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - our own words
    assert done.returncode == 0, done.stderr


# Treelite: the same schema whether the forest is cuML's or scikit-learn's


@pytest.fixture
def split_features():
    pytest.importorskip("cupy", reason="CuPy is not installed, real or emulated: make test-emulated")
    if doubles.emulated():
        doubles.install()
    from herald_gpu.backend.rapids.learning import split_features

    return split_features


@pytest.mark.emulated
@pytest.mark.parametrize("n_trees", [1, 3])
def test_the_features_of_a_forest(split_features, n_trees):
    treelite = pytest.importorskip("treelite", reason="treelite is not installed: pip install treelite")
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(120, 9)).astype(np.float32), rng.integers(3, size=120)
    forest = RandomForestClassifier(n_trees, bootstrap=False, max_features=1.0, random_state=0).fit(x[:, :6], y)
    expected = sorted({int(f) for tree in forest.estimators_ for f in tree.tree_.feature if f >= 0})
    assert split_features(treelite.sklearn.import_model(forest)) == expected
    assert len(expected) > 1


@pytest.mark.emulated
def test_a_forest_of_leaves_has_no_features(split_features):
    treelite = pytest.importorskip("treelite", reason="treelite is not installed: pip install treelite")
    forest = RandomForestClassifier(1).fit(np.ones((4, 2), dtype=np.float32), [0, 1, 0, 1])
    assert split_features(treelite.sklearn.import_model(forest)) == []
