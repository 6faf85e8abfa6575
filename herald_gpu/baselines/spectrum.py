"""The part of a graph's spectrum that GDEM copies, on the host."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.csgraph
import scipy.sparse.linalg

DENSE_NODES = 512
"""Up to this many nodes the whole spectrum is computed; it is quicker than iterating, and surer."""
DENSE_SHARE = 4
"""So it is where more than one eigenvector in this many is wanted."""


@dataclass(frozen=True)
class Spectrum:
    """Ends of the spectrum of the normalised Laplacian of the largest component.

    Attributes
    ----------
    nodes : int array
        The component, ascending.
    values : (K,) float64 array
        Eigenvalues: the smallest ones, ascending, then the largest ones, ascending.
    vectors : (n, K) float64 array
        Their eigenvectors, of length 1.
    """

    nodes: np.ndarray
    values: np.ndarray
    vectors: np.ndarray


def ends_of_spectrum(adjacency: scipy.sparse.csr_matrix, count: int, *, low_share: float, seed: int) -> Spectrum:
    """Take the ends of the spectrum of I - D~^-1/2 (A + I) D~^-1/2 on the largest component.

    Parameters
    ----------
    adjacency : CSR matrix
        Symmetric, without self loops.
    count : int
        Eigenvectors wanted; fewer where the component is smaller.
    low_share : float
        Share of them, rounded up, from the low end.
    seed : int
        Of the vector that the iteration starts with.
    """
    _, component = scipy.sparse.csgraph.connected_components(adjacency, directed=False)
    nodes = np.flatnonzero(component == np.bincount(component).argmax())
    part = adjacency[nodes][:, nodes].astype(np.float64)
    n = len(nodes)
    root = 1.0 / np.sqrt(np.asarray(part.sum(axis=1)).ravel() + 1.0)
    step = scipy.sparse.diags_array(root) @ (part + scipy.sparse.eye_array(n)) @ scipy.sparse.diags_array(root)
    count = min(count, n)
    low = min(count, math.ceil(low_share * count))
    high = count - low
    if n <= DENSE_NODES or DENSE_SHARE * count > n:
        values, vectors = scipy.linalg.eigh(np.eye(n) - step.toarray())
        chosen = np.r_[0:low, n - high : n]
        return Spectrum(nodes, values[chosen], vectors[:, chosen])
    start = np.random.default_rng(seed).random(n)
    parts = []
    # The low end of the Laplacian is the high end of the propagation matrix.
    ends: tuple[tuple[int, Literal["LA", "SA"]], ...] = ((low, "LA"), (high, "SA"))
    for wanted, end in ends:
        if wanted:
            values, vectors = scipy.sparse.linalg.eigsh(step, k=wanted, which=end, v0=start)
            order = np.argsort(-values, kind="stable")
            parts.append((1.0 - values[order], vectors[:, order]))
    return Spectrum(nodes, np.concatenate([v for v, _ in parts]), np.concatenate([u for _, u in parts], axis=1))
