"""Planned pool bytes against the pool of CuPy, emulated on the CPU: an upper bound, and not a loose one."""

from __future__ import annotations

import gc
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from planning.cases import DENSE, NEIGHBOURHOODS
from support.backends import FACTORIES

from herald_gpu import HeraldConfig
from herald_gpu.planning import DeviceSpec

pytestmark = pytest.mark.emulated
FACTOR = 2.0
"""A stage is planned for at most this many times what it takes."""
GROWTH_FACTOR = 3.0
"""The same for the expansion: batches of roots double, so that one root more may double the largest."""


@pytest.fixture(scope="module")
def device():
    """Give the emulated backend and its nominal device."""
    FACTORIES["emulated"]()
    import cupy

    free, _ = cupy.cuda.runtime.memGetInfo()
    return DeviceSpec(memory_bytes=int(free), bandwidth=1e12, context_bytes=0)


def high_water():
    """Give CuPy's pool, and a hook that remembers the most bytes alive in it."""
    import cupy

    pool = cupy.get_default_memory_pool()

    class HighWater(cupy.cuda.MemoryHook):
        name, mark = "high water", 0

        def malloc_postprocess(self, **_):
            self.mark = max(self.mark, pool.used_bytes())

    return pool, HighWater()


def measured(case):
    """Run a case: (most bytes alive in the pool during each stage, the result)."""
    from herald_gpu.backend.rapids import RapidsBackend

    pool, water = high_water()
    gc.collect()  # what earlier runs left behind must not be freed in the middle of this one
    peaks, before = {}, pool.used_bytes()

    class Backend(RapidsBackend):
        @contextmanager
        def stage(self, name):
            water.mark = pool.used_bytes()
            yield
            peaks[name] = water.mark - before

    backend = Backend()
    with water:
        with backend.stage("reading"):
            graph = case.build(backend)
        made = case.run(backend, graph)
    return peaks, made


@pytest.mark.parametrize("name", NEIGHBOURHOODS)
def test_pool_bytes_bound_what_the_emulated_pool_holds(device, monkeypatch, name):
    case = NEIGHBOURHOODS[name]
    case.cut(monkeypatch)
    peaks, made = measured(case)
    kept = int(made.feature_indices.shape[0])
    planned = {}
    for stage in case.plan(device=device, feature_count=None if case.config.get("feature_count") else kept).stages:
        first = stage.name.partition("/")[0]
        planned[first] = max(planned.get(first, 0), stage.pool_bytes)
    found = {stage: planned[stage] / peak for stage, peak in peaks.items() if stage != "weights"}
    assert set(planned) == set(found)
    assert {stage: factor for stage, factor in found.items() if factor < 1} == {}
    limits = {stage: GROWTH_FACTOR if stage == "expansion" else FACTOR for stage in found}
    assert {stage: factor for stage, factor in found.items() if factor > limits[stage]} == {}


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("name", ["dense", "words"])
def test_reading_from_the_device(device, name, shuffled):
    """Tables of cuDF with ids in any order, or a sparse matrix of CuPy: what the caller holds is not counted."""
    import cudf

    from herald_gpu.api import build_graph
    from herald_gpu.backend.rapids import RapidsBackend
    from herald_gpu.io.read import Columns

    case, backend = NEIGHBOURHOODS[name], RapidsBackend()
    drawn, features = case.draw()
    pool, water = high_water()
    if name == "dense":
        order = np.random.default_rng(0).permutation(drawn.n_nodes) if shuffled else np.arange(drawn.n_nodes)
        nodes = pd.DataFrame(features[order]).assign(node=order, label=drawn.labels[order], train=drawn.train[order])
        edges = pd.DataFrame({"src": drawn.edge_index[0], "dst": drawn.edge_index[1]})
        given = (cudf.DataFrame(edges), cudf.DataFrame(nodes.rename(columns=str)), None, None)
    elif shuffled:
        pytest.skip("rows of a matrix have no ids: they are in order")
    else:
        arrays = (drawn.edge_index, features, drawn.labels, drawn.train)
        given = tuple(backend.asarray(value) for value in arrays)
    before = pool.used_bytes()
    with water:
        source = backend.read(*given, columns=Columns(), unlabelled=None)
        build_graph(backend, source, HeraldConfig())
    stage = case.plan(device=device, on_device=True).stage("reading")
    assert stage.estimate
    assert 1 <= stage.pool_bytes / (water.mark - before) <= FACTOR


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("megabytes", [4, 8, 32])
def test_batches_follow_free_memory_as_planned(monkeypatch, megabytes):
    from support.doubles import cuml

    from herald_gpu.backend.rapids import device as backend_device
    from herald_gpu.backend.rapids import graphs

    room, (pool, _) = megabytes * 10**6, high_water()
    before = pool.used_bytes()
    for module in (backend_device, graphs):
        monkeypatch.setattr(module, "free_bytes", lambda: max(0, room - (pool.used_bytes() - before)))
    queries, search = [], cuml.NearestNeighbors.kneighbors

    def counted(self, given, *args, **options):
        queries.append(int(given.shape[0]))
        return search(self, given, *args, **options)

    monkeypatch.setattr(cuml.NearestNeighbors, "kneighbors", counted)
    peaks, _ = measured(DENSE)
    planned = DENSE.plan(device=DeviceSpec(memory_bytes=room, bandwidth=1e12, context_bytes=0))
    near, grown = planned.stage("scoring/neighbours"), planned.stage("expansion")
    assert near.batch == pytest.approx(queries[0], rel=0.15)
    assert near.batches == pytest.approx(len(queries), rel=0.15)
    assert peaks["scoring"] <= max(near.pool_bytes, planned.stage("scoring/scores").pool_bytes)
    assert peaks["expansion"] <= grown.pool_bytes


@pytest.mark.parametrize("part", ["features/tree", "features/fisher", "scoring/scores"])
@pytest.mark.parametrize("name", ["a tree decides", "words"])
def test_parts_of_stages_one_by_one(device, name, part):
    """The smaller part of a stage is bounded too, not only its larger one."""
    from herald_gpu import ops
    from herald_gpu.backend.rapids import RapidsBackend
    from herald_gpu.stages.feature_budget import FeatureBudget, smoothed_rows
    from herald_gpu.stages.features import choose_features
    from herald_gpu.stages.scoring import boundary_scores, prototype_scores

    case, backend, (pool, water) = NEIGHBOURHOODS[name], RapidsBackend(), high_water()
    before = pool.used_bytes()
    graph = case.build(backend)
    count = graph.n_features // 2
    chosen = backend.asarray(list(range(count)))

    def dense_rows():
        rows = smoothed_rows(backend, graph, backend.xp.flatnonzero(graph.train))
        return rows.toarray() if backend.sparse.issparse(rows) else rows

    def scores():
        kept = ops.take_columns(backend, graph.features, chosen)
        inverse_norm = ops.inverse(backend, ops.row_norms(backend, kept))
        return prototype_scores(backend, graph, kept, inverse_norm), boundary_scores(backend, graph)

    works = {
        "features/tree": dense_rows,
        "features/fisher": lambda: choose_features(
            backend, graph, 0.5, FeatureBudget(count, None), HeraldConfig.paper()
        ),
        "scoring/scores": scores,
    }

    with water:
        works[part]()
    config = HeraldConfig.paper(feature_count=None if part == "features/tree" else count)
    planned = case.plan(device=device, config=config).stage(part).pool_bytes
    assert 1 <= planned / (water.mark - before) <= FACTOR
