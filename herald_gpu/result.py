"""The condensed graph as the caller sees it."""

from __future__ import annotations

import logging
import os  # noqa: TC003 - typing.get_type_hints looks names of annotations up here
from collections.abc import Mapping  # noqa: TC003 - as above
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from herald_gpu.backend import Array, Backend, Matrix, backend_for
from herald_gpu.encoding import Encoding
from herald_gpu.errors import FileFormatError, InputError
from herald_gpu.foreign import doubt_features
from herald_gpu.io import csv as csv_files
from herald_gpu.io import dgl, matrices, networks, packing, persist, present, torch
from herald_gpu.io.categories import Levels  # noqa: TC001 - as above
from herald_gpu.io.fingerprint import fingerprint
from herald_gpu.io.kinds import FRAME_KINDS, kind_of, unproxy
from herald_gpu.io.present import OutputType, Presenter  # noqa: TC001 - as above
from herald_gpu.io.read import Columns, Style
from herald_gpu.ratios import percent
from herald_gpu.stages.scaling import Scaling
from herald_gpu.summary import Report

if TYPE_CHECKING:
    from dgl import DGLGraph  # noqa: TID251 - the name of a type
    from networkx import Graph as NetworkXGraph  # noqa: TID251 - the name of a type
    from scipy.sparse import csr_matrix
    from torch_geometric.data import Data  # noqa: TID251 - the name of a type
else:  # the hints of public methods resolve without these libraries
    DGLGraph = NetworkXGraph = Data = Any

logger = logging.getLogger("herald_gpu")

SAVED_ARRAYS = (
    *("node_ids", "class_values", "feature_positions"),
    *("codes", "train_mask", "is_root", "is_landmark", "edge_is_synthetic"),
)
"""Fields of :class:`Contents` that are saved as arrays."""
SAVED_TUPLES = ("scaling", "reduction")
"""Fields that are saved as several arrays; None if a file has none of them."""
SAVED_VALUES = ("n_input_features", "training_mark")
"""Fields that JSON can hold as they are; None if a file lacks them."""
SAVED_PARTS = {"columns": Columns, "style": Style, "encoding": Encoding}
"""Fields that are dataclasses of plain values."""


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
        Raw component values, score and rank of all nodes of the full graph (`node` holds their ids). Empty if they
        were not saved.
    encoding : Encoding
        How the features are stored in a file.
    scales : float32 array, optional
        What int8 values of each column are multiplied by.
    scaling, reduction : tuple of arrays, optional
        (center, spread) of the kept features; (mean, components) of PCA.
    columns : Columns
    style : Style
    unlabelled : object
    categories : dict
        Levels of each column that was encoded one-hot, all that the full graph had.
    present : Presenter
        Gives these arrays, which live where it expects them, to the caller.
    training_mark : str, optional
        Fingerprint of the ids of all training nodes of the full graph, where the scores were not saved.
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
    categories: Levels
    present: Presenter
    training_mark: str | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Give what a copy or a pickle holds: everything on the host, and no module."""
        return {name: value for name, value in vars(self.on_host()).items() if name != "present"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, present=present)

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
    there until they are asked for on the host. A pickle or a deep copy holds the graph on the host.

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

    def __getstate__(self) -> dict[str, Any]:
        """Give what a copy or a pickle holds: nothing that can be computed again."""
        return {"_contents": self._contents, "report": self.report}

    @property
    def node_ids(self) -> Any:  # noqa: ANN401 - the caller's kind
        """The caller's ids of the kept nodes; landmarks have new ones that no node of the graph has."""
        return self._vector(self._contents.node_ids, str(self._contents.columns.node))

    @property
    def feature_ids(self) -> np.ndarray:
        """Names (or column numbers) of the kept features; with PCA, of those it was applied to."""
        return self._contents.feature_ids

    @property
    def columns(self) -> Columns:
        """Names of the columns that the tables of the full graph were read with."""
        return self._contents.columns

    @property
    def categories(self) -> Levels:
        """Levels of each column that was encoded one-hot, all that the full graph had; empty if there are none."""
        return self._contents.categories

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
        if c.style.sparse and c.reduction is None and not self._scaled_as_published:  # sparse stays sparse
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
        return self._vector(self._contents.train_mask, self._contents.columns.train or "train")

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

        Raises
        ------
        InputError
            If the graph was read from a file that was saved without scores.
        """
        if not self.has_scores:
            msg = (
                "scores are not in the file that this graph was read from: condense again and save with "
                "save(path, with_scores=True)"
            )
            raise InputError(msg)
        return self._contents.present.table(self._contents.style.nodes, dict(self._contents.scores))

    @property
    def scales_features(self) -> bool:
        """Whether `transform` scales features."""
        return self._contents.scaling is not None

    @property
    def has_scores(self) -> bool:
        """Whether `scores` are known: they are, unless the graph was read from a file without them."""
        return bool(self._contents.scores)

    @property
    def training_mark(self) -> str:
        """Fingerprint of the ids of all training nodes of the full graph, also where the scores are not known."""
        c = self._host
        if not c.scores:
            return c.training_mark or ""
        return fingerprint(c.scores["node"][c.scores["rank"] > 0])

    def transform(self, feats: Any, *, csv: Mapping[str, str] | None = None) -> Any:  # noqa: ANN401 - any feature matrix in, the same kind out
        """Apply the same choice of features (and scaling and PCA, if any) to other nodes.

        A model trained on the condensed graph is used on the full graph, or on new nodes, through this. Categories are
        encoded as those of the full graph were; levels that it did not have become zeros, and a logged warning counts
        them.

        Parameters
        ----------
        feats : table, array, tensor, sparse matrix, PyG Data, or path of a Parquet or CSV file
            With the columns of the full feature matrix: by name in a table (others are ignored), else all of
            them in the original order, categories encoded. Pass them as they were condensed: scaling, if any, is
            applied here. Values of another order of magnitude are logged as a warning. A PyG `Data` gives a copy of it
            with other `x`; all else stays as it is.
        csv : mapping, optional
            How a CSV file is written, as for :func:`herald_gpu.condense`.
        """
        feats, c = unproxy(feats), self._contents
        csv_files.check_used(csv, feats)
        if kind_of(feats) == "pyg":
            return torch.with_features(feats, self.transform)
        if csv_files.is_csv(feats):
            feats = csv_files.read_frame(feats, csv_files.format_of(csv), text=csv_files.text_columns(c.categories))
        backend = backend_for(feats)
        given = backend.read_kept(
            feats, names=c.feature_ids, positions=c.feature_positions, width=c.n_input_features, levels=c.categories
        )
        if not self._scaled_as_published:
            near = c if c.present.xp is backend.xp else self._host
            doubt = doubt_features(backend, given.features, near)
            if doubt is not None:
                logger.warning("%s", doubt)
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
        if scaling is not None and not self._scaled_as_published:
            x, scaling = Scaling(*scaling).apply(backend, x), None
            if reduction is None:
                return x
        wide = (x.toarray() if backend.sparse.issparse(x) else x).astype(xp.float64)
        if scaling is not None:
            wide = (wide - scaling[0]) / scaling[1]
        if reduction is not None:
            wide = (wide - reduction[0]) @ reduction[1].T
        return wide.astype(xp.float32)

    def to_scipy(self) -> tuple[scipy.sparse.csr_matrix, scipy.sparse.csr_matrix]:
        """Adjacency and features as SciPy CSR matrices."""
        return self._host.adjacency, scipy.sparse.csr_matrix(self._host.features)

    def to_networkx(self) -> NetworkXGraph:
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
        """Build a PyG `Data` with x, edge_index, y, train_mask, is_landmark, edge_is_synthetic and n_id.

        `y` holds the caller's labels where they are non-negative integers (so that it can be compared with the
        full graph's), else class numbers into `class_values`; -1 is unknown. `n_id` holds the ids of the nodes, which
        in arrays, tensors and PyG data are row numbers: a tensor with -1 for synthetic nodes, or a list with None for
        them where ids are not integers. Tensors are on the device where the condensed graph is.
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
        tensors["n_id"] = _original_ids(c, self._host)
        if not numeric:
            tensors["class_values"] = c.class_values.tolist()
        return torch.to_pyg(tensors)

    def to_dgl(self) -> DGLGraph:
        """Build a DGL graph; every undirected edge stands in it in both directions.

        `ndata` holds feat, label, train_mask, is_root and is_landmark, `edata` is_synthetic. `label` is what
        :meth:`to_pyg` has as `y`. Nodes are in the order of `node_ids`. Tensors are on the device where the condensed
        graph is.
        """
        c = self._contents
        y, _ = _targets(c)
        nodes: dict[str, Any] = {
            "feat": c.features.toarray() if hasattr(c.features, "toarray") else c.features,
            "label": y,
            "train_mask": c.train_mask,
            "is_root": c.is_root,
            "is_landmark": c.is_landmark,
        }
        source, target = (c.present.tensor(ends) for ends in self._edge_index)
        return dgl.to_dgl(
            source,
            target,
            {name: c.present.tensor(values) for name, values in nodes.items()},
            {"is_synthetic": c.present.tensor(c.edge_is_synthetic)},
        )

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
        return {n: _as_text(a) if a.dtype == object else np.asarray(a) for n, a in arrays.items()}

    def to_html(
        self,
        path: str | os.PathLike[str],
        *,
        evaluation: Any = None,  # noqa: ANN401 - table or JSON
        overwrite: bool = False,
    ) -> None:
        """Write the report as one page that needs nothing from elsewhere: figures, tables, a drawing of the graph.

        Parameters
        ----------
        path : path-like
            Appears when the page is complete.
        evaluation : pandas.DataFrame, list or dict, optional
            What :func:`herald_gpu.evaluate.evaluate` gave, or the JSON of ``herald evaluate --json``.
        overwrite : bool
            Replace an existing file.
        """
        from herald_gpu.report import write_page

        write_page(path, self._host, self.report, evaluation=evaluation, overwrite=overwrite)

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

    def save(self, path: str | os.PathLike[str], *, with_scores: bool = False, overwrite: bool = False) -> int:
        """Write the condensed graph to one file (a zip of plain arrays; no pickle), all or nothing.

        Parameters
        ----------
        path : path-like
        with_scores : bool
            Write the scores too. They are of all nodes of the full graph, and mostly take more room than the condensed
            graph itself.
        overwrite : bool
            Replace an existing file.

        Returns
        -------
        int
            Bytes of the file. They are more than `report.storage_bytes`, which counts features and edges alone: node
            ids, names of features, the report and the file format come on top.

        Raises
        ------
        InputError
            If the file exists and `overwrite` is not set, if it cannot be written, or if ids are of a type that a file
            cannot hold without pickle.
        """
        c = self._host
        if with_scores and not self.has_scores:
            _ = self.scores  # says why there are none
        if not with_scores:
            c = replace(c, scores={}, training_mark=self.training_mark)
        arrays = {
            **{name: getattr(c, name) for name in SAVED_ARRAYS},
            **({} if _are_positions(c) else {"feature_ids": c.feature_ids}),
            **packing.csr_members("adjacency", c.adjacency),
            **_packed(c),
            **{f"{name}.{i}": part for name in SAVED_TUPLES for i, part in enumerate(getattr(c, name) or ())},
            **{f"scores.{name}": values for name, values in c.scores.items()},
        }
        meta = {
            **{name: getattr(c, name) for name in SAVED_VALUES},
            **{name: vars(getattr(c, name)) for name in SAVED_PARTS},
            "unlabelled": _savable(c.unlabelled),
            "categories": list(c.categories.items()),
            "report": self.report.to_dict(),
        }
        return persist.write_archive(path, arrays, meta, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, output_type: OutputType = "input") -> CondensedGraph:
        """Read a saved condensed graph.

        Parameters
        ----------
        path : path-like
            What :meth:`save` wrote, or a folder that holds it as ``condensed.herald``.
        output_type : str
            What to give results as; by default as when it was saved.
        """
        arrays, meta = persist.read_archive(Path(path) / persist.ARCHIVE if Path(path).is_dir() else path)
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

    def _repr_html_(self) -> str:
        """Give the report as a table, for notebooks."""
        return self.report._repr_html_()

    def __repr__(self) -> str:
        r = self.report
        return (
            f"<CondensedGraph: {r.n_nodes} nodes, {r.n_edges} directed edges, {r.feature_count} features, "
            f"{percent(r.storage_ratio)} of the storage>"
        )

    @cached_property
    def _host(self) -> Contents:
        return self._contents.on_host()

    @property
    def _scaled_as_published(self) -> bool:
        """Whether all columns were centered, so that no zeros are left."""
        return self._contents.scaling is not None and not self.report.config.exact

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
        return self._contents.present.index(self._contents.node_ids, str(self._contents.columns.node))

    def _vector(self, values: Any, name: str) -> Any:  # noqa: ANN401 - the caller's kind
        c = self._contents
        return c.present.vector(c.style.nodes, values, name=name, index=self._index)


def load(path: str | os.PathLike[str], *, output_type: OutputType = "input") -> CondensedGraph:
    """Read a saved condensed graph.

    Parameters
    ----------
    path : path-like
        What :meth:`CondensedGraph.save` or ``herald condense --output`` wrote: a file, or a folder with one.
    output_type : {"input", "numpy", "pandas", "polars", "arrow", "torch", "cupy", "cudf"}
        What results are given as; by default as when the graph was saved.

    Examples
    --------
    >>> import tempfile
    >>> import herald_gpu
    >>> from herald_gpu.datasets import make_graph
    >>> g = make_graph(200, n_classes=2, n_features=8)
    >>> small = herald_gpu.condense(g.edge_index, g.features, g.labels, g.train, ratio=0.2)
    >>> file = Path(tempfile.mkdtemp()) / "small.herald"
    >>> size = small.save(file)
    >>> size == file.stat().st_size, herald_gpu.load(file).report.n_nodes == small.report.n_nodes
    (True, True)
    """
    return CondensedGraph.load(path, output_type=output_type)


def _targets(c: Contents) -> tuple[Array, bool]:
    """Give integer targets of all nodes, -1 where unknown, and whether they are the caller's own labels."""
    xp = c.present.xp
    own = c.class_values.dtype.kind in "iu" and bool((c.class_values >= 0).all())
    y = xp.where(c.codes >= 0, xp.asarray(c.class_values)[xp.maximum(c.codes, 0)], -1) if own else c.codes
    return y.astype(xp.int64), own


def _original_ids(c: Contents, host: Contents) -> Any:  # noqa: ANN401 - a torch tensor or a list
    """Give the ids of the nodes for PyG: synthetic nodes have -1, or None where ids are not integers."""
    xp, dtype = c.present.xp, getattr(c.node_ids, "dtype", None)
    if getattr(dtype, "kind", "O") in "iu" and dtype != np.uint64:  # torch computes with signed integers
        return c.present.tensor(xp.where(c.is_landmark, -1, c.node_ids.astype(xp.int64)))
    ids = host.node_ids.tolist()
    return [None if synthetic else own for own, synthetic in zip(ids, host.is_landmark.tolist(), strict=True)]


def _as_text(values: np.ndarray) -> np.ndarray:
    """Write objects as text; tuples stay one value each."""
    return np.array([str(value) for value in values.tolist()])


def _savable(unlabelled: Any) -> int | str | None:  # noqa: ANN401 - any object
    """Only integers and strings are ever given back; all else stands for null."""
    if isinstance(unlabelled, str):
        return unlabelled
    return int(unlabelled) if isinstance(unlabelled, int | np.integer) else None


def _are_positions(c: Contents) -> bool:
    """Tell whether features have no names: a file then has their positions only."""
    return c.feature_ids.dtype == c.feature_positions.dtype and np.array_equal(c.feature_ids, c.feature_positions)


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


def _numbered(arrays: dict[str, np.ndarray], name: str) -> tuple[np.ndarray, ...] | None:
    """Give the arrays ``name.0``, ``name.1`` and so on; None if there are none."""
    found = tuple(arrays[f"{name}.{i}"] for i in range(len(arrays)) if f"{name}.{i}" in arrays)
    return found or None


def _contents_from(arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> Contents:
    named: dict[str, Any] = {name: arrays[name] for name in SAVED_ARRAYS}
    named |= {name: _numbered(arrays, name) for name in SAVED_TUPLES}
    named |= {name: meta.get(name) for name in SAVED_VALUES}
    for name, part in SAVED_PARTS.items():
        named[name] = part(**{key: tuple(v) if isinstance(v, list) else v for key, v in meta[name].items()})
    return Contents(
        **named,
        feature_ids=arrays.get("feature_ids", arrays["feature_positions"]),
        adjacency=packing.csr_from(arrays, "adjacency"),
        features=_unpacked(arrays),
        scales=arrays.get("features.scales"),
        scores={n.removeprefix("scores."): v for n, v in arrays.items() if n.startswith("scores.")},
        unlabelled=meta["unlabelled"],
        categories=dict(meta.get("categories", [])),
        present=present,
    )
