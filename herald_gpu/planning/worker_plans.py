"""What a plan for Dask workers holds, and how it is told."""

from __future__ import annotations

import dataclasses
import math
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from herald_gpu.planning.devices import DeviceSpec
    from herald_gpu.planning.sizes import Sizes

GIGA = 1e9
TASK_SECONDS = 1e-3
"""What the scheduler takes for a task: about a millisecond, says the manual of Dask."""
CAVEAT = (
    "A prediction, not a measurement: no figure was taken on a GPU, nor on more workers than two cores can keep busy. "
    "Times are roofline times of the arithmetic, divided by the workers where partitions share it, of the bytes "
    "exchanged at the speed of the link, and a millisecond for every task of the scheduler; latency comes on top."
)


@dataclass(frozen=True)
class WorkerStage:
    """One stage on workers: seconds of arithmetic and of exchange, bytes exchanged in all, and tasks handed out."""

    name: str
    work_seconds: float
    exchange_seconds: float
    exchanged_bytes: float
    tasks: int

    @property
    def seconds(self) -> float:
        """Time of the stage."""
        return self.work_seconds + self.exchange_seconds + TASK_SECONDS * self.tasks


@dataclass(frozen=True)
class WorkerPlan:
    """What a condensation would take on workers.

    Attributes
    ----------
    sizes : Sizes
    device : DeviceSpec
    workers : int
        Each with one partition.
    stages : tuple of WorkerStage
    part_bytes : int
        Memory of a worker at its fullest moment: while edges are sorted, or while rows walk.
    lead_bytes : int
        Memory of the one worker that puts things together, its own partition included.
    client_bytes : int
        Host memory of the client: ids and scores of all nodes.
    fewest : int, optional
        Fewest workers whose memory is enough; None if the one that puts things together never has enough.
    scaling : tuple of (workers, seconds)
        Twice as many each time, up to where that is not worth it.
    """

    sizes: Sizes
    device: DeviceSpec
    workers: int
    stages: tuple[WorkerStage, ...]
    part_bytes: int
    lead_bytes: int
    client_bytes: int
    fewest: int | None
    scaling: tuple[tuple[int, float], ...]

    @property
    def seconds(self) -> float:
        """Time of all stages."""
        return sum(stage.seconds for stage in self.stages)

    @property
    def exchanged_bytes(self) -> float:
        """Bytes exchanged in all stages."""
        return sum(stage.exchanged_bytes for stage in self.stages)

    @property
    def fits(self) -> bool:
        """Whether workers have enough memory."""
        return max(self.part_bytes, self.lead_bytes) <= self.device.usable_bytes

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values (JSON-able)."""
        device = {key: None if value == math.inf else value for key, value in dataclasses.asdict(self.device).items()}
        totals = {name: getattr(self, name) for name in ("seconds", "exchanged_bytes", "fits")}
        return {**dataclasses.asdict(self), "device": device, **totals, "caveat": CAVEAT}

    def __str__(self) -> str:
        s = self.sizes
        rows = [
            _row(stage.name, stage.exchanged_bytes / GIGA, stage.work_seconds, stage.exchange_seconds, stage.tasks)
            for stage in self.stages
        ]
        enough = "none, the one that puts things together lacks it in any case: keep a smaller share (--ratio)"
        if self.fewest is not None:
            enough = f"{self.fewest:,}"
        ends = " -> ".join(f"{workers:,}: {seconds:,.3g} s" for workers, seconds in self.scaling)
        usable = self.device.usable_bytes / GIGA
        return "\n".join(
            [
                f"{s.nodes:,} nodes, {s.edges:,} directed edges, {s.features:,} features, {s.train:,} training nodes",
                f"{self.workers:,} workers, each {self.device.name} with {usable:,.1f} GB usable",
                "",
                f"{'stage':<16}{'GB exchanged':>14}{'work, s':>12}{'exchange, s':>14}{'tasks':>10}",
                *rows,
                f"total: {self.exchanged_bytes / GIGA:,.3g} GB exchanged, {self.seconds:,.3g} s with tasks made",
                "",
                f"memory: {self.part_bytes / GIGA:,.3g} GB a worker; of the one that puts things together",
                f"        {self.lead_bytes / GIGA:,.3g} GB; of the client's host {self.client_bytes / GIGA:,.3g} GB",
                f"fits: {'yes' if self.fits else 'no'}; fewest workers with enough memory: {enough}",
                f"scaling: {ends}",
                "",
                *textwrap.wrap(CAVEAT, 116),
            ]
        )


def _row(name: str, gigabytes: float, work: float, exchange: float, tasks: int) -> str:
    return f"{name:<16}{gigabytes:>14,.3g}{work:>12,.3g}{exchange:>14,.3g}{tasks:>10,}"
