"""The condensed graph as the caller sees it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from herald_gpu.backend import backend_for
from herald_gpu.encoding import OF_KIND, Encoding
from herald_gpu.errors import FileFormatError
from herald_gpu.io import matrices, networks, packing, persist, present, torch
from herald_gpu.io.kinds import FRAME_KINDS, unproxy
from herald_gpu.io.read import Columns, Style
from herald_gpu.ratios import percent
from herald_gpu.summary import Report

if TYPE_CHECKING:
    import os

    import networkx as nx  # noqa: TID251 - the name of a type
    from scipy.sparse import csr_matrix
    from torch_geometric.data import Data  # noqa: TID251 - the name of a type

    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.io.present import OutputType, Presenter

PLAIN_MEMBERS = (
    *("node_ids", "feature_ids", "class_values", "feature_positions"),
    *("codes", "train_mask", "is_root", "is_landmark", "edge_is_synthetic"),
)
"""Fields of :class:`Contents` that are saved as they are."""


@dataclass(frozen=True)
class Contents:
    """The condensed graph in plain arrays, on the host or on a device, and how the caller speaks.

    Attributes
    ----------
    node_ids, feature_ids, class_values : arrays
        The caller's ids of kept nodes, kept features and classes.
    feature_positions : int array
        Column numbers of kept features; like the ids of features and classes always on the host.
    n_input_features : int
        Columns of the full feature matrix.
    adjacency : CSR matrix
    features : float32 array or CSR matrix
    codes : int array
        Classes of training nodes; -1 for all others.
    train_mask, is_root, is_landmark : bool arrays
    edge_is_synthetic : bool array
        One an entry of `adjacency`.
    scores : dict of arrays
        Raw component values, score and rank of all nodes of the full graph (`node` holds their ids).
    encoding : Encoding
        How the features are stored in a file.
    scales : float32 array, optional
        What int8 values of each column are multiplied by.
    scaling, reduction : tuple of arrays, optional
        (mean, deviation) of the kept features; (mean, components) of PCA.
    columns : Columns
    style : Style
    unlabelled : object
    present : Presenter
        Gives these arrays, which live where it expects them, to the caller.
    """

    node_ids: Any
    feature_ids: np.ndarray
    class_values: np.ndarray
    feature_positions: np.ndarray
    n_input_features: int
    adjacency: Matrix
    features: Matrix
    codes: Array
    train_mask: Array
    is_root: Array
    is_landmark: Array
    edge_is_synthetic: Array
    scores: dict[str, Any]
    encoding: Encoding
    scales: Array | None
    scaling: tuple[Array, Array] | None
    reduction: tuple[Array, Array] | None
    columns: Columns
    style: Style
    unlabelled: Any
    present: Presenter

    def on_host(self) -> Contents:
        """Copy everything to the host."""
        if self.present is present:
            return self
        arrays = ("node_ids", "codes", "train_mask", "is_root", "is_landmark", "edge_is_synthetic")
        moved: dict[str, Any] = {name: matrices.to_numpy(getattr(self, name)) for name in arrays}
        for name in ("scaling", "reduction"):
            pair = getattr(self, name)
            moved[name] = None if pair is None else tuple(map(matrices.to_numpy, pair))
        return replace(
            self,
            **moved,
            scales=None if self.scales is None else matrices.to_numpy(self.scales),
            adjacency=matrices.to_csr(self.adjacency),
            features=matrices.to_host(self.features),
            scores={name: matrices.to_numpy(values) for name, values in self.scores.items()},
            present=present,
        )


class CondensedGraph:
    """A small graph that stands for a large one.

    Rows of `features`, `labels`, `train_mask`, `node_ids`, `is_root` and `is_landmark`, and the positions in
    `edge_index` and `adjacency`, all refer to the same nodes in the same order: ascending node id, then landmarks.
    Results come in the types that went in, unless `output_type` said otherwise; those of a graph on a device stay
    there until they are asked for on the host.

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
        """The caller's ids of the kept nodes; landmarks have new ones that no node of the graph has."""
        return self._vector(self._contents.node_ids, self._contents.columns.node)

    @property
    def feature_ids(self) -> np.ndarray:
        """Names (or column numbers) of the kept features; with PCA, of those it was applied to."""
        return self._contents.feature_ids

    @property
    def edge_index(self) -> Any:  # noqa: ANN401 - the caller's kind
        """(2, E) positions of the ends of every directed edge; each undirected edge stands twice."""
        kind = self._contents.style.edges
        return self._edge_index if kind in FRAME_KINDS else self._contents.present.vector(kind, self._edge_index)

    @property
    def edges(self) -> Any:  # noqa: ANN401 - the caller's kind
        """The same edges in the caller's node ids: a table, or a (2, E) array."""
        c = self._contents
        source, target = (c.present.take(c.node_ids, ends) for ends in self._edge_index)
        return c.present.edges(c.style, source, target, names=(c.columns.source, c.columns.target))

    @property
    def edge_is_synthetic(self) -> Any:  # noqa: ANN401 - the caller's kind
        """Which entries of `edge_index` and `edges` are links that the full graph does not have."""
        c = self._contents
        return c.present.vector(c.style.edges, c.edge_is_synthetic, name="edge_is_synthetic")

    @property
    def adjacency(self) -> Matrix:
        """Symmetric CSR matrix of float32 ones: SciPy's, or CuPy's where the graph is on a device."""
        return self._contents.adjacency

    @cached_property
    def features(self) -> Any:  # noqa: ANN401 - the caller's kind
        """Kept features of the kept nodes, in the order of `node_ids` (which pandas and cuDF hold in the index)."""
        c, x = self._contents, self._contents.features
        if c.style.sparse and c.scaling is None and c.reduction is None:  # sparse stays sparse, however full it is
            x = type(c.adjacency)(x)
        return c.present.matrix(c.style, x, names=self._feature_names, index=self._index)

    @property
    def labels(self) -> Any:  # noqa: ANN401 - the caller's kind
        """The caller's labels of training nodes; null (in tables) or `unlabelled` for all others."""
        c = self._contents
        return c.present.labels(
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
        """Which nodes are synthetic: they stand for a class, and have no original in the full graph."""
        return self._vector(self._contents.is_landmark, "is_landmark")

    @property
    def scores(self) -> Any:  # noqa: ANN401 - a table of the caller's kind
        """Scores of all nodes of the full graph: raw components, combined score, rank (1 is best; 0 is unranked).

        Exemplars are not chosen by a score: there are `prototype` and `boundary` for the reader, and their rank.

        Arrays have no tables: for them it is pandas on the host and cuDF on a device.
        """
        return self._contents.present.table(self._contents.style.nodes, dict(self._contents.scores))

    def transform(self, feats: Any) -> Any:  # noqa: ANN401 - any feature matrix in, the same kind out
        """Apply the same choice of features (and scaling and PCA, if any) to other nodes.

        A model trained on the condensed graph is used on the full graph, or on new nodes, through this.

        Parameters
        ----------
        feats : table, array, tensor or sparse matrix
            With the columns of the full feature matrix: by name in a table (others are ignored), else all of
            them in the original order.
        """
        feats, c = unproxy(feats), self._contents
        backend = backend_for(feats)
        given = backend.read_kept(feats, names=c.feature_ids, positions=c.feature_positions, width=c.n_input_features)
        style = present.choose_style(Style(given.kind, given.kind, given.sparse), "input")
        return given.present.matrix(
            style, self._prepared(backend, given.features), names=self._feature_names, index=given.index
        )

    def _prepared(self, backend: Backend, x: Matrix) -> Matrix:
        """Scale and reduce kept features as those of the condensed graph were."""
        xp = backend.xp
        if self._contents.scaling is None and self._contents.reduction is None:
            return x
        c = self._contents if self._contents.present.xp is xp else self._host
        scaling, reduction = (
            None if pair is None else [backend.asarray(part).astype(xp.float64) for part in pair]
            for pair in (c.scaling, c.reduction)
        )
        wide = (x.toarray() if backend.sparse.issparse(x) else x).astype(xp.float64)
        if scaling is not None:
            wide = (wide - scaling[0]) / scaling[1]
        if reduction is not None:
            wide = (wide - reduction[0]) @ reduction[1].T
        return wide.astype(xp.float32)

    def to_scipy(self) -> tuple[scipy.sparse.csr_matrix, scipy.sparse.csr_matrix]:
        """Adjacency and features as SciPy CSR matrices."""
        return self._host.adjacency, scipy.sparse.csr_matrix(self._host.features)

    def to_networkx(self) -> nx.Graph:
        """Build an undirected NetworkX graph; nodes carry `label` (or None), `train`, `is_root`, `is_landmark` and `x`.

        Edges carry `is_synthetic`.
        """
        c = self._host
        values = c.class_values.astype(object)[np.maximum(c.codes, 0)]
        values[c.codes < 0] = None
        dense = c.features.toarray() if hasattr(c.features, "toarray") else c.features
        attributes = {
            "label": values.tolist(),
            "train": c.train_mask.tolist(),
            "is_root": c.is_root.tolist(),
            "is_landmark": c.is_landmark.tolist(),
            "x": list(dense),
        }
        return networks.to_networkx(
            c.node_ids, matrices.to_numpy(self._edge_index), attributes, {"is_synthetic": c.edge_is_synthetic}
        )

    def to_pyg(self) -> Data:
        """Build a PyG `Data` with x, edge_index, y, train_mask, is_landmark, edge_is_synthetic and node_id.

        `y` holds the caller's labels where they are non-negative integers (so that it can be compared with the
        full graph's), else class numbers into `class_values`; -1 is unknown. Tensors are on the device where the
        condensed graph is.
        """
        c = self._contents
        y, numeric = _targets(c)
        fields: dict[str, Any] = {
            "x": c.features.toarray() if hasattr(c.features, "toarray") else c.features,
            "edge_index": self._edge_index,
            "y": y,
            "train_mask": c.train_mask,
            "is_landmark": c.is_landmark,
            "edge_is_synthetic": c.edge_is_synthetic,
        }
        tensors = {name: c.present.tensor(values) for name, values in fields.items()}
        whole = getattr(c.node_ids.dtype, "kind", "O") in "iu"
        tensors["node_id"] = c.present.tensor(c.node_ids) if whole else self._host.node_ids.tolist()
        if not numeric:
            tensors["class_values"] = c.class_values.tolist()
        return torch.to_pyg(tensors)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Give plain NumPy arrays under DGL's names: src, dst, num_nodes, feat, label, train_mask.

        Beside them are node_ids, feature_ids, class_values, is_root, is_landmark and edge_is_synthetic. `label` is
        what :meth:`to_pyg` has as `y`.
        """
        c = self._host
        label, numeric = _targets(c)
        source, target = matrices.to_numpy(self._edge_index)
        arrays = {
            "src": source,
            "dst": target,
            "num_nodes": np.int64(len(c.codes)),
            "feat": c.features.toarray() if hasattr(c.features, "toarray") else c.features,
            "label": label,
            "node_ids": c.node_ids,
            "feature_ids": self._feature_names,
            **{name: getattr(c, name) for name in ("train_mask", "is_root", "is_landmark", "edge_is_synthetic")},
            **({} if numeric else {"class_values": c.class_values}),
        }
        return {n: a.astype(str) if a.dtype == object else np.asarray(a) for n, a in arrays.items()}

    def to_html(self, path: str | os.PathLike[str], *, evaluation: Any = None) -> None:  # noqa: ANN401 - table or JSON
        """Write the report as one page that needs nothing from elsewhere: figures, tables, a drawing of the graph.

        Parameters
        ----------
        path : path-like
            Replaced if it exists, when the page is complete.
        evaluation : pandas.DataFrame, list or dict, optional
            What :func:`herald_gpu.evaluate.evaluate` gave, or the JSON of ``herald evaluate --json``.
        """
        from herald_gpu.report import write_page

        write_page(path, self._host, self.report, evaluation=evaluation)

    def plot(self, kind: str | None = None, ax: Any = None, *, evaluation: Any = None) -> Any:  # noqa: ANN401 - of matplotlib
        """Draw the figures of the page with matplotlib (extra ``plot``).

        Parameters
        ----------
        kind : str, optional
            "graph", "classes", "degrees", "variances", "storage", "timings", "accuracy" or the name of a score; all of
            them by default.
        ax : matplotlib.axes.Axes, optional
            Where to draw one kind.
        evaluation
            As for :meth:`to_html`.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from herald_gpu.report import plot

        return plot(self._host, self.report, kind, ax, evaluation=evaluation)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file (a zip of plain arrays; no pickle), all or nothing.

        Parameters
        ----------
        path : path-like
            Replaced if it exists.
        """
        c = self._host
        arrays = {
            **{name: getattr(c, name) for name in PLAIN_MEMBERS},
            **packing.csr_members("adjacency", c.adjacency),
            **_packed(c),
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
            "encoding": vars(c.encoding),
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
        stays = {style.edges, style.nodes} <= set(present.DEVICE_KINDS)
        return CondensedGraph(replace(self._contents if stays else self._host, style=style), self.report)

    def __str__(self) -> str:
        return str(self.report)

    def __repr__(self) -> str:
        r = self.report
        return (
            f"<CondensedGraph: {r.n_nodes} nodes, {r.n_edges} directed edges, {r.feature_count} features, "
            f"{percent(r.storage_ratio)} of the storage>"
        )

    @cached_property
    def _host(self) -> Contents:
        return self._contents.on_host()

    @cached_property
    def _edge_index(self) -> Array:
        xp, coo = self._contents.present.xp, self._contents.adjacency.tocoo()
        return xp.stack([coo.row, coo.col]).astype(xp.int64)

    @property
    def _feature_names(self) -> np.ndarray:
        if self._contents.reduction is None:
            return self._contents.feature_ids
        return np.array([f"pc{i}" for i in range(len(self._contents.reduction[1]))])

    @property
    def _index(self) -> Any:  # noqa: ANN401 - an index of tables, where the caller has any
        if self._contents.style.nodes not in FRAME_KINDS:
            return None
        return self._contents.present.index(self._contents.node_ids, self._contents.columns.node)

    def _vector(self, values: Any, name: str) -> Any:  # noqa: ANN401 - the caller's kind
        c = self._contents
        return c.present.vector(c.style.nodes, values, name=name, index=self._index)


def _targets(c: Contents) -> tuple[Array, bool]:
    """Give integer targets of all nodes, -1 where unknown, and whether they are the caller's own labels."""
    xp = c.present.xp
    own = c.class_values.dtype.kind in "iu" and bool((c.class_values >= 0).all())
    y = xp.where(c.codes >= 0, xp.asarray(c.class_values)[xp.maximum(c.codes, 0)], -1) if own else c.codes
    return y.astype(xp.int64), own


def _savable(unlabelled: Any) -> int | str | None:  # noqa: ANN401 - any object
    """Only integers and strings are ever given back; all else stands for null."""
    if isinstance(unlabelled, str):
        return unlabelled
    return int(unlabelled) if isinstance(unlabelled, int | np.integer) else None


def _packed(c: Contents) -> dict[str, np.ndarray]:
    """Features in the bytes they are charged for: landmarks, the last rows, as signs."""
    n_real = int((~c.is_landmark).sum())
    real = packing.pack(c.features[:n_real], c.encoding, c.scales)
    return real if n_real == len(c.is_landmark) else real | packing.pack_signs(c.features[n_real:])


def _unpacked(arrays: dict[str, np.ndarray]) -> np.ndarray | csr_matrix:
    real = packing.unpack(arrays)
    if f"{packing.LANDMARKS}.signs" not in arrays:
        return real
    below = packing.unpack_signs(arrays, real.shape[1])
    if not scipy.sparse.issparse(real):
        return np.concatenate([real, below])
    return scipy.sparse.vstack([real, scipy.sparse.csr_matrix(below)], format="csr")


def _contents_from(arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> Contents:
    if "edge_is_synthetic" not in arrays:  # a file from before there were links
        arrays = arrays | {"edge_is_synthetic": np.zeros(len(arrays["adjacency.indices"]), dtype=bool)}
    named: dict[str, Any] = {name: arrays[name] for name in PLAIN_MEMBERS}
    encoding = Encoding(**meta["encoding"]) if "encoding" in meta else OF_KIND[meta["report"]["storage_kind"]]
    for name in ("scaling", "reduction"):
        named[name] = (arrays[f"{name}.0"], arrays[f"{name}.1"]) if f"{name}.0" in arrays else None
    return Contents(
        **named,
        n_input_features=meta["n_input_features"],
        adjacency=packing.csr_from(arrays, "adjacency"),
        features=_unpacked(arrays),
        encoding=encoding,
        scales=arrays.get("features.scales"),
        scores={n.removeprefix("scores."): v for n, v in arrays.items() if n.startswith("scores.")},
        columns=Columns(**meta["columns"]),
        style=Style(**meta["style"]),
        unlabelled=meta["unlabelled"],
        present=present,
    )
