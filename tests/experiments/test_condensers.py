"""Every method of the tables behind one call."""

from __future__ import annotations

import math

import numpy as np
import pytest

from herald_gpu.errors import BudgetError, ConfigError
from herald_gpu.experiments import condensers
from herald_gpu.experiments.cells import Condensation
from herald_gpu.experiments.condensers import make
from herald_gpu.experiments.graphs import load


@pytest.fixture
def graph(tiny):  # noqa: ARG001
    return load("tiny")


METHODS = [("random", "true"), ("herding", "true"), ("kcenter", "true"), ("bonsai", "true"), ("herald", "true")]


@pytest.mark.parametrize(("method", "column"), [*METHODS, ("herald-default", "true")])
def test_true_columns_keep_the_budget(graph, method, column):
    made = make(Condensation("tiny", method, column, 0.3), graph, {})
    facts = made.facts
    assert 0 < facts["storage_ratio"] <= 0.3
    assert (made.graph_as, made.scaled) == ("clean", False)
    assert facts["mean_degree"] == pytest.approx(facts["n_edges"] / facts["n_nodes"])
    assert facts["density"] == pytest.approx(facts["n_edges"] / (facts["n_nodes"] * (facts["n_nodes"] - 1)))
    assert 0 < facts["class_entropy"] <= math.log(3) + 1e-12
    assert facts["condense_seconds"] > 0
    assert facts.get("published_ratio") is None


@pytest.mark.parametrize("method", ["herald", "bonsai"])
def test_published_columns_give_the_papers_ratio(graph, method):
    made = make(Condensation("tiny", method, "published", 0.1), graph, {})
    facts = made.facts
    ours = 4 * (facts["n_nodes"] * facts["n_features"] + facts["n_edges"])
    whole = 4 * (graph.n_nodes * graph.n_features + graph.n_edges)
    assert facts["published_ratio"] == pytest.approx(ours / whole)
    assert made.graph_as == "stored"
    assert made.scaled is (method == "herald")


def test_the_whole_graph(graph):
    made = make(Condensation("tiny", "full"), graph, {})
    counts = np.bincount(graph.labels[graph.train])
    shares = counts / counts.sum()
    assert made.graph == "full"
    assert made.facts["storage_ratio"] == 1
    assert (made.facts["n_nodes"], made.facts["n_edges"]) == (150, graph.n_edges)
    assert made.facts["mean_degree"] == pytest.approx(graph.n_edges / 150)
    assert made.facts["density"] == pytest.approx(graph.n_edges / (150 * 149))
    assert made.facts["class_entropy"] == pytest.approx(-(shares * np.log(shares)).sum())
    ratio = graph.features.var(axis=0) / graph.features[graph.train].var(axis=0)
    assert made.facts["feature_variance"] == pytest.approx(ratio.mean(), rel=1e-5)
    published = make(Condensation("tiny", "full", "published"), graph, {})
    assert (published.graph_as, published.scaled) == ("stored", True)


def test_figures_of_a_baseline_are_those_of_its_nodes(graph):
    made = make(Condensation("tiny", "random", ratio=0.3), graph, {})
    nodes = np.asarray(made.graph.node_ids)
    shares = np.bincount(graph.labels[nodes]) / len(nodes)  # random takes training nodes only
    assert made.facts["class_entropy"] == pytest.approx(-(shares * np.log(shares)).sum())
    ratio = graph.features[nodes].var(axis=0) / graph.features[graph.train].var(axis=0)
    assert made.facts["feature_variance"] == pytest.approx(ratio.mean(), rel=1e-5)


def test_changes_reach_the_method(graph):
    whole = make(Condensation("tiny", "herald", ratio=0.3), graph, {})
    fewer = make(Condensation("tiny", "herald", ratio=0.3, change="x"), graph, {"feature_count": 2})
    assert fewer.facts["n_features"] == 2 != whole.facts["n_features"]


@pytest.mark.parametrize(
    ("dataset", "accounting"), [("cora", "citation"), ("pubmed", "pubmed"), ("squirrel", "scaled"), ("tiny", "scaled")]
)
def test_the_published_accounting_depends_on_the_graph(dataset, accounting):
    assert condensers._config(Condensation(dataset, "herald", "published"), {}).accounting == accounting
    assert condensers._config(Condensation(dataset, "herald", "true"), {}).accounting == "exact"


@pytest.mark.data
@pytest.mark.parametrize(
    ("ratio", "nodes", "storage"), [(0.005, 2911, 13.41), (0.01, 3592, 16.34), (0.03, 3820, 17.25)]
)
def test_bonsai_on_squirrel_is_the_papers(data_dir, monkeypatch, ratio, nodes, storage):
    monkeypatch.setenv("HERALD_DATA", str(data_dir))
    facts = make(Condensation("squirrel", "bonsai", "published", ratio), load("squirrel"), {}).facts
    assert facts["n_features"] == 432
    assert facts["n_nodes"] == pytest.approx(nodes, rel=0.02)
    assert 100 * facts["published_ratio"] == pytest.approx(storage, rel=0.02)


def test_what_cannot_be_kept(graph):
    with pytest.raises(BudgetError) as caught:
        make(Condensation("tiny", "herald", ratio=1e-5), graph, {})
    assert caught.value.smallest_ratio > 1e-5


def test_only_two_methods_have_a_published_column(graph):
    with pytest.raises(ConfigError, match="random has no published accounting"):
        make(Condensation("tiny", "random", "published", 0.1), graph, {})


def test_rows_say_where_they_come_from(graph):
    facts = make(Condensation("tiny", "random", ratio=0.3), graph, {}).facts
    assert {"version", "machine", "libraries"} <= set(facts)
