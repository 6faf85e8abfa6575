"""The paper's numbers, as they are printed."""

from __future__ import annotations

import pytest

from herald_gpu.budget import graph_bytes
from herald_gpu.experiments import paper
from herald_gpu.experiments.ablation import VARIANTS
from herald_gpu.experiments.grids import AXES, HETEROPHILIC, HOMOPHILIC, MODELS, RATIOS

GRAPHS = {
    "roman-empire": (22_662, 65_854, 300),
    "amazon-ratings": (24_492, 186_100, 300),
    "squirrel": (5201, 217_073, 2089),
}
KEPT = {"roman-empire": 300, "amazon-ratings": 300, "squirrel": 432}


def test_accuracies_are_complete():
    table = paper.load("accuracy")
    main = table[table["dataset"] != "reddit"]
    assert set(main["dataset"]) == {*HOMOPHILIC, *HETEROPHILIC}
    sizes = main.groupby("dataset").size()
    assert set(sizes) == {len(MODELS) * (1 + 5 * len(RATIOS))}
    reddit = table[table["dataset"] == "reddit"]
    assert len(reddit) == len(MODELS) * (1 + 4 * len(RATIOS))
    assert "gdem" not in set(reddit["method"])
    assert not table.duplicated(["dataset", "method", "ratio", "model"]).any()
    assert table["mean"].between(0, 100).all()
    assert (table["std"] >= 0).all()
    assert set(table[table["method"] == "full"]["ratio"]) == {1.0}


def test_statistics_follow_from_the_storage_formula():
    table = paper.load("statistics")
    small = table[table["method"] != "full"]
    assert len(small) == 3 * 2 * len(RATIOS)
    for _, row in small.iterrows():
        n, edges, features = GRAPHS[row["dataset"]]
        ours = graph_bytes("dense", row["n_nodes"] * KEPT[row["dataset"]], 2 * row["n_edges"])
        assert 100 * ours / graph_bytes("dense", n * features, edges) == pytest.approx(
            row["storage_percent"], abs=0.006
        )
        assert 2 * row["n_edges"] / row["n_nodes"] == pytest.approx(row["mean_degree"], abs=0.006)


def test_a_known_row():
    table = paper.load("statistics")
    row = table[(table["dataset"] == "squirrel") & (table["method"] == "herald") & (table["ratio"] == 0.005)].iloc[0]
    assert (row["n_nodes"], row["n_edges"], row["storage_percent"]) == (3643, 129_755, 16.54)


def test_ablation():
    table, structure = paper.load("ablation"), paper.load("ablation_structure")
    assert len(table) == 2 * len(VARIANTS) * 2
    assert len(structure) == 2 * len(VARIANTS)
    assert set(table["variant"]) == set(structure["variant"]) == set(VARIANTS)
    row = structure[(structure["dataset"] == "squirrel") & (structure["variant"] == "A")].iloc[0]
    assert (row["n_nodes"], row["n_edges_directed"], row["storage_percent"]) == (3643, 2 * 129_755, 16.54)


def test_sensitivity():
    table = paper.load("sensitivity")
    assert len(table) == len(AXES) * 3 * 2
    assert set(table["parameter"]) == set(AXES)
    assert (table["swing"] >= 0).all()


def test_all_tables_are_listed():
    assert all(len(paper.load(name)) for name in paper.TABLES)
