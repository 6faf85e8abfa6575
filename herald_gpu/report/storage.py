"""Where the bytes of a condensed graph went: parts that add up to what the report states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herald_gpu.budget import EDGE_UNITS, FLOAT_BYTES, SCALING_BYTES, UNIT_BYTES
from herald_gpu.encoding import OF_LANDMARKS

if TYPE_CHECKING:
    from herald_gpu.result import Contents
    from herald_gpu.summary import Report

EDGE_BYTES = UNIT_BYTES * EDGE_UNITS


def parts(contents: Contents, report: Report) -> dict[str, int]:
    """Bytes of every part that the condensed graph has; features of nodes are always named."""
    coded, width = contents.encoding, int(contents.features.shape[1])
    once = 0
    if contents.reduction is not None:
        once = FLOAT_BYTES * sum(int(part.size) for part in contents.reduction)
    landmarks = int(np.asarray(OF_LANDMARKS.bytes_of_rows(np.zeros(report.n_landmarks), width)).sum())
    scales = 0 if contents.reduction is not None else coded.table_bytes(width)
    centers = SCALING_BYTES * len(contents.feature_ids) if contents.scaling is not None and report.config.exact else 0
    synthetic = EDGE_BYTES * report.n_synthetic_edges
    real = EDGE_BYTES * (report.n_edges - report.n_synthetic_edges)
    rest = report.storage_bytes - once - landmarks - scales - centers - synthetic - real
    named = {
        "scales of features": scales,
        "centers and spreads of features": centers,
        "principal components": once,
        "features of landmarks": landmarks,
        "synthetic edges": synthetic,
    }
    present = {name: count for name, count in named.items() if count}
    return {"features of nodes": rest, "edges": real, **present}


def full_parts(report: Report) -> dict[str, int]:
    """Compute the bytes of the full graph's parts."""
    edges = EDGE_BYTES * report.before.n_edges
    return {"features of nodes": report.full_bytes - edges, "edges": edges}
