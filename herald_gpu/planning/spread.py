"""What a condensation would take on several workers: memory, bytes exchanged, time, and where more do not help."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

from herald_gpu.errors import ConfigError
from herald_gpu.planning.checks import check_config
from herald_gpu.planning.devices import find_device
from herald_gpu.planning.exchange import Spread, brought, exchanged, levels
from herald_gpu.planning.exemplar_memory import KINDS
from herald_gpu.planning.exemplar_work import pair_work, walk_work
from herald_gpu.planning.memory import footprints
from herald_gpu.planning.sizes import measure
from herald_gpu.planning.work import all_work
from herald_gpu.planning.worker_plans import WorkerPlan, WorkerStage
from herald_gpu.stages.landmarks import PER_CLASS
from herald_gpu.stages.views import HOPS, SIGHTS

if TYPE_CHECKING:
    from herald_gpu.config import HeraldConfig
    from herald_gpu.planning.devices import DeviceSpec
    from herald_gpu.planning.sizes import Sizes

BLOCK_BYTES, BLOCK_SHARE = 2**27, 16
"""Dense rows that a partition has from itself and others at a time; a test compares them with the stage's."""
LINK = 25e9
"""Bytes a second into one worker: 200 Gb/s."""
MOST_WORKERS = 4096
WORTH = 1.1
"""Twice as many workers are worth it where the time falls by this factor."""
ON_ONE = (
    *("exemplars/similarities", "exemplars/landmarks", "exemplars/places", "exemplars/trials"),
    *("features/tree", "expansion", "pruning", "rebalance"),
)
"""Parts of stages that one worker does."""


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
    (True, 4)
    """
    chosen, spec = check_config(config), find_device(device)
    chosen = chosen if feature_count is None else dataclasses.replace(chosen, feature_count=feature_count)
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
        feature_count=None,
        config=chosen,
    )

    def stages(count: int) -> tuple[WorkerStage, ...]:
        return _stages(sizes, chosen, spec, Spread(count, local), link)

    enough = [
        count
        for count in _doubled()
        if max(_memory(sizes, chosen, Spread(count, local), spec.usable_bytes)[:2]) <= spec.usable_bytes
    ]
    fewest = None
    if enough:
        low, high = enough[0] // 2 + 1, enough[0]
        fits = (
            c
            for c in range(low, high + 1)
            if max(_memory(sizes, chosen, Spread(c, local), spec.usable_bytes)[:2]) <= spec.usable_bytes
        )
        fewest = next(fits)
    part, lead, client = _memory(sizes, chosen, Spread(workers, local), spec.usable_bytes)
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
        taken = sum(stage.seconds for stage in stages(count))
        found.append((count, taken))
        if len(found) > 1 and found[-2][1] < WORTH * taken:
            break
        count *= 2
    return tuple(found)


def _stages(s: Sizes, config: HeraldConfig, device: DeviceSpec, spread: Spread, link: float) -> tuple[WorkerStage, ...]:
    """Work by stage, shared where partitions share it, with the bytes on their way."""
    bytes_of, to_one = exchanged(s, config, spread), brought(s, config, spread)
    tasks = _tasks(s, config, spread, device.usable_bytes)
    done = all_work(s, config, footprints(s, config, device.usable_bytes))
    if s.exemplars is not None:  # partitions walk, one worker compares
        done |= {
            "exemplars/views": walk_work(s, s.exemplars),
            "exemplars/similarities": pair_work(s.exemplars),
        }
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
            to_one.get(name, 0.0) / link + (bytes_of.get(name, 0.0) - to_one.get(name, 0.0)) / (link * spread.parts),
            bytes_of.get(name, 0.0),
            tasks.get(name, 0) + spread.parts,
        )
        for name in order
    )


def _memory(s: Sizes, config: HeraldConfig, spread: Spread, usable: int) -> tuple[int, int, int]:
    """Memory of a worker, of the one that puts things together, and of the client."""
    parts = spread.parts
    features = 8 * s.values + 4 * s.nodes if s.sparse else 4 * s.values
    walk = levels(s, spread, s.train, max(1, config.hops))
    reached = s.nodes / parts + walk[-1].asked / parts
    part = (8 * s.edges + features + 9 * s.nodes) / parts + 4 * reached
    cuts = sum(8 * level.edges / parts + 4 * level.asked / parts + 12 * level.rows / parts for level in walk)
    sorting = 4 * 8 * 2 * s.edges / parts + features / parts  # keys of both directions: given, joined, sorted, once
    walking = part + cuts + 6 * max(BLOCK_BYTES, usable // BLOCK_SHARE)
    if s.exemplars is None:
        row = 8 * s.kept_values / s.nodes if s.sparse else 4 * s.kept
        passing = part + cuts + (3 * row + 8 * (config.lid_neighbours + 8)) * s.nodes / parts
        roots = s.nodes * -math.expm1(-s.roots_considered(s.wide, config) * s.reach(config.depth)[0] / s.nodes)
        lead = 60 * s.train + roots * (row + 60) + 16 * roots * s.degree * roots / s.nodes
        lead += 4 * s.train * s.features * 2 if s.tree else 0
        return math.ceil(max(sorting, walking, passing)), math.ceil(part + cuts + lead), 60 * s.nodes
    search = s.exemplars
    # Rows as they came and as they are remembered, and some that are put in order.
    rows = 4 * (search.widest + search.learnt) * (SIGHTS * search.compared + KINDS * search.held)
    rows += 4 * search.learnt * (search.compared + KINDS * search.held)
    similarities = (4 * (HOPS + 1) + 2 * len(search.options)) * search.pairs if search.options else 0
    tables = max(similarities, 16 * (search.folds + 1) * search.learnt * (search.learnt + s.classes))
    tables += 4 * PER_CLASS * s.classes * (search.folds + 1) * sum(search.fitting)
    seen = min(s.train, max(search.compared, search.grid[0].rows * 2)) * (4 * s.features + 60)
    lead = (60 + 4 * len(search.grid)) * s.train + rows + tables + 2 * seen
    return math.ceil(max(sorting, walking)), math.ceil(part + cuts + lead), 40 * s.nodes


def _tasks(s: Sizes, config: HeraldConfig, spread: Spread, usable: int) -> dict[str, int]:
    """Tasks of the stages in which every partition gives something to every other."""
    pairs, room = spread.parts**2, max(BLOCK_BYTES, usable // BLOCK_SHARE)

    def blocks(targets: float, hops: int, columns: int) -> int:
        asked = max(s.nodes * level.rows / s.nodes + level.asked for level in levels(s, spread, targets, hops))
        return math.ceil(columns / max(1, min(columns, room // (8 * max(1, math.ceil(asked / spread.parts))))))

    hops = max(1, config.hops)
    counted = {
        "reading": pairs,
        "heterophily": (hops + 1) * pairs,
    }
    if s.fisher:
        counted["features"] = blocks(s.train, hops, s.features) * config.hops * pairs
    if s.exemplars is not None:
        n_blocks = blocks(s.exemplars.compared + s.exemplars.held, HOPS, s.exemplars.widest)
        # Once of every partition: who the training nodes are, sizes of rows and nodes to see, both of these twice.
        return counted | {"exemplars": (HOPS + 1 + HOPS * n_blocks) * pairs + 5 * spread.parts}
    return counted | {"scoring": pairs}
