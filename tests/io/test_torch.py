"""Tensors and PyG data objects in and out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import torch
from numpy.testing import assert_array_equal

from herald_gpu.errors import InputError, UnsupportedInputError
from herald_gpu.io.torch import read_pyg, to_numpy, to_pyg, to_sparse_tensor, to_tensor, unpack, with_features

EDGES = torch.tensor([[0, 1], [1, 0]])


@pytest.fixture(scope="module")
def pyg():
    return pytest.importorskip("torch_geometric.data", reason="torch_geometric is not installed")


def test_a_data_object_is_taken_apart(pyg):
    x, y, mask = torch.eye(2), torch.tensor([0, 1]), torch.tensor([True, False])
    edge_index, features, labels, train, warnings = read_pyg(pyg.Data(x=x, edge_index=EDGES, y=y, train_mask=mask))
    assert edge_index is EDGES
    assert features is x
    assert labels is y
    assert train is mask
    assert warnings == []


def test_absent_parts_are_none(pyg):
    _, *rest, warnings = read_pyg(pyg.Data(edge_index=EDGES))
    assert rest == [None, None, None]
    assert warnings == []


@pytest.mark.parametrize("name", ["edge_attr", "edge_weight"])
def test_edge_attributes_are_ignored_with_a_warning(pyg, name):
    *_, warnings = read_pyg(pyg.Data(edge_index=EDGES, **{name: torch.ones(2)}))
    assert warnings == [f"edge attributes ['{name}'] are ignored"]


@pytest.mark.parametrize(
    ("kind", "match"),
    [("HeteroData", "heterogeneous graphs are not supported"), ("TemporalData", "temporal graphs are not supported")],
)
def test_other_kinds_of_data_are_refused_by_name(pyg, kind, match):
    with pytest.raises(UnsupportedInputError, match=match):
        read_pyg(getattr(pyg, kind)())


def test_data_without_edges_is_refused(pyg):
    with pytest.raises(InputError, match="edges is a PyG Data without edge_index: set it"):
        read_pyg(pyg.Data(x=torch.eye(2)))


def test_several_splits_ask_for_one(pyg):
    data = pyg.Data(edge_index=EDGES, train_mask=torch.ones((2, 10), dtype=torch.bool))
    with pytest.raises(InputError, match=r"train_mask has shape \(2, 10\): pass train=data.train_mask\[:, k\]"):
        unpack(data, None, None, None)
    chosen = data.train_mask[:, 3]
    assert unpack(data, None, None, chosen)[3] is chosen


def test_tensors_are_copies():
    array = np.zeros(3)
    tensor = to_tensor(array)
    array[0] = 1
    assert tensor.tolist() == [0, 0, 0]


def test_tensors_come_to_numpy():
    assert_array_equal(to_numpy(torch.tensor([1.5], requires_grad=True)), [1.5])
    assert to_numpy(torch.tensor([1.5]).bfloat16()).dtype == np.float32


def test_sparse_tensors_hold_the_same_entries():
    matrix = scipy.sparse.csr_matrix(np.array([[0, 2.0], [3.0, 0]], dtype=np.float32))
    tensor = to_sparse_tensor(matrix)
    assert tensor.is_coalesced()
    assert_array_equal(tensor.to_dense().numpy(), matrix.toarray())


def test_fields_become_data(pyg):
    data = to_pyg({"x": torch.ones(2, 1), "edge_index": EDGES, "n_id": ["a", "b"]})
    assert isinstance(data, pyg.Data)
    assert torch.equal(data.edge_index, EDGES)
    assert data.n_id == ["a", "b"]
    assert data.num_nodes == 2


def test_data_with_other_features_is_a_copy(pyg):
    data = pyg.Data(x=torch.eye(2), edge_index=EDGES, y=torch.tensor([0, 1]), name="mine")
    found = with_features(data, lambda x: 2 * x)
    assert torch.equal(found.x, 2 * torch.eye(2))
    assert torch.equal(data.x, torch.eye(2))
    assert found.edge_index is EDGES
    assert found.y is data.y
    assert found.name == "mine"


def test_only_data_with_features_has_other_features(pyg):
    with pytest.raises(InputError, match="feats is a PyG Data without x: set it"):
        with_features(pyg.Data(edge_index=EDGES), torch.neg)
    with pytest.raises(UnsupportedInputError, match="heterogeneous graphs are not supported"):
        with_features(pyg.HeteroData(), torch.neg)
