"""The same answer for any partitioning: nodes, features and edges are those of a single machine."""

from __future__ import annotations

from dataclasses import dataclass, replace

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.backends import FACTORIES
from support.crew import Here
from support.graphs import random_raw
from support.sameness import assert_same_graph

from herald_gpu import HeraldConfig, condense
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.distributed import lead, neighbourhoods, routes
from herald_gpu.distributed.front import condense_collections
from herald_gpu.errors import BudgetError
from herald_gpu.io.read import Columns

CPU = CpuBackend()
PRESETS = {
    "default": HeraldConfig(),
    "landmarks": HeraldConfig(exemplar_rule="landmarks"),
    "cover": HeraldConfig(exemplar_rule="cover"),
    "linked": HeraldConfig(landmarks=False, homophily_switch=0.0, linked_share=1.0),
    "narrow": HeraldConfig(smallest_pool=4, largest_pool=6, trial_nodes=7, fewest_exemplars=1, patience=2),
    "dense": HeraldConfig(feature_density=True, hops=1, encoding="graph", storage="dense", min_class_size=3),
    "best effort": HeraldConfig(on_infeasible="best_effort"),
    "paper": HeraldConfig.paper(),
    "shallow": HeraldConfig.paper(depth=1, feature_count=5, patience=1, lid_neighbours=3, trim_roots=True),
    "sampled": HeraldConfig.paper(lid="sampled", lid_reference=9, lid_scaling="rank", lid_zero_rows="zero", hops=0),
    "tree": HeraldConfig.paper(feature_ranking="tree", node_ranking="random"),
    "reduced": HeraldConfig.paper(pca_variance=0.7),
}
settled = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@dataclass(frozen=True)
class Case:
    """A graph, what is asked of it, and how it is cut."""

    edges: np.ndarray
    features: np.ndarray
    labels: np.ndarray
    train: np.ndarray
    ratio: float
    config: HeraldConfig
    seed: int
    bounds: tuple[int, ...]
    chunk: int

    def whole(self):
        return self._run(
            lambda ratio: condense(
                *(self.edges, self.features, self.labels, self.train),
                ratio=ratio,
                config=self.config,
                backend="cpu",
                random_state=self.seed,
            )
        )

    def parted(self, backend=CPU, **changes):
        graph = (
            da.from_array(self.edges, chunks=(2, self.chunk)),
            da.from_array(self.features, chunks=(self.chunk, -1)),
            self.labels,
            da.from_array(self.train, chunks=self.chunk),
        )
        options = {"columns": Columns(), "unlabelled": -1, "output_type": "input", "bounds": self.bounds, **changes}
        crew = Here(backend)
        return self._run(
            lambda ratio: condense_collections(
                graph, ratio, config=self.config, backend="cpu", seed=self.seed, crew=crew, **options
            )
        )

    def _run(self, call):
        """Condense; where the ratio is too small, at the smallest one there is."""
        try:
            return call(self.ratio)
        except BudgetError as error:
            return call(error.smallest_ratio)


@st.composite
def cases(draw, presets=tuple(PRESETS)):
    kind, n = draw(st.sampled_from(("binary", "counts", "dense"))), draw(st.integers(12, 60))
    drawn = random_raw(kind, n, draw(st.integers(0, 2**20)), n_features=draw(st.integers(2, 30)))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    edges = np.array(drawn.edges).reshape(-1, 2)
    repeated = edges[rng.integers(len(edges), size=draw(st.integers(0, 5)))] if len(edges) else edges
    loops = np.repeat(rng.integers(n, size=(draw(st.integers(0, 3)), 1)), 2, axis=1)
    edges = rng.permutation(np.concatenate([edges, repeated, loops, [[0, n - 1]]]))
    inner = draw(st.sets(st.integers(1, n - 1), max_size=5))
    return Case(
        edges=edges.T.copy(),
        features=drawn.x,
        labels=np.array(drawn.y),
        train=np.array(drawn.train),
        ratio=draw(st.floats(0.02, 1.0)),
        config=PRESETS[draw(st.sampled_from(presets))],
        seed=draw(st.integers(0, 3)),
        bounds=(0, *sorted(inner), n),
        chunk=draw(st.integers(5, 70)),
    )


@settled
@given(cases())
def test_any_partitioning_gives_the_same_graph(case):
    assert_same_graph(case.parted(), case.whole())


@settings(settled, max_examples=15)
@given(cases(("default", "paper", "narrow")))
def test_so_it_does_when_columns_and_nodes_come_in_small_lots(case):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(routes, "BLOCK_BYTES", 8 * 64 * 3)
        patch.setattr(lead, "MORE_ROOTS", 2)
        patch.setattr(lead, "FEWER_ROOTS", 1)
        patch.setattr(neighbourhoods, "FIRST_ROOTS", 1)
        assert_same_graph(case.parted(), case.whole())


@settings(settled, max_examples=10)
@given(cases(("default", "paper")), st.sampled_from(("text", "numbers")))
def test_tables_in_any_order_of_rows_do_too(case, ids):
    rng = np.random.default_rng(case.seed)
    n = len(case.labels)
    names = np.array([f"n{place:03d}" for place in range(n)]) if ids == "text" else np.arange(n) * 7 - 3
    nodes = pd.DataFrame(case.features, columns=[f"f{place}" for place in range(case.features.shape[1])])
    nodes = nodes.assign(node=names, label=case.labels, train=case.train).iloc[rng.permutation(n)]
    edges = pd.DataFrame({"src": names[case.edges[0]], "dst": names[case.edges[1]]})
    given = (
        dd.from_pandas(edges.reset_index(drop=True), npartitions=3),
        dd.from_pandas(nodes.reset_index(drop=True), npartitions=4),
        None,
        None,
    )
    options = {"columns": Columns(), "unlabelled": -1, "output_type": "input", "seed": case.seed, "config": case.config}
    parted = case._run(lambda ratio: condense_collections(given, ratio, backend="cpu", crew=Here(CPU), **options))
    whole = case._run(
        lambda ratio: condense(edges, nodes, ratio=ratio, config=case.config, backend="cpu", random_state=case.seed)
    )
    assert_same_graph(parted, whole)
    pd.testing.assert_frame_equal(parted.edges, whole.edges)
    pd.testing.assert_frame_equal(parted.features, whole.features)


@settings(settled, max_examples=4)
@given(cases(("default", "paper")))
def test_nothing_is_moved_to_the_host_in_silence(case):
    config = replace(case.config, feature_count=min(5, case.features.shape[1]))
    case = replace(case, config=config)
    assert_same_graph(case.parted(FACTORIES["strict"]()), case.whole())
