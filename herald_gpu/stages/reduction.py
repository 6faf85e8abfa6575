"""What may be done to features after choosing among them: PCA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herald_gpu import ops
from herald_gpu.budget import FLOAT_BYTES, graph_bytes

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix


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
