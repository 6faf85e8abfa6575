"""A strict stand-in device: NumPy and SciPy underneath, CuPy's manners on the surface.

Code that leaks arrays to the host, mixes them with NumPy's, or asks for names that CuPy 14 does not have works
by luck on the CPU and fails on a GPU. Here it fails on a laptop. Where CuPy transfers silently (an index or a
value that lives on the host, iteration) this device refuses, so that every transfer is spelled out and counted.
"""

from __future__ import annotations

import operator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from herald_gpu.backend import Growth
from herald_gpu.backend.cpu import CpuBackend

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from herald_gpu.budget import Prices


@dataclass
class Ledger:
    """Transfers so far: arrays to the host, arrays to the device, single numbers to the host."""

    to_host: int = 0
    to_device: int = 0
    scalars: int = 0


LEDGER = Ledger()


@contextmanager
def counted() -> Iterator[Ledger]:
    """Count the transfers made inside the block; the counts are there when it ends."""
    before, made = replace(LEDGER), Ledger()
    yield made
    made.to_host = LEDGER.to_host - before.to_host
    made.to_device = LEDGER.to_device - before.to_device
    made.scalars = LEDGER.scalars - before.scalars


# Arrays

METHODS = (
    *("all", "any", "argmax", "argmin", "astype", "clip", "compress", "copy", "cumprod", "cumsum", "diagonal", "dot"),
    *("fill", "flatten", "max", "mean", "min", "nonzero", "prod", "ravel", "repeat", "reshape", "round"),
    *("searchsorted", "squeeze", "std", "sum", "swapaxes", "take", "trace", "transpose", "var", "view"),
)
"""Methods of CuPy's ndarray that mean what NumPy's mean."""
BINARY = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift", "rshift"),
    *("lt", "le", "gt", "ge", "eq", "ne"),
)
REFLECTED = BINARY[:12]
IN_PLACE = tuple(f"i{name.rstrip('_')}" for name in REFLECTED)


class StrictArray:
    """An array on the strict device."""

    __array_ufunc__ = None  # NumPy's operators step back and leave the answer to ours
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    shape = property(lambda self: self._array.shape)
    dtype = property(lambda self: self._array.dtype)
    ndim = property(lambda self: self._array.ndim)
    size = property(lambda self: self._array.size)
    nbytes = property(lambda self: self._array.nbytes)
    itemsize = property(lambda self: self._array.itemsize)
    strides = property(lambda self: self._array.strides)
    flags = property(lambda self: self._array.flags)
    T = property(lambda self: StrictArray(self._array.T))

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        msg = "Implicit conversion to a NumPy array is not allowed. Please use `.get()`"
        raise TypeError(msg)

    def __array_function__(self, function: Callable, *_: object) -> Any:
        msg = f"numpy.{function.__name__} does not take arrays of this device: use backend.xp"
        raise TypeError(msg)

    def __iter__(self) -> Iterator[Any]:
        msg = "iterating over an array of this device would transfer it element by element"
        raise TypeError(msg)

    def __len__(self) -> int:
        return len(self._array)

    def __repr__(self) -> str:
        return f"Strict{self._array!r}"

    def __bool__(self) -> bool:
        LEDGER.scalars += 1
        return bool(self._array)  # more than one element: ValueError, as in CuPy

    def __float__(self) -> float:
        return float(self._single())

    def __int__(self) -> int:
        return int(self._single())

    def _single(self) -> Any:
        if self.ndim:
            msg = "only 0-dimensional arrays can be converted to Python scalars"
            raise TypeError(msg)
        LEDGER.scalars += 1
        return self._array[()]

    def item(self) -> Any:
        """Bring the only element to the host."""
        LEDGER.scalars += 1
        return self._array.item()

    def get(self) -> np.ndarray:
        """Copy to the host."""
        LEDGER.to_host += 1
        return self._array.copy()

    def tolist(self) -> Any:
        """Copy to the host, as nested lists."""
        LEDGER.to_host += 1
        return self._array.tolist()

    def sort(self, axis: int = -1, kind: str | None = None) -> None:
        """Sort in place."""
        self._array.sort(axis=axis, kind=_stable(kind))

    def argsort(self, axis: int = -1, kind: str | None = None) -> StrictArray:
        """Order that sorts; always stable."""
        return StrictArray(self._array.argsort(axis=axis, kind=_stable(kind)))

    def __getitem__(self, key: object) -> StrictArray:
        return _wrap(self._array[_index(key)])

    def __setitem__(self, key: object, value: object) -> None:
        self._array[_index(key)] = _operand(value)

    def __matmul__(self, other: object) -> Any:
        if isinstance(other, StrictMatrix):
            return NotImplemented
        return _wrap(self._array @ _operand(other))

    def __rmatmul__(self, other: object) -> StrictArray:
        return _wrap(_operand(other) @ self._array)

    def __neg__(self) -> StrictArray:
        return _wrap(-self._array)

    def __invert__(self) -> StrictArray:
        return _wrap(~self._array)

    def __abs__(self) -> StrictArray:
        return _wrap(abs(self._array))


def _stable(kind: str | None) -> str:
    if kind not in {None, "stable"}:
        msg = "kind can only be None or 'stable'"
        raise ValueError(msg)
    return "stable"


def _operand(value: object) -> Any:
    """Value of the other side of an operator: an array of this device, or a Python or NumPy scalar."""
    if isinstance(value, StrictArray):
        return value._array
    if isinstance(value, bool | int | float | complex | np.generic):
        return value
    msg = f"Unsupported type {type(value)}"
    raise TypeError(msg)


def _index(key: object) -> Any:
    if isinstance(key, tuple):
        return tuple(_index(part) for part in key)
    if isinstance(key, StrictArray):
        return key._array
    if isinstance(key, slice):
        for bound in (key.start, key.stop, key.step):
            if isinstance(bound, StrictArray | np.ndarray):
                msg = f"{type(bound).__name__!r} object cannot be interpreted as an integer"
                raise TypeError(msg)
        return key
    if key is None or key is Ellipsis or isinstance(key, int | np.integer):
        return key
    msg = f"an index of type {type(key)} would be transferred silently: bring it over with backend.asarray"
    raise TypeError(msg)


def _wrap(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return StrictArray(np.asarray(value))
    if isinstance(value, tuple | list):
        return type(value)(_wrap(part) for part in value)
    return value


def _unwrap(value: Any) -> Any:
    if isinstance(value, StrictArray):
        return value._array
    if isinstance(value, np.ndarray | StrictMatrix) or scipy.sparse.issparse(value):
        msg = f"Unsupported type {type(value)}"
        raise TypeError(msg)
    if isinstance(value, tuple | list):
        return type(value)(_unwrap(part) for part in value)
    return value


def _add_methods() -> None:
    def method(name: str) -> Callable:
        def call(self: StrictArray, *args: Any, **kwargs: Any) -> Any:
            kwargs = {key: _unwrap(value) for key, value in kwargs.items()}
            return _wrap(getattr(self._array, name)(*_unwrap(args), **kwargs))

        return call

    def forward(name: str) -> Callable:
        return lambda self, other: _wrap(getattr(operator, name)(self._array, _operand(other)))

    def reflected(name: str) -> Callable:
        return lambda self, other: _wrap(getattr(operator, name)(_operand(other), self._array))

    def in_place(name: str) -> Callable:
        def call(self: StrictArray, other: object) -> StrictArray:
            self._array = getattr(operator, name)(self._array, _operand(other))
            return self

        return call

    for name in METHODS:
        setattr(StrictArray, name, method(name))
    for name in BINARY:
        setattr(StrictArray, f"__{name.rstrip('_')}__", forward(name))
    for name in REFLECTED:
        setattr(StrictArray, f"__r{name.rstrip('_')}__", reflected(name))
    for name in IN_PLACE:
        setattr(StrictArray, f"__{name}__", in_place(name))


_add_methods()


# The array namespace

MISSING = frozenset(
    "False_ ScalarType True_ asmatrix block bmat busday_count busday_offset busdaycalendar bytes_ char character "
    "clongdouble complex256 core ctypeslib datetime64 datetime_as_string datetime_data dtypes einsum_path emath "
    "errstate f2py flexible float128 frompyfunc fromregex geomspace get_include getbufsize geterr geterrcall "
    "histogram_bin_edges info insert is_busday isnat little_endian longdouble ma matrix matvec memmap nanpercentile "
    "nanquantile ndenumerate nditer nested_iters object_ polyder polydiv polyint rec recarray record sctypeDict "
    "setbufsize seterr seterrcall show_runtime spacing str_ strings test timedelta64 typecodes unstack vecdot vecmat "
    "void".split()
)
"""Names of NumPy 2.4 that CuPy 14.2 does not have."""
CREATION = frozenset({"array", "asarray", "empty", "full", "ones", "zeros"})
"""Functions whose first argument may be a plain list or tuple."""


class StrictNamespace:
    """What stands for `cupy`: NumPy's functions on strict arrays, as far as CuPy has them."""

    ndarray = StrictArray

    def __getattr__(self, name: str) -> Any:
        if name in MISSING or name.startswith("_") or isinstance(getattr(np, name, None), ModuleType):
            msg = f"module 'cupy' has no attribute {name!r}"
            raise AttributeError(msg)
        value = getattr(np, name)
        return value if isinstance(value, type) or not callable(value) else _function(name, value)

    @staticmethod
    def empty(shape: Any, dtype: Any = float, order: str = "C") -> StrictArray:
        """Reserve memory full of garbage."""
        array = np.empty(_unwrap(shape) if isinstance(shape, tuple) else operator.index(shape), dtype, order)
        array.view(np.uint8).reshape(-1)[:] = 0xA5 if array.dtype.kind in "iu" else 0xFF
        if array.dtype.kind == "b":
            array[...] = True
        return StrictArray(array)

    @staticmethod
    def where(condition: StrictArray, *branches: Any) -> Any:
        """Choose by a condition that must be an array."""
        if not isinstance(condition, StrictArray):
            msg = f"{type(condition).__name__!r} object has no attribute 'astype'"
            raise AttributeError(msg)
        return _wrap(np.where(condition._array, *(_operand(branch) for branch in branches)))

    @staticmethod
    def sort(a: StrictArray, axis: int = -1, kind: str | None = None) -> StrictArray:
        """Sorted copy."""
        return _wrap(np.sort(_device(a), axis=axis, kind=_stable(kind)))

    @staticmethod
    def argsort(a: StrictArray, axis: int = -1, kind: str | None = None) -> StrictArray:
        """Order that sorts; always stable."""
        return _wrap(np.argsort(_device(a), axis=axis, kind=_stable(kind)))

    @staticmethod
    def lexsort(keys: StrictArray) -> StrictArray:
        """Order by the last row first; takes one two-dimensional array only."""
        if not isinstance(keys, StrictArray):
            msg = f"{type(keys).__name__!r} object has no attribute 'ndim'"
            raise AttributeError(msg)
        return _wrap(np.lexsort(keys._array))

    @staticmethod
    def unique(ar: StrictArray, **kwargs: Any) -> Any:
        """Distinct values; along an axis CuPy compares rows one by one on the host, so that is refused."""
        if kwargs.get("axis") is not None:
            msg = "unique(axis=...) synchronises at every comparison: encode the rows as keys"
            raise NotImplementedError(msg)
        return _wrap(np.unique(_device(ar), **kwargs))

    @staticmethod
    def partition(*_: object, **__: object) -> Any:
        """Refused."""
        msg = "partition and argpartition are not reliable in CuPy: use argsort"
        raise NotImplementedError(msg)

    argpartition = partition

    @staticmethod
    def bincount(x: StrictArray, weights: StrictArray | None = None, minlength: int | None = None) -> StrictArray:
        """Histogram; integer zeros for an empty array, with weights or without."""
        values, length = _device(x), 0 if minlength is None else operator.index(minlength)
        if values.size == 0:
            return _wrap(np.zeros(length, dtype=np.int64))
        return _wrap(np.bincount(values, None if weights is None else _device(weights), length))

    @staticmethod
    def asarray(a: Any, dtype: Any = None) -> StrictArray:
        """Numbers and lists of numbers are brought over; NumPy arrays go through `backend.asarray`."""
        if not isinstance(a, StrictArray):
            LEDGER.to_device += 1
        return _wrap(np.asarray(_unwrap(a), dtype=dtype))

    @staticmethod
    def array(a: Any, dtype: Any = None) -> StrictArray:
        """As `asarray`, always a copy."""
        if not isinstance(a, StrictArray):
            LEDGER.to_device += 1
        return _wrap(np.array(_unwrap(a), dtype=dtype))


def _device(value: object) -> np.ndarray:
    if not isinstance(value, StrictArray):
        msg = f"Argument has incorrect type (expected an array of this device, got {type(value)})"
        raise TypeError(msg)
    return value._array


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
        return _wrap(function(*_unwrap(args), **{key: _unwrap(value) for key, value in kwargs.items()}))

    call.__name__ = name
    return call


# Sparse matrices

SPARSE_DTYPES = tuple(np.dtype(kind) for kind in "?fdFD")


class StrictMatrix:
    """A CSR, CSC or COO matrix on the strict device.

    As in CuPy, products and sums first bring their operands to canonical format, in place: duplicates are summed
    in the matrix that was handed in.
    """

    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, matrix: Any) -> None:
        if matrix.dtype not in SPARSE_DTYPES:
            msg = "Only bool, float32, float64, complex64 and complex128 are supported"
            raise ValueError(msg)
        self._matrix = matrix

    shape = property(lambda self: self._matrix.shape)
    dtype = property(lambda self: self._matrix.dtype)
    ndim = property(lambda _: 2)
    nnz = property(lambda self: int(self._matrix.nnz))
    format = property(lambda self: self._matrix.format)
    T = property(lambda self: StrictMatrix(self._matrix.T))

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        msg = "Implicit conversion to a NumPy array is not allowed. Please use `.get()`"
        raise TypeError(msg)

    def __getattr__(self, name: str) -> StrictArray:
        parts = {"coo": ("data", "row", "col")}.get(self._matrix.format, ("data", "indices", "indptr"))
        if name not in parts:
            msg = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(msg)
        return StrictArray(getattr(self._matrix, name))

    def __repr__(self) -> str:
        return f"Strict{self._matrix!r}"

    def get(self) -> Any:
        """Copy to the host."""
        LEDGER.to_host += 1
        return self._matrix.copy()

    def copy(self) -> StrictMatrix:
        """Copy on the device."""
        return StrictMatrix(self._matrix.copy())

    def astype(self, dtype: Any) -> StrictMatrix:
        """Copy with another type of values."""
        return StrictMatrix(self._matrix.astype(dtype))

    def toarray(self) -> StrictArray:
        """Dense, C-ordered."""
        return StrictArray(np.ascontiguousarray(self._matrix.toarray()))

    def tocsr(self) -> StrictMatrix:
        """Convert to CSR; duplicates of COO are summed."""
        return self if self.format == "csr" else StrictMatrix(self._matrix.tocsr())

    def tocsc(self) -> StrictMatrix:
        """Convert to CSC."""
        return self if self.format == "csc" else StrictMatrix(self._matrix.tocsc())

    def sum_duplicates(self) -> None:
        """Bring to canonical format; arrays that were handed out before keep their contents."""
        if not self._matrix.has_canonical_format:
            self._matrix = self._matrix.copy()
            self._matrix.sum_duplicates()

    def sort_indices(self) -> None:
        """Sort the indices of each row."""
        if not self._matrix.has_sorted_indices:
            self._matrix = self._matrix.sorted_indices()

    def eliminate_zeros(self) -> None:
        """Drop stored zeros."""
        self._matrix = self._matrix.copy()
        self._matrix.eliminate_zeros()

    def __getitem__(self, key: object) -> Any:
        part = self._matrix[_index(key)]
        return StrictMatrix(part) if scipy.sparse.issparse(part) else _wrap(np.asarray(part))

    def __add__(self, other: object) -> StrictMatrix:
        right = self._canonical_pair(other)
        return StrictMatrix(self._matrix + right)

    def __matmul__(self, other: object) -> Any:
        if isinstance(other, StrictMatrix):
            right = self._canonical_pair(other)
            return StrictMatrix(self._matrix @ right)
        dense = _device(other)
        self._arithmetic(dense.dtype)
        self.sum_duplicates()
        return StrictArray(np.asfortranarray(self._matrix @ dense))

    def __rmatmul__(self, other: object) -> StrictArray:
        dense = _device(other)
        self._arithmetic(dense.dtype)
        return StrictArray(np.ascontiguousarray(dense @ self._matrix))

    def _canonical_pair(self, other: object) -> Any:
        if not isinstance(other, StrictMatrix):
            msg = f"Unsupported type {type(other)}"
            raise TypeError(msg)
        self._arithmetic(other.dtype)
        self.sum_duplicates()
        other.sum_duplicates()
        return other._matrix

    def _arithmetic(self, dtype: np.dtype) -> None:
        if np.promote_types(self.dtype, dtype) == bool:
            msg = "boolean sparse matrices have no arithmetic"
            raise TypeError(msg)


class StrictSparse:
    """What stands for `cupyx.scipy.sparse`."""

    @staticmethod
    def csr_matrix(arg: Any, shape: tuple[int, int] | None = None) -> StrictMatrix:
        """CSR from parts ``(data, indices, indptr)``, a dense array, or another matrix (SciPy's: a transfer)."""
        if isinstance(arg, StrictMatrix):
            return arg.tocsr().copy()
        if scipy.sparse.issparse(arg):
            LEDGER.to_device += 1
            return StrictMatrix(scipy.sparse.csr_matrix(arg, copy=True))
        parts = _device(arg) if not isinstance(arg, tuple) else _parts(arg)
        return StrictMatrix(scipy.sparse.csr_matrix(parts, shape=shape))

    @staticmethod
    def coo_matrix(arg: Any, shape: tuple[int, int] | None = None) -> StrictMatrix:
        """COO from ``(data, (row, column))`` or a dense array."""
        parts = (_parts(arg[:1])[0], _parts(arg[1])) if isinstance(arg, tuple) else _device(arg)
        return StrictMatrix(scipy.sparse.coo_matrix(parts, shape=shape))

    @staticmethod
    def issparse(value: object) -> bool:
        """Whether this is a sparse matrix of this device; SciPy's are not."""
        return isinstance(value, StrictMatrix)


def _parts(parts: tuple[Any, ...]) -> tuple[np.ndarray, ...]:
    if not all(isinstance(part, StrictArray) and part.ndim == 1 for part in parts):
        msg = "data, indices, and indptr must be 1-D arrays of this device"
        raise ValueError(msg)
    return tuple(part._array for part in parts)


# The backend


class StrictBackend:
    """The CPU backend behind a wall: strict arrays in, strict arrays out."""

    name = "strict"
    tree_name = CpuBackend.tree_name
    xp: Any = StrictNamespace()
    sparse: Any = StrictSparse()

    def __init__(self) -> None:
        self._cpu = CpuBackend()

    def asarray(self, value: Any, dtype: Any = None) -> Any:
        """Bring a host array (or SciPy CSR) over; counted."""
        if isinstance(value, StrictArray):
            return value if dtype is None else value.astype(dtype, copy=False)
        if isinstance(value, StrictMatrix) or scipy.sparse.issparse(value):
            return value if isinstance(value, StrictMatrix) else self.sparse.csr_matrix(value)
        LEDGER.to_device += 1
        return StrictArray(np.array(value, dtype=dtype))

    def to_host(self, value: StrictArray | StrictMatrix) -> Any:
        """Copy to the host; counted."""
        return value.get()

    def nearest_distances(self, x: Any, inverse_norm: Any, k: int, reference: Any = None) -> StrictArray:
        """See `Backend`."""
        near = None if reference is None else _device(reference)
        return StrictArray(self._cpu.nearest_distances(_matrix(x), _device(inverse_norm), k, near))

    def grow(
        self, adjacency: StrictMatrix, roots: StrictArray, prices: Prices, *, member: Any = None, **options: Any
    ) -> Growth:
        """See `Backend`."""
        growth = self._cpu.grow(
            _matrix(adjacency),
            _device(roots),
            replace(prices, node=_device(prices.node)),
            member=None if member is None else _device(member),
            **options,
        )
        return replace(growth, member=StrictArray(growth.member), considered=StrictArray(growth.considered))

    def pagerank(self, adjacency: StrictMatrix, restart: StrictArray, **options: Any) -> StrictArray:
        """See `Backend`."""
        return StrictArray(self._cpu.pagerank(_matrix(adjacency), _device(restart), **options))

    def tree_features(self, x: Any, codes: StrictArray, *, max_depth: int, seed: int) -> StrictArray:
        """See `Backend`."""
        return StrictArray(self._cpu.tree_features(_matrix(x), _device(codes), max_depth=max_depth, seed=seed))

    def principal_components(self, x: Any, variance: float) -> tuple[StrictArray, StrictArray]:
        """See `Backend`."""
        mean, components = self._cpu.principal_components(_matrix(x), variance)
        return StrictArray(mean), StrictArray(components)

    def synchronise(self) -> None:
        """See `Backend`."""

    def peak_memory(self) -> int | None:
        """See `Backend`."""
        return None

    def versions(self) -> dict[str, str]:
        """See `Backend`."""
        return self._cpu.versions()


def _matrix(value: Any) -> Any:
    return value._matrix if isinstance(value, StrictMatrix) else _device(value)
