"""What may be done to features besides choosing among them: standard scaling before, PCA after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herald_gpu import ops
from herald_gpu.budget import FLOAT_BYTES, graph_bytes

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.graph import Graph


@dataclass(frozen=True)
class Scaling:
    """Standard scaling over all nodes: mean and standard deviation of every feature (1 where it is 0)."""

    mean: Array
    deviation: Array

    def apply(self, backend: Backend, x: Matrix) -> Array:
        """Scale a matrix; the result is dense float64."""
        dense = x.toarray() if backend.sparse.issparse(x) else x
        return (dense.astype(backend.xp.float64) - self.mean) / self.deviation


@dataclass(frozen=True)
class Reduction:
    """Principal components (rows) and the mean that is taken off first, float32."""

    mean: Array
    components: Array

    def apply(self, backend: Backend, x: Matrix) -> Array:
        """Reduce a matrix of kept features; the result is dense float32."""
        xp, parts = backend.xp, []
        mean, axes = self.mean.astype(xp.float64), self.components.T.astype(xp.float64)
        for low, high in ops.blocks(*x.shape):
            part = ops.dense_rows(backend, x, low, high)
            parts.append(((part - mean) @ axes).astype(xp.float32))
        return xp.concatenate(parts)

    @property
    def nominal_bytes(self) -> int:
        """Bytes of components and mean as dense float32."""
        return FLOAT_BYTES * (int(self.components.size) + int(self.mean.size))


def standard_scale(backend: Backend, graph: Graph) -> Scaling:
    """Measure mean and deviation of every feature over all nodes."""
    xp = backend.xp
    parts = [block.mean(axis=0) for *_, block in ops.dense_column_blocks(backend, graph.features)]
    deviation = xp.sqrt(ops.column_variances(backend, graph.features))
    return Scaling(xp.concatenate(parts), xp.where(deviation > 0, deviation, 1.0))


def reduce_features(
    backend: Backend, features: Matrix, n_edges: int, *, variance: float, limit: float
) -> tuple[Reduction, Array, int] | str:
    """Fit PCA on the condensed features.

    Returns
    -------
    tuple or str
        The reduction, the reduced features and the storage with them; or, where that does not fit, why.
    """
    reduction = Reduction(*backend.principal_components(features, variance))
    n, p = int(features.shape[0]), int(reduction.components.shape[0])
    total = graph_bytes("dense", n * p, n_edges) + reduction.nominal_bytes
    if total > limit:
        return (
            f"PCA not applied: {p} dense components for {n} nodes, with components and mean, take {total} bytes, "
            f"more than the budget of {limit:.0f}"
        )
    return reduction, reduction.apply(backend, features), total
