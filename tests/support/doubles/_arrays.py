"""What the doubles share: device arrays in, device arrays out, and disorder where the real library gives no order."""

from __future__ import annotations

import numpy as np

DISORDER = np.random.default_rng(20)
"""Every shuffle draws from here: another order at each call, the same in each run."""


def require_device(value, name, *, optional=False):
    """Refuse what does not live on the device, as ``assert_CAI_type`` does."""
    if value is None and optional:
        return
    if not hasattr(value, "__cuda_array_interface__"):
        wanted = "must be None or support" if optional else "does not support"
        msg = f"{name} {wanted} __cuda_array_interface__"
        raise TypeError(msg)


def require_ours(value, kind, name):
    """Refuse what is not of the extension type that a Cython signature names."""
    if not isinstance(value, kind):
        msg = f"Argument {name!r} has incorrect type (expected {kind.__name__}, got {type(value).__name__})"
        raise TypeError(msg)


def to_host(value):
    """Copy to the host: inside a double, where the real library would stay on the device."""
    return None if value is None else value.get()


def to_device(array):
    """Give a result back as CuPy array."""
    import cupy

    return cupy.asarray(array)


def estimator_input(value, dtypes, *, order, sparse=False, min_samples=1, min_features=1):
    """Check and cast as cuML's ``check_inputs``; NumPy arrays, which it would transfer silently, are refused."""
    import cupy
    from cupyx.scipy.sparse import issparse

    if not (isinstance(value, cupy.ndarray) or issparse(value)):
        msg = f"a {type(value).__name__} would be transferred to the device silently: pass a CuPy array"
        raise TypeError(msg)
    if issparse(value) and not sparse:
        msg = "Sparse data was passed, but dense data is required. Use '.toarray()' to convert to a dense array."
        raise TypeError(msg)
    if value.ndim != 2:
        msg = "Expected 2D array, got 1D array instead."
        raise ValueError(msg)
    for count, least, what in zip(value.shape, (min_samples, min_features), ("sample", "feature"), strict=True):
        if count < least:
            msg = f"Found array with {count} {what}(s) (shape={value.shape}) while a minimum of {least} is required."
            raise ValueError(msg)
    taken = to_host(value)
    dtype = taken.dtype if taken.dtype.name in dtypes else np.dtype(dtypes[0])  # without a word
    taken = taken.tocsr().astype(dtype) if issparse(value) else np.asarray(taken, dtype=dtype, order=order)
    if not np.isfinite(taken.data if issparse(value) else taken).all():
        msg = "Input X contains NaN or infinity."
        raise ValueError(msg)
    return taken


def as_output(array, output_type):
    """Give results in the type asked for; if none is, cuML mirrors its input, which is CuPy's here."""
    if output_type not in {None, "input", "cupy", "numpy"}:
        msg = f"output_type={output_type!r} is not modelled"
        raise NotImplementedError(msg)
    return array if output_type == "numpy" else to_device(array)
