"""Rows of compared and held-out nodes after no, one and two hops, walked to over partitions, on one worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu.distributed.parts import places_in
from herald_gpu.distributed.routes import Route, give_degrees, give_features, give_values, stack
from herald_gpu.distributed.seeing import split_nodes
from herald_gpu.stages.views import HOPS, SIGHTS, Legs, Rows

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend
    from herald_gpu.distributed.job import Job
    from herald_gpu.distributed.parts import Cut, Part
    from herald_gpu.distributed.routes import Block


@dataclass(frozen=True)
class Walked:
    """Sums of neighbours' features for the rows that are needed next, and features of the nodes around the targets."""

    values: Array
    around: Array
    received: int


def walk_to(job: Job, compared: np.ndarray, held: np.ndarray, ranking: np.ndarray) -> Any:  # noqa: ANN401 - a future
    """Have the rows of compared and held-out nodes brought together: a future of ``[sights, held]``.

    Parameters
    ----------
    job : Job
    compared, held : int64 arrays
        Nodes of the whole graph, in the order of the pool.
    ranking : int array
        Columns, the best first.
    """
    crew, bounds = job.crew, job.layout.bounds
    wanted = [np.unique(compared), np.unique(held)]
    mine = [split_nodes(bounds, nodes) for nodes in wanted]
    route = Route(crew, job.parts, split_nodes(bounds, np.union1d(compared, held)), HOPS)
    job.count(route.index_bytes)
    near, last = route.cuts
    degrees = job.each(_stacked, lists=(last, route.exchange(1, give_degrees, job.parts)))
    width, blocks = route.width(len(ranking)), []
    for low in range(0, len(ranking), width):
        columns = ranking[low : low + width]

        def make(columns: np.ndarray = columns) -> list[Any]:
            given = route.exchange(0, give_features, job.parts, columns)
            walked = job.each(sum_around, lists=(near, last, given))
            totals = route.exchange(1, give_values, list(zip(near, walked, strict=True)))
            return job.each(last_leg, lists=(last, degrees, walked, totals, *mine))

        found = job.partials(f"exemplars/views-{low}", make)
        blocks.append(crew.submit(arrange, found, wanted, compared, held, near=job.parts[0]))
        job.count(crew.gather([crew.submit(_received, found)])[0])
    return crew.submit(join_blocks, blocks, near=job.parts[0])


def _stacked(backend: Backend, part: Part, cut: Cut, given: list[Array]) -> Block:  # noqa: ARG001 - every part has one
    return stack(backend, cut, given)


def sum_around(backend: Backend, part: Part, near: Cut, last: Cut, given: list[Array]) -> Walked:  # noqa: ARG001
    """Sum the features of neighbours, in float32 and in the order of their ids, as the whole graph does."""
    x = stack(backend, near, given)
    around = x.values[places_in(backend, near.columns, last.columns)]
    return Walked(backend.linalg.multiply(near.matrix, x.values), around, x.received)


def last_leg(
    backend: Backend,
    part: Part,  # noqa: ARG001 - every part has one
    cut: Cut,
    degrees: Block,
    walked: Walked,
    totals: list[Array],
    compared: np.ndarray,
    held: np.ndarray,
) -> list[np.ndarray]:
    """Rows of the compared and held-out nodes of one partition (partial)."""
    xp = backend.xp
    total = stack(backend, cut, totals)
    rows, places = [], []
    for nodes in (compared, held):
        mine = backend.asarray(nodes).astype(xp.int64)
        rows.append(cut.matrix[places_in(backend, cut.rows, mine)])
        places.append(places_in(backend, cut.columns, mine + cut.bounds[cut.index]))
    legs = Legs(backend, rows[0], rows[1], degrees.values, places[0], places[1])
    width = int(walked.around.shape[1])
    sights = [xp.empty((len(compared), width), dtype=xp.float32) for _ in range(SIGHTS)]
    out = Rows(*(xp.empty((len(held), width), dtype=xp.float32) for _ in range(4)))
    legs.take(walked.around, total.values, sights, out, slice(None), slice(None))
    came = walked.received + total.received + degrees.received
    stacked = (xp.stack(sights), xp.stack(list(vars(out).values())))
    return [*(backend.to_host(one) for one in stacked), np.array(came)]


def arrange(
    backend: Backend,  # noqa: ARG001 - every task has one
    found: list[list[np.ndarray]],
    wanted: list[np.ndarray],
    compared: np.ndarray,
    held: np.ndarray,
) -> list[np.ndarray]:
    """Put the rows of all partitions in the order of the pool."""
    out = []
    for place, (ids, nodes) in enumerate(zip(wanted, (compared, held), strict=True)):
        every = np.concatenate([one[place] for one in found], axis=1)
        out.append(every[:, np.searchsorted(ids, nodes)])
    return out


def join_blocks(backend: Backend, blocks: list[list[np.ndarray]]) -> list[Array]:
    """Put blocks of columns side by side."""
    return [backend.asarray(np.concatenate(parts, axis=2)) for parts in zip(*blocks, strict=True)]


def _received(backend: Backend, found: list[list[np.ndarray]]) -> int:  # noqa: ARG001 - every task has one
    """Bytes exchanged on the way, and those of the rows that were brought together."""
    return sum(int(came) + sights.nbytes + held.nbytes for sights, held, came in found)
