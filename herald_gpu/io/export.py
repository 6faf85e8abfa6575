"""Condensed graphs in files for other programs; all or nothing, and without pickle but for PyG's own format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from herald_gpu.errors import ConfigError
from herald_gpu.io import networks, torch
from herald_gpu.io.atomic import whole_file, whole_folder
from herald_gpu.io.kinds import library

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from herald_gpu.result import CondensedGraph

Format = Literal["pyg", "npz", "networkx", "graphml", "csv", "parquet"]
FORMATS = ("pyg", "npz", "networkx", "graphml", "csv", "parquet")
REPORT = "report.json"


def export(result: CondensedGraph, path: str | os.PathLike[str], to: Format, *, overwrite: bool = False) -> list[Path]:
    """Write a condensed graph for another program; gives the files.

    Parameters
    ----------
    result : CondensedGraph
    path : path-like
        A file; for tables a folder.
    to : {"pyg", "npz", "networkx", "graphml", "csv", "parquet"}
        A PyG `Data` for :func:`torch.load`; arrays as DGL names them; NetworkX's node-link JSON; GraphML; or a folder
        with a table of edges and one of nodes.
    overwrite : bool
        Replace an existing file, or a folder that holds nothing but these tables.

    Raises
    ------
    InputError
        If the file or folder may not be replaced, or cannot be written.
    ConfigError
        If the format is not known.
    MissingDependencyError
        If its library is not installed.

    Examples
    --------
    >>> import tempfile
    >>> import herald_gpu
    >>> from herald_gpu.datasets import make_graph
    >>> g = make_graph(300, n_classes=3, n_features=16)
    >>> small = herald_gpu.condense(g.edge_index, g.features, g.labels, g.train, ratio=0.2)
    >>> [file.name for file in export(small, Path(tempfile.mkdtemp()) / "tables", "csv")]
    ['edges.csv', 'nodes.csv']
    """
    target = Path(path)
    if to in ("csv", "parquet"):
        return write_folder(result, target, kind="parquet" if to == "parquet" else "csv", overwrite=overwrite)
    if to not in FORMATS:
        msg = f"to={to!r} is no known format: pass one of {', '.join(FORMATS)}"
        raise ConfigError(msg)
    with whole_file(target, overwrite=overwrite) as beside:
        if to == "pyg":
            torch.save(result.to_pyg(), beside)
        elif to == "npz":
            with beside.open("wb") as stream:
                np.savez(stream, allow_pickle=False, **result.to_arrays())
        elif to == "networkx":
            beside.write_text(json.dumps(networks.to_node_link(result.to_networkx()), default=str), encoding="utf-8")
        else:
            networks.write_graphml(result.to_networkx(), beside)
    return [target]


def write_folder(
    result: CondensedGraph,
    path: Path,
    *,
    kind: Literal["csv", "parquet"] = "csv",
    archive: str | None = None,
    with_scores: bool = False,
    overwrite: bool = False,
) -> list[Path]:
    """Write a folder of tables; with the name of an `archive`, also the saved graph and its report.

    Parameters
    ----------
    result : CondensedGraph
    path : Path
        Absent or empty; with `overwrite` also what this function wrote before.
    kind : {"csv", "parquet"}
        Of the tables.
    archive : str, optional
        Name of the file in the folder that :meth:`CondensedGraph.load` reads.
    with_scores : bool
        Write the scores to the saved graph too.
    overwrite : bool
        Replace an existing folder.
    """
    if kind == "parquet":
        library("pyarrow", "arrow")
    names = folder_names(kind=kind, archive=archive)
    with whole_folder(path, names, overwrite=overwrite) as folder:
        for name, table in _tables(result):
            if kind == "parquet":
                table.to_parquet(folder / f"{name}.parquet", index=False)
            else:
                table.to_csv(folder / f"{name}.csv", index=False, lineterminator="\n")
        if archive is not None:
            (folder / REPORT).write_text(json.dumps(result.report.to_dict(), indent=2) + "\n", encoding="utf-8")
            result.save(folder / archive, with_scores=with_scores)
    return [path / name for name in names]


def folder_names(*, kind: Literal["csv", "parquet"] = "csv", archive: str | None = None) -> list[str]:
    """Name the files of such a folder."""
    return [*([] if archive is None else [archive, REPORT]), f"edges.{kind}", f"nodes.{kind}"]


def _tables(result: CondensedGraph) -> Iterator[tuple[str, pd.DataFrame]]:
    """Edges in node ids; nodes with what is known of them, and their features."""
    given = result.as_type("pandas")
    edges = given.edges
    text = {name: edges[name].map(str) for name in edges.columns if edges[name].dtype == object}  # as of nodes below
    yield "edges", edges.assign(**text, is_synthetic=given.edge_is_synthetic.to_numpy())
    marks: list[Any] = [given.labels, given.train_mask, given.is_root, given.is_landmark]
    features = given.features
    dense = pd.DataFrame(np.asarray(features), index=features.index, columns=features.columns.map(str))
    nodes = pd.concat([*marks, dense], axis=1)
    ids = nodes.index
    mixed = ids.dtype == object  # numbers and names of landmarks: tables have one type a column
    yield "nodes", nodes.set_axis(ids.map(str) if mixed else ids, axis=0).rename_axis(ids.name).reset_index()
