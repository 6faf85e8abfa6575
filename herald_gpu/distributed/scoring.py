"""Scores of nodes in partitions: centroids and boundary shares from partial sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herald_gpu import ops
from herald_gpu.distributed.training import add_arrays
from herald_gpu.stages.scoring import boundary_shares, centroid_cosines, centroids_of, class_sums

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.distributed.job import Job
    from herald_gpu.distributed.parts import Part
    from herald_gpu.distributed.routes import Block
    from herald_gpu.distributed.training import Training


def describe(job: Job, training: Training, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Prototype and boundary scores of all nodes, on the kept features."""
    n_classes = job.layout.n_classes
    found = job.combined("scoring/centroids", lambda: job.each(centroid_sums, columns, n_classes, lists=()), add_arrays)
    (centroids,) = job.crew.gather([job.crew.submit(_centroids, found[0])])
    scored = job.partials(
        "scoring/cosines", lambda: job.each(cosines, columns, centroids, lists=(training.tables, training.rows))
    )
    told = job.crew.gather(scored)
    prototype, boundary = (np.concatenate([one[place] for one in told]) for place in (0, 1))
    return prototype, boundary


def kept_rows(backend: Backend, part: Part, columns: np.ndarray) -> tuple[Matrix, Array]:
    """Kept features of a partition, and one over the length of each row."""
    kept = ops.take_columns(backend, part.features, backend.asarray(columns))
    if int(kept.shape[0]) == 0:
        return kept, backend.xp.zeros(0)
    return kept, ops.inverse(backend, ops.row_norms(backend, kept))


def centroid_sums(backend: Backend, part: Part, columns: np.ndarray, n_classes: int) -> list[np.ndarray]:
    """Sums of normalised training rows by class (partial)."""
    kept, inverse = kept_rows(backend, part, columns)
    return [backend.to_host(class_sums(backend, kept, part.labels, inverse, n_classes)), np.array(0)]


def _centroids(backend: Backend, sums: np.ndarray) -> np.ndarray:
    return backend.to_host(centroids_of(backend, backend.asarray(sums)))


def cosines(
    backend: Backend, part: Part, table: Block, rows: Array, columns: np.ndarray, centroids: np.ndarray
) -> list[np.ndarray]:
    """Prototype and boundary scores of the nodes of a partition."""
    kept, inverse = kept_rows(backend, part, columns)
    prototype = centroid_cosines(backend, kept, part.labels, inverse, backend.asarray(centroids))
    boundary = backend.xp.zeros(part.n_rows, dtype=backend.xp.float64)
    boundary[rows] = boundary_shares(backend, table.values, part.labels[rows])
    return [backend.to_host(prototype), backend.to_host(boundary)]
