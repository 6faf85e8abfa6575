"""Training: what it reads, what it keeps, and that it repeats."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import scipy.sparse
import torch

from herald_gpu.datasets import make_graph
from herald_gpu.errors import ConfigError, InputError
from herald_gpu.evaluate import MODELS, Training, make_model, train
from herald_gpu.evaluate.protocol import Nodes, accuracy, some_nodes

SHORT = Training(epochs=25, lr=0.01, hidden=16)


@pytest.fixture(scope="module")
def graph():
    return make_graph(150, n_classes=3, n_features=10, homophily=0.7, seed=2)


def prepared(graph, name, seed=0, variant="published"):
    model = make_model(name, 10, 3, variant=variant, hidden=16, seed=seed)
    ones = np.ones(graph.n_edges)
    adjacency = scipy.sparse.csr_array((ones, tuple(graph.edge_index)), shape=(150, 150))
    operands = model.prepare(torch.from_numpy(graph.features), adjacency)
    masks = np.arange(150) % 3
    return model, *(some_nodes(operands, graph.labels, masks == part) for part in range(3))


def test_only_labels_of_the_mask_are_taken(graph):
    _, learn, watch, _ = prepared(graph, "GCN")
    assert learn.rows.tolist() == list(range(0, 150, 3))
    assert learn.codes.tolist() == graph.labels[::3].tolist()
    assert watch.codes.tolist() == graph.labels[1::3].tolist()


@pytest.mark.parametrize("name", MODELS)
def test_runs_repeat_bit_for_bit_and_leave_torch_alone(graph, name):
    outcomes = []
    for noise in (1, 2):
        torch.manual_seed(noise)
        before = torch.get_rng_state()
        model, learn, watch, _ = prepared(graph, name, variant="standard")
        outcomes.append((train(model, learn, watch, training=SHORT), model.state_dict()))
        assert torch.equal(torch.get_rng_state(), before)
    assert outcomes[0][0] == outcomes[1][0]
    for key, value in outcomes[0][1].items():
        assert torch.equal(value, outcomes[1][1][key])


def test_steps_are_those_of_adam_on_the_cross_entropy(graph):
    model, learn, watch, _ = prepared(graph, "GCN")
    twin = copy.deepcopy(model)
    optimiser = torch.optim.Adam(twin.parameters(), lr=0.01, weight_decay=0.1)
    for _ in range(4):
        optimiser.zero_grad()
        scores = torch.log_softmax(twin(learn.operands)[learn.rows], dim=1)
        (-scores[torch.arange(50), learn.codes].mean()).backward()
        optimiser.step()
    training = Training(epochs=4, lr=0.01, weight_decay=0.1, best_validation=False)
    assert train(model, learn, watch, training=training).epoch == 4
    for one, other in zip(model.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(one, other)


def test_the_best_validation_weights_are_kept(graph):
    model, learn, watch, _ = prepared(graph, "GIN")
    best = train(model, learn, watch, training=SHORT)
    seen = []
    for epochs in range(1, SHORT.epochs + 1):
        again, *_ = prepared(graph, "GIN")
        last = Training(epochs=epochs, lr=0.01, hidden=16, best_validation=False)
        seen.append(train(again, learn, watch, training=last).validation)
    assert best.validation == max(seen)
    assert best.epoch == 1 + seen.index(max(seen))
    assert accuracy(model, watch) == best.validation
    assert not model.training


def test_epochs_between_looks(graph):
    model, learn, watch, _ = prepared(graph, "GIN")
    kept = train(model, learn, watch, training=Training(epochs=25, lr=0.01, eval_every=10)).epoch
    assert kept in {10, 20, 25}


def test_validation_labels_choose_weights_and_no_more(graph):
    outcomes = []
    for shift in (0, 1):
        model, learn, watch, judge = prepared(graph, "GCN")
        wrong = Nodes(watch.operands, watch.rows, (watch.codes + shift) % 3)
        train(model, learn, wrong, training=Training(epochs=25, lr=0.01, best_validation=False))
        outcomes.append(model(judge.operands))
    assert torch.equal(*outcomes)


def test_accuracy_by_hand(graph):
    model, _, watch, _ = prepared(graph, "GCN")
    guessed = model(watch.operands).argmax(dim=1).numpy()
    assert accuracy(model, watch) == np.mean(guessed[1::3] == graph.labels[1::3])


def test_no_validation_nodes(graph):
    model, learn, watch, _ = prepared(graph, "GCN")
    none = Nodes(watch.operands, watch.rows[:0], watch.codes[:0])
    with pytest.raises(InputError, match=r"validation marks no node.*best_validation=False"):
        train(model, learn, none, training=SHORT)
    done = train(model, learn, none, training=Training(epochs=2, best_validation=False))
    assert np.isnan(done.validation)


def test_defaults_are_the_papers():
    assert Training() == Training(
        epochs=200, lr=1e-3, weight_decay=5e-4, hidden=128, best_validation=True, eval_every=1
    )


@pytest.mark.parametrize(
    ("option", "value", "wanted"),
    [
        ("epochs", 0, "an integer >= 1"),
        ("epochs", 1.5, "an integer >= 1"),
        ("hidden", True, "an integer >= 1"),
        ("eval_every", -1, "an integer >= 1"),
        ("lr", -0.1, "a number >= 0"),
        ("lr", float("nan"), "a number >= 0"),
        ("weight_decay", "0", "a number >= 0"),
        ("best_validation", 1, "True or False"),
    ],
)
def test_bad_options_are_told(option, value, wanted):
    with pytest.raises(ConfigError, match=f"^{option}=.* is not valid: pass {wanted}$"):
        Training(**{option: value})
