"""A graph whose nodes have features and labels, with a split if one was asked for."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from herald_gpu.datasets.splits import Split, paper_split, random_split
from herald_gpu.errors import ConfigError, InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

SplitChoice = Literal["paper", "source"] | int | Split | None
"""The paper's split, the source's first, the seed of a random one, masks, or none."""
_PARTS = ("train", "validation", "test")


@dataclass(frozen=True, eq=False)
class LabelledGraph:
    """A graph for node classification.

    Attributes
    ----------
    name : str
        What it is called.
    edge_index : (2, E) int64 array
        Sources and targets as the source stores them; undirected edges are there both ways.
    features : (N, F) float32 array or SciPy CSR array
        Sparse where the source or its content is.
    labels : (N,) int64 array
        Classes from 0 to ``n_classes - 1``; -1 where unknown.
    n_classes : int
        Number of classes.
    train, validation, test : (N,) bool arrays, optional
        The split at hand.
    own_splits : tuple of Split
        Splits that come with the data, in the order of the source.
    source, licence : str
        Where the data come from, and their licence as stated there.

    Examples
    --------
    >>> import numpy
    >>> edges = numpy.array([[0, 1, 2], [1, 2, 3]])
    >>> graph = LabelledGraph("path", edges, numpy.eye(4, dtype="float32"), numpy.array([0, 0, 1, 1]), n_classes=2)
    >>> graph.n_nodes, graph.n_edges, graph.train is None, graph.with_split(7).test.sum().item()
    (4, 3, True, 1)
    """

    name: str
    edge_index: NDArray[np.int64]
    features: NDArray[np.float32] | csr_array
    labels: NDArray[np.int64]
    n_classes: int
    train: NDArray[np.bool_] | None = None
    validation: NDArray[np.bool_] | None = None
    test: NDArray[np.bool_] | None = None
    own_splits: tuple[Split, ...] = ()
    source: str = ""
    licence: str = ""

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.labels.shape[0])

    @property
    def n_edges(self) -> int:
        """Number of stored edges; an undirected edge counts twice."""
        return int(self.edge_index.shape[1])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.features.shape[1])

    def with_split(self, split: SplitChoice | tuple[Any, Any, Any]) -> LabelledGraph:
        """Give the same graph with another split; the arrays are shared.

        Parameters
        ----------
        split : "paper", "source", int, Split, tuple of three masks, or None
            The paper's split; the first that came with the data; the seed of a random split of the paper's
            proportions; masks for training, validation and test; or no split.

        Raises
        ------
        ConfigError
            If there is no such split.
        InputError
            If masks are not one bool a node, share nodes, or leave the training set empty.
        """
        chosen = self._chosen(split)
        if chosen is None:
            return dataclasses.replace(self, train=None, validation=None, test=None)
        self._check(chosen)
        return dataclasses.replace(self, train=chosen.train, validation=chosen.validation, test=chosen.test)

    def _chosen(self, split: object) -> Split | None:
        if split is None:
            return None
        if isinstance(split, str):
            if split == "paper":
                return paper_split(self.n_nodes)
            if split == "source" and self.own_splits:
                return self.own_splits[0]
            if split == "source":
                msg = f"split='source': no split comes with {self.name}, pass 'paper', a seed or masks"
                raise ConfigError(msg)
        elif isinstance(split, (int, np.integer)) and not isinstance(split, bool):
            return random_split(self.n_nodes, int(split))
        elif isinstance(split, tuple) and len(split) == len(_PARTS):
            return Split(*(np.asarray(mask) for mask in split))
        elif all(hasattr(split, part) for part in _PARTS):
            return Split(*(np.asarray(getattr(split, part)) for part in _PARTS))
        shown = repr(split) if isinstance(split, (str, int, float)) else f"<{type(split).__name__}>"
        msg = f"split={shown} is not valid: pass 'paper', 'source', a seed, three masks or None"
        raise ConfigError(msg)

    def _check(self, split: Split) -> None:
        for part in _PARTS:
            mask = getattr(split, part)
            if mask.dtype != np.bool_ or mask.shape != (self.n_nodes,):
                msg = f"split: {part} has dtype {mask.dtype} and shape {mask.shape}, pass {self.n_nodes} bools"
                raise InputError(msg)
        if not split.train.any():
            msg = "split: train marks no node, and at least one is needed: pass another mask"
            raise InputError(msg)
        shared = int(np.count_nonzero(split.train.astype(np.int8) + split.validation + split.test > 1))
        if shared:
            msg = f"split: {shared} nodes are in more than one of train, validation and test: pass disjoint masks"
            raise InputError(msg)
