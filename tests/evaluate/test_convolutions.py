"""Networks built from PyG's layers: each against the layers themselves, and what all of them promise."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import torch
from torch.nn import functional
from torch_geometric import nn as pyg

from herald_gpu.errors import ConfigError
from herald_gpu.evaluate import MODELS, Training, make_model, train
from herald_gpu.evaluate.convolutions import CONVOLUTIONS, RESTART, STEPS
from herald_gpu.evaluate.names import OTHER_MODELS, PAPER_MODELS
from herald_gpu.evaluate.protocol import some_nodes
from herald_gpu.evaluate.sparse import place
from herald_gpu.evaluate.threads import multiplications

N, F, C, HIDDEN = 30, 10, 3, 16
CLOSE = {"rtol": 1e-4, "atol": 1e-5}


def adjacency(seed=0):
    rng = np.random.default_rng(seed)
    dense = np.triu(rng.random((N, N)) < 0.15, 1)
    dense[:, -1] = False  # one node has no edge
    return scipy.sparse.csr_array((dense | dense.T).astype(np.float64))


def features(seed=0):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((N, F)) * (rng.random((N, F)) < 0.5)).astype(np.float32)


def few_features():
    return features() * (features() > 1.5)


def made(name, *, sparse=False, seed=3):
    model = make_model(name, F, C, hidden=HIDDEN, seed=seed)
    x = place(scipy.sparse.csr_array(few_features()), "cpu") if sparse else torch.from_numpy(features())
    return model.eval(), model.prepare(x, adjacency())


def edge_index(*, loops=False):
    a = adjacency() + (scipy.sparse.eye_array(N) if loops else 0)
    return torch.from_numpy(np.stack(a.nonzero())).long()


def same_weights(layer, own):
    layer.load_state_dict(own.state_dict())
    return layer.eval()


def test_every_network_has_its_name():
    assert tuple(MODELS) == PAPER_MODELS + OTHER_MODELS
    assert all(network.__name__ == name for name, network in CONVOLUTIONS.items())


@pytest.mark.parametrize(
    ("name", "layer", "options"),
    [
        ("SAGE", pyg.SAGEConv, {}),
        ("GraphConv", pyg.GraphConv, {}),
        ("TAG", pyg.TAGConv, {"normalize": True}),
    ],
)
def test_two_layers_are_pygs(name, layer, options):
    model, operands = made(name)
    first = same_weights(layer(F, HIDDEN, **options), model.first)
    last = same_weights(layer(HIDDEN, C, **options), model.last)
    x, ends = torch.from_numpy(features()), edge_index()
    torch.testing.assert_close(model(operands), last(first(x, ends).relu(), ends), **CLOSE)


def test_attention_is_pygs():
    model, operands = made("GATv2")
    first = same_weights(pyg.GATv2Conv(F, HIDDEN // 8, heads=8), model.first)
    last = same_weights(pyg.GATv2Conv(HIDDEN, C), model.last)
    x, ends = torch.from_numpy(features()), edge_index()
    torch.testing.assert_close(model(operands), last(functional.elu(first(x, ends)), ends), **CLOSE)


def test_spreading_is_pygs():
    model, operands = made("APPNP")
    x, ends = torch.from_numpy(features()), edge_index()
    expected = pyg.APPNP(STEPS, RESTART)(model.last(model.first(x).relu()), ends)
    torch.testing.assert_close(model(operands), expected, **CLOSE)


def test_mixed_features_are_pygs():
    model, operands = made("SGC")
    layer = pyg.SGConv(F, C, K=2)
    layer.lin.load_state_dict(model.last.state_dict())
    torch.testing.assert_close(model(operands), layer(torch.from_numpy(features()), edge_index()), **CLOSE)


def test_rounds_are_pygs():
    model, operands = made("JKNet")
    hidden, seen, ends = torch.from_numpy(features()), [], edge_index()
    for own, width in zip(model.rounds, (F, HIDDEN, HIDDEN), strict=True):
        hidden = same_weights(pyg.GCNConv(width, HIDDEN), own)(hidden, ends).relu()
        seen.append(hidden)
    torch.testing.assert_close(model(operands), model.last(torch.cat(seen, dim=1)), **CLOSE)


def test_residual_rounds_are_pygs():
    model, operands = made("GCNII")
    ends = edge_index()
    start = hidden = model.first(torch.from_numpy(features())).relu()
    for number, own in enumerate(model.rounds, start=1):
        hidden = same_weights(pyg.GCN2Conv(HIDDEN, 0.1, theta=0.5, layer=number), own)(hidden, start, ends).relu()
    torch.testing.assert_close(model(operands), model.last(hidden), **CLOSE)


def test_signed_rounds_are_pygs():
    model, operands = made("FAGCN")
    ends = edge_index()
    start = hidden = model.first(torch.from_numpy(features())).relu()
    for own in model.rounds:
        hidden = same_weights(pyg.FAConv(HIDDEN, eps=0.3), own)(hidden, start, ends)
    torch.testing.assert_close(model(operands), model.last(hidden), **CLOSE)


def test_a_network_without_messages_does_not_see_edges():
    model, operands = made("MLP")
    assert operands.operators == ()
    alone = model.prepare(torch.from_numpy(features()), scipy.sparse.csr_array((N, N)))
    torch.testing.assert_close(model(operands), model(alone))


@pytest.mark.parametrize("name", OTHER_MODELS)
def test_what_every_network_promises(name):
    model, operands = made(name)
    assert model(operands).shape == (N, C)
    state = torch.random.get_rng_state()
    again, _ = made(name)
    assert torch.equal(torch.random.get_rng_state(), state)
    for one, other in zip(model.parameters(), again.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)
    other, _ = made(name, seed=4)
    assert any(not torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters(), strict=True))
    assert multiplications(model, operands) <= HIDDEN * (N * F + 3 * (edge_index().shape[1] + N))
    with pytest.raises(ConfigError, match="variant='published' has no"):
        make_model(name, F, C, variant="published", hidden=HIDDEN)


@pytest.mark.parametrize("name", OTHER_MODELS)
def test_sparse_features_are_the_same_features(name):
    model, operands = made(name, sparse=True)
    dense = model.prepare(torch.from_numpy(few_features()), adjacency())
    torch.testing.assert_close(model(operands), model(dense), **CLOSE)


@pytest.mark.parametrize("name", OTHER_MODELS)
def test_training_learns_and_repeats(name):
    codes = np.arange(N) % C
    x = torch.from_numpy((np.eye(C)[codes] @ np.ones((C, F)) + 3 * np.eye(F)[codes]).astype(np.float32))
    found = []
    for _ in range(2):
        model = make_model(name, F, C, hidden=HIDDEN, seed=1)
        operands = model.prepare(x, scipy.sparse.csr_array(np.kron(np.eye(1), (codes[:, None] == codes))))
        everybody = some_nodes(operands, codes, np.ones(N, dtype=bool))
        found.append(train(model, everybody, everybody, training=Training(lr=0.05, epochs=60)).validation)
        scores = model(operands)
        found.append(scores)
    assert found[0] == found[2] == 1.0
    torch.testing.assert_close(found[1], found[3], rtol=0, atol=0)


def test_heads_share_hidden_units():
    with pytest.raises(ConfigError, match="hidden=12 cannot be shared by the 8 heads of GATv2"):
        make_model("GATv2", F, C, hidden=12)
