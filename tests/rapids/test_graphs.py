"""Neighbourhoods and growth of the RAPIDS backend against plain Python and the CPU backend."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from support.adjacency import linked, random_adjacency
from support.graphs import host

from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.budget import Prices
from herald_gpu.errors import InputError

CPU = CpuBackend()


def neighbourhood(adjacency, root, depth):
    """Nodes within `depth` hops, in plain Python."""
    found = frontier = {root}
    for _ in range(depth):
        frontier = {int(v) for u in frontier for v in adjacency.indices[adjacency.indptr[u] : adjacency.indptr[u + 1]]}
        found = found | frontier
    return sorted(found)


def as_lists(offsets, nodes):
    """Split nodes by offsets."""
    bounds, flat = offsets.get(), nodes.get()
    return [flat[low:high].tolist() for low, high in pairwise(bounds)]


@pytest.fixture
def graphs(rapids):  # noqa: ARG001 - the module cannot be imported without CuPy
    from herald_gpu.backend.rapids import graphs

    return graphs


# Neighbourhoods


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_neighbourhoods_three_ways(rapids, graphs, seed, depth, symmetric):
    adjacency = random_adjacency(60, seed, symmetric=symmetric)
    roots = np.random.default_rng(seed).permutation(60)[:25]
    there, asked = rapids.asarray(adjacency), rapids.asarray(roots)
    expected = [neighbourhood(adjacency, root, depth) for root in roots.tolist()]
    offsets, nodes = graphs.Neighbourhoods(there, depth).of(asked)
    assert (offsets.dtype, nodes.dtype) == (np.int64, np.int32)
    assert as_lists(offsets, nodes) == expected
    assert as_lists(*graphs.frontier_neighbourhoods(there, asked, depth)) == expected


def test_neighbourhoods_by_the_offsets_of_hops(rapids, graphs, monkeypatch):
    """Where sampling does not say which root an edge belongs to, its place does."""
    import pylibcugraph

    sample = pylibcugraph.neighbor_sample

    def without_batch(*args, **kwargs):
        return {name: value for name, value in sample(*args, **kwargs).items() if name != "batch_id"}

    monkeypatch.setattr(pylibcugraph, "neighbor_sample", without_batch)
    adjacency = random_adjacency(60, 5)
    roots = np.arange(60)[::-1].copy()
    found = graphs.Neighbourhoods(rapids.asarray(adjacency), 2).of(rapids.asarray(roots))
    assert as_lists(*found) == [neighbourhood(adjacency, root, 2) for root in roots.tolist()]


@pytest.mark.parametrize("depth", [1, 2])
def test_neighbourhoods_without_any_edge(rapids, graphs, depth):
    empty = rapids.asarray(scipy.sparse.csr_matrix((4, 4), dtype=np.float32))
    roots = rapids.asarray(np.array([3, 0]))
    assert as_lists(*graphs.Neighbourhoods(empty, depth).of(roots)) == [[3], [0]]
    assert as_lists(*graphs.frontier_neighbourhoods(empty, roots, depth)) == [[3], [0]]


def test_most_edges_reached_are_not_undercounted(rapids, graphs):
    adjacency = random_adjacency(60, 2)
    adjacency.data[:] = 1
    for depth in range(4):
        bound = host(rapids, graphs._reached_edges(rapids.asarray(adjacency), rapids.asarray(np.arange(60)), depth))
        walks = np.ones(60)
        for root in range(60):
            reached, layer = 1, {root}
            for _ in range(depth):
                edges = [v for u in layer for v in adjacency.indices[adjacency.indptr[u] : adjacency.indptr[u + 1]]]
                reached, layer = reached + len(edges), {int(v) for v in edges}
            walks[root] = reached
        assert (bound >= walks).all()


# Growth


def grown(backend, adjacency, roots, node, options, **prices):
    """Grow on a backend and bring the outcome to the host."""
    given = dict(options)
    if given.get("member") is not None:
        given["member"] = backend.asarray(given["member"])
    paid = Prices(backend.asarray(node), prices.get("edge", 4.0), prices.get("edge_to_member", 8.0))
    growth = backend.grow(backend.asarray(adjacency), backend.asarray(roots), paid, **given)
    return (
        np.flatnonzero(host(backend, growth.member)).tolist(),
        np.flatnonzero(host(backend, growth.considered)).tolist(),
        growth.accepted,
        growth.spent,
    )


OPTIONS = {
    "plain": {"limit": 300.0, "depth": 1, "patience": 1000},
    "deep": {"limit": 600.0, "depth": 2, "patience": 1000},
    "roots only": {"limit": 100.0, "depth": 0, "patience": 3},
    "impatient": {"limit": 200.0, "depth": 1, "patience": 2},
    "no patience": {"limit": 150.0, "depth": 2, "patience": 0},
    "quota": {"limit": 1000.0, "depth": 1, "patience": 10, "quota": 4},
    "no quota left": {"limit": 1000.0, "depth": 1, "patience": 10, "quota": 0},
    "until full": {"limit": 148.0, "depth": 1, "patience": 50, "stop_when_full": True},
    "everything": {"limit": 1e9, "depth": 3, "patience": 0},
    "nothing": {"limit": 0.0, "depth": 1, "patience": 5},
    "from members": {"limit": 400.0, "depth": 1, "patience": 20, "spent": 96.0, "member": True},
    "members and quota": {"limit": 500.0, "depth": 2, "patience": 20, "spent": 96.0, "member": True, "quota": 3},
}


@pytest.mark.parametrize("first_batch", [1, 3, 128])
@pytest.mark.parametrize("name", OPTIONS)
def test_growth_is_that_of_the_cpu(rapids, graphs, name, first_batch, monkeypatch):
    monkeypatch.setattr(graphs, "FIRST_BATCH", first_batch)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        adjacency = random_adjacency(70, seed, symmetric=seed != 2)
        roots, node = rng.permutation(70)[:50], 6.0 * rng.integers(0, 9, 70)
        options = dict(OPTIONS[name])
        if options.get("member"):
            options["member"] = rng.random(70) < 0.1
        ours = grown(CPU, adjacency, roots, node, options)
        assert grown(rapids, adjacency, roots, node, options) == ours


@pytest.mark.parametrize("seed", range(4))
def test_growth_with_prices_below_zero(rapids, graphs, seed, monkeypatch):
    """The published accounting charges the sum of feature values: no early rejection by nodes alone."""
    monkeypatch.setattr(graphs, "FIRST_BATCH", 5)
    rng = np.random.default_rng(seed)
    adjacency = random_adjacency(60, seed)
    node, roots = 2.0 * rng.integers(-6, 7, 60), rng.permutation(60)
    options = {"limit": 40.0, "depth": 1, "patience": 8, "stop_when_full": seed % 2 == 0}
    prices = {"edge": 2.0, "edge_to_member": 2.0}
    ours = grown(CPU, adjacency, roots, node, options, **prices)
    assert grown(rapids, adjacency, roots, node, options, **prices) == ours


@pytest.mark.parametrize("free", [1, 4_000, 40_000])
def test_growth_in_little_memory(rapids, graphs, free, monkeypatch):
    """A batch shrinks to what fits, down to one root, with the same outcome."""
    sizes, of = [], graphs.Neighbourhoods.of
    monkeypatch.setattr(graphs, "free_bytes", lambda: free)
    monkeypatch.setattr(graphs.Neighbourhoods, "of", lambda self, roots: sizes.append(len(roots)) or of(self, roots))
    adjacency, node = random_adjacency(60, 1), np.full(60, 12.0)
    options = {"limit": 700.0, "depth": 2, "patience": 50}
    ours = grown(CPU, adjacency, np.arange(60), node, options)
    assert grown(rapids, adjacency, np.arange(60), node, options) == ours
    assert free > 1 or set(sizes) == {1}
    assert max(sizes) < 60


def test_growth_leaves_the_given_members_alone(rapids):
    adjacency, member = rapids.asarray(random_adjacency(40, 1)), rapids.asarray(np.arange(40) % 5 == 0)
    before = host(rapids, member).copy()
    prices = Prices(rapids.asarray(np.ones(40)), 4.0, 8.0)
    growth = rapids.grow(
        adjacency, rapids.asarray(np.arange(40)), prices, limit=1e6, depth=1, patience=3, member=member
    )
    np.testing.assert_array_equal(host(rapids, member), before)
    assert int(growth.member.sum()) > before.sum()


def test_growth_without_roots(rapids):
    prices = Prices(rapids.asarray(np.ones(40)), 4.0, 8.0)
    none = rapids.asarray(np.empty(0, dtype=np.int64))
    growth = rapids.grow(
        rapids.asarray(random_adjacency(40, 1)), none, prices, limit=9.0, depth=1, patience=3, spent=2.5
    )
    assert (growth.accepted, growth.spent, int(growth.member.sum()), int(growth.considered.sum())) == (0, 2.5, 0, 0)


def test_a_neighbourhood_larger_than_a_block(rapids):
    """More nodes than threads: each thread takes several."""
    n = 700
    ends = np.array([(0, leaf) for leaf in range(1, n)])
    star = scipy.sparse.coo_matrix((np.ones(2 * n - 2, np.float32), np.vstack([ends, ends[:, ::-1]]).T), shape=(n, n))
    node = 2.0 * np.random.default_rng(0).integers(1, 50, n)
    total = node.sum() + 4.0 * (2 * n - 2)
    for limit in (total, total - 1):
        options = {"limit": limit, "depth": 1, "patience": 3}
        ours = grown(CPU, star.tocsr(), np.array([0, 1, 2]), node, options)
        assert grown(rapids, star.tocsr(), np.array([0, 1, 2]), node, options) == ours
        assert (ours[2] == 1) == (limit == total)


# Width of indices


def test_too_many_nodes_or_edges_are_refused(rapids, graphs, monkeypatch):
    from herald_gpu.backend.rapids import device

    monkeypatch.setattr(device, "LARGEST_INDEX", 50)
    adjacency = rapids.asarray(linked(60, 0))
    assert adjacency.nnz > 50
    with pytest.raises(InputError, match=r"directed edges is \d+, more than 32-bit"):
        graphs.Neighbourhoods(adjacency, 1)
    prices = Prices(rapids.asarray(np.ones(80)), 4.0, 8.0)
    few_nodes = rapids.asarray(linked(30, 0))
    with pytest.raises(InputError, match="directed edges"):
        rapids.grow(few_nodes, rapids.asarray(np.arange(3)), prices, limit=9.0, depth=0, patience=0)
    wide = rapids.asarray(scipy.sparse.csr_matrix((80, 80), dtype=np.float32))
    with pytest.raises(InputError, match="number of nodes is 80"):
        rapids.grow(wide, rapids.asarray(np.arange(3)), prices, limit=9.0, depth=0, patience=0)
