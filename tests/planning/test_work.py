"""Planned work against counters of real runs on the CPU: exact where the sizes decide, within a factor elsewhere."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from planning.cases import NEIGHBOURHOODS, Case

import herald_gpu
from herald_gpu import ops
from herald_gpu.backend import _kernels, _linalg
from herald_gpu.backend._neighbours import MARGIN
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.config import HeraldConfig
from herald_gpu.pipeline import STAGES
from herald_gpu.planning import batches, model
from herald_gpu.stages import features, scoring

FACTOR = 2.0
"""Roots, nodes and edges of an expansion are planned within this factor, either way."""
STEPS = 5.0
"""Steps of PageRank are planned from above, within this factor."""

QUICK = {"lid": "sampled", "lid_reference": 64}
"""Few neighbours to compare: here only the expansion matters."""
GROWTHS = {
    "small budget": Case({"n_nodes": 20_000, "n_features": 64}, {**QUICK, "feature_count": 32}, ratio=0.01),
    "large budget": Case({"n_nodes": 20_000, "n_features": 64}, {**QUICK, "feature_count": 32}, ratio=0.1),
    "low degree": Case({"n_nodes": 10_000, "n_features": 64, "mean_degree": 4}, {**QUICK, "feature_count": 32}),
    "high degree": Case(
        {"n_nodes": 5000, "n_features": 300, "mean_degree": 30}, {**QUICK, "feature_count": 64}, ratio=0.02
    ),
    "one hop": Case({"n_nodes": 10_000, "n_features": 64}, {**QUICK, "feature_count": 32, "depth": 1}),
    "words": Case(
        {"n_nodes": 5000, "n_features": 500, "features": "bag_of_words"}, {**QUICK, "feature_count": 400}, ratio=0.02
    ),
}


class Counted(CpuBackend):
    """The CPU backend, remembering what its expansions and its PageRank were asked."""

    def __init__(self):
        self.growths, self.ranked = [], []

    def grow(self, adjacency, roots, prices, **options):
        growth = super().grow(adjacency, roots, prices, **options)
        if options.get("quota") is None:
            self.growths.append((adjacency, growth, options["depth"]))
        return growth

    def pagerank(self, adjacency, restart, **options):
        self.ranked.append((adjacency, restart, options))
        return super().pagerank(adjacency, restart, **options)


@pytest.fixture
def tally(monkeypatch):
    """Give a function that counts, call by call, what a function is given."""

    def watch(home, name, amount):
        counted, real = [], getattr(home, name)

        def call(*args, **options):
            counted.append(int(amount(*args, **options)))
            return real(*args, **options)

        monkeypatch.setattr(home, name, call)
        return counted

    return watch


@pytest.mark.parametrize("name", NEIGHBOURHOODS)
def test_what_sizes_decide_is_counted_exactly(name, tally, monkeypatch):
    case = NEIGHBOURHOODS[name]
    case.cut(monkeypatch)
    hops = tally(_linalg, "multiply", lambda step, block: step.nnz * block.shape[1])
    ends = tally(features, "_steps", lambda _, adjacency, rows, hops: adjacency[rows].nnz if hops else 0)
    scatters = tally(
        features.ClassScatter,
        "of",
        lambda _, table, places=None: (len(table) if places is None else len(places)) * table.shape[1],
    )
    tables = tally(ops, "neighbour_classes", lambda _, adjacency, __, n_classes: adjacency.nnz * n_classes)
    cosines = tally(scoring, "prototype_scores", lambda _, graph, kept, __: np.prod(kept.shape) * graph.n_classes)
    backend = CpuBackend()
    made = case.run(backend, case.build(backend))
    planned = case.plan(feature_count=int(made.feature_indices.shape[0]))
    fisher, scores = planned.stage("features/fisher"), planned.stage("scoring/scores")
    edges, width, n_hops = planned.sizes.edges, planned.sizes.features, case.config.get("hops", 2)
    to_all = max(0, n_hops - 1) * edges * width
    assert sum(hops) == to_all + ends[0] * width
    # What sizes do not decide are the edges of training nodes, which alone are asked after the last hop.
    assert fisher.counts["multiply_adds"] == pytest.approx(to_all + ends[0] * width, rel=0.05)
    assert sum(scatters) == fisher.counts["scattered_values"]
    assert tables == [planned.stage("heterophily").counts["multiply_adds"], scores.counts["table_multiply_adds"]]
    assert sum(cosines) == scores.counts["multiply_adds"]
    assert len(hops) == fisher.batches * n_hops


@pytest.mark.parametrize("name", ["dense", "no hops"])
def test_pairs_of_neighbours_are_counted_exactly(name, tally):
    offered = tally(_kernels, "offer_tile", lambda tile, low, left, *_: tile.size * (1 if low == left else 2))
    exact = tally(_kernels, "dense_distances", lambda _, __, ___, candidates, ____: candidates.size)
    backend = CpuBackend()
    graph = NEIGHBOURHOODS[name].build(backend)
    NEIGHBOURHOODS[name].run(backend, graph)
    counts = NEIGHBOURHOODS[name].plan().stage("scoring/neighbours").counts
    assert sum(offered) == counts["pairs"] == graph.n_nodes**2
    # The device finds one candidate more, the row itself, and drops it by its index.
    assert sum(exact) + graph.n_nodes == counts["exact_distances"] == graph.n_nodes * (10 + MARGIN + 1)


def test_pairs_with_a_sample_of_neighbours(tally):
    case = NEIGHBOURHOODS["a sample of neighbours"]
    offered = tally(_kernels, "offer_rows", lambda tile, *_: tile.size)
    backend = CpuBackend()
    case.run(backend, case.build(backend))
    assert sum(offered) == case.plan().stage("scoring/neighbours").counts["pairs"] == 2000 * 300


@pytest.mark.parametrize("name", ["a tree decides", "words"])
def test_products_of_the_smoothing(name):
    graph = NEIGHBOURHOODS[name].build(CpuBackend())
    around = graph.adjacency[graph.train]
    width = np.diff(graph.features.indptr) if name == "words" else np.full(graph.n_nodes, graph.n_features)
    products = int(width[around.indices].sum())
    planned = NEIGHBOURHOODS[name].plan(config=HeraldConfig.paper()).stage("features/tree").counts["multiply_adds"]
    assert planned == pytest.approx(products, rel=0.05)


@pytest.mark.parametrize("name", GROWTHS)
def test_the_expansion_is_planned_within_a_factor(name):
    case, backend = GROWTHS[name], Counted()
    made = case.run(backend, case.build(backend))
    planned = case.plan()
    considered = followed = 0
    for adjacency, growth, depth in backend.growths:
        degree = np.diff(adjacency.indptr)
        edges = degree if depth == 1 else degree + adjacency @ degree  # of the root, and of its neighbours
        considered += int(growth.considered.sum())
        followed += int(edges[growth.considered].sum())
    counts, member = planned.stage("expansion").counts, made.picked.expansion.member
    inside = backend.growths[0][0][member]
    for found, wanted in (
        (counts["roots_considered"], considered),
        (counts["edges_followed"], followed),
        (planned.sizes.wide.nodes, member.sum()),
        (planned.sizes.wide.edges, inside[:, member].nnz),
        (planned.sizes.wide.reach, inside.nnz),
        (planned.sizes.final.nodes, made.picked.expansion.target_size),
    ):
        assert wanted / FACTOR <= found <= wanted * FACTOR


@pytest.mark.parametrize("name", ["small budget", "high degree"])
def test_steps_of_pagerank_are_planned_from_above(name):
    case, backend = GROWTHS[name], Counted()
    case.run(backend, case.build(backend))
    ((adjacency, restart, options),) = backend.ranked
    rank, steps = np.full(adjacency.shape[0], 1 / adjacency.shape[0]), 0
    spread = 1 / np.asarray(adjacency.sum(axis=1)).ravel()
    change = np.inf
    while change >= options["tol"]:
        moved = 0.15 * restart + 0.85 * (adjacency.T @ (rank * spread))
        change, rank, steps = np.abs(moved - rank).sum(), moved, steps + 1
    counts = case.plan().stage("pruning").counts
    assert steps <= counts["steps"] <= STEPS * steps
    assert counts["multiply_adds"] == counts["steps"] * case.plan().sizes.wide.edges


def test_constants_are_those_of_the_backend():
    """Read as text: the modules themselves need CuPy."""
    folder, found = Path(herald_gpu.__file__).parent / "backend" / "rapids", {}
    for name in ("__init__", "device", "graphs", "indexing", "learning", "neighbours"):
        for node in ast.walk(ast.parse((folder / f"{name}.py").read_text())):
            if not isinstance(node, ast.Assign):
                continue
            target, value = node.targets[0], node.value
            several = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            for one, part in zip(target.elts, value.elts, strict=True) if several else [(target, value)]:
                if isinstance(part, ast.Constant):
                    found[ast.unparse(one).upper()] = part.value
    names = ("SHARE_OF_FREE", "BYTES_PER_REACHED_EDGE", "FIRST_BATCH", "MARGIN", "BINS")
    for name in (*names, "ALL_PAIRS_LIMIT", "CANDIDATES", "FEWEST_ROWS", "BYTES_PER_ROW", "BYTES_PER_VALUE"):
        assert getattr(batches, name) == found[name]


@pytest.mark.parametrize("selection", STAGES)
def test_stages_are_those_of_the_pipeline(selection):
    named = list(dict.fromkeys(name.partition("/")[0] for name in model.ORDER[selection]))
    assert named == ["reading", *(name for name in STAGES[selection] if name != "weights")]
