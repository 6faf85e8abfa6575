"""Baselines on a real graph: inside the budget, with every class, and as large as docs/baselines.md says."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.model_selection import train_test_split

from herald_gpu.baselines import run
from herald_gpu.errors import BudgetError

pytestmark = pytest.mark.data

SIZES = {
    ("random", 0.01): (39, 2),
    ("random", 0.03): (118, 26),
    ("herding", 0.01): (39, 4),
    ("herding", 0.03): (113, 20),
    ("kcenter", 0.01): (62, 6),
    ("kcenter", 0.03): (143, 28),
}
"""Nodes and directed edges with all features; a tree's features may differ between versions of scikit-learn."""


@pytest.fixture(scope="module")
def cora(data_dir):
    data = np.load(data_dir / "cora.npz")
    x = scipy.sparse.csr_matrix((data["x_data"], data["x_indices"], data["x_indptr"]), shape=data["x_shape"])
    n = len(data["y"])
    rest, _ = train_test_split(range(n), test_size=0.2, random_state=42)
    train = np.zeros(n, dtype=bool)
    train[np.random.RandomState(42).choice(rest, int(0.7 * len(rest)), replace=False)] = True
    return data["edge_index"], x, data["y"], train


@pytest.mark.parametrize("ratio", [0.01, 0.03])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("random", {}),
        ("herding", {}),
        ("kcenter", {}),
        ("herding", {"features": "tree", "space": "propagated"}),
        ("bonsai", {}),
        ("bonsai", {"links": "induced"}),
        ("cluster", {"top": 20}),
    ],
)
def test_cora_inside_the_budget(cora, name, options, ratio):
    small = run(name, *cora, ratio=ratio, backend="cpu", **options)
    assert small.full_bytes == 140_656
    assert small.storage_bytes <= ratio * 140_656
    assert set(small.labels[small.train_mask].tolist()) == set(range(7))
    if not options and (name, ratio) in SIZES:
        assert (small.n_nodes, small.n_edges) == SIZES[name, ratio]


@pytest.mark.parametrize(("name", "floor"), [("gdem", 4 * 7 * 7 + 4 * 7 * 1433), ("cluster", 4 * 7 * 1433)])
def test_float_features_do_not_fit_in_a_sparse_graph(cora, name, floor):
    if name == "gdem":
        pytest.importorskip("torch", reason="torch is not installed")
    with pytest.raises(BudgetError) as caught:
        run(name, *cora, ratio=0.03, backend="cpu")
    assert caught.value.smallest_ratio == pytest.approx(floor / 140_656)


def test_public_accounting_keeps_nearly_the_whole_graph(cora):
    small = run("bonsai", *cora, ratio=0.01, backend="cpu", accounting="citation", slips=("patience", "removal"))
    assert small.n_nodes > 2400
    assert small.storage_ratio > 0.4
