"""What to tell about a plan: how it is cut to fit, or what would make it fit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from herald_gpu.planning.devices import DEVICES, DeviceSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    from herald_gpu.planning.plans import Plan

GIGA = 1e9


def advise(found: Plan, attempt: Callable[[int | None, DeviceSpec], Plan]) -> tuple[str, ...]:
    """Explain a plan.

    Parameters
    ----------
    found : Plan
    attempt : function of a number of kept features and a device
        The same plan with those.
    """
    lines = _batches(found) if found.fits else _remedies(found, attempt)
    if found.sizes.tree:
        lines.append(
            f"planned for all {found.sizes.features:,} features kept, the most a tree can choose: pass feature_count= "
            "for a closer figure"
        )
    if math.inf in (found.device.fp32, found.device.fp64):
        lines.append("peak arithmetic of the device not given: times come from memory traffic alone")
    return tuple(lines)


def _batches(found: Plan) -> list[str]:
    near, grown = found.stage("scoring/neighbours"), found.stage("expansion")
    line = (
        f"batches, set from free memory: {near.batch:,} queries of nearest neighbours "
        f"({near.batches:,} in all), up to {grown.batch:,} roots ({grown.batches:,} in all)"
    )
    return [line]


def _remedies(found: Plan, attempt: Callable[[int | None, DeviceSpec], Plan]) -> list[str]:
    if not found.addressable:
        return [f"{found.sizes.edges:,} directed edges are more than 32-bit device indices can address: condense parts"]
    first = next(stage for stage in found.stages if stage.peak_bytes > found.device.usable_bytes)
    lines = [f"{first.name} is the first to need more: {first.peak_bytes / GIGA:,.3g} GB, with the smallest batches"]
    kept = _most_features(found, attempt)
    if kept:
        lines.append(f"fits with HeraldConfig(feature_count={kept}) or fewer")
    else:
        lines.append("no number of kept features makes it fit")
    larger = [spec.name for spec in DEVICES.values() if attempt(_asked(found), spec).fits]
    if larger:
        lines.append(f"fits as it is on {', '.join(larger)}")
    lines.append("get_backend('rapids', memory='managed') lets memory spill to the host, at the speed of the bus")
    return lines


def _asked(found: Plan) -> int | None:
    return None if found.sizes.tree else found.sizes.kept


def _most_features(found: Plan, attempt: Callable[[int | None, DeviceSpec], Plan]) -> int:
    """Most kept features with which the plan fits; 0 if none do."""
    low, high = 0, found.sizes.kept
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if attempt(middle, found.device).fits else (low, middle - 1)
    return low
