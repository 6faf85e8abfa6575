"""Foreign types are told by name, without importing their libraries, and devices are not mixed."""

from __future__ import annotations

import subprocess
import sys

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import strangers
import torch

from herald_gpu.errors import DeviceError, MissingDependencyError
from herald_gpu.io.kinds import check_devices, device_of, kind_of, library, unproxy


class OwnFrame(pd.DataFrame):
    """A subclass defined elsewhere, as geopandas has them."""


EXAMPLES = {
    "none": None,
    "pandas": pd.DataFrame({"a": [1]}),
    "pandas series": pd.Series([1]),
    "pandas array": pd.array([1], dtype="Int64"),
    "pandas subclass": OwnFrame({"a": [1]}),
    "polars": pl.DataFrame({"a": [1]}),
    "polars lazy": pl.DataFrame({"a": [1]}).lazy(),
    "arrow": pa.table({"a": [1]}),
    "arrow array": pa.array([1]),
    "arrow stream": strangers.Stream(pa.table({"a": [1]})),
    "numpy": np.zeros(1),
    "scipy": scipy.sparse.eye_array(2, format="csr"),
    "scipy matrix": scipy.sparse.csr_matrix((2, 2)),
    "torch": torch.zeros(1),
    "torch parameter": torch.nn.Parameter(torch.zeros(1)),
    "networkx": nx.Graph(),
    "networkx multi": nx.MultiDiGraph(),
    "cudf": strangers.DataFrame(None),
    "cudf series": strangers.Series(None),
    "cupy": strangers.ndarray(None),
    "cupyx": strangers.csr_matrix(None),
    "other": [1, 2],
    "other dict": {},
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_family_is_told_subclasses_included(name):
    assert kind_of(EXAMPLES[name]) == name.split()[0]


def test_pyg_data_is_told_from_tensors():
    data = pytest.importorskip("torch_geometric.data", reason="torch_geometric is not installed")
    assert kind_of(data.Data()) == "pyg"
    assert kind_of(data.HeteroData()) == "pyg"


def test_telling_families_imports_nothing():
    code = (
        "import sys; from herald_gpu.io.kinds import kind_of, device_of, unproxy\n"
        "Frame = type('DataFrame', (), {'__module__': 'cudf.core.dataframe'})\n"
        "Tensor = type('Tensor', (), {'__module__': 'torch', 'is_cuda': False})\n"
        "assert kind_of(unproxy(Frame())) == 'cudf' and device_of(Frame()) == 'cuda'\n"
        "assert kind_of(Tensor()) == 'torch' and device_of(Tensor()) == 'host'\n"
        "assert not {'cudf', 'cupy', 'torch', 'pandas', 'polars', 'networkx'} & set(sys.modules), sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - this interpreter, our own code


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ([1, 2], None),
        (nx.Graph(), None),
        (np.zeros(1), "host"),
        (pd.Series([1]), "host"),
        (torch.zeros(1), "host"),
        (scipy.sparse.csr_matrix((1, 1)), "host"),
        (strangers.DataFrame(None), "cuda"),
        (strangers.Series(None), "cuda"),
        (strangers.ndarray(None), "cuda"),
        (strangers.csr_matrix(None), "cuda"),
        (strangers.CudaTensor(), "cuda"),
    ],
)
def test_the_device_is_told(value, expected):
    assert device_of(value) == expected


def test_pyg_data_lives_where_its_edges_do():
    data = pytest.importorskip("torch_geometric.data", reason="torch_geometric is not installed")
    assert device_of(data.Data(edge_index=torch.zeros((2, 1), dtype=torch.long))) == "host"
    assert device_of(data.Data(edge_index=strangers.CudaTensor())) == "cuda"


def test_one_device_is_fine_and_named():
    assert check_devices(edges=np.zeros(1), feats=pd.Series([1]), labels=None, train=[1]) == "host"
    assert check_devices(edges=strangers.DataFrame(None), feats=strangers.ndarray(None)) == "cuda"
    assert check_devices(train=[1]) == "host"


def test_mixed_devices_are_refused_by_name():
    with pytest.raises(DeviceError, match=r"edges on cuda, feats on host.*move them all to one"):
        check_devices(edges=strangers.DataFrame(None), feats=np.zeros(1), labels=None)


def test_a_proxy_is_unwrapped_and_never_touched_otherwise():
    frame = pd.DataFrame({"a": [1]})
    assert unproxy(strangers.Proxy(frame)) is frame
    assert unproxy(frame) is frame
    assert unproxy(None) is None


def test_a_proxy_without_a_method_gives_its_slow_object():
    class Older:
        _fsproxy_slow = "the pandas object"

    assert unproxy(Older()) == "the pandas object"


def test_a_missing_library_is_named_with_its_pip_line():
    with pytest.raises(MissingDependencyError, match=r"no_such_library is needed.*pip install no-such-library"):
        library("no_such_library")
    with pytest.raises(ImportError, match="pip install 'pyarrow>=17'"):
        library("no_such_library", "arrow")
    assert library("numpy") is np
