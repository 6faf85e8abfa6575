"""Nodes outside the training set by how many neighbours they have in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu.distributed.parts import places_in

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend
    from herald_gpu.distributed.job import Job
    from herald_gpu.distributed.parts import Part
    from herald_gpu.distributed.training import Training


def most_around(job: Job, training: Training, count: int) -> tuple[np.ndarray, bool]:
    """Give nodes outside the training set, those with the most neighbours in it first; and whether these are all.

    Each partition tells others how often its training nodes reach their rows.
    """
    everyone, asks = range(len(job.parts)), training.route.asks[-1]
    told = [
        [job.crew.submit(reached, training.route.cuts[-1][p], q, asks[p][q], near=job.parts[p]) for q in everyone]
        for p in everyone
    ]
    found = job.crew.gather(job.each(best_around, count, lists=([[told[p][q] for p in everyone] for q in everyone],)))
    job.count(sum(one[2] for one in found))
    nodes, counts = (np.concatenate([one[place] for one in found]) for place in (0, 1))
    order = np.argsort(-counts, kind="stable")[:count]
    return np.sort(nodes[order]), len(nodes) <= count and all(one[3] for one in found)


def reached(backend: Backend, cut: Any, owner: int, asked: Array) -> list[Array]:  # noqa: ANN401 - a Cut
    """How often rows of another partition are reached by the training nodes of this one."""
    xp = backend.xp
    times = xp.zeros(int(cut.columns.shape[0]), dtype=xp.int32)
    xp.add.at(times, cut.matrix.indices, 1)
    rows = backend.asarray(asked).astype(xp.int64)
    return [asked, times[places_in(backend, cut.columns, rows + cut.bounds[owner])]]


def best_around(
    backend: Backend, part: Part, told: list[list[Array]], count: int
) -> tuple[np.ndarray, np.ndarray, int, bool]:
    """Nodes of a partition outside the training set with the most neighbours in it, and how many those are."""
    xp = backend.xp
    times = xp.zeros(part.n_rows, dtype=xp.int64)
    for rows, often in told:
        times[backend.asarray(rows)] += backend.asarray(often)
    others = xp.flatnonzero(~part.train & (times > 0))
    best = others[xp.argsort(-times[others], kind="stable")][:count]
    came = sum(int(often.nbytes) for place, (_, often) in enumerate(told) if place != part.index)
    nodes, counts = backend.to_host(best).astype(np.int64) + part.low, backend.to_host(times[best])
    return nodes, counts, came, int(others.shape[0]) <= count
