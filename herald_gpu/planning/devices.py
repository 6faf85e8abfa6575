"""What devices can do: memory, bandwidth and peak arithmetic, from public data sheets."""

from __future__ import annotations

import math
from dataclasses import dataclass

from herald_gpu.errors import ConfigError

GB = 1e9
TERA = 1e12
CONTEXT_BYTES = 1_000_000_000
"""An estimate of what the CUDA context and the loaded libraries take before any array is made."""


@dataclass(frozen=True, kw_only=True)
class DeviceSpec:
    """A device, by the four numbers that a roofline needs.

    Parameters
    ----------
    memory_bytes : int
        Device memory.
    bandwidth : float
        Bytes per second between that memory and the processors.
    fp32, fp64 : float, optional
        Peak operations per second in single and double precision, without tensor cores (nothing here runs on them).
        Infinite by default: times then come from memory traffic alone.
    name : str
        What to call it.
    context_bytes : int
        Memory that is gone before any array is made.

    Examples
    --------
    >>> DeviceSpec(memory_bytes=24_000_000_000, bandwidth=1e12).name
    'given'
    """

    memory_bytes: int
    bandwidth: float
    fp32: float = math.inf
    fp64: float = math.inf
    name: str = "given"
    context_bytes: int = CONTEXT_BYTES

    def __post_init__(self) -> None:
        for field in ("memory_bytes", "bandwidth", "fp32", "fp64"):
            value = getattr(self, field)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                msg = f"{field}={value!r} is not valid: pass a number > 0"
                raise ConfigError(msg)

    @property
    def usable_bytes(self) -> int:
        """Memory that arrays and workspaces can have."""
        return max(0, int(self.memory_bytes) - self.context_bytes)

    def seconds(self, *, flops32: float, flops64: float, bytes_moved: float) -> float:
        """Roofline time: whichever takes longer, the arithmetic or the memory traffic.

        Examples
        --------
        >>> round(find_device("A100-80GB").seconds(flops32=0, flops64=9.7e12, bytes_moved=0), 3)
        1.0
        """
        return max(flops32 / self.fp32 + flops64 / self.fp64, bytes_moved / self.bandwidth)


def _device(name: str, memory: float, bandwidth: float, fp32: float, fp64: float) -> DeviceSpec:
    return DeviceSpec(
        name=name, memory_bytes=int(memory * GB), bandwidth=bandwidth * GB, fp32=fp32 * TERA, fp64=fp64 * TERA
    )


# Name, memory (GB, 10^9), bandwidth (GB/s), FP32 and FP64 peak (TFLOP/s, no tensor cores). Source: NVIDIA's data
# sheets and architecture white papers of each product, boost clock; the variant is named where there are several.
# Consumer and inference cards list no FP64 rate: theirs is 1/64 of FP32 (Turing: 1/32), as the white papers say.
DEVICES: dict[str, DeviceSpec] = {
    spec.name: spec
    for spec in (
        _device("T4", 16, 300, 8.1, 0.253),
        _device("V100-16GB", 16, 900, 15.7, 7.8),  # SXM2
        _device("V100-32GB", 32, 900, 15.7, 7.8),  # SXM2
        _device("A100-40GB", 40, 1555, 19.5, 9.7),  # SXM4
        _device("A100-80GB", 80, 2039, 19.5, 9.7),  # SXM4
        _device("H100", 80, 3350, 67.0, 34.0),  # SXM5
        _device("H200", 141, 4800, 67.0, 34.0),  # SXM5
        _device("B200", 180, 8000, 75.0, 37.0),  # one of the eight of an HGX B200
        _device("L4", 24, 300, 30.3, 0.473),
        _device("L40S", 48, 864, 91.6, 1.431),
        _device("RTX-4090", 24, 1008, 82.6, 1.291),
        _device("RTX-5090", 32, 1792, 104.8, 1.638),
    )
}
"""Well-known devices by name."""


def find_device(device: str | DeviceSpec) -> DeviceSpec:
    """Look a device up by name; a spec passes.

    Parameters
    ----------
    device : str or DeviceSpec
        Case, spaces, dashes and underscores in a name do not matter.

    Examples
    --------
    >>> find_device("rtx 4090").name
    'RTX-4090'
    """
    if isinstance(device, DeviceSpec):
        return device
    wanted = _plain(str(device))
    for name, spec in DEVICES.items():
        if _plain(name) == wanted:
            return spec
    msg = (
        f"device={device!r} is not known: pass one of {', '.join(DEVICES)}, or a DeviceSpec with the memory and "
        "bandwidth of yours"
    )
    raise ConfigError(msg)


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
