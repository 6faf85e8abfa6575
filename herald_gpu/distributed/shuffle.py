"""Edges brought to the partitions that hold their rows, and partitions made of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse

from herald_gpu import ops
from herald_gpu.distributed.parts import Part, nbytes
from herald_gpu.io import frames, matrices
from herald_gpu.io.kinds import FRAME_KINDS, kind_of
from herald_gpu.io.read import place_ends

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.distributed.pieces import Piece
    from herald_gpu.io.id_columns import Origin
    from herald_gpu.io.read import Columns


@dataclass(frozen=True)
class Bucketed:
    """Edges of one partition of the caller's, as keys ``row * N + column``, by the partition that holds the row.

    Attributes
    ----------
    forward, backward : lists of int64 arrays
        As given, each once; and the other way round.
    n_given, n_loops, n_repeated : int
        Edges given; self loops, and repetitions, among them.
    """

    forward: list[Array]
    backward: list[Array]
    n_given: int
    n_loops: int
    n_repeated: int


@dataclass(frozen=True)
class BucketFacts:
    """How many edges were given, and how many of them were self loops or repeated."""

    n_given: int
    n_loops: int
    n_repeated: int


def bucket_edges(
    backend: Backend,
    edges: Any,  # noqa: ANN401
    columns: Columns,
    ids: Any,  # noqa: ANN401
    bounds: tuple[int, ...],
    origin: Origin,
) -> Bucketed:
    """Sort the edges of one partition by the partition that holds their row, in both directions.

    Parameters
    ----------
    backend : Backend
    edges : table or (2, n) array
    columns : Columns
    ids : array or range
        Of all nodes, ascending.
    bounds : tuple of int
        Of the partitions.
    origin : {"ids", "rows", "array"}
        What ids are.
    """
    xp, n = backend.xp, bounds[-1]
    if kind_of(edges) in FRAME_KINDS:
        ends = frames.read_edge_columns(frames.to_pandas(edges), columns.source, columns.target)[:2]
    else:
        ends = matrices.read_edge_array(edges)
    placed = place_ends(ends, ids, origin, columns.node)
    source, target = (backend.asarray(end).astype(xp.int64) for end in placed)
    given, proper = int(source.shape[0]), xp.flatnonzero(source != target)
    forward = xp.unique(source[proper] * n + target[proper])
    backward = xp.sort(forward % n * n + forward // n)
    starts = backend.asarray(np.array(bounds, dtype=np.int64) * n)
    cuts = [backend.to_host(xp.searchsorted(keys, starts)).tolist() for keys in (forward, backward)]
    split = [
        [keys[low:high] for low, high in pairwise(cut)] for keys, cut in zip((forward, backward), cuts, strict=True)
    ]
    n_proper = int(proper.shape[0])
    return Bucketed(split[0], split[1], given, given - n_proper, n_proper - int(forward.shape[0]))


def bucket_facts(backend: Backend, bucketed: Bucketed) -> BucketFacts:  # noqa: ARG001 - every task has one
    """Tell the counts of a partition of edges."""
    return BucketFacts(bucketed.n_given, bucketed.n_loops, bucketed.n_repeated)


def pick_bucket(backend: Backend, bucketed: Bucketed, owner: int) -> tuple[Array, Array]:  # noqa: ARG001 - as above
    """Edges for one partition."""
    return bucketed.forward[owner].copy(), bucketed.backward[owner].copy()


@dataclass(frozen=True)
class Rows:
    """Edges of the rows of a partition, with the number of repetitions found here and the bytes that came."""

    adjacency: Matrix
    columns: Array
    n_repeated: int
    received: int


def join_edges(backend: Backend, buckets: list[tuple[Array, Array]], bounds: tuple[int, ...], index: int) -> Rows:
    """Make the rows of a partition: every edge there once each way, columns ascending."""
    xp, n, low = backend.xp, bounds[-1], bounds[index]
    came = nbytes(buckets)
    forward = [backend.asarray(one) for one, _ in buckets]
    given = sum(int(one.shape[0]) for one in forward)
    own = xp.unique(xp.concatenate(forward))
    both = xp.unique(xp.concatenate([own, *(backend.asarray(one) for _, one in buckets)]))
    reached = both % n
    narrow = xp.int32 if n <= np.iinfo(np.int32).max else xp.int64
    columns = xp.unique(reached).astype(narrow)
    indices = xp.searchsorted(columns, reached.astype(narrow)).astype(xp.int32)
    starts = xp.arange(low, bounds[index + 1] + 1, dtype=xp.int64) * n
    indptr = xp.searchsorted(both, starts)
    kept = int(both.shape[0])
    indptr = indptr.astype(xp.int32 if kept <= np.iinfo(np.int32).max else xp.int64)
    parts = (xp.ones(kept, dtype=xp.float32), indices, indptr)
    adjacency = backend.sparse.csr_matrix(parts, shape=(bounds[index + 1] - low, int(columns.shape[0])))
    return Rows(adjacency, columns, given - int(own.shape[0]), came)


def make_part(
    backend: Backend,
    rows: Rows,
    pieces: list[tuple[np.ndarray, Piece]],
    classes: np.ndarray,
    index: int,
    bounds: tuple[int, ...],
    sparse: bool,  # noqa: FBT001 - tasks take their arguments by position
) -> Part:
    """Put edges and nodes of a partition together; labels outside the training set are erased.

    Parameters
    ----------
    backend : Backend
    rows : Rows
    pieces : list of (positions, Piece)
        Its nodes, in any order.
    classes : object array
        Values of the classes, ascending.
    index, bounds
        Which partition this is.
    sparse : bool
        Whether features are held as CSR.
    """
    xp = backend.xp
    order = np.argsort(np.concatenate([where for where, _ in pieces]), kind="stable")
    in_order = bool((order == np.arange(len(order))).all())
    features = _below([piece.features for _, piece in pieces])
    features = backend.asarray(features if in_order else features[order])
    if backend.sparse.issparse(features):
        features = features.tocsr().astype(xp.float32)
        features.sum_duplicates()
        features.eliminate_zeros()
        features.sort_indices()
        features = features if sparse else features.toarray()
    else:
        features = xp.ascontiguousarray(features, dtype=xp.float32)
        features = ops.to_csr(backend, features) if sparse else features
    train = np.concatenate([piece.train for _, piece in pieces])[order]
    values = np.concatenate([piece.labels for _, piece in pieces])[order]
    codes = np.full(len(values), -1, dtype=np.int32)
    codes[train] = pd.Index(classes).get_indexer(values[train])
    labels, marks = backend.asarray(codes), backend.asarray(train)
    return Part(index, bounds, rows.adjacency, rows.columns, features, labels, marks)


def _below(parts: list[Matrix]) -> Matrix:
    if any(hasattr(part, "indptr") for part in parts):
        return scipy.sparse.vstack(parts, format="csr")
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


@dataclass(frozen=True)
class PartFacts:
    """Directed edges and stored feature values of a partition, its training nodes by class, and a check sum."""

    n_edges: int
    n_stored: int
    classes: np.ndarray
    check: int


def part_facts(backend: Backend, part: Part, n_classes: int) -> PartFacts:
    """Measure a partition."""
    xp = backend.xp
    sparse = backend.sparse.issparse(part.features)
    values = part.features.data if sparse else part.features
    sums = [ops.tally(backend, part.train.astype(xp.int64), 2), part.columns.sum(dtype=xp.float64)]
    sums += [part.adjacency.indices.sum(dtype=xp.float64), xp.abs(values).sum(dtype=xp.float64)]
    counts = ops.class_counts(backend, part.labels, n_classes)
    found = ops.fetch(backend, counts, xp.count_nonzero(values), *sums)
    check = hash(tuple(float(value) for one in found for value in np.atleast_1d(one)))
    return PartFacts(int(part.adjacency.nnz), int(found[1]), found[0].astype(np.int64), check)


def rows_facts(backend: Backend, rows: Rows) -> tuple[int, int]:  # noqa: ARG001 - every task has one
    """Repetitions found where a row is held, and bytes that came for it."""
    return rows.n_repeated, rows.received
