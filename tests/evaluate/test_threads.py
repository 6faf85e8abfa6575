"""torch's threads: one on small graphs, the caller's on large ones, and the caller's afterwards."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from herald_gpu.datasets import make_graph, paper_split
from herald_gpu.evaluate import Training, evaluate, make_model, threads, train
from herald_gpu.evaluate.full import read_full
from herald_gpu.evaluate.protocol import accuracy, some_nodes
from herald_gpu.evaluate.sparse import place

N = 90


@pytest.fixture(autouse=True)
def _three_threads():
    torch.set_num_threads(3)
    yield
    assert torch.get_num_threads() == 3


@pytest.fixture
def nodes():
    graph = make_graph(N, n_classes=2, n_features=6, homophily=0.8, seed=1)
    full = read_full(graph, paper_split(N))
    model = make_model("GCN", 6, 2, hidden=8)
    operands = model.prepare(place(graph.features.astype(np.float32)), full.adjacency)
    return model, *(some_nodes(operands, full.codes, mask) for mask in (full.train, full.validation))


@pytest.fixture
def seen(nodes, monkeypatch):
    """Count the threads of every pass, in training and outside."""
    model, found = nodes[0], {True: set(), False: set()}
    forward = type(model).forward

    def watched(self, operands):
        found[self.training].add(torch.get_num_threads())
        return forward(self, operands)

    monkeypatch.setattr(type(model), "forward", watched)
    return found


def test_small_graphs_are_worked_on_by_one(nodes, seen):
    model, learn, watch = nodes
    train(model, learn, watch, training=Training(epochs=2, hidden=8))
    assert seen == {True: {1}, False: {1}}


def test_large_graphs_are_worked_on_by_all(nodes, seen, monkeypatch):
    monkeypatch.setattr(threads, "SHARED", threads.multiplications(nodes[0], nodes[1].operands))
    train(*nodes, training=Training(epochs=2, hidden=8))
    assert seen == {True: {3}, False: {3}}


def test_each_phase_has_its_own(seen, monkeypatch):
    """Training on a small graph, tests on a large one."""
    graph = make_graph(N, n_classes=2, n_features=6, homophily=0.8, seed=1)
    full = read_full(graph, paper_split(N))
    model = make_model("GCN", 6, 2, hidden=8)
    features = place(graph.features.astype(np.float32))
    whole = model.prepare(features, full.adjacency)
    part = model.prepare(features[:20], full.adjacency[:20, :20])
    monkeypatch.setattr(threads, "SHARED", threads.multiplications(model, part) + 1)
    learn = some_nodes(part, full.codes[:20], full.train[:20])
    train(model, learn, some_nodes(whole, full.codes, full.validation), training=Training(epochs=2, hidden=8))
    assert seen == {True: {1}, False: {3}}


def test_the_callers_number_is_kept_after_an_error(nodes, monkeypatch):
    model, learn, _ = nodes
    monkeypatch.setattr(type(model), "forward", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        accuracy(model, learn)


def test_accuracies_do_not_depend_on_the_callers_number():
    graph, options = make_graph(N, n_classes=2, n_features=6, seed=1), {"training": Training(epochs=5, hidden=8)}
    options |= {"split": paper_split(N), "seeds": 1, "device": "cpu"}
    three = evaluate(None, graph, **options)
    torch.set_num_threads(1)
    one = evaluate(None, graph, **options)
    torch.set_num_threads(3)
    for name in ("accuracy", "validation", "epoch"):
        assert one[name].tolist() == three[name].tolist()
