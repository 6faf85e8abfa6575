"""The model of what partitions exchange, held against the counters of real runs."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
from support.crew import Here

from herald_gpu import HeraldConfig
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.datasets import make_graph
from herald_gpu.distributed import neighbourhoods, routes
from herald_gpu.distributed.front import condense_collections
from herald_gpu.io.read import Columns
from herald_gpu.planning import exchange, spread
from herald_gpu.planning.exchange import Spread, exchanged, levels
from herald_gpu.planning.sizes import measure

CLOSE = 0.12
RATIO = 0.02
SEARCH = HeraldConfig(smallest_pool=64, largest_pool=64, trial_nodes=100)
CASES = {
    "two": (1000, 6, 16, 0.3, 2, SEARCH),
    "four": (1000, 6, 16, 0.3, 4, SEARCH),
    "many": (1500, 8, 12, 0.5, 7, SEARCH),
    "few training nodes": (3000, 10, 24, 0.05, 3, SEARCH),
    "one hop": (1000, 6, 16, 0.3, 4, HeraldConfig(smallest_pool=64, largest_pool=64, trial_nodes=100, hops=1)),
    "paper": (1000, 6, 16, 0.3, 4, HeraldConfig.paper(feature_count=10)),
    "sampled": (1000, 5, 16, 0.2, 5, HeraldConfig.paper(feature_count=6, lid="sampled")),
    "tree": (800, 6, 14, 0.3, 4, HeraldConfig.paper()),
}


def run(n, degree, width, share, parts, config):
    given = make_graph(n, n_classes=3, n_features=width, mean_degree=degree, seed=1)
    train = np.random.default_rng(0).random(n) < share
    train[:20] = True
    bounds = tuple(n * part // parts for part in range(parts + 1))
    graph = (
        da.from_array(given.edge_index, chunks=(2, 4000)),
        da.from_array(given.features, chunks=(n // 3, -1)),
        given.labels,
        train,
    )
    options = {"columns": Columns(), "unlabelled": -1, "backend": "cpu", "output_type": "input", "seed": 0}
    small = condense_collections(graph, RATIO, config=config, crew=Here(CpuBackend()), bounds=bounds, **options)
    return small.report, float(train.mean())


@pytest.mark.parametrize("name", CASES)
def test_bytes_are_those_that_a_run_counts(name):
    n, _, width, _, parts, config = CASES[name]
    report, share = run(*CASES[name])
    sizes = measure(
        n,
        report.before.n_edges,
        width,
        n_classes=3,
        ratio=RATIO,
        train_share=share,
        density=1.0,
        binary=False,
        degree_skew=None,
        class_skew=None,
        feature_count=None,
        config=config,
    )
    told = exchanged(sizes, config, Spread(parts))
    stages = {stage for stage, count in report.exchanged_bytes.items() if count}
    assert stages == set(told)
    for stage in stages - {"expansion"}:
        expected = told[stage]
        if name == "tree" and stage == "scoring":  # the tree keeps fewer features than the most there can be
            expected *= (4 * report.feature_count + 8) / (4 * width + 8)
        assert report.exchanged_bytes[stage] == pytest.approx(expected, rel=CLOSE), stage
    if "expansion" in stages:  # how often roots are doubled depends on the graph
        assert report.exchanged_bytes["expansion"] == pytest.approx(told["expansion"], rel=1.0)


def test_constants_are_those_of_the_stages():
    assert (spread.BLOCK_BYTES, spread.BLOCK_SHARE) == (routes.BLOCK_BYTES, routes.BLOCK_SHARE)
    assert exchange.FIRST_ROOTS == neighbourhoods.FIRST_ROOTS


def sized(n=10_000, degree=6):
    options = {"ratio": 0.01, "train_share": 0.1, "density": 1.0, "binary": False, "degree_skew": None}
    given = options | {"class_skew": None, "feature_count": None, "config": HeraldConfig()}
    return measure(n, n * degree, 8, n_classes=3, **given)


def test_one_partition_asks_nobody():
    assert [level.asked for level in levels(sized(), Spread(1), 1000, 2)] == [0, 0]


def test_edges_that_stay_are_not_asked_for():
    far, near = (levels(sized(), Spread(8, local), 1000, 2) for local in (0.0, 0.9))
    assert all(two.asked < 0.3 * one.asked for one, two in zip(far, near, strict=True))


def test_rows_grow_from_hop_to_hop():
    last, first = levels(sized(), Spread(4), 100, 2)
    assert last.rows == pytest.approx(100)
    assert 600 < first.rows < 700
    assert last.edges == pytest.approx(600)
