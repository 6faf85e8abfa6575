"""How kept features are stored: as rows or as lists of non-zeros, with values of one type; priced to the byte."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from herald_gpu import ops

if TYPE_CHECKING:
    from collections.abc import Callable

    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.graph import FeatureKind

Layout = Literal["dense", "sparse"]
Values = Literal["float32", "float16", "int8", "bits", "signs"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
VALUE_BYTES: dict[str, int] = {"float32": 4, "float16": 2, "int8": 1}
INDEX_BYTES = 2
"""A column number of a non-zero; above 65,535 columns nominally still this."""
SCALE_BYTES = 4
"""What int8 multiplies a column by, or signs a row: a float32 each."""
BITS = 8
LARGEST_INT8 = 127
LARGEST_FLOAT16 = 65504.0


@dataclass(frozen=True)
class Encoding:
    """A way to store a feature matrix.

    Attributes
    ----------
    layout : {"dense", "sparse"}
        Whole rows, or column numbers of the non-zeros and their values.
    values : {"float32", "float16", "int8", "bits", "signs"}
        `int8` is multiplied by a scale of its column. `bits` are zeros and ones: eight to a byte in rows, and nothing
        but the column numbers in lists. `signs` are plus or minus the scale of their row, in whole rows only: eight to
        a byte, too.

    Examples
    --------
    >>> Encoding("sparse", "int8").name, Encoding("dense", "int8").table_bytes(300)
    ('sparse int8', 1200)
    """

    layout: Layout
    values: Values

    @property
    def name(self) -> str:
        """Layout and type."""
        return f"{self.layout} {self.values}"

    def bytes_of_rows(self, stored: Array, n_columns: int) -> Array:
        """Bytes of rows that hold so many non-zeros."""
        if self.layout == "sparse":
            return stored * float(INDEX_BYTES + VALUE_BYTES.get(self.values, 0))
        if self.values in ("bits", "signs"):
            whole = -(-n_columns // BITS) + (SCALE_BYTES if self.values == "signs" else 0)
        else:
            whole = n_columns * VALUE_BYTES[self.values]
        return stored * 0.0 + float(whole)

    def table_bytes(self, n_columns: int) -> int:
        """Bytes that are stored once, whatever the number of rows: the scales of int8."""
        return SCALE_BYTES * n_columns if self.values == "int8" else 0


OF_KIND: dict[str, Encoding] = {
    "dense": Encoding("dense", "float32"),
    "binary": Encoding("sparse", "bits"),
    "sparse": Encoding("sparse", "float32"),
}
"""What eq:budget takes each kind of features for."""
OF_LANDMARKS = Encoding("dense", "signs")
"""How rows of landmarks are stored, whatever the encoding of the others."""


def candidates(kind: FeatureKind, wanted: str) -> list[Encoding]:
    """Encodings that a choice leaves open.

    Parameters
    ----------
    kind : {"dense", "binary", "sparse"}
        Of the full graph's features.
    wanted : {"graph", "auto", "float32", "float16", "int8", "bits"}
        `"graph"` is the encoding that prices the full graph; `"auto"` leaves all open that keep values (nearly) as they
        are; a type leaves the layout open.

    Examples
    --------
    >>> [encoding.name for encoding in candidates("binary", "auto")]
    ['dense bits', 'sparse bits']
    """
    if wanted == "graph":
        return [OF_KIND[kind]]
    types: tuple[Values, ...] = ("bits",) if kind == "binary" else ("int8", "float16", "float32")
    if wanted != "auto":
        types = tuple(values for values in get_args(Values) if values == wanted)
    return [Encoding(layout, values) for values in types for layout in LAYOUTS]


def most_rows_first(
    options: list[Encoding], mean_stored: float, n_columns: int, *, limit: float, largest: float
) -> list[Encoding]:
    """Sort encodings by how many rows of mean size a number of bytes holds; equal ones keep their order.

    Parameters
    ----------
    options : list of Encoding
    mean_stored : float
        Mean non-zeros of a row.
    n_columns : int
    limit : float
        Bytes.
    largest : float
        Largest absolute value: what float16 cannot hold is left out, unless it is all there is.

    Examples
    --------
    Ten columns in 100 bytes: with one byte a value and a scale a column six rows fit, with two bytes a value five.

    >>> [e.name for e in most_rows_first(candidates("dense", "auto"), 10.0, 10, limit=100, largest=1.0)][:2]
    ['dense int8', 'dense float16']
    """
    fitting = holding(options, largest)
    return sorted(fitting, key=lambda e: rows_within(e, mean_stored, n_columns, limit), reverse=True)


def holding(options: list[Encoding], largest: float) -> list[Encoding]:
    """Leave out what cannot hold the largest absolute value, unless it is all there is."""
    return [e for e in options if e.values != "float16" or largest <= LARGEST_FLOAT16] or options


def rows_within(encoding: Encoding, mean_stored: float, n_columns: int, limit: float) -> float:
    """How many rows of mean size fit in so many bytes."""
    each = float(encoding.bytes_of_rows(mean_stored, n_columns))
    return (limit - encoding.table_bytes(n_columns)) / max(each, 1.0)


def stored(backend: Backend, x: Matrix, encoding: Encoding) -> tuple[Matrix, Array | None]:
    """Give a matrix as it is read back from its encoding, in float32, and the scales of its columns if it has some.

    Parameters
    ----------
    backend : Backend
    x : matrix of float32
    encoding : Encoding

    Examples
    --------
    >>> import numpy as np
    >>> from herald_gpu.backend.cpu import CpuBackend
    >>> back, scales = stored(CpuBackend(), np.float32([[1, 0.26], [-127, 63.5]]), Encoding("dense", "int8"))
    >>> back.tolist(), scales.tolist()
    ([[1.0, 0.5], [-127.0, 63.5]], [1.0, 0.5])
    """
    xp = backend.xp
    if encoding.values == "float16":
        return _mapped(backend, x, lambda data: data.astype(xp.float16).astype(xp.float32)), None
    if encoding.values != "int8":
        return x, None
    scales = int8_scales(backend, x)
    if backend.sparse.issparse(x):
        of_entry = scales[x.indices]
        return ops.with_data(backend, x, xp.rint(x.data / of_entry) * of_entry), scales
    return xp.rint(x / scales) * scales, scales


def int8_scales(backend: Backend, x: Matrix) -> Array:
    """Scale of every column: 1 where its values are whole numbers that fit as they are, else its largest over 127."""
    xp, n_columns = backend.xp, int(x.shape[1])
    if backend.sparse.issparse(x):
        largest, broken = (xp.zeros(n_columns, dtype=xp.float32) for _ in range(2))
        xp.maximum.at(largest, x.indices, xp.abs(x.data))
        xp.maximum.at(broken, x.indices, (x.data != xp.rint(x.data)).astype(xp.float32))
        whole = broken == 0
    else:
        largest = xp.abs(x).max(axis=0)
        whole = (x == xp.rint(x)).all(axis=0)
    shrunk = xp.where(largest > 0, largest / xp.float32(LARGEST_INT8), xp.float32(1))
    return xp.where(whole & (largest <= LARGEST_INT8), xp.float32(1), shrunk).astype(xp.float32)


def _mapped(backend: Backend, x: Matrix, change: Callable[[Array], Array]) -> Matrix:
    return ops.with_data(backend, x, change(x.data)) if backend.sparse.issparse(x) else change(x)
