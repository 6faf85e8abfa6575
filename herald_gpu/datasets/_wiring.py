"""Edges of a synthetic graph: a degree-weighted block model, drawn in chunks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herald_gpu.errors import ConfigError

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Pairs drawn at a time: some ten arrays of this length live at once, about 200 MB.
CHUNK = 1 << 21
# Each round replaces the pairs that were drawn twice; only a nearly complete graph needs many.
ROUNDS = 100


@dataclass(frozen=True)
class Endpoints:
    """The nodes that may have edges, ordered by class so that a class is one stretch of the weights.

    Attributes
    ----------
    nodes, classes : (K,) int64 arrays
        Node ids and their classes, classes ascending.
    bounds : (C + 1,) int64 array
        Positions at which each class begins.
    weights : (K + 1,) float64 array
        Cumulative weights from 0: a node is drawn as often as its stretch is long.
    """

    nodes: NDArray[np.int64]
    classes: NDArray[np.int64]
    bounds: NDArray[np.int64]
    weights: NDArray[np.float64]

    @classmethod
    def of(
        cls, nodes: NDArray[np.int64], labels: NDArray[np.int64], weights: NDArray[np.float64], n_classes: int
    ) -> Endpoints:
        """Order nodes, given with their labels and weights, by class."""
        order = np.argsort(labels, kind="stable")
        classes = labels[order]
        bounds = np.searchsorted(classes, np.arange(n_classes + 1))
        return cls(nodes[order], classes, bounds, np.concatenate([[0.0], np.cumsum(weights[order])]))

    def capacity(self, *, same_class: bool) -> int:
        """Count the pairs of distinct nodes inside classes, or between them."""
        sizes = np.diff(self.bounds)
        within = int((sizes * (sizes - 1) // 2).sum())
        total = self.nodes.size * (self.nodes.size - 1) // 2
        return within if same_class else total - within

    def draw_keys(self, rng: np.random.Generator, count: int, n_nodes: int, *, same_class: bool) -> NDArray[np.int64]:
        """Draw at most `count` pairs; a pair u < v is the key ``u * n_nodes + v``."""
        first = self._at(rng.random(count) * self.weights[-1])
        own = self.classes[first]
        low, high = self.weights[self.bounds[own]], self.weights[self.bounds[own + 1]]
        if same_class:
            point = low + rng.random(count) * (high - low)
        else:
            point = rng.random(count) * (self.weights[-1] - (high - low))
            point += np.where(point >= low, high - low, 0.0)
        second = self._at(point)
        # Rounding may carry a point over the border of a class, so that the classes are compared again.
        keep = (first != second) & ((self.classes[second] == own) == same_class)
        u, v = self.nodes[first[keep]], self.nodes[second[keep]]
        return np.minimum(u, v) * n_nodes + np.maximum(u, v)

    def _at(self, points: NDArray[np.float64]) -> NDArray[np.int64]:
        found = np.searchsorted(self.weights, points, side="right") - 1
        return np.minimum(found, self.nodes.size - 1)


def degree_weights(
    rng: np.random.Generator, count: int, power_law: float | None, mean_degree: float
) -> NDArray[np.float64]:
    """Expected degrees up to a factor: all alike, or Pareto, cut where a hub would know a quarter of all."""
    if power_law is None:
        return np.ones(count)
    weights = rng.pareto(power_law - 1, count) + 1
    return np.minimum(weights, weights.mean() * max(1.0, count / (4 * mean_degree)))


def draw_edges(
    rng: np.random.Generator, ends: Endpoints, *, n_nodes: int, homophily: float, mean_degree: float
) -> NDArray[np.int64]:
    """Draw a simple graph as an edge index that holds both directions of every edge."""
    total = round(n_nodes * mean_degree / 2)
    within = round(total * homophily)
    parts = [
        _distinct_keys(rng, ends, within, n_nodes, same_class=True),
        _distinct_keys(rng, ends, total - within, n_nodes, same_class=False),
    ]
    keys = np.concatenate(parts)
    del parts
    keys.sort()
    edge_index = np.empty((2, 2 * total), dtype=np.int64)
    np.floor_divide(keys, n_nodes, out=edge_index[0, :total])
    np.remainder(keys, n_nodes, out=edge_index[1, :total])
    edge_index[:, total:] = edge_index[::-1, :total]
    return edge_index


def _distinct_keys(
    rng: np.random.Generator, ends: Endpoints, target: int, n_nodes: int, *, same_class: bool
) -> NDArray[np.int64]:
    where = "inside classes" if same_class else "between classes"
    capacity = ends.capacity(same_class=same_class)
    advice = "lower mean_degree or isolated_share, move homophily, or raise n_nodes"
    if target > capacity:
        msg = f"mean_degree and homophily ask for {target} edges {where}, with {capacity} pairs: {advice}"
        raise ConfigError(msg)
    keys = np.empty(0, dtype=np.int64)
    for _ in range(ROUNDS):
        missing = target - keys.size
        if missing == 0:
            return keys
        sizes = [min(CHUNK, missing - start) for start in range(0, missing, CHUNK)]
        fresh = (ends.draw_keys(rng, size, n_nodes, same_class=same_class) for size in sizes)
        keys = _sorted_unique(np.concatenate([keys, *fresh]))
    msg = (
        f"mean_degree and homophily ask for {target} of {capacity} pairs {where}, and only {keys.size} were "
        f"found in {ROUNDS} rounds: {advice}, or pass power_law=None"
    )
    raise ConfigError(msg)


def _sorted_unique(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    keys.sort()
    fresh = np.ones(keys.size, dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
    return keys[fresh]
