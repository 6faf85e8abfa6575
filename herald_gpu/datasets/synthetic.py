"""Synthetic graphs whose classes shape both the edges and the features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from herald_gpu.datasets import _attributes, _wiring
from herald_gpu.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class SyntheticGraph:
    """What :func:`make_graph` gives.

    Attributes
    ----------
    edge_index : (2, E) int64 array
        Both directions of every edge; no self loops, no duplicates.
    features : (N, F) float32 array or SciPy CSR array
    labels : (N,) int64 array
        The class of every node, training node or not.
    train : (N,) bool array
        The training nodes.
    """

    edge_index: NDArray[np.int64]
    features: NDArray[np.float32] | csr_array
    labels: NDArray[np.int64]
    train: NDArray[np.bool_]

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.labels.size

    @property
    def n_edges(self) -> int:
        """Number of directed edges: every undirected edge counts twice."""
        return self.edge_index.shape[1]

    @property
    def homophily(self) -> float:
        """Share of edges whose endpoints have the same class; NaN without edges."""
        if self.n_edges == 0:
            return math.nan
        same = 0
        for start in range(0, self.n_edges, _wiring.CHUNK):
            source, target = self.edge_index[:, start : start + _wiring.CHUNK]
            same += int(np.count_nonzero(self.labels[source] == self.labels[target]))
        return same / self.n_edges

    def to_frames(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Give the graph as two pandas frames, the form :func:`herald_gpu.condense` reads by column names.

        Returns
        -------
        edges : pandas.DataFrame
            Columns ``src`` and ``dst``.
        nodes : pandas.DataFrame
            Columns ``node``, ``label``, ``train`` and the features ``f0``, ``f1``, ...; sparse features
            become sparse columns.

        Examples
        --------
        >>> edges, nodes = make_graph(100, n_features=3).to_frames()
        >>> list(edges), list(nodes)
        (['src', 'dst'], ['node', 'label', 'train', 'f0', 'f1', 'f2'])
        """
        import pandas as pd

        edges = pd.DataFrame({"src": self.edge_index[0], "dst": self.edge_index[1]})
        names = [f"f{i}" for i in range(self.features.shape[1])]
        if isinstance(self.features, np.ndarray):
            columns = pd.DataFrame(self.features, columns=names)
        else:
            # pandas 3 takes what a float matrix does not store for missing, not for zero.
            gaps = pd.DataFrame.sparse.from_spmatrix(self.features, columns=names)  # type: ignore[attr-defined]
            columns = gaps.fillna(0)
        head = pd.DataFrame({"node": np.arange(self.n_nodes), "label": self.labels, "train": self.train})
        return edges, pd.concat([head, columns], axis=1)


def make_graph(
    n_nodes: int = 2000,
    *,
    n_classes: int = 5,
    n_features: int = 300,
    homophily: float = 0.3,
    mean_degree: float = 10.0,
    power_law: float | None = None,
    isolated_share: float = 0.0,
    class_imbalance: float = 0.0,
    train_share: float = 0.56,
    features: Literal["dense", "bag_of_words"] = "dense",
    mean_words: float = 20.0,
    signal: float = 2.0,
    informative_share: float = 0.5,
    seed: int = 0,
) -> SyntheticGraph:
    """Draw a simple undirected graph with classes, features and a training set.

    Labels, training set, edges and features come from separate streams of one seed: changing, say, the kind
    of features leaves the edges as they are. Edges are drawn in chunks, so that little more memory is needed
    than the result takes.

    Parameters
    ----------
    n_nodes, n_classes, n_features : int
        Sizes; at least two nodes a class.
    homophily : float
        Share of edges inside a class, met to within one edge.
    mean_degree : float
        Mean number of neighbours over all nodes, isolated ones included.
    power_law : float, optional
        Exponent (> 2) of a heavy-tailed degree distribution; by default degrees are nearly Poisson.
    isolated_share : float
        Share of nodes that have no edge.
    class_imbalance : float
        0 for classes of equal size; 0.3 makes each class 30 % smaller than the one before it.
    train_share : float
        Share of each class in the training set; at least one node of each.
    features : {"dense", "bag_of_words"}
        Gaussian float32 array, or binary SciPy CSR with Zipf-like word frequencies.
    mean_words : float
        Mean number of distinct words a node has; read for ``"bag_of_words"`` only.
    signal : float
        How much features tell of the class. Dense: distance of a class mean from the origin in standard
        deviations of the noise. Bag of words: how far classes differ in word frequencies, on a scale that
        makes classes about as hard to tell apart as dense features with the same number do.
    informative_share : float
        Share of features that tell anything of the class.
    seed : int
        Seed of all draws.

    Raises
    ------
    ConfigError
        If an option is out of its range, or so many edges do not fit.

    Examples
    --------
    >>> from herald_gpu.datasets import make_graph
    >>> graph = make_graph(500, homophily=0.2, mean_degree=8, n_features=16)
    >>> graph.edge_index.shape, graph.features.shape, graph.homophily
    ((2, 4000), (500, 16), 0.2)
    """
    _check_sizes(n_nodes, n_classes, n_features, seed)
    _check_number("homophily", homophily, 0, 1)
    _check_number("mean_degree", mean_degree, 0, n_nodes, "[)")
    _check_number("isolated_share", isolated_share, 0, 1, "[)")
    _check_number("class_imbalance", class_imbalance, 0, 1, "[)")
    _check_number("train_share", train_share, 0, 1, "(]")
    _check_number("signal", signal, 0, math.inf, "[)")
    _check_number("informative_share", informative_share, 0, 1)
    if power_law is not None:
        _check_number("power_law", power_law, 2, math.inf, "()")
    if features == "bag_of_words":
        _check_number("mean_words", mean_words, 0, n_features / 2, "(]")
    elif features != "dense":
        msg = f"features={features!r} is not valid: pass 'dense' or 'bag_of_words'"
        raise ConfigError(msg)

    for_labels, for_training, for_edges, for_features = np.random.default_rng(seed).spawn(4)
    labels = _attributes.draw_labels(for_labels, n_nodes, n_classes, class_imbalance)
    train = _attributes.draw_training(for_training, labels, n_classes, train_share)
    n_connected = n_nodes - round(isolated_share * n_nodes)
    connected = np.sort(for_edges.permutation(n_nodes)[:n_connected])
    weights = _wiring.degree_weights(for_edges, n_connected, power_law, mean_degree)
    ends = _wiring.Endpoints.of(connected, labels[connected], weights, n_classes)
    edge_index = _wiring.draw_edges(for_edges, ends, n_nodes=n_nodes, homophily=homophily, mean_degree=mean_degree)
    law = _attributes.FeatureLaw(n_classes, n_features, signal, informative_share)
    x: NDArray[np.float32] | csr_array
    if features == "dense":
        x = _attributes.dense_features(for_features, labels, law)
    else:
        x = _attributes.word_features(for_features, labels, law, mean_words)
    return SyntheticGraph(edge_index, x, labels, train)


def _check_sizes(n_nodes: int, n_classes: int, n_features: int, seed: int) -> None:
    bounds = {"n_classes": (n_classes, 2), "n_features": (n_features, 1), "seed": (seed, 0)}
    for name, (value, low) in bounds.items():
        _check_int(name, value, low, f"an integer >= {low}")
    _check_int("n_nodes", n_nodes, 2 * n_classes, f"an integer >= {2 * n_classes}, two for each class")


def _check_int(name: str, value: object, low: int, wanted: str) -> None:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < low:
        msg = f"{name}={value!r} is not valid: pass {wanted}"
        raise ConfigError(msg)


def _check_number(name: str, value: object, low: float, high: float, ends: str = "[]") -> None:
    good = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    good = good and (low <= value if ends[0] == "[" else low < value)  # type: ignore[operator]
    good = good and (value <= high if ends[1] == "]" else value < high)  # type: ignore[operator]
    if not good:
        msg = f"{name}={value!r} is not valid: pass a number in {ends[0]}{low}, {high}{ends[1]}"
        raise ConfigError(msg)
