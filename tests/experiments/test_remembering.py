"""A tree on the same rows is grown once."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.experiments import remembering
from herald_gpu.experiments.remembering import RememberingBackend


@pytest.fixture
def rows():
    generator = np.random.default_rng(0)
    return generator.random((60, 5)).astype(np.float32), generator.integers(0, 3, 60)


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix])
def test_the_same_tree(rows, kind):
    x, codes = rows
    backend = RememberingBackend()
    options = {"max_depth": 2, "seed": 0}
    first, again = (backend.tree_features(kind(x), codes, **options) for _ in range(2))
    np.testing.assert_array_equal(first, CpuBackend().tree_features(kind(x), codes, **options))
    np.testing.assert_array_equal(first, again)
    assert backend.grown == 1
    again[:] = -1  # the memory is its own
    assert (backend.tree_features(kind(x), codes, **options) >= 0).all()


@pytest.mark.parametrize("change", ["value", "class", "depth", "seed"])
def test_other_rows_or_constants_are_another_tree(rows, change):
    x, codes = rows
    backend = RememberingBackend()
    options = {"max_depth": 2, "seed": 0}
    backend.tree_features(x, codes, **options)
    x, codes = x.copy(), codes.copy()
    if change == "value":
        x[3, 1] += 1
    elif change == "class":
        codes[3] = (codes[3] + 1) % 3
    else:
        options["max_depth" if change == "depth" else "seed"] += 1
    backend.tree_features(x, codes, **options)
    assert backend.grown == 2


def test_old_trees_are_forgotten(rows, monkeypatch):
    monkeypatch.setattr(remembering, "KEPT", 2)
    backend = RememberingBackend()
    for seed in (0, 1, 2, 0):
        backend.tree_features(*rows, max_depth=2, seed=seed)
    assert backend.grown == 4
