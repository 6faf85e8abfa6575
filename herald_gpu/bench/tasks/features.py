"""Features: multi-hop Fisher beside its sparse products, and their number beside the tree's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from herald_gpu import HeraldConfig
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.bench import graphs, memory
from herald_gpu.bench.clocks import in_turns, median, seconds
from herald_gpu.bench.kernels import fisher_products
from herald_gpu.budget import make_budget
from herald_gpu.experiments.quiet import hushed
from herald_gpu.pipeline import rank_features
from herald_gpu.search import Search
from herald_gpu.stages.feature_budget import count_features
from herald_gpu.stages.features import multihop_fisher
from herald_gpu.stages.heterophily import measure_heterophily

BACKEND = CpuBackend()


def fisher(spec: dict[str, Any], repeats: int) -> dict[str, Any]:
    """Multi-hop Fisher beside its bare sparse products; `grown` is what it takes besides the graph."""
    config = HeraldConfig()
    graph = graphs.load(spec).seen(BACKEND, config)
    h = measure_heterophily(BACKEND, graph).h

    def run() -> None:
        multihop_fisher(BACKEND, graph, h, config)

    run()
    with memory.watched() as span:
        run()
    products = fisher_products(graph, config.hops)
    taken = {name: median(each) for name, each in in_turns({"fisher": run, "products": products}, repeats).items()}
    values = graph.n_nodes * graph.n_features
    return {
        **taken,
        "ratio": taken["fisher"] / taken["products"],
        "sparse": graph.kind != "dense",
        "grown": span.grown,
        "float32_bytes": 4 * values,
        "float64_bytes": 8 * values,
    }


def feature_count(spec: dict[str, Any], ratio: float, repeats: int) -> dict[str, Any]:
    """How many features to keep: the default preset's search, which chooses the nodes as well, and the deep tree.

    `given` is the same search where the number is given: the difference is what finding it takes.
    """
    config = HeraldConfig()
    graph = graphs.load(spec).seen(BACKEND, config)
    hetero = measure_heterophily(BACKEND, graph)
    budget = make_budget(BACKEND, graph, ratio, config)
    ranking = rank_features(BACKEND, graph, hetero.h, config)
    counts: dict[str, int] = {}

    def run(config: HeraldConfig) -> int:
        with BACKEND.stage("exemplars"):
            found = Search(BACKEND, graph, ranking, budget, config, homophily=hetero.homophily, seed=0).run()
        return int(found.columns.shape[0])

    def search() -> None:
        counts["search"] = run(config)

    def given() -> None:
        run(replace(config, feature_count=counts["search"]))

    def tree() -> None:
        counts["tree"] = count_features(BACKEND, graph, HeraldConfig.paper()).count

    with hushed():
        search()  # kernels are compiled, or loaded
        ours = {name: median(each) for name, each in in_turns({"search": search, "given": given}, repeats).items()}
        theirs = seconds(tree)  # minutes on the larger ones: once
    return {
        "rows": int(graph.train.sum()),
        "features": graph.n_features,
        **ours,
        "tree": theirs,
        "ratio": ours["search"] / theirs,
        "count": counts["search"],
        "tree_count": counts["tree"],
    }
