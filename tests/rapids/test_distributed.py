"""Partitions on the RAPIDS backend: worker functions, tables of dask_cudf, and a cluster of dask_cuda."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
from support import doubles
from support.crew import Here

from herald_gpu import HeraldConfig, condense
from herald_gpu.datasets import make_graph
from herald_gpu.distributed.front import condense_collections
from herald_gpu.io.read import Columns

GRAPH = make_graph(90, n_classes=3, n_features=10, homophily=0.7, seed=5)
PRESETS = {
    "default": HeraldConfig(feature_count=6, smallest_pool=16, largest_pool=16, trial_nodes=20),
    "paper": HeraldConfig.paper(feature_count=6),
}
OPTIONS = {"columns": Columns(), "unlabelled": -1, "output_type": "numpy", "seed": 0, "backend": "cpu"}


def chosen(small):
    c = small._contents
    features = c.features.toarray() if hasattr(c.features, "toarray") else c.features
    return np.asarray(c.node_ids), np.asarray(c.adjacency.toarray()), np.asarray(features)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("preset", PRESETS)
def test_partitions_on_the_device_give_the_graph_of_the_host(rapids, preset, binary):
    features = (GRAPH.features > 0).astype(np.float32) if binary else GRAPH.features
    graph = (
        da.from_array(GRAPH.edge_index, chunks=(2, 100)),
        da.from_array(features, chunks=(40, -1)),
        GRAPH.labels,
        GRAPH.train,
    )
    config = PRESETS[preset]
    small = condense_collections(graph, 0.2, config=config, crew=Here(rapids), bounds=(0, 33, 60, 90), **OPTIONS)
    whole = condense(GRAPH.edge_index, features, GRAPH.labels, GRAPH.train, ratio=0.2, config=config, backend="cpu")
    for one, two in zip(chosen(small), chosen(whole), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-6)


@pytest.mark.emulated
def test_folders_are_read_into_device_memory(rapids, tmp_path):
    if not doubles.emulated():
        pytest.skip("CuPy is not emulated: make test-emulated")
    from herald_gpu.backend.multi import cuda_cluster, read_tables

    edges, nodes = GRAPH.to_frames()
    edges.to_parquet(tmp_path / "edges.parquet")
    nodes.to_parquet(tmp_path / "nodes.parquet")
    graph = [read_tables([str(tmp_path / f"{name}.parquet")]) for name in ("edges", "nodes")]
    config = PRESETS["default"]
    small = condense_collections((*graph, None, None), 0.2, config=config, crew=Here(rapids), **OPTIONS)
    whole = condense(edges, nodes, ratio=0.2, config=config, backend="cpu", output_type="numpy")
    np.testing.assert_array_equal(small._contents.node_ids, whole._contents.node_ids)
    with cuda_cluster(1, "1GB") as cluster:
        assert len(cluster.workers) == 1
