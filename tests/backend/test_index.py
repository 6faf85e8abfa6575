"""The index on the host."""

from __future__ import annotations

import numpy as np
import pytest

from herald_gpu import HeraldConfig, condense
from herald_gpu.backend import _index
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.datasets import make_graph
from herald_gpu.errors import MissingDependencyError


def unit(n=500, width=6, seed=0):
    x = np.random.default_rng(seed).normal(size=(n, width))
    return (x / np.linalg.norm(x, axis=1)[:, None]).astype(np.float32)


def test_positions_are_those_of_the_nearest_rows():
    rows = unit()
    found = _index.nearest_positions(rows, 9)
    assert (found.shape, found.dtype) == ((500, 9), np.int64)
    expected = np.argsort(-rows @ rows.T, axis=1)[:, :9]
    shared = [len(set(one) & set(other)) for one, other in zip(found.tolist(), expected.tolist(), strict=True)]
    assert np.mean(shared) > 0.97 * 9
    assert all(row in near for row, near in enumerate(found.tolist()))  # a row finds itself


def test_more_than_the_usual_effort_where_many_are_wanted():
    assert (_index.nearest_positions(unit(), 120) >= 0).all()


@pytest.fixture
def no_faiss(monkeypatch):
    real = _index.importlib.util.find_spec
    monkeypatch.setattr(_index.importlib.util, "find_spec", lambda name: None if name == "faiss" else real(name))


@pytest.mark.usefixtures("no_faiss")
def test_without_faiss_the_pip_line_is_named():
    assert CpuBackend().index_name is None
    graph = make_graph(200, n_classes=2, n_features=8)
    given = (graph.edge_index, graph.features, graph.labels, graph.train)
    with pytest.raises(MissingDependencyError, match=r"pip install 'herald-gpu\[approx\]'"):
        condense(*given, ratio=0.2, config=HeraldConfig.paper(lid="approximate"), backend="cpu")
    found = condense(*given, ratio=0.2, config=HeraldConfig.paper(lid="auto"), backend="cpu")
    assert found.report.lid_search == "exact"
    assert condense(*given, ratio=0.2, backend="cpu").report.lid_search is None


def test_with_faiss_it_is_named():
    import faiss

    assert CpuBackend().index_name == "FAISS HNSW"
    assert CpuBackend().versions()["faiss-cpu"] == faiss.__version__


def test_without_a_distribution_there_is_no_version(monkeypatch):
    monkeypatch.setattr(_index, "DISTRIBUTION", "no-such-distribution")
    assert _index.versions() == {}
