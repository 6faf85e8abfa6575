"""Where the nodes of a connected graph go in a drawing: pushed apart by each other, held together by edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.fft
from scipy.sparse import csgraph
from scipy.spatial import cKDTree

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

EXACT = 500
"""Up to this many nodes all pairs push; beyond, nodes push through a grid."""
GRID = 128
PIVOTS = 10
STEPS = 120
GRAVITY = 0.4
"""Pull towards the middle: long arms bend, and the sheet is used."""
CLOSEST = 0.75
"""Nodes nearer than this, in lengths of an edge, are moved apart at the end."""


def arrange(adjacency: csr_matrix, rng: np.random.Generator) -> np.ndarray:
    """Place the nodes of a connected graph; an edge is about 1 long, and the wider side lies along x.

    Force-directed (Fruchterman and Reingold), started from hop distances to a few pivots so that few steps are needed.

    Parameters
    ----------
    adjacency : CSR matrix
        Symmetric.
    rng : numpy.random.Generator
        Tells nodes apart that the distances do not.

    Examples
    --------
    >>> import scipy.sparse
    >>> two = scipy.sparse.csr_matrix([[0, 1], [1, 0]])
    >>> arrange(two, np.random.default_rng(0)).tolist()
    [[-0.5, 0.0], [0.5, 0.0]]
    """
    n = int(adjacency.shape[0])
    if n == 1:
        return np.zeros((1, 2))
    if n == 2:  # noqa: PLR2004 - an edge
        return np.array([[-0.5, 0.0], [0.5, 0.0]])
    edges = np.column_stack(adjacency.nonzero())
    edges = edges[edges[:, 0] < edges[:, 1]]
    count = np.bincount(edges.ravel(), minlength=n).astype(float)
    # Edges of hubs pull less, so that what hangs on different hubs can be told apart.
    pull = 2 / (1 + np.minimum(count[edges[:, 0]], count[edges[:, 1]]))
    places = _start(adjacency, rng)
    push = _all_pairs if n <= EXACT else _through_grid
    first = 0.15 * np.sqrt(n)
    for step in range(STEPS):
        force = push(places) - GRAVITY * places
        apart = places[edges[:, 0]] - places[edges[:, 1]]
        drawn = apart * (pull * np.linalg.norm(apart, axis=1))[:, None]
        for axis in (0, 1):
            force[:, axis] -= np.bincount(edges[:, 0], drawn[:, axis], n) - np.bincount(edges[:, 1], drawn[:, axis], n)
        length = np.linalg.norm(force, axis=1)
        reach = first * (1 - step / STEPS) ** 1.5 + 0.02
        places = places + force * (np.minimum(length, reach) / np.maximum(length, 1e-9))[:, None]
    return _apart(_turned(places))


def _start(adjacency: csr_matrix, rng: np.random.Generator) -> np.ndarray:
    """Principal axes of the distances to pivots, each as far as can be from those before."""
    n, pivot, table = int(adjacency.shape[0]), 0, []
    nearest = np.full(n, np.inf)
    for _ in range(min(PIVOTS, n)):
        hops = csgraph.dijkstra(adjacency, unweighted=True, indices=[pivot])[0]
        table.append(hops)
        nearest = np.minimum(nearest, hops)
        pivot = int(nearest.argmax())
    centred = np.array(table).T
    centred = centred - centred.mean(axis=0)
    values, axes = np.linalg.eigh(centred.T @ centred)
    two = centred @ axes[:, np.argsort(values)[::-1][:2]]
    if two.shape[1] == 1:
        two = np.column_stack([two, np.zeros(n)])
    two = two * np.where(two[np.abs(two).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)  # an axis has no sign of its own
    two = two / max(1e-9, float(np.abs(two).max())) * np.sqrt(n)
    return two + rng.normal(scale=0.3, size=two.shape)


def _all_pairs(places: np.ndarray) -> np.ndarray:
    apart = places[:, None, :] - places[None, :, :]
    square = (apart**2).sum(axis=2) + 1e-3
    return (apart / square[:, :, None]).sum(axis=1)


def _through_grid(places: np.ndarray) -> np.ndarray:
    """The same push by way of masses on a grid: a convolution, whatever the number of nodes."""
    low = places.min(axis=0)
    cell = max(1e-9, float((places.max(axis=0) - low).max())) / (GRID - 2)
    scaled = (places - low) / cell
    corner = np.floor(scaled).astype(np.int64)
    part = scaled - corner
    spots, weights = [], []
    for right in (0, 1):
        for up in (0, 1):
            spots.append((corner[:, 0] + right) * GRID + corner[:, 1] + up)
            weights.append(np.abs(1 - right - part[:, 0]) * np.abs(1 - up - part[:, 1]))
    mass = np.bincount(np.concatenate(spots), np.concatenate(weights), GRID * GRID).reshape(GRID, GRID)
    spread = scipy.fft.rfft2(mass, (2 * GRID, 2 * GRID))
    force = np.zeros_like(places)
    for axis, kernel in enumerate(_kernels()):
        field = scipy.fft.irfft2(spread * kernel, (2 * GRID, 2 * GRID))[:GRID, :GRID].ravel()
        force[:, axis] = sum(field[spot] * weight for spot, weight in zip(spots, weights, strict=True))
    return force / cell


_KERNELS: list[np.ndarray] = []


def _kernels() -> list[np.ndarray]:
    """Transforms of x / r^2 and y / r^2 on the grid, made once."""
    if not _KERNELS:
        steps = scipy.fft.fftfreq(2 * GRID, 1 / (2 * GRID))
        x, y = np.meshgrid(steps, steps, indexing="ij")
        square = x**2 + y**2 + 0.25  # softened: within a cell masses do not push
        _KERNELS.extend(scipy.fft.rfft2(part / square) for part in (x, y))
    return _KERNELS


def _turned(places: np.ndarray) -> np.ndarray:
    """Turn the longest extent along x, around the middle."""
    centred = places - places.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    turned = centred @ axes[:, ::-1]
    return turned * np.where(turned[np.abs(turned).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)


def _apart(places: np.ndarray, rounds: int = 20) -> np.ndarray:
    """Move nodes that lie on one another apart."""
    places = places.copy()
    for _ in range(rounds):
        pairs = cKDTree(places).query_pairs(CLOSEST, output_type="ndarray")
        if not len(pairs):
            break
        pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
        apart = places[pairs[:, 0]] - places[pairs[:, 1]]
        length = np.linalg.norm(apart, axis=1)
        apart[length < 1e-6] = (1e-6, 0.0)  # noqa: PLR2004 - of no direction
        move = apart * (0.3 * (CLOSEST - length) / np.maximum(length, 1e-6))[:, None]
        for axis in (0, 1):
            places[:, axis] += np.bincount(pairs[:, 0], move[:, axis], len(places))
            places[:, axis] -= np.bincount(pairs[:, 1], move[:, axis], len(places))
    return places
