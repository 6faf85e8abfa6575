"""Definitions of the baselines, written out slowly."""

from __future__ import annotations

import numpy as np


def herding(rows, count):
    """Pick the row that brings the mean of those picked closest to the mean of all."""
    mean, picked = rows.mean(axis=0), []
    for step in range(1, count + 1):
        total = rows[picked].sum(axis=0) if picked else np.zeros(rows.shape[1])
        distance = [
            np.inf if i in picked else round(float(((step * mean - total - row) ** 2).sum()), 8)
            for i, row in enumerate(rows)
        ]
        picked.append(int(np.argmin(distance)))
    return picked


def kcenter(rows, count):
    """Start at the row nearest to the mean, then go to the one farthest from all picked."""
    mean = rows.mean(axis=0)
    picked = [int(np.argmin(np.round(((rows - mean) ** 2).sum(axis=1), 8)))]
    while len(picked) < count:
        gaps = [
            -np.inf if i in picked else round(min(float(((row - rows[j]) ** 2).sum()) for j in picked), 8)
            for i, row in enumerate(rows)
        ]
        picked.append(int(np.argmax(gaps)))
    return picked


def nearest(rows, k):
    """Positions of the k nearest rows of every row, itself among them, ties by position."""
    distance = np.round(((rows[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2), 9)
    return [sorted(range(len(rows)), key=lambda j, i=i: (distance[i, j], j))[:k] for i in range(len(rows))]


def greedy_cover(sets):
    """Rank sets by plain greedy maximum coverage; those that add nothing come last."""
    covered, left, ranking = set(), dict(enumerate(sets)), []
    while left:
        best = max(left, key=lambda i: (len(left[i] - covered), -i))
        if not left[best] - covered:
            break
        covered |= left.pop(best)
        ranking.append(best)
    return ranking + sorted(left)


def neighbourhood(adjacency, root, depth):
    """All nodes within some hops."""
    reached = {root}
    for _ in range(depth):
        reached |= {int(j) for i in reached for j in np.flatnonzero(adjacency[i])}
    return reached


def storage(adjacency, prices, edge, nodes):
    """Bytes of an induced subgraph."""
    nodes = sorted(nodes)
    return prices[nodes].sum() + edge * adjacency[np.ix_(nodes, nodes)].sum()


def gather(adjacency, ranking, prices, edge, *, limit, depth, patience, start, total_patience):
    """Add neighbourhoods while they fit, counting rejections in a row or all of them."""
    member, rejected = set(start), 0
    for root in ranking:
        grown = member | neighbourhood(adjacency, root, depth)
        if grown == member:
            continue
        if storage(adjacency, prices, edge, grown) <= limit:
            member = grown
            rejected = rejected if total_patience else 0
        else:
            rejected += 1
            if rejected > patience:
                break
    return member
