"""Bringing edges and features of chosen nodes to the worker that looks at them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu.distributed.lead import LeadGraph
from herald_gpu.distributed.parts import nbytes
from herald_gpu.distributed.routes import size_of

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.distributed.job import Job
    from herald_gpu.distributed.parts import Layout, Part


@dataclass(frozen=True)
class Seen:
    """Some nodes of a partition.

    Attributes
    ----------
    edges : CSR matrix
        To all nodes that are wanted, as these are numbered among themselves.
    features : matrix
        Wanted columns of their features.
    """

    edges: Matrix
    features: Matrix


def split_nodes(bounds: tuple[int, ...], nodes: np.ndarray) -> list[np.ndarray]:
    """Rows of every partition, from ascending nodes of the whole graph.

    Examples
    --------
    >>> [rows.tolist() for rows in split_nodes((0, 4, 9), np.array([1, 3, 4, 8]))]
    [[1, 3], [0, 4]]
    """
    ends = np.searchsorted(nodes, bounds)
    return [nodes[ends[p] : ends[p + 1]] - bounds[p] for p in range(len(bounds) - 1)]


def see_rows(backend: Backend, part: Part, rows: np.ndarray, wanted: np.ndarray, columns: np.ndarray | None) -> Seen:
    """Cut out rows with the edges to wanted nodes alone."""
    xp = backend.xp
    nodes = backend.asarray(rows).astype(xp.int64)
    edges, every = part.adjacency[nodes], backend.asarray(wanted).astype(part.columns.dtype)
    # Which columns are wanted is found once for all edges.
    place = xp.searchsorted(every, part.columns)
    there = place < int(every.shape[0])
    there[xp.flatnonzero(there)] = every[place[xp.flatnonzero(there)]] == part.columns[xp.flatnonzero(there)]
    kept = there[edges.indices]
    before = xp.concatenate([xp.zeros(1, dtype=xp.int64), xp.cumsum(kept.astype(xp.int64))])
    chosen = xp.flatnonzero(kept)
    indices = place[edges.indices[chosen]].astype(xp.int32)
    parts = (edges.data[chosen], indices, before[edges.indptr].astype(xp.int32))
    matrix = backend.sparse.csr_matrix(parts, shape=(int(nodes.shape[0]), int(every.shape[0])))
    features = part.features[nodes]
    if columns is not None:
        features = features[:, backend.asarray(columns)]
    if backend.sparse.issparse(features):
        features.sort_indices()
    return Seen(matrix, features)


def see(
    job: Job,
    people: Any,  # noqa: ANN401 - a future
    wanted: np.ndarray,
    columns: np.ndarray | None = None,
    *,
    covered: np.ndarray | None = None,
    around: int = 0,
) -> Any:  # noqa: ANN401 - a future
    """Have a :class:`LeadGraph` of training nodes and wanted ones made on one worker; gives a future.

    Parameters
    ----------
    job : Job
    people : future of arrays
        Training nodes: their ids, and classes.
    wanted : int64 array
        Nodes to see, ascending.
    columns : int array, optional
        Of the features; all by default.
    covered, around
        As of the graph.
    """
    crew, rows = job.crew, split_nodes(job.layout.bounds, wanted)
    seen = [
        crew.submit(see_rows, part, own, wanted, columns, near=part)
        for part, own in zip(job.parts, rows, strict=True)
        if len(own)
    ]
    job.count(sum(crew.gather([crew.submit(size_of, one, near=one) for one in seen])))
    job.count(8 * len(wanted) * len(seen))
    return crew.submit(lead_graph, people, wanted, seen, job.layout, columns, covered, around, near=job.parts[0])


def lead_graph(
    backend: Backend,
    people: list[np.ndarray],
    wanted: np.ndarray,
    seen: list[Seen],
    layout: Layout,
    columns: np.ndarray | None,
    roots: np.ndarray | None,
    around: int,
) -> LeadGraph:
    """Put what was seen together."""
    xp, sparse = backend.xp, backend.sparse
    trained, codes = backend.asarray(people[0]), backend.asarray(people[1])
    nodes = backend.asarray(wanted).astype(xp.int64)
    ids = xp.unique(xp.concatenate([trained, nodes]))
    n, width = int(ids.shape[0]), layout.n_features if columns is None else len(columns)
    where = xp.searchsorted(ids, nodes)
    place, labels, train = xp.full(n, -1, dtype=xp.int64), xp.full(n, -1, dtype=xp.int32), xp.zeros(n, dtype=bool)
    place[where] = xp.arange(int(nodes.shape[0]))
    own = xp.searchsorted(ids, trained)
    labels[own], train[own] = codes, True
    covered = xp.zeros(n, dtype=bool)
    covered[xp.searchsorted(ids, backend.asarray(wanted[:0] if roots is None else roots).astype(xp.int64))] = True
    lengths = xp.zeros(n + 1, dtype=xp.int64)
    if seen:
        edges = sparse.vstack([one.edges for one in seen], format="csr")
        lengths[where + 1] = xp.diff(edges.indptr).astype(xp.int64)
        indices, data = where[edges.indices].astype(xp.int32), edges.data
        features = _below(backend, [one.features for one in seen])
    else:
        indices, data = xp.zeros(0, dtype=xp.int32), xp.zeros(0, dtype=xp.float32)
        empty = xp.zeros((0, width), dtype=xp.float32)
        features = empty if layout.kind == "dense" else sparse.csr_matrix(empty)
    indptr = xp.cumsum(lengths).astype(xp.int32)
    adjacency = sparse.csr_matrix((data, indices, indptr), shape=(n, n))
    return LeadGraph(
        adjacency=adjacency,
        features=features,
        kind=layout.kind,
        labels=labels,
        train=train,
        n_classes=layout.n_classes,
        ids=ids,
        place=place,
        covered=covered,
        around=around,
    )


def _below(backend: Backend, parts: list[Matrix]) -> Matrix:
    if backend.sparse.issparse(parts[0]):
        return backend.sparse.vstack(parts, format="csr")
    return backend.xp.concatenate(parts)


def people_of(backend: Backend, part: Part, rows: Array) -> list[np.ndarray]:
    """Training nodes of a partition: their ids in the whole graph, and their classes (partial)."""
    ids = backend.to_host(rows).astype(np.int64) + part.low
    return [ids, backend.to_host(part.labels[rows]), np.array(0)]


def join_people(backend: Backend, parts: list[list[np.ndarray]]) -> list[np.ndarray]:  # noqa: ARG001 - every task has one
    """Training nodes of several partitions, one after the other (combine)."""
    came = sum(nbytes(part[:-1]) for part in parts[1:])
    *arrays, before = zip(*parts, strict=True)
    return [*(np.concatenate(one, axis=-1) for one in arrays), np.array(came + sum(int(one) for one in before))]
