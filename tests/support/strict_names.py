"""The array namespace of the strict device: what stands for `cupy`."""

from __future__ import annotations

import operator
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg

from herald_gpu.backend import _linalg
from support.strict_arrays import LEDGER, StrictArray, device, operand, stable, unwrap, wrap

if TYPE_CHECKING:
    from collections.abc import Callable

MISSING = frozenset(
    (
        *("False_", "ScalarType", "True_", "asmatrix", "block", "bmat", "busday_count", "busday_offset"),
        *("busdaycalendar", "bytes_", "char", "character", "clongdouble", "complex256", "core", "ctypeslib"),
        *("datetime64", "datetime_as_string", "datetime_data", "dtypes", "einsum_path", "emath", "errstate"),
        *("f2py", "flexible", "float128", "frompyfunc", "fromregex", "geomspace", "get_include", "getbufsize"),
        *("geterr", "geterrcall", "histogram_bin_edges", "info", "insert", "is_busday", "isnat", "little_endian"),
        *("longdouble", "ma", "matrix", "matvec", "memmap", "nanpercentile", "nanquantile", "ndenumerate"),
        *("nditer", "nested_iters", "object_", "polyder", "polydiv", "polyint", "rec", "recarray", "record"),
        *("sctypeDict", "setbufsize", "seterr", "seterrcall", "show_runtime", "spacing", "str_", "strings", "test"),
        *("timedelta64", "typecodes", "unstack", "vecdot", "vecmat", "void"),
    )
)
"""Names of NumPy 2.4 that CuPy 14.2 does not have."""
CREATION = frozenset({"array", "asarray", "empty", "full", "ones", "zeros"})
"""Functions whose first argument may be a plain list or tuple."""


class StrictLinalg:
    """What stands for `cupy.linalg`."""

    @staticmethod
    def solve(a: StrictArray, b: StrictArray) -> StrictArray:
        """Solve a system of equations."""
        return wrap(np.linalg.solve(device(a), device(b)))


class StrictTriangles:
    """What stands for `linalg` of the RAPIDS backend."""

    @staticmethod
    def cholesky(a: StrictArray) -> StrictArray:
        """Factorise a symmetric positive definite matrix; nobody is to look at the other half of what comes of it."""
        lower = np.linalg.cholesky(device(a))
        return wrap(np.where(np.tri(len(lower), dtype=bool), lower, np.nan))

    @staticmethod
    def solve_triangular(a: StrictArray, b: StrictArray, trans: int = 0, *, lower: bool = False) -> StrictArray:
        """Solve a triangular system; the other half of the matrix is not read."""
        given = np.tril(device(a)) if lower else np.triu(device(a))
        return wrap(scipy.linalg.solve_triangular(given, device(b), trans=trans, lower=lower))

    @staticmethod
    def add_product(table: StrictArray, left: StrictArray, right: StrictArray) -> None:
        """Add products of rows to a part of a table."""
        table += left @ right.T

    @staticmethod
    def multiply(a: Any, x: StrictArray) -> StrictArray:
        """Multiply a sparse matrix with a dense block."""
        return a @ x

    @staticmethod
    def reorder_columns(x: StrictArray, order: StrictArray) -> StrictArray:
        """Give all columns of a dense array in another order; the array is not to be used any more."""
        found = wrap(np.take(device(x), device(order), axis=1))
        device(x)[...] = np.nan
        return found

    @staticmethod
    def take_columns(x: StrictArray, columns: StrictArray) -> StrictArray:
        """Give columns of a dense array."""
        return wrap(_linalg.take_columns(device(x), device(columns)))

    @staticmethod
    def cosine_sums(tables: StrictArray, factors: StrictArray, out: StrictArray, low: int, high: int) -> None:
        """Add up cosines of some tables."""
        _linalg.cosine_sums(device(tables), device(factors), device(out), low, high)

    @staticmethod
    def class_scatter(
        table: StrictArray, places: StrictArray | None, members: Any, codes: StrictArray, used: StrictArray
    ) -> tuple[StrictArray, StrictArray]:
        """Sum rows by class, and their squared distances to the means."""
        where = None if places is None else device(places)
        return wrap(_linalg.class_scatter(device(table), where, members._matrix, device(codes), device(used)))


class StrictNamespace:
    """What stands for `cupy`: NumPy's functions on strict arrays, as far as CuPy has them."""

    ndarray = StrictArray
    linalg = StrictLinalg()

    def __getattr__(self, name: str) -> Any:
        if name in MISSING or name.startswith("_") or isinstance(getattr(np, name, None), ModuleType):
            msg = f"module 'cupy' has no attribute {name!r}"
            raise AttributeError(msg)
        value = getattr(np, name)
        return value if isinstance(value, type) or not callable(value) else _function(name, value)

    @staticmethod
    def empty(shape: Any, dtype: Any = float, order: str = "C") -> StrictArray:
        """Reserve memory full of garbage."""
        array = np.empty(unwrap(shape) if isinstance(shape, tuple) else operator.index(shape), dtype, order)
        array.view(np.uint8).reshape(-1)[:] = 0xA5 if array.dtype.kind in "iu" else 0xFF
        if array.dtype.kind == "b":
            array[...] = True
        return StrictArray(array)

    @staticmethod
    def where(condition: StrictArray, *branches: Any) -> Any:
        """Choose by a condition that must be an array."""
        if not isinstance(condition, StrictArray):
            msg = f"{type(condition).__name__!r} object has no attribute 'astype'"
            raise AttributeError(msg)  # noqa: TRY004 - as CuPy does
        return wrap(np.where(condition._array, *(operand(branch) for branch in branches)))

    @staticmethod
    def sort(a: StrictArray, axis: int = -1, kind: str | None = None) -> StrictArray:
        """Sorted copy."""
        return wrap(np.sort(device(a), axis=axis, kind=stable(kind)))

    @staticmethod
    def argsort(a: StrictArray, axis: int = -1, kind: str | None = None) -> StrictArray:
        """Order that sorts; always stable."""
        return wrap(np.argsort(device(a), axis=axis, kind=stable(kind)))

    @staticmethod
    def lexsort(keys: StrictArray) -> StrictArray:
        """Order by the last row first; takes one two-dimensional array only."""
        if not isinstance(keys, StrictArray):
            msg = f"{type(keys).__name__!r} object has no attribute 'ndim'"
            raise AttributeError(msg)  # noqa: TRY004 - as CuPy does
        return wrap(np.lexsort(keys._array))

    @staticmethod
    def unique(ar: StrictArray, **kwargs: Any) -> Any:
        """Distinct values; along an axis CuPy compares rows one by one on the host, so that is refused."""
        if kwargs.get("axis") is not None:
            msg = "unique(axis=...) synchronises at every comparison: encode the rows as keys"
            raise NotImplementedError(msg)
        return wrap(np.unique(device(ar), **kwargs))

    @staticmethod
    def partition(*_: object, **__: object) -> Any:
        """Refused."""
        msg = "partition and argpartition are not reliable in CuPy: use argsort"
        raise NotImplementedError(msg)

    argpartition = partition

    @staticmethod
    def bincount(x: StrictArray, weights: StrictArray | None = None, minlength: int | None = None) -> StrictArray:
        """Histogram; integer zeros for an empty array, with weights or without."""
        values, length = device(x), 0 if minlength is None else operator.index(minlength)
        if values.size == 0:
            return wrap(np.zeros(length, dtype=np.int64))
        return wrap(np.bincount(values, None if weights is None else device(weights), length))

    @property
    def add(self) -> Any:
        """Addition; `add.at` adds in place at an array of places, repeated ones as often as they stand."""
        return _at_places("add", np.add)

    @property
    def maximum(self) -> Any:
        """The larger of two; `maximum.at` likewise."""
        return _at_places("maximum", np.maximum)

    @staticmethod
    def asarray(a: Any, dtype: Any = None) -> StrictArray:
        """Numbers and lists of numbers are brought over; NumPy arrays go through `backend.asarray`."""
        if not isinstance(a, StrictArray):
            LEDGER.to_device += 1
        return wrap(np.asarray(unwrap(a), dtype=dtype))

    @staticmethod
    def array(a: Any, dtype: Any = None) -> StrictArray:
        """As `asarray`, always a copy."""
        if not isinstance(a, StrictArray):
            LEDGER.to_device += 1
        return wrap(np.array(unwrap(a), dtype=dtype))


def _function(name: str, function: Callable) -> Callable:
    def call(*args: Any, **kwargs: Any) -> Any:
        first = args[0] if args else None
        plain = isinstance(first, list | tuple) and not any(isinstance(part, StrictArray) for part in first)
        if plain and name not in CREATION:
            msg = f"{name}() takes an array of this device, not a {type(first).__name__}"
            raise TypeError(msg)
        if name in CREATION and args and isinstance(first, StrictArray):
            msg = "'ndarray' object cannot be interpreted as an integer"  # a shape
            raise TypeError(msg)
        return wrap(function(*unwrap(args), **{key: unwrap(value) for key, value in kwargs.items()}))

    call.__name__ = name
    return call


def _at_places(name: str, ufunc: np.ufunc) -> Any:
    function = _function(name, ufunc)
    function.at = lambda a, indices, b: ufunc.at(device(a), device(indices), operand(b))  # type: ignore[attr-defined]
    return function
