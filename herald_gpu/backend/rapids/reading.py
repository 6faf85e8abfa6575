"""Reading graphs that already live on the device, without a bounce over the host."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

import cupy as cp
import cupyx.scipy.sparse as cusparse
import numpy as np

from herald_gpu.backend.rapids import columns as col
from herald_gpu.backend.rapids import presenting
from herald_gpu.backend.rapids.numbering import settle_table
from herald_gpu.errors import InputError, UnsupportedInputError
from herald_gpu.io import categories, frames, id_columns, labels, marks, matrices, networks, torch
from herald_gpu.io.kinds import device_of, is_proxy, kind_of, unproxy
from herald_gpu.io.read import (
    Columns,
    Kept,
    Source,
    Style,
    check_kept_columns,
    check_kept_values,
    check_node_column,
    check_once,
    check_width,
    no_labels,
    no_train_column,
)

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Matrix
    from herald_gpu.io.categories import Levels
    from herald_gpu.io.id_columns import Settled
    from herald_gpu.io.kinds import Kind


@dataclass(frozen=True)
class _Nodes:
    ids: Any
    features: Matrix
    names: list[Any]
    labels: Any
    train: Any
    kind: Kind
    sparse: bool
    settled: Settled
    categories: Levels = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def behind_proxies(given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Give what is behind the `cudf.pandas` proxies among some objects; others pass.

    On the device, where cuDF can hold all of it and nothing else is on the host; else on the host.
    """
    on_host = any(device_of(value) == "host" for value in given if not is_proxy(value))
    if not on_host and any(is_proxy(value) for value in given):
        with suppress(Exception):  # whatever cuDF cannot hold, `cudf.pandas` keeps in pandas, and so do we
            return tuple(value.as_gpu_object() if is_proxy(value) else value for value in given)
    return tuple(unproxy(value) for value in given)


def read_device(
    edges: Any,  # noqa: ANN401 - cuDF, CuPy, torch or PyG on the device
    feats: Any,  # noqa: ANN401
    given_labels: Any,  # noqa: ANN401
    given_train: Any,  # noqa: ANN401
    *,
    columns: Columns,
    unlabelled: Any,  # noqa: ANN401
) -> Source:
    """Read a graph from device objects: as :func:`herald_gpu.io.read.read`, with arrays that stay where they are.

    Only class values, of which there are few, come to the host.
    """
    edge_kind, warnings = kind_of(edges), list[str]()
    if edge_kind == "pyg":
        edges, feats, given_labels, given_train, warnings = torch.unpack(edges, feats, given_labels, given_train)
        edge_kind = "torch"
    ends, more = _read_ends(edges, edge_kind, columns)
    nodes = _read_nodes(feats, columns, ends)
    n = len(nodes.ids)
    if n == 0:
        msg = "feats has no rows: the graph is empty, pass at least one training node of two classes"
        raise InputError(msg)
    check_once(given_labels, nodes.labels, columns.label, "labels")
    name = "labels" if given_labels is not None else f"feats column {columns.label!r}"
    values = nodes.labels if given_labels is None else given_labels
    if values is None:
        raise no_labels(columns)
    if col.is_nested(getattr(values, "dtype", None)):
        raise labels.nested(name)
    values = _one_a_node(col.to_device(values), n, name)
    named = col.equal_to(values, unlabelled)
    known, n_unlabelled = ~(col.missing(values) | named), int(named.sum())
    marked = _read_train(given_train, nodes, columns, known)
    train = marked.train
    codes, classes = _encode(values, known, train, name, labels.unlabelled_hint(n_unlabelled, unlabelled))
    order = col.sorted_order(nodes.ids)
    ids = col.take(nodes.ids, order)
    source, target, weights = _place_edges(edges, ends, ids, order, nodes.settled, columns)
    in_order = bool((order == cp.arange(n)).all())
    return Source(
        source=source,
        target=target,
        features=nodes.features if in_order else nodes.features[order],
        node_ids=ids,
        feature_ids=networks.as_ids(nodes.names) if nodes.names else np.arange(nodes.features.shape[1]),
        codes=codes[order],
        class_values=classes,
        train=train[order],
        style=Style(edge_kind, nodes.kind, nodes.sparse),
        warnings=[
            *warnings,
            *more,
            *weights,
            *nodes.settled.notes,
            *nodes.notes,
            *marked.notes,
            *labels.unlabelled_note(n_unlabelled, unlabelled, marked=marked.train is not known),
        ],
        categories=nodes.categories,
        on_device=True,
    )


def read_kept(
    feats: Any,  # noqa: ANN401 - a matrix or table on the device
    *,
    names: np.ndarray,
    positions: np.ndarray,
    width: int,
    levels: Levels | None = None,
) -> Kept:
    """As :func:`herald_gpu.io.read.read_kept`, of a matrix or table on the device."""
    kind, known = kind_of(feats), levels or {}
    if kind == "cudf":
        wanted = categories.sources(names, known, feats.columns)
        check_kept_columns(feats, wanted)
        encoded = {name: known[name] for name in wanted if name in known}
        features, _, _ = _columns(feats, wanted, tuple(encoded), encoded)
        place = {name: number for number, name in enumerate(categories.encoded_names(wanted, encoded))}
        sparse, index = False, feats.index
        chosen = cp.ascontiguousarray(features[:, cp.asarray([place[name] for name in names])])
    else:
        x = _to_matrix(feats)
        matrices.check_features(x)
        check_width(x, width, known)
        sparse, index = bool(cusparse.issparse(x)), None
        chosen = x[:, cp.asarray(positions)]
        chosen = chosen if sparse else cp.ascontiguousarray(chosen, dtype=cp.float32)
        if sparse:
            chosen.sort_indices()  # CuPy picks columns in no order
    check_kept_values(cp, chosen.data if sparse else chosen)
    return Kept(chosen, kind, sparse, index, presenting)


def _read_nodes(feats: Any, columns: Columns, ends: list[Any] | None) -> _Nodes:  # noqa: ANN401 - any device matrix or table
    kind = kind_of(feats)
    if kind == "cudf":
        check_node_column(feats, columns)
        frames.check_column_names(feats, "feats")
        categories.check_names(columns, feats.columns)
        settled = settle_table(feats, columns, ends)
        feats = id_columns.without(feats, [*settled.dropped, *columns.drop])
        if columns.node is None:
            ids = cp.arange(len(feats))
        else:
            ids = col.to_device(frames.node_ids(feats, columns.node, "feats"))
        names = [name for name in feats.columns if name not in (columns.node, columns.label, columns.train)]
        features, levels, notes = _columns(feats, names, columns.categorical)
        marked, train = (feats[n] if n in feats.columns else None for n in (columns.label, columns.train))
        names = categories.encoded_names(names, levels)
        return _Nodes(
            ids, features, names, marked, train, kind, sparse=False, settled=settled, categories=levels, notes=notes
        )
    categories.check_unnamed(columns, feats)
    features = _to_matrix(feats)
    matrices.check_features(features)
    ids = cp.arange(features.shape[0])
    settled_kind: Kind = "cupy" if kind == "cupyx" else kind
    sparse, numbered = bool(cusparse.issparse(features)), id_columns.Settled("array")
    return _Nodes(ids, features, [], None, None, kind=settled_kind, sparse=sparse, settled=numbered)


def _columns(
    feats: Any,  # noqa: ANN401 - a cuDF table
    names: list[Any],
    categorical: tuple[Any, ...],
    known: Levels | None = None,
) -> tuple[Array, Levels, list[str]]:
    """Columns side by side, categories encoded one-hot in their place: (float32 values, levels, notes).

    Only levels, of which there are few, come to the host.
    """
    numbers = [name for name in names if name not in categorical]
    if numbers or not names:
        frames.check_feature_columns(feats, numbers, "feats")
    if len(numbers) == len(names):
        return _numbers(feats, names), {}, []
    values = {name: _category(feats[name], name) for name in names if name in categorical}
    gaps = {name: col.missing(column) for name, column in values.items()}
    found = {name: _distinct(feats[name], values[name], gaps[name]) for name in values}
    levels = categories.settle(found, feats.columns, len(feats), known)
    notes = [n for name, gap in gaps.items() for n in categories.missing_note(name, int(gap.sum()), len(gap))]
    blocks = []
    for encoded, group in groupby(names, key=lambda name: name in levels):
        if not encoded:
            blocks.append(_numbers(feats, list(group)))
            continue
        for name in group:
            places = cp.where(gaps[name], -1, _places(values[name], levels[name]))
            unseen = [value for value in found[name] if categories.plain(value, name) not in levels[name]]
            if unseen:
                categories.warn_unseen(name, int(((places < 0) & ~gaps[name]).sum()), len(places), unseen)
            blocks.append((places[:, None] == cp.arange(len(levels[name]))).astype(cp.float32))
    return cp.concatenate(blocks, axis=1), levels, notes


def _category(column: Any, name: Any) -> Any:  # noqa: ANN401 - a cuDF series, and its name
    """Bring a column of categories to the device's numbers or text; dates and lists are refused."""
    if not (hasattr(column.dtype, "categories") or getattr(column.dtype, "kind", "O") in "biufO"):
        raise categories.no_category(name, column.dtype)
    return col.to_device(column)


def _distinct(column: Any, values: Any, gaps: Array) -> list[Any]:  # noqa: ANN401 - a cuDF series, as it is on the device
    """Distinct values on the host; booleans stay booleans beside missing values."""
    found = col.distinct(col.take(values, cp.flatnonzero(~gaps)))
    return [bool(value) for value in found] if getattr(column.dtype, "kind", "O") == "b" else found


def _places(values: Any, levels: list[Any]) -> Array:  # noqa: ANN401 - CuPy array or cuDF series
    """Place of each value among the levels, of which only those of its own type can be equal to it."""
    alike = [(place, level) for place, level in enumerate(levels) if isinstance(level, str) == col.is_text(values)]
    if not alike:
        return cp.full(len(values), -1, dtype=cp.int64)
    text = col.is_text(values)
    ready = values if text or values.dtype.kind == "f" else values.astype(cp.int64)  # booleans are 0 and 1
    found = col.places_in(ready, _like(ready, np.array([level for _, level in alike], object if text else np.int64)))
    return cp.where(found < 0, -1, cp.asarray([place for place, _ in alike])[found])


def _numbers(feats: Any, names: list[Any]) -> Array:  # noqa: ANN401 - a cuDF table
    """Columns side by side as float32, missing values as NaN: cast first, as whole numbers have no NaN."""
    return feats[names].astype("float32").to_cupy(na_value=np.nan)


def _to_matrix(value: Any) -> Matrix:  # noqa: ANN401 - any device matrix
    if kind_of(value) == "torch" and str(value.layout) != "torch.strided":
        coo = value.detach().to_sparse_coo().coalesce()
        rows, cols = cp.from_dlpack(coo.indices())
        data = cp.from_dlpack(coo.values()).astype(cp.float32)
        return cusparse.coo_matrix((data, (rows, cols)), shape=tuple(value.shape)).tocsr()
    if cusparse.issparse(value):
        return value.tocsr().astype(cp.float32)
    return col.to_device(value)


def _one_a_node(values: Any, n: int, argument: str) -> Any:  # noqa: ANN401 - a device column
    if values.ndim > 1 and values.shape[1] != 1:
        msg = f"{argument} has shape {values.shape}: multi-label targets are not supported, pass one class a node"
        raise UnsupportedInputError(msg)
    if len(values) != n:
        msg = f"{argument} has {len(values)} entries but there are {n} nodes: pass one a node"
        raise InputError(msg)
    return values if col.is_text(values) else values.reshape(n)


def _read_train(given: Any, nodes: _Nodes, columns: Columns, known: Array) -> marks.Marks:  # noqa: ANN401
    check_once(given, nodes.train, columns.train, "train")
    name = "train" if given is not None else f"feats column {columns.train!r}"
    if given is None and nodes.train is None:
        if columns.train != Columns.train:
            raise no_train_column(columns)
        return marks.Marks(known)
    if given is None:
        return _read_marks(col.to_device(nodes.train), name)
    entries = col.to_device(given)
    if not col.is_text(entries) and entries.dtype == bool:
        return marks.Marks(_one_a_node(entries, len(nodes.ids), name))
    n_missing = int(col.missing(entries).sum())
    if n_missing:
        msg = f"{name} has {n_missing} missing values: pass booleans, or node ids, without any"
        raise InputError(msg)
    distinct = col.few_distinct(entries, marks.MOST_WORDS + 1)
    if len(entries) == len(nodes.ids) >= labels.FEWEST_MASKED and marks.understood(distinct):
        return _read_marks(entries, name)
    if not col.is_text(entries) and entries.dtype.kind == "f":
        raise marks.not_understood(distinct, name, ", or node ids")
    return marks.Marks(_named(entries, nodes))


def _read_marks(entries: Any, name: str) -> marks.Marks:  # noqa: ANN401 - CuPy array or cuDF series
    """Read marks as :func:`herald_gpu.io.marks.read_marks` does; only the distinct ones come to the host."""
    n_missing = int(col.missing(entries).sum())
    if n_missing:
        raise marks.missing_marks(n_missing, name)
    if not col.is_text(entries) and entries.dtype == bool:
        return marks.Marks(entries)
    distinct = col.few_distinct(entries, marks.MOST_WORDS + 1)
    vocabulary, meanings = marks.meanings_of(distinct, name)
    parts = {part: [value for value, said in meanings.items() if said == part] for part in marks.PARTS}
    masks = {part: col.any_of(entries, values) for part, values in parts.items()}
    return marks.marked(vocabulary, masks, distinct, name)


def _named(entries: Any, nodes: _Nodes) -> Array:  # noqa: ANN401 - CuPy array or cuDF series
    """Mark the nodes with these ids."""
    order = col.sorted_order(nodes.ids)
    places = col.places_in(entries, col.take(nodes.ids, order))
    if bool((places < 0).any()):
        msg = f"train names {int((places < 0).sum())} nodes that feats does not have: correct them"
        raise InputError(msg)
    mask = cp.zeros(len(nodes.ids), dtype=cp.bool_)
    mask[order[places]] = True
    return mask


def _encode(values: Any, known: Array, train: Array, argument: str, hint: str) -> tuple[Array, np.ndarray]:  # noqa: ANN401
    labels.check_marks(int(known.sum()), int(train.sum()), int((train & ~known).sum()), argument, hint)
    seen = col.distinct(col.take(values, cp.flatnonzero(train)))
    classes, _ = labels.distinct_classes(np.array(seen, dtype=object), argument, hint)
    plain = labels.plain_classes(classes)
    codes = cp.where(known, col.places_in(values, _like(values, plain)), -1)
    return codes.astype(cp.int32), plain


def _like(values: Any, classes: np.ndarray) -> Any:  # noqa: ANN401 - CuPy array or cuDF series
    if not col.is_text(values):
        return cp.asarray(classes.astype(np.float64 if values.dtype.kind == "f" else np.int64))
    import cudf

    return cudf.Series(classes.tolist())


def _read_ends(edges: Any, kind: Kind, columns: Columns) -> tuple[list[Any] | None, list[str]]:  # noqa: ANN401
    """Take the two ends of every edge, as ids, and warnings; None for a sparse matrix."""
    if kind == "cudf":
        warnings = frames.check_edge_columns(edges, columns.source, columns.target)
        return [col.to_device(edges[name]) for name in (columns.source, columns.target)], warnings
    if matrices.is_sparse(edges):
        return None, []
    array = col.to_device(edges)
    matrices.check_edge_shape(array)
    return list(array), []


def _place_edges(
    edges: Any,  # noqa: ANN401 - any device edges
    ends: list[Any] | None,
    ids: Any,  # noqa: ANN401 - CuPy array or cuDF series
    order: Array,
    settled: Settled,
    columns: Columns,
) -> tuple[Array, Array, list[str]]:
    if ends is None:
        matrix = _to_matrix(edges).tocoo()
        warnings = matrices.check_adjacency(matrix, len(order))
        stored = matrix.data != 0
        place = cp.empty(len(order), dtype=cp.int64)
        place[order] = cp.arange(len(order))
        return place[matrix.row[stored]], place[matrix.col[stored]], warnings
    if len(ends[0]) == 0:
        msg = "edges is empty: pass at least one edge"
        raise InputError(msg)
    places = [col.places_in(end, ids) for end in ends]
    lost = sum(int((place < 0).sum()) for place in places)
    if lost and settled.origin != "ids":
        low, high = _extremes(ends)
        raise id_columns.beyond_rows(settled.origin, len(ids), low, high, columns.node)
    if lost:
        msg = f"edges name nodes that feats does not have ({lost} ends): add those nodes to feats or drop the edges"
        raise InputError(msg)
    return places[0], places[1], []


def _extremes(ends: list[Any]) -> tuple[Any, Any]:
    """Give the smallest and the largest id; one of them twice if ids are text."""
    text = next((end for end in ends if col.is_text(end)), None)
    if text is not None:
        return (col.few_distinct(text, 1)[0],) * 2
    return min(end.min().item() for end in ends), max(end.max().item() for end in ends)
