"""What the full graph looked like, in a few dozen numbers: kept for the report, since the graph itself is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu import ops

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herald_gpu.assembly import Whole
    from herald_gpu.backend import Array, Backend
    from herald_gpu.graph import Graph

DEGREE_BINS = 21
"""No edge; 1; 2 to 3; 4 to 7; ...; 2^19 and more."""
RATIO_BINS = 19
"""Of a logarithmic axis, half a power of two wide: one bin around 1, nine on either side, the outermost open."""


@dataclass(frozen=True, kw_only=True)
class Survey:
    """Figures of the graph that was condensed.

    Attributes
    ----------
    n_nodes, n_edges, n_features : int
        Edges are directed: every undirected edge counts twice.
    class_counts : tuple of int
        Training nodes by class, in the order of the report's `class_counts`.
    degrees : tuple of int
        Nodes by degree: none, 1, 2 to 3, 4 to 7, and so on; the last bin is open.
    largest_degree : int
    variance_ratios : tuple of int
        Kept features by their variance in the condensed graph over that in the training set: half a power of two a
        bin, the middle one around 1, the outermost open.
    """

    n_nodes: int
    n_edges: int
    n_features: int
    class_counts: tuple[int, ...]
    degrees: tuple[int, ...]
    largest_degree: int
    variance_ratios: tuple[int, ...]

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Survey:
        """Rebuild it from what JSON made of it."""
        typed: dict[str, Any] = {k: tuple(value) if isinstance(value, list) else value for k, value in plain.items()}
        return cls(**typed)


def survey_degrees(backend: Backend, degrees: Array) -> tuple[Array, Array]:
    """Count nodes by degree, and tell the largest (partial: of parts the counts add up)."""
    xp, degrees = backend.xp, degrees.astype(backend.xp.int64)
    powers = xp.left_shift(xp.ones(DEGREE_BINS - 1, dtype=xp.int64), xp.arange(DEGREE_BINS - 1, dtype=xp.int64))
    return ops.tally(backend, xp.searchsorted(powers, degrees, side="right"), DEGREE_BINS), degrees.max()


def survey_ratios(backend: Backend, ratios: Array) -> Array:
    """Count kept features by the ratio of their variances."""
    xp = backend.xp
    bounds = xp.exp2((xp.arange(RATIO_BINS - 1, dtype=xp.float64) - (RATIO_BINS - 2) / 2) / 2)
    return ops.tally(backend, xp.searchsorted(bounds, ratios, side="right"), RATIO_BINS)


def surveyed(graph: Graph | Whole, n_edges: int, found: Sequence[np.ndarray]) -> Survey:
    """Put together what was counted, now that it is on the host.

    Parameters
    ----------
    graph : Graph or Whole
        What has the numbers of nodes and features.
    n_edges : int
    found : arrays
        Training nodes by class, nodes by degree, the largest degree, kept features by the ratio of their variances.
    """
    counts, degrees, largest, ratios = (tuple(np.atleast_1d(part).astype(int).tolist()) for part in found)
    return Survey(
        n_nodes=graph.n_nodes,
        n_edges=n_edges,
        n_features=graph.n_features,
        class_counts=counts,
        degrees=degrees,
        largest_degree=largest[0],
        variance_ratios=ratios,
    )


def degree_bin(degrees: np.ndarray) -> np.ndarray:
    """Place degrees in the bins of a :class:`Survey`.

    Examples
    --------
    >>> degree_bin(np.array([0, 1, 2, 3, 4, 2**30])).tolist()
    [0, 1, 2, 2, 3, 20]
    """
    return np.searchsorted(2 ** np.arange(DEGREE_BINS - 1), degrees, side="right")


def ratio_bounds() -> np.ndarray:
    """Inner bounds of the bins of variance ratios."""
    return np.exp2((np.arange(RATIO_BINS - 1) - (RATIO_BINS - 2) / 2) / 2)
