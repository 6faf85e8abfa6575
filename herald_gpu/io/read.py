"""From the caller's objects to plain arrays with nodes in the order of their ids."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu.errors import ColumnError, InputError, UnsupportedInputError
from herald_gpu.io import (
    attributes,
    categories,
    frames,
    id_columns,
    labels,
    marks,
    matrices,
    networks,
    parquet,
    torch,
)
from herald_gpu.io.kinds import FRAME_KINDS, Kind, check_devices, kind_of, unproxy

if TYPE_CHECKING:
    import scipy.sparse

    from herald_gpu.io.categories import Levels
    from herald_gpu.io.id_columns import Origin, Settled
    from herald_gpu.io.present import Presenter

BLOCK_ENDS = 2**22
"""Ends of edges that are looked up at a time."""


@dataclass(frozen=True)
class Columns:
    """Names of the columns that matter in tables; `node` is None if rows are numbered, `train` if no column has marks.

    Columns in `drop` are left out, those in `categorical` are encoded one-hot; a single name stands for one column.
    """

    source: str = "src"
    target: str = "dst"
    node: str | None = "node"
    label: str = "label"
    train: str | None = "train"
    drop: tuple[Any, ...] = ()
    categorical: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        for name in ("drop", "categorical"):
            given: Any = () if getattr(self, name) is None else getattr(self, name)
            listed = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
            object.__setattr__(self, name, tuple(v.item() if isinstance(v, np.generic) else v for v in listed))


@dataclass(frozen=True)
class Style:
    """How the caller speaks: what results are given back as."""

    edges: Kind
    nodes: Kind
    sparse: bool


@dataclass(frozen=True)
class Source:
    """The caller's graph, taken apart; nodes are in the order of their ids.

    Attributes
    ----------
    source, target : int arrays
        Node positions of the ends of every edge given.
    features : float32 array or CSR matrix
    node_ids : array
        Ascending.
    feature_ids : array
        Column names, or column numbers where there are none.
    codes : int32 array
        Classes of all nodes with a known label, -1 for the rest. Selection must not see those outside `train`.
    class_values : array
        The caller's value of each class.
    train : bool array
    style : Style
    warnings : list of str
    categories : dict
        Levels of the columns that were encoded one-hot.
    on_device : bool
        Whether arrays and ids are on a device. Ids of features and classes are always on the host.
    """

    source: np.ndarray
    target: np.ndarray
    features: np.ndarray | scipy.sparse.csr_matrix
    node_ids: np.ndarray
    feature_ids: np.ndarray
    codes: np.ndarray
    class_values: np.ndarray
    train: np.ndarray
    style: Style
    warnings: list[str] = field(default_factory=list)
    categories: Levels = field(default_factory=dict)
    on_device: bool = False


@dataclass(frozen=True)
class Kept:
    """Features of other nodes, cut down to the columns that a condensed graph kept.

    Attributes
    ----------
    features : float32 array or CSR matrix
    kind : Kind
        What they came as.
    sparse : bool
        Whether they came sparse.
    index : index, optional
        Of the table they came in.
    present : Presenter
        What gives them back.
    """

    features: Any
    kind: Kind
    sparse: bool
    index: Any
    present: Presenter


def read(
    edges: Any,  # noqa: ANN401 - every type this package reads
    feats: Any = None,  # noqa: ANN401
    given_labels: Any = None,  # noqa: ANN401
    given_train: Any = None,  # noqa: ANN401
    *,
    columns: Columns,
    unlabelled: Any = -1,  # noqa: ANN401
    levels: Levels | None = None,
) -> Source:
    """Read a graph.

    Parameters
    ----------
    edges, feats, given_labels, given_train
        As :func:`herald_gpu.condense` takes them.
    columns : Columns
    unlabelled : object
        The label value that means unknown.
    levels : dict, optional
        Levels of encoded columns, where a condensed graph knows them already.
    """
    edges, feats, given_labels, given_train = (unproxy(v) for v in (edges, feats, given_labels, given_train))
    check_devices(edges=edges, feats=feats, labels=given_labels, train=given_train)
    edge_kind, warnings = kind_of(edges), list[str]()
    if edge_kind == "pyg":
        edges, feats, given_labels, given_train, warnings = torch.unpack(edges, feats, given_labels, given_train)
        edge_kind = "torch"
    carried: dict[str, Any] = {}
    if edge_kind == "networkx":
        apart = {"labelled": given_labels is not None, "split": given_train is not None}
        feats, carried = attributes.unpack(edges, feats, columns, **apart)
    ends = _read_ends(edges, edge_kind, columns)
    table, style, settled = _read_nodes(feats, edges, edge_kind, columns, ends, levels)
    table = replace(table, **carried)
    if len(table.ids) == 0:
        msg = "feats has no rows: the graph is empty, pass at least one training node of two classes"
        raise InputError(msg)
    values, known, label_name = _labels(table, given_labels, columns, unlabelled)
    marked = _train(table, given_train, columns, known)
    train, n_unlabelled = marked.train, labels.count_named(values, known)
    hint = labels.unlabelled_hint(n_unlabelled, unlabelled)
    codes, class_values = labels.encode_classes(values, known, train, label_name, hint)
    order = id_order(table.ids)
    node_ids = table.ids[order]
    source, target, more = _place_edges(edges, ends, node_ids, order, settled.origin, columns)
    if len(source) == 0:
        msg = "edges is empty: pass at least one edge"
        raise InputError(msg)
    in_order = bool((order == np.arange(len(order))).all())
    return Source(
        source=source,
        target=target,
        features=table.features if in_order else table.features[order],
        node_ids=node_ids,
        feature_ids=networks.as_ids(table.names) if table.names else np.arange(table.features.shape[1]),
        codes=codes[order],
        class_values=class_values,
        train=train[order],
        style=style,
        warnings=[
            *warnings,
            *ends.warnings,
            *more,
            *settled.notes,
            *table.notes,
            *marked.notes,
            *labels.unlabelled_note(n_unlabelled, unlabelled, marked=marked.train is not known),
        ],
        categories=table.categories,
    )


def read_kept(
    feats: Any,  # noqa: ANN401 - any matrix
    *,
    names: np.ndarray,
    positions: np.ndarray,
    width: int,
    levels: Levels | None = None,
) -> Kept:
    """Read the kept columns of a feature matrix.

    Parameters
    ----------
    feats : table, array, tensor or sparse matrix
    names, positions : arrays
        The kept columns: in tables by name, elsewhere by number.
    width : int
        How many columns a matrix without names must have.
    levels : dict, optional
        Levels of the columns that were encoded one-hot, to encode those of a table in the same way.
    """
    from herald_gpu.io import present

    known = levels or {}

    kind = kind_of(feats)
    if kind == "parquet":
        wanted = categories.sources(names, known, parquet.read_columns(Path(feats)))
        feats, kind = parquet.read_frame(Path(feats), wanted), "pandas"
    if kind in FRAME_KINDS:
        frame = frames.to_pandas(feats)
        check_kept_columns(frame, categories.sources(names, known, frame.columns))
        kept = categories.keep(frame, list(names), known).reset_index(drop=True)
        table = frames.read_node_table(kept, node="", label="", train="")
        chosen, sparse, index = table.features, table.sparse, frame.index
    else:
        x = matrices.read_feature_matrix(feats)
        check_width(x, width, known)
        chosen, sparse, index = x[:, positions], matrices.is_sparse(feats), None
    check_kept_values(np, chosen.data if sparse else chosen)
    return Kept(chosen, kind, sparse, index, present)


def check_kept_columns(table: Any, names: Any) -> None:  # noqa: ANN401 - pandas or cuDF
    """Refuse a table without some of the kept columns."""
    missing = [name for name in names if name not in table.columns]
    if missing:
        msg = f"feats lacks the columns {frames.some(missing)} that were kept: pass the original columns"
        raise InputError(msg)


def check_width(x: Any, width: int, levels: Levels | None = None) -> None:  # noqa: ANN401 - a matrix of any library
    """Refuse a matrix with another number of columns than the full graph had."""
    if x.shape[1] != width and levels:
        msg = (
            f"feats has {x.shape[1]} columns, the full graph had {width} after its columns {frames.some(levels)} were "
            "encoded one-hot: pass a table with the original columns, or the encoded matrix"
        )
        raise InputError(msg)
    if x.shape[1] != width:
        msg = f"feats has {x.shape[1]} columns, the full graph had {width}: pass all of them"
        raise InputError(msg)


def check_kept_values(xp: Any, values: Any) -> None:  # noqa: ANN401 - an array and its library
    """Refuse values that are no numbers."""
    if not bool(xp.isfinite(values).all()):
        msg = "feats has NaN or infinite values in kept columns: clean or impute them first"
        raise InputError(msg)


def _read_nodes(
    feats: Any,  # noqa: ANN401
    edges: Any,  # noqa: ANN401
    edge_kind: Kind,
    columns: Columns,
    ends: _Ends,
    levels: Levels | None,
) -> tuple[frames.NodeTable, Style, Settled]:
    kind = kind_of(feats)
    if kind == "none":
        msg = "feats is missing: graphs without features are not supported, pass a matrix or table with one row a node"
        raise UnsupportedInputError(msg)
    if kind == "parquet":
        there = parquet.read_columns(Path(feats))
        if columns.node not in (None, Columns.node, *there):
            raise no_node_column(columns, there)
        table, settled = parquet.read_nodes(Path(feats), columns, ends.distinct, levels)
        return table, Style(edge_kind, "pandas", sparse=False), settled
    if kind in FRAME_KINDS:
        frame = frames.to_pandas(feats)
        check_node_column(frame, columns)
        settled = id_columns.settle_frame(frame, columns, ends.distinct)
        made = categories.encode(id_columns.without(frame, settled.dropped), columns, levels)
        table = frames.read_node_table(made.frame, node=columns.node, label=columns.label, train=columns.train)
        return replace(table, categories=made.levels, notes=made.notes), Style(edge_kind, kind, table.sparse), settled
    categories.check_unnamed(columns, feats)
    features = matrices.read_feature_matrix(feats)
    ids = networks.as_ids(list(edges.nodes)) if edge_kind == "networkx" else np.arange(features.shape[0])
    if len(ids) != features.shape[0]:
        msg = f"feats has {features.shape[0]} rows but the NetworkX graph has {len(ids)} nodes: pass one row a node"
        raise InputError(msg)
    table = frames.NodeTable(ids, features, [], None, None, sparse=matrices.is_sparse(feats))
    style = Style(edge_kind, "numpy" if kind in ("other", "scipy") else kind, table.sparse)
    return table, style, id_columns.Settled("ids" if edge_kind == "networkx" else "array")


def check_node_column(frame: Any, columns: Columns) -> None:  # noqa: ANN401 - pandas or cuDF
    """Refuse a name for the column of node ids that the table does not have."""
    if columns.node not in (None, Columns.node, frame.index.name, *frame.columns):
        raise no_node_column(columns, frame.columns)


def no_node_column(columns: Columns, there: Any) -> ColumnError:  # noqa: ANN401 - names in any container
    """Make the error of a column of node ids that was named and is not there."""
    return ColumnError(f"feats has no column {columns.node!r} (it has {frames.some(there)}): correct node=")


def _labels(
    table: frames.NodeTable,
    given: Any,  # noqa: ANN401
    columns: Columns,
    unlabelled: Any,  # noqa: ANN401
) -> tuple[np.ndarray, np.ndarray, str]:
    check_once(given, table.labels, columns.label, "labels")
    if given is not None:
        return *labels.read_labels(labels.aligned(given, table.ids, "labels"), unlabelled, "labels"), "labels"
    if table.labels is None:
        raise no_labels(columns)
    name = f"feats column {columns.label!r}"
    return *labels.read_labels(table.labels, unlabelled, name), name


def check_once(given: Any, column: Any, name: str | None, argument: str) -> None:  # noqa: ANN401 - present or None
    """Refuse what is given both as an argument and as a column."""
    if given is not None and column is not None:
        msg = f"{argument}= is given together with the feats column {name!r}: pass one of them"
        raise ColumnError(msg)


def no_labels(columns: Columns) -> ColumnError:
    """Make the error of a graph without labels."""
    return ColumnError(
        f"no labels: pass labels=, or name the label column of feats with label= (there is no {columns.label!r})"
    )


def no_train_column(columns: Columns) -> ColumnError:
    """Make the error of a training column that was named and is not there."""
    return ColumnError(f"feats has no column {columns.train!r}: correct train_column=, or pass train=")


def _train(table: frames.NodeTable, given: Any, columns: Columns, known: np.ndarray) -> marks.Marks:  # noqa: ANN401
    check_once(given, table.train, columns.train, "train")
    if given is not None:
        return labels.read_train(given, table.ids, "train")
    if table.train is not None:
        return marks.read_marks(table.train, f"feats column {columns.train!r}")
    if columns.train not in (None, Columns.train):
        raise no_train_column(columns)
    return marks.Marks(known)


def id_order(ids: np.ndarray) -> np.ndarray:
    """Give the order of ascending ids; mixed types are refused."""
    try:
        return np.argsort(ids, kind="stable")
    except TypeError as error:
        msg = "node ids mix types that do not compare: make them all integers or all strings"
        raise InputError(msg) from error


@dataclass(frozen=True)
class _Ends:
    """What edges name: the ends of each, or nothing yet where they are a sparse matrix.

    Attributes
    ----------
    pair : tuple of arrays, optional
        Sources and targets, as ids.
    others : array, optional
        Ids of all nodes of a NetworkX graph, which must be known too.
    warnings : list of str
    """

    pair: tuple[np.ndarray, np.ndarray] | None
    others: np.ndarray | None = None
    warnings: list[str] = field(default_factory=list)

    def distinct(self) -> np.ndarray | None:
        """Give the nodes that edges name, each once."""
        if self.pair is None:
            return None
        return id_columns.distinct_ends(*self.pair, *(() if self.others is None else (self.others,)))


def _read_ends(edges: Any, kind: Kind, columns: Columns) -> _Ends:  # noqa: ANN401
    if kind == "none":
        msg = "edges is missing: pass a table, a (2, E) array, a sparse matrix, a NetworkX graph or a PyG Data"
        raise InputError(msg)
    if matrices.is_sparse(edges):
        return _Ends(None)
    if kind == "networkx":
        ids, source, target, warnings = networks.read_networkx(edges)
        return _Ends((source, target), ids, warnings)
    if kind == "parquet":
        source, target, warnings = parquet.read_edges(Path(edges), columns.source, columns.target)
        return _Ends((source, target), None, warnings)
    if kind in FRAME_KINDS:
        source, target, warnings = frames.read_edge_columns(frames.to_pandas(edges), columns.source, columns.target)
        return _Ends((source, target), None, warnings)
    return _Ends(matrices.read_edge_array(edges))


def _place_edges(
    edges: Any,  # noqa: ANN401
    ends: _Ends,
    node_ids: np.ndarray,
    order: np.ndarray,
    origin: Origin,
    columns: Columns,
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    if ends.pair is None:
        rows, cols, warnings = matrices.read_edge_matrix(edges, len(node_ids))
        place = np.empty(len(order), dtype=rows.dtype)
        place[order] = np.arange(len(order), dtype=rows.dtype)
        return place[rows], place[cols], warnings
    if ends.others is not None:
        places(ends.others, node_ids)  # isolated nodes must be known too
    return *place_ends(ends.pair, node_ids, origin, columns.node), []


def place_ends(
    pair: tuple[np.ndarray, np.ndarray], node_ids: np.ndarray | range, origin: Origin, node: str | None
) -> tuple[np.ndarray, np.ndarray]:
    """Give the positions of both ends of edges among the ids; say what ids are where they are row numbers."""
    try:
        return places(pair[0], node_ids), places(pair[1], node_ids)
    except InputError as error:
        if origin == "ids":
            raise
        named = id_columns.distinct_ends(*pair)
        whole = named.dtype.kind in "iuf"
        low, high = (named.min().item(), named.max().item()) if whole else (str(named[0]), str(named[0]))
        raise id_columns.beyond_rows(origin, len(node_ids), low, high, node) from error


def places(ends: np.ndarray, node_ids: np.ndarray | range) -> np.ndarray:
    """Positions of the ends among the ids: in the narrowest type, block by block, so that a mapped file streams in.

    Ids that count from 0 may be given as a range.
    """
    whole, counted = ends.dtype.kind in "iu", isinstance(node_ids, range)
    ids: Any = np.arange(len(node_ids)) if counted and not whole else node_ids
    plain = whole and (counted or ids.dtype.kind in "iu")
    numbered = plain and len(ends) and ids[0] == 0 and ids[-1] == len(ids) - 1
    index = None if numbered or (counted and whole) else _index(ids)
    out = np.empty(len(ends), dtype=np.int32 if len(ids) <= np.iinfo(np.int32).max else np.int64)
    for low in range(0, len(ends), BLOCK_ENDS):
        part = ends[low : low + BLOCK_ENDS]
        found = part if index is None else index.get_indexer(part)
        lost = (found < 0) | (found >= len(ids))
        if lost.any():
            msg = (
                f"edges name nodes that feats does not have, such as {frames.some(_distinct(part[lost]))} "
                f"(ids of feats are {getattr(ids, 'dtype', 'int64')}, such as {frames.some(ids[: frames.SHOWN + 1])}): "
                "add those nodes to feats or drop the edges"
            )
            raise InputError(msg)
        out[low : low + BLOCK_ENDS] = found
    return out


def _index(ids: np.ndarray) -> Any:  # noqa: ANN401 - an index of pandas
    import pandas as pd

    return pd.Index(ids)


def _distinct(values: np.ndarray) -> Any:  # noqa: ANN401 - an array of pandas or of NumPy
    """Values in the order in which they first appear."""
    import pandas as pd

    return pd.Series(values).unique()
