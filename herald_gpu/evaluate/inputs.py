"""What is trained on: a condensed graph of any method, or the full graph itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
import scipy.sparse

from herald_gpu.errors import InputError
from herald_gpu.io import matrices
from herald_gpu.io.fingerprint import fingerprint
from herald_gpu.result import CondensedGraph

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from herald_gpu.evaluate.full import Full


@runtime_checkable
class Trainable(Protocol):
    """A small graph to train on; :class:`herald_gpu.CondensedGraph` is one, and so may be any other method's.

    Attributes
    ----------
    features : (n, f) array or sparse matrix
    adjacency : (n, n) sparse matrix
        The weight of the edge from i to j at (i, j).
    labels : (n,) array
        Classes, named as in the full graph; read where `train_mask` is set only.
    train_mask : (n,) bool array
    normalised : bool, optional
        Whether `adjacency` is a propagation matrix already, self loops included; else models normalise it.
    storage_ratio : float, optional
        Reported beside the accuracies; may also stand in a `report`.
    """

    @property
    def features(self) -> Any:  # noqa: ANN401 - any matrix
        """Features, a row a node."""

    @property
    def adjacency(self) -> Any:  # noqa: ANN401 - any sparse matrix
        """Weights of edges."""

    @property
    def labels(self) -> Any:  # noqa: ANN401 - any vector
        """Classes."""

    @property
    def train_mask(self) -> Any:  # noqa: ANN401 - any vector
        """Which nodes to train on."""

    def transform(self, feats: Any, /) -> Any:  # noqa: ANN401 - any matrix
        """Bring features of the full graph to the columns of `features`."""


@dataclass(frozen=True, eq=False)
class Small:
    """The graph to train on, and the full graph's features in the same columns.

    Attributes
    ----------
    adjacency : (n, n) CSR array
    features : (n, f) float32 array or CSR array
    codes : (n,) int64 array
        Class numbers of training nodes, -1 for all others.
    full_features : (N, f) float32 array or CSR array
    storage_ratio : float
        NaN if the graph does not say.
    ready : bool
        The adjacency is a propagation matrix that models must not normalise again.
    """

    adjacency: csr_array
    features: np.ndarray | csr_array
    codes: np.ndarray
    full_features: np.ndarray | csr_array
    storage_ratio: float
    ready: bool = False


def whole(full: Full, *, scaled: bool = False) -> Small:
    """Take the full graph itself to train on.

    Parameters
    ----------
    full : Full
    scaled : bool
        Standard-scale its features over all nodes.
    """
    features = _features(full.features)
    if scaled:
        from sklearn.preprocessing import StandardScaler

        dense = features.toarray() if scipy.sparse.issparse(features) else features
        features = StandardScaler().fit_transform(dense.astype(np.float64)).astype(np.float32)
    return Small(full.adjacency, features, np.where(full.train, full.codes, -1), features, 1.0)


def read_small(result: Trainable, full: Full) -> Small:
    """Take what is needed of a condensed graph.

    Parameters
    ----------
    result : CondensedGraph or any other Trainable
    full : Full

    Raises
    ------
    InputError
        If nothing can be trained on, or if training nodes lie outside the full graph's training set.
    """
    if not isinstance(result, Trainable):
        msg = (
            f"result is a {type(result).__name__}: pass a CondensedGraph, another Trainable, or None for the full graph"
        )
        raise InputError(msg)
    plain: Trainable = result.as_type("numpy") if isinstance(result, CondensedGraph) else result
    train, labels = matrices.to_numpy(plain.train_mask).astype(bool), matrices.to_numpy(plain.labels)
    codes = np.full(len(train), -1, dtype=np.int64)
    codes[train] = pd.Index(full.classes).get_indexer(pd.Index(labels[train]))
    if not train.any() or (codes[train] < 0).any():
        seen = "no node is marked in train_mask" if not train.any() else "labels hold classes that the full graph lacks"
        msg = f"result cannot be trained on ({seen}): condense the graph that is passed here, with the same labels"
        raise InputError(msg)
    _check_leak(result, train, labels, full)
    report = getattr(result, "report", None)
    ratio = getattr(report if hasattr(report, "storage_ratio") else result, "storage_ratio", np.nan)
    return Small(
        scipy.sparse.csr_array(matrices.to_csr(plain.adjacency)),
        _features(plain.features),
        codes,
        _features(plain.transform(full.features)),
        float(ratio),
        ready=bool(getattr(result, "normalised", False)),
    )


def _features(given: Any) -> np.ndarray | csr_array:  # noqa: ANN401 - any matrix
    matrix = matrices.read_feature_matrix(given)
    return scipy.sparse.csr_array(matrix) if scipy.sparse.issparse(matrix) else matrix


def _check_leak(result: Any, train: np.ndarray, labels: np.ndarray, full: Full) -> None:  # noqa: ANN401
    """Refuse a graph that was condensed with another split, where its node ids are those of the full graph."""
    ids = getattr(result, "node_ids", None)
    if ids is None or len(matrices.to_numpy(ids)) != len(train):
        return
    real = train & ~matrices.to_numpy(getattr(result, "is_landmark", np.zeros(len(train), dtype=bool)))
    rows = pd.Index(full.node_ids).get_indexer(pd.Index(matrices.to_numpy(ids)[real]))
    if (rows < 0).any() or (full.labels[rows] != labels[real]).any():
        return  # ids of another graph would hardly carry the same labels
    learned = isinstance(result, CondensedGraph) and bool(result.report.n_landmarks)  # from all training nodes
    if learned and result.has_scores:
        scores = result.as_type("numpy").scores
        rows = pd.Index(full.node_ids).get_indexer(pd.Index(scores["node"][scores["rank"] > 0]))
    outside = int((~full.train[rows[rows >= 0]]).sum())
    if outside:
        msg = (
            f"result is trained on {outside} nodes outside the training set of this split, and accuracies would mean "
            "nothing: pass the split that the graph was condensed with"
        )
        raise InputError(msg)
    if learned and not result.has_scores:
        _check_mark(result, full)


def _check_mark(result: CondensedGraph, full: Full) -> None:
    """Refuse a graph whose landmarks learned from another training set; its file has a mark of the set only."""
    if result.training_mark != fingerprint(full.node_ids[full.train]):
        msg = (
            "result was condensed with another training set than that of this split, and accuracies would mean "
            "nothing: pass the split that the graph was condensed with (to test a graph whose training set is a part "
            "of this one, save it with its scores)"
        )
        raise InputError(msg)
