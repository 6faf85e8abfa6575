"""Whether RAPIDS can run here, told without importing it where it is missing."""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
import sys
from dataclasses import dataclass, field
from typing import Any

from herald_gpu.install import pip_line

MODULES = ("cupy", "cuml", "pylibcugraph", "cuvs")
"""What the backend imports."""
LEAST_DRIVER = {12: 12020, 13: 13000}
"""Smallest driver (as CUDA version x 1000) by CUDA major of the wheels: 535 speaks 12.2, 580 speaks 13.0."""
LEAST_CAPABILITY = {12: (7, 0), 13: (7, 5)}
"""Smallest compute capability by CUDA major of the wheels: Volta, Turing."""
STEMS = ("cudf", "cuml", "cugraph", "pylibcugraph", "cuvs", "rmm")
"""Distributions of the GPU extras; each is published with the suffixes -cu13 and -cu12."""


@dataclass(frozen=True)
class Probe:
    """Whether RAPIDS can run here.

    Attributes
    ----------
    available : bool
    reason : str
        Why, or why not and what to do.
    facts : dict
        What was found: missing modules, CUDA of driver and runtime (x 1000), devices.
    """

    available: bool
    reason: str
    facts: dict[str, Any] = field(default_factory=dict)


def probe() -> Probe:
    """Look for the libraries, the driver and a device, without touching the device's memory.

    Examples
    --------
    >>> found = probe()
    >>> isinstance(found.available, bool), len(found.reason) > 0
    (True, True)
    """
    missing = [name for name in MODULES if not _installed(name)]
    facts: dict[str, Any] = {"missing": missing, "driver_cuda": driver_version()}
    if missing:
        reason = f"{', '.join(missing)} not installed: {_install_line(facts['driver_cuda'])}"
        return Probe(available=False, reason=reason, facts=facts)
    try:
        import cupy
    except ImportError as error:
        reason = f"cupy is installed but cannot be imported ({error}): install it again with the extra cu13 or cu12"
        return Probe(available=False, reason=reason, facts=facts)
    runtime = cupy.cuda.runtime
    driver, built = int(runtime.driverGetVersion()), int(runtime.runtimeGetVersion())
    facts |= {"driver_cuda": driver, "runtime_cuda": built, "cupy": cupy.__version__}
    obstacle = _obstacle(cupy, driver, built)
    if obstacle is not None:
        return Probe(available=False, reason=obstacle, facts=facts)
    facts["devices"] = [device_facts(index) for index in range(runtime.getDeviceCount())]
    first, least = facts["devices"][0], LEAST_CAPABILITY.get(built // 1000, (0, 0))
    if tuple(int(part) for part in first["compute_capability"].split(".")) < least:
        reason = (
            f"{first['name']} has compute capability {first['compute_capability']}, but wheels of CUDA {built // 1000} "
            f"need {least[0]}.{least[1]}: make a newer device visible, or run on the CPU"
        )
        return Probe(available=False, reason=reason, facts=facts)
    return Probe(available=True, reason=f"{first['name']}, CUDA {dotted(built)}", facts=facts)


def driver_version() -> int:
    """CUDA version that the installed driver speaks (x 1000), asked without CuPy; 0 where there is no driver."""
    version = ctypes.c_int(0)
    try:
        library = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        library.cuDriverGetVersion(ctypes.byref(version))
    except (OSError, AttributeError):
        return 0
    return version.value


def device_facts(index: int) -> dict[str, Any]:
    """Name, compute capability and memory of one device."""
    import cupy

    found = cupy.cuda.runtime.getDeviceProperties(index)
    name = found["name"]
    return {
        "name": name.decode() if isinstance(name, bytes) else str(name),
        "compute_capability": f"{found['major']}.{found['minor']}",
        "memory_bytes": int(found["totalGlobalMem"]),
    }


def installed_versions() -> dict[str, str]:
    """Versions of whatever distributions of the GPU extras are installed."""
    names = [f"{stem}-{cuda}" for stem in STEMS for cuda in ("cu13", "cu12")]
    found = {}
    for name in ["cupy-cuda13x", "cupy-cuda12x", "cupy", *names]:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def dotted(version: int) -> str:
    """Write a CUDA version as people do.

    Examples
    --------
    >>> dotted(12020)
    '12.2'
    """
    return f"{version // 1000}.{version % 1000 // 10}"


def _installed(name: str) -> bool:
    if name in sys.modules:
        return sys.modules[name] is not None
    return importlib.util.find_spec(name) is not None


def _install_line(driver: int) -> str:
    """Say how to install what fits the driver, or what is there already."""
    if driver == 0:
        return (
            f"there is no NVIDIA driver either; on a machine with driver 580 or later, {pip_line('cu13')}; "
            f"with driver 535 or later, {pip_line('cu12')}"
        )
    speaks, there = f"the driver speaks CUDA {dotted(driver)}", installed_versions()
    for major in sorted(LEAST_DRIVER, reverse=True):
        if f"cupy-cuda{major}x" in there:
            return f"{pip_line(f'cu{major}')}, which goes with the cupy-cuda{major}x that is there"
    for major in sorted(LEAST_DRIVER, reverse=True):
        if driver >= LEAST_DRIVER[major]:
            return f"{speaks}, so {pip_line(f'cu{major}')}"
    return f"{speaks}, too old for any: update it to 580 or later, then {pip_line('cu13')}"


def _obstacle(cupy: Any, driver: int, built: int) -> str | None:  # noqa: ANN401 - the module
    """Why the installed wheels find no device to run on; None if they do."""
    if driver == 0:
        return "no NVIDIA driver found: install one, or run on the CPU"
    major = built // 1000
    if driver < LEAST_DRIVER.get(major, built):
        older = min(LEAST_DRIVER)
        instead = f", or use wheels of CUDA {older}: {pip_line(f'cu{older}')}" if LEAST_DRIVER[older] <= driver else ""
        return (
            f"the driver speaks CUDA {dotted(driver)}, too old for wheels of CUDA {major}, which need "
            f"{dotted(LEAST_DRIVER.get(major, built))}: update the driver{instead}"
        )
    if not cupy.cuda.is_available():
        return "no usable CUDA device (is CUDA_VISIBLE_DEVICES empty?): make one visible, or run on the CPU"
    return None
