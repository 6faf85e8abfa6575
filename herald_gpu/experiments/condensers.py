"""Every method of the tables behind one call: a graph and a ratio in, something to train on and its figures out."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from herald_gpu import HeraldConfig, api, baselines, condense
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.budget import graph_bytes
from herald_gpu.errors import ConfigError
from herald_gpu.experiments.provenance import origin
from herald_gpu.experiments.remembering import RememberingBackend
from herald_gpu.io.read import Columns
from herald_gpu.stages.statistics import describe, measure

if TYPE_CHECKING:
    from herald_gpu import CondensedGraph
    from herald_gpu.backend import Backend
    from herald_gpu.baselines import BaselineResult
    from herald_gpu.config import PublishedKind
    from herald_gpu.datasets import LabelledGraph
    from herald_gpu.experiments.cells import Condensation
    from herald_gpu.graph import Graph

KINDS: dict[str, PublishedKind] = {"cora": "citation", "citeseer": "citation", "pubmed": "pubmed"}
"""How the published code counts on a graph; "scaled" on all others."""
FITTED: dict[str, dict[str, Any]] = {
    "gdem": {"features": "fisher", "feature_count": 20},
    "cluster": {"top": 20},
}
"""Methods whose nodes carry floats: with all features not even a node a class fits where the graph's are sparse.
What they have where nothing else is asked for."""
HERALD: dict[str, str] = {"herald": "paper", "herald-default": "default"}
BACKEND = RememberingBackend()
METHODS = (*HERALD, *(name for name in baselines.NAMES), "full")


@dataclass(frozen=True, eq=False)
class Made:
    """A condensed graph to train on.

    Attributes
    ----------
    graph : Trainable or "full"
    graph_as : {"clean", "stored"}
        What the full graph is to be tested as.
    scaled : bool
        Whether the whole graph, where that is trained on, is to be standard-scaled first.
    facts : dict
        Figures of the condensed graph, for the table of results.
    """

    graph: Any
    graph_as: Literal["clean", "stored"]
    scaled: bool
    facts: dict[str, Any] = field(default_factory=dict)


def make(wanted: Condensation, graph: LabelledGraph, changes: dict[str, Any]) -> Made:
    """Condense a graph as a cell asks.

    Parameters
    ----------
    wanted : Condensation
    graph : LabelledGraph
        With a split.
    changes : dict
        Options of the method that differ from its own.

    Raises
    ------
    BudgetError
        If the ratio cannot be kept.
    """
    published = wanted.column == "published"
    graph_as: Literal["clean", "stored"] = "stored" if published else "clean"
    scaled = published and wanted.dataset not in KINDS
    if wanted.method == "full":
        facts = {"storage_ratio": 1.0} | ({} if published else _whole(graph))
        return Made("full", graph_as, scaled, facts | origin())
    if wanted.method in HERALD:
        small, facts = _herald(wanted, graph, changes)
        return Made(small, graph_as, scaled, facts | origin())
    if published and wanted.method != "bonsai":
        msg = f"{wanted.method} has no published accounting of its own: take the column 'true'"
        raise ConfigError(msg)
    # The paper's BONSAI is its authors' port, which has neither of the public code's slips.
    accounting = {"accounting": KINDS.get(wanted.dataset, "scaled")} if published else {}
    options = accounting | (changes or FITTED.get(wanted.method, {}))  # a variant says all that it has
    other = baselines.run(wanted.method, *_given(graph), ratio=wanted.ratio, backend=BACKEND, **options)
    facts = _figures(other, graph)
    if published:
        facts["published_ratio"] = _published_ratio(other, graph)
    return Made(other, graph_as, scaled=False, facts=facts | origin())


def _given(graph: LabelledGraph) -> tuple[Any, ...]:
    return graph.edge_index, graph.features, graph.labels, graph.train


def _herald(
    wanted: Condensation, graph: LabelledGraph, changes: dict[str, Any]
) -> tuple[CondensedGraph, dict[str, Any]]:
    """Run the method itself; its report has all figures."""
    start = time.perf_counter()
    small = condense(*_given(graph), ratio=wanted.ratio, config=_config(wanted, changes), backend=BACKEND)
    seconds, r = time.perf_counter() - start, small.report
    return small, {
        "n_nodes": r.n_nodes,
        "n_edges": r.n_edges,
        "n_features": r.feature_count if r.component_count is None else r.component_count,
        "storage_ratio": r.storage_ratio,
        "published_ratio": r.published_storage_ratio,
        "mean_degree": r.mean_degree,
        "density": r.density,
        "class_entropy": r.class_entropy,
        "feature_variance": r.feature_variance,
        "condense_seconds": seconds,
    }


def _config(wanted: Condensation, changes: dict[str, Any]) -> HeraldConfig:
    if wanted.method == "herald-default":
        return HeraldConfig(**changes)
    if wanted.column == "published":
        return HeraldConfig.published(KINDS.get(wanted.dataset, "scaled"), **changes)
    return HeraldConfig.paper(**changes)


def _clean(graph: LabelledGraph) -> tuple[Backend, Graph]:
    """Give the graph as the stages see it."""
    backend = CpuBackend()
    given = backend.read(*_given(graph), columns=Columns(), unlabelled=-1)
    return backend, api.build_graph(backend, given, HeraldConfig.paper())[0]


def _whole(graph: LabelledGraph) -> dict[str, Any]:
    """Figures of the whole graph, undirected and simple."""
    backend, whole = _clean(graph)
    counts, variance = measure(backend, whole, whole.features, np.arange(whole.n_nodes))
    n, edges = whole.n_nodes, whole.n_edges
    found = describe(counts, float(variance), n_nodes=n, n_edges=edges, full_nodes=n, full_edges=edges)
    return {
        "n_nodes": n,
        "n_edges": edges,
        "n_features": whole.n_features,
        "mean_degree": found.mean_degree,
        "density": found.density,
        "class_entropy": found.class_entropy,
        "feature_variance": found.feature_variance,
    }


def _figures(small: BaselineResult, graph: LabelledGraph) -> dict[str, Any]:
    """Figures of a baseline's graph; those that compare real nodes with the training set only where it has some."""
    n, edges = small.n_nodes, small.n_edges
    facts = {
        "n_nodes": n,
        "n_edges": edges,
        "n_features": small.n_features,
        "storage_ratio": small.storage_ratio,
        "condense_seconds": small.seconds,
        "mean_degree": edges / max(1, n),
        "density": edges / max(1, n * (n - 1)),
    }
    if len(small.node_ids) == n:
        backend, whole = _clean(graph)
        counts, variance = measure(
            backend, whole, whole.features[:, small.feature_positions], np.asarray(small.node_ids)
        )
        found = describe(
            counts, float(variance), n_nodes=n, n_edges=edges, full_nodes=whole.n_nodes, full_edges=whole.n_edges
        )
        facts |= {"class_entropy": found.class_entropy, "feature_variance": found.feature_variance}
    return facts


def _published_ratio(small: BaselineResult, graph: LabelledGraph) -> float:
    """The paper's storage ratio: all features dense, edges of the graph as they are stored."""
    whole = graph_bytes("dense", graph.n_nodes * graph.n_features, graph.n_edges)
    return graph_bytes("dense", small.n_nodes * small.n_features, small.n_edges) / whole
