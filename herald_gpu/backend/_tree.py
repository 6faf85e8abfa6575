"""The exact decision tree, grown on the host for any backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Matrix


def exact_tree_features(x: Matrix, codes: Array, *, max_depth: int, seed: int) -> Array:
    """Ascending features that scikit-learn's exact tree splits on.

    Parameters
    ----------
    x : (N, F) NumPy array or SciPy CSR matrix
    codes : (N,) NumPy array
        Classes.
    max_depth, seed : int

    Examples
    --------
    >>> import numpy as np
    >>> exact_tree_features(np.array([[0, 5], [1, 5]]), np.array([0, 1]), max_depth=2, seed=0)
    array([0])
    """
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_depth=max_depth, random_state=seed).fit(x, codes).tree_
    return np.unique(tree.feature[tree.feature >= 0]).astype(np.int64)
