"""Principal components after the choice of features."""

from __future__ import annotations

import numpy as np
import pytest
from support.graphs import build, host, random_raw, raw

from herald_gpu import ops
from herald_gpu.stages.reduction import Reduction, reduce_features


def on_a_line(n, noise, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 1)) * [3, 4, 0] + [1, -2, 5] + noise * rng.normal(size=(n, 3))


def test_one_component_is_enough_for_a_line(backend):
    x = backend.asarray(on_a_line(40, 0.01).astype(np.float32))
    outcome = reduce_features(backend, x, 6, variance=0.9, limit=1e9)
    reduction, reduced, total = outcome
    np.testing.assert_allclose(host(backend, reduction.components), [[0.6, 0.8, 0]], atol=0.01)
    assert reduced.shape == (40, 1)
    assert reduced.dtype == np.float32
    # 40 dense values and 6 directed edges, with 3 + 3 float32 for the component and the mean
    assert total == 4 * 40 + 4 * 6 + 4 * 6
    assert reduction.nominal_bytes == 24


@pytest.mark.parametrize("variance", [0.5, 0.9, 0.99, 1.0])
@pytest.mark.parametrize("kind", ["counts", "dense"])
def test_the_fewest_components_with_that_share(backend, kind, variance):
    given = random_raw(kind, 60, seed=2)
    graph = build(backend, given)
    reduction, reduced, _ = reduce_features(backend, graph.features, 0, variance=variance, limit=1e9)
    centred = given.x - given.x.mean(axis=0, dtype=np.float64)
    eigenvalues = np.sort(np.linalg.eigvalsh(centred.T @ centred))[::-1]
    shares = np.cumsum(eigenvalues) / eigenvalues.sum()
    count = reduction.components.shape[0]
    assert shares[count - 1] >= variance - 1e-9
    assert count == 1 or shares[count - 2] < variance
    components = host(backend, reduction.components).astype(np.float64)
    np.testing.assert_allclose(components @ components.T, np.eye(count), atol=1e-6)
    np.testing.assert_allclose(host(backend, reduced), centred @ components.T, atol=1e-4)
    np.testing.assert_allclose(host(backend, reduced).var(axis=0), eigenvalues[:count] / 60, rtol=1e-4, atol=1e-6)


def test_the_largest_entry_of_a_component_is_positive(backend):
    for sign in (1, -1):
        x = backend.asarray((sign * on_a_line(30, 0.05)).astype(np.float32))
        components = host(backend, reduce_features(backend, x, 0, variance=1.0, limit=1e9)[0].components)
        assert (components[np.arange(3), np.abs(components).argmax(axis=1)] > 0).all()


def test_features_that_never_vary_keep_one_component(backend):
    x = backend.asarray(np.ones((5, 3), dtype=np.float32))
    reduction, reduced, _ = reduce_features(backend, x, 0, variance=0.9, limit=1e9)
    assert reduction.components.shape == (1, 3)
    np.testing.assert_allclose(host(backend, reduced), 0, atol=1e-6)


def test_what_does_not_fit_is_said(backend):
    x = backend.asarray(on_a_line(40, 0.01).astype(np.float32))
    assert not isinstance(reduce_features(backend, x, 6, variance=0.9, limit=208), str)
    outcome = reduce_features(backend, x, 6, variance=0.9, limit=207)
    assert isinstance(outcome, str)
    assert "208 bytes" in outcome
    assert "207" in outcome


def test_reduction_applies_to_any_matrix(backend, monkeypatch):
    monkeypatch.setattr(ops, "BLOCK_ELEMENTS", 4)
    reduction = Reduction(
        backend.asarray(np.array([1, 1], dtype=np.float32)), backend.asarray(np.array([[0, 2]], dtype=np.float32))
    )
    given = raw([], [[1, 0], [0, 3], [2, 2]], [0, 1, 0])
    for features in (build(backend, given).features, backend.asarray(given.x)):
        assert host(backend, reduction.apply(backend, features)).tolist() == [[-2], [4], [2]]
