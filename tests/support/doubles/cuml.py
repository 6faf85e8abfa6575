"""Doubles of cuML estimators."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse
from sklearn.exceptions import NotFittedError

from support.doubles._arrays import DISORDER, as_output, estimator_input

FLOAT32_ERROR = 1e-7
"""The expanded formula in float32 is off by about this much, and not in the same way twice."""


def _check_fitted(estimator, part):
    if not hasattr(estimator, part):
        msg = f"This {type(estimator).__name__} instance is not fitted yet."
        raise NotFittedError(msg)


class NearestNeighbors:
    def __init__(
        self,
        *,
        n_neighbors=5,
        radius=1.0,
        algorithm="auto",
        metric="euclidean",
        p=2,
        algo_params=None,
        metric_params=None,
        n_jobs=None,
        verbose=False,
        output_type=None,
    ):
        self.n_neighbors, self.radius, self.algorithm, self.metric, self.p = n_neighbors, radius, algorithm, metric, p
        self.algo_params, self.metric_params, self.n_jobs = algo_params, metric_params, n_jobs
        self.verbose, self.output_type = verbose, output_type

    def fit(self, X, y=None):  # noqa: ARG002 - the real one ignores it too
        self._fit_X = estimator_input(X, ("float32",), order="C", sparse=True)
        if self.algorithm not in {"auto", "brute", "ivfflat", "ivfpq", "rbc"}:
            msg = f"algorithm={self.algorithm!r} is not supported"
            raise ValueError(msg)
        if self.algorithm != "brute" or self.metric != "cosine":
            msg = f"algorithm={self.algorithm!r} with metric={self.metric!r} is not modelled"
            raise NotImplementedError(msg)
        self.n_samples_fit_, self.n_features_in_ = self._fit_X.shape
        return self

    def kneighbors(self, X=None, n_neighbors=None, return_distance=True, *, two_pass_precision=False):
        _check_fitted(self, "_fit_X")
        if two_pass_precision:
            msg = "two_pass_precision is not modelled"
            raise NotImplementedError(msg)
        count = self.n_neighbors if n_neighbors is None else n_neighbors
        sparse = scipy.sparse.issparse(self._fit_X)
        if X is None:
            queries, count = self._fit_X, count + 1
        else:
            queries = estimator_input(X, ("float32",), order="C", sparse=True)
            if scipy.sparse.issparse(queries) != sparse:
                msg = "A NearestNeighbors model trained on sparse data requires sparse input, on dense data dense input"
                raise ValueError(msg)
            if queries.shape[1] != self.n_features_in_:
                msg = f"X has {queries.shape[1]} features, but NearestNeighbors is expecting {self.n_features_in_}"
                raise ValueError(msg)
        if count <= 0:
            msg = "k or n_neighbors must be a positive integers"
            raise ValueError(msg)
        if count > self.n_samples_fit_:
            msg = "n_neighbors must be <= number of samples in index"
            raise ValueError(msg)
        distances, indices = self._search(queries, count)
        if X is None:
            distances, indices = _drop_self(distances, indices)
        indices = as_output(indices.astype(np.int32 if sparse and X is not None else np.int64), self.output_type)
        return (as_output(distances, self.output_type), indices) if return_distance else indices

    def _search(self, queries, count):
        distances = np.empty((queries.shape[0], count), dtype=np.float32)
        indices = np.empty((queries.shape[0], count), dtype=np.int64)
        for low in range(0, queries.shape[0], 512):
            block = _cosine_distances(queries[low : low + 512], self._fit_X)
            rough = block + DISORDER.uniform(-FLOAT32_ERROR, FLOAT32_ERROR, block.shape).astype(np.float32)
            order = np.argsort(rough, axis=1)[:, :count]  # NaN last, in no order: a zero row is nowhere near
            distances[low : low + 512] = np.take_along_axis(rough, order, axis=1)
            indices[low : low + 512] = order
        return distances, indices


def _cosine_distances(queries, points):
    """One minus the cosine, expanded, in float32; 0 / 0 for zero rows."""
    product = queries @ points.T
    product = product.toarray() if scipy.sparse.issparse(product) else product
    squares = [rows.multiply(rows) if scipy.sparse.issparse(rows) else rows * rows for rows in (queries, points)]
    lengths = [np.sqrt(np.asarray(part.sum(axis=1)).ravel(), dtype=np.float32) for part in squares]
    with np.errstate(divide="ignore", invalid="ignore"):
        return (1 - product / (lengths[0][:, None] * lengths[1][None, :])).astype(np.float32)


def _drop_self(distances, indices):
    """Drop the first column; the row itself is looked for only if some second distance is exactly zero."""
    if (distances[:, 1] == 0).any():
        for row in range(len(indices)):
            place = np.flatnonzero(indices[row] == row)
            if len(place):
                for table in (distances, indices):
                    table[row, [0, place[0]]] = table[row, [place[0], 0]]
    return distances[:, 1:], indices[:, 1:]


class RandomForestClassifier:
    def __init__(
        self,
        *,
        n_estimators=100,
        split_criterion="gini",
        bootstrap=True,
        max_samples=1.0,
        max_depth=None,
        max_leaves=-1,
        max_features="sqrt",
        n_bins=128,
        min_samples_leaf=1,
        min_samples_split=2,
        min_impurity_decrease=0.0,
        max_batch_size=4096,
        random_state=None,
        n_streams=4,
        oob_score=False,
        class_weight=None,
        verbose=False,
        output_type=None,
    ):
        self.options = {
            "n_estimators": n_estimators,
            "criterion": split_criterion,
            "bootstrap": bootstrap,
            "max_depth": max_depth,
            "max_features": max_features,
            "min_samples_leaf": min_samples_leaf,
            "min_samples_split": min_samples_split,
            "min_impurity_decrease": min_impurity_decrease,
            "random_state": random_state,
        }
        self.n_bins, self.n_streams = n_bins, n_streams
        unmodelled = (max_samples != 1.0, max_leaves != -1, max_batch_size != 4096, oob_score, class_weight)
        if any(unmodelled):
            msg = "max_samples, max_leaves, max_batch_size, oob_score and class_weight are not modelled"
            raise NotImplementedError(msg)
        self.verbose, self.output_type = verbose, output_type

    def fit(self, X, y, sample_weight=None):
        from sklearn.ensemble import RandomForestClassifier as Forest

        if sample_weight is not None:
            msg = "sample_weight is not modelled"
            raise NotImplementedError(msg)
        depth = self.options["max_depth"]
        if depth is not None and (not isinstance(depth, int) or depth <= 0):
            msg = f"max_depth must be a positive integer or None (unlimited); got {depth!r}"
            raise ValueError(msg)
        if not isinstance(self.n_streams, int) or isinstance(self.n_streams, bool):
            msg = f"n_streams must be a positive integer; got {self.n_streams!r}"
            raise TypeError(msg)
        rows = estimator_input(X, ("float32", "float64"), order="C")
        codes = estimator_input(y[:, None], ("int32",), order="C")[:, 0]
        if self.n_bins > len(rows):
            warnings.warn("The number of bins, `n_bins` is greater than the number of samples", stacklevel=2)
        if len(codes) != len(rows):
            msg = f"Found input variables with inconsistent numbers of samples: {[len(rows), len(codes)]}"
            raise ValueError(msg)
        self._forest = Forest(**self.options).fit(_binned(rows, min(self.n_bins, len(rows))), codes)
        return self

    def as_treelite(self):
        import treelite

        _check_fitted(self, "_forest")
        return treelite.sklearn.import_model(self._forest)


def _binned(rows, n_bins):
    """Histogram splits: a column with more distinct values than bins is seen through its quantiles."""
    binned = rows.copy()
    for column in binned.T:
        if len(np.unique(column)) > n_bins:
            edges = np.quantile(column, np.linspace(0, 1, n_bins + 1)[1:])
            column[:] = edges[np.minimum(np.searchsorted(edges, column), n_bins - 1)]
    return binned


class PCA:
    def __init__(
        self,
        *,
        copy=True,
        iterated_power=15,
        n_components=None,
        svd_solver="auto",
        tol=1e-07,
        verbose=False,
        whiten=False,
        output_type=None,
    ):
        self.copy, self.iterated_power, self.n_components = copy, iterated_power, n_components
        self.svd_solver, self.tol, self.verbose, self.whiten = svd_solver, tol, verbose, whiten
        self.output_type = output_type

    def fit(self, X, y=None):  # noqa: ARG002 - the real one ignores it too
        rows = estimator_input(X, ("float32", "float64"), order="F", sparse=True, min_samples=2, min_features=2)
        if scipy.sparse.issparse(rows):
            msg = "PCA of sparse data is not modelled"
            raise NotImplementedError(msg)
        if self.svd_solver not in {"auto", "full", "jacobi"}:
            msg = f"Expected `svd_solver` to be one of ['auto', 'full', 'jacobi'], got {self.svd_solver!r}"
            raise ValueError(msg)
        if self.n_components is not None and self.n_components > rows.shape[1]:
            msg = f"`n_components` ({self.n_components}) must be <= than the number of features in X ({rows.shape[1]})"
            raise ValueError(msg)
        count = min(rows.shape) if self.n_components is None else self.n_components
        mean = rows.mean(axis=0)
        values, vectors = np.linalg.eigh((rows - mean).T @ (rows - mean) / (len(rows) - 1))
        flips = DISORDER.choice([-1.0, 1.0], count).astype(
            rows.dtype
        )  # which way a component points is nobody's choice
        components = np.asfortranarray(vectors[:, ::-1].T[:count] * flips[:, None], dtype=rows.dtype)
        self.components_ = as_output(components, self.output_type)
        self.explained_variance_ = as_output(values[::-1][:count].astype(rows.dtype), self.output_type)
        self.mean_ = as_output(mean, self.output_type)
        return self
