"""What one column of another size does to a condensed graph: the measurement behind the factor of ``scale="auto"``.

Run ``python tools/measure_scale.py``: one column of generated graphs is multiplied (or moved away from 0) by a factor,
and the graph is condensed as it is (``scale="none"``) and with all columns standardized. A row has the best score of a
trial and the accuracy of a GCN on the nodes outside the training set, both in percent, mean of some seeds.
Run it with names of data sets to see how much their columns differ, and whether ``"auto"`` scales them.
"""

from __future__ import annotations

import logging
import sys

import numpy as np

import herald_gpu
from herald_gpu.datasets import load_graph, make_graph
from herald_gpu.datasets.splits import random_split
from herald_gpu.evaluate import Training, evaluate
from herald_gpu.stages import scaling

FACTORS = (1, 3, 10, 30, 100, 1000)
SEEDS = (0, 1, 2)


def changed(features: np.ndarray, column: int, factor: float, how: str) -> np.ndarray:
    """Give one column another size: a larger spread, or a larger distance from 0."""
    x = features.copy()
    x[:, column] = x[:, column] * factor if how == "spread" else x[:, column] + factor * x[:, column].std()
    return x


def measured(column: str, n_features: int, factor: float, how: str, scale: str, seed: int) -> tuple[float, float]:
    """Give the best trial and the accuracy, in percent."""
    graph = make_graph(1500, n_classes=4, n_features=n_features, homophily=0.6, seed=seed)
    spread = [graph.features[graph.labels == code].mean(axis=0) for code in range(4)]
    order = np.argsort(np.std(spread, axis=0))
    place = int(order[-1] if column == "telling" else order[0])
    x, split = changed(graph.features, place, factor, how), random_split(1500, seed)
    small = herald_gpu.condense(
        graph.edge_index, x, graph.labels, split.train, ratio=0.03, scale=scale, backend="cpu", random_state=seed
    )
    best = max(trial["score"] for trial in small.report.trials)
    whole = type("Whole", (), {"edge_index": graph.edge_index, "features": x, "labels": graph.labels})
    rows = evaluate(small, whole, split=split, models="GCN", seeds=1, training=Training(epochs=150), device="cpu")
    return 100 * best, float(rows["accuracy"].mean())


def on_generated_graphs() -> None:
    """Print a table of generated graphs."""
    print(f"{'column':9} {'features':>8} {'change':7} {'scale':9}", *(f"{factor:>12}" for factor in FACTORS))
    for column in ("telling", "silent"):
        for n_features in (20, 100):
            for how, scales in (("spread", ("none", "standard")), ("offset", ("none",))):
                for scale in scales:
                    cells = []
                    for factor in FACTORS:
                        runs = [measured(column, n_features, factor, how, scale, seed) for seed in SEEDS]
                        best, accuracy = np.mean(runs, axis=0)
                        cells.append(f"{best:5.1f} {accuracy:5.1f}")
                    print(f"{column:9} {n_features:8} {how:7} {scale:9}", *(f"{cell:>12}" for cell in cells), flush=True)


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
        print(f"{name:22} {kind:7} {features.shape[1]:6} columns, {int(facts.dense.sum()):5} dense, factor {scaling.size_factor(facts):8.1f}: {scaled} scaled")


if __name__ == "__main__":
    logging.getLogger("herald_gpu").setLevel(logging.ERROR)
    on_data_sets(sys.argv[1:]) if sys.argv[1:] else on_generated_graphs()
