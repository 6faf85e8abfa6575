"""The plain recipe gives what the paper's preset gives."""

from __future__ import annotations

import pytest

from herald_gpu import HeraldConfig, condense
from herald_gpu.bench import graphs
from herald_gpu.bench.plain import plain_condense

SPECS = {
    "dense": ({"n_nodes": 300, "n_features": 24, "mean_degree": 5.0}, 0.15),
    "words": ({"n_nodes": 300, "n_features": 40, "features": "bag_of_words", "mean_words": 6.0}, 0.1),
    "heterophilic, isolated nodes, uneven classes": (
        {"n_nodes": 300, "n_features": 40, "features": "bag_of_words", "mean_words": 6.0, "homophily": 0.2}
        | {"isolated_share": 0.1, "class_imbalance": 0.4, "mean_degree": 3.0},
        0.3,
    ),
    "a class that has to be let in": (
        {"n_nodes": 400, "n_features": 30, "n_classes": 8, "class_imbalance": 0.4, "mean_degree": 6.0},
        0.03,
    ),
}


@pytest.mark.parametrize("name", SPECS)
def test_the_same_nodes_and_features(name):
    spec, ratio = SPECS[name]
    given = graphs.load(spec)
    plain = plain_condense(*given.arguments, ratio=ratio)
    small = condense(*given.arguments, ratio=ratio, config=HeraldConfig.paper(), backend="cpu")
    assert plain.features == small.feature_ids.tolist()
    assert plain.nodes == sorted(small.node_ids.tolist())
    assert plain.storage_ratio == pytest.approx(small.report.storage_ratio)
