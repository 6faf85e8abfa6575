"""Stage 5: grow neighbourhoods of the best-ranked roots under the budget (alg. 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herald_gpu import ops

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Growth, Matrix
    from herald_gpu.budget import Budget, Prices
    from herald_gpu.config import HeraldConfig


@dataclass(frozen=True)
class Expansion:
    """The enlarged candidate graph.

    Attributes
    ----------
    member : bool array
        Nodes gathered within the enlarged budget.
    considered : bool array
        Roots that were looked at, accepted or not (R).
    depth : int
        Hops that were used; less than asked for where no deeper neighbourhood fits.
    target_size : int
        n*: nodes gathered by the same expansion at exactly the budget.
    """

    member: Array
    considered: Array
    depth: int
    target_size: int


def expand(
    backend: Backend, adjacency: Matrix, ranking: Array, prices: Prices, budget: Budget, config: HeraldConfig
) -> Expansion:
    """Gather neighbourhoods within the enlarged budget, and count what the plain budget would gather."""
    wide, depth = _deepest(backend, adjacency, ranking, prices, config.expansion_factor * budget.limit, config)
    plain, _ = _deepest(backend, adjacency, ranking, prices, budget.limit, config)
    return Expansion(wide.member, wide.considered, depth, int(ops.scalar(plain.member.sum())))


def _deepest(
    backend: Backend, adjacency: Matrix, ranking: Array, prices: Prices, limit: float, config: HeraldConfig
) -> tuple[Growth, int]:
    """Expand at the configured depth, or at the largest smaller one at which any root is accepted."""
    for depth in range(config.depth, -1, -1):
        growth = backend.grow(
            adjacency,
            ranking,
            prices,
            limit=limit,
            depth=depth,
            patience=config.patience,
            stop_when_full=not config.exact,
        )
        if depth == 0 or not config.exact or growth.accepted:
            break
    return growth, depth
