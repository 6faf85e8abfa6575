"""The PyG transform, and what a PyG user does with it."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch
from numpy.testing import assert_array_equal
from outcomes import HOMOPHILIC, LANDMARKS, RATIO, small_graph

import herald_gpu
from herald_gpu import HeraldConfig, condense
from herald_gpu.errors import BudgetError, InputError, UnsupportedInputError

pyg = pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
from torch_geometric import transforms as T  # noqa: E402, N812 - as PyG users write it
from torch_geometric.data import Data, HeteroData  # noqa: E402
from torch_geometric.loader import DataLoader  # noqa: E402

from herald_gpu.pyg import Condense  # noqa: E402

GRAPH = small_graph(**HOMOPHILIC)
LINKED = HeraldConfig(**LANDMARKS)
FIELDS = {"x": GRAPH.features, "edge_index": GRAPH.edge_index, "y": GRAPH.labels, "train_mask": GRAPH.train}


def given(**more):
    return Data(**{name: torch.from_numpy(values) for name, values in FIELDS.items()}, **more)


def test_the_transform_is_within_reach():
    assert herald_gpu.pyg.Condense is Condense
    assert "pyg" in dir(herald_gpu)
    assert issubclass(Condense, T.BaseTransform)


@pytest.mark.parametrize("config", [None, LINKED, HeraldConfig.paper()])
def test_a_small_data_comes_out(config):
    data = given(val_mask=~torch.from_numpy(GRAPH.train), name="mine")
    before = copy.deepcopy(data)
    transform = Condense(ratio=RATIO, config=config)
    small = transform(data)
    expected = condense(GRAPH.edge_index, GRAPH.features, GRAPH.labels, GRAPH.train, ratio=RATIO, config=config)
    assert isinstance(small, Data)
    assert small.validate()
    assert set(small.keys()) == {*FIELDS, "n_id", "is_landmark", "edge_is_synthetic"}
    assert_array_equal(small.x, expected.features)
    assert_array_equal(small.edge_index, expected.edge_index)
    assert_array_equal(small.y, expected.labels)
    assert_array_equal(small.train_mask, expected.train_mask)
    assert transform.condensed_.report.storage_bytes == expected.report.storage_bytes
    real = ~small.is_landmark
    assert (small.n_id[~real] == -1).all()
    assert_array_equal(small.n_id[real], expected.node_ids[~expected.is_landmark])
    trained = real & small.train_mask
    assert torch.equal(small.y[trained], data.y[small.n_id[trained]])
    assert real.all() == (config == HeraldConfig.paper())
    for name, value in before.to_dict().items():  # the graph that went in is left as it was
        assert torch.equal(value, data[name]) if torch.is_tensor(value) else value == data[name]


def test_only_training_labels_are_read():
    data, blind = given(), given()
    blind.y = torch.where(blind.train_mask, blind.y, 2 - blind.y)
    assert not torch.equal(blind.y, data.y)
    one, other = Condense(ratio=RATIO)(data), Condense(ratio=RATIO)(blind)
    assert all(torch.equal(one[name], other[name]) for name in one.keys())  # noqa: SIM118 - a method of Data


def test_it_composes_and_batches():
    transform = T.Compose([T.NormalizeFeatures(), Condense(ratio=RATIO), T.AddSelfLoops()])
    small = transform(given())
    alone = Condense(ratio=RATIO)(T.NormalizeFeatures()(given()))
    assert torch.equal(small.x, alone.x)
    assert small.has_self_loops()
    batch = next(iter(DataLoader([small, small], batch_size=2)))
    assert batch.num_nodes == 2 * small.num_nodes


def test_without_marks_all_labelled_nodes_train():
    data = given()
    del data.train_mask
    data.y[3] = 7
    assert Condense(ratio=0.9, unlabelled=7)(data).y.max() == 2


def test_a_split_is_a_column_of_the_mask():
    mask = torch.stack([torch.zeros(GRAPH.n_nodes, dtype=torch.bool), torch.from_numpy(GRAPH.train)], dim=1)
    data = given()
    data.train_mask = mask
    one, other = Condense(ratio=RATIO, split=1)(data), Condense(ratio=RATIO)(given())
    assert torch.equal(one.x, other.x)
    assert torch.equal(one.n_id, other.n_id)
    for split in (None, 2, -1):
        with pytest.raises(InputError, match=f"split={split}, but data.train_mask holds 2 splits: pass split=0 to"):
            Condense(ratio=RATIO, split=split)(data)
    with pytest.raises(InputError, match=r"split=1 chooses a column of data.train_mask, .*: leave it out"):
        Condense(ratio=RATIO, split=1)(given())


def test_options_reach_condense():
    with pytest.raises(BudgetError):
        Condense(ratio=1e-6)(given())
    transform = Condense(RATIO, random_state=5, backend="cpu")
    transform(given())
    assert transform.condensed_.report.random_state == 5
    assert transform.condensed_.report.backend == "cpu"


def test_heterogeneous_graphs_are_refused():
    with pytest.raises(UnsupportedInputError, match="heterogeneous graphs are not supported"):
        Condense()(HeteroData())


def test_the_name_tells_what_changes_the_result():
    assert repr(Condense()) == "Condense(ratio=0.01, unlabelled=-1, scale='auto', backend='auto', random_state=0)"
    named = repr(Condense(0.1, split=3, config=LINKED, random_state=2))
    assert "ratio=0.1, split=3" in named
    assert repr(LINKED) in named
    assert "random_state=2" in named


def test_a_used_transform_can_be_pickled():
    transform = Condense(ratio=RATIO)
    small = transform(given())
    again = pickle.loads(pickle.dumps(transform))  # noqa: S301 - our own
    assert torch.equal(again.condensed_.to_pyg().x, small.x)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_whole_graph_with_the_same_features(sparse):
    data = given(test_mask=~torch.from_numpy(GRAPH.train))
    result = condense(data, ratio=RATIO)
    if sparse:
        data.x = data.x.to_sparse_coo()
    whole = result.transform(data)
    assert isinstance(whole, Data)
    dense = whole.x.to_dense() if sparse else whole.x
    assert_array_equal(dense, result.transform(GRAPH.features))
    assert whole.edge_index is data.edge_index
    assert whole.y is data.y
    assert whole.test_mask is data.test_mask
    assert data.num_features == GRAPH.features.shape[1]


def test_new_nodes_need_all_columns():
    result = condense(given(), ratio=RATIO)
    assert result.transform(Data(x=torch.zeros(3, 6))).num_nodes == 3
    with pytest.raises(InputError, match="feats has 5 columns, the full graph had 6"):
        result.transform(Data(x=torch.zeros(3, 5)))
