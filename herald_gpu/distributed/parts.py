"""A partition of a graph: consecutive rows of it, with the columns its edges reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu import ops

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.graph import FeatureKind


@dataclass(frozen=True)
class Layout:
    """What everybody knows of a partitioned graph.

    Attributes
    ----------
    bounds : tuple of int
        Partition p holds nodes bounds[p] to bounds[p + 1] - 1; nodes stand in the order of their ids.
    n_features, n_classes : int
    kind : {"dense", "binary", "sparse"}
    n_edges : int
        Directed edges of the clean graph.
    """

    bounds: tuple[int, ...]
    n_features: int
    n_classes: int
    kind: FeatureKind
    n_edges: int = 0

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.bounds[-1]

    @property
    def n_parts(self) -> int:
        """Number of partitions."""
        return len(self.bounds) - 1


@dataclass(frozen=True)
class Part:
    """Rows of a graph, on one worker.

    Attributes
    ----------
    index : int
        Which partition it is.
    bounds : tuple of int
        Of all partitions.
    adjacency : (n, m) CSR matrix of float32
        Ones; the m columns are the nodes that the edges of these rows reach, ascending, so that sums over a row are
        made in the same order as in the whole graph.
    columns : (m,) int array
        Which nodes they are.
    features : (n, F) matrix of float32
    labels : (n,) int32 array
        Class codes of training nodes; -1 for all others.
    train : (n,) bool array
    """

    index: int
    bounds: tuple[int, ...]
    adjacency: Matrix
    columns: Array
    features: Matrix
    labels: Array
    train: Array

    @property
    def low(self) -> int:
        """First node."""
        return self.bounds[self.index]

    @property
    def n_rows(self) -> int:
        """Number of nodes."""
        return self.bounds[self.index + 1] - self.low


@dataclass(frozen=True)
class Cut:
    """Some rows of a partition, and the nodes whose values they are computed from.

    Attributes
    ----------
    index, bounds
        As of the partition.
    rows : int array
        Rows of the partition, ascending.
    matrix : CSR matrix of float32
        Their edges; columns are those of `columns`.
    columns : int array
        Nodes that the edges reach, and the rows themselves, ascending.
    """

    index: int
    bounds: tuple[int, ...]
    rows: Array
    matrix: Matrix
    columns: Array

    @property
    def own(self) -> Array:
        """The rows as nodes of the whole graph."""
        return self.rows + self.bounds[self.index]


def cut_rows(backend: Backend, part: Part, rows: Array) -> Cut:
    """Cut some rows out of a partition, with no more columns than they reach."""
    xp = backend.xp
    rows = backend.asarray(rows).astype(xp.int64)
    edges = part.adjacency[rows]
    reached = xp.zeros(int(part.columns.shape[0]), dtype=bool)
    reached[edges.indices] = True
    used = part.columns[xp.flatnonzero(reached)]
    columns = xp.unique(xp.concatenate([used, (rows + part.low).astype(part.columns.dtype)]))
    place = xp.searchsorted(columns, part.columns)  # only that of reached columns is ever looked up
    indices = place.astype(edges.indices.dtype)[edges.indices]
    shape = (int(rows.shape[0]), int(columns.shape[0]))
    matrix = backend.sparse.csr_matrix((edges.data, indices, edges.indptr), shape=shape)
    return Cut(part.index, part.bounds, rows, matrix, columns)


def asked_rows(backend: Backend, cut: Cut, owner: int) -> Array:
    """Tell which rows of another partition a cut needs, as that partition numbers them."""
    xp = backend.xp
    low, high = cut.bounds[owner], cut.bounds[owner + 1]
    ends = xp.searchsorted(cut.columns, backend.asarray(np.array([low, high], dtype=np.int64)))
    first, last = (int(end) for end in backend.to_host(ends))
    return (cut.columns[first:last] - low).astype(xp.int32)


def union(backend: Backend, asked: list[Array]) -> Array:
    """Rows that anybody asked for, ascending."""
    return backend.xp.unique(backend.xp.concatenate([backend.asarray(one) for one in asked]))


def places_in(backend: Backend, rows: Array, wanted: Array) -> Array:
    """Where some rows stand among ascending ones that hold them all."""
    wanted = backend.asarray(wanted).astype(rows.dtype)
    return backend.xp.searchsorted(rows, wanted)


def dense_part(backend: Backend, features: Matrix, rows: Array, columns: Array) -> Array:
    """Rows and columns of a feature matrix, as a dense float32 array."""
    part = features[rows]
    part = part[:, columns]
    return part.toarray() if backend.sparse.issparse(part) else backend.xp.ascontiguousarray(part)


def nbytes(value: Any) -> int:  # noqa: ANN401 - arrays, CSR matrices, and what is made of them
    """Bytes of all arrays in a value.

    Examples
    --------
    >>> nbytes([np.zeros(3), (np.zeros(2, dtype=np.int32), None)])
    32
    """
    if isinstance(value, list | tuple):
        return sum(nbytes(one) for one in value)
    if hasattr(value, "indptr"):
        return int(value.data.nbytes + value.indices.nbytes + value.indptr.nbytes)
    if hasattr(value, "nbytes"):
        return int(value.nbytes)
    return sum(nbytes(one) for one in vars(value).values()) if hasattr(value, "__dataclass_fields__") else 0


def received(given: list[Any], own: int) -> int:
    """Bytes that came from other partitions."""
    return sum(nbytes(one) for place, one in enumerate(given) if place != own)


def degrees_of(backend: Backend, part: Part, rows: Array) -> Array:
    """Degrees of some rows, as float32."""
    return ops.degrees(backend, part.adjacency)[backend.asarray(rows)].astype(backend.xp.float32)
