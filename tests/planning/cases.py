"""Graphs to condense and to plan for by their own sizes, shared by the tests of this folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

import herald_gpu
from herald_gpu import HeraldConfig, ops, search
from herald_gpu.datasets import make_graph
from herald_gpu.graph import Graph, clean_edges, clean_features
from herald_gpu.pipeline import Clock, run
from herald_gpu.planning import landmark_sizes

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Case:
    """A graph, how to condense it, and blocks small enough that stages have to cut their work."""

    graph: dict[str, Any]
    config: dict[str, Any]
    ratio: float = 0.05
    block: int | None = None
    preset: Callable[..., HeraldConfig] = HeraldConfig.paper
    most_learnt: int | None = None

    def cut(self, monkeypatch):
        """Have blocks, and the features that are learnt, as small as the case wants them."""
        if self.block is not None:
            monkeypatch.setattr(ops, "BLOCK_ELEMENTS", self.block)
        if self.most_learnt is not None:
            for module in (search, landmark_sizes):
                monkeypatch.setattr(module, "MOST_LEARNT", self.most_learnt)

    def draw(self):
        """Draw the graph; sparse features with the 32-bit indices that a device works on."""
        drawn = make_graph(**self.graph)
        features = drawn.features
        if scipy.sparse.issparse(features):
            features = scipy.sparse.csr_matrix(features)
            features.indices, features.indptr = features.indices.astype(np.int32), features.indptr.astype(np.int32)
        return drawn, features

    def build(self, backend):
        """Bring the graph to a backend, as the front door does."""
        drawn, features = self.draw()
        source, target = (backend.asarray(ends.copy()) for ends in drawn.edge_index)
        adjacency, _ = clean_edges(backend, source, target, drawn.n_nodes)
        matrix, kind = clean_features(backend, backend.asarray(features))
        labels = backend.asarray(np.where(drawn.train, drawn.labels, -1).astype(np.int32))
        return Graph(adjacency, matrix, kind, labels, backend.asarray(drawn.train), int(drawn.labels.max()) + 1)

    def run(self, backend, graph):
        """Condense the built graph."""
        config = self.preset(on_infeasible="best_effort", **self.config)
        return run(backend, graph, self.ratio, config, seed=0, clock=Clock(backend))

    def plan(self, **changes):
        """Plan for a graph of these sizes."""
        drawn, features = self.draw()
        degree = np.bincount(drawn.edge_index[0], minlength=drawn.n_nodes).astype(float)
        counts = np.bincount(drawn.labels[drawn.train]).astype(float)
        sparse = scipy.sparse.issparse(features)
        sizes = {
            "n_classes": int(drawn.labels.max()) + 1,
            "ratio": self.ratio,
            "train_share": float(drawn.train.mean()),
            "density": features.nnz / np.prod(features.shape) if sparse else 1.0,
            "binary": bool(sparse and (features.data == 1).all()),
            "degree_skew": float((degree**2).mean() / degree.mean() ** 2),
            "class_skew": float((counts**2).mean() / counts.mean() ** 2),
            "config": self.preset(**self.config),
        }
        return herald_gpu.plan(drawn.n_nodes, drawn.n_edges, features.shape[1], **{**sizes, **changes})


def sampled(size):
    """Options for LID against so many drawn nodes."""
    return {"lid": "sampled", "lid_reference": size}


DENSE = Case({"n_nodes": 1500, "n_features": 100}, {"feature_count": 40})
NEIGHBOURHOODS = {
    "dense": DENSE,
    "a tree decides": Case({"n_nodes": 1000, "n_features": 60}, {}, ratio=0.3),
    "many blocks": Case({"n_nodes": 1500, "n_features": 60}, {"feature_count": 60}, ratio=0.1, block=20_000),
    "words": Case({"n_nodes": 1800, "n_features": 500, "features": "bag_of_words"}, {"feature_count": 250}),
    "words in blocks": Case(
        {"n_nodes": 1000, "n_features": 400, "features": "bag_of_words", "mean_degree": 30, "n_classes": 12},
        {"feature_count": 100},
        ratio=0.3,
        block=80_000,
    ),
    "all nodes train": Case(
        {"n_nodes": 800, "n_features": 150, "train_share": 1.0, "n_classes": 20, "mean_degree": 25},
        {"feature_count": 150, "hops": 1},
        ratio=0.1,
    ),
    "no hops": Case(
        {"n_nodes": 1000, "n_features": 150, "mean_degree": 30},
        {"feature_count": 75, "hops": 0, "depth": 1},
        block=20_000,
    ),
    "hubs": Case(
        {"n_nodes": 1500, "n_features": 40, "power_law": 2.2, "mean_degree": 14},
        {"feature_count": 20, "hops": 3},
        ratio=0.1,
    ),
    "a sample of neighbours": Case({"n_nodes": 2000, "n_features": 50}, {"feature_count": 25, **sampled(300)}),
    "neighbours by descent": Case({"n_nodes": 2000, "n_features": 50}, {"feature_count": 25, "lid": "approximate"}),
    "words by descent": Case(
        {"n_nodes": 1500, "n_features": 400, "features": "bag_of_words"}, {"feature_count": 300, "lid": "approximate"}
    ),
}
"""What the stages of the paper do differently: containers, blocks, hops, depths, degrees, training shares."""


def exemplars(graph, config=None, **options):
    """Make a case of the default preset, by default homophilic (landmarks, links, both rules), with one fold."""
    return Case({"homophily": 0.8, **graph}, {"trial_nodes": 200, **(config or {})}, preset=HeraldConfig, **options)


WORDS = {"features": "bag_of_words"}
EXEMPLARS = {
    "one number of features": exemplars({"n_nodes": 1200, "n_features": 100}, {"feature_count": 40}),
    "a grid": exemplars({"n_nodes": 1000, "n_features": 100}),
    "all folds": exemplars({"n_nodes": 800, "n_features": 120}, {"trial_nodes": 2000, "feature_count": 100}),
    "heterophilic": exemplars({"n_nodes": 1000, "n_features": 60, "homophily": 0.2}),
    "large classes": exemplars({"n_nodes": 1200, "n_features": 32, "n_classes": 2}, ratio=0.02),
    "few training nodes": exemplars({"n_nodes": 5000, "n_features": 64, "train_share": 0.05}, ratio=0.02),
    "all nodes train": exemplars({"n_nodes": 800, "n_features": 100, "train_share": 1.0, "mean_degree": 25}),
    "words": exemplars({"n_nodes": 1200, "n_features": 500, **WORDS}, ratio=0.03),
    "many words": exemplars({"n_nodes": 1000, "n_features": 400, "mean_words": 100, **WORDS}, {"feature_count": 300}),
    "blocks": exemplars({"n_nodes": 1000, "n_features": 100, "n_classes": 8}, ratio=0.1, block=20_000),
    "words in blocks": exemplars({"n_nodes": 800, "n_features": 400, "n_classes": 12, **WORDS}, block=80_000),
    "a small pool": exemplars(
        {"n_nodes": 2000, "n_features": 50}, {"smallest_pool": 50, "largest_pool": 100, "exemplar_rule": "cover"}
    ),
    "unequal classes": exemplars({"n_nodes": 1000, "n_features": 64, "class_imbalance": 0.4}),
    "many classes": exemplars({"n_nodes": 1500, "n_features": 120, "n_classes": 40}, {"trial_nodes": 2000}),
    "few nodes of many classes": exemplars(
        {"n_nodes": 1000, "n_features": 32, "n_classes": 40, "train_share": 0.15}, {"trial_nodes": 2000}
    ),
    "hubs": exemplars({"n_nodes": 1000, "n_features": 40, "power_law": 2.2, "mean_degree": 14}, {"hops": 3}),
    "large pools": exemplars({"n_nodes": 1000, "n_features": 120}, {"smallest_pool": 40}),
    "landmarks only": exemplars({"n_nodes": 1000, "n_features": 100}, {"exemplar_rule": "landmarks"}),
    "landmarks of words only": exemplars(
        {"n_nodes": 1200, "n_features": 500, **WORDS}, {"exemplar_rule": "landmarks"}, ratio=0.03
    ),
    "herding only": exemplars({"n_nodes": 1000, "n_features": 100}, {"feature_count": 60, "exemplar_rule": "herd"}),
    "no landmarks": exemplars({"n_nodes": 1000, "n_features": 80}, {"landmarks": False}),
    "a small budget": exemplars({"n_nodes": 1000, "n_features": 400, "mean_degree": 4}, ratio=0.0013),
    "no room beside landmarks": exemplars(
        {"n_nodes": 1000, "n_features": 100, "mean_degree": 4}, {"feature_count": 100}, ratio=0.0024
    ),
    "more than are learnt": exemplars(
        {"n_nodes": 600, "n_features": 400, **WORDS}, {"feature_count": 300}, block=600 * 128, most_learnt=200
    ),
    "all that are learnt": exemplars({"n_nodes": 800, "n_features": 200}, ratio=0.3, most_learnt=60),
}
"""What the search for exemplars does differently: grids, pools, folds, containers, blocks, classes."""
