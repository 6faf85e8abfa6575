"""Training and test nodes of a graph kept in files, in the order of node ids."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu.commands._graphs import MASKS, Given, columns_of, is_archive, read_files
from herald_gpu.datasets.splits import Split, paper_split, random_split, rest_split
from herald_gpu.errors import ConfigError
from herald_gpu.io import categories, frames, labels
from herald_gpu.io.kinds import kind_of
from herald_gpu.io.marks import Marks, read_marks
from herald_gpu.io.read import Columns, id_order, no_labels, no_train_column, places, read

if TYPE_CHECKING:
    import argparse

    from numpy.typing import NDArray

    from herald_gpu.result import CondensedGraph

logger = logging.getLogger("herald_gpu")


@dataclass(frozen=True, eq=False)
class FullGraph:
    """A graph to test on, with nodes in the order of their ids.

    Attributes
    ----------
    edge_index : (2, E) int array
    features : (N, F) float32 array or CSR matrix
    labels : (N,) array
        The values that the files have; None where unknown.
    node_ids : (N,) array
    train, validation, test : (N,) bool arrays
    """

    edge_index: NDArray[Any]
    features: Any
    labels: NDArray[Any]
    node_ids: NDArray[Any]
    train: NDArray[np.bool_]
    validation: NDArray[np.bool_]
    test: NDArray[np.bool_]


def drawn(args: argparse.Namespace) -> bool:
    """Tell whether a split is to be drawn, not taken from the files."""
    return args.split == "paper" or isinstance(args.split, int)


def to_condense(args: argparse.Namespace) -> tuple[Any, Any, Any, Any]:
    """Give edges, features, labels and training nodes as :func:`herald_gpu.condense` takes them.

    Raises
    ------
    ConfigError
        If a split is asked for that the files do not have, or beside one that a table has.
    """
    given = read_files(args, whole=drawn(args))
    if drawn(args):
        ids, known = _labelled(_dropped(given, columns_of(args)), columns_of(args), args.unlabelled)
        order = id_order(ids)
        train = np.zeros(len(ids), dtype=bool)
        train[order] = _draw(args.split, len(ids)).train
        return given.edges, given.features, given.labels, _marks(given, train & known, ids)
    if args.split is not None:
        _check_own(given, args)
    return given.edges, given.features, given.labels, given.masks[0]


def to_test(args: argparse.Namespace, result: CondensedGraph | None = None) -> FullGraph:
    """Read the whole graph with all its labels and a split into training, validation and test nodes.

    Parameters
    ----------
    args : argparse.Namespace
    result : CondensedGraph, optional
        What is trained on: columns are dropped and encoded as when it was made, unless the options say otherwise.

    Raises
    ------
    ConfigError
        If the files leave no node to test on.
    """
    levels = None if result is None else result.categories
    if result is not None and args.data is None and not is_archive(args.features):
        args.drop, args.categorical = args.drop or result.columns.drop, args.categorical or result.columns.categorical
    given, columns = read_files(args, whole=True, levels=levels), columns_of(args)
    if _is_table(given):
        given, columns = _dropped(given, columns), replace(columns, drop=())
    if args.split is not None and not drawn(args):
        _check_own(given, args)
    marks = Marks(*given.masks)
    if _is_table(given):
        given, marks = _without_marks(given, args)
    # Without training marks, every label is read: those of test nodes are needed here.
    unmarked = replace(columns, train=None)
    found = read(given.edges, given.features, given.labels, columns=unmarked, unlabelled=args.unlabelled, levels=levels)
    for note in (*found.warnings, *marks.notes):
        logger.warning("%s", note)
    ids, masks = _row_ids(given, columns), [marks.train, marks.validation, marks.test]
    known = found.codes >= 0
    values = np.full(len(known), None, dtype=object)
    values[known] = found.class_values[found.codes[known]]
    if drawn(args):
        split = _draw(args.split, len(known))
    elif masks[0] is None:
        msg = (
            f"{args.data or args.features} does not say which nodes are for training, so none is left to test on: "
            f"condense and evaluate with --split paper or a seed, or add a {_marks_name(given, args)}"
        )
        raise ConfigError(msg)
    else:
        split = _own(masks, places(ids, found.node_ids), known)
    parts = {name: getattr(split, name) & known for name in MASKS}
    edges = np.stack([found.source, found.target])
    return FullGraph(edges, found.features, values, found.node_ids, **parts)


def _is_table(given: Given) -> bool:
    """Tell tables from arrays, which do not cost the import of pandas."""
    return kind_of(given.features) == "pandas"


def _marks(given: Given, train: NDArray[np.bool_], ids: NDArray[Any]) -> Any:  # noqa: ANN401 - by row, or by id
    if given.labels is not None:
        return train
    import pandas as pd

    return pd.Series(train, index=ids)


def _dropped(given: Given, columns: Columns) -> Given:
    """Take the columns to leave out from the table of nodes."""
    if not (columns.drop and _is_table(given)):
        return given
    categories.check_names(columns, given.features.columns)
    return replace(given, features=given.features.drop(columns=list(columns.drop)))


def _draw(choice: Any, n: int) -> Split:  # noqa: ANN401 - a name or a seed
    return paper_split(n) if choice == "paper" else random_split(n, choice)


def _check_own(given: Given, args: argparse.Namespace) -> None:
    """Refuse to take a split from files that have none, or only one."""
    table = _is_table(given) or isinstance(given.features, Path)
    if table and isinstance(args.split, tuple):
        msg = f"--split source:{args.split[1]}: a table has one split, its column {args.train_column!r}: pass source"
        raise ConfigError(msg)
    if not table and given.masks[0] is None:
        msg = f"--split source: {args.data or args.features} has no train_mask: add it, or pass paper or a seed"
        raise ConfigError(msg)


def _own(masks: list[Any], place: NDArray[Any], known: NDArray[np.bool_]) -> Split:
    """Bring masks from the order of rows to that of ids; draw validation and test nodes where there are none."""
    ordered = []
    for mask in masks:
        if mask is not None:
            ordered.append(np.zeros(len(known), dtype=bool))
            ordered[-1][place] = mask
    return Split(*ordered) if len(ordered) == len(MASKS) else rest_split(ordered[0], known)


def _row_ids(given: Given, columns: Columns) -> NDArray[Any]:
    if _is_table(given) and columns.node is not None:
        ids: NDArray[Any] = frames.node_ids(given.features, columns.node, "feats").infer_objects().to_numpy()
        return ids
    return np.arange(given.features.shape[0])


def _labelled(given: Given, columns: Columns, unlabelled: object) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Give the ids of nodes in the order of rows, and which have a label."""
    table = given.features
    if not _is_table(given):
        if given.labels is None:
            raise no_labels(columns)
        return _row_ids(given, columns), labels.read_labels(given.labels, unlabelled, "labels")[1]
    if columns.train in table.columns:
        msg = f"--split beside a column {columns.train!r} that says which nodes are for training: leave one of them out"
        raise ConfigError(msg)
    if columns.label not in table.columns:
        raise no_labels(columns)
    return _row_ids(given, columns), labels.read_labels(table[columns.label], unlabelled, columns.label)[1]


def _without_marks(given: Given, args: argparse.Namespace) -> tuple[Given, Marks]:
    """Take the training column out of the table of nodes."""
    table, columns = given.features, columns_of(args)
    if columns.train not in table.columns:
        if columns.train != Columns.train:
            raise no_train_column(columns)
        return given, Marks(None)
    if drawn(args):
        _labelled(given, columns, args.unlabelled)  # refuses both
    marks = read_marks(table[columns.train], f"feats column {columns.train!r}")
    return Given(given.edges, table.drop(columns=columns.train)), marks


def _marks_name(given: Given, args: argparse.Namespace) -> str:
    return f"column {args.train_column!r}" if _is_table(given) else "mask train_mask"
