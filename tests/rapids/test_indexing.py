"""Approximate neighbours of the RAPIDS backend: what cuVS finds, measured again, and nothing that it must not find."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from support.graphs import host

from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.errors import OutOfMemory

CPU = CpuBackend()
CONTAINERS = {"dense": np.asarray, "sparse": scipy.sparse.csr_matrix}


def inverse_norms(x):
    lengths = np.sqrt((np.asarray(x, dtype=np.float64) ** 2).sum(axis=1))
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def rows(n=1400, seed=0):
    """Rows with structure, of which some are zero and some equal; a third of the values is zero."""
    rng = np.random.default_rng(seed)
    x = rng.random((40, 16))[rng.integers(40, size=n)] + 0.3 * rng.random((n, 16))
    x[:, ::3] *= rng.random((n, 6)) < 0.5
    x[rng.choice(n, 30, replace=False)] = 0
    x[rng.choice(n, 12, replace=False)] = x[n // 2]
    return x.astype(np.float32)


def approximate(rapids, x, k=10, container="dense"):
    given = rapids.asarray(CONTAINERS[container](x))
    found = rapids.nearest_distances(given, rapids.asarray(inverse_norms(x)), k, approximate=True)
    assert (found.dtype, found.shape) == (np.float64, (len(x), k))
    return host(rapids, found)


@pytest.fixture
def indexing(rapids):  # noqa: ARG001 - the module cannot be imported without CuPy
    from herald_gpu.backend.rapids import indexing

    return indexing


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("k", [1, 10, 40])
def test_nearly_all_neighbours_and_true_distances(rapids, k, container):
    x = rows()
    found, exact = approximate(rapids, x, k, container), CPU.nearest_distances(x, inverse_norms(x), k)
    assert (np.diff(found, axis=1) >= 0).all()
    assert (found >= exact - 1e-15).all()
    assert (found <= exact[:, -1:] * (1 + 1e-12)).mean() > 0.9
    assert (found[~x.any(axis=1)] == 1).all()


def test_doubles_are_measured_as_doubles(rapids):
    """Every distance is that to some row, to the last digits; rounded to floats first it would not be."""
    rng = np.random.default_rng(1)
    x = rows().astype(np.float64) * (1 + 1e-8 * rng.random((1400, 16)))
    ladder = CPU.nearest_distances(x, inverse_norms(x), 1399)
    found = approximate(rapids, x)
    assert gap(found, ladder) < 1e-14
    assert gap(approximate(rapids, x.astype(np.float32)), ladder) > 1e-12


def gap(found, ladder):
    """Largest difference between what was found and the nearest of a row's true distances."""
    return max(np.abs(one[:, None] - true[None, :]).min(axis=1).max() for one, true in zip(found, ladder, strict=True))


def test_few_rows_are_compared_all_with_all(rapids, indexing):
    x = rows(indexing.FEWEST_ROWS - 1)
    exact = CPU.nearest_distances(x, inverse_norms(x), 10)
    np.testing.assert_allclose(approximate(rapids, x), exact, rtol=0, atol=1e-15)
    assert (approximate(rapids, np.zeros((40, 3), dtype=np.float32)) == 1).all()


@pytest.mark.parametrize("size", [100, 333, 10**6])
def test_small_batches_change_nothing(rapids, indexing, size, monkeypatch):
    """The graph of neighbours is given, so that all runs measure the same candidates."""
    x = rows()
    filled = x[x.any(axis=1)]
    unit = filled * inverse_norms(filled)[:, None]
    graph = rapids.asarray(np.argsort(-unit @ unit.T, axis=1)[:, ::2][:, :32].copy())
    monkeypatch.setattr(indexing, "_graph", lambda *_: graph)
    expected = approximate(rapids, x)
    monkeypatch.setattr(indexing, "batch_rows", lambda _, n_rows: min(size, n_rows))
    np.testing.assert_array_equal(approximate(rapids, x), expected)


def graph_of(rapids, x, change):
    """The exact graph of 32 neighbours among the rows that are not zero, each row first, then changed by hand."""
    filled = x[x.any(axis=1)].astype(np.float64)
    unit = filled * inverse_norms(filled)[:, None]
    similar = unit @ unit.T
    np.fill_diagonal(similar, 9)
    graph = np.argsort(-similar, axis=1)[:, :32].astype(np.int64)
    change(graph)
    return rapids.asarray(graph)


def _shuffle(graph):
    np.random.default_rng(0).permuted(graph, axis=1, out=graph)


def _without_self(graph):
    graph[:, 0] = graph[:, 20]


def _twice(graph):
    graph[:, 20:] = graph[:, 1:13]


def _nowhere(graph):
    graph[:, 20:26] = 2**31 - 1
    graph[:, 26:] = -1


TRAPS = {"in no order": _shuffle, "without the row": _without_self, "twice": _twice, "out of range": _nowhere}


@pytest.mark.parametrize("change", TRAPS.values(), ids=TRAPS)
def test_whatever_the_graph_looks_like(rapids, indexing, change, monkeypatch):
    x = rows()
    monkeypatch.setattr(indexing, "_graph", lambda *_: graph_of(rapids, x, change))
    exact = CPU.nearest_distances(x, inverse_norms(x), 10)
    np.testing.assert_allclose(approximate(rapids, x), exact, rtol=0, atol=1e-15)


def test_rows_with_too_few_candidates_are_compared_with_all(rapids, indexing, monkeypatch):
    x = rows()
    x[~x.any(axis=1)] = x[0]  # zero rows would fill the gap with ones

    def poor(graph):
        graph[::4, 5:] = -1

    monkeypatch.setattr(indexing, "_graph", lambda *_: graph_of(rapids, x, poor))
    exact = CPU.nearest_distances(x, inverse_norms(x), 10)
    np.testing.assert_allclose(approximate(rapids, x), exact, rtol=0, atol=1e-15)


def test_no_room_for_the_index_is_said_with_advice(rapids, indexing, monkeypatch):
    monkeypatch.setattr(indexing, "free_bytes", lambda: 1000)
    with pytest.raises(OutOfMemory, match=r"scoring.*lid='approximate' needs some [\d,]+ bytes.*feature_count"):  # noqa: SIM117
        with rapids.stage("scoring"):
            approximate(rapids, rows())
