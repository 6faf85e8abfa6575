"""Doubles of the RAPIDS calls that the backend makes, for CuPy emulated on the CPU.

The emulator runs CuPy itself; cuML and cuGraph are closed C++ behind thin wrappers, so their few calls run here, on
the host. A double has the real signature (checked against the snapshot of the wheels) and the manners that a plain
NumPy stand-in would hide: what is refused, what is silently cast, what comes in no particular order. What a double
does not model raises `NotImplementedError`.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

from support.doubles import cudf, cuml, cusolver, cuvs, dask_rapids, pylibcugraph, rmm

MODULES: dict[str, dict[str, object]] = {
    "cudf": {"DataFrame": cudf.DataFrame, "Index": cudf.Index, "Series": cudf.Series},
    "cuml": {},
    "cuml.decomposition": {"PCA": cuml.PCA},
    "cuml.ensemble": {"RandomForestClassifier": cuml.RandomForestClassifier},
    "cuml.neighbors": {"NearestNeighbors": cuml.NearestNeighbors},
    "cuvs": {},
    "cuvs.common": {"Resources": cuvs.Resources},
    "cuvs.neighbors": {},
    "cuvs.neighbors.all_neighbors": {"AllNeighborsParams": cuvs.AllNeighborsParams, "build": cuvs.build},
    "cuvs.neighbors.nn_descent": {"IndexParams": cuvs.IndexParams},
    "dask_cuda": {"LocalCUDACluster": dask_rapids.LocalCUDACluster},
    "dask_cudf": {"read_parquet": dask_rapids.read_parquet},
    "pylibcugraph": {
        "GraphProperties": pylibcugraph.GraphProperties,
        "ResourceHandle": pylibcugraph.ResourceHandle,
        "SGGraph": pylibcugraph.SGGraph,
        "neighbor_sample": pylibcugraph.neighbor_sample,
        "personalized_pagerank": pylibcugraph.personalized_pagerank,
    },
    "pylibcugraph.exceptions": {"FailedToConvergeError": pylibcugraph.FailedToConvergeError},
    "rmm": {
        "register_reinitialize_hook": rmm.register_reinitialize_hook,
        "reinitialize": rmm.reinitialize,
    },
    "rmm.allocators": {},
    "rmm.allocators.cupy": {"rmm_cupy_allocator": rmm.rmm_cupy_allocator},
    "rmm.mr": {
        "CudaMemoryResource": rmm.CudaMemoryResource,
        "LimitingResourceAdaptor": rmm.LimitingResourceAdaptor,
        "ManagedMemoryResource": rmm.ManagedMemoryResource,
        "PoolMemoryResource": rmm.PoolMemoryResource,
        "StatisticsResourceAdaptor": rmm.StatisticsResourceAdaptor,
        "UpstreamResourceAdaptor": rmm.UpstreamResourceAdaptor,
        "get_current_device_resource": rmm.get_current_device_resource,
        "set_current_device_resource": rmm.set_current_device_resource,
    },
    "rmm.statistics": {"Statistics": rmm.Statistics},
}
"""Modules and what is in them."""


def emulated() -> bool:
    """Whether CuPy is the emulator."""
    if importlib.util.find_spec("cupy") is None:
        return False
    import cupy

    return "cpuemu" in cupy.__version__


def install() -> None:
    """Put the doubles where the backend imports from; never beside real libraries or a real device."""
    if not emulated():
        msg = "doubles of RAPIDS are for emulated CuPy only"
        raise RuntimeError(msg)
    cusolver.install()
    for name, contents in MODULES.items():
        there = sys.modules.get(name)
        if there is not None and getattr(there, "is_double", False):
            continue
        if "." not in name and (there is not None or importlib.util.find_spec(name) is not None):
            msg = f"{name} is installed: a double must not stand in for it"
            raise RuntimeError(msg)
        module = ModuleType(name, f"Double of {name}.")
        module.__spec__ = ModuleSpec(name, None, is_package=True)
        module.__path__ = []
        vars(module).update(contents, is_double=True)
        sys.modules[name] = module
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], last, module)
