"""Scale of features: columns are brought to one spread where a few of them would rule all others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from herald_gpu import ops
from herald_gpu.config import SCALE_FACTOR, SCALES, Scale
from herald_gpu.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.graph import Graph

FLAT = 1e-6
"""A column that varies by no more than this share of its size is taken for constant: float32 knows no better."""
STEPS = 4096
"""Spreads are rounded to this many steps between powers of two, and centers to this many in a spread: sums in another
order (partitions, devices) then lead to the same numbers."""
NORMAL_QUARTILES = 1.349
"""The distance of the quartiles of a normal distribution, in standard deviations."""


@dataclass(frozen=True)
class Scaling:
    """What is subtracted from every column, and what it is divided by then.

    Attributes
    ----------
    center, spread : arrays
        One value per column; 0 and 1 for a column that stays as it is.
    """

    center: Array
    spread: Array

    def apply(self, backend: Backend, x: Matrix) -> Matrix:
        """Scale a matrix in its own container; the result is float32.

        The zeros of a column without a center stay zeros, so that a sparse matrix stays sparse.
        """
        xp = backend.xp
        if not backend.sparse.issparse(x):
            scaled = xp.empty(x.shape, dtype=xp.float32)
            for low, high in ops.blocks(*x.shape):
                scaled[low:high] = self.widened(backend, x[low:high])
            return scaled
        spread = self.spread.astype(xp.float64)[x.indices]
        divided = ops.with_data(backend, x, (x.data.astype(xp.float64) / spread).astype(xp.float32))
        filled = xp.flatnonzero(self.center != 0)
        if int(filled.shape[0]) == 0:
            return divided
        columns = Scaling(self.center[filled], self.spread[filled])
        full = ops.to_csr(backend, columns.apply(backend, ops.take_columns(backend, x, filled).toarray()))
        return _with_columns(backend, divided, full, filled)

    def widened(self, backend: Backend, x: Matrix) -> Array:
        """Scale a matrix; the result is dense float64."""
        xp = backend.xp
        dense = (x.toarray() if backend.sparse.issparse(x) else x).astype(xp.float64)
        return (dense - self.center.astype(xp.float64)) / self.spread.astype(xp.float64)


def _with_columns(backend: Backend, x: Matrix, part: Matrix, columns: Array) -> Matrix:
    """Put other values in some columns of a CSR matrix."""
    xp = backend.xp
    replaced = xp.zeros(int(x.shape[1]), dtype=bool)
    replaced[columns] = True
    kept = xp.flatnonzero(~replaced[x.indices])
    rows = xp.concatenate([ops.row_ids(backend, x)[kept], ops.row_ids(backend, part)])
    places = xp.concatenate([x.indices[kept].astype(xp.int64), columns[part.indices].astype(xp.int64)])
    data = xp.concatenate([x.data[kept], part.data])
    merged = backend.sparse.coo_matrix((data, (rows, places)), shape=x.shape).tocsr()
    merged.sort_indices()
    return merged


class ColumnFacts(NamedTuple):
    """What the columns of some rows are like; properties are for those on the host.

    Attributes
    ----------
    moments : Moments
    stored : float64 array
        Non-zeros.
    others : float64 array
        Values that are neither 0 nor 1.
    """

    moments: ops.Moments
    stored: Array
    others: Array

    @property
    def deviation(self) -> np.ndarray:
        """Standard deviation."""
        return np.sqrt(self.moments.squares / self.moments.rows)

    @property
    def size(self) -> np.ndarray:
        """Root mean square."""
        return np.sqrt(self.moments.mean**2 + self.deviation**2)

    @property
    def varying(self) -> np.ndarray:
        """Columns that are not constant."""
        return self.deviation > FLAT * self.size

    @property
    def spread(self) -> np.ndarray:
        """What a column is divided by; the size of a constant one, which leaves 0 once it is centered."""
        return np.where(self.varying, self.deviation, self.size)

    @property
    def scalable(self) -> np.ndarray:
        """Columns that have other values than 0 and 1."""
        return (self.others > 0) & (self.spread >= np.finfo(np.float32).tiny)

    @property
    def dense(self) -> np.ndarray:
        """Scalable columns that have more non-zeros than zeros."""
        return self.scalable & (2 * self.stored > self.moments.rows)


def column_facts(backend: Backend, x: Matrix) -> ColumnFacts:
    """Measure every column, in float64 (partial)."""
    xp, n, width = backend.xp, int(x.shape[0]), int(x.shape[1])
    if backend.sparse.issparse(x):
        values = x.data.astype(xp.float64)
        stored = ops.tally(backend, x.indices, width)
        mean = ops.tally(backend, x.indices, width, values) / max(1, n)
        inside = ops.tally(backend, x.indices, width, (values - mean[x.indices]) ** 2)
        others = ops.tally(backend, x.indices, width, (values != 1).astype(xp.float64))
        return ColumnFacts(ops.Moments(n, mean, inside + (n - stored) * mean**2), stored, others)

    def measure(_: int, __: int, block: Array) -> tuple[Array, ...]:
        mean = block.sum(axis=0) / max(1, n)
        stored = (block != 0).sum(axis=0).astype(xp.float64)
        ones = (block == 1).sum(axis=0)
        return mean, ((block - mean) ** 2).sum(axis=0), stored, stored - ones

    blocks = list(ops.for_column_blocks(backend, x, measure))
    mean, squares, stored, others = (xp.concatenate(list(parts)) for parts in zip(*blocks, strict=True))
    return ColumnFacts(ops.Moments(n, mean, squares), stored, others)


def merge_facts(parts: Sequence[ColumnFacts]) -> ColumnFacts:
    """Put the facts of parts of the rows together (combine)."""
    moments = ops.merge_moments([part.moments for part in parts])
    return ColumnFacts(moments, sum(part.stored for part in parts), sum(part.others for part in parts))


@dataclass(frozen=True)
class ScalingPlan:
    """Which columns are scaled and how, on the host.

    Attributes
    ----------
    center, spread : (F,) float64 arrays
        0 and 1 for a column that stays as it is.
    scaled, centered : (F,) bool arrays
        Columns that are scaled; those of them from which a center is subtracted.
    n_given : int
        Non-zeros of all columns before.
    note : str, optional
        What the reader must know.
    """

    center: np.ndarray
    spread: np.ndarray
    scaled: np.ndarray
    centered: np.ndarray
    n_given: int
    note: str | None = None

    @property
    def n_scaled(self) -> int:
        """Number of scaled columns."""
        return int(self.scaled.sum())

    def scaling(self, backend: Backend) -> Scaling:
        """Round centers and spreads to what is stored, and bring them to the backend."""
        fraction, power = np.frexp(self.spread)
        spread = np.ldexp(np.rint(fraction * 2 * STEPS) / (2 * STEPS), power)
        center = np.rint(self.center / spread * STEPS) / STEPS * spread
        return Scaling(*(backend.asarray(part.astype(np.float32)) for part in (center, spread)))


def plan_scaling(facts: ColumnFacts, choice: Scale) -> ScalingPlan | None:
    """Decide which columns are scaled (finish); None if none are.

    A column of zeros and ones is never scaled. A dense column, one with more non-zeros than zeros, is centered; of the
    others the zeros stay zeros.

    Parameters
    ----------
    facts : ColumnFacts
        Of all rows, on the host.
    choice : {"auto", "none", "standard", "robust"}
        `"auto"` scales the dense columns, where their sizes and spreads differ by more than `SCALE_FACTOR` from one
        another or from the typical (root mean square) spread of the other columns.
    """
    scaled, note = facts.dense if choice == "auto" else facts.scalable, None
    if choice == "none" or not scaled.any():
        return None
    if choice == "auto":
        factor = size_factor(facts)
        if factor <= SCALE_FACTOR:
            return None
        note = (
            f"{int(scaled.sum()):,} of {len(scaled):,} columns were standardized, because the sizes of dense columns "
            f"differ by a factor of {factor:,.0f} (scale: auto); choose scale none to keep them as they are"
        )
    centered = scaled & facts.dense
    center, divisor = np.where(centered, facts.moments.mean, 0.0), np.where(scaled, facts.spread, 1.0)
    return ScalingPlan(center, divisor, scaled, centered, int(facts.stored.sum()), note)


def size_factor(facts: ColumnFacts) -> float:
    """Divide the largest size of a dense column by the smallest spread; the other columns count as one."""
    others = facts.deviation[~facts.dense & facts.varying]
    typical = [float(np.sqrt((others**2).mean()))] if len(others) else []
    smallest = min([*facts.deviation[facts.dense & facts.varying].tolist(), *typical], default=0.0)
    return max([*facts.size[facts.dense].tolist(), *typical], default=0.0) / smallest if smallest else 0.0


def fit_scaling(backend: Backend, graph: Graph, choice: Scale) -> tuple[Scaling, ScalingPlan] | None:
    """Measure the features of a graph and decide how they are scaled; None if they stay as they are."""
    if choice == "none" or graph.kind == "binary":
        return None
    found = column_facts(backend, graph.features)
    mean, squares, stored, others = ops.fetch(
        backend, found.moments.mean, found.moments.squares, found.stored, found.others
    )
    plan = plan_scaling(ColumnFacts(ops.Moments(found.moments.rows, mean, squares), stored, others), choice)
    if plan is None:
        return None
    if choice == "robust":
        plan = _by_quartiles(backend, graph.features, plan)
    return plan.scaling(backend), plan


def _by_quartiles(backend: Backend, x: Matrix, plan: ScalingPlan) -> ScalingPlan:
    """Use the median and the distance of the quartiles; a column whose quartiles are equal keeps its deviation."""
    columns = np.flatnonzero(plan.scaled)
    part = ops.take_columns(backend, x, backend.asarray(columns))
    last = int(x.shape[0]) - 1

    def quartiles(_: int, __: int, block: Array) -> Array:
        ordered = backend.xp.sort(block, axis=0)
        found = []
        for share in (0.25, 0.5, 0.75):
            low = int(share * last)
            found.append(ordered[low] + (share * last - low) * (ordered[min(last, low + 1)] - ordered[low]))
        return backend.xp.stack(found)

    lower, median, upper = backend.to_host(
        backend.xp.concatenate(list(ops.for_column_blocks(backend, part, quartiles)), axis=1)
    )
    center, spread = plan.center.copy(), plan.spread.copy()
    between = (upper - lower) / NORMAL_QUARTILES
    center[columns] = np.where(plan.centered[columns], median, 0.0)
    spread[columns] = np.where(between > FLAT * np.maximum(np.abs(median), spread[columns]), between, spread[columns])
    return replace(plan, center=center, spread=spread)


def standard_scale(backend: Backend, graph: Graph) -> Scaling:
    """Measure mean and deviation of every feature over all nodes, as the published code does."""
    xp = backend.xp
    parts = [block.mean(axis=0) for *_, block in ops.dense_column_blocks(backend, graph.features)]
    deviation = xp.sqrt(ops.column_variances(backend, graph.features))
    return Scaling(xp.concatenate(parts), xp.where(deviation > 0, deviation, 1.0))


def check_scale(scale: object, *, exact: bool) -> Scale:
    """Refuse an unknown choice; the published accounting has a scaling of its own.

    Examples
    --------
    >>> check_scale("auto", exact=True), check_scale("auto", exact=False)
    ('auto', 'none')
    """
    if scale not in SCALES:
        msg = f"scale={scale!r} is not valid: pass one of {SCALES}"
        raise ConfigError(msg)
    if not exact and scale in ("standard", "robust"):
        msg = f"scale={scale!r} is not for the published accounting: pass 'none', or HeraldConfig.published('scaled')"
        raise ConfigError(msg)
    return scale if exact else "none"
