"""Condensation as a scikit-learn estimator: `fit`, `transform`, pipelines and parameter searches."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse  # noqa: TC002 - as below
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from herald_gpu.api import condense
from herald_gpu.backend import Backend, BackendName  # noqa: TC001 - typing.get_type_hints looks names up here
from herald_gpu.config import HeraldConfig, Scale  # noqa: TC001 - as above
from herald_gpu.errors import ConfigError


class HeraldCondenser(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Condense a graph whose nodes are the rows of `X`; `transform` gives the kept features of any nodes.

    Parameters
    ----------
    ratio : float
        The condensed graph takes at most this share of the graph's storage, in (0, 1].
    unlabelled : object
        The value of `y` that means unknown.
    scale : {"auto", "none", "standard", "robust"}
        How features are scaled, as in :func:`herald_gpu.condense`.
    config : HeraldConfig, optional
        Constants of the method; by default the default preset.
    backend : {"auto", "cpu", "rapids"} or Backend
        Where to run.
    random_state : int
        Seed of whatever is drawn at random.
    verbose : bool
        Show a progress bar.

    Attributes
    ----------
    condensed_ : CondensedGraph
        The condensed graph, to train on.
    feature_indices_ : int array
        Columns of `X` that were kept, ascending.
    n_features_in_ : int
    feature_names_in_ : array of str
        If the columns of `X` have names.

    Notes
    -----
    A search must not take rows away, since edges name rows: pass all of them as the one fold,
    ``GridSearchCV(..., cv=[(rows, rows)])`` with ``rows = np.arange(len(X))``. See :meth:`score`.

    Examples
    --------
    >>> from herald_gpu.datasets import make_graph
    >>> g = make_graph(400, n_classes=3, n_features=32, seed=1)
    >>> condenser = HeraldCondenser(ratio=0.1).fit(g.features, g.labels, edges=g.edge_index, train=g.train)
    >>> condenser.condensed_.report.storage_ratio <= 0.1
    True
    >>> condenser.transform(g.features).shape == (400, len(condenser.feature_indices_))
    True
    """

    def __init__(
        self,
        ratio: float = 0.01,
        *,
        unlabelled: Any = -1,  # noqa: ANN401 - a label
        scale: Scale = "auto",
        config: HeraldConfig | None = None,
        backend: BackendName | Backend = "auto",
        random_state: int = 0,
        verbose: bool = False,
    ) -> None:
        self.ratio = ratio
        self.unlabelled = unlabelled
        self.scale = scale
        self.config = config
        self.backend = backend
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, edges: Any, train: Any = None) -> HeraldCondenser:  # noqa: ANN401 - arrays
        """Condense the graph.

        Parameters
        ----------
        X : (n, d) array, table or sparse matrix
            Features, one row per node.
        y : (n,) array
            Labels; `unlabelled` is unknown.
        edges : (2, E) array, table with columns `src` and `dst`, or (n, n) sparse matrix
            Entries are row numbers of `X`; as :func:`herald_gpu.condense` takes them.
        train : boolean mask or row numbers, optional
            The training nodes; by default all that are labelled.

        Returns
        -------
        HeraldCondenser
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float32)
        self.condensed_ = condense(
            edges,
            X,
            y,
            train,
            ratio=self.ratio,
            unlabelled=self.unlabelled,
            scale=self.scale,
            config=self.config,
            backend=self.backend,
            output_type="numpy",
            random_state=self.random_state,
            verbose=self.verbose,
        )
        self.feature_indices_ = self.condensed_.feature_ids
        return self

    def transform(self, X: Any) -> np.ndarray | scipy.sparse.csr_matrix:  # noqa: ANN401 - any matrix
        """Return the kept features of nodes, those of the graph or others, prepared as in the condensed graph.

        Parameters
        ----------
        X : (n, d) array, table or sparse matrix

        Returns
        -------
        (n, k) float32 array or CSR matrix
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float32)
        return self.condensed_.transform(X)

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ANN401, ARG002 - the signature of scikit-learn
        """Return the trial's score of the condensed graph, by which parameter searches rank.

        It is the weighted share of held-out training nodes that were classified rightly, so that only training labels
        count: `X` must have the columns of the graph, but its values are not used, and `y` is not read.
        """
        check_is_fitted(self)
        validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float32)
        found = self.condensed_.report.trial_score
        if found is None:
            msg = "score: this config makes no trials, or had one candidate only: pass scoring= to the search"
            raise ConfigError(msg)
        return found

    def get_support(self, *, indices: bool = False) -> np.ndarray:
        """Return which columns of `X` were kept, as a boolean mask or as column numbers."""
        check_is_fitted(self)
        if indices:
            return self.feature_indices_.copy()
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.feature_indices_] = True
        return mask

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:  # noqa: ANN401 - names
        """Return the names of the columns that `transform` gives: of kept features, or `pc0`, ... after PCA."""
        check_is_fitted(self)
        names = OneToOneFeatureMixin.get_feature_names_out(self, input_features)  # of the columns that went in
        components = self.condensed_.report.component_count
        if components is None:
            return names[self.feature_indices_]
        return np.array([f"pc{place}" for place in range(components)], dtype=object)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - scikit-learn's Tags
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
