"""PageRank of the RAPIDS backend against the CPU backend."""

from __future__ import annotations

import numpy as np
import pytest
from support.adjacency import linked
from support.graphs import host

from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.errors import InputError

CPU = CpuBackend()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_restarts", [1, 5])
def test_pagerank_is_that_of_the_cpu(rapids, seed, n_restarts):
    adjacency = linked(80, seed, mean_degree=1.5 if seed % 2 else 4.0)
    n = adjacency.shape[0]
    restart = np.zeros(n)
    restart[np.random.default_rng(seed).choice(n, n_restarts, replace=False)] = 1 / n_restarts
    options = {"probability": 0.15, "tol": 1e-9, "max_iter": 200}
    ours = CPU.pagerank(adjacency, restart, **options)
    found = rapids.pagerank(rapids.asarray(adjacency), rapids.asarray(restart), **options)
    assert found.dtype == np.float64
    np.testing.assert_allclose(host(rapids, found), ours, rtol=0, atol=1e-13)


@pytest.mark.parametrize("max_iter", [1, 2, 7])
def test_pagerank_that_does_not_converge_is_taken_as_it_is(rapids, max_iter):
    adjacency = linked(80, 3)
    restart = np.full(adjacency.shape[0], 1 / adjacency.shape[0])
    restart[0], restart[1] = restart[0] * 2, 0.0
    options = {"probability": 0.15, "tol": 1e-12, "max_iter": max_iter}
    ours = CPU.pagerank(adjacency, restart, **options)
    found = rapids.pagerank(rapids.asarray(adjacency), rapids.asarray(restart), **options)
    np.testing.assert_allclose(host(rapids, found), ours, rtol=0, atol=1e-13)


def test_pagerank_that_converges_in_the_last_step(rapids):
    """cuGraph calls that a failure; the ranks are right all the same."""
    adjacency = linked(80, 3)
    restart = np.full(adjacency.shape[0], 1 / adjacency.shape[0])
    for steps in range(1, 200):
        longer = [
            CPU.pagerank(adjacency, restart, probability=0.15, tol=1e-6, max_iter=most) for most in (steps, steps + 1)
        ]
        if np.array_equal(*longer):
            break
    found = rapids.pagerank(
        rapids.asarray(adjacency), rapids.asarray(restart), probability=0.15, tol=1e-6, max_iter=steps
    )
    np.testing.assert_allclose(host(rapids, found), longer[0], rtol=0, atol=1e-13)


def test_too_many_edges_are_refused(rapids, monkeypatch):
    from herald_gpu.backend.rapids import device

    monkeypatch.setattr(device, "LARGEST_INDEX", 50)
    adjacency = rapids.asarray(linked(60, 0))
    restart = rapids.asarray(np.full(adjacency.shape[0], 1 / adjacency.shape[0]))
    with pytest.raises(InputError, match=r"directed edges is \d+, more than 32-bit"):
        rapids.pagerank(adjacency, restart, probability=0.15, tol=1e-6, max_iter=5)
