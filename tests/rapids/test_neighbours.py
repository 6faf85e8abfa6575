"""Nearest neighbours of the RAPIDS backend: the distances are those of the CPU backend, however they were found."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from support.graphs import host

from herald_gpu.backend.cpu import CpuBackend

CPU = CpuBackend()
CONTAINERS = {"dense": np.asarray, "sparse": scipy.sparse.csr_matrix}


def inverse_norms(x):
    """One over the length of each row; 0 for a zero row."""
    lengths = np.sqrt((np.asarray(x, dtype=np.float64) ** 2).sum(axis=1))
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def brute(x, k, reference=None):
    """Half squared distances of normalised rows, k smallest, in float64."""
    unit = x.astype(np.float64) * inverse_norms(x)[:, None]
    pool = np.arange(len(x)) if reference is None else reference
    apart = 0.5 * ((unit[:, None, :] - unit[pool][None, :, :]) ** 2).sum(axis=2)
    zero = ~x.any(axis=1)
    apart[zero, :] = 1.0
    apart[:, zero[pool]] = 1.0
    if reference is None:
        np.fill_diagonal(apart, np.inf)
    return np.sort(apart, axis=1)[:, :k]


def others(x, k, pool):
    """As `brute` among some rows, a row itself left out."""
    found = []
    for u in range(len(x)):
        near = [v for v in pool if v != u]
        found.append(brute(x[[u, *near]], len(near))[0][:k])
    return np.array(found)


def rows(kind, n, seed):
    """Draw features with zero rows and many equal rows."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 7)) if kind == "normal" else rng.integers(0, 2, size=(n, 7)) * rng.integers(1, 4, (n, 1))
    x[rng.choice(n, n // 10, replace=False)] = 0
    x[rng.choice(n, n // 4, replace=False)] = x[n // 2]
    return x.astype(np.float32)


def both(rapids, x, container, k, reference=None):
    """Distances by RAPIDS and by the CPU."""
    inverse, given = inverse_norms(x), CONTAINERS[container](x)
    there = None if reference is None else rapids.asarray(reference)
    keep = reference is not None
    found = rapids.nearest_distances(rapids.asarray(given), rapids.asarray(inverse), k, there, keep_self=keep)
    assert (found.dtype, found.shape) == (np.float64, (len(x), k))
    return host(rapids, found), CPU.nearest_distances(given, inverse, k, reference, keep_self=keep)


@pytest.fixture
def neighbours(rapids):  # noqa: ARG001 - the module cannot be imported without CuPy
    from herald_gpu.backend.rapids import neighbours

    return neighbours


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("kind", ["normal", "levels"])
@pytest.mark.parametrize("k", [1, 10, 59])
@pytest.mark.parametrize("seed", range(2))
def test_distances_are_those_of_the_cpu(rapids, seed, k, kind, container):
    x = rows(kind, 60, seed)
    found, ours = both(rapids, x, container, k)
    np.testing.assert_allclose(found, ours, rtol=0, atol=1e-15)
    np.testing.assert_allclose(found, brute(x, k), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("kind", ["normal", "levels"])
@pytest.mark.parametrize("k", [1, 10, 20])
def test_against_a_sample_a_row_may_find_itself(rapids, k, kind, container):
    x = rows(kind, 60, 4)
    reference = np.random.default_rng(1).choice(60, 20, replace=False)
    found, ours = both(rapids, x, container, k, reference)
    np.testing.assert_allclose(found, ours, rtol=0, atol=1e-15)
    np.testing.assert_allclose(found, brute(x, k, reference), rtol=1e-12, atol=1e-15)
    shown = reference[x[reference].any(axis=1)]
    assert (found[shown, 0] == 0).all()


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("sampled", [False, True])
def test_chosen_rows_and_a_sample_without_the_row_itself(rapids, sampled, container):
    x = rows("levels", 60, 5)
    asked = np.array([59, 0, 7, 30, 8, 7])
    reference = np.random.default_rng(1).choice(60, 20, replace=False) if sampled else None
    there = None if reference is None else rapids.asarray(reference)
    given, inverse = rapids.asarray(CONTAINERS[container](x)), rapids.asarray(inverse_norms(x))
    found = rapids.nearest_distances(given, inverse, 5, there, rows=rapids.asarray(asked))
    assert found.shape == (6, 5)
    expected = others(x, 5, np.arange(60) if reference is None else reference)[asked]
    np.testing.assert_allclose(host(rapids, found), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("container", CONTAINERS)
def test_equal_rows_are_at_distance_zero_and_none_is_its_own_neighbour(rapids, container):
    """More copies than candidates: whichever of them are found, all are at distance zero."""
    x = np.tile(np.array([[3.0, 1.0, 4.0]], dtype=np.float32), (40, 1))
    x[-1] = [1.0, 0.0, 0.0]
    found, _ = both(rapids, x, container, 10)
    assert (found[:-1] == 0).all()
    np.testing.assert_allclose(found[-1], 1 - 3 / np.sqrt(26), rtol=1e-7)


@pytest.mark.parametrize("container", CONTAINERS)
def test_rows_with_nothing_in_common(rapids, container):
    found, ours = both(rapids, np.eye(12, dtype=np.float32), container, 10)
    assert (found == 1).all()
    np.testing.assert_array_equal(found, ours)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("n_shown", [0, 1, 2])
def test_hardly_any_row_that_is_not_zero(rapids, n_shown, container):
    x = np.zeros((9, 3), dtype=np.float32)
    x[:n_shown] = [1.0, 2.0, 0.0]
    found, ours = both(rapids, x, container, 4)
    np.testing.assert_array_equal(found, ours)
    assert (found[n_shown:] == 1).all()
    reference = np.arange(3, 9)  # zero rows only
    np.testing.assert_array_equal(*both(rapids, x, container, 4, reference))


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_small_batches_change_nothing(rapids, neighbours, size, container, monkeypatch):
    monkeypatch.setattr(neighbours, "batch_rows", lambda _, n_rows: min(size, n_rows))
    found, ours = both(rapids, rows("normal", 50, 2), container, 10)
    np.testing.assert_allclose(found, ours, rtol=0, atol=1e-15)


def test_doubles_are_not_cut_to_floats(rapids):
    """Scaled features are float64: what float32 would lose counts in their distances."""
    x = np.random.default_rng(0).normal(size=(40, 7))
    found, ours = both(rapids, x, "dense", 10)
    np.testing.assert_allclose(found, ours, rtol=0, atol=1e-15)
    rounded, _ = both(rapids, x.astype(np.float32), "dense", 10)
    assert np.abs(rounded - found).max() > 1e-12


def test_indices_out_of_order_are_put_in_order_first(rapids):
    """CuPy picks columns in no order, and the kernel merges two sorted rows; the caller's matrix is not touched."""
    x = rows("levels", 40, 3)
    given, inverse = scipy.sparse.csr_matrix(x), inverse_norms(x)
    order = np.lexsort((-np.arange(given.nnz), np.repeat(np.arange(40), np.diff(given.indptr))))
    parts = (given.data[order], given.indices[order], given.indptr)
    mixed = rapids.sparse.csr_matrix(tuple(rapids.asarray(part) for part in parts), shape=given.shape)
    found = host(rapids, rapids.nearest_distances(mixed, rapids.asarray(inverse), 10))
    np.testing.assert_allclose(found, brute(x, 10), rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(host(rapids, mixed.indices), parts[1])


@pytest.mark.parametrize("strided", [False, True])
def test_rows_in_another_order_of_memory(rapids, strided):
    x = rows("normal", 40, 3)
    given = rapids.asarray(np.repeat(x, 2, axis=0))[::2] if strided else rapids.xp.asfortranarray(rapids.asarray(x))
    assert not given.flags.c_contiguous
    found = host(rapids, rapids.nearest_distances(given, rapids.asarray(inverse_norms(x)), 10))
    np.testing.assert_allclose(found, brute(x, 10), rtol=1e-12, atol=1e-15)
