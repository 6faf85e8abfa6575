"""Dask collections taken apart into partitions: dask.dataframe, dask_cudf, dask.array."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from herald_gpu.distributed.numbering import settle_table
from herald_gpu.distributed.pieces import piece_levels
from herald_gpu.errors import InputError, UnsupportedInputError
from herald_gpu.io import categories, frames, id_columns, labels, marks, matrices
from herald_gpu.io.kinds import is_dask, kind_of
from herald_gpu.io.read import Columns, Style, check_node_column, check_once, no_labels, no_train_column

if TYPE_CHECKING:
    from herald_gpu.distributed.crew import Crew
    from herald_gpu.io.categories import Levels
    from herald_gpu.io.id_columns import Origin
    from herald_gpu.io.kinds import Kind


@dataclass(frozen=True)
class Given:
    """The caller's collections, partition by partition.

    Attributes
    ----------
    edges, nodes : lists of futures
        Tables or arrays.
    labels, train : lists
        One for each partition of nodes: futures, arrays or None.
    marked : bool
        Whether the caller says which nodes are for training.
    firsts : list of int
        Number of the first row of each partition of nodes; 0 where ids are told by a table.
    origin : {"ids", "rows", "array"}
        What ids are.
    names : list
        Of the features.
    label_name : str
        What to call labels in messages.
    columns : Columns
    unlabelled : object
    style : Style
        What results are given as.
    warnings : list of str
    categories : dict
        Levels of the columns that are encoded one-hot, over all partitions.
    """

    edges: list[Any]
    nodes: list[Any]
    labels: list[Any]
    train: list[Any]
    marked: bool
    firsts: list[int]
    origin: Origin
    names: list[Any]
    label_name: str
    columns: Columns
    unlabelled: Any
    style: Style
    warnings: list[str]
    categories: Levels = field(default_factory=dict)


def take_apart(
    crew: Crew,
    edges: Any,  # noqa: ANN401 - a collection
    feats: Any,  # noqa: ANN401 - as above
    given_labels: Any,  # noqa: ANN401 - a dask array, a vector, or None
    given_train: Any,  # noqa: ANN401 - as above, or node ids
    *,
    columns: Columns,
    unlabelled: Any,  # noqa: ANN401
) -> Given:
    """Check collections by what they say of themselves, and have their partitions computed on the workers."""
    warnings = []
    if is_table(edges):
        warnings = frames.check_edge_columns(_empty(edges), columns.source, columns.target)
        chunks = edges[[columns.source, columns.target]].to_delayed()
    else:
        matrices.check_edge_shape(edges)
        chunks = list(edges.rechunk({0: -1}).to_delayed().ravel())
    kind: Kind = _of_partitions(edges)
    given_edges = crew.bring(chunks)
    if is_table(feats):
        given = _table(crew, feats, given_labels, given_train, given_edges, columns, unlabelled)
        style = replace(given.style, edges=kind)
        return replace(given, style=style, warnings=warnings + given.warnings)
    matrices.check_features(feats)
    categories.check_unnamed(columns, feats)
    rows = feats.rechunk({1: -1})
    lengths = _lengths(rows)
    if given_labels is None:
        raise no_labels(columns)
    if given_train is None and columns.train != Columns.train:
        raise no_train_column(columns)
    return Given(
        edges=given_edges,
        nodes=crew.bring(list(rows.to_delayed().ravel())),
        labels=_vector(crew, given_labels, lengths, "labels"),
        train=_vector(crew, given_train, lengths, "train"),
        marked=given_train is not None,
        firsts=np.cumsum([0, *lengths[:-1]]).tolist(),
        origin="array",
        names=list(range(int(feats.shape[1]))),
        label_name="labels",
        columns=columns,
        unlabelled=unlabelled,
        style=Style(kind, _of_partitions(feats), sparse=False),
        warnings=warnings,
    )


def _table(
    crew: Crew,
    feats: Any,  # noqa: ANN401 - a dask table
    given_labels: Any,  # noqa: ANN401
    given_train: Any,  # noqa: ANN401
    edges: list[Any],
    columns: Columns,
    unlabelled: Any,  # noqa: ANN401
) -> Given:
    """Nodes of a table."""
    empty = _empty(feats)
    check_node_column(empty, columns)
    categories.check_names(columns, empty.columns)
    if columns.drop:
        feats, columns = feats[categories.kept_names(columns, empty.columns)], replace(columns, drop=())
        empty = _empty(feats)
    held = {name: empty[name] if name in empty.columns else None for name in (columns.label, columns.train)}
    check_once(given_labels, held[columns.label], columns.label, "labels")
    check_once(given_train, held[columns.train], columns.train, "train")
    if given_labels is not None or (given_train is not None and not _are_ids(given_train)):
        name = "train" if given_labels is None else "labels"
        msg = f"{name}= is given beside a Dask table, whose rows have no numbers: make it a column of feats"
        raise UnsupportedInputError(msg)
    if held[columns.label] is None:
        raise no_labels(columns)
    if given_train is None and held[columns.train] is None and columns.train != Columns.train:
        raise no_train_column(columns)
    given_pieces = crew.bring(feats.to_delayed())
    settled, firsts = settle_table(crew, empty, given_pieces, edges, columns)
    empty, kept = id_columns.without(empty, settled.dropped), id_columns.without(feats, settled.dropped)
    names = [name for name in empty.columns if name not in (columns.node, columns.label, columns.train)]
    numbers = [name for name in names if name not in columns.categorical]
    if numbers or not names:
        frames.check_feature_columns(empty, numbers, "feats")
    pieces = given_pieces if kept is feats else crew.bring(kept.to_delayed())
    levels, notes = _levels(crew, pieces, list(empty.columns), columns)
    ids = None if given_train is None else pd.unique(np.asarray(labels.train_vector(given_train)))
    kind = _of_partitions(feats)
    return Given(
        edges=edges,
        nodes=pieces,
        labels=[None] * len(pieces),
        train=[ids] * len(pieces),
        marked=given_train is not None or held[columns.train] is not None,
        firsts=firsts,
        origin=settled.origin,
        names=categories.encoded_names(names, levels),
        label_name=f"feats column {columns.label!r}",
        columns=columns,
        unlabelled=unlabelled,
        style=Style(kind, kind, sparse=False),
        warnings=[*settled.notes, *notes],
        categories=levels,
    )


def _levels(crew: Crew, pieces: list[Any], there: list[Any], columns: Columns) -> tuple[Levels, list[str]]:
    """Levels of the columns to encode, over all partitions, and notes about missing values."""
    if not columns.categorical:
        return {}, []
    found = crew.gather([crew.submit(piece_levels, piece, columns.categorical, near=piece) for piece in pieces])
    n_rows, parts = sum(rows for rows, _ in found), [part for _, part in found]
    names = [name for name in there if name in columns.categorical]
    levels = categories.settle({name: [v for one in parts for v in one[name][0]] for name in names}, there, n_rows)
    missing = {name: sum(one[name][1] for one in parts) for name in names}
    return levels, [note for name in names for note in categories.missing_note(name, missing[name], n_rows)]


def is_table(value: Any) -> bool:  # noqa: ANN401 - a collection
    """Tell tables from arrays."""
    return hasattr(value, "npartitions") and hasattr(value, "columns")


def _empty(table: Any) -> Any:  # noqa: ANN401 - a table without rows
    return table._meta  # noqa: SLF001 - what Dask knows of a table before any of it is computed


def _of_partitions(value: Any) -> Kind:  # noqa: ANN401 - a collection
    kind = kind_of(_empty(value))
    return "numpy" if kind in ("other", "scipy") else kind


def _are_ids(train: Any) -> bool:  # noqa: ANN401 - a mask, ids, or a collection
    """Tell ids from a mask: booleans, or zeros and ones or words of which some are repeated."""
    if is_dask(train):
        return False
    values = np.asarray(labels.train_vector(train))
    repeated = values.ndim == 1 and len(set(values.tolist())) < len(values)
    return values.dtype != bool and not (repeated and marks.understood(marks.distinct_of(values)))


def _lengths(rows: Any) -> list[int]:  # noqa: ANN401 - a dask array
    lengths = list(rows.chunks[0])
    if any(np.isnan(length) for length in lengths):
        msg = "feats is a Dask array of unknown length: call .compute_chunk_sizes() on it first"
        raise InputError(msg)
    return [int(length) for length in lengths]


def _vector(crew: Crew, values: Any, lengths: list[int], argument: str) -> list[Any]:  # noqa: ANN401
    """Entries of each partition of rows."""
    if values is None:
        return [None] * len(lengths)
    n_rows = sum(lengths)
    if is_dask(values):
        if is_table(values) or hasattr(values, "to_dask_array"):
            msg = f"{argument}= is a Dask table beside a Dask array: pass an array (.to_dask_array(lengths=True))"
            raise UnsupportedInputError(msg)
        if values.ndim != 1 or values.shape[0] != n_rows:
            msg = f"{argument} has shape {values.shape} but there are {n_rows} nodes: pass one entry a node"
            raise InputError(msg)
        return crew.bring(list(values.rechunk({0: tuple(lengths)}).to_delayed()))
    host = matrices.to_numpy(values)
    if argument == "train" and host.dtype != bool:
        marked = labels.read_train(values, np.arange(n_rows), "train")
        host = marked.train if marked.reading is None else host
    entries = np.asarray(labels.aligned(host, np.arange(n_rows), argument))
    return np.split(entries, np.cumsum(lengths)[:-1])
