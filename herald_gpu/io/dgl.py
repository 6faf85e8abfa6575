"""DGL graphs, out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from herald_gpu.io.kinds import library

if TYPE_CHECKING:
    from dgl import DGLGraph


def to_dgl(source: Any, target: Any, ndata: dict[str, Any], edata: dict[str, Any]) -> DGLGraph:  # noqa: ANN401 - tensors
    """Build a DGL graph.

    Parameters
    ----------
    source, target : (E,) int64 tensors
        Positions of the ends of directed edges.
    ndata, edata : dict of tensors
        Data of nodes and of edges, in the same order.
    """
    count = len(next(iter(ndata.values())))
    graph = library("dgl").graph((source, target), num_nodes=count)
    graph.ndata.update(ndata)
    graph.edata.update(edata)
    return graph
