"""How many features to keep: smoothed training rows brought to one worker, where a decision tree grows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu import ops
from herald_gpu.backend import EXACT_TREE
from herald_gpu.distributed.parts import nbytes, places_in
from herald_gpu.distributed.routes import give_degrees, give_features, stack
from herald_gpu.stages.feature_budget import FeatureBudget, smooth

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend
    from herald_gpu.config import HeraldConfig
    from herald_gpu.distributed.job import Job
    from herald_gpu.distributed.parts import Cut, Part
    from herald_gpu.distributed.training import Training


def count_features(job: Job, training: Training, people: Any) -> FeatureBudget:  # noqa: ANN401 - a future
    """Count the features that a tree on all smoothed training rows splits on; ``feature_count=`` needs no tree."""
    config, layout = job.config, job.layout
    if config.feature_count is not None:
        return FeatureBudget(min(config.feature_count, layout.n_features), None)
    route, crew = training.route, job.crew
    degrees = route.exchange(-1, give_degrees, job.parts)
    width, blocks = route.width(layout.n_features), []
    for low in range(0, layout.n_features, width):
        columns = np.arange(low, min(layout.n_features, low + width))

        def make(columns: np.ndarray = columns) -> list[Any]:
            given = route.exchange(-1, give_features, job.parts, columns)
            return job.each(smooth_part, lists=(route.cuts[-1], degrees, given))

        found = job.partials(f"features/smooth-{low}", make)
        job.count(crew.gather([crew.submit(_received, found)])[0])
        blocks.append(crew.submit(below, found, near=job.parts[0]))
    sparse = layout.kind != "dense"
    tree, name = crew.gather([crew.submit(grow_tree, blocks, people, config, sparse, near=job.parts[0])])[0]
    return FeatureBudget(len(tree), tree, name)


def smooth_part(
    backend: Backend,
    part: Part,  # noqa: ARG001 - every part has one
    cut: Cut,
    degrees: list[Array],
    given: list[Array],
) -> list[np.ndarray]:
    """Smoothed training rows of a partition (partial)."""
    xp = backend.xp
    around, degree = stack(backend, cut, given), stack(backend, cut, degrees)
    inverse = 1.0 / (degree.values.astype(xp.float64) + 1.0)
    own = places_in(backend, cut.columns, cut.own)
    rows = smooth(backend, cut.matrix, around.values, own, inverse)
    return [backend.to_host(rows), np.array(around.received + degree.received)]


def below(backend: Backend, found: list[list[np.ndarray]]) -> np.ndarray:  # noqa: ARG001 - every task has one
    """Rows of all partitions one below the other."""
    return np.concatenate([one[0] for one in found])


def grow_tree(
    backend: Backend,
    blocks: list[np.ndarray],
    people: list[np.ndarray],
    config: HeraldConfig,
    sparse: bool,  # noqa: FBT001 - tasks take their arguments by position
) -> tuple[np.ndarray, str]:
    """Features that the tree splits on, and which tree that is."""
    on_host = config.feature_tree == "host"
    rows = backend.asarray(np.concatenate(blocks, axis=1))
    rows = ops.to_csr(backend, rows) if sparse else rows
    codes = backend.asarray(people[1])
    tree = backend.tree_features(rows, codes, max_depth=config.tree_depth, seed=config.tree_seed, on_host=on_host)
    found = backend.to_host(tree)
    return (found if len(found) else np.zeros(1, dtype=found.dtype)), EXACT_TREE if on_host else backend.tree_name


def _received(backend: Backend, found: list[list[np.ndarray]]) -> int:  # noqa: ARG001 - every task has one
    return sum(int(came) + nbytes(rows) for rows, came in found)
