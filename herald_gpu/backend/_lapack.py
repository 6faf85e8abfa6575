"""Factors, triangular systems and products that are added up: SciPy's LAPACK and BLAS without the interpreter's lock.

SciPy's own wrappers keep the lock while these run, so that threads wait for one another, and copy what is not one
stretch of memory, such as the first rows and columns of a matrix. Its libraries are therefore called through the
addresses that ``scipy.linalg.cython_lapack`` and ``cython_blas`` publish for compiled code. Where those have other
arguments than are known here, as in a build with long integers, SciPy's wrappers do the same, only slower.

LAPACK has matrices column by column: to it, a matrix that lies in memory row by row is turned.
"""

from __future__ import annotations

import ctypes
import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.linalg

if TYPE_CHECKING:
    from collections.abc import Callable

    from herald_gpu.backend import Array

POTRF = ("cython_lapack", "dpotrf", "void (char *, int *, d *, int *, int *)")
TRTRS = ("cython_lapack", "dtrtrs", "void (char *, char *, char *, int *, int *, d *, int *, d *, int *, int *)")
GEMM = (
    "cython_blas",
    "sgemm",
    "void (char *, char *, int *, int *, int *, s *, s *, int *, s *, int *, s *, s *, int *)",
)
ONE = ctypes.byref(ctypes.c_float(1.0))


def cholesky(a: Array) -> Array:
    """Give the lower factor of a symmetric positive definite matrix; what is above the diagonal means nothing.

    Examples
    --------
    >>> np.tril(cholesky(np.array([[4.0, 2.0], [2.0, 2.0]])))
    array([[2., 0.],
           [1., 1.]])
    """
    call = _routine(*POTRF)
    if call is None:
        return scipy.linalg.cholesky(a.T, lower=False, check_finite=False).T
    out, info = np.array(a, dtype=np.float64, order="C"), ctypes.c_int()
    call(b"U", _int(len(out)), out.ctypes.data, _int(_step(out)), ctypes.byref(info))
    if info.value != 0:
        msg = f"matrix is not positive definite: its first {info.value} rows and columns are not"
        raise np.linalg.LinAlgError(msg)
    return out


def solve_triangular(a: Array, b: Array, trans: Literal[0, 1] = 0, *, lower: bool = False) -> Array:
    """Solve a triangular system, or with `trans` the one of the matrix turned; its other half is not read.

    Examples
    --------
    >>> solve_triangular(np.array([[2.0, 9.0], [1.0, 1.0]]), np.array([[4.0], [5.0]]), lower=True)
    array([[2.],
           [3.]])
    """
    call = _routine(*TRTRS)
    if call is None:
        return scipy.linalg.solve_triangular(a, b, trans=trans, lower=lower, check_finite=False)
    a = _by_rows(a)
    out, info, n = np.array(b, dtype=np.float64, order="F"), ctypes.c_int(), len(a)
    how = (b"U" if lower else b"L", b"N" if trans else b"T", b"N")
    sizes = (_int(n), _int(out.shape[1]))
    call(*how, *sizes, a.ctypes.data, _int(_step(a)), out.ctypes.data, _int(max(1, n)), ctypes.byref(info))
    if info.value != 0:
        msg = f"matrix is singular: row {info.value - 1} has a zero on the diagonal"
        raise np.linalg.LinAlgError(msg)
    return out


def add_product(table: Array, left: Array, right: Array) -> None:
    """Add the products of rows with others to a part of a table, without a copy of it in between; all in float32.

    Examples
    --------
    >>> table, rows = np.ones((3, 2), dtype=np.float32), np.array([[1, 2], [3, 4]], dtype=np.float32)
    >>> add_product(table[:2], rows, rows)
    >>> table
    array([[ 6., 12.],
           [12., 26.],
           [ 1.,  1.]], dtype=float32)
    """
    call = _routine(*GEMM)
    if call is None:
        table += left @ right.T
        return
    left, right = _by_rows(left), _by_rows(right)
    sizes = (_int(len(right)), _int(len(left)), _int(left.shape[1]))
    given = (right.ctypes.data, _int(_step(right)), left.ctypes.data, _int(_step(left)))
    call(b"T", b"N", *sizes, ONE, *given, ONE, table.ctypes.data, _int(_step(table)))


def _int(value: int) -> Any:  # noqa: ANN401 - has no public type
    return ctypes.byref(ctypes.c_int(value))


def _by_rows(a: Array) -> Array:
    """Rows that are stretches of memory, however far apart: a copy where they are not."""
    return a if a.strides[1] == a.itemsize and a.strides[0] >= a.itemsize * a.shape[1] else np.ascontiguousarray(a)


def _step(a: Array) -> int:
    """From one row to the next, in numbers."""
    return max(1, a.strides[0] // a.itemsize, a.shape[1])


@cache
def _routine(module: str, name: str, wanted: str) -> Callable[..., None] | None:
    """Look a routine up; None where there is none, or one that takes other arguments than wanted."""
    capsule = getattr(import_module(f"scipy.linalg.{module}"), "__pyx_capi__", {}).get(name)
    if capsule is None:
        return None
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    signature: bytes = name_of(capsule)
    if re.sub(r"__pyx_t_\w+_([sd])\b", r"\1", signature.decode()) != wanted:
        return None
    arguments = [ctypes.c_void_p] * (wanted.count(",") + 1)
    return ctypes.CFUNCTYPE(None, *arguments)(pointer_of(capsule, signature))
