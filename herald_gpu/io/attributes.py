"""Features, labels and training marks that the nodes of a NetworkX graph carry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu.errors import ColumnError, InputError, UnsupportedInputError
from herald_gpu.io.frames import some
from herald_gpu.io.kinds import FRAME_KINDS, kind_of
from herald_gpu.io.matrices import to_numpy
from herald_gpu.io.networks import as_ids
from herald_gpu.io.parquet import ENDINGS

if TYPE_CHECKING:
    import networkx as nx  # noqa: TID251 - the name of a type
    import pandas as pd

    from herald_gpu.io.read import Columns

FEATURES = "x"
"""The attribute that holds the features if none is named; `to_networkx` writes it."""


def unpack(
    graph: nx.Graph,
    feats: Any,  # noqa: ANN401 - every type this package reads, or names of attributes
    columns: Columns,
    *,
    labelled: bool,
    split: bool,
) -> tuple[Any, dict[str, pd.Series]]:
    """Take from the nodes of a graph what was not given apart: (feats, marks).

    Parameters
    ----------
    graph : networkx.Graph
    feats : str, list of str, None, or features
        One attribute or several; an attribute that holds vectors, such as `x`, becomes the columns `x0`, `x1`, ...
        The result is then a table, which is checked as a table of the caller is. Features that are given as a matrix
        pass; so does a table, which has labels and training marks of its own.
    columns : Columns
        `label` and `train` name attributes.
    labelled, split : bool
        Whether labels and training nodes are given apart, so that attributes are not looked at.

    Returns
    -------
    feats : table or features
    marks : dict
        The columns `labels` and `train` of :class:`~herald_gpu.io.frames.NodeTable`, in the order of `graph.nodes`.
    """
    names = _names(graph, feats)
    if names is None and kind_of(feats) in (*FRAME_KINDS, "parquet"):
        return feats, {}
    if names is not None:
        feats = _table(graph, names, columns)
    found = {
        "labels": None if labelled else _labels(graph, columns.label),
        "train": None if split else _train(graph, columns),
    }
    return feats, {name: column for name, column in found.items() if column is not None}


def _names(graph: nx.Graph, feats: Any) -> list[str] | None:  # noqa: ANN401 - any features
    """Return the attributes that hold the features; None if `feats` is the features themselves."""
    if feats is None:
        if any(FEATURES in data for _, data in graph.nodes(data=True)):
            return [FEATURES]
        msg = (
            f"feats is missing, and no node of the NetworkX graph has an attribute {FEATURES!r} (nodes have "
            f"{_known(graph)}): name the attributes that hold the features, or pass a matrix or a table"
        )
        raise UnsupportedInputError(msg)
    if isinstance(feats, str):
        return [feats]
    named = isinstance(feats, list | tuple) and len(feats) > 0 and all(isinstance(name, str) for name in feats)
    return list(feats) if named else None


def _table(graph: nx.Graph, names: list[str], columns: Columns) -> pd.DataFrame:
    """Read ids and features, one row per node."""
    import pandas as pd

    if columns.node is None:
        msg = "node=None is for tables without ids, but the nodes of a NetworkX graph are its ids: leave it out"
        raise ColumnError(msg)
    reserved = [name for name in names if name in (columns.node, columns.label, columns.train)]
    if reserved:
        msg = f"feats names {some(reserved)}: ids, labels and training marks are not features, leave them out"
        raise ColumnError(msg)
    parts = [pd.DataFrame({columns.node: as_ids(list(graph.nodes))})]
    for name in names:
        values = _complete(graph, name, "feats")
        parts.append(_vectors(name, values) if any(map(_is_vector, values)) else pd.DataFrame({name: values}))
    return pd.concat(parts, axis=1)


def _is_vector(value: Any) -> bool:  # noqa: ANN401 - any attribute
    return isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0


def _vectors(name: str, values: list[Any]) -> pd.DataFrame:
    import pandas as pd

    try:
        rows = [to_numpy(value) for value in values]
    except ValueError as error:
        msg = f"node attribute {name!r} holds lists of several lengths ({error}): give all nodes vectors of one length"
        raise InputError(msg) from error
    shapes = sorted({row.shape for row in rows})
    if len(shapes) > 1 or len(shapes[0]) > 1:
        msg = f"node attribute {name!r} has values of the shapes {some(shapes)}: give all nodes vectors of one length"
        raise InputError(msg)
    matrix = np.stack(rows)
    return pd.DataFrame(matrix, columns=[f"{name}{place}" for place in range(matrix.shape[1])])


def _labels(graph: nx.Graph, name: str) -> pd.Series:
    """Read labels; nodes without the attribute are unlabelled."""
    import pandas as pd

    values = [data.get(name) for _, data in graph.nodes(data=True)]
    if graph and all(value is None for value in values):
        msg = (
            f"no labels: no node of the NetworkX graph has an attribute {name!r} (nodes have {_known(graph)}): name "
            "the attribute with label=, or pass labels="
        )
        raise ColumnError(msg)
    return pd.Series(values)


def _train(graph: nx.Graph, columns: Columns) -> pd.Series | None:
    """Read training marks; None if no node has any and the caller did not name the attribute."""
    import pandas as pd

    name = columns.train
    if name is None or (name == type(columns).train and not any(name in data for _, data in graph.nodes(data=True))):
        return None
    return pd.Series(_complete(graph, name, "train_column"))


def _complete(graph: nx.Graph, name: str, argument: str) -> list[Any]:
    """Return an attribute that every node must have."""
    values = [data[name] for _, data in graph.nodes(data=True) if name in data]
    if len(values) == len(graph) > 0:
        return values
    if values:
        first = next(node for node, data in graph.nodes(data=True) if name not in data)
        msg = (
            f"{len(graph) - len(values)} of {len(graph)} nodes of the NetworkX graph have no attribute {name!r}, such "
            f"as node {first!r}: set it on every node, or correct {argument}="
        )
        raise InputError(msg)
    msg = f"no node of the NetworkX graph has an attribute {name!r} (nodes have {_known(graph)}): correct {argument}="
    if argument == "feats" and name.endswith(ENDINGS):
        msg = f"{msg}, or pass the path of a file as a pathlib.Path"
    raise ColumnError(msg)


def _known(graph: nx.Graph) -> str:
    return some(sorted({str(name) for _, data in graph.nodes(data=True) for name in data}))
