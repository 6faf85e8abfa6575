"""What a condensation would take on several workers: memory, bytes exchanged, time, and where more do not help."""

from __future__ import annotations

import dataclasses
import math
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from herald_gpu.errors import ConfigError
from herald_gpu.planning.checks import check_config
from herald_gpu.planning.devices import find_device
from herald_gpu.planning.exchange import Spread, exchanged, levels
from herald_gpu.planning.memory import footprints
from herald_gpu.planning.sizes import measure
from herald_gpu.planning.work import all_work

if TYPE_CHECKING:
    from herald_gpu.config import HeraldConfig
    from herald_gpu.planning.devices import DeviceSpec
    from herald_gpu.planning.sizes import Sizes

BLOCK_BYTES = 2**27
"""Dense rows that a partition has from itself and others at a time; a test compares it with the stage's."""
LINK = 25e9
"""Bytes a second into one worker: 200 Gb/s."""
MOST_WORKERS = 4096
WORTH = 1.1
"""Twice as many workers are worth it where the time falls by this factor."""
ON_ONE = ("exemplars/places", "exemplars/trials", "features/tree", "expansion", "pruning", "rebalance")
"""Parts of stages that one worker does."""
TO_ONE = ("exemplars", "expansion")
"""Stages whose rows go to one worker."""
GIGA = 1e9
CAVEAT = (
    "A prediction, not a measurement: no figure was taken on a GPU, nor on more workers than two cores can keep busy. "
    "Times are roofline times of the arithmetic, divided by the workers where partitions share it, and of the bytes "
    "exchanged at the speed of the link; latency, and the making of tasks by the scheduler, come on top."
)


@dataclass(frozen=True)
class WorkerStage:
    """One stage on workers: seconds of arithmetic and of exchange, and bytes exchanged in all."""

    name: str
    work_seconds: float
    exchange_seconds: float
    exchanged_bytes: float


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
        return sum(stage.work_seconds + stage.exchange_seconds for stage in self.stages)

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
            _row(stage.name, stage.exchanged_bytes / GIGA, stage.work_seconds, stage.exchange_seconds)
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
                f"{'stage':<16}{'GB exchanged':>14}{'work, s':>12}{'exchange, s':>14}",
                *rows,
                _row("total", self.exchanged_bytes / GIGA, self.seconds, None),
                "",
                f"memory: {self.part_bytes / GIGA:,.3g} GB a worker; of the one that puts things together",
                f"        {self.lead_bytes / GIGA:,.3g} GB; of the client's host {self.client_bytes / GIGA:,.3g} GB",
                f"fits: {'yes' if self.fits else 'no'}; fewest workers with enough memory: {enough}",
                f"scaling: {ends}",
                "",
                *textwrap.wrap(CAVEAT, 116),
            ]
        )


def plan_workers(
    n_nodes: int,
    n_edges: int,
    n_features: int,
    *,
    n_classes: int,
    workers: int,
    ratio: float = 0.01,
    train_share: float = 0.56,
    density: float = 1.0,
    binary: bool = False,
    feature_count: int | None = None,
    config: HeraldConfig | None = None,
    device: str | DeviceSpec = "A100-80GB",
    link: float = LINK,
    local: float = 0.0,
) -> WorkerPlan:
    """Predict memory, exchange and time of a condensation on Dask workers.

    Parameters
    ----------
    n_nodes, n_edges, n_features, n_classes, ratio, train_share, density, binary, feature_count, config, device
        As of :func:`herald_gpu.plan`.
    workers : int
        Each holds one partition.
    link : float
        Bytes a second that a worker can receive.
    local : float
        Share of edges that stay inside their partition beyond chance.

    Examples
    --------
    >>> found = plan_workers(111_059_956, 3_231_371_744, 128, n_classes=172, workers=8, train_share=0.011)
    >>> found.fits, found.fewest
    (True, 2)
    """
    chosen, spec = check_config(config), find_device(device)
    for name, value, good in (
        ("workers", workers, workers >= 1),
        ("link", link, link > 0),
        ("local", local, 0 <= local < 1),
    ):
        if not good:
            msg = f"{name}={value!r} is not valid: pass {'a share in [0, 1)' if name == 'local' else 'more than 0'}"
            raise ConfigError(msg)
    sizes = measure(
        n_nodes,
        n_edges,
        n_features,
        n_classes=n_classes,
        ratio=ratio,
        train_share=train_share,
        density=density,
        binary=binary,
        degree_skew=None,
        class_skew=None,
        feature_count=feature_count,
        config=chosen,
    )

    def stages(count: int) -> tuple[WorkerStage, ...]:
        return _stages(sizes, chosen, spec, Spread(count, local), link)

    enough = [
        count for count in _doubled() if max(_memory(sizes, chosen, Spread(count, local))[:2]) <= spec.usable_bytes
    ]
    fewest = None
    if enough:
        low, high = enough[0] // 2 + 1, enough[0]
        fits = (
            c for c in range(low, high + 1) if max(_memory(sizes, chosen, Spread(c, local))[:2]) <= spec.usable_bytes
        )
        fewest = next(fits)
    part, lead, client = _memory(sizes, chosen, Spread(workers, local))
    return WorkerPlan(
        sizes=sizes,
        device=spec,
        workers=workers,
        stages=stages(workers),
        part_bytes=part,
        lead_bytes=lead,
        client_bytes=client,
        fewest=fewest,
        scaling=_scaling(fewest or 1, stages),
    )


def _doubled() -> list[int]:
    return [2**power for power in range(int(math.log2(MOST_WORKERS)) + 1)]


def _scaling(first: int, stages: Any) -> tuple[tuple[int, float], ...]:  # noqa: ANN401 - a function of workers
    """Time on more and more workers, up to the last step that was worth it and the first that was not."""
    found: list[tuple[int, float]] = []
    count = first
    while count <= MOST_WORKERS:
        taken = sum(stage.work_seconds + stage.exchange_seconds for stage in stages(count))
        found.append((count, taken))
        if len(found) > 1 and found[-2][1] < WORTH * taken:
            break
        count *= 2
    return tuple(found)


def _stages(s: Sizes, config: HeraldConfig, device: DeviceSpec, spread: Spread, link: float) -> tuple[WorkerStage, ...]:
    """Work by stage, shared where partitions share it, with the bytes on their way."""
    bytes_of = exchanged(s, config, spread)
    done = all_work(s, config, footprints(s, config, device.usable_bytes))
    found: dict[str, float] = {}
    for name, work in done.items():
        seconds = device.seconds(flops32=work.flops32, flops64=work.flops64, bytes_moved=work.bytes)
        stage = name.partition("/")[0]
        found[stage] = found.get(stage, 0.0) + (seconds if name in ON_ONE else seconds / spread.parts)
    order = [*(name for name in found if name != "assembly"), "assembly"]
    return tuple(
        WorkerStage(
            name,
            found[name],
            bytes_of.get(name, 0.0) / (link if name in TO_ONE else link * spread.parts),
            bytes_of.get(name, 0.0),
        )
        for name in order
    )


def _memory(s: Sizes, config: HeraldConfig, spread: Spread) -> tuple[int, int, int]:
    """Memory of a worker, of the one that puts things together, and of the client."""
    parts = spread.parts
    features = 8 * s.values + 4 * s.nodes if s.sparse else 4 * s.values
    walk = levels(s, spread, s.train, max(1, config.hops))
    reached = s.nodes / parts + walk[-1].asked / parts
    part = (8 * s.edges + features + 9 * s.nodes) / parts + 4 * reached
    cuts = sum(8 * level.edges / parts + 4 * level.asked / parts + 12 * level.rows / parts for level in walk)
    sorting = 4 * 8 * 2 * s.edges / parts + features / parts  # keys of both directions: given, joined, sorted, once
    walking = part + cuts + 6 * BLOCK_BYTES
    if s.exemplars is None:
        row = 8 * s.kept_values / s.nodes if s.sparse else 4 * s.kept
        passing = part + cuts + (3 * row + 8 * (config.lid_neighbours + 8)) * s.nodes / parts
        roots = s.nodes * -math.expm1(-s.roots_considered(s.wide, config) * s.reach(config.depth)[0] / s.nodes)
        lead = 60 * s.train + roots * (row + 60) + 16 * roots * s.degree * roots / s.nodes
        lead += 4 * s.train * s.features * 2 if s.tree else 0
        return math.ceil(max(sorting, walking, passing)), math.ceil(part + cuts + lead), 60 * s.nodes
    search = s.exemplars
    rows = 4 * s.kept * (3 * search.compared + 4 * search.held)
    tables = 14 * search.pairs
    seen = min(s.train, max(search.compared, search.options[0].rows * 2)) * (4 * s.features + 60)
    lead = (60 + 4 * len(search.options)) * s.train + 3 * rows + tables + 2 * seen
    return math.ceil(max(sorting, walking)), math.ceil(part + cuts + lead), 40 * s.nodes


def _row(name: str, gigabytes: float, work: float, exchange: float | None) -> str:
    last = "" if exchange is None else f"{exchange:,.3g}"
    return f"{name:<16}{gigabytes:>14,.3g}{work:>12,.3g}{last:>14}"
