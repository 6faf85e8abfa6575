"""H2GCN: classifying before averaging gives what averaging before classifying gives."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import torch

from herald_gpu.evaluate import make_model


@pytest.mark.parametrize("density", [0.02, 0.3])
def test_both_ways_agree(density):
    rng = np.random.default_rng(0)
    dense = np.triu(rng.random((60, 60)) < density, k=1).astype(float)
    model = make_model("H2GCN", 9, 4, hidden=12, seed=1)
    features = torch.from_numpy(rng.standard_normal((60, 9)).astype(np.float32))
    operands = model.prepare(features, scipy.sparse.csr_array(dense + dense.T))
    model.draws = None
    torch.testing.assert_close(model.eval()(operands), model.train()(operands), rtol=1e-5, atol=1e-5)


def test_a_graph_without_edges_leaves_the_ego():
    model = make_model("H2GCN", 3, 2, hidden=4).eval()
    features = torch.rand(5, 3, generator=torch.Generator().manual_seed(0))
    scores = model(model.prepare(features, scipy.sparse.csr_array((5, 5))))
    torch.testing.assert_close(scores, (features @ model.embed).relu() @ model.classify[:4])
