"""R4: the whole method through the RAPIDS backend gives what the CPU backend gives, and stays on the device."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from support.graphs import build, random_raw
from support.transfers import counted_on_device

from herald_gpu import HeraldConfig, condense, get_backend
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.datasets.files import read_npz
from herald_gpu.datasets.synthetic import make_graph
from herald_gpu.pipeline import STAGES, Clock, run

COUNTS = {"cora": 175, "citeseer": 291, "chameleon": 204}
"""k* of the exact tree: given, because histogram splits may count otherwise."""
CONFIGS = {
    "default": HeraldConfig(),
    "paper": HeraldConfig.paper(),
    "citation": HeraldConfig.published("citation"),
    "scaled": HeraldConfig.published("scaled"),
}
MOST_ARRAYS = 12
"""Class counts in the stages that balance and describe."""
MOST_SCALARS = 60
TO_HOST = "backend/rapids/__init__.py"


def condensed(backend, graph, *, ratio, config):
    """Condense with arrays in, so that everything comes back as arrays."""
    return condense(
        graph.edge_index, graph.features, graph.labels, graph.train, ratio=ratio, config=config, backend=backend
    )


def assert_same(found, ours):
    """The same graph in the same order; scores as close as float64 sums in another order are."""
    np.testing.assert_array_equal(found.node_ids, ours.node_ids)
    np.testing.assert_array_equal(found.feature_ids, ours.feature_ids)
    np.testing.assert_array_equal(found.edge_index, ours.edge_index)
    np.testing.assert_array_equal(found.labels, ours.labels)
    np.testing.assert_array_equal(found.train_mask, ours.train_mask)
    apart = found.features - ours.features
    assert abs(apart).max() <= 1e-6
    for name in ("prototype", "boundary", "lid", "score"):
        np.testing.assert_allclose(found.scores[name], ours.scores[name], rtol=1e-5, atol=1e-5, err_msg=name)
    report, expected = found.report.to_dict(), ours.report.to_dict()
    for name in ("heterophily", "weights", "storage_bytes", "full_bytes", "class_counts", "n_edges", "warnings"):
        assert report[name] == expected[name], name


@pytest.mark.data
@pytest.mark.parametrize("name", COUNTS)
def test_real_graphs(rapids, data_dir, name):
    graph = read_npz(data_dir / f"{name}.npz")
    config = HeraldConfig(feature_count=COUNTS[name])
    ours = condensed(CpuBackend(), graph, ratio=0.05, config=config)
    found = condensed(rapids, graph, ratio=0.05, config=config)
    assert_same(found, ours)
    assert found.report.backend == "rapids"
    assert found.report.storage_ratio <= 0.05


@pytest.mark.data
@pytest.mark.parametrize("kind", ["citation", "scaled"])
def test_a_real_graph_as_published(rapids, data_dir, kind):
    graph = read_npz(data_dir / "cora.npz")
    config = replace(CONFIGS[kind], feature_count=COUNTS["cora"])
    ours, found = (condensed(backend, graph, ratio=0.05, config=config) for backend in (CpuBackend(), rapids))
    assert_same(found, ours)


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("seed", range(2))
def test_generated_graphs(rapids, seed, name):
    graph = make_graph(500, n_classes=4, n_features=80, seed=seed)
    config = replace(CONFIGS[name], feature_count=30)
    ours, found = (condensed(backend, graph, ratio=0.1, config=config) for backend in (CpuBackend(), rapids))
    assert_same(found, ours)


def test_rows_longer_than_a_block_of_threads(rapids):
    """CuPy picks the columns of long rows in no order: edges, features and distances must not show it."""
    rng = np.random.default_rng(4)
    x = (rng.random((300, 600)) < 0.7) * rng.integers(1, 5, (300, 600))
    hub = [(0, leaf) for leaf in range(1, 300)]
    edges = np.array(hub + [(int(a), int(b)) for a, b in rng.integers(300, size=(600, 2))]).T
    labels, train = rng.integers(3, size=300), rng.random(300) < 0.5
    config = HeraldConfig(feature_count=450, storage="sparse")
    options = {"ratio": 0.9, "config": config}
    given = (edges, scipy.sparse.csr_matrix(x.astype(np.float32)), labels, train)
    ours, found = (condense(*given, backend=backend, **options) for backend in (CpuBackend(), rapids))
    assert_same(found, ours)


def test_the_backend_by_its_name(rapids):
    """The front door finds the backend itself."""
    graph = make_graph(200, n_classes=3, n_features=30, seed=1)
    config = HeraldConfig(feature_count=12)
    assert type(get_backend("rapids")) is type(rapids)
    assert get_backend("auto").name == "rapids"
    found = condensed("rapids", graph, ratio=0.2, config=config)
    assert_same(found, condensed("cpu", graph, ratio=0.2, config=config))
    assert set(STAGES) <= set(found.report.timings)
    assert found.report.peak_memory_bytes > 0


def test_the_tree_counts_features_on_the_device(rapids):
    graph = make_graph(200, n_classes=3, n_features=30, seed=2)
    report = condensed(rapids, graph, ratio=0.3, config=HeraldConfig()).report
    assert report.feature_tree == rapids.tree_name
    assert 1 <= report.feature_count <= 30


# Transfers


def transfers(rapids, n, config):
    """What a run on n nodes brings to the host, once the graph is on the device."""
    published = not config.exact
    graph = build(rapids, random_raw("counts", n, seed=1, n_features=20), stored=published, all_labels=published)
    with counted_on_device() as made:
        run(rapids, graph, 0.3, config, seed=0, clock=Clock(rapids))
    return made


@pytest.mark.parametrize("name", CONFIGS)
def test_only_class_counts_and_single_numbers_come_to_the_host(rapids, name):
    made = transfers(rapids, 120, replace(CONFIGS[name], feature_count=10))
    assert {place.rpartition(":")[0] for place in made.arrays} == {TO_HOST}, "an array came over unasked"
    assert made.arrays.total() <= MOST_ARRAYS
    assert made.scalars.total() <= MOST_SCALARS


def test_transfers_do_not_grow_with_the_graph(rapids):
    small, large = (transfers(rapids, n, HeraldConfig(feature_count=10)) for n in (240, 1920))
    assert large.arrays == small.arrays
    assert large.scalars.total() <= small.scalars.total() + 16  # two a batch of roots, and batches double
    assert large.inside.total() <= small.inside.total() + 16


def test_transfers_are_noticed(rapids):
    from herald_gpu import ops

    values = rapids.xp.arange(20)
    with counted_on_device() as made:
        rapids.to_host(values)
        ops.scalar(values.sum())
        ops.mask_of(rapids, values, 20)
    assert (made.arrays.total(), made.scalars.total()) == (1, 1)
    assert rapids.xp.arange(3).get().tolist() == [0, 1, 2]
