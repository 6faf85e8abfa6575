"""Results that stay on the device: CuPy arrays, cuDF tables, and torch tensors through DLPack.

A :class:`~herald_gpu.io.present.Presenter`: what the device has no type for (strings outside of cuDF) is given by
the presenter of the host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cupy as cp
import cupyx.scipy.sparse as cusparse
import numpy as np

from herald_gpu.backend.rapids import columns as col
from herald_gpu.io import present
from herald_gpu.io.kinds import library
from herald_gpu.io.matrices import to_numpy

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Matrix
    from herald_gpu.io.kinds import Kind
    from herald_gpu.io.read import Style

xp = cp
take = col.take


def extend(ids: Any, more: np.ndarray) -> Any:  # noqa: ANN401 - CuPy array or cuDF series
    """Ids, and some more from the host behind them."""
    if len(more) == 0:
        return ids
    if not col.is_text(ids):
        return cp.concatenate([ids, cp.asarray(more)])
    import cudf

    return cudf.Series([*ids.to_arrow().to_pylist(), *more.tolist()])


def any_of(ids: Any, names: list[str]) -> bool:  # noqa: ANN401 - a cuDF series
    """Whether any of these names is an id."""
    import cudf

    return bool((col.places_in(cudf.Series(names), ids) >= 0).any())


def index(ids: Any, name: str) -> Any:  # noqa: ANN401 - CuPy array or cuDF series in, cuDF index out
    """Make the index of a table."""
    import cudf

    return cudf.Index(ids, name=name)


def tensor(values: Array) -> Any:  # noqa: ANN401 - a torch tensor
    """Copy an array into a torch tensor on the same device, through DLPack."""
    return library("torch", "eval").from_dlpack(cp.array(values, order="C"))


def vector(kind: Kind, values: Any, *, name: str | None = None, index: Any = None) -> Any:  # noqa: ANN401
    """A column of values; in cuDF it carries `index`."""
    if kind == "cudf":
        return _series(values, name, index)
    if col.is_text(values):  # arrays hold no strings
        return present.vector("numpy", to_numpy(values))
    return tensor(values) if kind == "torch" else values


def labels(
    kind: Kind,
    codes: Array,
    classes: np.ndarray,
    *,
    unlabelled: Any,  # noqa: ANN401 - any value
    name: str,
    index: Any,  # noqa: ANN401 - a cuDF index
) -> Any:  # noqa: ANN401 - the caller's kind
    """Class values of nodes; unknown ones are null in cuDF, else `unlabelled` (or None, on the host)."""
    if kind == "cudf":
        import cudf

        values = cudf.Series([*classes.tolist(), None])
        return _series(col.take(values, cp.where(codes < 0, len(classes), codes)), name, index)
    whole = isinstance(unlabelled, int | np.integer) and not isinstance(unlabelled, bool)
    if classes.dtype.kind in "iu" and whole:
        known = cp.asarray(classes)[cp.maximum(codes, 0)]
        return vector(kind, cp.where(codes < 0, cp.asarray(unlabelled, dtype=known.dtype), known))
    return present.labels("numpy", to_numpy(codes), classes, unlabelled=unlabelled, name=name, index=None)


def matrix(style: Style, x: Matrix, *, names: np.ndarray, index: Any = None) -> Any:  # noqa: ANN401 - the caller's kind
    """A feature matrix: sparse if the caller's was (unless it was reduced), with column names in cuDF."""
    kind, sparse = style.nodes, cusparse.issparse(x)
    if style.sparse and sparse and kind != "cudf":
        return _sparse_tensor(x) if kind == "torch" else x
    dense = x.toarray() if sparse else x
    if kind != "cudf":
        return vector(kind, dense)
    import cudf

    frame = cudf.DataFrame(cp.asfortranarray(dense), columns=names.tolist())
    if index is not None:
        frame.index = index
    return frame


def _sparse_tensor(x: Matrix) -> Any:  # noqa: ANN401 - a torch tensor
    coo = x.tocoo()
    indices = tensor(cp.stack([coo.row, coo.col]).astype(cp.int64))
    make = library("torch", "eval").sparse_coo_tensor
    return make(indices, tensor(coo.data), coo.shape, is_coalesced=True, check_invariants=False)


def table(kind: Kind, columns: dict[str, Any]) -> Any:  # noqa: ANN401, ARG001 - a table of cuDF, whatever the kind
    """A table from columns; cuDF for kinds that have no tables."""
    import cudf

    return cudf.DataFrame({name: _series(values, name, None) for name, values in columns.items()})


def edges(style: Style, source: Any, target: Any, *, names: tuple[str, str]) -> Any:  # noqa: ANN401
    """Edges in the caller's ids: a table with two columns, or a (2, E) array."""
    if style.edges == "cudf":
        return table(style.edges, {names[0]: source, names[1]: target})
    ends = [np.asarray(to_numpy(end)) if col.is_text(end) else end for end in (source, target)]
    on_host = any(isinstance(end, np.ndarray) for end in ends)
    return np.stack(ends) if on_host else vector(style.edges, cp.stack(ends))


def _series(values: Any, name: str | None, index: Any) -> Any:  # noqa: ANN401 - CuPy array or cuDF series in
    """A cuDF column of its own memory; an index replaces the one it has, it does not pick rows from it."""
    import cudf

    series = cudf.Series(values, name=name, copy=True)
    if index is not None:
        series.index = index
    return series
