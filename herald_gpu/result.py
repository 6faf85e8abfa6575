"""The condensed graph as the caller sees it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from herald_gpu.errors import FileFormatError, InputError
from herald_gpu.io import frames, matrices, networks, persist, present, torch
from herald_gpu.io.kinds import FRAME_KINDS, kind_of, unproxy
from herald_gpu.io.read import Columns, Style
from herald_gpu.summary import Report

if TYPE_CHECKING:
    import os

    import networkx as nx  # noqa: TID251 - the name of a type
    from torch_geometric.data import Data  # noqa: TID251 - the name of a type

    from herald_gpu.io.present import OutputType

PLAIN_MEMBERS = (
    *("node_ids", "feature_ids", "class_values", "feature_positions"),
    *("codes", "train_mask", "is_root", "is_landmark"),
)
"""Fields of :class:`Contents` that are saved as they are."""


@dataclass(frozen=True)
class Contents:
    """The condensed graph in plain host arrays, and how the caller speaks.

    Attributes
    ----------
    node_ids, feature_ids, class_values : arrays
        The caller's ids of kept nodes, kept features and classes.
    feature_positions : int array
        Column numbers of kept features.
    n_input_features : int
        Columns of the full feature matrix.
    adjacency : CSR matrix
    features : float32 array or CSR matrix
    codes : int array
        Classes of training nodes; -1 for all others.
    train_mask, is_root, is_landmark : bool arrays
    scores : dict of arrays
        Raw component values, score and rank of all nodes of the full graph (`node` holds their ids).
    scaling, reduction : tuple of arrays, optional
        (mean, deviation) of the kept features; (mean, components) of PCA.
    columns : Columns
    style : Style
    unlabelled : object
    """

    node_ids: np.ndarray
    feature_ids: np.ndarray
    class_values: np.ndarray
    feature_positions: np.ndarray
    n_input_features: int
    adjacency: scipy.sparse.csr_matrix
    features: np.ndarray | scipy.sparse.csr_matrix
    codes: np.ndarray
    train_mask: np.ndarray
    is_root: np.ndarray
    is_landmark: np.ndarray
    scores: dict[str, np.ndarray]
    scaling: tuple[np.ndarray, np.ndarray] | None
    reduction: tuple[np.ndarray, np.ndarray] | None
    columns: Columns
    style: Style
    unlabelled: Any


class CondensedGraph:
    """A small graph that stands for a large one.

    Rows of `features`, `labels`, `train_mask`, `node_ids`, `is_root` and `is_landmark`, and the positions in
    `edge_index` and `adjacency`, all refer to the same nodes in the same order: ascending node id. Results come
    in the types that went in, unless `output_type` said otherwise.

    Examples
    --------
    >>> import herald_gpu
    >>> from herald_gpu.datasets.synthetic import make_graph
    >>> g = make_graph(400, n_classes=3, n_features=32, seed=1)
    >>> small = herald_gpu.condense(g.edge_index, g.features, g.labels, g.train, ratio=0.1)
    >>> small.report.storage_ratio <= 0.1
    True
    >>> small.transform(g.features).shape[1] == small.features.shape[1]
    True
    """

    def __init__(self, contents: Contents, report: Report) -> None:
        self._contents = contents
        self.report = report

    @property
    def node_ids(self) -> Any:  # noqa: ANN401 - the caller's kind
        """The caller's ids of the kept nodes."""
        return self._vector(self._contents.node_ids, self._contents.columns.node)

    @property
    def feature_ids(self) -> np.ndarray:
        """Names (or column numbers) of the kept features; with PCA, of those it was applied to."""
        return self._contents.feature_ids

    @property
    def edge_index(self) -> Any:  # noqa: ANN401 - the caller's kind
        """(2, E) positions of the ends of every directed edge; each undirected edge stands twice."""
        kind = self._contents.style.edges
        return present.vector("numpy" if kind in FRAME_KINDS else kind, self._edge_index)

    @property
    def edges(self) -> Any:  # noqa: ANN401 - the caller's kind
        """The same edges in the caller's node ids: a table, or a (2, E) array."""
        source, target = self._contents.node_ids[self._edge_index]
        names = (self._contents.columns.source, self._contents.columns.target)
        return present.edges(self._contents.style, source, target, names=names)

    @property
    def adjacency(self) -> scipy.sparse.csr_matrix:
        """Symmetric CSR matrix of float32 ones."""
        return self._contents.adjacency

    @cached_property
    def features(self) -> Any:  # noqa: ANN401 - the caller's kind
        """Kept features of the kept nodes, in the order of `node_ids` (which pandas and cuDF hold in the index)."""
        c, x = self._contents, self._contents.features
        if c.style.sparse and c.scaling is None and c.reduction is None:  # sparse stays sparse, however full it is
            x = scipy.sparse.csr_matrix(x)
        return present.matrix(c.style, x, names=self._feature_names, index=self._index)

    @property
    def labels(self) -> Any:  # noqa: ANN401 - the caller's kind
        """The caller's labels of training nodes; null (in tables) or `unlabelled` for all others."""
        c = self._contents
        return present.labels(
            c.style.nodes, c.codes, c.class_values, unlabelled=c.unlabelled, name=c.columns.label, index=self._index
        )

    @property
    def train_mask(self) -> Any:  # noqa: ANN401 - the caller's kind
        """Which nodes to train on."""
        return self._vector(self._contents.train_mask, self._contents.columns.train)

    @property
    def is_root(self) -> Any:  # noqa: ANN401 - the caller's kind
        """Which nodes were chosen for their own sake, not as a neighbour."""
        return self._vector(self._contents.is_root, "is_root")

    @property
    def is_landmark(self) -> Any:  # noqa: ANN401 - the caller's kind
        """Which nodes have no original in the full graph."""
        return self._vector(self._contents.is_landmark, "is_landmark")

    @property
    def scores(self) -> Any:  # noqa: ANN401 - a table of the caller's kind
        """Scores of all nodes of the full graph: raw components, combined score, rank (1 is best; 0 is unranked)."""
        return present.table(self._contents.style.nodes, dict(self._contents.scores))

    def transform(self, feats: Any) -> Any:  # noqa: ANN401 - any feature matrix in, the same kind out
        """Apply the same choice of features (and scaling and PCA, if any) to other nodes.

        A model trained on the condensed graph is used on the full graph, or on new nodes, through this.

        Parameters
        ----------
        feats : table, array, tensor or sparse matrix
            With the columns of the full feature matrix: by name in a table (others are ignored), else all of
            them in the original order.
        """
        feats = unproxy(feats)
        kind, c = kind_of(feats), self._contents
        if kind in FRAME_KINDS:
            frame = frames.to_pandas(feats)
            missing = [name for name in c.feature_ids if name not in frame.columns]
            if missing:
                msg = f"feats lacks the columns {frames.some(missing)} that were kept: pass the original columns"
                raise InputError(msg)
            table = frames.read_node_table(
                frame[list(c.feature_ids)].reset_index(drop=True), node="", label="", train=""
            )
            chosen, sparse, index = table.features, table.sparse, frame.index
        else:
            x = matrices.read_feature_matrix(feats)
            if x.shape[1] != c.n_input_features:
                msg = f"feats has {x.shape[1]} columns, the full graph had {c.n_input_features}: pass all of them"
                raise InputError(msg)
            chosen, sparse, index = x[:, c.feature_positions], matrices.is_sparse(feats), None
        if not np.isfinite(chosen.data if scipy.sparse.issparse(chosen) else chosen).all():
            msg = "feats has NaN or infinite values in kept columns: clean or impute them first"
            raise InputError(msg)
        style = present.choose_style(Style(kind, kind, sparse), "input")
        return present.matrix(style, self._prepared(chosen), names=self._feature_names, index=index)

    def _prepared(self, x: np.ndarray | scipy.sparse.csr_matrix) -> np.ndarray | scipy.sparse.csr_matrix:
        """Scale and reduce kept features as those of the condensed graph were."""
        c = self._contents
        if c.scaling is None and c.reduction is None:
            return x
        wide = (x.toarray() if scipy.sparse.issparse(x) else x).astype(np.float64)
        if c.scaling is not None:
            wide = (wide - c.scaling[0]) / c.scaling[1]
        if c.reduction is not None:
            wide = (wide - c.reduction[0].astype(np.float64)) @ c.reduction[1].T.astype(np.float64)
        return wide.astype(np.float32)

    def to_scipy(self) -> tuple[scipy.sparse.csr_matrix, scipy.sparse.csr_matrix]:
        """Adjacency and features as SciPy CSR matrices."""
        return self._contents.adjacency, scipy.sparse.csr_matrix(self._contents.features)

    def to_networkx(self) -> nx.Graph:
        """Build an undirected NetworkX graph; nodes carry `label` (or None), `train`, `is_root` and `x` (features)."""
        c = self._contents
        values = c.class_values.astype(object)[np.maximum(c.codes, 0)]
        values[c.codes < 0] = None
        dense = c.features.toarray() if scipy.sparse.issparse(c.features) else c.features
        attributes = {
            "label": values.tolist(),
            "train": c.train_mask.tolist(),
            "is_root": c.is_root.tolist(),
            "x": list(dense),
        }
        return networks.to_networkx(c.node_ids, self._edge_index, attributes)

    def to_pyg(self) -> Data:
        """Build a PyG `Data` with x, edge_index, y, train_mask and node_id.

        `y` holds the caller's labels where they are non-negative integers (so that it can be compared with the
        full graph's), else class numbers into `class_values`; -1 is unknown.
        """
        c = self._contents
        numeric = c.class_values.dtype.kind in "iu" and bool((c.class_values >= 0).all())
        y = np.where(c.codes >= 0, c.class_values[np.maximum(c.codes, 0)], -1) if numeric else c.codes
        fields: dict[str, Any] = {
            "x": c.features.toarray() if scipy.sparse.issparse(c.features) else c.features,
            "edge_index": self._edge_index,
            "y": y.astype(np.int64),
            "train_mask": c.train_mask,
            "node_id": c.node_ids if c.node_ids.dtype.kind in "iu" else c.node_ids.tolist(),
        }
        if not numeric:
            fields["class_values"] = c.class_values.tolist()
        return torch.to_pyg(fields)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file (a zip of plain arrays; no pickle), all or nothing.

        Parameters
        ----------
        path : path-like
            Replaced if it exists.
        """
        c = self._contents
        arrays = {
            **{name: getattr(c, name) for name in PLAIN_MEMBERS},
            **_csr_members("adjacency", c.adjacency),
            **(_csr_members("features", c.features) if scipy.sparse.issparse(c.features) else {"features": c.features}),
            **{f"scores.{name}": values for name, values in c.scores.items()},
        }
        for name in ("scaling", "reduction"):
            pair = getattr(c, name)
            if pair is not None:
                arrays |= {f"{name}.0": pair[0], f"{name}.1": pair[1]}
        meta = {
            "n_input_features": c.n_input_features,
            "columns": vars(c.columns),
            "style": vars(c.style),
            "unlabelled": _savable(c.unlabelled),
            "report": self.report.to_dict(),
        }
        persist.write_archive(path, arrays, meta)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, output_type: OutputType = "input") -> CondensedGraph:
        """Read a saved condensed graph.

        Parameters
        ----------
        path : path-like
        output_type : str
            What to give results as; by default as when it was saved.
        """
        arrays, meta = persist.read_archive(path)
        try:
            contents = _contents_from(arrays, meta)
            report = Report.from_dict(meta["report"], contents.class_values.tolist())
        except (KeyError, TypeError, ValueError) as error:
            msg = f"path={str(path)!r} lacks a part of a condensed graph ({error}): save the graph again"
            raise FileFormatError(msg) from error
        return cls(contents, report).as_type(output_type)

    def as_type(self, output_type: OutputType) -> CondensedGraph:
        """Give the same graph with results in another type."""
        style = present.choose_style(self._contents.style, output_type)
        return CondensedGraph(replace(self._contents, style=style), self.report)

    def __str__(self) -> str:
        return str(self.report)

    def __repr__(self) -> str:
        r = self.report
        return (
            f"<CondensedGraph: {r.n_nodes} nodes, {r.n_edges} directed edges, {r.feature_count} features, "
            f"{100 * r.storage_ratio:.3g} % of the storage>"
        )

    @cached_property
    def _edge_index(self) -> np.ndarray:
        coo = self._contents.adjacency.tocoo()
        return np.stack([coo.row, coo.col]).astype(np.int64)

    @property
    def _feature_names(self) -> np.ndarray:
        if self._contents.reduction is None:
            return self._contents.feature_ids
        return np.array([f"pc{i}" for i in range(len(self._contents.reduction[1]))])

    @property
    def _index(self) -> Any:  # noqa: ANN401 - a pandas index
        import pandas as pd

        return pd.Index(self._contents.node_ids, name=self._contents.columns.node)

    def _vector(self, values: np.ndarray, name: str) -> Any:  # noqa: ANN401 - the caller's kind
        return present.vector(self._contents.style.nodes, values, name=name, index=self._index)


def _savable(unlabelled: Any) -> int | str | None:  # noqa: ANN401 - any object
    """Only integers and strings are ever given back; all else stands for null."""
    if isinstance(unlabelled, str):
        return unlabelled
    return int(unlabelled) if isinstance(unlabelled, int | np.integer) else None


def _contents_from(arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> Contents:
    named: dict[str, Any] = {name: arrays[name] for name in PLAIN_MEMBERS}
    for name in ("scaling", "reduction"):
        named[name] = (arrays[f"{name}.0"], arrays[f"{name}.1"]) if f"{name}.0" in arrays else None
    return Contents(
        **named,
        n_input_features=meta["n_input_features"],
        adjacency=_csr_from(arrays, "adjacency"),
        features=arrays["features"] if "features" in arrays else _csr_from(arrays, "features"),
        scores={n.removeprefix("scores."): v for n, v in arrays.items() if n.startswith("scores.")},
        columns=Columns(**meta["columns"]),
        style=Style(**meta["style"]),
        unlabelled=meta["unlabelled"],
    )


def _csr_members(name: str, matrix: scipy.sparse.csr_matrix) -> dict[str, np.ndarray]:
    return {
        f"{name}.data": matrix.data,
        f"{name}.indices": matrix.indices,
        f"{name}.indptr": matrix.indptr,
        f"{name}.shape": np.asarray(matrix.shape),
    }


def _csr_from(arrays: dict[str, np.ndarray], name: str) -> scipy.sparse.csr_matrix:
    parts = tuple(arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
    return scipy.sparse.csr_matrix(parts, shape=tuple(arrays[f"{name}.shape"]))
