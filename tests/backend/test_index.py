"""The index on the host."""

from __future__ import annotations

import re

import numpy as np
import pytest

from herald_gpu import HeraldConfig, condense
from herald_gpu.backend import _index, _tiles
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.datasets import make_graph
from herald_gpu.errors import MissingDependencyError
from herald_gpu.install import pip_line


def unit(n=500, width=6, seed=0):
    x = np.random.default_rng(seed).normal(size=(n, width))
    return (x / np.linalg.norm(x, axis=1)[:, None]).astype(np.float32)


def shared(found, rows):
    """Mean share of each row's nearest that were found."""
    similarity = rows @ rows.T
    np.fill_diagonal(similarity, -np.inf)
    expected = np.argsort(-similarity, axis=1)[:, : found.shape[1]]
    return np.mean([np.isin(one, other).mean() for one, other in zip(expected, found, strict=True)])


def test_positions_are_those_of_the_nearest_rows():
    rows = unit(3000)
    found = _index.nearest_positions(rows, 9)
    assert (found.shape, found.dtype) == ((3000, 9), np.int64)
    assert shared(found, rows) > 0.97
    assert (found != np.arange(3000)[:, None]).all()  # a row does not find itself
    assert all(len(set(near)) == 9 for near in found.tolist())


def test_a_row_meets_only_some_lists(monkeypatch):
    """Otherwise the test above would say nothing about the lists."""
    rows, met, real = unit(3000), [], _tiles.Nearest.offer_rows
    monkeypatch.setattr(_tiles.Nearest, "offer_rows", lambda *args: (met.append(args[1].size), real(*args)))
    _index.nearest_positions(rows, 9)
    assert 0.05 < sum(met) / 3000**2 < 0.3
    monkeypatch.setattr(_index, "PROBES", 1)
    assert shared(_index.nearest_positions(rows, 9), rows) < 0.8


def test_more_than_a_list_holds():
    found = _index.nearest_positions(unit(), 120)
    assert (found >= 0).mean() > 0.99


@pytest.mark.parametrize("n", [2, 3, 5, 17, 40])
def test_few_rows_meet_all_others(n):
    rows = unit(n)
    assert shared(_index.nearest_positions(rows, n - 1), rows) == 1


def test_rows_that_are_all_the_same_find_each_other(capfd):
    found = _index.nearest_positions(np.tile(unit(1), (200, 1)), 9)
    assert (found >= 0).all()
    assert (found != np.arange(200)[:, None]).all()
    assert capfd.readouterr() == ("", "")  # FAISS would print a warning about too few rows


def test_duplicates_are_found_first():
    rows = np.repeat(unit(400), 5, axis=0)
    found = _index.nearest_positions(rows, 4)
    assert (np.sort(found // 5, axis=1) == np.arange(2000)[:, None] // 5).mean() > 0.999


@pytest.fixture
def no_faiss(monkeypatch):
    real = _index.importlib.util.find_spec
    monkeypatch.setattr(_index.importlib.util, "find_spec", lambda name: None if name == "faiss" else real(name))


@pytest.mark.usefixtures("no_faiss")
def test_without_faiss_the_pip_line_is_named():
    assert CpuBackend().index_name is None
    graph = make_graph(200, n_classes=2, n_features=8)
    given = (graph.edge_index, graph.features, graph.labels, graph.train)
    with pytest.raises(MissingDependencyError, match=re.escape(pip_line("approx"))):
        condense(*given, ratio=0.2, config=HeraldConfig.paper(lid="approximate"), backend="cpu")
    found = condense(*given, ratio=0.2, config=HeraldConfig.paper(lid="auto"), backend="cpu")
    assert found.report.lid_search == "exact"
    assert condense(*given, ratio=0.2, backend="cpu").report.lid_search is None


def test_with_faiss_it_is_named():
    import faiss

    assert CpuBackend().index_name == "FAISS IVF"
    assert CpuBackend().versions()["faiss-cpu"] == faiss.__version__


def test_without_a_distribution_there_is_no_version(monkeypatch):
    monkeypatch.setattr(_index, "DISTRIBUTION", "no-such-distribution")
    assert _index.versions() == {}
