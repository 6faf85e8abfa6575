"""Condensed graphs of every kind the page must cope with."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from outcomes import HOMOPHILIC, LANDMARKS, small_graph

from herald_gpu import HeraldConfig, condense

ODD = "<b>&\"'</script>$x$"


def arrays(config=None, features="dense", ratio=0.6, **options):
    graph = small_graph(features, **{**HOMOPHILIC, **options})
    return condense(graph.edge_index, graph.features, graph.labels, graph.train, ratio=ratio, config=config)


def odd_names():
    """Ids, labels and features that are markup themselves."""
    graph = small_graph(**HOMOPHILIC)
    edges, nodes = graph.to_frames()
    node, label = edges.columns[0], f"{ODD} class "
    names = [f"{ODD}{i}" for i in range(graph.n_nodes)]
    table = pd.DataFrame({"node": names, "label": [f"{label}{c}" for c in graph.labels], "train": graph.train})
    feats = pd.DataFrame(graph.features, columns=[f"{ODD} {j}" for j in range(graph.features.shape[1])])
    ends = pd.DataFrame({"src": [names[i] for i in edges[node]], "dst": [names[i] for i in edges[edges.columns[1]]]})
    assert len(nodes) == graph.n_nodes
    return condense(ends, pd.concat([table, feats], axis=1), ratio=0.6)


def tiny():
    return condense(np.array([[0, 1], [1, 2]]), np.eye(3), np.array([0, 1, 0]), ratio=1.0)


def many_classes():
    return arrays(n_classes=12, homophily=0.5, ratio=0.9)


MAKERS = {
    "default": arrays,
    "linked": lambda: arrays(HeraldConfig(**LANDMARKS)),
    "real": lambda: arrays(HeraldConfig(landmarks=False, edges="real")),
    "paper": lambda: arrays(HeraldConfig.paper()),
    "words": lambda: arrays(HeraldConfig(**LANDMARKS), features="bag_of_words"),
    "pca": lambda: arrays(HeraldConfig.paper(pca_variance=0.9), ratio=0.9),
    "published": lambda: arrays(HeraldConfig.published("scaled")),
    "odd names": odd_names,
    "tiny": tiny,
    "many classes": many_classes,
}


@pytest.fixture(scope="session")
def make():
    """Give a condensed graph by its name, made once."""
    made = {}

    def get(name):
        if name not in made:
            made[name] = MAKERS[name]()
        return made[name]

    return get


@pytest.fixture(scope="session", params=MAKERS)
def result(request, make):
    return make(request.param)


@pytest.fixture
def rows(make):
    """What evaluate() would give of the default one, and of the full graph."""
    report = make("default").report
    ours = {
        "n_nodes": report.n_nodes,
        "n_edges": report.n_edges,
        "n_features": 3,
        "storage_ratio": report.storage_ratio,
    }
    full = {"n_nodes": 40, "n_edges": 99, "n_features": 6, "storage_ratio": 1.0}
    base = {"variant": "standard", "validation": 70.0, "epoch": 3, "seconds": 0.1}
    return pd.DataFrame(
        [
            {"model": "GCN", "seed": 0, "accuracy": 70.0, **base, **ours},
            {"model": "GCN", "seed": 1, "accuracy": 74.0, **base, **ours},
            {"model": "GIN", "seed": 0, "accuracy": 61.5, **base, **ours},
            {"model": "GCN", "seed": 0, "accuracy": 80.0, **base, **full},
        ]
    )
