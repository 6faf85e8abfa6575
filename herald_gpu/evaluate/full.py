"""The full graph, which models are tested on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pandas as pd
import scipy.sparse

from herald_gpu.backend import get_backend
from herald_gpu.errors import ConfigError, InputError
from herald_gpu.graph import clean_edges, stored_edges
from herald_gpu.io import matrices

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from herald_gpu.datasets.splits import Split

GraphAs = Literal["clean", "stored"]
MASKS = ("train", "validation", "test")
UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class Full:
    """The full graph.

    Attributes
    ----------
    adjacency : (N, N) CSR array
    features : the given features
    codes : (N,) int64 array
        Class numbers, -1 for labels that no training node has.
    classes : array
        Their values, ascending: those that occur among training nodes, so that no other label shapes the model.
    labels : the given labels
    train, validation, test : (N,) bool arrays
        Nodes without a label (-1 or null) are in none of them.
    node_ids : (N,) array
        Row numbers where the graph names no others.
    """

    adjacency: csr_array
    features: Any
    codes: np.ndarray
    classes: np.ndarray
    labels: np.ndarray
    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray
    node_ids: np.ndarray


def read_full(graph: Any, split: Split | None = None, *, graph_as: GraphAs = "clean") -> Full:  # noqa: ANN401
    """Take what is needed of the full graph.

    Parameters
    ----------
    graph : object
        With `edge_index`, `features`, `labels` and, unless `split` is given, the masks `train`, `validation`, `test`;
        perhaps with `node_ids`, where nodes have other names than their rows.
    split : Split, optional
        Used instead of the graph's own masks.
    graph_as : {"clean", "stored"}
        Undirected and simple, or as the edges are given: directed, with self loops and repetitions.

    Raises
    ------
    InputError
        If a mask is missing, has the wrong length, or shares nodes with another.
    """
    if graph_as not in get_args(GraphAs):
        msg = f"graph_as={graph_as!r} is not known: pass one of {', '.join(get_args(GraphAs))}"
        raise ConfigError(msg)
    labels = matrices.to_numpy(graph.labels)
    n = len(labels)
    masks = {name: _mask(getattr(graph if split is None else split, name, None), name, n) for name in MASKS}
    if np.sum([mask.astype(np.int8) for mask in masks.values()], axis=0).max(initial=0) > 1:
        msg = "train, validation and test share nodes: pass masks of which no two hold the same node"
        raise InputError(msg)
    known = labels != UNKNOWN if labels.dtype.kind in "iu" else ~pd.isna(labels)
    for name in MASKS:
        masks[name] = masks[name] & known
        if name != "validation" and not masks[name].any():
            msg = f"{name} marks no labelled node: pass a split with at least one"
            raise InputError(msg)
    classes = np.unique(labels[masks["train"]])
    source, target = matrices.read_edge_array(graph.edge_index)
    backend = get_backend("cpu")
    if graph_as == "clean":
        adjacency, _ = clean_edges(backend, source, target, n)
    else:
        adjacency = stored_edges(backend, source, target, n)
    codes = pd.Index(classes).get_indexer(pd.Index(labels)).astype(np.int64)
    ids = getattr(graph, "node_ids", None)
    named = np.arange(n) if ids is None else matrices.to_numpy(ids)
    return Full(scipy.sparse.csr_array(adjacency), graph.features, codes, classes, labels, **masks, node_ids=named)


def _mask(given: Any, name: str, n: int) -> np.ndarray:  # noqa: ANN401 - any vector
    if given is None:
        msg = f"graph has no {name} mask: pass split=, such as paper_split({n})"
        raise InputError(msg)
    mask = matrices.to_numpy(given)
    if mask.dtype != bool or mask.shape != (n,):
        msg = f"{name} has dtype {mask.dtype} and shape {mask.shape}: pass a boolean mask of the {n} nodes"
        raise InputError(msg)
    return mask
