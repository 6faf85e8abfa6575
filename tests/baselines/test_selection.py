"""Gathering real nodes under the budget."""

from __future__ import annotations

import numpy as np
import pytest
from outcomes import nominal_bytes
from support.graphs import TRIANGLES, build, host, random_raw, raw

from herald_gpu.baselines.options import NodeOptions
from herald_gpu.baselines.selection import affordable, cut_columns, cut_out, fill, link_prices, seats
from herald_gpu.budget import Budget, make_budget
from herald_gpu.config import HeraldConfig
from herald_gpu.errors import BudgetError

PRICED = raw(
    [(0, 1), (0, 2), (1, 3)],
    [[1, 1, 1, 1], [1, 0, 0, 0], [1, 1, 1, 0], [0, 1, 0, 0], [1, 1, 0, 0]],
    [0, 0, 1, 1, 1],
)
"""Binary features of 8, 2, 6, 2 and 4 bytes; an edge takes 8."""


def of_bytes(limit):
    return Budget("binary", 100, limit, limit / 100)


def seated(backend, ranking, limit, links="induced"):
    graph, budget = build(backend, PRICED), of_bytes(limit)
    prices = link_prices(backend, graph, budget, links)
    return host(backend, seats(backend, graph, backend.asarray(np.array(ranking)), prices, budget)).tolist()


def test_the_best_ranked_of_every_class_have_seats(backend):
    assert seated(backend, [0, 1, 2, 3, 4], 22) == [0, 2]


def test_cheaper_ones_take_over_where_they_do_not_fit(backend):
    """0 and 2 take 22 bytes. Replacing 0 by 1 saves most and is enough: 1 and 2 are not joined and take 8."""
    assert seated(backend, [0, 1, 2, 3, 4], 21) == [1, 2]


def test_edges_that_are_not_kept_are_not_charged(backend):
    assert seated(backend, [0, 1, 2, 3, 4], 14, links="none") == [0, 2]


def test_too_small_a_budget_is_refused_with_the_smallest_ratio(backend):
    with pytest.raises(BudgetError, match="cheapest training node of each of the 2 classes takes 12") as caught:
        seated(backend, [0, 1, 2, 3, 4], 11)  # 1 and 3 are joined
    assert caught.value.smallest_ratio == 0.12


def test_a_ratio_above_one_is_not_offered(backend):
    graph, budget = build(backend, PRICED), Budget("binary", 8, 4, 0.5)
    prices = link_prices(backend, graph, budget, "induced")
    with pytest.raises(BudgetError, match="no ratio is enough"):
        seats(backend, graph, backend.asarray(np.arange(5)), prices, budget)


def filled(backend, ranking, limit, **options):
    graph = build(backend, PRICED)
    return fill(backend, graph, backend.asarray(np.array(ranking)), of_bytes(limit), NodeOptions(**options))


def test_nodes_come_in_order_while_they_fit(backend):
    """Seats 4 and 1 take 6 bytes; 2 brings 6, 0 would bring 8 and two edges, 3 brings 2 and an edge."""
    ranking = [4, 1, 2, 0, 3]
    assert host(backend, filled(backend, ranking, 12).nodes).tolist() == [1, 2, 4]
    assert host(backend, filled(backend, ranking, 22).nodes).tolist() == [1, 2, 3, 4]
    assert host(backend, filled(backend, ranking, 22, patience=0).nodes).tolist() == [1, 2, 4]
    assert host(backend, filled(backend, ranking, 22, links="none").nodes).tolist() == [0, 1, 2, 3, 4]


def test_neighbours_come_along(backend):
    small = filled(backend, [4, 1, 2, 0, 3], 40, links="expanded")
    assert host(backend, small.nodes).tolist() == [0, 1, 3, 4]  # 1 brings 0 and 3; then 2 no longer fits
    assert small.storage_bytes == 8 + 2 + 2 + 4 + 16


def test_nothing_but_nodes(backend):
    small = filled(backend, [4, 1, 2, 0, 3], 22, links="none")
    assert small.adjacency.shape == (5, 5)
    assert small.adjacency.nnz == 0
    assert small.storage_bytes == 22


@pytest.mark.parametrize("links", ["induced", "none"])
@pytest.mark.parametrize("kind", ["binary", "counts", "dense"])
def test_what_is_cut_out_is_priced_from_scratch(backend, kind, links):
    given = random_raw(kind, 30, seed=2)
    graph = build(backend, given)
    budget = make_budget(backend, graph, 1.0, HeraldConfig())
    nodes = np.array([0, 3, 4, 9, 20, 29])
    small = cut_out(backend, graph, backend.asarray(nodes), budget, links=links)
    adjacency = host(backend, graph.adjacency)[np.ix_(nodes, nodes)] * (links == "induced")
    np.testing.assert_array_equal(host(backend, small.adjacency), adjacency)
    np.testing.assert_array_equal(host(backend, small.features), given.x[nodes])
    train = np.array(given.train)[nodes]
    assert host(backend, small.labels).tolist() == np.where(train, np.array(given.y)[nodes], -1).tolist()
    assert small.storage_bytes == nominal_bytes(budget.kind, given.x[nodes], int(adjacency.sum()))


def test_affordable_counts_the_cheapest(backend):
    graph, budget = build(backend, PRICED), of_bytes(8)
    assert affordable(backend, graph, link_prices(backend, graph, budget, "induced"), budget) == 3


def test_cut_columns_knows_how_many_there_were(backend):
    graph = build(backend, TRIANGLES)
    cut = cut_columns(backend, graph, backend.asarray(np.array([0, 2])))
    assert (cut.n_features, cut.n_input_features) == (2, 3)
    np.testing.assert_array_equal(host(backend, cut.features), TRIANGLES.x[:, [0, 2]])
    assert cut_columns(backend, graph, backend.asarray(np.arange(3))).features is graph.features
