"""Local intrinsic dimensionality (eq:lid): how neighbours are looked for, and what their distances say."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from herald_gpu import ops
from herald_gpu.install import pip_line

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.config import HeraldConfig

SEED = 42
"""Of the reference that LID is measured against, and of the rows on which an approximate search is checked."""
CHECKED_ROWS = 512
"""Rows on which an approximate search is compared with an exact one: correlations of 0.95 are known to 0.005."""
GOOD_CORRELATION = 0.95
"""Below this rank correlation with exact LID the report warns."""
LARGEST_MEAN_LOG = -1e-8
"""Cap of the mean log ratio in the clipped rule of the published code."""

logger = logging.getLogger("herald_gpu")


@dataclass(frozen=True)
class Search:
    """How neighbours were found.

    Attributes
    ----------
    name : str
        "exact", "sampled (512 nodes)", or "approximate" with the index in brackets.
    recall, correlation : float, optional
        Of an approximate search, on drawn rows: the share of true neighbours among those found (one at the same
        distance is as good), and the rank correlation of LID with exact LID.
    """

    name: str = "exact"
    recall: float | None = None
    correlation: float | None = None

    @property
    def warning(self) -> str | None:
        """What a user should know if the search was too coarse."""
        if self.correlation is None or self.correlation >= GOOD_CORRELATION:
            return None
        return (
            f"LID by {self.name} search agrees with exact LID to a rank correlation of {self.correlation:.2f} only "
            f"(recall {self.recall:.2f}): these features have few near neighbours; pass lid='exact'"
        )


@dataclass(frozen=True)
class Lid:
    """LID of every node, and how its neighbours were found."""

    values: Array
    search: Search


def measure_lid(backend: Backend, kept: Matrix, inverse_norm: Array, config: HeraldConfig) -> Lid:
    """LID of every node from cosine distances to its nearest nodes.

    Parameters
    ----------
    backend, config
        As everywhere.
    kept : (N, k*) matrix
        Kept features, not normalised.
    inverse_norm : (N,) float64 array
        One over each row's length; 0 for a zero row.
    """
    n = int(kept.shape[0])
    kind = choose_search(backend, config, *kept.shape)
    search = Search()
    if kind == "sampled":
        size, keep_self = min(config.lid_reference, n), config.lid_rule == "clipped"
        drawn = backend.asarray(np.random.default_rng(SEED).choice(n, size, replace=False))
        k = min(config.lid_neighbours, size if keep_self else size - 1)
        distances = backend.nearest_distances(kept, inverse_norm, k, drawn, keep_self=keep_self)
        search = Search(f"sampled ({size} nodes)")
    else:
        k = min(config.lid_neighbours, n - 1)
        distances = backend.nearest_distances(kept, inverse_norm, k, approximate=kind == "approximate")
        if kind == "approximate":
            search = check_search(backend, kept, inverse_norm, distances, config)
    values = finished_lid(backend, *partial_lid(backend, distances, config), inverse_norm > 0, config)
    return Lid(values, search)


def choose_search(
    backend: Backend, config: HeraldConfig, n_nodes: int, n_features: int
) -> Literal["exact", "approximate", "sampled"]:
    """Decide what ``lid="auto"`` means here: exact while comparing all pairs is affordable on this backend."""
    if config.lid != "auto":
        return config.lid
    cost, limit = float(n_nodes) ** 2 * n_features, backend.all_pairs_limit
    if cost <= limit:
        return "exact"
    if backend.index_name is None:
        logger.warning(
            "lid='auto': %d nodes with %d features are many to compare exactly, but there is no index: %s",
            n_nodes,
            n_features,
            pip_line("approx"),
        )
        return "exact"
    logger.info("lid: approximate (N^2 F = %.1e, exact up to %.0e on this backend)", cost, limit)
    return "approximate"


def check_search(backend: Backend, kept: Matrix, inverse_norm: Array, distances: Array, config: HeraldConfig) -> Search:
    """Compare the distances that an index found with exact ones, on drawn rows that are not zero."""
    xp, name = backend.xp, f"approximate ({backend.index_name})"
    filled = xp.flatnonzero(inverse_norm > 0)
    n = int(filled.shape[0])
    if n == 0:
        return Search(name)
    drawn = np.sort(np.random.default_rng(SEED).choice(n, min(CHECKED_ROWS, n), replace=False))
    rows = filled[backend.asarray(drawn)]
    found = distances[rows]
    exact = backend.nearest_distances(kept, inverse_norm, int(distances.shape[1]), rows=rows)
    recall = (found <= exact[:, -1:] + config.lid_floor).astype(xp.float64).mean()
    ranks = [ops.rank_scale(backend, levelled(backend, *partial_lid(backend, part, config))) for part in (found, exact)]
    recall, correlation = (part.item() for part in ops.fetch(backend, recall, _correlation(backend, *ranks)))
    return Search(name, recall, correlation)


def regular_lid(backend: Backend, distances: Array, floor: float) -> tuple[Array, Array]:
    """LID of ascending distances of some nodes (partial), and those that wait for the largest value of the graph.

    k duplicates (largest distance below `floor`) give 0; nodes whose distances are all equal wait.
    """
    xp = backend.xp
    first, last = distances[:, 0], distances[:, -1]
    duplicates = last < floor
    level = ~duplicates & (last - first < floor)
    regular = ~(duplicates | level)
    raised = xp.maximum(distances, floor)
    mean_log = xp.log(raised / raised[:, -1:]).mean(axis=1)
    return xp.where(regular, -1.0 / xp.where(regular, mean_log, -1.0), 0.0), level


def partial_lid(backend: Backend, distances: Array, config: HeraldConfig) -> tuple[Array, Array]:
    """LID of some nodes, and those among them that wait for the largest of the graph."""
    xp = backend.xp
    if config.lid_rule == "exact":
        return regular_lid(backend, distances, config.lid_floor)
    raised = xp.maximum(distances, config.lid_floor)
    mean_log = xp.log(raised / raised[:, -1:]).mean(axis=1)
    return -1.0 / xp.minimum(mean_log, LARGEST_MEAN_LOG), xp.zeros(int(distances.shape[0]), dtype=bool)


def finished_lid(backend: Backend, values: Array, level: Array, filled: Array, config: HeraldConfig) -> Array:
    """LID of all nodes, from that of parts of them (finish); `filled` marks rows that are not zero."""
    values = levelled(backend, values, level)
    if config.lid_rule == "exact" and config.lid_zero_rows == "zero":
        values = backend.xp.where(filled, values, 0.0)
    return values


def levelled(backend: Backend, values: Array, level: Array) -> Array:
    """Give nodes whose distances are all equal the largest value of the graph."""
    return backend.xp.where(level, values.max(), values)


def _correlation(backend: Backend, one: Array, other: Array) -> Array:
    """Pearson's correlation; of constants 1 if both are, else 0."""
    xp = backend.xp
    one, other = one - one.mean(), other - other.mean()
    spread = xp.sqrt((one**2).sum() * (other**2).sum())
    both = (((one**2).sum() == 0) & ((other**2).sum() == 0)).astype(xp.float64)
    return xp.where(spread > 0, (one * other).sum() / xp.where(spread > 0, spread, 1.0), both)
