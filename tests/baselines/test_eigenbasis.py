"""The training of GDEM: its losses against their definitions, and what it reaches."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import torch

from herald_gpu.baselines.eigenbasis import Wanted, _losses, class_features, match
from herald_gpu.baselines.gdem import GdemOptions

CODES = np.array([0, 0, 1, 1, 1], dtype=np.int32)


def unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(5, 4)))[0]
    wanted = Wanted(np.array([0.0, 0.2, 0.5, 1.3]), unit(rng.normal(size=(4, 6))), unit(rng.normal(size=(2, 6))))
    return basis, rng.normal(size=(5, 6)), wanted


def test_losses_are_mean_squared_errors_of_the_matrices_they_stand_for(problem):
    basis, x, wanted = problem
    u = basis + 0.1
    means = np.array([[0.5, 0.5, 0, 0, 0], [0, 0, 1 / 3, 1 / 3, 1 / 3]])
    projected = unit(u.T @ x)
    outer = [np.outer(a, a) - np.outer(b, b) for a, b in zip(projected, wanted.projected, strict=True)]
    filtered = unit(means @ u @ np.diag(1 - wanted.values) @ u.T @ x)
    expected = (
        np.mean(np.square(outer)),
        np.mean((wanted.classes @ filtered.T - np.eye(2)) ** 2),
        np.mean((u.T @ u - np.eye(4)) ** 2),
    )
    given = (torch.as_tensor(part) for part in (u, x, wanted.values, wanted.projected, wanted.classes, means))
    np.testing.assert_allclose([float(loss) for loss in _losses(torch, *given)], expected, rtol=1e-9)


def test_matching_does_not_depend_on_the_sign_of_eigenvectors(problem):
    basis, x, wanted = problem
    turned = Wanted(wanted.values, -wanted.projected, wanted.classes)
    first = match(basis, x, CODES, wanted, GdemOptions(epochs=0))[2]
    assert first["matching"] == match(basis, x, CODES, turned, GdemOptions(epochs=0))[2]["matching"]


def test_training_lowers_the_losses_and_keeps_the_basis_orthonormal(problem):
    basis, x, wanted = problem
    options = GdemOptions(epochs=600, feature_rate=0.01, beta=0.01)
    trained, _, losses = match(basis, x, CODES, wanted, options)
    assert losses["matching"][1] < 0.5 * losses["matching"][0]
    np.testing.assert_allclose(trained.T @ trained, np.eye(4), atol=0.15)


def test_basis_and_features_take_turns(problem):
    basis, x, wanted = problem
    moved, still, _ = match(basis, x, CODES, wanted, GdemOptions(epochs=5, basis_steps=5))
    assert not np.allclose(moved, basis, atol=1e-4)
    np.testing.assert_allclose(still, x, rtol=1e-6)
    _, changed, _ = match(basis, x, CODES, wanted, GdemOptions(epochs=6, basis_steps=5, feature_rate=0.01))
    assert not np.allclose(changed, x, atol=1e-4)


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_matrix], ids=["dense", "sparse"])
def test_first_features_lean_towards_their_class(container):
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], 20)
    rows = (rng.random((40, 8)) < np.where((np.arange(8) % 2)[None, :] == labels[:, None], 0.8, 0.1)).astype(np.float32)
    made = class_features(container(rows), labels, CODES, np.random.default_rng(0), GdemOptions())
    own = np.where((np.arange(8) % 2)[None, :] == CODES[:, None], made, 0).sum(axis=1)
    other = np.where((np.arange(8) % 2)[None, :] != CODES[:, None], made, 0).sum(axis=1)
    assert (own > other).all()
