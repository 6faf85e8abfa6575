"""The models against PyG's layers and against dense formulas."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse
import torch
from torch_geometric.nn import GATConv, GCNConv, GINConv

from herald_gpu.errors import ConfigError, InputError
from herald_gpu.evaluate import VARIANTS, make_model, operators
from herald_gpu.evaluate.names import PAPER_MODELS
from herald_gpu.evaluate.sparse import place

N, F, C, HIDDEN = 40, 12, 4, 16
TIGHT = {"rtol": 1e-5, "atol": 1e-5}
EVERY = list(itertools.product(PAPER_MODELS, VARIANTS))


def edges(seed=0, *, directed=True, loops=True, weighted=False):
    rng = np.random.default_rng(seed)
    dense = (rng.random((N, N)) < 0.08) * (rng.random((N, N)) + 0.5 if weighted else 1.0)
    np.fill_diagonal(dense, (rng.random(N) < 0.2) if loops else 0)
    dense[-1], dense[:, -1] = 0, 0  # one node has no edge at all
    return dense if directed else np.maximum(dense, dense.T)


def features(seed=0):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((N, F)) * (rng.random((N, F)) < 0.5)).astype(np.float32)


def made(name, variant, dense, **options):
    model = make_model(name, F, C, variant=variant, hidden=HIDDEN, seed=3, **options)
    with torch.no_grad():
        for parameter in model.parameters():  # biases too, which start at zero
            if parameter.ndim == 1:
                parameter.uniform_(-0.5, 0.5, generator=torch.Generator().manual_seed(len(parameter)))
    return model, model.prepare(torch.from_numpy(features()), scipy.sparse.csr_array(dense))


def as_pyg(dense):
    index = torch.from_numpy(np.stack(np.nonzero(dense)))
    return index, torch.from_numpy(dense[np.nonzero(dense)].astype(np.float32))


def copy(layer, **values):
    with torch.no_grad():
        for name, value in values.items():
            layer.get_parameter(name.replace("__", ".")).copy_(value)
    return layer


# Against PyG


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("variant", VARIANTS)
def test_gcn_is_pygs(variant, weighted):
    dense = edges(weighted=weighted)
    model, operands = made("GCN", variant, dense)
    one = copy(GCNConv(F, HIDDEN), lin__weight=model.weight1.T, bias=model.bias1)
    two = copy(GCNConv(HIDDEN, C), lin__weight=model.weight2.T, bias=model.bias2)
    index, weight = as_pyg(dense)
    expected = two(one(torch.from_numpy(features()), index, weight).relu(), index, weight)
    torch.testing.assert_close(model.eval()(operands), expected, **TIGHT)


@pytest.mark.parametrize("variant", VARIANTS)
def test_gat_is_pygs(variant):
    dense = edges()
    model, operands = made("GAT", variant, dense)
    heads = 8 if variant == "standard" else 1
    one, two = GATConv(F, HIDDEN // heads, heads=heads), GATConv(HIDDEN, C, heads=1, concat=False)
    layers = ((one, model.weight1, model.attention1, model.bias1), (two, model.weight2, model.attention2, model.bias2))
    for layer, weight, attention, bias in layers:
        copy(layer, lin__weight=weight.T, att_src=attention.source[None], att_dst=attention.target[None], bias=bias)
    index, _ = as_pyg(dense)
    activation = torch.nn.functional.elu if variant == "standard" else torch.relu
    expected = two(activation(one(torch.from_numpy(features()), index)), index)
    torch.testing.assert_close(model.eval()(operands), expected, **TIGHT)


def test_published_gin_is_pygs():
    dense = edges()
    model, operands = made("GIN", "published", dense)
    one, two = GINConv(torch.nn.Linear(F, HIDDEN)), GINConv(torch.nn.Linear(HIDDEN, C))
    copy(one, nn__weight=model.weight1.T, nn__bias=model.bias1)
    copy(two, nn__weight=model.weight2.T, nn__bias=model.bias2)
    with torch.no_grad():
        model.epsilon.zero_()  # drawn above with the biases
    index, _ = as_pyg(dense)
    expected = two(one(torch.from_numpy(features()), index).relu(), index)
    torch.testing.assert_close(model(operands), expected, **TIGHT)


def mlp(inputs, outputs):
    parts = torch.nn.Linear(inputs, HIDDEN), torch.nn.BatchNorm1d(HIDDEN), torch.nn.ReLU()
    return torch.nn.Sequential(*parts, torch.nn.Linear(HIDDEN, outputs))


@pytest.mark.parametrize("training", [False, True])
def test_standard_gin_is_pygs(training):
    dense = edges()
    model, operands = made("GIN", "standard", dense)
    layers = []
    for i, (inputs, outputs) in enumerate([(F, HIDDEN), (HIDDEN, C)], start=1):
        layer = GINConv(mlp(inputs, outputs), train_eps=True).train(training)
        named = {"nn__0__weight": "weight", "nn__3__weight": "inner"}
        copy(layer, **{there: model.get_parameter(f"{here}{i}").T for there, here in named.items()})
        named = {"nn__0__bias": "bias", "nn__3__bias": "inner_bias"}
        copy(layer, **{there: model.get_parameter(f"{here}{i}") for there, here in named.items()})
        norm = model.get_submodule(f"norm{i}.inner")
        copy(layer, nn__1__weight=norm.weight, nn__1__bias=norm.bias, eps=model.epsilon[i - 1])
        layers.append(layer)
    index, _ = as_pyg(dense)
    expected = layers[1](layers[0](torch.from_numpy(features()), index).relu(), index)
    torch.testing.assert_close(model.train(training)(operands), expected, **TIGHT)


# Against dense formulas


@pytest.mark.parametrize("training", [False, True])
def test_standard_h2gcn_keeps_ego_and_hops_apart(training):
    dense = edges(directed=False)
    model, operands = made("H2GCN", "standard", dense)
    near = torch.from_numpy(operators.one_hop(scipy.sparse.csr_array(dense)).toarray().astype(np.float32))
    far = torch.from_numpy(operators.two_hop(scipy.sparse.csr_array(dense)).toarray().astype(np.float32))
    own = (torch.from_numpy(features()) @ model.embed).relu()
    first = torch.cat([near @ own, far @ own], dim=1)
    final = torch.cat([own, first, near @ first, far @ first], dim=1)
    assert final.shape[1] == 7 * HIDDEN
    model.draws = None  # no dropout, in training either
    torch.testing.assert_close(model.train(training)(operands), final @ model.classify, **TIGHT)


@pytest.mark.parametrize("training", [False, True])
def test_published_h2gcn_averages_features_then_embeddings(training):
    dense = edges()
    model, operands = made("H2GCN", "published", dense)
    x = torch.from_numpy(features())
    mean = torch.from_numpy((dense.T / np.maximum(dense.sum(axis=0), 1)[:, None]).astype(np.float32))
    own, near = (x @ model.embed).relu(), (mean @ x @ model.embed_near).relu()
    again = (mean @ own @ model.deepen).relu()
    rounds = [torch.cat([own, part, (part @ model.deepen).relu()], dim=1) for part in (near, again)]
    expected = torch.cat(rounds, dim=1) @ model.classify + model.classify_bias
    model.draws = None  # no dropout, in training either
    torch.testing.assert_close(model.train(training)(operands), expected, **TIGHT)


def test_published_h2gcn_needs_no_two_hop_pairs(monkeypatch):
    monkeypatch.setattr(operators, "two_hop", lambda *_: pytest.fail("two hops were worked out"))
    made("H2GCN", "published", edges())


def test_two_hop_pairs_beyond_the_limit_are_refused(monkeypatch):
    monkeypatch.setattr(operators.two_hop, "__kwdefaults__", {"limit": 10})
    with pytest.raises(InputError, match="two hops apart"):
        made("H2GCN", "standard", edges())


# All of them


@pytest.mark.parametrize(("name", "variant"), EVERY)
def test_sparse_and_dense_features_give_the_same(name, variant):
    model, operands = made(name, variant, edges())
    model.eval()
    given = features() * (np.random.default_rng(1).random((N, F)) < 0.1)
    sparse, dense = place(scipy.sparse.csr_array(given)), torch.from_numpy(given)
    assert type(sparse).__name__ == "SparseMatrix"
    found = model(operands._replace(features=sparse))
    torch.testing.assert_close(found, model(operands._replace(features=dense)), **TIGHT)


@pytest.mark.parametrize(("name", "variant"), EVERY)
def test_every_trained_parameter_gets_a_gradient(name, variant):
    model, operands = made(name, variant, edges(directed=False))
    model.train()(operands).square().sum().backward()
    for key, parameter in model.named_parameters():
        if parameter.requires_grad:
            assert parameter.grad is not None, key
            assert torch.isfinite(parameter.grad).all()
            assert parameter.grad.abs().sum() > 0 or "attention" in key, key
    fixed = [key for key, parameter in model.named_parameters() if not parameter.requires_grad]
    assert fixed == (["epsilon"] if (name, variant) == ("GIN", "published") else [])


@pytest.mark.parametrize(("name", "variant"), EVERY)
def test_dropout_is_drawn_in_training_only(name, variant):
    model, operands = made(name, variant, edges(directed=False))
    drops = name == "H2GCN" or (variant == "standard" and name != "GIN")
    model.train()
    assert torch.equal(model(operands), model(operands)) != drops
    model.eval()
    assert torch.equal(model(operands), model(operands))


@pytest.mark.parametrize(("name", "variant"), EVERY)
def test_a_seed_means_the_same_weights_whatever_torch_drew_before(name, variant):
    states = []
    for noise in (1, 2):
        torch.manual_seed(noise)
        before = torch.get_rng_state()
        states.append(make_model(name, F, C, variant=variant, hidden=HIDDEN, seed=5).state_dict())
        assert torch.equal(torch.get_rng_state(), before)
    for key, value in states[0].items():
        assert torch.equal(value, states[1][key])
    other = make_model(name, F, C, variant=variant, hidden=HIDDEN, seed=6).state_dict()
    assert any(not torch.equal(value, other[key]) for key, value in states[0].items())


def test_unknown_names_are_told():
    with pytest.raises(ConfigError, match=r"model 'ABC' is not known: pass one of GCN, GAT, GIN, H2GCN"):
        make_model("ABC", 3, 2)
    with pytest.raises(ConfigError, match=r"variant='best' is not known: pass one of standard, published"):
        make_model("GCN", 3, 2, variant="best")
    with pytest.raises(ConfigError, match=r"hidden=12 cannot be shared by the 8 heads"):
        make_model("GAT", 3, 2, hidden=12)


def test_operands_of_another_model_are_refused():
    model, operands = made("GAT", "published", edges())
    with pytest.raises(ConfigError, match="prepare"):
        model(operands._replace(operators=(torch.eye(N),)))
