"""What kind of object the caller holds, told without importing the library it comes from."""

from __future__ import annotations

import sys
from os import PathLike
from typing import Any, Literal

from herald_gpu.errors import DeviceError, MissingDependencyError, UnsupportedInputError
from herald_gpu.install import pip_line, pip_line_of

Kind = Literal[
    "none",
    "pandas",
    "cudf",
    "polars",
    "arrow",
    "numpy",
    "scipy",
    "cupy",
    "cupyx",
    "torch",
    "pyg",
    "networkx",
    "parquet",
    "dask",
    "other",
]
FRAME_KINDS = ("pandas", "cudf", "polars", "arrow")

_ROOTS: dict[str, Kind] = {
    "pandas": "pandas",
    "cudf": "cudf",
    "polars": "polars",
    "pyarrow": "arrow",
    "numpy": "numpy",
    "scipy": "scipy",
    "cupy": "cupy",
    "cupyx": "cupyx",
    "torch": "torch",
    "torch_geometric": "pyg",
    "networkx": "networkx",
    "dask": "dask",
    "dask_cudf": "dask",
}


def is_proxy(value: Any) -> bool:  # noqa: ANN401 - any object
    """Tell a `cudf.pandas` proxy; asked first, since merely asking one for `__cuda_array_interface__` moves data."""
    return hasattr(type(value), "_fsproxy_slow")


def unproxy(value: Any) -> Any:  # noqa: ANN401 - any object
    """Give the plain object of the host behind a `cudf.pandas` proxy; other objects pass."""
    if is_proxy(value):
        return value.as_cpu_object() if hasattr(value, "as_cpu_object") else value._fsproxy_slow  # noqa: SLF001
    return value


def kind_of(value: Any) -> Kind:  # noqa: ANN401 - any object
    """Name the family of an object, subclasses included."""
    if value is None:
        return "none"
    if isinstance(value, str | PathLike):
        return "parquet"
    for base in type(value).__mro__[:-1]:
        found = _ROOTS.get(base.__module__.partition(".")[0])
        if found is not None:
            return found
    if hasattr(value, "__arrow_c_stream__"):
        return "arrow"
    return "other"


def is_dask(value: Any) -> bool:  # noqa: ANN401 - any object
    """Tell Dask collections, without importing Dask.

    Examples
    --------
    >>> is_dask([1, 2])
    False
    """
    return kind_of(value) == "dask"


def any_dask(edges: Any, feats: Any, given_labels: Any, given_train: Any) -> bool:  # noqa: ANN401 - any objects
    """Tell whether a graph comes in Dask collections; refuse one that does in part."""
    named = {"edges": edges, "feats": feats, "labels": given_labels, "train": given_train}
    found = [name for name, value in named.items() if is_dask(value)]
    if found and not {"edges", "feats"} <= set(found):
        other = next(name for name in ("edges", "feats") if name not in found)
        msg = (
            f"{found[0]} is a Dask collection but {other} is a {type(named[other]).__name__}: pass both as Dask "
            "collections, or .compute() the first"
        )
        raise UnsupportedInputError(msg)
    return bool(found)


def device_of(value: Any) -> Literal["host", "cuda"] | None:  # noqa: ANN401 - any object
    """Tell where an argument lives; None for what has no place (None, lists of ids)."""
    kind = kind_of(value)
    if kind in ("none", "other", "networkx", "parquet", "dask"):
        return None
    if kind in ("cudf", "cupy", "cupyx"):
        return "cuda"
    if kind == "pyg":
        value = getattr(value, "edge_index", None)
        kind = kind_of(value)
    if kind == "torch":
        return "cuda" if bool(value.is_cuda) else "host"
    return "host"


def check_devices(**arguments: Any) -> Literal["host", "cuda"]:  # noqa: ANN401 - any objects
    """Refuse arguments that live on different devices; tell the common one."""
    found = {name: device_of(value) for name, value in arguments.items()}
    places = {name: place for name, place in found.items() if place is not None}
    if len(set(places.values())) > 1:
        listed = ", ".join(f"{name} on {place}" for name, place in places.items())
        msg = f"arguments live on different devices ({listed}): move them all to one"
        raise DeviceError(msg)
    return next(iter(places.values()), "host")


def library(name: str, extra: str | None = None) -> Any:  # noqa: ANN401 - a module
    """Import an optional library, or say how to get it."""
    import importlib

    try:
        return sys.modules.get(name) or importlib.import_module(name)
    except ImportError as error:
        line = pip_line(extra) if extra else pip_line_of([name.partition(".")[0].replace("_", "-")])
        msg = f"{name} is needed for this and is not installed: {line}"
        raise MissingDependencyError(msg) from error
