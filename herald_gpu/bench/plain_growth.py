"""The second half of the plain recipe: neighbourhoods gathered, pruned and balanced with Python sets and NetworkX."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from herald_gpu.io.kinds import library

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DEPTH, PATIENCE, FACTOR = 2, 100, 1.9
RESTART, TOLERANCE = 0.15, 1e-6
LOWER = 0.99
EDGE = 4
"""Bytes of a directed edge."""


def cost(around: list[set[int]], nodes: Iterable[int], price: Sequence[float]) -> float:
    """Bytes of an induced subgraph."""
    inside = set(nodes)
    return sum(price[v] for v in inside) + EDGE * sum(len(around[v] & inside) for v in inside)


def expand(
    around: list[set[int]], ranking: Sequence[int], price: Sequence[float], limit: float
) -> tuple[set[int], set[int]]:
    """Gather neighbourhoods of the best roots; one hop less as long as none fits: (nodes, roots looked at)."""
    members: set[int] = set()
    seen: set[int] = set()
    for depth in range(DEPTH, -1, -1):
        members, seen, spent, rejected, accepted = set(), set(), 0.0, 0, 0
        for root in ranking:
            seen.add(root)
            tree = {root}
            for _ in range(depth):
                tree = tree.union(*(around[v] for v in tree))
            fresh = tree - members
            if not fresh:
                continue
            own = sum(price[v] for v in fresh) + EDGE * sum(len(around[v] & fresh) for v in fresh)
            added = own + 2 * EDGE * sum(len(around[v] & members) for v in fresh)
            if spent + added <= limit:
                members |= fresh
                spent, rejected, accepted = spent + added, 0, accepted + 1
            else:
                rejected += 1
                if rejected > PATIENCE:
                    break
        if accepted:
            break
    return members, seen


def prune(
    around: list[set[int]],
    members: set[int],
    roots: set[int],
    ranking: Sequence[int],
    price: Sequence[float],
    target: int,
    limit: float,
) -> set[int]:
    """Remove the nodes of least PageRank, then roots from the back of the ranking, one by one."""
    networkx = library("networkx")
    graph = networkx.Graph((u, v) for u in members for v in around[u] & members)
    chosen = {v: 1.0 for v in roots if v in graph}
    rank: dict[int, float] = {}
    if chosen:
        rank = networkx.pagerank(graph, alpha=1 - RESTART, personalization=chosen, tol=TOLERANCE / len(graph))
    order = sorted(members - roots, key=lambda v: (round(rank.get(v, 0.0), 10), -v))
    order += [v for v in reversed(ranking) if v in roots and v in members]
    others, left = len(members - roots), set(members)
    spent = cost(around, members, price)
    for place, v in enumerate(order):
        due = len(left) > target and place < others
        if not due and spent <= limit:
            break
        left.remove(v)
        spent -= price[v] + 2 * EDGE * len(around[v] & left)
    return left


def balance(
    around: list[set[int]],
    members: set[int],
    roots: set[int],
    ranking: Sequence[int],
    codes: dict[int, int],
    price: Sequence[float],
    limit: float,
) -> set[int]:
    """Add the best-ranked absent training nodes of classes below their share, then of absent classes, if they fit."""
    members = set(members)
    counts, training = Counter(codes[v] for v in members & roots), Counter(codes.values())
    total, whole = sum(counts.values()), len(codes)
    targets = {code: max(1, round(size * total / whole)) for code, size in training.items()}
    short = [code for code in sorted(targets) if counts[code] < LOWER * targets[code]]
    spent = cost(around, members, price)
    for code in sorted(short, key=lambda code: counts[code] - targets[code]):
        missing = targets[code] - counts[code]
        for v in ranking:
            if not missing:
                break
            added = price[v] + 2 * EDGE * len(around[v] & members)
            if codes[v] == code and v not in members and spent + added <= limit:
                members.add(v)
                spent, missing = spent + added, missing - 1
    for code in sorted(targets):
        if all(codes.get(v) != code for v in members):
            _admit(around, members, ranking, codes, price, limit, code)
    return members


def _admit(
    around: list[set[int]],
    members: set[int],
    ranking: Sequence[int],
    codes: dict[int, int],
    price: Sequence[float],
    limit: float,
    code: int,
) -> None:
    """Let the cheapest training node of an absent class in, at the expense of the largest class."""
    new = min((v for v in codes if codes[v] == code), key=lambda v: (price[v], v))
    while cost(around, members | {new}, price) > limit:
        sizes = Counter(codes[v] for v in members if v in codes)
        largest = max(sizes, key=lambda other: (sizes[other], -other))
        if sizes[largest] == 1:
            return  # whole classes would have to go
        members.remove(next(v for v in reversed(ranking) if v in members and codes[v] == largest))
    members.add(new)
