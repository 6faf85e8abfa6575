"""Parts of the models."""

from __future__ import annotations

import numpy as np
import scipy.sparse
import torch

from herald_gpu.evaluate.layers import Attention, Normalisation, dropout, glorot, linear, project
from herald_gpu.evaluate.sparse import SparseMatrix


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_dropout_keeps_the_mean_and_drops_its_share():
    kept = dropout(torch.ones(100_000), 0.6, generator())
    assert set(kept.unique().tolist()) == {0.0, torch.tensor(2.5).item()}
    assert abs((kept == 0).float().mean() - 0.6) < 0.01


def test_without_a_generator_nothing_is_dropped():
    values = torch.rand(5)
    assert dropout(values, 0.5, None) is values


def test_sparse_and_dense_features_project_alike():
    dense = np.random.default_rng(0).random((6, 4)).astype(np.float32) * (np.arange(24).reshape(6, 4) % 3 == 0)
    weight = torch.rand(4, 3, generator=generator())
    made = project(SparseMatrix(scipy.sparse.csr_array(dense)), weight, 0.5, None)
    torch.testing.assert_close(made, project(torch.from_numpy(dense), weight, 0.5, None))


def test_sparse_features_are_dropped_entry_by_entry():
    eye = SparseMatrix(scipy.sparse.eye_array(2000, format="csr"))
    made = project(eye, torch.ones(2000, 1), 0.5, generator())
    assert set(made.unique().tolist()) == {0.0, 2.0}


def test_bounds_of_first_weights():
    assert glorot(100, 50, generator=generator()).abs().max() <= np.sqrt(6 / 150)
    weight, bias = linear(100, 50, generator())
    assert 0.09 < weight.abs().max() <= 0.1
    assert 0 < bias.abs().max() <= 0.1


def dense_attention(weights, hidden, source, target):
    """Attention of one head by its definition, on a dense matrix of edge weights."""
    logits = torch.nn.functional.leaky_relu((hidden @ source)[None, :] + (hidden @ target)[:, None], 0.2)
    weighed = weights * torch.exp(logits)
    return weighed / weighed.abs().sum(dim=1, keepdim=True)


def test_attention_is_a_weighted_softmax_over_what_is_heard():
    rng = np.random.default_rng(0)
    weights = (rng.random((8, 8)) < 0.4) * rng.choice([1.0, 2.0, 0.5, -1.0], (8, 8)) + np.eye(8) * 3
    hidden = torch.from_numpy(rng.standard_normal((8, 6)).astype(np.float32))
    layer = Attention(2, 3, share=0.6, generator=generator())
    made = layer(SparseMatrix(scipy.sparse.csr_array(weights)), hidden, None)
    edges = torch.from_numpy(weights.astype(np.float32))
    for head, part in enumerate(hidden.split(3, dim=1)):
        shares = dense_attention(edges, part, layer.source[head], layer.target[head])
        torch.testing.assert_close(made[:, 3 * head : 3 * head + 3], shares @ part)


def test_attention_bears_large_scores():
    layer = Attention(1, 1, share=0, generator=generator())
    pairs = SparseMatrix(scipy.sparse.csr_array(np.ones((3, 3))))
    assert torch.isfinite(layer(pairs, torch.tensor([[1e4], [-1e4], [0.0]]), None)).all()


def test_attention_is_dropped_in_training():
    layer = Attention(1, 1, share=0.6, generator=generator())
    pairs = SparseMatrix(scipy.sparse.eye_array(1000, format="csr"))
    made = layer(pairs, torch.ones(1000, 1), generator())
    assert set(made.unique().tolist()) == {0.0, torch.tensor(2.5).item()}


def test_normalisation_of_one_row():
    layer = Normalisation(3)
    assert layer(torch.ones(1, 3)).tolist() == [[1, 1, 1]]
    assert abs(layer(torch.rand(50, 3, generator=generator())).mean()) < 1e-5
