"""Doubles of what CuPy has of cuSOLVER, and of the triangular solves of cuBLAS: closed, and not emulated."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from support.doubles._arrays import to_device, to_host


def gesv(a, b):
    """Solve ``a x = b`` in place, in columns; a singular system gives NaN instead of an error."""
    if not (a.flags.f_contiguous and b.flags.f_contiguous and a.dtype == b.dtype):
        msg = "gesv takes matrices of one type, stored column by column"
        raise ValueError(msg)
    try:
        solution = np.linalg.solve(to_host(a), to_host(b))
    except np.linalg.LinAlgError:
        solution = np.full(b.shape, np.nan, dtype=b.dtype)
    b[...] = to_device(solution)


def cholesky(a):
    """Factorise the lower half of a matrix; one that is not positive definite gives NaN instead of an error."""
    import cupy

    if a.ndim != 2 or a.shape[0] != a.shape[1] or a.dtype.kind != "f":
        msg = f"cholesky takes a square matrix of floats, not {a.dtype} of shape {a.shape}"
        raise cupy.linalg.LinAlgError(msg)
    lower = np.tril(to_host(a))
    try:
        return to_device(np.linalg.cholesky(lower + np.tril(lower, -1).T))
    except np.linalg.LinAlgError:
        return to_device(np.full(a.shape, np.nan, dtype=a.dtype))


def solve_triangular(
    a,
    b,
    trans=0,
    lower=False,
    unit_diagonal=False,
    overwrite_b=False,  # noqa: ARG001 - as CuPy has it
    check_finite=False,  # noqa: ARG001
):
    """Solve a triangular system; the other half of the matrix is not read."""
    import cupy

    for value in (a, b):
        if not isinstance(value, cupy.ndarray):
            msg = f"solve_triangular takes arrays on the device, not {type(value).__name__}"
            raise TypeError(msg)
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        msg = "expected square matrix"
        raise ValueError(msg)
    if a.shape[0] != b.shape[0]:
        msg = "incompatible dimensions"
        raise ValueError(msg)
    return to_device(
        scipy.linalg.solve_triangular(
            to_host(a), to_host(b), trans=trans, lower=lower, unit_diagonal=unit_diagonal, check_finite=False
        )
    )


def install():
    """Put them where CuPy looks for them; for systems of equations, the checks and copies around stay CuPy's own."""
    import cupy
    import cupyx.scipy.linalg
    from cupyx import lapack

    lapack.gesv = gesv
    cupy.linalg.cholesky = cholesky
    cupyx.scipy.linalg.solve_triangular = solve_triangular
