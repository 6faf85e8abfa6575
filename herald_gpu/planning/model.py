"""The cost model: from sizes to a plan."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from herald_gpu.config import HeraldConfig  # noqa: TC001 - typing.get_type_hints looks names up here
from herald_gpu.planning.advice import advise
from herald_gpu.planning.checks import check_config
from herald_gpu.planning.devices import DeviceSpec, find_device
from herald_gpu.planning.memory import footprints
from herald_gpu.planning.plans import Plan, StagePlan
from herald_gpu.planning.sizes import measure
from herald_gpu.planning.work import all_work

if TYPE_CHECKING:
    from herald_gpu.config import Selection
    from herald_gpu.planning.sizes import Sizes

ORDER: dict[Selection, tuple[str, ...]] = {
    "exemplars": (
        *("reading", "budget", "heterophily", "features/fisher"),
        *("exemplars/views", "exemplars/landmarks", "exemplars/places", "exemplars/trials", "scoring", "assembly"),
    ),
    "neighbourhoods": (
        *("reading", "budget", "heterophily", "features/tree", "features/fisher"),
        *("scoring/scores", "scoring/neighbours", "expansion", "pruning", "rebalance", "assembly"),
    ),
}
"""As the pipeline runs; the weights are a few numbers on the host."""


def plan(
    n_nodes: int,
    n_edges: int,
    n_features: int,
    *,
    n_classes: int,
    ratio: float = 0.01,
    train_share: float = 0.56,
    density: float = 1.0,
    binary: bool = False,
    degree_skew: float | None = None,
    class_skew: float | None = None,
    feature_count: int | None = None,
    config: HeraldConfig | None = None,
    device: str | DeviceSpec = "A100-80GB",
    on_device: bool = False,
) -> Plan:
    """Predict work, memory and time of a condensation on the RAPIDS backend.

    Parameters
    ----------
    n_nodes, n_edges, n_features : int
        Sizes; edges are directed, every undirected edge counts twice.
    n_classes : int
    ratio : float
        Share of the storage to keep, in (0, 1].
    train_share : float
        Share of nodes that are training nodes.
    density : float
        Share of feature values that are not zero.
    binary : bool
        Whether all of those are 1.
    degree_skew : float, optional
        Mean squared degree over squared mean degree; by default that of a random graph (1 + 1 / mean degree). Graphs
        with hubs have 5 and more, and their neighbourhoods are that much larger.
    class_skew : float, optional
        The same of the classes' training nodes; by default 1, classes of equal size. Exemplars are compared inside
        classes, which takes the more the less equal those are.
    feature_count : int, optional
        Kept features; by default what `config` says. Else the default preset is planned with all the numbers that it
        tries, and :meth:`HeraldConfig.paper` with all features, the most that its tree can choose.
    config : HeraldConfig, optional
        The default preset, :meth:`HeraldConfig.paper`, or one like them; the published accounting is not planned.
    device : str or DeviceSpec
        A name of :data:`herald_gpu.planning.DEVICES`, or a device of your own.
    on_device : bool
        Whether edges and features are on the device already (cuDF, CuPy): reading then copies them there. What they
        take themselves is the caller's, and comes on top.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import herald_gpu
    >>> found = herald_gpu.plan(169_343, 2_315_598, 128, n_classes=40, device="L4")
    >>> found.fits
    True
    >>> [option.count for option in found.sizes.exemplars.options]
    [8, 32, 64, 128]
    >>> found.sizes.exemplars.widths
    (64, 32, 16, 8)
    >>> found.stage("exemplars/views").counts["multiply_adds"] == 2_315_598 * 128
    True
    >>> paper = herald_gpu.plan(169_343, 2_315_598, 128, n_classes=40, config=herald_gpu.HeraldConfig.paper())
    >>> max(paper.stages, key=lambda stage: stage.seconds).name
    'scoring/neighbours'
    """
    chosen, spec = check_config(config), find_device(device)

    def attempt(kept: int | None, on: DeviceSpec, pool: int | None = None) -> Plan:
        asked = chosen if pool is None else dataclasses.replace(chosen, smallest_pool=pool, largest_pool=pool)
        sizes = measure(
            n_nodes,
            n_edges,
            n_features,
            n_classes=n_classes,
            ratio=ratio,
            train_share=train_share,
            density=density,
            binary=binary,
            degree_skew=degree_skew,
            class_skew=class_skew,
            feature_count=kept,
            config=asked,
            on_device=on_device,
        )
        return Plan(sizes, on, _stages(sizes, asked, on))

    found = attempt(feature_count, spec)
    return dataclasses.replace(found, advice=advise(found, attempt))


def _stages(sizes: Sizes, config: HeraldConfig, device: DeviceSpec) -> tuple[StagePlan, ...]:
    memory = footprints(sizes, config, device.usable_bytes)
    work = all_work(sizes, config, memory)
    stages, pool = [], 0
    for name in (name for name in ORDER[config.selection] if name in memory):
        one, done = memory[name], work[name]
        pool = max(pool, one.pool)  # the pool keeps what it once took
        stages.append(
            StagePlan(
                name=name,
                flops=done.flops32 + done.flops64,
                bytes_moved=done.bytes,
                pool_bytes=one.pool,
                workspace_bytes=one.workspace,
                peak_bytes=pool + one.workspace,
                seconds=device.seconds(flops32=done.flops32, flops64=done.flops64, bytes_moved=done.bytes),
                batches=one.batches,
                batch=one.batch,
                estimate=one.workspace > 0,
                counts=done.counts,
                note=done.note,
            )
        )
    return tuple(stages)
