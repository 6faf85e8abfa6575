"""What to tell about a plan: how it is cut to fit, or what would make it fit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from herald_gpu.planning.devices import DEVICES, DeviceSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from herald_gpu.planning.exemplar_sizes import Exemplars
    from herald_gpu.planning.plans import Plan

    Attempt = Callable[[int | None, DeviceSpec, int | None], Plan]

GIGA = 1e9


def advise(found: Plan, attempt: Attempt) -> tuple[str, ...]:
    """Explain a plan.

    Parameters
    ----------
    found : Plan
    attempt : function of a number of kept features, a device and a number of compared nodes
        The same plan with those; None leaves a number as it was asked for.
    """
    lines = _cut(found) if found.fits else _remedies(found, attempt)
    lines += _bounds(found)
    if math.inf in (found.device.fp32, found.device.fp64):
        lines.append("peak arithmetic of the device not given: times come from memory traffic alone")
    return tuple(lines)


def _cut(found: Plan) -> list[str]:
    """Say how the work is cut."""
    search = found.sizes.exemplars
    if search is not None:
        exemplars = _listed(one.count for one in search.options)
        landmarks = f"landmarks: {_listed(search.widths) or 'none fit'}"
        counts = f"{exemplars} ({landmarks})" if exemplars and search.widths else exemplars or landmarks
        parts = "1 part" if search.folds == 1 else f"{search.folds} parts"
        held = f"{search.held:,} nodes held out in {parts}" if search.tried or search.widths else "nothing to try"
        return [f"numbers of features: {counts}; up to {search.pool:,} nodes of a class compared; {held}"]
    near, grown = found.stage("scoring/neighbours"), found.stage("expansion")
    line = (
        f"batches, set from free memory: {near.batch:,} queries of nearest neighbours "
        f"({near.batches:,} in all), up to {grown.batch:,} roots ({grown.batches:,} in all)"
    )
    return [line]


def _listed(counts: Iterable[int]) -> str:
    return ", ".join(f"{count:,}" for count in counts)


def _bounds(found: Plan) -> list[str]:
    """Say what is an upper bound, and what makes it closer."""
    search, closer = found.sizes.exemplars, "pass feature_count= for a closer figure"
    if found.sizes.tree:
        return [f"planned for all {found.sizes.features:,} features kept, the most a tree can choose: {closer}"]
    if search is not None and len(search.grid) > 1:
        return [f"planned for up to {found.sizes.kept:,} features kept, the most that may be tried: {closer}"]
    return []


def _remedies(found: Plan, attempt: Attempt) -> list[str]:
    if not found.addressable:
        return [f"{found.sizes.edges:,} directed edges are more than 32-bit device indices can address: condense parts"]
    first = next(stage for stage in found.stages if stage.peak_bytes > found.device.usable_bytes)
    lines = [f"{first.name} is the first to need more: {first.peak_bytes / GIGA:,.3g} GB, with the smallest batches"]
    search = found.sizes.exemplars
    lines += _fewer_features(found, attempt) if search is None else _smaller_search(found, search, attempt)
    larger = [spec.name for spec in DEVICES.values() if attempt(_asked(found), spec, None).fits]
    if larger:
        lines.append(f"fits as it is on {', '.join(larger)}")
    lines.append("get_backend('rapids', memory='managed') lets memory spill to the host, at the speed of the bus")
    return lines


def _fewer_features(found: Plan, attempt: Attempt) -> list[str]:
    kept = _most(found.sizes.kept, lambda count: attempt(count, found.device, None).fits)
    if kept:
        return [f"fits with HeraldConfig.paper(feature_count={kept}) or fewer"]
    return ["no number of kept features makes it fit"]


def _smaller_search(found: Plan, search: Exemplars, attempt: Attempt) -> list[str]:
    """Fewer features, or fewer nodes compared; not "or fewer": with fewer features more nodes are compared."""
    lines = []
    kept = _most(found.sizes.kept, lambda count: attempt(count, found.device, None).fits)
    if kept:
        lines.append(f"fits with HeraldConfig(feature_count={kept})")
    pool = _most(search.pool, lambda size: attempt(_asked(found), found.device, size).fits)
    if pool:
        lines.append(f"fits with HeraldConfig(smallest_pool={pool}, largest_pool={pool}) or less")
    return lines or ["no number of kept features, nor of compared nodes, makes it fit"]


def _asked(found: Plan) -> int | None:
    """The number of features that was asked for; None where one is looked for."""
    search = found.sizes.exemplars
    looked_for = found.sizes.tree if search is None else len(search.grid) > 1
    return None if looked_for else found.sizes.kept


def _most(high: int, fits: Callable[[int], bool]) -> int:
    """Largest number up to `high` with which it fits; 0 if there is none."""
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
