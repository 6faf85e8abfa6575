"""Nearest neighbours over partitions: blocks of rows pass by every partition, which keeps the smallest distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu.distributed.parts import nbytes
from herald_gpu.distributed.scoring import kept_rows
from herald_gpu.distributed.seeing import split_nodes
from herald_gpu.errors import ConfigError
from herald_gpu.lid import SEED, Lid, Search, finished_lid, partial_lid

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.config import HeraldConfig
    from herald_gpu.distributed.job import Job
    from herald_gpu.distributed.parts import Part


@dataclass(frozen=True)
class Kept:
    """Kept features of some nodes, with one over the length of each row."""

    rows: Matrix
    inverse: Array


@dataclass(frozen=True)
class Nearest:
    """Smallest distances met so far, ascending; infinite where too few were met. With the bytes that came."""

    distances: Array
    received: int


def measure_lid(job: Job, columns: np.ndarray, backend: Backend) -> Lid:
    """LID of all nodes (eq:lid), exactly or among a sample; the values are put together by the client.

    Parameters
    ----------
    job : Job
    columns : int array
        Kept features.
    backend : Backend
        The client's.
    """
    config, n = job.config, job.layout.n_nodes
    if config.lid == "approximate":
        msg = "lid='approximate' is not there for Dask collections: pass lid='exact' or lid='sampled'"
        raise ConfigError(msg)
    kept: list[Any] = []
    name, size = "exact", min(config.lid_reference, n)
    drawn = None
    if config.lid == "sampled":
        name = f"sampled ({size} nodes)"
        drawn = np.sort(np.random.default_rng(SEED).choice(n, size, replace=False))

    def make() -> list[Any]:
        kept.extend(job.each(keep, columns))
        found = _pass_by(job, kept, min(config.lid_neighbours, n - 1)) if drawn is None else _sampled(job, kept, drawn)
        return job.each(values_of, config, lists=(kept, found))

    told = job.crew.gather(job.partials("scoring/lid", make))
    job.count(sum(int(one[3]) for one in told))
    values, level, filled = (np.concatenate([one[place] for one in told]) for place in range(3))
    return Lid(finished_lid(backend, values, level, filled, config), Search(name))


def _pass_by(job: Job, kept: list[Any], k: int) -> list[Any]:
    """Every block meets every partition, one after the other: a partition has no more than one guest at a time."""
    everyone = range(len(kept))
    found = job.each(meet_own, k, lists=(kept,))
    for step in everyone[1:]:
        guests = [kept[(p + step) % len(kept)] for p in everyone]
        found = job.each(meet, k, lists=(kept, guests, found))
    return found


def _sampled(job: Job, kept: list[Any], drawn: np.ndarray) -> list[Any]:
    """Neighbours among drawn nodes, which every partition meets at once."""
    rows = split_nodes(job.layout.bounds, drawn)
    keep_self = job.config.lid_rule == "clipped"
    k = min(job.config.lid_neighbours, len(drawn) if keep_self else len(drawn) - 1)
    picked = [
        job.crew.submit(pick_kept, one, own, near=part)
        for one, own, part in zip(kept, rows, job.parts, strict=True)
        if len(own)
    ]
    guest = job.crew.submit(join_kept, picked)
    return job.each(meet_sample, k, keep_self, lists=(kept, rows, [guest] * len(kept)))


def keep(backend: Backend, part: Part, columns: np.ndarray) -> Kept:
    """Kept features of a partition."""
    return Kept(*kept_rows(backend, part, columns))


def pick_kept(backend: Backend, kept: Kept, rows: np.ndarray) -> Kept:
    """Some rows."""
    chosen = backend.asarray(rows)
    return Kept(kept.rows[chosen], kept.inverse[chosen])


def join_kept(backend: Backend, parts: list[Kept]) -> Kept:
    """Rows one below the other."""
    return Kept(_below(backend, [one.rows for one in parts]), backend.xp.concatenate([one.inverse for one in parts]))


def meet_own(backend: Backend, part: Part, kept: Kept, k: int) -> Nearest:  # noqa: ARG001 - every part has one
    """Distances inside a partition; a row is not its own neighbour."""
    n = int(kept.rows.shape[0])
    near = min(k, n - 1)
    if near < 1:
        return Nearest(backend.xp.full((n, k), np.inf), 0)
    return Nearest(_filled(backend, backend.nearest_distances(kept.rows, kept.inverse, near), k), 0)


def meet(backend: Backend, part: Part, kept: Kept, guest: Kept, before: Nearest, k: int) -> Nearest:  # noqa: ARG001
    """Distances to the rows of another partition, merged with those met before."""
    found = _to_guest(backend, kept, guest, min(k, int(guest.rows.shape[0])))
    both = backend.xp.concatenate([before.distances, found], axis=1)
    return Nearest(backend.xp.sort(both, axis=1)[:, :k], before.received + nbytes(guest))


def meet_sample(
    backend: Backend,
    part: Part,  # noqa: ARG001 - every part has one
    kept: Kept,
    rows: np.ndarray,
    guest: Kept,
    k: int,
    keep_self: bool,  # noqa: FBT001 - tasks take their arguments by position
) -> Nearest:
    """Distances to drawn nodes. A drawn node meets itself first of all: that distance is dropped."""
    xp = backend.xp
    found = _to_guest(backend, kept, guest, k if keep_self else k + 1)
    if not keep_self:
        drawn = xp.zeros(int(found.shape[0]), dtype=bool)
        drawn[backend.asarray(rows)] = True
        found = xp.where(drawn[:, None], found[:, 1:], found[:, :-1])
    return Nearest(found, nbytes(guest))


def _to_guest(backend: Backend, kept: Kept, guest: Kept, k: int) -> Array:
    xp, n = backend.xp, int(kept.rows.shape[0])
    if n == 0 or k == 0:
        return xp.zeros((n, k))
    both = _below(backend, [kept.rows, guest.rows])
    inverse = xp.concatenate([kept.inverse, backend.asarray(guest.inverse)])
    reference = xp.arange(n, n + int(guest.rows.shape[0]))
    return backend.nearest_distances(both, inverse, k, reference, rows=xp.arange(n), keep_self=True)


def _filled(backend: Backend, distances: Array, k: int) -> Array:
    missing = k - int(distances.shape[1])
    if missing == 0:
        return distances
    rest = backend.xp.full((int(distances.shape[0]), missing), np.inf)
    return backend.xp.concatenate([distances, rest], axis=1)


def _below(backend: Backend, parts: list[Matrix]) -> Matrix:
    if backend.sparse.issparse(parts[0]):
        return backend.sparse.vstack(parts, format="csr")
    return backend.xp.concatenate(parts)


def values_of(backend: Backend, part: Part, kept: Kept, found: Nearest, config: HeraldConfig) -> list[np.ndarray]:  # noqa: ARG001
    """LID of the nodes of a partition, those that wait for the largest, and those whose rows are not zero (partial)."""
    told = (*partial_lid(backend, found.distances, config), kept.inverse > 0)
    return [*(backend.to_host(one) for one in told), np.array(found.received)]
