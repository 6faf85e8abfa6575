"""The paper's method on partitions: scores from all of them, neighbourhoods gathered on one worker."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu import ops
from herald_gpu.budget import settle_sizes
from herald_gpu.distributed.closing import Chosen
from herald_gpu.distributed.lead import LeadBackend, asking, told_sizes
from herald_gpu.distributed.seeing import see, split_nodes
from herald_gpu.pipeline import gather
from herald_gpu.stages.scoring import NodeScores

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herald_gpu.backend import Backend
    from herald_gpu.budget import Budget
    from herald_gpu.config import HeraldConfig
    from herald_gpu.distributed.job import Job
    from herald_gpu.distributed.lead import Asked, LeadGraph
    from herald_gpu.distributed.parts import Part

FIRST_ROOTS = 128
"""Roots whose neighbourhoods are brought at first; as many again whenever these come to an end."""


def gather_neighbourhoods(
    job: Job,
    people: Any,  # noqa: ANN401 - a future
    sizes: Any,  # noqa: ANN401 - as above
    columns: np.ndarray,
    ranking: np.ndarray,
    budget: Budget,
) -> tuple[Any, dict[str, float]]:
    """Expand, prune and balance (stages 5 to 7): a future of what was chosen, and the seconds that each took.

    One worker sees the neighbourhoods of the roots it looks at, and no others.
    """
    crew, depth = job.crew, job.config.depth
    roots, single = ranking[:FIRST_ROOTS], np.zeros(0, dtype=np.int64)
    while True:
        reach = _within(job, np.sort(roots), depth)
        graph = see(job, people, np.union1d(reach, single), columns, covered=np.sort(roots))
        made = crew.submit(choose_nodes, graph, sizes, columns, ranking, budget, job.config, near=graph)
        asked, seconds = crew.gather([crew.submit(_told, made, near=made)])[0]
        if asked is None:
            return crew.submit(_chosen, made, near=made), seconds
        if asked.within:
            roots = np.union1d(roots, asked.nodes)
        else:
            single = np.union1d(single, asked.nodes)


def _within(job: Job, nodes: np.ndarray, hops: int) -> np.ndarray:
    """Nodes within some hops of others."""
    found = front = nodes
    for _ in range(hops):
        rows = split_nodes(job.layout.bounds, front)
        told = [
            job.crew.submit(neighbours, part, own, near=part)
            for part, own in zip(job.parts, rows, strict=True)
            if len(own)
        ]
        reached = job.crew.gather(told)
        job.count(sum(one.nbytes for one in reached))
        front = np.setdiff1d(np.unique(np.concatenate(reached)), found)
        found = np.union1d(found, front)
    return found


def neighbours(backend: Backend, part: Part, rows: np.ndarray) -> np.ndarray:
    """Nodes that edges of some rows lead to."""
    edges = part.adjacency[backend.asarray(rows)]
    reached = backend.xp.zeros(int(part.columns.shape[0]), dtype=bool)
    reached[edges.indices] = True
    return backend.to_host(part.columns[backend.xp.flatnonzero(reached)]).astype(np.int64)


@asking
def choose_nodes(
    backend: Backend,
    graph: LeadGraph,
    sizes: list[np.ndarray],
    columns: np.ndarray,
    ranking: np.ndarray,
    budget: Budget,
    config: HeraldConfig,
) -> tuple[Chosen, dict[str, float]]:
    """Choose nodes; or say which must be seen first."""
    xp, seconds = backend.xp, dict[str, float]()

    @contextmanager
    def stage(name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        seconds[name] = time.perf_counter() - start

    priced = settle_sizes(backend, graph, told_sizes(backend, graph, sizes, 0, len(columns)), budget, config)
    ranked = xp.searchsorted(graph.ids, backend.asarray(ranking))
    scores = NodeScores(xp.zeros(0), xp.zeros(0), ranked)
    lead: Any = LeadBackend(backend, graph)
    expansion, pruning, balance = gather(lead, graph, scores, priced, config, stage)
    nodes, none = balance.nodes, xp.zeros(0, dtype=bool)
    chosen = Chosen(
        nodes=graph.ids[nodes],
        rows=graph.features[graph.place[nodes]],
        labels=graph.labels[nodes],
        train=graph.train[nodes],
        roots=balance.roots[nodes],
        adjacency=ops.induced(graph.adjacency, nodes),
        columns=backend.asarray(columns),
        coded=priced.budget.coded,
        ranking=backend.asarray(ranking),
        more={
            "expansion": replace(expansion, member=none, considered=none),
            "pruning": replace(pruning, nodes=none),
            "added": balance.added,
        },
    )
    return chosen, seconds


def _told(backend: Backend, made: Any) -> tuple[Asked | None, dict[str, float]]:  # noqa: ANN401, ARG001
    return (None, made[1]) if isinstance(made, tuple) else (made, {})


def _chosen(backend: Backend, made: tuple[Chosen, dict[str, float]]) -> Chosen:  # noqa: ARG001 - every task has one
    return made[0]
