"""What a plan holds, and how it is told."""

from __future__ import annotations

import dataclasses
import math
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from herald_gpu.planning.devices import DeviceSpec
    from herald_gpu.planning.sizes import Sizes

CAVEAT = (
    "A prediction, not a measurement: no figure was taken on a GPU. Times are roofline times, lower bounds without "
    "launch latency and without the way from the host. Workspaces inside cuML, cuVS, cuGraph, cuSPARSE and cuSOLVER "
    "(~) are estimates."
)
WIDTH = 116
GIGA = 1e9
LARGEST_INDEX = 2**31 - 1
"""What the device's 32-bit indices can address."""


@dataclass(frozen=True)
class StagePlan:
    """One stage of a plan.

    Attributes
    ----------
    name : str
        As in the report's timings; a part of a stage after a slash.
    flops, bytes_moved : float
        Arithmetic and memory traffic.
    pool_bytes : int
        Most bytes alive in CuPy's pool during the stage.
    workspace_bytes : int
        What cuML, cuVS, cuGraph, cuSPARSE or cuSOLVER need besides: an estimate.
    peak_bytes : int
        Device memory at the fullest moment: the workspace beside all that the pool has taken so far.
    seconds : float
        Roofline time.
    batches, batch : int
        Parts that the work is done in, and rows, columns or roots of one (0: not cut).
    estimate : bool
        Whether the memory includes an estimated workspace.
    counts : dict
        What the arithmetic was counted from.
    note : str
    """

    name: str
    flops: float
    bytes_moved: float
    pool_bytes: int
    workspace_bytes: int
    peak_bytes: int
    seconds: float
    batches: int
    batch: int
    estimate: bool
    counts: dict[str, int]
    note: str


@dataclass(frozen=True)
class Plan:
    """What a condensation would take.

    Attributes
    ----------
    sizes : Sizes
        The graph, and what the budget makes of it.
    device : DeviceSpec
    stages : tuple of StagePlan
    advice : tuple of str
        How it is cut to fit, or what would make it fit.
    """

    sizes: Sizes
    device: DeviceSpec
    stages: tuple[StagePlan, ...]
    advice: tuple[str, ...] = ()

    @property
    def flops(self) -> float:
        """Arithmetic of all stages."""
        return sum(stage.flops for stage in self.stages)

    @property
    def bytes_moved(self) -> float:
        """Memory traffic of all stages."""
        return sum(stage.bytes_moved for stage in self.stages)

    @property
    def seconds(self) -> float:
        """Roofline time of all stages."""
        return sum(stage.seconds for stage in self.stages)

    @property
    def peak_bytes(self) -> int:
        """Device memory at the fullest moment."""
        return max(stage.peak_bytes for stage in self.stages)

    @property
    def fits(self) -> bool:
        """Whether the device has that much, and the backend takes a graph of that size."""
        return self.addressable and self.peak_bytes <= self.device.usable_bytes

    @property
    def addressable(self) -> bool:
        """Whether 32-bit indices reach all edges; the backend refuses what they cannot."""
        return self.sizes.edges <= LARGEST_INDEX

    def stage(self, name: str) -> StagePlan:
        """Give a stage by name."""
        return next(stage for stage in self.stages if stage.name == name)

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values (JSON-able; an unknown peak of arithmetic is None)."""
        device = {key: None if value == math.inf else value for key, value in dataclasses.asdict(self.device).items()}
        totals = {name: getattr(self, name) for name in ("flops", "bytes_moved", "seconds", "peak_bytes", "fits")}
        return {
            "sizes": dataclasses.asdict(self.sizes),
            "device": device,
            "stages": [dataclasses.asdict(stage) for stage in self.stages],
            **totals,
            "advice": list(self.advice),
            "caveat": CAVEAT,
        }

    def __str__(self) -> str:
        s, peak = self.sizes, _figure(self.peak_bytes)
        kind = f"{s.values / (s.nodes * s.features):.2%} of the values stored" if s.sparse else "dense"
        lines = [
            f"{s.nodes:,} nodes, {s.edges:,} directed edges, {s.features:,} features ({kind}), {s.kept:,} kept",
            f"{self.device.name}: {self.device.memory_bytes / GIGA:,.1f} GB, {self.device.bandwidth / GIGA:,.0f} GB/s",
            "",
            _row("stage", "GFLOP", "GB moved", "pool GB", "workspace GB", "peak GB", "seconds", "batches"),
            *(_stage_row(stage) for stage in self.stages),
            _row("total", *_figures(self.flops, self.bytes_moved), "", "", peak, f"{self.seconds:.3g}"),
            "",
            f"fits: {'yes' if self.fits else 'no'}, {peak} GB of {_figure(self.device.usable_bytes)} GB usable",
            *(f"- {line}" for line in self.advice),
            "",
            *textwrap.wrap(CAVEAT, WIDTH),
        ]
        return "\n".join(lines)


def _stage_row(stage: StagePlan) -> str:
    mark = "~" if stage.estimate else ""
    return _row(
        stage.name,
        *_figures(stage.flops, stage.bytes_moved, stage.pool_bytes),
        f"~{_figure(stage.workspace_bytes)}" if stage.estimate else "-",
        f"{mark}{_figure(stage.peak_bytes)}",
        f"{stage.seconds:.3g}",
        f"{stage.batches:,}",
    )


def _row(first: str, *cells: str) -> str:
    return f"{first:<19}" + "".join(f"{cell:>13}" for cell in cells)


def _figures(*values: float) -> tuple[str, ...]:
    return tuple(_figure(value) for value in values)


def _figure(value: float) -> str:
    """Billions, to three significant digits."""
    billions = value / GIGA
    return f"{billions:,.0f}" if 100 <= billions < 1e7 else f"{billions:.3g}"  # noqa: PLR2004 - digits of a table
