"""What one column of another size does to a condensed graph: the measurement behind the factor of ``scale="auto"``.

Run ``python tools/measure_scale.py``: generated nodes have some shares, between 0 and 1, that tell of the class, and
one positive column such as an income, whose spread is a factor times that of a share. The graph is condensed as it is
(``scale="none"``) and with all columns standardized. Every cell has the best score of a trial and the accuracy of a GCN
on nodes outside the training set, both in percent, mean of three graphs. With names of data sets it prints how much
their columns differ, and how many ``"auto"`` scales.
"""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

import numpy as np

import herald_gpu
from herald_gpu.datasets import load_graph, make_graph
from herald_gpu.datasets.splits import random_split
from herald_gpu.evaluate import Training, evaluate
from herald_gpu.stages import scaling

if TYPE_CHECKING:
    from herald_gpu.config import Scale

FACTORS = (1, 3, 10, 30, 100, 1000, 100_000)
SCALES: tuple[Scale, ...] = ("none", "standard")
SEEDS = (0, 1, 2)
NODES, CLASSES = 1500, 4


def measured(n_shares: int, factor: float, scale: Scale, seed: int, *, telling: bool) -> tuple[float, float]:
    """Give the best trial and the accuracy, in percent."""
    graph = make_graph(NODES, n_classes=CLASSES, n_features=n_shares, homophily=0.6, class_imbalance=0.2, seed=seed)
    shares, rng = 1 / (1 + np.exp(-np.asarray(graph.features))), np.random.default_rng(seed)
    income = np.exp(rng.normal(size=NODES) + (graph.labels / 2 if telling else 0))
    income *= factor * shares.std(axis=0).mean() / income.std()
    x, split = np.column_stack([shares, income]).astype(np.float32), random_split(NODES, seed)
    small = herald_gpu.condense(
        graph.edge_index, x, graph.labels, split.train, ratio=0.05, scale=scale, backend="cpu", random_state=seed
    )
    best = max(trial["score"] for trial in small.report.trials)
    whole = type("Whole", (), {"edge_index": graph.edge_index, "features": x, "labels": graph.labels})
    rows = evaluate(small, whole, split=split, models="GCN", seeds=1, training=Training(epochs=150), device="cpu")
    return 100 * best, float(rows["accuracy"].mean())


def tell(*words: str) -> None:
    """Write a line at once."""
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


def on_generated_graphs() -> None:
    """Print a table of generated graphs."""
    tell(f"{'shares':>6} {'income':7} {'scale':9}", *(f"{factor:>12,}" for factor in FACTORS))
    for n_shares in (7, 20, 60):
        for telling in (False, True):
            for scale in SCALES:
                cells = []
                for factor in FACTORS:
                    runs = [measured(n_shares, factor, scale, seed, telling=telling) for seed in SEEDS]
                    best, accuracy = np.mean(runs, axis=0)
                    cells.append(f"{best:5.1f} {accuracy:5.1f}")
                name = "tells" if telling else "noise"
                tell(f"{n_shares:6} {name:7} {scale:9}", *(f"{cell:>12}" for cell in cells))


def on_data_sets(names: list[str]) -> None:
    """Print how much the columns of data sets differ."""
    from herald_gpu.backend import get_backend
    from herald_gpu.graph import clean_features

    backend = get_backend("cpu")
    for name in names:
        features, kind = clean_features(backend, load_graph(name).features)
        facts = scaling.column_facts(backend, features)
        plan = None if kind == "binary" else scaling.plan_scaling(facts, "auto")
        scaled = 0 if plan is None else plan.n_scaled
        dense, factor = int(facts.dense.sum()), scaling.size_factor(facts)
        tell(
            f"{name:22} {kind:7} {features.shape[1]:6} columns, {dense:5} dense, factor {factor:6.1f}: {scaled} scaled"
        )


if __name__ == "__main__":
    logging.getLogger("herald_gpu").setLevel(logging.ERROR)
    on_data_sets(sys.argv[1:]) if sys.argv[1:] else on_generated_graphs()
