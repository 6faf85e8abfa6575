"""Gather neighbourhoods under a limit, with the two ways there are to count patience."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.budget import Prices


def gather(
    backend: Backend,
    adjacency: Matrix,
    ranking: Array,
    prices: Prices,
    *,
    limit: float,
    depth: int,
    patience: int,
    member: Array,
    spent: Array,
    total_patience: bool,
) -> tuple[Array, Array]:
    """Add neighbourhoods in the order of a ranking while they fit: (members, roots taken).

    Parameters
    ----------
    backend, adjacency, ranking, prices, limit, depth, patience, member, spent
        As in :meth:`herald_gpu.backend.Backend.grow`.
    total_patience : bool
        Count all rejections against the patience, not those in a row.
    """
    if not total_patience:
        growth = backend.grow(
            adjacency, ranking, prices, limit=limit, depth=depth, patience=patience, member=member, spent=spent
        )
        return growth.member, _taken(backend, adjacency, growth.member, growth.considered, depth)
    taken = backend.xp.zeros(member.shape[0], dtype=bool)
    left = patience
    while left >= 0 and int(ranking.shape[0]) > 0:
        growth = backend.grow(
            adjacency, ranking, prices, limit=limit, depth=depth, patience=left, member=member, spent=spent, quota=1
        )
        free = _taken(backend, adjacency, member, growth.considered, depth)
        looked_at, accepted = int(growth.considered.sum()), int(growth.accepted)
        left -= looked_at - int(free.sum()) - accepted
        taken = taken | free
        if accepted:
            taken[ranking[looked_at - 1 : looked_at]] = True
        member, spent, ranking = growth.member, growth.spent, ranking[looked_at:]
    return member, taken


def _taken(backend: Backend, adjacency: Matrix, member: Array, considered: Array, depth: int) -> Array:
    """Considered roots whose whole neighbourhood is there."""
    xp = backend.xp
    outside = (~member).astype(xp.float64)
    for _ in range(depth):
        outside = outside + adjacency @ outside
    return considered & (outside == 0)
