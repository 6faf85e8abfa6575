"""What is kept of the full graph: right, small, and without labels of other than training nodes."""

from __future__ import annotations

import numpy as np
import pytest
from support.graphs import build, random_raw, raw

from herald_gpu import HeraldConfig, ops
from herald_gpu.assembly import take_stock
from herald_gpu.pipeline import Clock, run
from herald_gpu.stages.statistics import variance_ratios
from herald_gpu.stages.survey import DEGREE_BINS, RATIO_BINS, Survey, degree_bin, ratio_bounds, survey_ratios, surveyed


def seen(backend, given, ratios):
    graph = build(backend, given)
    whole = take_stock(backend, graph, graph.features, HeraldConfig())
    counted = survey_ratios(backend, backend.asarray(np.asarray(ratios, dtype=np.float64)))
    return surveyed(whole, whole.n_edges, ops.fetch(backend, *whole.counts, counted))


def test_by_hand(backend):
    given = raw(
        [(0, 1), (0, 2), (0, 3), (0, 4)], np.eye(6, 2), [0, 1, 1, 1, 0, 0], [True, True, True, False, False, False]
    )
    told = seen(backend, given, [0.0, 1.0, 0.99, 2.0, 1e9])
    assert (told.n_nodes, told.n_edges, told.n_features) == (6, 8, 2)
    assert told.class_counts == (1, 2)  # of training nodes alone
    assert told.degrees[:4] == (1, 4, 0, 1)
    assert told.largest_degree == 4
    middle = RATIO_BINS // 2
    assert {i: c for i, c in enumerate(told.variance_ratios) if c} == {
        0: 1,
        middle: 2,
        middle + 2: 1,
        RATIO_BINS - 1: 1,
    }


@pytest.mark.parametrize("config", [HeraldConfig(), HeraldConfig.paper(), HeraldConfig.published("scaled")])
def test_of_a_whole_run(backend, config):
    given = random_raw("counts", 80, seed=2)
    graph = build(backend, given, stored=not config.exact, all_labels=not config.exact)
    made = run(backend, graph, 0.4, config, seed=0, clock=Clock(backend))
    told = made.before
    assert sum(told.degrees) == told.n_nodes == 80
    assert (len(told.degrees), len(told.variance_ratios)) == (DEGREE_BINS, RATIO_BINS)
    assert sum(told.variance_ratios) == int(made.feature_indices.shape[0])
    assert told.class_counts == tuple(np.bincount(np.array(given.y)[list(given.train)]).tolist())
    ends = {frozenset(edge) for edge in given.edges if edge[0] != edge[1]}
    assert told.n_edges >= 2 * len(ends)


def test_ratios_are_those_that_the_report_averages(backend):
    given = random_raw("dense", 50, seed=1)
    graph = build(backend, given)
    nodes = backend.asarray(np.arange(20, dtype=np.int64))
    whole = take_stock(backend, graph, graph.features, HeraldConfig()).variances
    ratios = variance_ratios(backend, graph.features[nodes], whole)
    x, train = given.x.astype(float), list(given.train)
    expected = x[:20].var(axis=0) / (x[train].var(axis=0) + 1e-12)
    np.testing.assert_allclose(backend.to_host(ratios), expected, rtol=1e-6)
    found = survey_ratios(backend, ratios)
    places = np.searchsorted(ratio_bounds(), expected, side="right")
    np.testing.assert_array_equal(backend.to_host(found), np.bincount(places, minlength=RATIO_BINS))


def test_bins_of_degrees():
    assert degree_bin(np.array([0, 1, 3, 4, 2**19 - 1, 2**19, 2**25])).tolist() == [0, 1, 2, 3, 19, 20, 20]


def test_it_comes_back_from_json():
    told = Survey(
        n_nodes=1, n_edges=0, n_features=1, class_counts=(1,), degrees=(1,), largest_degree=0, variance_ratios=(1,)
    )
    assert Survey.from_dict({**vars(told), "class_counts": [1], "degrees": [1], "variance_ratios": [1]}) == told
