"""The paper's method as its published recipe would have it: Python sets, NetworkX, dense distances, no care for speed.

It keeps the rules of :meth:`herald_gpu.HeraldConfig.paper` and gives the same nodes, save where two scores differ by so
little that the order of a sum decides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from herald_gpu.bench.plain_growth import EDGE, FACTOR, balance, cost, expand, prune
from herald_gpu.budget import graph_bytes
from herald_gpu.graph import cheapest_kind

if TYPE_CHECKING:
    from herald_gpu.graph import FeatureKind

NEIGHBOURS, FLOOR = 10, 1e-12
ROWS = 2048
"""Rows of a product at a time: OpenBLAS crashes on that of so large a matrix with its own transpose on some processors
(NumPy 2.4.6, two threads, 19,717 rows of float64, AVX-512)."""


@dataclass(frozen=True)
class Plain:
    """What the recipe gives.

    Attributes
    ----------
    nodes : list of int
        Ascending.
    features : list of int
        Kept columns, ascending.
    storage_ratio : float
    """

    nodes: list[int]
    features: list[int]
    storage_ratio: float


def plain_condense(
    edge_index: Any,  # noqa: ANN401 - (2, E) array
    features: Any,  # noqa: ANN401 - an array or a CSR matrix
    labels: Any,  # noqa: ANN401 - (N,) array
    train: Any,  # noqa: ANN401 - (N,) bool array
    *,
    ratio: float,
) -> Plain:
    """Condense a graph.

    Examples
    --------
    >>> from herald_gpu.datasets import make_graph
    >>> g = make_graph(200, n_classes=3, n_features=16, mean_degree=4)
    >>> plain_condense(g.edge_index, g.features, g.labels, g.train, ratio=0.2).storage_ratio <= 0.2
    True
    """
    x = features.toarray() if hasattr(features, "toarray") else np.asarray(features)
    around = neighbour_sets(edge_index, len(x))
    y = np.unique(labels[train], return_inverse=True)[1]
    codes = dict(zip(np.flatnonzero(train).tolist(), y.tolist(), strict=True))
    kind = cheapest_kind(x.shape, int(np.count_nonzero(x)), binary=bool(np.isin(x, (0, 1)).all()))
    full = int(node_prices(kind, x).sum()) + EDGE * sum(map(len, around))
    limit = math.floor(ratio * full)
    h = heterophily(around, codes)
    columns = kept_features(around, x, codes, h)
    kept = x[:, columns].astype(np.float64)
    scores = node_scores(around, kept, codes, h)
    ranking = sorted(codes, key=lambda v: (-round(float(scores[v]), 9), v))
    price = node_prices(kind, kept).tolist()
    wide, roots = expand(around, ranking, price, FACTOR * limit)
    target = len(expand(around, ranking, price, limit)[0])
    left = prune(around, wide, roots, ranking, price, target, limit)
    nodes = balance(around, left, roots, ranking, codes, price, limit)
    return Plain(sorted(nodes), columns, cost(around, nodes, price) / full)


def neighbour_sets(edge_index: Any, n: int) -> list[set[int]]:  # noqa: ANN401 - (2, E) array
    """Undirected, simple."""
    around: list[set[int]] = [set() for _ in range(n)]
    for a, b in np.asarray(edge_index).T.tolist():
        if a != b:
            around[a].add(b)
            around[b].add(a)
    return around


def node_prices(kind: FeatureKind, x: np.ndarray) -> np.ndarray:
    """Bytes of each node's features."""
    if kind == "dense":
        return np.full(len(x), float(graph_bytes(kind, x.shape[1], 0)))
    return graph_bytes(kind, 1, 0) * np.count_nonzero(x, axis=1).astype(float)


def heterophily(around: list[set[int]], codes: dict[int, int]) -> float:
    """Share of differing labels over edges between training nodes."""
    pairs = [(codes[u], codes[v]) for u in codes for v in around[u] if v in codes]
    return sum(a != b for a, b in pairs) / len(pairs) if pairs else 0.0


def kept_features(around: list[set[int]], x: np.ndarray, codes: dict[int, int], h: float) -> list[int]:
    """As many as a deep tree splits on, by multi-hop Fisher times density."""
    from sklearn.tree import DecisionTreeClassifier

    n, rows, y = len(x), np.array(list(codes)), np.array(list(codes.values()))
    ends = np.array([(u, v) for u in range(n) for v in around[u]]).reshape(-1, 2)
    adjacency = scipy.sparse.csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    degree = np.array([len(near) for near in around], dtype=float)
    wide = x.astype(np.float64)
    shrunk = wide / (degree + 1)[:, None]
    smooth = (adjacency @ shrunk + shrunk) / (degree + 1)[:, None]
    tree = DecisionTreeClassifier(max_depth=50, random_state=42).fit(smooth[rows].astype(np.float32), y).tree_
    count = max(1, len(np.unique(tree.feature[tree.feature >= 0])))
    total = np.zeros(x.shape[1])
    for hop in range(3):
        total += (1 - h) ** hop * _by_max(fisher(wide[rows], y))
        wide = (adjacency @ wide) / np.where(degree > 0, degree, 1)[:, None]
    score = _by_max(total) * _by_max(np.abs(x[rows].astype(np.float64)).mean(axis=0))
    return sorted(np.argsort(-np.round(score, 9), kind="stable")[:count].tolist())


def fisher(rows: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Between-class over within-class scatter of every feature."""
    between, within = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    for code in np.unique(y):
        mine = rows[y == code]
        between += len(mine) * (mine.mean(axis=0) - rows.mean(axis=0)) ** 2
        within += ((mine - mine.mean(axis=0)) ** 2).sum(axis=0)
    return between / (within + FLOOR)


def node_scores(around: list[set[int]], kept: np.ndarray, codes: dict[int, int], h: float) -> np.ndarray:
    """Prototype, boundary and LID, each scaled, weighed by heterophily."""
    lengths = np.linalg.norm(kept, axis=1)
    unit = kept / np.where(lengths > 0, lengths, 1)[:, None]
    rows, y = np.array(list(codes)), np.array(list(codes.values()))
    sums = np.stack([unit[rows[y == code]].sum(axis=0) for code in range(int(y.max()) + 1)])
    sizes = np.linalg.norm(sums, axis=1, keepdims=True)
    cosines = unit @ (sums / np.where(sizes > 0, sizes, 1)).T
    prototype = cosines.max(axis=1)
    prototype[rows] = cosines[rows, y]
    boundary = np.zeros(len(kept))
    for v, code in codes.items():
        known = [codes[u] for u in around[v] if u in codes]
        boundary[v] = sum(other != code for other in known) / len(known) if known else 0.0
    t = 1 / (1 + math.exp(-8 * (h - 0.4)))
    weights = np.array([0.4, 0.4 * t, 0.2 * (0.5 + 0.5 * t)])
    parts = [_min_max(part) for part in (prototype, boundary, lid(unit))]
    return _min_max(sum(weight * part for weight, part in zip(weights / weights.sum(), parts, strict=True)))


def lid(unit: np.ndarray) -> np.ndarray:
    """LID from the whole matrix of pairwise cosine distances."""
    distances = np.empty((len(unit), len(unit)))
    for low in range(0, len(unit), ROWS):
        distances[low : low + ROWS] = 1.0 - unit[low : low + ROWS] @ unit.T
    np.fill_diagonal(distances, np.inf)
    k = min(NEIGHBOURS, len(unit) - 1)
    near = np.argpartition(distances, k - 1, axis=1)[:, :k]
    alive = np.asarray(unit.any(axis=1))
    exact = 0.5 * np.stack([((unit[row] - unit[v]) ** 2).sum(axis=1) for v, row in enumerate(near)])
    exact = np.sort(np.where(alive[:, None] & alive[near], exact, 1.0), axis=1)
    same, level = exact[:, -1] < FLOOR, exact[:, -1] - exact[:, 0] < FLOOR
    raised = np.maximum(exact, FLOOR)
    mean = np.log(raised / raised[:, -1:]).mean(axis=1)
    values = np.where(same | level, 0.0, -1.0 / np.where(same | level, -1.0, mean))
    return np.where(level & ~same, values.max(), values)


def _by_max(values: np.ndarray) -> np.ndarray:
    return values / values.max() if values.max() > 0 else np.zeros_like(values)


def _min_max(values: np.ndarray) -> np.ndarray:
    span = values.max() - values.min()
    return (values - values.min()) / span if span > 0 else np.zeros_like(values)
