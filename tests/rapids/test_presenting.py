"""What came from the device goes back to it, in the caller's types, and says the same as on the host."""

from __future__ import annotations

import pickle
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from support.backends import DEVICES, FACTORIES
from support.doubles import emulated
from support.doubles import torch as torch_double
from support.transfers import counted_on_device

from herald_gpu import CondensedGraph, HeraldConfig, condense
from herald_gpu.datasets.synthetic import make_graph
from herald_gpu.errors import InputError
from herald_gpu.stages.survey import DEGREE_BINS, RATIO_BINS

KEPT = 20
CONFIG = HeraldConfig.paper(feature_count=KEPT)
LINKED = HeraldConfig(feature_count=KEPT, exemplar_rule="landmarks")
VECTORS = ("node_ids", "train_mask", "is_root", "is_landmark", "edge_is_synthetic")


@pytest.fixture(scope="module", params=DEVICES)
def device(request):
    return FACTORIES[request.param]()


@pytest.fixture(params=[CONFIG, LINKED], ids=["paper", "linked"])
def config(request):
    return request.param


@pytest.fixture(scope="module")
def cp(device):
    return device.xp


@pytest.fixture(scope="module")
def cudf(device):  # noqa: ARG001 - a precondition
    return pytest.importorskip("cudf", reason="cuDF is not installed: pip install '.[cu13]'")


@pytest.fixture
def torch(monkeypatch, device):  # noqa: ARG001 - a precondition
    """Give torch: the real one on a GPU, a double beside emulated CuPy."""
    if not emulated():
        return pytest.importorskip("torch", reason="torch is not installed: pip install '.[eval]'")
    for name, module in torch_double.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    return sys.modules["torch"]


def graph_of(*, sparse=False):
    words = {"features": "bag_of_words", "mean_words": 6} if sparse else {}
    return make_graph(200, n_classes=3, n_features=24, seed=4, **words)


def parts(graph):
    return graph.edge_index, graph.features, graph.labels, graph.train


def on_device(device, given):
    is_sparse = scipy.sparse.issparse(given)
    return device.sparse.csr_matrix(scipy.sparse.csr_matrix(given)) if is_sparse else device.xp.asarray(given)


def both(device, given, moved, **options):
    """The same graph condensed on the host and on the device."""
    options = {"ratio": 0.2, "config": CONFIG, **options}
    return condense(*given, backend="cpu", **options), condense(*moved, backend=device, **options)


def host(value):
    """Bring what a device gave to NumPy."""
    if hasattr(value, "to_pandas"):
        return value.to_pandas().to_numpy()
    if type(value).__module__.startswith("cupy"):
        value = value.get()
    return value.toarray() if scipy.sparse.issparse(value) else np.asarray(value)


@pytest.mark.parametrize("sparse", [False, True])
def test_arrays(device, cp, sparse, config):
    graph = graph_of(sparse=sparse)
    ours, found = both(device, parts(graph), [on_device(device, part) for part in parts(graph)], config=config)
    for name in (*VECTORS, "labels", "edges", "edge_index"):
        assert isinstance(getattr(found, name), cp.ndarray), name
        np.testing.assert_array_equal(host(getattr(found, name)), getattr(ours, name), err_msg=name)
    assert device.sparse.issparse(found.features) == sparse
    np.testing.assert_allclose(host(found.features), host(ours.features), atol=1e-6)
    assert device.sparse.issparse(found.adjacency)
    assert (found.adjacency.get() != ours.adjacency).nnz == 0


def test_scores_of_arrays_are_a_table_on_the_device(device, cudf, config):
    graph = graph_of()
    ours, found = both(device, parts(graph), [on_device(device, part) for part in parts(graph)], config=config)
    assert isinstance(found.scores, cudf.DataFrame)
    assert list(found.scores.columns) == list(ours.scores.columns)
    for name in ours.scores.columns:
        np.testing.assert_allclose(host(found.scores[name]), ours.scores[name], rtol=1e-5, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("strings", [False, True])
def test_tables(device, cudf, strings, config):
    edges, nodes = graph_of().to_frames()
    if strings:
        nodes = nodes.assign(
            node=nodes["node"].map("n{:03d}".format), label=nodes["label"].map({0: "r", 1: "g", 2: "b"})
        )
        edges = edges.map("n{:03d}".format)
    ours, found = both(device, (edges, nodes), (cudf.DataFrame(edges), cudf.DataFrame(nodes)), config=config)
    for name in VECTORS:
        given = getattr(found, name)
        assert isinstance(given, cudf.Series), name
        pd.testing.assert_series_equal(given.to_pandas(), getattr(ours, name), check_dtype=False)
    labels, expected = found.labels.to_pandas(), ours.labels
    assert labels.name == expected.name
    np.testing.assert_array_equal(labels.isna(), expected.isna())
    assert labels.dropna().tolist() == expected.dropna().tolist()
    assert labels.index.equals(expected.index)
    pd.testing.assert_frame_equal(found.features.to_pandas(), ours.features, check_dtype=False, check_names=False)
    pd.testing.assert_frame_equal(found.edges.to_pandas(), ours.edges, check_dtype=False)
    pd.testing.assert_frame_equal(found.scores.to_pandas(), ours.scores, check_dtype=False, rtol=1e-5, atol=1e-5)


def test_names_of_the_index_are_the_node_column(device, cudf):
    edges, nodes = graph_of().to_frames()
    _, found = both(device, (edges, nodes), (cudf.DataFrame(edges), cudf.DataFrame(nodes)))
    assert found.features.index.name == found.labels.index.name == "node"


@pytest.mark.parametrize("sparse", [False, True])
def test_tensors_go_through_dlpack(device, cp, torch, sparse, config):  # noqa: ARG001 - torch is a precondition
    graph = graph_of(sparse=sparse)
    given = [on_device(device, part) for part in parts(graph)]
    ours = condense(*parts(graph), ratio=0.2, config=config, backend="cpu")
    found = condense(*given, ratio=0.2, config=config, backend=device, output_type="torch")
    assert found.edge_index.is_cuda
    np.testing.assert_array_equal(cp.from_dlpack(found.edge_index).get(), ours.edge_index)
    np.testing.assert_array_equal(cp.from_dlpack(found.labels).get(), ours.labels)
    np.testing.assert_array_equal(cp.from_dlpack(found.train_mask).get(), ours.train_mask)
    if sparse:
        assert str(found.features.layout) == "torch.sparse_coo"
        coo = found.features.coalesce()
        rows, columns = cp.from_dlpack(coo.indices()).get()
        dense = np.zeros(found.features.shape, dtype=np.float32)
        dense[rows, columns] = cp.from_dlpack(coo.values()).get()
    else:
        dense = cp.from_dlpack(found.features).get()
    np.testing.assert_allclose(dense, host(ours.features), atol=1e-6)


def test_tensors_in_tensors_out(device, cp, torch):
    graph = graph_of()
    moved = [torch.from_dlpack(cp.asarray(part)) for part in parts(graph)]
    ours, found = both(device, parts(graph), moved)
    assert found.features.is_cuda
    np.testing.assert_allclose(cp.from_dlpack(found.features).get(), ours.features, atol=1e-6)
    full = found.transform(moved[1])
    assert full.is_cuda
    np.testing.assert_allclose(cp.from_dlpack(full).get(), ours.transform(graph.features), atol=1e-6)


def test_a_tensor_is_a_copy(device, cp, torch):  # noqa: ARG001 - torch is a precondition
    graph = graph_of()
    found = condense(*(cp.asarray(part) for part in parts(graph)), ratio=0.2, config=CONFIG, backend=device)
    view = found.as_type("torch")
    cp.from_dlpack(view.features)[:] = 0
    assert host(found.features).any()


def test_pyg_data_on_the_device(device, cp, torch, config):  # noqa: ARG001 - torch is a precondition
    if not emulated():
        pytest.importorskip("torch_geometric", reason="PyG is not installed: pip install torch-geometric")
    graph = graph_of()
    ours, found = both(device, parts(graph), [cp.asarray(part) for part in parts(graph)], config=config)
    data = found.to_pyg()
    assert data.x.is_cuda
    positions = np.where(ours.is_landmark, -1, ours.node_ids)
    np.testing.assert_array_equal(cp.from_dlpack(data.n_id).get(), positions)
    expected = np.where(ours.train_mask, ours.labels, -1)
    np.testing.assert_array_equal(cp.from_dlpack(data.y).get(), expected)


def test_pyg_data_of_the_whole_graph_stays_on_the_device(device, cp, torch):
    data = pytest.importorskip("torch_geometric.data", reason="PyG is not installed: pip install 'herald-gpu[eval]'")
    graph = graph_of()
    moved = [torch.from_dlpack(cp.asarray(part)) for part in parts(graph)]
    ours, found = both(device, parts(graph), moved)
    given = data.Data(x=moved[1], edge_index=moved[0])
    whole = found.transform(given)
    assert whole.x.is_cuda
    assert whole.edge_index is moved[0]
    assert given.x is moved[1]
    np.testing.assert_allclose(cp.from_dlpack(whole.x).get(), ours.transform(graph.features), atol=1e-6)


def test_attributes_of_networkx_nodes(device):
    nx = pytest.importorskip("networkx", reason="NetworkX is not installed")
    graph = graph_of()
    network = nx.Graph(graph.edge_index.T.tolist())
    for node, (x, label, train) in enumerate(zip(*parts(graph)[1:], strict=True)):
        network.add_node(node, x=x, label=int(label), train=bool(train))
    ours, found = both(device, (network,), (network,))
    pd.testing.assert_frame_equal(found.features, ours.features, atol=1e-6)
    pd.testing.assert_series_equal(found.labels, ours.labels)


def test_a_pickled_graph_comes_back_on_the_host(device, cp, config):
    graph = graph_of()
    found = condense(*(cp.asarray(part) for part in parts(graph)), ratio=0.2, config=config, backend=device)
    again = pickle.loads(pickle.dumps(found))  # noqa: S301 - our own
    assert isinstance(again.adjacency, scipy.sparse.csr_matrix)
    np.testing.assert_array_equal(host(again.node_ids), host(found.node_ids))
    np.testing.assert_array_equal(host(again.features), host(found.features))


def test_other_types_on_demand(device, cp, cudf, config):
    graph = graph_of()
    ours, found = both(device, parts(graph), [cp.asarray(part) for part in parts(graph)], config=config)
    assert isinstance(found.as_type("numpy").features, np.ndarray)
    assert isinstance(found.as_type("pandas").features, pd.DataFrame)
    assert isinstance(found.as_type("cudf").features, cudf.DataFrame)
    adjacency, features = found.to_scipy()
    assert (adjacency != ours.adjacency).nnz == 0
    np.testing.assert_allclose(features.toarray(), ours.features, atol=1e-6)
    assert sorted(found.to_networkx().edges) == sorted(ours.to_networkx().edges)


@pytest.mark.parametrize("strings", [False, True])
def test_saved_and_loaded(device, cudf, tmp_path, strings, config):
    edges, nodes = graph_of().to_frames()
    if strings:
        nodes, edges = nodes.assign(node=nodes["node"].map("n{:03d}".format)), edges.map("n{:03d}".format)
    ours, found = both(device, (edges, nodes), (cudf.DataFrame(edges), cudf.DataFrame(nodes)), config=config)
    found.save(tmp_path / "small.herald")
    again = CondensedGraph.load(tmp_path / "small.herald", output_type="pandas")
    pd.testing.assert_series_equal(again.node_ids, ours.node_ids)
    pd.testing.assert_frame_equal(again.features, ours.features)


# Other nodes


@pytest.mark.parametrize("kind", ["array", "sparse", "table"])
@pytest.mark.parametrize("change", [{}, {"pca_variance": 0.8}])
def test_transform_stays_on_the_device(device, cp, cudf, kind, change, config):
    graph = graph_of(sparse=kind == "sparse")
    config = replace(config, **change, exemplar_rule="auto") if change else config  # no landmarks of components
    if kind == "table":
        edges, nodes = graph.to_frames()
        x = nodes[[name for name in nodes if name not in ("label", "train", "node")]]
        given, moved, more = (edges, nodes), (cudf.DataFrame(edges), cudf.DataFrame(nodes)), cudf.DataFrame(x)
    else:
        given, x = parts(graph), graph.features
        moved = [on_device(device, part) for part in given]
        more = moved[1]
    ours, found = both(device, given, moved, config=config)
    with counted_on_device() as made:
        whole = found.transform(more)
    assert made.arrays.total() <= 1  # sizes of kept columns, which tell whether these are the features condensed
    assert made.largest <= 2 * KEPT + 1 or change
    assert isinstance(whole, cudf.DataFrame if kind == "table" else (cp.ndarray, device.sparse.csr_matrix))
    expected = ours.transform(x)
    np.testing.assert_allclose(abs(host(whole)), abs(host(expected)), atol=1e-4 if change else 0)


def test_transform_of_host_features_by_a_graph_on_the_device_and_back(device, cp):
    graph = graph_of()
    ours, found = both(device, parts(graph), [cp.asarray(part) for part in parts(graph)])
    expected = ours.transform(graph.features)
    np.testing.assert_array_equal(found.transform(graph.features), expected)
    there = ours.transform(cp.asarray(graph.features))
    assert isinstance(there, cp.ndarray)
    np.testing.assert_array_equal(there.get(), expected)


def test_transform_refuses(device, cp, cudf):
    graph = graph_of()
    _, found = both(device, parts(graph), [cp.asarray(part) for part in parts(graph)])
    x = cp.asarray(graph.features)
    with pytest.raises(InputError, match="23 columns"):
        found.transform(x[:, 1:])
    x[0, int(found.feature_ids[0])] = cp.nan
    with pytest.raises(InputError, match="NaN"):
        found.transform(x)
    edges, nodes = graph.to_frames()
    _, found = both(device, (edges, nodes), (cudf.DataFrame(edges), cudf.DataFrame(nodes)))
    with pytest.raises(InputError, match="lacks the columns"):
        found.transform(cudf.DataFrame(nodes[["node"]]))


def test_only_names_come_to_the_host(device, cp, config):
    """Nothing that grows with the nodes: kept columns (for their names), class values, counts, figures of columns."""
    graph = graph_of()
    given = [cp.asarray(part) for part in parts(graph)]
    with counted_on_device() as made:
        found = condense(*given, ratio=0.2, config=config, backend=device)
        _ = (found.features, found.labels, found.edges, found.edge_index, found.node_ids, found.adjacency)
    few = 4 * len(set(graph.labels))  # counts by class and a handful of totals travel with the histograms
    assert 1 < made.largest <= max(KEPT, DEGREE_BINS + RATIO_BINS + few, 4 * graph.features.shape[1])


def test_the_host_gets_what_it_gave(device):
    graph = graph_of()
    found = condense(*parts(graph), ratio=0.2, config=CONFIG, backend=device)
    assert isinstance(found.features, np.ndarray)
    assert isinstance(found.adjacency, scipy.sparse.csr_matrix)
    assert isinstance(found.scores, pd.DataFrame)
