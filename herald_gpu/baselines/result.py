"""What a baseline gives back, in plain host arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu.io.kinds import unproxy
from herald_gpu.io.read import read_kept
from herald_gpu.ratios import percent

if TYPE_CHECKING:
    import scipy.sparse

    from herald_gpu.graph import FeatureKind


@dataclass(frozen=True, eq=False)
class BaselineResult:
    """A graph condensed by a baseline, with its true storage.

    Attributes
    ----------
    name : str
        The method.
    node_ids : array
        The caller's ids of the nodes, ascending; empty where nodes are synthetic.
    features : float32 array or CSR matrix
        Kept columns.
    adjacency : CSR matrix of float32
        Symmetric; values are weights, all 1 unless the method makes weighted graphs.
    labels : array
        The caller's labels of training nodes; -1 is unknown (None where labels are not integers).
    train_mask : bool array
        Which nodes to train on.
    codes : int array
        Classes as positions in `class_values`; -1 is unknown.
    class_values : array
        The caller's value of each class.
    feature_ids, feature_positions : arrays
        Names and column numbers of the kept features.
    n_input_features : int
        Columns of the full feature matrix.
    normalised : bool
        Whether the adjacency is a propagation matrix already, self loops included: models must not normalise it again.
    storage_bytes, full_bytes, budget_bytes : int
        Nominal bytes of this graph, of the whole graph, and those allowed.
    encoding : str
        How its features are stored, such as "sparse int8".
    storage_kind : {"dense", "binary", "sparse"}
        How features of the whole graph are priced.
    requested_ratio : float
    seconds : float
        Time of choosing features and condensing; reading is not counted.
    backend : str
    random_state : int
    details : dict
        Figures of the method.
    warnings : tuple of str
    mean, deviation : arrays, optional
        What was taken off the kept columns and what they were divided by; None where they are as given.
    """

    name: str
    node_ids: np.ndarray
    features: np.ndarray | scipy.sparse.csr_matrix
    adjacency: scipy.sparse.csr_matrix
    labels: np.ndarray
    train_mask: np.ndarray
    codes: np.ndarray
    class_values: np.ndarray
    feature_ids: np.ndarray
    feature_positions: np.ndarray
    n_input_features: int
    normalised: bool
    storage_bytes: int
    full_bytes: int
    budget_bytes: int
    storage_kind: FeatureKind
    encoding: str
    requested_ratio: float
    seconds: float
    backend: str
    random_state: int
    details: dict[str, Any]
    warnings: tuple[str, ...]
    mean: np.ndarray | None = None
    deviation: np.ndarray | None = None

    @property
    def storage_ratio(self) -> float:
        """Share of the whole graph's storage."""
        return self.storage_bytes / self.full_bytes

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.features.shape[0])

    @property
    def n_edges(self) -> int:
        """Number of directed edges; a self loop is one."""
        return int(self.adjacency.nnz)

    @property
    def n_features(self) -> int:
        """Number of kept features."""
        return int(self.features.shape[1])

    @property
    def edge_index(self) -> np.ndarray:
        """(2, E) positions of the ends of every directed edge."""
        coo = self.adjacency.tocoo()
        return np.stack([coo.row, coo.col]).astype(np.int64)

    def transform(self, feats: Any) -> np.ndarray | scipy.sparse.csr_matrix:  # noqa: ANN401 - any feature matrix
        """Keep the same columns of other nodes, scaled if those of the result are.

        Parameters
        ----------
        feats : table, array, tensor or sparse matrix
            With the columns of the full feature matrix: by name in a table (others are ignored), else all of them in
            the original order.

        Returns
        -------
        float32 array, or CSR matrix if `feats` is sparse and nothing is scaled
        """
        kept = read_kept(
            unproxy(feats), names=self.feature_ids, positions=self.feature_positions, width=self.n_input_features
        )
        if self.mean is None or self.deviation is None:
            return kept.features
        dense = kept.features.toarray() if kept.sparse else kept.features
        return ((dense.astype(np.float64) - self.mean) / self.deviation).astype(np.float32)

    def __repr__(self) -> str:
        return (
            f"<BaselineResult {self.name}: {self.n_nodes} nodes, {self.n_edges} directed edges, {self.n_features} "
            f"features, {percent(self.storage_ratio)} of the storage>"
        )
