"""R4: the whole method through the RAPIDS backend gives what the CPU backend gives, and stays on the device."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from support.graphs import build, random_raw
from support.transfers import counted_on_device

from herald_gpu import HeraldConfig, condense, get_backend
from herald_gpu.api import build_graph
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.datasets.files import read_npz
from herald_gpu.datasets.synthetic import make_graph
from herald_gpu.io.read import Columns
from herald_gpu.pipeline import STAGES, Clock, run
from herald_gpu.stages.feature_budget import count_features

COUNTS = {"cora": 175, "citeseer": 291, "chameleon": 204}
"""k* of the exact tree: given, because histogram splits may count otherwise."""
CONFIGS = {
    "default": HeraldConfig(),
    "paper": HeraldConfig.paper(),
    "citation": HeraldConfig.published("citation"),
    "scaled": HeraldConfig.published("scaled"),
}
ASKED = {"budget": 1, "heterophily": 1, "features": 1, "rebalance": 1, "assembly": 1}
"""Transfers of a stage: one of the few numbers that the host decides by, or that the report states.

- budget: stored values and edges of the graph;
- heterophily: edges among training nodes, and how many of them stay within a class;
- features: what the cheapest node of each class costs, and the cheapest of all, to tell whether the budget can hold;
- rebalance: four counts by class, from which follows what is due; one more, named in a test below, where a class is
  absent;
- assembly: what the report states.

All others need none. The expansion is counted apart: it goes by batches of roots.
"""
MOST_VALUES = 64
"""Values of the largest transfer: some counts by class and a few numbers."""
MOST_INSIDE = 80
"""Lengths of selections and the like, which CuPy reads by itself, in all stages together."""


def condensed(backend, graph, *, ratio, config):
    """Condense with arrays in, so that everything comes back as arrays."""
    return condense(
        graph.edge_index, graph.features, graph.labels, graph.train, ratio=ratio, config=config, backend=backend
    )


def assert_same(found, ours):
    """The same graph in the same order; scores as close as float64 sums in another order are."""
    np.testing.assert_array_equal(found.node_ids, ours.node_ids)
    np.testing.assert_array_equal(found.feature_ids, ours.feature_ids)
    np.testing.assert_array_equal(found.edge_index, ours.edge_index)
    np.testing.assert_array_equal(found.labels, ours.labels)
    np.testing.assert_array_equal(found.train_mask, ours.train_mask)
    apart = found.features - ours.features
    assert abs(apart).max() <= 1e-6
    np.testing.assert_array_equal(found.is_landmark, ours.is_landmark)
    np.testing.assert_array_equal(found.edge_is_synthetic, ours.edge_is_synthetic)
    assert list(found.scores) == list(ours.scores)
    for name in set(ours.scores) - {"node", "rank"}:
        np.testing.assert_allclose(found.scores[name], ours.scores[name], rtol=1e-5, atol=1e-5, err_msg=name)
    report, expected = found.report.to_dict(), ours.report.to_dict()
    same = ("heterophily", "homophily", "weights", "storage_bytes", "full_bytes", "encoding", "class_counts", "n_edges")
    for name in (*same, "exemplar_rule", "n_landmarks", "n_synthetic_edges", "warnings"):
        assert report[name] == expected[name], name
    # A sum in another order may round a similarity to the next step and exchange a node of a fold: a few answers.
    tried, wanted = ([(t["feature_count"], t["rule"]) for t in r["trials"]] for r in (report, expected))
    assert tried == wanted
    for one, other in zip(report["trials"], expected["trials"], strict=True):
        assert one["score"] == pytest.approx(other["score"], abs=0.005)
        assert one["link_share"] == pytest.approx(other["link_share"], abs=0.005)


@pytest.mark.data
@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("preset", ["default", "paper"])
def test_real_graphs(rapids, data_dir, preset, name):
    graph = read_npz(data_dir / f"{name}.npz")
    config = CONFIGS["default"] if preset == "default" else HeraldConfig.paper(feature_count=COUNTS[name])
    ours = condensed(CpuBackend(), graph, ratio=0.05, config=config)
    found = condensed(rapids, graph, ratio=0.05, config=config)
    assert_same(found, ours)
    assert found.report.backend == "rapids"
    assert found.report.storage_ratio <= 0.05


@pytest.mark.data
@pytest.mark.parametrize("name", COUNTS)
def test_the_tree_on_the_host_counts_as_the_cpu_does(rapids, data_dir, name):
    """k* of the CPU backend without giving it: the same exact tree on the same rows."""
    given, config = read_npz(data_dir / f"{name}.npz"), HeraldConfig.paper(feature_tree="host")
    counts = []
    for backend in (CpuBackend(), rapids):
        source = backend.read(
            given.edge_index, given.features, given.labels, given.train, columns=Columns(), unlabelled=-1
        )
        graph, _ = build_graph(backend, source, config)
        found = count_features(backend, graph, config)
        assert found.tree_name == CpuBackend.tree_name
        counts.append((found.count, backend.to_host(found.tree).tolist()))
    assert counts[0] == counts[1]


@pytest.mark.data
@pytest.mark.parametrize("kind", ["citation", "scaled"])
def test_a_real_graph_as_published(rapids, data_dir, kind):
    graph = read_npz(data_dir / "cora.npz")
    config = replace(CONFIGS[kind], feature_count=COUNTS["cora"])
    ours, found = (condensed(backend, graph, ratio=0.05, config=config) for backend in (CpuBackend(), rapids))
    assert_same(found, ours)


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("seed", range(2))
def test_generated_graphs(rapids, seed, name):
    graph = make_graph(500, n_classes=4, n_features=80, seed=seed)
    config = replace(CONFIGS[name], feature_count=30)
    ours, found = (condensed(backend, graph, ratio=0.1, config=config) for backend in (CpuBackend(), rapids))
    assert_same(found, ours)


def test_rows_longer_than_a_block_of_threads(rapids):
    """CuPy picks the columns of long rows in no order: edges, features and distances must not show it."""
    rng = np.random.default_rng(4)
    x = (rng.random((300, 600)) < 0.7) * rng.integers(1, 5, (300, 600))
    hub = [(0, leaf) for leaf in range(1, 300)]
    edges = np.array(hub + [(int(a), int(b)) for a, b in rng.integers(300, size=(600, 2))]).T
    labels, train = rng.integers(3, size=300), rng.random(300) < 0.5
    given = (edges, scipy.sparse.csr_matrix(x.astype(np.float32)), labels, train)
    for preset in (HeraldConfig.paper(), HeraldConfig(homophily_switch=0.0)):
        options = {"ratio": 0.9, "config": replace(preset, feature_count=450, storage="sparse")}
        ours, found = (condense(*given, backend=backend, **options) for backend in (CpuBackend(), rapids))
        assert_same(found, ours)


def test_the_backend_by_its_name(rapids):
    """The front door finds the backend itself."""
    graph = make_graph(200, n_classes=3, n_features=30, seed=1)
    config = HeraldConfig(feature_count=12)
    assert type(get_backend("rapids")) is type(rapids)
    assert get_backend("auto").name == "rapids"
    found = condensed("rapids", graph, ratio=0.2, config=config)
    assert_same(found, condensed("cpu", graph, ratio=0.2, config=config))
    assert set(STAGES["exemplars"]) <= set(found.report.timings)
    assert found.report.peak_memory_bytes > 0


def test_the_tree_counts_features_on_the_device(rapids):
    graph = make_graph(200, n_classes=3, n_features=30, seed=2)
    report = condensed(rapids, graph, ratio=0.3, config=HeraldConfig.paper()).report
    assert report.feature_tree == rapids.tree_name
    assert 1 <= report.feature_count <= 30


# Transfers


def transfers(rapids, n, config, *, ratio=0.3, **options):
    """What a run on n nodes brings to the host, once the graph is on the device."""
    published = not config.exact
    given = random_raw("counts", n, seed=1, n_features=20, **options)
    graph = build(rapids, given, stored=published, all_labels=published)
    with counted_on_device() as made:
        outcome = run(rapids, graph, ratio, config, seed=0, clock=Clock(rapids))
    return made, outcome


@pytest.fixture
def batches(monkeypatch, rapids):  # noqa: ARG001 - the module cannot be imported without CuPy
    """Count expansions by hops, and the batches of roots they went by."""
    from herald_gpu.backend.rapids import graphs

    counted, start, of = {"growths": 0, "batches": 0}, graphs.Neighbourhoods.__init__, graphs.Neighbourhoods.of

    def starting(self, adjacency, depth):
        counted["growths"] += depth > 0
        start(self, adjacency, depth)

    def asking(self, roots):
        counted["batches"] += self.depth > 0
        return of(self, roots)

    monkeypatch.setattr(graphs.Neighbourhoods, "__init__", starting)
    monkeypatch.setattr(graphs.Neighbourhoods, "of", asking)
    return counted


@pytest.mark.parametrize("name", ["paper", "citation", "scaled"])
def test_a_stage_asks_once(rapids, name, batches):
    made, _ = transfers(rapids, 120, replace(CONFIGS[name], feature_count=10))
    asked = Counter({stage: count for stage, count in made.asked_in.items() if stage != "expansion"})
    assert asked <= Counter(ASKED)
    # How many nodes n* is; and for each expansion the size of its first batch, and what each batch came to.
    assert made.asked_in["expansion"] == 1 + batches["growths"] + batches["batches"]
    assert made.largest <= MOST_VALUES
    assert made.inside.total() <= MOST_INSIDE


def test_absent_classes_are_looked_for_once_more(rapids):
    """Which classes are still without a node after filling is asked only if one was without before."""
    config = HeraldConfig.paper(feature_count=10, on_infeasible="best_effort")
    made, outcome = transfers(rapids, 120, config, ratio=0.015, n_classes=12)
    assert outcome.missing
    assert made.asked_in["rebalance"] == 2
    assert not Counter({stage: made.asked_in[stage] for stage in ASKED}) - Counter(ASKED) - Counter({"rebalance": 1})


def test_transfers_do_not_grow_with_the_graph(rapids):
    (small, _), (large, _) = (transfers(rapids, n, HeraldConfig.paper(feature_count=10)) for n in (240, 1920))
    del small.asked_in["expansion"], large.asked_in["expansion"]
    assert large.asked_in == small.asked_in
    assert large.largest == small.largest
    assert large.inside.total() <= small.inside.total() + 8  # a batch of roots is sorted, and batches double


@pytest.mark.parametrize("switch", [0.0, 1.0], ids=["homophilic", "heterophilic"])
def test_exemplars_ask_no_more_of_a_large_graph(rapids, switch):
    config = HeraldConfig(feature_count=10, homophily_switch=switch)
    (small, one), (large, other) = (transfers(rapids, n, config) for n in (240, 1920))
    assert len(one.picked.trials) == len(other.picked.trials) == 3
    assert large.asked_in == small.asked_in
    assert large.largest == small.largest <= MOST_VALUES
    assert {stage: small.asked_in[stage] for stage in ("budget", "heterophily", "assembly")} == dict.fromkeys(
        ("budget", "heterophily", "assembly"), 1
    )


@pytest.mark.parametrize("trim", [False, True])
def test_many_classes_ask_and_wait_no_more_than_few(rapids, trim, monkeypatch):
    """Candidates are tried class by class, without a word to the host in between, nor a length to wait for."""
    filled, grow = [], type(rapids).grow

    def growing(self, *args, depth, **options):
        filled.extend([None] * (depth == 0))
        return grow(self, *args, depth=depth, **options)

    monkeypatch.setattr(type(rapids), "grow", growing)
    config, counts, said = HeraldConfig.paper(feature_count=10, trim_roots=trim), [], []
    for n_classes in (6, 20):
        filled.clear()
        made, _ = transfers(rapids, 400, config, n_classes=n_classes)
        counts.append(len(filled))
        said.append((made.asked_in["rebalance"], made.inside_in["rebalance"]))
    assert 1 < counts[0] < counts[1]
    assert said[0] == said[1]
    assert said[0][0] == 1


def test_transfers_are_noticed(rapids):
    from herald_gpu import ops

    values = rapids.xp.arange(20)
    with counted_on_device() as made:
        rapids.to_host(values)
        ops.scalar(values.sum())
        ops.mask_of(rapids, values, 20)
        ops.fetch(rapids, values, values.sum())
        with Clock(rapids).stage("features"):
            ops.scalar(values.max())
    assert (made.arrays.total(), made.scalars.total()) == (2, 2)
    assert made.asked_in == {"": 3, "features": 1}
    assert made.largest == 21
    assert rapids.xp.arange(3).get().tolist() == [0, 1, 2]
