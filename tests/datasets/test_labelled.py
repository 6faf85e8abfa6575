"""Labelled graphs: counts, and every way to say which split."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from herald_gpu.datasets import LabelledGraph, Split, paper_split, random_split
from herald_gpu.errors import ConfigError, InputError

N = 20


def mask(*nodes):
    chosen = np.zeros(N, dtype=bool)
    chosen[list(nodes)] = True
    return chosen


OWN = (Split(mask(0), mask(1), mask(2)), Split(mask(3), mask(4), mask(5)))


@pytest.fixture
def graph():
    edges = np.array([[0, 1, 2], [1, 2, 3]])
    return LabelledGraph("g", edges, np.ones((N, 4), np.float32), np.zeros(N, np.int64), 1, own_splits=OWN)


def masks(graph):
    return graph.train, graph.validation, graph.test


def same(graph, split):
    parts = (split.train, split.validation, split.test)
    return all(np.array_equal(one, other) for one, other in zip(masks(graph), parts, strict=True))


def test_counts(graph):
    assert (graph.n_nodes, graph.n_edges, graph.n_features) == (N, 3, 4)


def test_named_splits_and_seeds(graph):
    assert same(graph.with_split("paper"), paper_split(N))
    assert same(graph.with_split("source"), OWN[0])
    assert same(graph.with_split(OWN[1]), OWN[1])
    assert same(graph.with_split(3), random_split(N, 3))
    assert same(graph.with_split(np.int64(3)), random_split(N, 3))
    assert same(graph.with_split((mask(7), mask(8), mask(9, 10))), Split(mask(7), mask(8), mask(9, 10)))


def test_anything_with_three_masks_is_a_split(graph):
    assert same(graph.with_split(graph.with_split(5)), random_split(N, 5))


def test_a_split_can_be_taken_away_and_the_original_stays(graph):
    split = graph.with_split("paper")
    assert masks(split.with_split(None)) == (None, None, None)
    assert masks(graph) == (None, None, None)
    assert split.edge_index is graph.edge_index
    assert split.features is graph.features


def test_it_cannot_be_changed(graph):
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.train = mask(0)


def test_graphs_are_compared_by_identity(graph):
    assert graph != dataclasses.replace(graph)


@pytest.mark.parametrize("split", ["papers", True, 1.5, (mask(0), mask(1)), object()])
def test_what_is_no_split(graph, split):
    with pytest.raises(ConfigError, match=r"^split=.* is not valid: pass 'paper', 'source'"):
        graph.with_split(split)


def test_no_split_of_its_own(graph):
    with pytest.raises(ConfigError, match="no split comes with g, pass 'paper'"):
        dataclasses.replace(graph, own_splits=()).with_split("source")


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ((mask(0)[:-1], mask(1), mask(2)), r"train has dtype bool and shape \(19,\), pass 20 bools"),
        ((mask(0), np.array([1]), mask(2)), "validation has dtype int64"),
        ((mask(), mask(1), mask(2)), "train marks no node"),
        ((mask(0, 1), mask(1), mask(2, 0)), "2 nodes are in more than one"),
    ],
)
def test_masks_that_do_not_fit(graph, parts, said):
    with pytest.raises(InputError, match=said):
        graph.with_split(parts)
