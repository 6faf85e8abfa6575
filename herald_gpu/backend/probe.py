"""Whether RAPIDS can run here, told without importing it where it is missing."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from dataclasses import dataclass, field
from typing import Any

MODULES = ("cupy", "cuml", "pylibcugraph", "cuvs")
"""What the backend imports."""
LEAST_DRIVER = {12: 12020, 13: 13000}
"""Smallest driver (as CUDA version x 1000) by CUDA major of the wheels: 535 speaks 12.2, 580 speaks 13.0."""


@dataclass(frozen=True)
class Probe:
    """Whether RAPIDS can run here.

    Attributes
    ----------
    available : bool
    reason : str
        Why, or why not and what to do.
    facts : dict
        What was found: devices, driver, runtime, versions.
    """

    available: bool
    reason: str
    facts: dict[str, Any] = field(default_factory=dict)


def probe() -> Probe:
    """Look for the libraries, the driver and a device, without touching the device's memory."""
    missing = [name for name in MODULES if importlib.util.find_spec(name) is None]
    facts: dict[str, Any] = {"missing": missing}
    if missing:
        return Probe(
            available=False,
            reason=f"{', '.join(missing)} not installed: pip install 'herald-gpu[cu13]' (driver 580 or later) or "
            "'herald-gpu[cu12]' (driver 535 or later)",
            facts=facts,
        )
    import cupy

    runtime = cupy.cuda.runtime
    driver, built = int(runtime.driverGetVersion()), int(runtime.runtimeGetVersion())
    facts |= {"driver_cuda": driver, "runtime_cuda": built, "cupy": cupy.__version__}
    if driver == 0:
        return Probe(available=False, reason="no NVIDIA driver found: install one, or run on the CPU", facts=facts)
    major = built // 1000
    if driver < LEAST_DRIVER.get(major, built):
        older = " or install 'herald-gpu[cu12]' instead" if major > min(LEAST_DRIVER) else ""
        reason = (
            f"the driver speaks CUDA {_dotted(driver)}, too old for wheels of CUDA {major}: update the driver{older}"
        )
        return Probe(available=False, reason=reason, facts=facts)
    if not cupy.cuda.is_available():
        reason = "no usable CUDA device (is CUDA_VISIBLE_DEVICES empty?): make one visible, or run on the CPU"
        return Probe(available=False, reason=reason, facts=facts)
    facts["devices"] = [device_facts(index) for index in range(runtime.getDeviceCount())]
    name = facts["devices"][0]["name"]
    return Probe(available=True, reason=f"{name}, CUDA {_dotted(built)}", facts=facts)


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
    names = [
        f"{stem}-{cuda}" for stem in ("cudf", "cuml", "cugraph", "pylibcugraph", "cuvs") for cuda in ("cu13", "cu12")
    ]
    found = {}
    for name in ["cupy-cuda13x", "cupy-cuda12x", "cupy", *names]:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _dotted(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"
