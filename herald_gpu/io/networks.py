"""Whole-graph objects: NetworkX graphs in and out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu.io.kinds import library

if TYPE_CHECKING:
    from pathlib import Path

    import networkx as nx


def as_ids(values: list[Any]) -> np.ndarray:
    """Put hashable ids into a 1-D array; tuples stay whole, and ids of several types stay what they are."""
    plain = values and not isinstance(values[0], tuple) and len(set(map(type, values))) == 1
    array = np.asarray(values) if plain else None
    if array is None or array.ndim != 1:
        array = np.empty(len(values), dtype=object)
        array[:] = values
    return array


def read_networkx(graph: nx.Graph) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """Take nodes and edges from a NetworkX graph: (ids, source, target, warnings)."""
    ids = as_ids(list(graph.nodes))
    pairs = list(graph.edges(data=False)) if not graph.is_multigraph() else list(graph.edges(keys=False))
    source, target = (as_ids([pair[end] for pair in pairs]) for end in (0, 1))
    names = sorted({str(name) for *_, data in graph.edges(data=True) for name in data})
    warnings = [f"edge attributes {names} are ignored"] if names else []
    return ids, source, target, warnings


def to_networkx(
    node_ids: np.ndarray,
    edge_index: np.ndarray,
    attributes: dict[str, list[Any]],
    edge_attributes: dict[str, np.ndarray] | None = None,
) -> nx.Graph:
    """Build an undirected NetworkX graph; `attributes` holds one list for each node attribute, likewise for edges."""
    graph = library("networkx").Graph()
    ids = node_ids.tolist()
    rows = (dict(zip(attributes, values, strict=True)) for values in zip(*attributes.values(), strict=True))
    graph.add_nodes_from(zip(ids, rows, strict=True))
    once = edge_index[0] <= edge_index[1]
    named = {name: values[once].tolist() for name, values in (edge_attributes or {}).items()}
    for place, (u, v) in enumerate(edge_index[:, once].T.tolist()):
        graph.add_edge(ids[u], ids[v], **{name: values[place] for name, values in named.items()})
    return graph


def to_node_link(graph: nx.Graph) -> dict[str, Any]:
    """Give a graph in plain values, which ``networkx.node_link_graph(content, edges="edges")`` reads."""
    return {
        "directed": False,
        "multigraph": False,
        "graph": {},
        "nodes": [{"id": node, **_plain(data)} for node, data in graph.nodes(data=True)],
        "edges": [{"source": u, "target": v, **_plain(data)} for u, v, data in graph.edges(data=True)],
    }


def write_graphml(graph: nx.Graph, path: Path) -> None:
    """Write GraphML, which knows neither lists nor null: `x` is JSON text, and an unknown label is left out."""
    plain = library("networkx").Graph()
    for node, data in graph.nodes(data=True):
        kept = {name: value for name, value in _plain(data).items() if value is not None}
        kept |= {"label": _told(kept["label"])} if "label" in kept else {}
        plain.add_node(node, **kept | {"x": json.dumps(kept["x"])})
    plain.add_edges_from(graph.edges(data=True))
    library("networkx").write_graphml_xml(plain, path)


def _told(value: Any) -> str | float:  # noqa: ANN401 - a class
    """Give what GraphML can hold: numbers and text; dates and the like become text."""
    return value if isinstance(value, str | int | float) else str(value)


def _plain(attributes: dict[str, Any]) -> dict[str, Any]:
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in attributes.items()}
