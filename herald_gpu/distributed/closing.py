"""The condensed graph put together on one worker, and the figures of the full one from partial counts."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu import ops
from herald_gpu.assembly import Picked, Whole, assemble
from herald_gpu.graph import Graph
from herald_gpu.stages.scoring import NodeScores
from herald_gpu.stages.survey import survey_degrees

if TYPE_CHECKING:
    from herald_gpu.assembly import Condensed
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.budget import Budget
    from herald_gpu.config import HeraldConfig
    from herald_gpu.distributed.job import Job
    from herald_gpu.distributed.lead import LeadGraph
    from herald_gpu.distributed.parts import Layout, Part
    from herald_gpu.distributed.training import Training
    from herald_gpu.encoding import Encoding
    from herald_gpu.lid import Search as LidSearch
    from herald_gpu.search import Found
    from herald_gpu.stages.heterophily import Heterophily


@dataclass(frozen=True)
class Chosen:
    """Nodes that were chosen, on the worker that chose them.

    Attributes
    ----------
    nodes : int64 array
        Nodes of the whole graph, ascending.
    rows : matrix
        Their kept features.
    labels, train, roots : arrays
        Of these nodes.
    adjacency : CSR matrix
        Edges among them.
    columns : int array
        Kept features, ascending.
    coded : Encoding
    ranking : int64 array
        Training nodes of the whole graph, best first.
    more : dict
        Other fields of :class:`herald_gpu.assembly.Picked`.
    """

    nodes: Array
    rows: Matrix
    labels: Array
    train: Array
    roots: Array
    adjacency: Matrix
    columns: Array
    coded: Encoding
    ranking: Array
    more: dict[str, Any] = field(default_factory=dict)


def chosen_exemplars(backend: Backend, graph: LeadGraph, found: Found) -> Chosen:  # noqa: ARG001 - every task has one
    """Take what a search found out of what the worker saw."""
    nodes = found.nodes
    return Chosen(
        nodes=graph.ids[nodes],
        rows=found.kept[graph.place[nodes]],
        labels=graph.labels[nodes],
        train=graph.train[nodes],
        roots=graph.train[nodes],
        adjacency=ops.induced(graph.adjacency, nodes),
        columns=found.columns,
        coded=found.coded,
        ranking=graph.ids[found.ranking],
        more={
            name: getattr(found, name)
            for name in ("edges", "landmarks", "trials", "trial", "majority", "validation_nodes")
        },
    )


def chosen_columns(backend: Backend, chosen: Chosen) -> np.ndarray:
    """Kept features, on the host."""
    return backend.to_host(chosen.columns)


def stock(backend: Backend, part: Part, rows: Array, columns: np.ndarray) -> list[np.ndarray]:
    """Degrees of the nodes of a partition, and moments of its training rows (partial)."""
    degrees = survey_degrees(backend, backend.xp.diff(part.adjacency.indptr))
    kept = ops.take_columns(backend, part.features[rows], backend.asarray(columns))
    found = ops.column_moments(backend, kept)
    told = [backend.to_host(one) for one in (*degrees, found.mean, found.squares)]
    return [told[0], np.atleast_1d(told[1]), np.array(found.rows), *told[2:], np.array(0)]


def merge_stock(backend: Backend, parts: list[list[np.ndarray]]) -> list[np.ndarray]:  # noqa: ARG001 - every task has one
    """Figures of several partitions (combine)."""
    moments = ops.merge_moments([ops.Moments(int(part[2]), part[3], part[4]) for part in parts])
    counts, largest = sum(part[0] for part in parts), np.max([part[1] for part in parts], axis=0)
    return [counts, largest, np.array(moments.rows), moments.mean, moments.squares, np.array(0)]


def close(
    job: Job,
    training: Training,
    chosen: Any,  # noqa: ANN401 - a future of Chosen
    columns: np.ndarray,
    hetero: Heterophily,
    budget: Budget,
    search: LidSearch | None = None,
) -> Condensed:
    """Put the condensed graph together, on the worker that chose it, and bring it here."""
    found = job.combined("assembly/stock", lambda: job.each(stock, columns, lists=(training.rows,)), merge_stock)
    figures = [job.graph.class_counts, *found]
    made = job.crew.submit(
        assemble_chosen, chosen, figures, job.layout, hetero, budget, job.config, search, near=chosen
    )
    return job.crew.gather([made])[0]


def assemble_chosen(
    backend: Backend,
    chosen: Chosen,
    figures: list[np.ndarray],
    layout: Layout,
    hetero: Heterophily,
    budget: Budget,
    config: HeraldConfig,
    search: LidSearch | None,
) -> Condensed:
    """Assemble the chosen nodes as a graph of their own; nodes are then named as in the whole graph."""
    xp, n = backend.xp, int(chosen.nodes.shape[0])
    counts, degrees, largest, n_train, _, squares = (backend.asarray(one) for one in figures)
    whole = Whole(layout.n_nodes, layout.n_edges, layout.n_features, (counts, degrees, largest[0]), squares / n_train)
    small = Graph(chosen.adjacency, chosen.rows, layout.kind, chosen.labels, chosen.train, layout.n_classes)
    picked = Picked(
        nodes=xp.arange(n),
        roots=chosen.roots,
        columns=chosen.columns,
        kept=chosen.rows,
        coded=chosen.coded,
        scores=NodeScores(xp.zeros(0), xp.zeros(0), chosen.ranking, search=search),
        **chosen.more,
    )
    made = assemble(backend, small, picked, hetero=hetero, budget=budget, config=config, whole=whole)
    return on_host(backend, dataclasses.replace(made, nodes=chosen.nodes))


def on_host(backend: Backend, value: Any) -> Any:  # noqa: ANN401 - any result of a stage
    """Copy a result to the host, with all the arrays in it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        named = {one.name: on_host(backend, getattr(value, one.name)) for one in dataclasses.fields(value) if one.init}
        return dataclasses.replace(value, **named)
    if isinstance(value, tuple | list):
        return type(value)(on_host(backend, one) for one in value)
    return backend.to_host(value) if hasattr(value, "shape") and hasattr(value, "dtype") else value
