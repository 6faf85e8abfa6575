"""K-means: a fixed point of Lloyd's step, and the right clusters where they are plain to see."""

from __future__ import annotations

import numpy as np
import pytest
from support.graphs import host

from herald_gpu.baselines.kmeans import cluster_means, kmeans, nearest_centres


def test_clusters_that_lie_apart_are_found(backend):
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 12)
    x = rng.normal(size=(36, 3)) * 0.1 + 20 * np.eye(3)[truth]
    found = host(backend, kmeans(backend, backend.asarray(x), 3, rng=np.random.default_rng(1)))
    assert len(set(zip(truth.tolist(), found.tolist(), strict=True))) == 3


@pytest.mark.parametrize("k", [2, 5, 9])
def test_every_row_is_nearest_to_the_mean_of_its_cluster(backend, k):
    x = np.random.default_rng(k).normal(size=(40, 4))
    own = host(backend, kmeans(backend, backend.asarray(x), k, rng=np.random.default_rng(0)))
    means = np.stack([x[own == c].mean(axis=0) for c in range(k)])
    distance = ((x[:, None] - means[None]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(distance.argmin(axis=1), own)


def test_as_many_clusters_as_rows(backend):
    x = backend.asarray(np.ones((3, 2)))
    assert host(backend, kmeans(backend, x, 5, rng=np.random.default_rng(0))).tolist() == [0, 1, 2]


def test_repeated_rows_may_leave_clusters_empty(backend):
    x = np.array([[0.0], [0.0], [0.0], [1.0]])
    own = host(backend, kmeans(backend, backend.asarray(x), 3, rng=np.random.default_rng(0)))
    assert len(set(own[:3].tolist())) == 1
    assert own[3] != own[0]


def test_means_and_sizes(backend):
    x = backend.asarray(np.array([[1.0, 0.0], [3.0, 2.0], [5.0, 5.0]]))
    means, counts = cluster_means(backend, x, backend.asarray(np.array([2, 2, 0])), 3)
    np.testing.assert_array_equal(host(backend, means), [[5, 5], [0, 0], [2, 1]])
    assert host(backend, counts).tolist() == [1, 0, 2]


def test_ties_go_to_the_first_centre(backend):
    x, centres = backend.asarray(np.array([[0.0]])), backend.asarray(np.array([[1.0], [-1.0]]))
    assert host(backend, nearest_centres(backend, x, centres)).tolist() == [0]


def test_the_seed_decides(backend):
    x = backend.asarray(np.random.default_rng(3).normal(size=(60, 2)))
    runs = [host(backend, kmeans(backend, x, 8, rng=np.random.default_rng(s))).tolist() for s in (0, 0, 1)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]
