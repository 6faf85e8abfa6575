"""Graphs of the experiments by name."""

from __future__ import annotations

import pytest

from herald_gpu.errors import ConfigError
from herald_gpu.experiments.graphs import load, resolve


@pytest.mark.usefixtures("tiny")
def test_a_graph_of_ones_own_is_known():
    assert resolve("Tiny") == "tiny"
    assert load("tiny").n_nodes == 150
    assert load("tiny").train.sum() == 84  # int(0.7 * 120)


@pytest.mark.usefixtures("tiny")
def test_names_are_those_of_the_catalogue():
    assert resolve("Amazon_Ratings") == "amazon-ratings"
    with pytest.raises(ConfigError):
        resolve("corra")


@pytest.mark.parametrize("name", ["reddit-like", "reddit-like-2", "reddit-like-x", "reddit-like-0."])
def test_a_scale_that_makes_no_sense(name):
    with pytest.raises(ConfigError, match="reddit-like-1"):
        resolve(name)
    with pytest.raises(ConfigError, match="reddit-like-1"):
        load(name)


def test_generated_sizes_and_homophily():
    graph = load("reddit-like-0.01")
    assert (graph.n_nodes, graph.n_features, graph.n_classes) == (2329, 602, 41)
    assert graph.n_edges / graph.n_nodes == pytest.approx(491.99 * 0.1, rel=0.01)
    same = graph.labels[graph.edge_index[0]] == graph.labels[graph.edge_index[1]]
    assert same.mean() == pytest.approx(0.75, abs=0.01)
    assert graph.train.sum() == int(0.7 * int(0.8 * 2329))
