"""Partitions of the caller's collections, read on the workers that hold them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from herald_gpu.errors import InputError
from herald_gpu.graph import first_bad
from herald_gpu.io import categories, frames, labels, marks, matrices
from herald_gpu.io.kinds import FRAME_KINDS, kind_of
from herald_gpu.io.read import places

if TYPE_CHECKING:
    from herald_gpu.backend import Backend, Matrix
    from herald_gpu.io.categories import Levels
    from herald_gpu.io.marks import Reading
    from herald_gpu.io.read import Columns

Bad = tuple[int, int, Any]


@dataclass(frozen=True)
class Piece:
    """Nodes as they came, on the host.

    Attributes
    ----------
    ids : array
    features : float32 array or CSR matrix
    labels : object array
    known, train : bool arrays
        Which labels are known; which nodes are for training.
    reading : Reading, optional
        How training marks were read, where they are no booleans.
    """

    ids: np.ndarray
    features: Matrix
    labels: np.ndarray
    known: np.ndarray
    train: np.ndarray
    reading: Reading | None


@dataclass(frozen=True)
class PieceFacts:
    """What the whole graph must know of a piece.

    Attributes
    ----------
    n_rows, n_known, n_train, n_blind, n_unlabelled : int
        Nodes; with known labels; for training; for training without a label; with the label that means unknown.
    first, last : ids
        Of its nodes, where they ascend.
    ascending : bool
        Whether ids ascend, none twice.
    whole : bool
        Whether ids are integers.
    seen : object array
        Labels of training nodes, each once.
    n_stored : int
        Feature values that are not zero.
    binary : bool
        Whether all of those are 1.
    bad : tuple, optional
        How many feature values are no numbers; column and id of the first.
    reading : Reading, optional
        How training marks were read.
    """

    n_rows: int
    n_known: int
    n_train: int
    n_blind: int
    n_unlabelled: int
    first: Any
    last: Any
    ascending: bool
    whole: bool
    seen: np.ndarray
    n_stored: int
    binary: bool
    bad: Bad | None
    reading: Reading | None


def read_piece(
    backend: Backend,  # noqa: ARG001 - every task has one
    rows: Any,  # noqa: ANN401 - a partition: table or matrix
    given_labels: Any,  # noqa: ANN401 - a vector, or None
    given_train: Any,  # noqa: ANN401 - a mask, ids, or None
    columns: Columns,
    unlabelled: Any,  # noqa: ANN401
    first: int,
    levels: Levels,
) -> Piece:
    """Read nodes of one partition.

    Parameters
    ----------
    backend : Backend
    rows : table, array or CSR matrix
    given_labels, given_train
        Of these rows; ids of training nodes may name others too.
    columns : Columns
    unlabelled : object
    first : int
        Number of the first row, which ids are counted from where there are none.
    levels : dict
        Levels of encoded columns in all partitions.
    """
    is_table = kind_of(rows) in FRAME_KINDS
    if is_table:
        frame = categories.encode(frames.to_pandas(rows), columns, levels).frame
        table = frames.read_node_table(frame, node=columns.node, label=columns.label, train=columns.train)
        ids, features = table.ids + first if columns.node is None else table.ids, table.features
        held, column = table.labels, table.train
    else:
        features = matrices.read_feature_matrix(rows)
        ids, held, column = np.arange(first, first + features.shape[0]), None, None
    name = "labels" if held is None else f"feats column {columns.label!r}"
    values = held if held is not None else labels.aligned(given_labels, ids, "labels")
    values, known = labels.read_labels(values, unlabelled, name)
    if column is not None:
        marked = marks.read_marks(column, f"feats column {columns.train!r}")
    elif given_train is None:
        marked = marks.Marks(known)
    elif is_table:
        marked = marks.Marks(pd.Index(given_train).get_indexer(ids) >= 0)
    else:
        marked = marks.read_marks(pd.Series(np.asarray(labels.aligned(given_train, ids, "train"))), "train")
    return Piece(ids, features, values, known, marked.train, marked.reading)


def piece_levels(
    backend: Backend,  # noqa: ARG001 - every task has one
    rows: Any,  # noqa: ANN401 - a partition of a table
    names: tuple[Any, ...],
) -> tuple[int, dict[Any, tuple[list[Any], int]]]:
    """Count rows; find the levels of some columns (one more than allowed tells of too many), and missing values."""
    frame, found = frames.to_pandas(rows), {}
    for name in names:
        codes, values = categories.factored(frame[name], name)
        found[name] = values[: categories.MOST_LEVELS + 1], int((codes < 0).sum())
    return len(frame), found


def piece_facts(backend: Backend, piece: Piece) -> PieceFacts:  # noqa: ARG001 - every task has one
    """Measure a piece."""
    stored = piece.features.data if hasattr(piece.features, "indptr") else piece.features
    seen = piece.labels[piece.train & piece.known]
    return PieceFacts(
        n_rows=len(piece.ids),
        n_known=int(piece.known.sum()),
        n_train=int(piece.train.sum()),
        n_blind=int((piece.train & ~piece.known).sum()),
        n_unlabelled=labels.count_named(piece.labels, piece.known),
        first=piece.ids[0] if len(piece.ids) else None,
        last=piece.ids[-1] if len(piece.ids) else None,
        ascending=_ascending(piece.ids),
        whole=piece.ids.dtype.kind in "iu",
        seen=np.array(list(dict.fromkeys(seen.tolist())), dtype=object),
        n_stored=int(np.count_nonzero(stored)),
        binary=bool(((stored == 0) | (stored == 1)).all()),
        bad=_bad(piece),
        reading=piece.reading,
    )


def _ascending(ids: np.ndarray) -> bool:
    try:
        return bool((ids[1:] > ids[:-1]).all())
    except TypeError as error:
        msg = "node ids mix types that do not compare: make them all integers or all strings"
        raise InputError(msg) from error


def _bad(piece: Piece) -> Bad | None:
    count, row, column = first_bad(np, piece.features)
    if count == 0:
        return None
    return count, column, piece.ids[row : row + 1].tolist()[0]


def sorted_ids(backend: Backend, pieces: list[np.ndarray]) -> np.ndarray:  # noqa: ARG001 - every task has one
    """Ids of all nodes, ascending."""
    every = np.concatenate(pieces)
    try:
        every = np.sort(every, kind="stable")
    except TypeError as error:
        msg = "node ids mix types that do not compare: make them all integers or all strings"
        raise InputError(msg) from error
    repeated = every[1:][every[1:] == every[:-1]]
    if len(repeated):
        msg = f"feats has duplicate node ids {frames.some(pd.unique(repeated))}: keep one row for each node"
        raise InputError(msg)
    return every


def piece_ids(backend: Backend, piece: Piece) -> np.ndarray:  # noqa: ARG001 - every task has one
    """Ids of a piece."""
    return piece.ids


def slice_piece(
    backend: Backend,  # noqa: ARG001 - every task has one
    piece: Piece,
    ids: np.ndarray | range,
    low: int,
    high: int,
) -> tuple[np.ndarray, Piece]:
    """Rows of a piece that belong to a partition, with their positions among all nodes."""
    where = places(piece.ids, ids)
    mine = np.flatnonzero((where >= low) & (where < high))
    taken = {name: value[mine] for name, value in vars(piece).items() if name != "reading"}
    return where[mine], replace(piece, **taken)
