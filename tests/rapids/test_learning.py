"""Tree and principal components of the RAPIDS backend."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from support.graphs import host

from herald_gpu.backend.cpu import CpuBackend

CPU = CpuBackend()
CONTAINERS = {"dense": np.asarray, "sparse": scipy.sparse.csr_matrix}


# Tree


@pytest.mark.parametrize("container", CONTAINERS)
def test_the_tree_splits_on_what_separates_the_classes(rapids, container):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, size=(90, 6)).astype(np.float32)
    codes = (x[:, 1] + 2 * x[:, 4]).astype(np.int32)
    given = rapids.asarray(CONTAINERS[container](x))
    found = rapids.tree_features(given, rapids.asarray(codes), max_depth=50, seed=42)
    assert found.dtype == np.int64
    assert host(rapids, found).tolist() == [1, 4]


def test_depth_and_seed_are_handed_on(rapids):
    rng = np.random.default_rng(1)
    x, codes = rng.normal(size=(80, 9)).astype(np.float32), rng.integers(4, size=80).astype(np.int32)
    given, labels = rapids.asarray(x), rapids.asarray(codes)
    deep = host(rapids, rapids.tree_features(given, labels, max_depth=50, seed=1))
    again = host(rapids, rapids.tree_features(given, labels, max_depth=50, seed=1))
    assert host(rapids, rapids.tree_features(given, labels, max_depth=1, seed=1)).shape == (1,)
    np.testing.assert_array_equal(deep, again)
    assert len(deep) > 3
    assert (np.diff(deep) > 0).all()


def test_a_single_class_needs_no_feature(rapids):
    x, codes = np.eye(4, dtype=np.float32), np.zeros(4, dtype=np.int32)
    assert rapids.tree_features(rapids.asarray(x), rapids.asarray(codes), max_depth=9, seed=0).shape == (0,)


def test_fewer_rows_than_bins_bring_no_warning(rapids, recwarn):
    x, codes = np.arange(6, dtype=np.float32)[:, None], np.array([0, 0, 0, 1, 1, 1])
    found = rapids.tree_features(rapids.asarray(x), rapids.asarray(codes), max_depth=9, seed=0)
    assert host(rapids, found).tolist() == [0]
    assert not recwarn.list


# Principal components


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("variance", [0.3, 0.9, 0.999, 1.0])
@pytest.mark.parametrize("shape", [(60, 9), (7, 12)])
def test_components_are_those_of_the_cpu(rapids, shape, variance, container):
    rng = np.random.default_rng(2)
    x = (rng.normal(size=shape) * np.geomspace(5, 0.1, shape[1]) + 3).astype(np.float32)
    given = CONTAINERS[container](x)
    mean, components = rapids.principal_components(rapids.asarray(given), variance)
    ours = CPU.principal_components(given, variance)
    assert (mean.dtype, components.dtype) == (np.float32, np.float32)
    np.testing.assert_allclose(host(rapids, mean), ours[0], rtol=1e-6)
    if variance < 1:
        np.testing.assert_allclose(host(rapids, components), ours[1], rtol=1e-5, atol=1e-6)
    else:  # what little is left of the variance at the end is noise on both sides
        assert abs(components.shape[0] - ours[1].shape[0]) <= 1


def test_every_component_points_the_same_way_each_time(rapids):
    x = rapids.asarray(np.random.default_rng(5).normal(size=(40, 6)).astype(np.float32))
    runs = [host(rapids, rapids.principal_components(x, 0.95)[1]) for _ in range(5)]
    for run in runs:
        np.testing.assert_allclose(run, runs[0], rtol=1e-6)
        assert (run[np.arange(len(run)), np.abs(run).argmax(axis=1)] > 0).all()


@pytest.mark.parametrize("shape", [(5, 1), (1, 4), (1, 1)])
def test_too_little_for_cuml(rapids, shape):
    """cuML wants two rows and two columns; one kept feature or one node must do."""
    x = np.arange(shape[0] * shape[1], dtype=np.float32).reshape(shape)
    mean, components = rapids.principal_components(rapids.asarray(x), 0.9)
    ours = CPU.principal_components(x, 0.9)
    np.testing.assert_allclose(host(rapids, mean), ours[0])
    np.testing.assert_allclose(host(rapids, components), ours[1])
