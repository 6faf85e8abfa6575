"""Links: chains of exemplars, and what is synthetic about the edges."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given as hypothesis_given
from hypothesis import settings
from hypothesis import strategies as st
from support import reference
from support.graphs import build, host, random_raw, raw

from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.config import HeraldConfig
from herald_gpu.stages.exemplars import Order, order_members
from herald_gpu.stages.links import join, join_landmarks, link_share
from herald_gpu.stages.pool import draw_pool

CPU = CpuBackend()
CONFIG = HeraldConfig()


# How many


@pytest.mark.parametrize(
    ("nodes", "wanted", "share"),
    [
        ([0, 1, 2, 3], 0.75, 0.25),  # the first two are joined
        ([0, 1, 2, 3], 0.5, 0.0),
        ([0, 1, 2, 3], 0.25, 0.0),
        ([0, 2, 3], 0.5, 0.5),  # none is, with the others gone
        ([0, 1, 4, 5], 1.0, 0.0),
    ],
)
def test_what_the_graph_leaves_isolated(backend, nodes, wanted, share):
    given = raw([(0, 1), (4, 5)], np.eye(6, 2), [0, 0, 0, 1, 1, 1])
    config = replace(CONFIG, linked_share=wanted)
    found = link_share(backend, build(backend, given), backend.asarray(np.array(nodes)), config)
    assert found == pytest.approx(share)
    assert type(found) is float


# Which


def by_loop(given, nodes, members, place, linked):
    """Edges of the graph among the nodes, and chains: (all of them, those that are links alone)."""
    position = {v: i for i, v in enumerate(nodes)}
    real = {(position[u], position[v]) for u in nodes for v in reference.neighbours(given)[u] if v in position}
    links = set()
    for code in range(given.n_classes):
        mine = [i for i, v in enumerate(members) if given.y[v] == code and v in position and linked[i]]
        chain = [position[members[i]] for i in sorted(mine, key=lambda i: place[i])]
        links |= {pair for a, b in pairwise(chain) for pair in ((a, b), (b, a))}
    return real | links, links - real


def joined(backend, given, nodes, order, pool):
    graph = build(backend, given)
    return told(backend, join(backend, graph, backend.asarray(np.array(nodes)), pool, order), len(nodes))


def told(backend, edges, n_nodes):
    """Edges and links as pairs."""
    matrix = backend.to_host(edges.adjacency).tocoo()
    assert matrix.dtype == np.float32
    assert set(matrix.data.tolist()) <= {1.0}
    assert matrix.shape == (n_nodes,) * 2
    pairs = list(zip(matrix.row.tolist(), matrix.col.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    flags = host(backend, edges.synthetic)
    assert flags.dtype == bool
    return set(pairs), {pair for pair, flag in zip(pairs, flags, strict=True) if flag}


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_chains_by_loop(backend, seed, share):
    given = random_raw("binary", 50, seed, mean_degree=6.0)
    rng = np.random.default_rng(seed)
    pool = draw_pool(backend, build(backend, given), 1, CONFIG, seed=seed)
    places = np.concatenate([rng.permutation(size) for size in pool.sizes])
    order = order_members(backend, pool, backend.asarray(places), pool.n_folds, link_share=share)
    nodes = sorted(rng.permutation(np.flatnonzero(given.train))[:18].tolist())
    parts = [host(backend, part) for part in (pool.members, order.place, order.linked)]
    expected = by_loop(given, nodes, *(part.tolist() for part in parts))
    found = joined(backend, given, nodes, order, pool)
    assert found == expected
    assert all((b, a) in found[0] for a, b in found[0])
    assert all((b, a) in found[1] for a, b in found[1])


def ordered(backend, given, place, linked):
    """A pool and an order of it, by node."""
    pool = draw_pool(backend, build(backend, given), 1, CONFIG, seed=0)
    members = host(backend, pool.members)
    turn = backend.asarray(np.arange(len(members)))
    parts = (np.array(place)[members], np.array(linked, dtype=bool)[members])
    return pool, Order(*(backend.asarray(part) for part in parts), turn)


def test_a_chain_by_hand(backend):
    # Class 0 is chained 2, 0, 3; node 1 is passed over. A single node of class 1 has nobody to be linked to.
    given = raw([(0, 2), (1, 4)], np.eye(5, 2), [0, 0, 0, 0, 1])
    pool, order = ordered(backend, given, [1, 3, 0, 2, 0], [1, 0, 1, 1, 1])
    edges, links = joined(backend, given, [0, 1, 2, 3, 4], order, pool)
    assert {pair for pair in edges if pair[0] < pair[1]} == {(0, 2), (1, 4), (0, 3)}
    assert links == {(0, 3), (3, 0)}  # an edge of the graph that is a link as well is real


def test_who_was_not_chosen_is_left_out_of_the_chain(backend):
    given = raw([], np.eye(4, 2), [0, 0, 0, 0])
    pool, order = ordered(backend, given, [0, 1, 2, 3], [1, 1, 1, 1])
    assert joined(backend, given, [0, 2, 3], order, pool)[1] == {(0, 1), (1, 0), (1, 2), (2, 1)}


def test_without_links_the_subgraph_stays_as_it_is(backend):
    given = raw([(0, 1), (1, 2), (3, 0)], np.eye(4, 2), [0, 0, 1, 1])
    pool, order = ordered(backend, given, [0, 1, 0, 1], [0, 0, 0, 0])
    edges, links = joined(backend, given, [0, 1, 3], order, pool)
    assert edges == {(0, 1), (1, 0), (0, 2), (2, 0)}
    assert links == set()


def test_a_single_node(backend):
    given = raw([(0, 1)], np.eye(2), [0, 1])
    pool, order = ordered(backend, given, [0, 0], [1, 1])
    assert joined(backend, given, [1], order, pool) == (set(), set())


@pytest.mark.parametrize("edges", ["auto", "real"])
def test_the_landmarks_of_a_class_are_joined(backend, edges):
    given = raw([(0, 1), (1, 2)], np.eye(3), [0, 1, 1])
    nodes = backend.asarray(np.array([0, 1]))
    made = join_landmarks(backend, build(backend, given), nodes, 4, replace(CONFIG, edges=edges))
    found, links = told(backend, made, 6)
    pairs = {(2, 4), (4, 2), (3, 5), (5, 3)} if edges == "auto" else set()
    assert links == pairs
    assert found == {(0, 1), (1, 0)} | pairs


@settings(max_examples=30, deadline=None, derandomize=True)
@hypothesis_given(seed=st.integers(0, 2**32 - 1), share=st.floats(0, 1))
def test_links_cost_no_more_than_was_charged(seed, share):
    """Two directed edges for every chosen node that is linked."""
    given = random_raw("binary", 40, seed)
    rng, graph = np.random.default_rng(seed), build(CPU, given)
    pool = draw_pool(CPU, graph, 1, CONFIG, seed=0)
    places = np.concatenate([rng.permutation(size) for size in pool.sizes])
    order = order_members(CPU, pool, places, pool.n_folds, link_share=share)
    nodes = np.flatnonzero((rng.random(40) < 0.6) & np.array(given.train))
    edges = join(CPU, graph, nodes, pool, order)
    charged = order.linked[np.isin(pool.members, nodes)].sum()
    assert edges.synthetic.sum() <= 2 * charged
