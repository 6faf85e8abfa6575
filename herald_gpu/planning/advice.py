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
    return [
        f"nearest neighbours in {near.batches:,} batches of {near.batch:,} queries, roots in {grown.batches:,} batches "
        f"of up to {grown.batch:,}: chosen from free memory when it runs"
    ]


def _remedies(found: Plan, attempt: Callable[[int | None, DeviceSpec], Plan]) -> list[str]:
    room = found.device.usable_bytes
    first = next(stage for stage in found.stages if stage.peak_bytes > room)
    lines = [f"{first.name} is the first to need more: {first.peak_bytes / GIGA:,.2f} GB, smallest batches included"]
    kept = _most_features(found, attempt)
    if kept:
        lines.append(f"fits with HeraldConfig(feature_count={kept}) or fewer")
    elif first.name == "reading" and not attempt(1, found.device).fits:
        lines.append("no number of features helps: reading the edges alone takes more than there is")
    larger = [spec.name for spec in DEVICES.values() if attempt(None if found.sizes.tree else found.sizes.kept, spec).fits]
    lines.append(f"fits as it is on {', '.join(larger)}" if larger else "fits on no device of the table: condense parts")
    return lines


def _most_features(found: Plan, attempt: Callable[[int | None, DeviceSpec], Plan]) -> int:
    """Most kept features with which the plan fits; 0 if none do."""
    low, high = 0, found.sizes.kept
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if attempt(middle, found.device).fits else (low, middle - 1)
    return low
