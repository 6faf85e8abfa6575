"""The seam: the whole method runs on other arrays than NumPy's, strict or CuPy's, with the same outcome."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from support.backends import DEVICES, FACTORIES
from support.graphs import build, host, random_raw, raw
from support.strict import MISSING, StrictArray, StrictBackend, counted

from herald_gpu import api
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.config import HeraldConfig
from herald_gpu.pipeline import Clock, run

PAPER = HeraldConfig.paper()
CONFIGS = {
    "default": HeraldConfig(),
    "paper": PAPER,
    "citation": HeraldConfig.published("citation"),
    "pubmed": HeraldConfig.published("pubmed"),
    "scaled": HeraldConfig.published("scaled"),
    "prototype only": replace(PAPER, fixed_weights=(1, 0, 0)),
    "boundary only": replace(PAPER, fixed_weights=(0, 1, 0)),
    "lid only": replace(PAPER, fixed_weights=(0, 0, 1)),
    "fixed weights": replace(PAPER, fixed_weights=(0.4, 0.4, 0.2)),
    "random ranking": replace(PAPER, node_ranking="random"),
    "tree features": replace(PAPER, feature_ranking="tree"),
    "one hop": replace(PAPER, hops=0),
    "all features": replace(PAPER, feature_count=1000),
    "roots only": replace(PAPER, depth=0),
    "no headroom": replace(PAPER, expansion_factor=1.0),
    "trimmed roots": replace(PAPER, trim_roots=True),
    "sampled lid": replace(PAPER, lid="sampled", lid_reference=20),
    "host tree": replace(PAPER, feature_tree="host"),
    "dense storage": replace(PAPER, storage="dense"),
    "pca": replace(PAPER, pca_variance=0.9, storage="dense"),
    "best effort": replace(PAPER, on_infeasible="best_effort"),
    "real edges": HeraldConfig(landmarks=False, edges="real"),
    "homophilic": HeraldConfig(homophily_switch=0.0),
    "herding": HeraldConfig(landmarks=False, homophily_switch=0.0, exemplar_rule="herd", linked_share=1.0),
    "as priced": HeraldConfig(homophily_switch=0.0, encoding="graph"),
    "a few features": HeraldConfig(homophily_switch=0.0, feature_count=5),
    "small pools": HeraldConfig(smallest_pool=5, largest_pool=8, trial_nodes=10),
    "default pca": HeraldConfig(pca_variance=0.9, storage="dense"),
    "default best effort": HeraldConfig(on_infeasible="best_effort"),
}
KINDS = ("binary", "counts", "dense")
ARRAYS = ("nodes", "feature_indices", "labels", "train_mask", "is_root", "is_landmark", "synthetic")
MOST_TRANSFERS = 8
MOST_IN_A_TRIAL = 3
"""What tells encodings apart, whether one fits, and how the trial ended."""
MOST_SCALARS = 25
TOLERANCE = {"strict": 1e-12, "rapids": 1e-5}


@pytest.fixture(scope="module", params=["strict", *DEVICES])
def other(request):
    return FACTORIES[request.param]()


def comparable(config, other):
    """Fix the number of features where the other backend's tree has histogram splits, and may count otherwise."""
    same_tree = other.tree_name == CpuBackend.tree_name or config.feature_tree == "host"
    if config.selection == "exemplars" or same_tree or config.feature_count is not None:
        return config
    if config.feature_ranking == "tree":
        pytest.skip("the features would be those of another tree")
    return replace(config, feature_count=9)


def condense(backend, given, config, ratio):
    published = not config.exact
    graph = build(backend, given, stored=published, all_labels=published)
    return run(backend, graph, ratio, config, seed=7, clock=Clock(backend))


def assert_same(ours, theirs, other):
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(ours, name), host(other, getattr(theirs, name)), err_msg=name)
    np.testing.assert_array_equal(ours.adjacency.toarray(), host(other, theirs.adjacency))
    np.testing.assert_allclose(host(CpuBackend(), ours.features), host(other, theirs.features), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(ours.scores.ranking, host(other, theirs.scores.ranking))
    for name in ("prototype", "boundary", "lid", "score"):
        mine, close = getattr(ours.scores, name), TOLERANCE[other.name]
        if mine is None:
            assert getattr(theirs.scores, name) is None
            continue
        np.testing.assert_allclose(
            host(other, getattr(theirs.scores, name)), mine, rtol=close, atol=close, err_msg=name
        )
    assert ours.hetero == theirs.hetero
    assert ours.n_synthetic == theirs.n_synthetic
    for name in ("weights", "trials", "trial"):
        assert getattr(ours.picked, name) == getattr(theirs.picked, name), name
    assert ours.sizes == theirs.sizes
    assert ours.missing == theirs.missing
    assert ours.warnings == theirs.warnings
    mine, close = ours.picked.expansion, theirs.picked.expansion
    assert (mine is None) == (close is None)
    if mine is not None:
        assert (mine.depth, mine.target_size) == (close.depth, close.target_size)


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_whole_method_is_the_same_on_another_device(other, kind, name):
    given, config = random_raw(kind, 80, seed=3), comparable(CONFIGS[name], other)
    ratio = 0.02 if name.endswith("best effort") else 0.3
    ours = condense(CpuBackend(), given, config, ratio)
    graph = build(other, given, stored=not config.exact, all_labels=not config.exact)
    with counted() as transfers:
        theirs = run(other, graph, ratio, config, seed=7, clock=Clock(other))
    assert_same(ours, theirs, other)
    # Where features are ranked by what was learnt, numbers of them are looked at once more.
    trials = len(theirs.picked.trials) + (config.selection == "exemplars")
    assert transfers.to_host <= MOST_TRANSFERS + trials * MOST_IN_A_TRIAL
    assert transfers.to_device <= MOST_TRANSFERS
    assert transfers.scalars <= MOST_SCALARS


def transfers_of(config, n):
    strict = StrictBackend()
    graph = build(strict, random_raw("counts", n, seed=1))
    with counted() as transfers:
        made = run(strict, graph, 0.3, config, seed=0, clock=Clock(strict))
    return transfers, made


@pytest.mark.parametrize("n", [60, 240])
def test_transfers_do_not_grow_with_the_graph(n):
    transfers, _ = transfers_of(PAPER, n)
    assert transfers.to_host + transfers.to_device <= MOST_TRANSFERS
    assert transfers.scalars <= MOST_SCALARS


@pytest.mark.parametrize("name", ["default", "homophilic", "real edges"])
def test_transfers_of_exemplars_do_not_grow_with_the_graph(name):
    (small, one), (large, other) = (transfers_of(CONFIGS[name], n) for n in (60, 240))
    assert len(one.picked.trials) == len(other.picked.trials)
    assert small == large


@pytest.mark.parametrize("kind", ["citation", "pubmed", "scaled"])
def test_edges_kept_as_stored_are_the_same_on_another_device(other, kind):
    """Products bring a matrix to canonical format in place on the device: duplicates must count all the same."""
    given = random_raw("counts", 60, seed=5)
    twice = replace(given, edges=given.edges + given.edges[:15] + ((4, 4), (5, 5), (5, 5)))
    config = comparable(HeraldConfig.published(kind), other)
    ours, theirs = (condense(backend, twice, config, 0.05) for backend in (CpuBackend(), other))
    assert_same(ours, theirs, other)


@pytest.mark.parametrize("kind", KINDS)
def test_running_leaves_the_graph_as_it_was(backend, kind):
    graph = build(backend, random_raw(kind, 60, seed=9))
    before = [host(backend, part).copy() for part in (graph.adjacency, graph.features, graph.labels, graph.train)]
    run(backend, graph, 0.3, PAPER, seed=0, clock=Clock(backend))
    after = [host(backend, part) for part in (graph.adjacency, graph.features, graph.labels, graph.train)]
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("config", [HeraldConfig(), HeraldConfig.published("scaled")], ids=["default", "published"])
def test_the_front_door_opens_to_another_device(other, config, kind, container, monkeypatch):
    given, config = random_raw(kind, 60, seed=8), comparable(config, other)
    results = []
    for backend in (CpuBackend(), other):
        monkeypatch.setattr(api, "get_backend", lambda _, backend=backend: backend)
        pairs, labels = np.array(given.edges).T, np.array(given.y)
        results.append(api.condense(pairs, container(given.x), labels, np.array(given.train), ratio=0.3, config=config))
    ours, theirs = results
    np.testing.assert_array_equal(ours.node_ids, theirs.node_ids)
    np.testing.assert_array_equal(ours.edge_index, theirs.edge_index)
    assert ours.report.storage_bytes == theirs.report.storage_bytes
    assert theirs.report.backend == other.name


# What the strict device refuses

STRICT = StrictBackend()
HOST = np.arange(3.0)
DEVICE = StrictArray(np.arange(3.0))
SPARSE = STRICT.sparse.csr_matrix(StrictArray(np.eye(3, dtype=np.float32)))
LEAKS = {
    "asarray": lambda: np.asarray(DEVICE),
    "array": lambda: np.array(DEVICE, dtype=float),
    "ufunc": lambda: np.sqrt(DEVICE),
    "function": lambda: np.concatenate([DEVICE, DEVICE]),
    "reduction": lambda: np.sum(DEVICE),
    "plus": lambda: DEVICE + HOST,
    "reflected plus": lambda: HOST + DEVICE,
    "in place": lambda: DEVICE.__iadd__(HOST),
    "comparison": lambda: DEVICE == HOST,
    "product": lambda: DEVICE @ HOST,
    "zero-dimensional": lambda: DEVICE * np.array(2.0),
    "host index": lambda: DEVICE[np.array([0, 1])],
    "list index": lambda: DEVICE[[0, 1]],
    "host value": lambda: DEVICE.__setitem__(slice(None), HOST),
    "device bound": lambda: DEVICE[: DEVICE.sum()],
    "device shape": lambda: STRICT.xp.zeros(StrictArray(np.array(3))),
    "device range": lambda: range(StrictArray(np.array(3))),
    "iteration": lambda: list(DEVICE),
    "membership": lambda: 1.0 in DEVICE,
    "several to one": lambda: float(DEVICE),
    "one in a row": lambda: float(DEVICE[:1]),
    "namespace": lambda: STRICT.xp.sqrt(HOST),
    "joined": lambda: STRICT.xp.concatenate([DEVICE, HOST]),
    "list": lambda: STRICT.xp.cumsum([1, 2]),
    "repeats": lambda: STRICT.xp.repeat(DEVICE, np.array([1, 2, 3])),
    "hash": lambda: {DEVICE: 1},
    "sparse asarray": lambda: np.asarray(SPARSE),
    "sparse times host": lambda: SPARSE @ HOST,
    "host times sparse": lambda: HOST @ SPARSE,
    "sparse index": lambda: SPARSE[np.array([0])],
    "solved": lambda: STRICT.xp.linalg.solve(SPARSE.toarray(), HOST),
    "stacked": lambda: STRICT.sparse.vstack([SPARSE, scipy.sparse.eye(3, format="csr")]),
    "sparse plus host": lambda: SPARSE + scipy.sparse.eye(3, format="csr"),
}


@pytest.mark.parametrize("leak", LEAKS.values(), ids=LEAKS)
def test_leaks_are_refused(leak):
    with pytest.raises(TypeError):
        leak()


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (ValueError, lambda xp, _: xp.argsort(DEVICE, kind="quicksort")),
        (ValueError, lambda xp, _: xp.sort(DEVICE, kind="mergesort")),
        (AttributeError, lambda xp, _: xp.lexsort((DEVICE, DEVICE))),
        (AttributeError, lambda xp, _: xp.where(True, DEVICE, 0)),
        (NotImplementedError, lambda xp, _: xp.unique(DEVICE[None, :], axis=0)),
        (NotImplementedError, lambda xp, _: xp.argpartition(DEVICE, 1)),
        (ValueError, lambda _, sparse: sparse.csr_matrix(StrictArray(np.eye(2, dtype=int)))),
        (ValueError, lambda _, sparse: sparse.csr_matrix((HOST, HOST, HOST), shape=(2, 2))),
        (AttributeError, lambda _, sparse: sparse.lil_matrix),
        (AttributeError, lambda _, __: SPARSE.tolil()),
        (ValueError, lambda _, __: SPARSE.astype(int)),
        (ValueError, lambda _, __: bool(DEVICE)),
    ],
)
def test_what_cupy_cannot_do_is_refused(error, call):
    with pytest.raises(error):
        call(STRICT.xp, STRICT.sparse)


@pytest.mark.parametrize("name", sorted(MISSING))
def test_names_that_cupy_lacks_are_missing(name):
    assert not hasattr(STRICT.xp, name)


def test_transfers_are_counted():
    with counted() as made:
        there = STRICT.asarray(HOST)
        STRICT.to_host(there)
        STRICT.to_host(SPARSE)
        float(there.sum())
        int(there.max())
        bool((there > 0).any())
        there[0].item()
    assert (made.to_device, made.to_host, made.scalars) == (1, 2, 4)


def test_reductions_stay_on_the_device():
    for value in (DEVICE.sum(), DEVICE.max(), DEVICE[0], STRICT.xp.count_nonzero(DEVICE), DEVICE.mean()):
        assert isinstance(value, StrictArray)
        assert value.ndim == 0


def test_reserved_memory_is_garbage():
    assert np.isnan(STRICT.xp.empty((2, 2)).get()).all()
    assert (STRICT.xp.empty(3, dtype=np.int64).get() != 0).all()


def test_products_bring_the_operand_to_canonical_format():
    parts = (np.ones(3, dtype=np.float32), np.array([2, 0, 0]), np.array([0, 3]))
    matrix = STRICT.sparse.csr_matrix(tuple(StrictArray(part) for part in parts), shape=(1, 3))
    assert matrix.nnz == 3
    assert (matrix @ StrictArray(np.ones((3, 2)))).flags.f_contiguous
    assert matrix.nnz == 2
    assert matrix.indices.get().tolist() == [0, 2]


def test_a_star_without_training_edges_runs(backend):
    given = raw([(0, 1), (0, 2)], np.eye(3), [0, 1, 0], [False, True, True])
    result = run(backend, build(backend, given), 1.0, PAPER, seed=0, clock=Clock(backend))
    assert result.hetero.n_edges == 0
    assert any("no edge joins two training nodes" in note for note in result.warnings)
