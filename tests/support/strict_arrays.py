"""Arrays of the strict device, and the ledger of transfers."""

from __future__ import annotations

import operator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


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
        self._array.sort(axis=axis, kind=stable(kind))

    def argsort(self, axis: int = -1, kind: str | None = None) -> StrictArray:
        """Order that sorts; always stable."""
        return StrictArray(self._array.argsort(axis=axis, kind=stable(kind)))

    def __getitem__(self, key: object) -> StrictArray:
        return wrap(self._array[index(key)])

    def __setitem__(self, key: object, value: object) -> None:
        self._array[index(key)] = operand(value)

    def __matmul__(self, other: object) -> Any:
        if hasattr(other, "nnz"):
            return NotImplemented
        return wrap(self._array @ operand(other))

    def __rmatmul__(self, other: object) -> StrictArray:
        return wrap(operand(other) @ self._array)

    def __neg__(self) -> StrictArray:
        return wrap(-self._array)

    def __invert__(self) -> StrictArray:
        return wrap(~self._array)

    def __abs__(self) -> StrictArray:
        return wrap(abs(self._array))


def stable(kind: str | None) -> str:
    if kind not in {None, "stable"}:
        msg = "kind can only be None or 'stable'"
        raise ValueError(msg)
    return "stable"


def operand(value: object) -> Any:
    """Value of the other side of an operator: an array of this device, or a Python or NumPy scalar."""
    if isinstance(value, StrictArray):
        return value._array
    if isinstance(value, bool | int | float | complex | np.generic):
        return value
    msg = f"Unsupported type {type(value)}"
    raise TypeError(msg)


def index(key: object) -> Any:
    if isinstance(key, tuple):
        return tuple(index(part) for part in key)
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


def wrap(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return StrictArray(np.asarray(value))
    if isinstance(value, tuple | list):
        return type(value)(wrap(part) for part in value)
    return value


def unwrap(value: Any) -> Any:
    if isinstance(value, StrictArray):
        return value._array
    if isinstance(value, np.ndarray) or hasattr(value, "nnz"):
        msg = f"Unsupported type {type(value)}"
        raise TypeError(msg)
    if isinstance(value, tuple | list):
        return type(value)(unwrap(part) for part in value)
    return value


def device(value: object) -> np.ndarray:
    if not isinstance(value, StrictArray):
        msg = f"Argument has incorrect type (expected an array of this device, got {type(value)})"
        raise TypeError(msg)
    return value._array


def _method(name: str) -> Callable:
    def call(self: StrictArray, *args: Any, **kwargs: Any) -> Any:
        kwargs = {key: unwrap(value) for key, value in kwargs.items()}
        return wrap(getattr(self._array, name)(*unwrap(args), **kwargs))

    return call


def _forward(name: str) -> Callable:
    return lambda self, other: wrap(getattr(operator, name)(self._array, operand(other)))


def _reflected(name: str) -> Callable:
    return lambda self, other: wrap(getattr(operator, name)(operand(other), self._array))


def _in_place(name: str) -> Callable:
    def call(self: StrictArray, other: object) -> StrictArray:
        self._array = getattr(operator, name)(self._array, operand(other))
        return self

    return call


for _name in METHODS:
    setattr(StrictArray, _name, _method(_name))
for _name in BINARY:
    setattr(StrictArray, f"__{_name.rstrip('_')}__", _forward(_name))
for _name in REFLECTED:
    setattr(StrictArray, f"__r{_name.rstrip('_')}__", _reflected(_name))
    setattr(StrictArray, f"__i{_name.rstrip('_')}__", _in_place(f"i{_name.rstrip('_')}"))
