"""The method again, written for clarity alone: loops, sets and dicts, straight from its definition.

Nothing here is shared with the package. Nodes are integers, a graph is a list of neighbour sets, scores are
lists of floats.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from support.graphs import Raw

Neighbours = list[set[int]]
FEATURE_UNITS = {"dense": 2, "binary": 1, "sparse": 3}
EDGE_BYTES = 4


def neighbours(given: Raw) -> Neighbours:
    """Undirected, simple."""
    around: Neighbours = [set() for _ in range(given.n)]
    for a, b in given.edges:
        if a != b:
            around[a].add(b)
            around[b].add(a)
    return around


def n_directed(around: Neighbours, nodes: Iterable[int] | None = None) -> int:
    """Directed edges inside a set of nodes."""
    inside = set(range(len(around))) if nodes is None else set(nodes)
    return sum(len(around[v] & inside) for v in inside)


# Stage 0


def cheapest_kind(x: np.ndarray) -> str:
    """Price the whole matrix in the three ways."""
    nonzero = int((x != 0).sum())
    bytes_by_kind = {"sparse": 3 * nonzero, "dense": 2 * x.size}
    if all(value in (0.0, 1.0) for value in x.ravel().tolist()):
        bytes_by_kind["binary"] = nonzero
    return min(bytes_by_kind, key=lambda kind: bytes_by_kind[kind])


def node_prices(kind: str, x: np.ndarray) -> list[float]:
    """Bytes of each node's features."""
    if kind == "dense":
        return [2 * 2 * x.shape[1]] * len(x)
    return [2 * FEATURE_UNITS[kind] * sum(value != 0 for value in row) for row in x.tolist()]


def cost(around: Neighbours, price: Sequence[float], nodes: Iterable[int]) -> float:
    """Bytes of the subgraph induced by some nodes, from scratch."""
    nodes = set(nodes)
    return sum(price[v] for v in nodes) + EDGE_BYTES * n_directed(around, nodes)


def largest_limit(ratio: float, full: int) -> int:
    """The largest whole number of bytes whose share does not exceed the ratio."""
    return max(size for size in range(int(ratio * full) + 3) if size / full <= ratio)


# Stages 1 to 3


def heterophily(around: Neighbours, given: Raw) -> tuple[float, int]:
    """Share of differing labels over directed edges between training nodes."""
    pairs = [(u, v) for u in range(given.n) for v in around[u] if given.train[u] and given.train[v]]
    differing = sum(given.y[u] != given.y[v] for u, v in pairs)
    return (differing / len(pairs) if pairs else 0.0), len(pairs)


def score_weights(h: float) -> tuple[float, float, float]:
    """Adaptive weights with the default base."""
    t = 1 / (1 + math.exp(-8 * (h - 0.4)))
    raw = (0.4 + 0.0 * (1 - t), 0.4 * t, 0.2 * (0.5 + 0.5 * t))
    return raw[0] / sum(raw), raw[1] / sum(raw), raw[2] / sum(raw)


def smoothed(around: Neighbours, x: np.ndarray) -> np.ndarray:
    """``D~^-1 (A + I) D~^-1 X``."""
    rows = x.astype(np.float64)
    out = np.zeros_like(rows)
    for v in range(len(x)):
        for u in around[v] | {v}:
            out[v] += rows[u] / (len(around[u]) + 1)
        out[v] /= len(around[v]) + 1
    return out


def walked(around: Neighbours, x: np.ndarray) -> np.ndarray:
    """``D^-1 A X``; nothing arrives at isolated nodes."""
    out = np.zeros_like(x)
    for v, near in enumerate(around):
        for u in near:
            out[v] += x[u] / len(near)
    return out


def fisher(column: Sequence[float], codes: Sequence[int], eps: float = 1e-12, smallest: int = 1) -> float:
    """Between-class over within-class scatter of one feature."""
    overall = sum(column) / len(column)
    between = within = 0.0
    for code in set(codes):
        mine = [value for value, other in zip(column, codes, strict=True) if other == code]
        if len(mine) < smallest:
            continue
        mean = sum(mine) / len(mine)
        between += len(mine) * (mean - overall) ** 2
        within += len(mine) * (sum((value - mean) ** 2 for value in mine) / len(mine))
    return between / (within + eps)


def feature_scores(around: Neighbours, given: Raw, h: float, hops: int = 2, *, dense: bool = True) -> list[float]:
    """Multi-hop Fisher ratio, times activation density if wanted."""
    rows = [v for v in range(given.n) if given.train[v]]
    codes = [given.y[v] for v in rows]
    total, x = [0.0] * given.x.shape[1], given.x.astype(np.float64)
    for hop in range(hops + 1):
        ratios = [fisher(x[rows, j].tolist(), codes) for j in range(x.shape[1])]
        total = [a + (1 - h) ** hop * b for a, b in zip(total, by_max(ratios), strict=True)]
        x = walked(around, x)
    if not dense:
        return by_max(total)
    density = [sum(abs(float(given.x[v, j])) for v in rows) / len(rows) for j in range(x.shape[1])]
    return [a * b for a, b in zip(by_max(total), by_max(density), strict=True)]


def by_max(values: Sequence[float]) -> list[float]:
    """Divide by the maximum."""
    top = max(values)
    return [value / top if top > 0 else 0.0 for value in values]


def best_features(scores: Sequence[float], count: int) -> list[int]:
    """The largest scores, ties to the lower index."""
    order = sorted(range(len(scores)), key=lambda j: (-round(scores[j], 9), j))
    return sorted(order[:count])


# Stage 4


def unit_rows(x: np.ndarray) -> np.ndarray:
    """L2-normalised rows; a zero row stays zero."""
    rows = x.astype(np.float64)
    lengths = np.array([math.sqrt(math.fsum(value * value for value in row)) for row in rows.tolist()])
    return rows / np.where(lengths > 0, lengths, 1.0)[:, None]


def prototypes(unit: np.ndarray, given: Raw) -> list[float]:
    """Cosine to the own centroid, or to the best one where the class is unknown."""
    centroids = []
    for code in range(given.n_classes):
        mean = np.mean([unit[v] for v in range(given.n) if given.train[v] and given.y[v] == code], axis=0)
        length = np.linalg.norm(mean)
        centroids.append(mean / length if length else mean)
    cosines = [[float(row @ centroid) for centroid in centroids] for row in unit]
    return [cosines[v][given.y[v]] if given.train[v] else max(cosines[v]) for v in range(given.n)]


def boundaries(around: Neighbours, given: Raw) -> list[float]:
    """Share of training neighbours with another label."""
    scores = []
    for v in range(given.n):
        known = [u for u in around[v] if given.train[u]]
        other = sum(given.y[u] != given.y[v] for u in known)
        scores.append(other / len(known) if given.train[v] and known else 0.0)
    return scores


def sorted_distances(unit: np.ndarray) -> np.ndarray:
    """Half squared distances of every row to all others, ascending; a zero row is at 1 from everything."""
    n, alive = len(unit), unit.any(axis=1)
    table = np.ones((n, n))
    for u in range(n):
        for v in range(n):
            if alive[u] and alive[v]:
                table[u, v] = 0.5 * float(((unit[u] - unit[v]) ** 2).sum())
    return np.array([sorted(np.delete(table[u], u)) for u in range(n)])


def lids(unit: np.ndarray, k: int, *, zero_rows: str) -> list[float]:
    """Local intrinsic dimensionality, degenerate cases decided one by one."""
    distances = sorted_distances(unit)[:, :k]
    values: list[float | None] = []
    for row in distances.tolist():
        if row[-1] < 1e-12:
            values.append(0.0)
        elif row[-1] - row[0] < 1e-12:
            values.append(None)
        else:
            last = max(row[-1], 1e-12)
            values.append(-1 / (sum(math.log(max(d, 1e-12) / last) for d in row) / len(row)))
    cap = max((value for value in values if value is not None), default=0.0)
    result = [cap if value is None else value for value in values]
    if zero_rows == "zero":
        result = [value if unit[v].any() else 0.0 for v, value in enumerate(result)]
    return result


def min_max(values: Sequence[float]) -> list[float]:
    """To [0, 1]; constant values become 0."""
    low, high = min(values), max(values)
    return [(value - low) / (high - low) if high > low else 0.0 for value in values]


def rank_scaled(values: Sequence[float]) -> list[float]:
    """Mean rank over N - 1."""
    rounded = [round(value, 9) for value in values]
    below = [sum(other < value for other in rounded) for value in rounded]
    equal = [sum(other == value for other in rounded) for value in rounded]
    return [(b + (e - 1) / 2) / (len(values) - 1) for b, e in zip(below, equal, strict=True)]


def ranked(scores: Sequence[float], given: Raw) -> list[int]:
    """Training nodes, best first, ties to the lower id."""
    nodes = [v for v in range(given.n) if given.train[v]]
    return sorted(nodes, key=lambda v: (-round(scores[v], 9), v))


# Stage 5


def within_hops(around: Neighbours, root: int, depth: int) -> set[int]:
    """All nodes within some hops of a root."""
    reached = {root}
    for _ in range(depth):
        reached = reached.union(*(around[v] for v in reached))
    return reached


@dataclass
class Grown:
    """What an expansion gathered."""

    members: set[int]
    considered: set[int]
    accepted: int
    spent: float


def grow(
    around: Neighbours,
    roots: Sequence[int],
    price: Sequence[float],
    limit: float,
    *,
    depth: int,
    patience: int,
    start: Iterable[int] = (),
    quota: int | None = None,
) -> Grown:
    """Alg. 2, the cost always counted from scratch."""
    members, considered, accepted, rejections = set(start), set(), 0, 0
    for root in roots:
        if quota is not None and accepted == quota:
            break
        considered.add(root)
        tree = within_hops(around, root, depth)
        if tree <= members:
            continue
        if cost(around, price, members | tree) <= limit:
            members |= tree
            accepted += 1
            rejections = 0
        else:
            rejections += 1
            if rejections > patience:
                break
    return Grown(members, considered, accepted, cost(around, price, members))


def expand(
    around: Neighbours, roots: Sequence[int], price: Sequence[float], limit: float, *, depth: int, patience: int
) -> tuple[Grown, int]:
    """Expand, with one hop less as long as no root is accepted."""
    grown = grow(around, roots, price, limit, depth=depth, patience=patience)
    if grown.accepted == 0 and depth > 0:
        return expand(around, roots, price, limit, depth=depth - 1, patience=patience)
    return grown, depth


# Stage 6


def pagerank(
    weights: dict[int, dict[int, float]], roots: set[int], restart: float = 0.15, tol: float = 1e-6, steps: int = 100
) -> dict[int, float]:
    """Power iteration on a graph given as weighted neighbours; nodes without any stay out."""
    linked = sorted(v for v, near in weights.items() if near)
    chosen = [v for v in linked if v in roots]
    if not chosen:
        return {}
    rank = dict.fromkeys(linked, 1 / len(linked))
    for _ in range(steps):
        moved = {v: restart / len(chosen) if v in roots else 0.0 for v in linked}
        for u in linked:
            total = sum(weights[u].values())
            for v, weight in weights[u].items():
                moved[v] += (1 - restart) * rank[u] * weight / total
        mass = sum(moved.values())
        moved = {v: value / mass for v, value in moved.items()}
        change = sum(abs(moved[v] - rank[v]) for v in linked)
        rank = moved
        if change < tol:
            break
    return rank


def prune(
    around: Neighbours,
    members: set[int],
    roots: set[int],
    ranking: Sequence[int],
    price: Sequence[float],
    target: int,
    limit: float,
) -> set[int]:
    """Remove one node at a time."""
    weights = {v: dict.fromkeys(around[v] & members, 2.0) for v in members}
    centrality = pagerank(weights, roots & members)
    order = sorted(members - roots, key=lambda v: (round(centrality.get(v, 0.0), 10), -v))
    left = set(members)
    while len(left) > target and order:
        left.remove(order.pop(0))
    order += [v for v in reversed(ranking) if v in roots & members]
    while cost(around, price, left) > limit:
        left.remove(order.pop(0))
    return left


# Stage 7


def class_targets(given: Raw, total: int) -> dict[int, int]:
    """Training shares of some number of nodes, half to even, at least one."""
    counts = Counter(code for code, known in zip(given.y, given.train, strict=True) if known)
    whole = sum(counts.values())
    return {code: max(1, round(Fraction(count * total, whole))) for code, count in counts.items()}


def cheapest(given: Raw, price: Sequence[float]) -> dict[int, int]:
    """Cheapest training node of every class."""
    nodes = [v for v in range(given.n) if given.train[v]]
    return {
        code: min((v for v in nodes if given.y[v] == code), key=lambda v: (price[v], v))
        for code in range(given.n_classes)
    }


def rebalance(
    around: Neighbours,
    given: Raw,
    members: set[int],
    roots: set[int],
    ranking: Sequence[int],
    price: Sequence[float],
    limit: float,
) -> tuple[set[int], set[int]]:
    """Add to classes below target, then let absent classes in: (members, roots)."""
    members, roots = set(members), set(roots)
    counts = Counter(given.y[v] for v in members & roots if given.train[v])
    targets = class_targets(given, sum(counts.values()))
    short = [code for code in targets if counts[code] < Fraction(99, 100) * targets[code]]
    for code in sorted(short, key=lambda code: (counts[code] - targets[code], code)):
        missing = targets[code] - counts[code]
        for v in ranking:
            fits = given.y[v] == code and v not in members and cost(around, price, members | {v}) <= limit
            if missing and fits:
                members.add(v)
                roots.add(v)
                missing -= 1
    for code, newcomer in sorted(cheapest(given, price).items()):
        if any(given.train[v] and given.y[v] == code for v in members):
            continue
        while cost(around, price, members | {newcomer}) > limit:
            sizes = Counter(given.y[v] for v in members if given.train[v])
            largest = max(sizes, key=lambda c: (sizes[c], -c), default=None)
            if largest is None or sizes[largest] == 1:
                msg = "only whole classes are left to evict"
                raise NotImplementedError(msg)
            members.remove(next(v for v in reversed(ranking) if v in members and given.y[v] == largest))
        members.add(newcomer)
        roots.add(newcomer)
    return members, roots


# All of it


@dataclass
class Answer:
    """What the method gives."""

    features: list[int]
    scores: list[float]
    ranking: list[int]
    depth: int
    target: int
    members: set[int]
    roots: set[int]
    bytes: float
    limit: int


def condense(given: Raw, ratio: float, n_features: int) -> Answer:
    """Condense a graph as the paper does."""
    around = neighbours(given)
    kind = cheapest_kind(given.x)
    full = int(sum(node_prices(kind, given.x))) + EDGE_BYTES * n_directed(around)
    limit = largest_limit(ratio, full)
    h, _ = heterophily(around, given)
    features = best_features(feature_scores(around, given, h), n_features)
    kept = given.x[:, features]
    price, unit = node_prices(kind, kept), unit_rows(kept)
    lid = lids(unit, min(10, given.n - 1), zero_rows="cap")
    parts = (min_max(prototypes(unit, given)), min_max(boundaries(around, given)), min_max(lid))
    weights = score_weights(h)
    scores = min_max([sum(w * part[v] for w, part in zip(weights, parts, strict=True)) for v in range(given.n)])
    ranking = ranked(scores, given)
    wide, depth = expand(around, ranking, price, 1.9 * limit, depth=2, patience=100)
    plain, _ = expand(around, ranking, price, limit, depth=2, patience=100)
    target = len(plain.members)
    pruned = prune(around, wide.members, wide.considered, ranking, price, target, limit)
    members, roots = rebalance(around, given, pruned, wide.considered, ranking, price, limit)
    spent = cost(around, price, members)
    return Answer(features, scores, ranking, depth, target, members, roots & members, spent, limit)
