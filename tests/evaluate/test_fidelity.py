"""Rankings of settings on the condensed and on the whole graph."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

import herald_gpu
from herald_gpu.datasets import make_graph, paper_split
from herald_gpu.errors import ConfigError
from herald_gpu.evaluate import Training, evaluate, fidelity, search_fidelity

GRID = {"models": ("GCN", "MLP"), "hidden": (8,), "lr": (0.001, 0.1)}
QUICK = {"training": Training(epochs=15), "device": torch.device("cpu")}


@pytest.fixture(scope="module")
def graphs():
    graph, split = make_graph(240, n_classes=3, n_features=12, homophily=0.8, seed=2), paper_split(240)
    return herald_gpu.condense(graph.edge_index, graph.features, graph.labels, split.train, ratio=0.2), graph, split


def test_the_whole_graph_ranks_as_itself(graphs):
    _, graph, split = graphs
    found = search_fidelity("full", graph, split=split, **GRID, **QUICK)
    assert (found.spearman, found.kendall, found.regret) == (1.0, 1.0, 0.0)
    assert found.table["condensed"].tolist() == found.table["full"].tolist()


def test_rows_are_those_of_evaluate(graphs):
    small, graph, split = graphs
    found = search_fidelity(small, graph, split=split, **GRID, **QUICK)
    assert len(found.table) == 4
    one = found.table.iloc[1]
    options = {"split": split, "models": [one["model"]], "device": torch.device("cpu")}
    training = Training(epochs=15, hidden=int(one["hidden"]), lr=float(one["lr"]))
    on_small = evaluate(small, graph, seeds=1, training=training, **options)
    on_full = evaluate(None, graph, seeds=[0, 1], training=training, **options)
    assert one["condensed"] == on_small["validation"].mean()
    assert (one["full"], one["full_again"]) == tuple(on_full["validation"])
    assert one["test"] == on_full["accuracy"][0]
    assert found.seconds > 0 < found.full_seconds
    assert "4 settings: rank correlation" in str(found)


def test_regret_is_what_the_choice_loses(graphs, monkeypatch):
    validation = {("condensed", 0.1): 50.0, ("condensed", 0.2): 90.0, ("condensed", 0.3): 70.0}
    validation |= {("full", 0.1): 95.0, ("full", 0.2): 60.0, ("full", 0.3): 80.0}
    test = {0.1: 93.0, 0.2: 61.0, 0.3: 77.0}

    def told(result, *, seeds, training, **_):
        which = "full" if result is None else "condensed"
        row = {"validation": validation[which, training.lr], "accuracy": test[training.lr], "seconds": 1.0}
        return pd.DataFrame([row] * seeds)

    monkeypatch.setattr(fidelity, "evaluate", told)
    found = search_fidelity(*graphs[:2], models=["GCN"], hidden=[8], lr=[0.1, 0.2, 0.3])
    assert found.regret == 93.0 - 61.0
    assert found.spearman == pytest.approx(-1.0)
    assert found.spearman_limit == pytest.approx(1.0)
    assert (found.seconds, found.full_seconds) == (3.0, 3.0)


def test_a_constant_ranks_nothing():
    table = pd.DataFrame({"one": [1.0, 1.0, 1.0], "other": np.arange(3.0)})
    assert fidelity._correlation(table, "one", "other", "kendall") == 0.0


def test_too_few_settings_are_refused(graphs):
    with pytest.raises(ConfigError, match="make 2 settings: pass at least 3"):
        search_fidelity(*graphs[:2], models=["GCN"], hidden=[8], lr=[0.1, 0.2])
