"""The experiments as they are declared, and parts of them."""

from __future__ import annotations

import pytest

from herald_gpu import HeraldConfig
from herald_gpu.errors import ConfigError
from herald_gpu.experiments.condensers import METHODS
from herald_gpu.experiments.grids import ABLATION, GRIDS, Grid, sweep

GRID = Grid(
    "small",
    "",
    ("cora", "actor"),
    (("full", "true"), ("random", "true"), ("herald", "true"), ("herald", "published")),
    ratios=(0.01, 0.03),
    models=("GCN", "GAT"),
    seeds=3,
    changes={"A": {}, "A4": {"node_ranking": "random"}},
)


def chosen(grid=GRID, **narrowed):
    return list(grid.groups(**narrowed))


def test_the_whole_grid():
    groups = chosen()
    # a graph: the whole, two ratios of random, and for each column of herald two ratios of two changes
    assert len(groups) == 2 * (1 + 2 + 2 * 2 * 2)
    assert all(len(cells) == 2 * 3 for _, cells in groups)
    keys = [cell.key for _, cells in groups for cell in cells]
    assert len(set(keys)) == len(keys) == 22 * 6
    assert {of.ratio for of, _ in groups if of.method == "full"} == {1.0}
    assert {of.change for of, _ in groups if of.method == "random"} == {""}


def test_narrowing():
    ((of, cells),) = chosen(
        datasets=["pubmed"],
        methods=["herald"],
        columns=["published"],
        ratios=[0.2],
        models=["GAT"],
        changes=["A4"],
        seeds=1,
    )
    assert (of.dataset, of.method, of.column, of.ratio, of.change) == ("pubmed", "herald", "published", 0.2, "A4")
    assert [(cell.model, cell.variant, cell.seed) for cell in cells] == [("GAT", "published", 0)]


def test_without_models_a_condensed_graph_is_one_cell():
    described = Grid("described", "", ("cora",), (("herald", "true"),), models=())
    assert [[cell.model for cell in cells] for _, cells in chosen(described)] == [[""]] * 4


@pytest.mark.parametrize(
    ("narrowed", "said"),
    [
        ({"methods": ["bonsai"]}, "methods: bonsai .* full, random, herald"),
        ({"models": ["GCN", "SAGE"]}, "models: SAGE .* GCN, GAT"),
        ({"columns": ["both"]}, "columns: both .* true, published"),
        ({"changes": ["A9"]}, "changes: A9 .* A, A4"),
        ({"ratios": [0.01, 0.0]}, r"ratios: 0\.0 is not in"),
        ({"ratios": [1.5]}, r"ratios: 1\.5 is not in"),
        ({"seeds": 0}, "seeds=0"),
    ],
)
def test_what_is_not_there_is_named(narrowed, said):
    with pytest.raises(ConfigError, match=said):
        chosen(**narrowed)


def test_models_where_there_are_none():
    with pytest.raises(ConfigError, match="it has none"):
        chosen(GRIDS["statistics"], models=["GCN"])


@pytest.mark.parametrize("changes", [*ABLATION.values(), *sweep().values()])
def test_changes_are_options_of_the_method(changes):
    assert HeraldConfig.paper(**changes).accounting == "exact"
    assert HeraldConfig.published("scaled", **changes).accounting == "scaled"


def test_the_sweeps_differ_in_one_constant():
    made = sweep()
    assert made["depth=3"] == {"depth": 3}
    assert made["steepness=12"] == {"steepness": 12.0}
    assert made["alpha0=0.2"] == {"base_weights": (0.2, 0.4, 0.2)}
    assert len(made) == 5 + 4 + 6 + 5
    assert HeraldConfig.paper(**made["alpha0=0.4"]) == HeraldConfig.paper(**made["depth=2"]) == HeraldConfig.paper()


@pytest.mark.parametrize("name", list(GRIDS))
def test_every_experiment_has_known_methods_and_distinct_cells(name):
    assert GRIDS[name].name == name
    assert {method for method, _ in GRIDS[name].methods} <= set(METHODS)
    keys = [cell.key for _, cells in chosen(GRIDS[name]) for cell in cells]
    assert len(set(keys)) == len(keys)
