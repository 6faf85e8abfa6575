"""Objects of libraries that are not installed here, as far as reading and giving them back goes.

Types are recognised by the module of their class. These refuse every implicit way to the host, as the real ones
do, so that only the spelled-out way works.
"""

from __future__ import annotations

import sys
from types import ModuleType

import scipy.sparse


def _refuse(self, *_, **__):
    msg = f"implicit conversion of {type(self).__name__} to the host"
    raise TypeError(msg)


class _OnDevice:
    """A value on the device; `get` (CuPy) or `to_pandas` (cuDF) is the way back."""

    def __init__(self, value, index=None):
        del index
        self._value = value

    __array__ = __iter__ = __arrow_c_stream__ = __len__ = _refuse


class DataFrame(_OnDevice):
    __module__ = "cudf.core.dataframe"

    def to_pandas(self):
        return self._value


class Series(_OnDevice):
    __module__ = "cudf.core.series"

    def to_pandas(self):
        return self._value


class ndarray(_OnDevice):  # noqa: N801 - the name it has in CuPy
    __module__ = "cupy"

    def get(self):
        return self._value


class csr_matrix(_OnDevice):  # noqa: N801 - the name it has in cupyx
    __module__ = "cupyx.scipy.sparse._csr"

    def get(self):
        return self._value


class Proxy:
    """What `cudf.pandas` puts in the place of a pandas object: a touch of the wrong attribute moves data."""

    __module__ = "pandas"

    def __init__(self, value):
        self._value = value

    @property
    def _fsproxy_slow(self):
        return self._value

    def as_cpu_object(self):
        return self._value

    @property
    def __cuda_array_interface__(self):
        msg = "asking a proxy for this moves it to the device"
        raise AssertionError(msg)

    def __getattr__(self, name):
        msg = f"a proxy was asked for {name}"
        raise AssertionError(msg)


class CudaTensor:
    """A tensor on a GPU, as far as telling its device goes."""

    __module__ = "torch"
    is_cuda = True
    layout = "torch.strided"


class Stream:
    """Anything that speaks the Arrow C stream protocol and nothing else."""

    def __init__(self, arrow):
        self._arrow = arrow

    def __arrow_c_stream__(self, requested_schema=None):
        return self._arrow.__arrow_c_stream__(requested_schema)


def install(monkeypatch):
    """Make `cudf`, `cupy` and `cupyx.scipy.sparse` importable for the length of one test."""
    cudf, cupy, sparse = ModuleType("cudf"), ModuleType("cupy"), ModuleType("cupyx.scipy.sparse")
    cudf.DataFrame, cudf.Series = DataFrame, Series
    cupy.asarray = ndarray
    sparse.csr_matrix = lambda matrix: csr_matrix(scipy.sparse.csr_matrix(matrix))
    for module in (cudf, cupy, sparse):
        monkeypatch.setitem(sys.modules, module.__name__, module)


def dgl():  # noqa: C901 - classes that need torch
    """Make a double of DGL with the signatures of 2.1: keyword-only options, and data of the right length only."""
    import torch

    class Frame(dict):
        """Data of nodes or of edges: tensors with a row for each."""

        def __init__(self, rows):
            super().__init__()
            self.rows = rows

        def __setitem__(self, key, value):
            assert isinstance(key, str)
            assert isinstance(value, torch.Tensor)
            if len(value) != self.rows:
                msg = f"Expect number of features to match number of rows. Got {len(value)} and {self.rows} instead."
                raise ValueError(msg)
            super().__setitem__(key, value)

        def update(self, other):
            for key, value in other.items():
                self[key] = value

    class DGLGraph:
        def __init__(self, source, target, count):
            self._ends, self._count = (source, target), count
            self.ndata, self.edata = Frame(count), Frame(len(source))

        def num_nodes(self):
            return self._count

        def num_edges(self):
            return len(self._ends[0])

        def edges(self):
            return self._ends

    def graph(data, *, num_nodes=None, idtype=None, device=None, row_sorted=False, col_sorted=False):
        del idtype, device, row_sorted, col_sorted
        source, target = data
        for ends in data:
            assert ends.dtype == torch.int64
            assert ends.ndim == 1
            assert not len(ends) or 0 <= int(ends.min()) <= int(ends.max()) < num_nodes
        return DGLGraph(source, target, num_nodes)

    module = ModuleType("dgl")
    module.graph, module.DGLGraph = graph, DGLGraph
    return module
