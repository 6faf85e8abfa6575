"""BONSAI, stage by stage and whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from baselines import references
from outcomes import nominal_bytes
from support.graphs import build, host, random_raw

from herald_gpu.baselines.bonsai import BonsaiOptions, _accounts, rank_exemplars, select
from herald_gpu.baselines.selection import cut_columns
from herald_gpu.budget import make_budget
from herald_gpu.config import HeraldConfig
from herald_gpu.errors import ConfigError

RAW = random_raw("counts", 80, seed=7)


def smoothed(backend, graph):
    loops = host(backend, graph.adjacency).astype(np.float64) + np.eye(graph.n_nodes)
    inverse = np.diag(1 / loops.sum(axis=1))
    return inverse @ loops @ inverse @ host(backend, graph.features).astype(np.float64)


def condensed(backend, ratio, given=RAW, *, seed=0, columns=None, **options):
    graph = build(backend, given)
    budget = make_budget(backend, graph, ratio, HeraldConfig())
    kept = backend.asarray(np.arange(graph.n_features) if columns is None else np.array(columns))
    return select(backend, cut_columns(backend, graph, kept), budget, seed=seed, options=BonsaiOptions(**options))


@pytest.mark.parametrize("k", [1, 5, 12])
def test_exemplars_cover_reverse_neighbours_greedily(backend, k):
    graph = build(backend, RAW)
    nodes = np.flatnonzero(RAW.train)
    near = references.nearest(smoothed(backend, graph)[nodes].astype(np.float32).astype(np.float64), k)
    covers = [{asker for asker, found in enumerate(near) if row in found} for row in range(len(nodes))]
    expected = nodes[references.greedy_cover(covers)]
    ranking = rank_exemplars(backend, graph, seed=0, options=BonsaiOptions(k=k))
    assert host(backend, ranking).tolist() == expected.tolist()


def test_a_sample_of_those_who_ask(backend):
    graph = build(backend, RAW)
    one, same, other = (
        host(backend, rank_exemplars(backend, graph, seed=s, options=BonsaiOptions(sample=0.3))) for s in (0, 0, 1)
    )
    assert one.tolist() == same.tolist()
    assert one.tolist() != other.tolist()
    assert sorted(one.tolist()) == np.flatnonzero(RAW.train).tolist()


@pytest.mark.parametrize("ratio", [0.05, 0.15, 0.4, 1.0])
@pytest.mark.parametrize("slips", [(), ("patience",), ("removal",), ("patience", "removal")])
def test_the_budget_holds_and_every_class_is_there(backend, slips, ratio):
    small = condensed(backend, ratio, slips=slips, patience=3)
    nodes = host(backend, small.nodes)
    adjacency = host(backend, build(backend, RAW).adjacency)[np.ix_(nodes, nodes)]
    full = host(backend, build(backend, RAW).adjacency)
    np.testing.assert_array_equal(host(backend, small.adjacency), adjacency)
    size = nominal_bytes("sparse", RAW.x[nodes], int(adjacency.sum()))
    assert small.storage_bytes == size
    assert size <= ratio * nominal_bytes("sparse", RAW.x, int(full.sum()))
    labels = host(backend, small.labels)
    assert set(labels[labels >= 0].tolist()) == {0, 1, 2}


def test_at_the_full_budget_a_node_is_lost_to_the_slip_only(backend):
    """Nothing is due for removal when all neighbourhoods fit; the public code takes one node out all the same."""
    options = {"headroom": 1.0}
    clean, slipped = (condensed(backend, 1.0, slips=s, **options).details for s in ((), ("removal",)))
    assert (clean["pruned"], slipped["pruned"]) == (0, 1)


def test_the_slip_of_patience_gathers_no_more(backend):
    clean, slipped = (
        condensed(backend, 0.12, slips=s, headroom=2.0, patience=2).details["gathered"] for s in ((), ("patience",))
    )
    assert slipped <= clean


def test_at_most_as_many_nodes_as_the_plain_budget_gathers_are_left_by_pruning(backend):
    details = condensed(backend, 0.2).details
    assert details["gathered"] - details["pruned"] <= details["target_size"]


@pytest.mark.parametrize("links", ["induced", "none"])
def test_exemplars_alone(backend, links):
    small = condensed(backend, 0.2, links=links)
    train = np.array(RAW.train)
    assert train[host(backend, small.nodes)].all()
    assert (small.adjacency.nnz > 0) == (links == "induced")


def test_public_accounting_exceeds_the_budget(backend):
    """The whole graph is charged dense, the nodes by the sum of their kept values: a tenth buys far more than that."""
    given = random_raw("binary", 80, seed=7, n_features=60)
    graph = build(backend, given)
    budget = make_budget(backend, graph, 0.3, HeraldConfig())
    small = condensed(backend, 0.3, given, columns=range(20), accounting="citation")
    assert small.storage_bytes > budget.limit
    exact = condensed(backend, 0.3, given, columns=range(20))
    assert exact.storage_bytes <= budget.limit


def test_a_pair_costs_the_same_stored_one_way_or_both(backend):
    """The published code counts pairs of neighbours: half of the price falls on each direction that is stored."""
    graph = build(backend, RAW)
    both = host(backend, graph.adjacency)
    one_way = replace(graph, adjacency=backend.asarray(scipy.sparse.csr_matrix(np.triu(both))))
    columns = backend.asarray(np.arange(graph.n_features))
    paid = []
    for stored in (graph, one_way):
        budget = make_budget(backend, graph, 0.3, HeraldConfig())
        cut = cut_columns(backend, stored, columns)
        paid.append(_accounts(backend, cut, budget, BonsaiOptions(accounting="citation"))[1].edge)
    assert paid == [2.0, 4.0]


def test_what_is_cut_from_a_graph_stored_one_way_goes_both_ways(backend):
    graph = build(backend, RAW)
    one_way = backend.asarray(scipy.sparse.csr_matrix(np.triu(host(backend, graph.adjacency))))
    cut = cut_columns(backend, replace(graph, adjacency=one_way), backend.asarray(np.arange(graph.n_features)))
    budget = make_budget(backend, graph, 0.3, HeraldConfig())
    small = select(backend, cut, budget, seed=0, options=BonsaiOptions(accounting="citation"))
    found = host(backend, small.adjacency)
    assert found.sum() > 0
    np.testing.assert_array_equal(found, found.T)
    assert set(np.unique(found)) == {0.0, 1.0}


@pytest.mark.parametrize(
    "wrong",
    [
        {"k": 0},
        {"sample": 0.0},
        {"depth": -1},
        {"headroom": 0.5},
        {"slips": ("other",)},
        {"accounting": "free"},
        {"links": "all"},
        {"accounting": "citation", "links": "none"},
    ],
)
def test_wrong_options_are_refused(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        BonsaiOptions(**wrong)
