"""Small graphs for the tests: described on the host, built on any backend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from herald_gpu.graph import Graph, clean_edges, clean_features, stored_edges

if TYPE_CHECKING:
    from herald_gpu.backend import Backend

Kind = Literal["binary", "counts", "dense"]


@dataclass(frozen=True)
class Raw:
    """A graph as a user might have it: edges given once, features dense, labels of all nodes."""

    edges: tuple[tuple[int, int], ...]
    x: np.ndarray
    y: tuple[int, ...]
    train: tuple[bool, ...]

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.y)

    @property
    def n_classes(self) -> int:
        """Classes among training nodes; their codes are 0, 1, ..."""
        return len({code for code, known in zip(self.y, self.train, strict=True) if known})


def raw(edges: Any, x: Any, y: Any, train: Any = None) -> Raw:
    """Describe a graph; by default every node is a training node."""
    pairs = tuple((int(a), int(b)) for a, b in edges)
    labels = tuple(int(code) for code in y)
    known = (True,) * len(labels) if train is None else tuple(bool(flag) for flag in train)
    return Raw(pairs, np.asarray(x, dtype=np.float32), labels, known)


def build(backend: Backend, given: Raw, *, stored: bool = False, all_labels: bool = False) -> Graph:
    """Clean a graph and bring it to a backend, as the front door does."""
    pairs = np.array(given.edges, dtype=np.int64).reshape(-1, 2)
    source, target = backend.asarray(pairs[:, 0].copy()), backend.asarray(pairs[:, 1].copy())
    if stored:
        adjacency = stored_edges(backend, source, target, given.n)
    else:
        adjacency, _ = clean_edges(backend, source, target, given.n)
    features, kind = clean_features(backend, backend.asarray(given.x))
    train = np.array(given.train)
    labels = np.array(given.y) if all_labels else np.where(train, given.y, -1)
    codes = backend.asarray(labels.astype(np.int32))
    return Graph(adjacency, features, kind, codes, backend.asarray(train), given.n_classes)


def host(backend: Backend, value: Any) -> np.ndarray:
    """Bring an array or matrix to the host, dense."""
    copied = backend.to_host(value)
    return copied.toarray() if hasattr(copied, "toarray") else copied


def edge_set(backend: Backend, adjacency: Any) -> set[tuple[int, int]]:
    """Directed edges of an adjacency matrix."""
    matrix = backend.to_host(adjacency).tocoo()
    return set(zip(matrix.row.tolist(), matrix.col.tolist(), strict=True))


def random_raw(
    kind: Kind, n: int, seed: int, *, n_classes: int = 3, n_features: int = 14, mean_degree: float = 3.0
) -> Raw:
    """Draw a graph with some homophily, isolated nodes, rows without features, and informative features."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    y[:n_classes] = np.arange(n_classes)
    draws = rng.integers(n, size=(int(2 * n * mean_degree), 2))
    alike = y[draws[:, 0]] == y[draws[:, 1]]
    kept = draws[rng.random(len(draws)) < np.where(alike, 0.4, 0.2)]
    isolated = rng.choice(n, max(1, n // 20), replace=False)
    kept = np.unique(kept[~np.isin(kept, isolated).any(axis=1)], axis=0)
    signal = (np.arange(n_features)[None, :] % n_classes) == y[:, None]
    if kind == "binary":
        x = rng.random((n, n_features)) < np.where(signal, 0.5, 0.15)
    elif kind == "counts":
        x = rng.poisson(np.where(signal, 0.8, 0.15))
    else:
        x = rng.normal(np.where(signal, 0.7, 0.0), 1.0)
    x = x.astype(np.float32)
    if kind != "dense":
        x[rng.choice(n, max(1, n // 20), replace=False)] = 0
    train = rng.random(n) < 0.6
    train[:n_classes] = True
    return raw(kept, x, y, train)


PATH = raw(
    [(0, 1), (1, 2), (2, 3), (3, 4)],
    [[1, 0], [1, 0], [0, 1], [0, 1], [1, 1]],
    [0, 0, 1, 1, 0],
    [True, True, True, True, False],
)
"""Five nodes in a row; the last one is not a training node."""
STAR = raw([(0, leaf) for leaf in range(1, 5)], np.eye(5, 3), [0, 1, 1, 0, 1])
"""A hub and four leaves; the last two have no features."""
TRIANGLES = raw(
    [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)],
    [[2, 0, 0], [1, 0, 0], [3, 0, 1], [0, 2, 0], [0, 1, 0], [0, 5, 1]],
    [0, 0, 0, 1, 1, 1],
)
"""Two triangles, one per class."""
TINY = {"path": PATH, "star": STAR, "triangles": TRIANGLES}
