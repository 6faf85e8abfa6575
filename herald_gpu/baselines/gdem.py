"""GDEM: graph distillation with eigenbasis matching (Liu, Bo and Shi, ICML 2024)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

from herald_gpu.baselines.eigenbasis import Wanted, class_features, match
from herald_gpu.baselines.options import require, require_int, require_number
from herald_gpu.baselines.selection import Selection, infeasible
from herald_gpu.baselines.shares import apportion
from herald_gpu.baselines.spectrum import Spectrum, ends_of_spectrum
from herald_gpu.budget import FLOAT_BYTES
from herald_gpu.encoding import OF_KIND, Encoding, stored
from herald_gpu.io.kinds import library

if TYPE_CHECKING:
    from herald_gpu.backend import Backend
    from herald_gpu.baselines.eigenbasis import Rows
    from herald_gpu.budget import Budget
    from herald_gpu.graph import Graph


FLOATS = OF_KIND["dense"]


@dataclass(frozen=True, kw_only=True)
class GdemOptions:
    """Options of GDEM; the defaults are its public settings for a small citation graph.

    Attributes
    ----------
    eigenvectors : int, optional
        K, the number of eigenvectors to match; by default as many as there are synthetic nodes, which is also the most.
    low_share : float
        Share of them from the low end of the spectrum, the rest from the high end.
    epochs : int
        Steps of training, of the eigenbasis or of the features.
    basis_steps, feature_steps : int
        The two take turns: so many steps of the one, then so many of the other.
    alpha, beta, gamma : float
        Weights of eigenbasis matching, discrimination and orthogonality.
    basis_rate, feature_rate : float
        Learning rates of Adam.
    init_epochs, init_rate : int, float
        Steps and learning rate that pull random features towards their class through a multilayer perceptron.
    device : str
        Where torch trains.
    """

    eigenvectors: int | None = None
    low_share: float = 0.95
    epochs: int = 500
    basis_steps: int = 5
    feature_steps: int = 1
    alpha: float = 1.0
    beta: float = 1e-5
    gamma: float = 1.0
    basis_rate: float = 0.01
    feature_rate: float = 1e-4
    init_epochs: int = 200
    init_rate: float = 0.005
    device: str = "cpu"

    def __post_init__(self) -> None:
        if self.eigenvectors is not None:
            require_int("eigenvectors", self.eigenvectors, 1)
        require_number("low_share", self.low_share, 0, 1)
        for name in ("epochs", "feature_steps", "init_epochs"):
            require_int(name, getattr(self, name), 0)
        require_int("basis_steps", self.basis_steps, 1)
        for name in ("alpha", "beta", "gamma"):
            require_number(name, getattr(self, name), 0)
        for name in ("basis_rate", "feature_rate", "init_rate"):
            require_number(name, getattr(self, name), 0, low_open=True)
        require("device", self.device, isinstance(self.device, str), "the name of a torch device")


def select(backend: Backend, graph: Graph, budget: Budget, *, seed: int, options: GdemOptions) -> Selection:
    """Learn an eigenbasis and features for a small dense weighted graph that copies the spectrum of the large one."""
    library("torch", "eval")
    host = backend.to_host
    labels, train, x = host(graph.labels), host(graph.train), host(graph.features)
    sizes = np.bincount(labels[train], minlength=graph.n_classes)
    coded = FLOATS if budget.encoding is None else Encoding("dense", budget.encoding.values)
    n = _count(graph, budget, int(sizes.sum()), coded)
    codes = np.repeat(np.arange(graph.n_classes), apportion(sizes, n)).astype(np.int32)
    k = n if options.eigenvectors is None else min(n, options.eigenvectors)
    spectrum = ends_of_spectrum(host(graph.adjacency), k, low_share=options.low_share, seed=seed)
    wanted = targets(spectrum, x, labels, train, graph.n_classes)
    rng = np.random.default_rng(seed)
    basis = block_model_basis(codes, len(spectrum.values), rng)
    start = class_features(x[np.flatnonzero(train)], labels[train], codes, rng, options)
    basis, features, losses = match(basis, start, codes, wanted, options)
    weights = ((basis * (1.0 - wanted.values)) @ basis.T).astype(np.float32)
    every = (np.repeat(np.arange(n), n), np.tile(np.arange(n), n))
    adjacency = scipy.sparse.coo_matrix((weights.ravel(), every), shape=(n, n)).tocsr()
    details = {"eigenvalues": wanted.values.tolist(), "component": len(spectrum.nodes), **losses}
    return Selection(
        nodes=None,
        adjacency=backend.asarray(adjacency),
        features=stored(backend, backend.asarray(features.astype(np.float32)), coded)[0],
        labels=backend.asarray(codes),
        train=backend.asarray(np.ones(n, dtype=bool)),
        storage_bytes=dense_bytes(n, graph.n_features, coded),
        encoding=coded.name,
        normalised=True,
        details=details,
    )


def dense_bytes(n: int, d: int, coded: Encoding = FLOATS) -> int:
    """Bytes of a dense weighted graph, as BONSAI charges it: 4 n^2 + 4 n d, with float32 features.

    Examples
    --------
    >>> dense_bytes(10, 7), dense_bytes(10, 7, Encoding("dense", "int8"))
    (680, 498)
    """
    return FLOAT_BYTES * n * n + n * int(coded.bytes_of_rows(d, d)) + coded.table_bytes(d)


def largest_size(limit: float, d: int, coded: Encoding = FLOATS) -> int:
    """The most nodes of a dense weighted graph with d features that fit.

    Examples
    --------
    >>> largest_size(4 * 10 * 10 + 4 * 10 * 7, 7), largest_size(4 * 10 * 10 + 4 * 10 * 7 - 1, 7)
    (10, 9)
    """
    row, left = int(coded.bytes_of_rows(d, d)), int(limit) - coded.table_bytes(d)
    return 0 if left < 0 else (math.isqrt(row * row + 4 * FLOAT_BYTES * left) - row) // (2 * FLOAT_BYTES)


def _count(graph: Graph, budget: Budget, n_train: int, coded: Encoding) -> int:
    n = min(n_train, largest_size(budget.limit, graph.n_features, coded))
    if n < graph.n_classes:
        what = f"a dense weighted graph of {graph.n_classes} nodes, one a class, with {graph.n_features} float features"
        raise infeasible(budget, dense_bytes(graph.n_classes, graph.n_features, coded), what)
    return n


def targets(spectrum: Spectrum, x: Rows, labels: np.ndarray, train: np.ndarray, n_classes: int) -> Wanted:
    """Project the features of the component, and filter the means of its training classes.

    A class without a training node in the component is represented by the mean of its plain training rows.
    """
    inside, values = x[spectrum.nodes], spectrum.values
    projected = np.asarray((inside.T @ spectrum.vectors).T, dtype=np.float64)
    known = train[spectrum.nodes]
    classes = np.zeros((n_classes, x.shape[1]))
    for code in range(n_classes):
        here = known & (labels[spectrum.nodes] == code)
        if here.any():
            classes[code] = (spectrum.vectors[here].mean(axis=0) * (1.0 - values)) @ projected
        else:
            classes[code] = np.asarray(x[np.flatnonzero(train & (labels == code))].mean(axis=0)).ravel()
    return Wanted(values, _unit(projected), _unit(classes))


def block_model_basis(codes: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """First k eigenvectors of the Laplacian of a random graph with the classes for blocks, orthonormal columns.

    Nodes of one class are joined with probability 1 / C, others with a third of that.
    """
    n, n_classes = len(codes), int(codes.max()) + 1
    chance = np.where(codes[:, None] == codes[None, :], 1.0, 1.0 / 3.0) / n_classes
    upper = np.triu(rng.random((n, n)) < chance, k=1)
    a = (upper | upper.T) + np.eye(n)
    root = 1.0 / np.sqrt(a.sum(axis=1))
    return np.linalg.eigh(np.eye(n) - root[:, None] * a * root)[1][:, :k]


def _unit(rows: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1.0)
