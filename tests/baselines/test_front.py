"""run(): every baseline by its name, the same on every backend, inside the budget."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from outcomes import RATIO, cheapest, directed_edges, nominal_bytes, packed_bytes, plain, small_graph
from support.backends import DEVICES, FACTORIES
from support.graphs import random_raw

from herald_gpu import baselines
from herald_gpu.baselines import NAMES, run
from herald_gpu.errors import BudgetError, ConfigError, InputError

quick = settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
CASES = {
    "random": ("random", {}),
    "random, no balance": ("random", {"balanced": False}),
    "herding": ("herding", {}),
    "herding, propagated": ("herding", {"space": "propagated"}),
    "kcenter": ("kcenter", {}),
    "kcenter, no edges": ("kcenter", {"links": "none"}),
    "kcenter, neighbours": ("kcenter", {"links": "expanded", "depth": 2}),
    "bonsai": ("bonsai", {}),
    "bonsai, all features": ("bonsai", {"features": "all", "sample": 0.5}),
    "bonsai, slips": ("bonsai", {"slips": ("patience", "removal"), "patience": 4}),
    "bonsai, exemplars": ("bonsai", {"links": "induced"}),
    "cluster": ("cluster", {"threshold": 0.3}),
    "cluster, sparse": ("cluster", {"top": 3, "links": "none"}),
    "herding, fisher": ("herding", {"features": "fisher", "feature_count": 5}),
    "herding, dense": ("herding", {"storage": "dense"}),
    "herding, encoded": ("herding", {"encoding": "auto"}),
    "bonsai, encoded": ("bonsai", {"encoding": "int8"}),
    "cluster, encoded": ("cluster", {"encoding": "auto", "threshold": 0.3}),
    "cluster, sparse and encoded": ("cluster", {"encoding": "int8", "top": 3}),
}
"""All that need no torch."""
KINDS = ("binary", "counts", "dense")
GRAPH = small_graph()
ARRAYS = (GRAPH.edge_index, GRAPH.features, GRAPH.labels, GRAPH.train)


def parts(raw):
    return np.array(raw.edges).T, raw.x, np.array(raw.y), np.array(raw.train)


def feasible(name, graph, ratio, **options):
    """Run at a ratio or, where that is too small, at the smallest one there is; None where there is none."""
    try:
        return run(name, *graph, ratio=ratio, **options)
    except BudgetError as error:
        return run(name, *graph, ratio=error.smallest_ratio, **options) if error.smallest_ratio <= 1 else None


@quick
@given(st.sampled_from(sorted(CASES)), st.sampled_from(KINDS), st.integers(0, 10**6), st.floats(0.02, 1.0))
def test_the_budget_is_never_exceeded(case, kind, seed, ratio):
    name, options = CASES[case]
    graph = parts(random_raw(kind, 20 + seed % 30, seed=seed))
    small = feasible(name, graph, ratio, backend="cpu", **options)
    if small is None:
        return
    stored = options.get("storage") or cheapest(graph[1])
    assert small.storage_kind == stored
    assert small.storage_bytes == packed_bytes(small.encoding, small.features, small.n_edges)
    assert small.full_bytes == nominal_bytes(stored, graph[1], directed_edges(graph[0]))
    assert small.storage_bytes <= small.budget_bytes <= small.requested_ratio * small.full_bytes
    known = small.labels[small.train_mask]
    assert set(known.tolist()) == set(graph[2][graph[3]].tolist())


@pytest.mark.parametrize("name", ["herding", "cluster"])
def test_smaller_values_hold_more_nodes(name):
    sizes = [run(name, *ARRAYS, ratio=0.3, encoding=encoding, backend="cpu").n_nodes for encoding in ("graph", "auto")]
    assert sizes[0] < sizes[1]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("cluster", {"encoding": "bits"}, "synthetic nodes have floats"),
        ("bonsai", {"encoding": "int8", "accounting": "scaled"}, "'graph' with the published accounting"),
        ("herding", {"encoding": "bits"}, "zeros and ones only"),
        ("herding", {"encoding": "int4"}, "encoding='int4' is not valid"),
    ],
)
def test_encodings_that_cannot_be(name, options, message):
    with pytest.raises(ConfigError, match=message):
        run(name, *ARRAYS, ratio=0.5, backend="cpu", **options)


@quick
@given(st.sampled_from(sorted(CASES)), st.sampled_from(KINDS), st.integers(0, 10**6))
def test_labels_outside_training_are_never_read(case, kind, seed):
    name, options = CASES[case]
    edges, x, y, train = parts(random_raw(kind, 30, seed=seed))
    hidden = np.where(train, y, np.random.default_rng(seed).permutation(y) + 50)
    one, two = (feasible(name, (edges, x, labels, train), 0.3, backend="cpu", **options) for labels in (y, hidden))
    if one is None:
        assert two is None
        return
    assert_same(one, two)


def assert_same(one, two):
    np.testing.assert_array_equal(one.node_ids, two.node_ids)
    np.testing.assert_array_equal(one.codes, two.codes)
    np.testing.assert_array_equal(one.train_mask, two.train_mask)
    np.testing.assert_array_equal(one.feature_positions, two.feature_positions)
    np.testing.assert_array_equal(one.adjacency.toarray(), two.adjacency.toarray())
    np.testing.assert_allclose(plain(one.features), plain(two.features), rtol=1e-4, atol=1e-5)
    assert one.storage_bytes == two.storage_bytes


@pytest.fixture(scope="module", params=["strict", *DEVICES])
def other(request):
    return FACTORIES[request.param]()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES)
def test_the_same_on_another_device(other, case, kind):
    name, options = CASES[case]
    cpu = FACTORIES["cpu"]()
    if other.tree_name != cpu.tree_name and name == "bonsai":
        options = {"features": "all", **options}  # a histogram tree may split otherwise
    graph = parts(random_raw(kind, 60, seed=11))
    ours, theirs = (feasible(name, graph, 0.3, backend=backend, **options) for backend in (cpu, other))
    if ours is None:
        pytest.skip("no ratio is enough for float features of a binary graph this small")
    assert_same(ours, theirs)
    assert theirs.backend == other.name


@pytest.mark.parametrize("name", [name for name in NAMES if name != "gdem"])
def test_the_same_seed_gives_the_same_result(name):
    options = {"ratio": 0.6, "backend": "cpu", "random_state": 5}
    assert_same(run(name, *ARRAYS, **options), run(name, *ARRAYS, **options))


def test_tables_and_arrays_give_the_same_result():
    edges, nodes = GRAPH.to_frames()
    assert_same(
        run("kcenter", edges, nodes, ratio=RATIO, backend="cpu"), run("kcenter", *ARRAYS, ratio=RATIO, backend="cpu")
    )


def test_results_speak_in_the_callers_ids():
    edges = pd.DataFrame({"src": ["a", "b", "c", "d"], "dst": ["b", "c", "d", "a"]})
    nodes = pd.DataFrame({"node": list("dcba"), "label": [1, 0, 1, 0], "x": [0, 1, 0, 1], "z": [1, 0, 1, 0]})
    small = run("random", edges, nodes, ratio=1.0, backend="cpu")
    assert small.node_ids.tolist() == list("abcd")
    assert small.labels.tolist() == [0, 1, 0, 1]


def test_features_are_kept_as_asked():
    counts = {c: run("random", *ARRAYS, ratio=RATIO, backend="cpu", features=c).n_features for c in ("all", "tree")}
    assert counts["all"] == GRAPH.features.shape[1] > counts["tree"]
    fisher = run("random", *ARRAYS, ratio=RATIO, backend="cpu", features="fisher", feature_count=2)
    assert fisher.n_features == 2
    assert run("bonsai", *ARRAYS, ratio=RATIO, backend="cpu").n_features == counts["tree"]


def test_scaled_accounting_trains_and_tests_on_scaled_features():
    edges, x, labels, train = parts(random_raw("counts", 80, seed=7))
    small = run("bonsai", edges, x, labels, train, ratio=0.1, backend="cpu", accounting="scaled")
    dense = np.asarray(x.todense()) if hasattr(x, "todense") else np.asarray(x)
    deviation = dense.std(axis=0)
    wanted = (dense - dense.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
    found = small.transform(x)
    np.testing.assert_allclose(found, wanted[:, small.feature_positions], atol=1e-5)
    np.testing.assert_allclose(found[small.node_ids], small.features, atol=1e-5)
    kept = dense[np.ix_(small.node_ids, small.feature_positions)]
    assert small.storage_bytes == 2 * (3 * np.count_nonzero(kept) + 2 * small.n_edges)  # of the values as given


def test_public_accounting_says_that_the_budget_is_exceeded():
    graph = parts(random_raw("binary", 80, seed=7, n_features=60))
    small = run("bonsai", *graph, ratio=0.3, backend="cpu", accounting="citation")
    assert small.storage_bytes > small.budget_bytes
    assert any("does not keep the budget" in warning for warning in small.warnings)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"name": "best"}, "name='best'"),
        ({"ratio": 0}, "ratio=0"),
        ({"ratio": True}, "ratio=True"),
        ({"ratio": "1"}, "ratio='1'"),
        ({"random_state": -1}, "random_state=-1"),
        ({"features": "some"}, "features='some'"),
        ({"feature_count": 3}, "feature_count=3 has no effect with features='all'"),
        ({"storage": "free"}, "storage='free'"),
        ({"top": 3}, "top=3 is not an option of 'random'"),
        ({"links": "some"}, "links='some'"),
    ],
)
def test_wrong_arguments_are_named(wrong, says):
    options = {"name": "random", "ratio": RATIO, "backend": "cpu", **wrong}
    with pytest.raises(ConfigError) as caught:
        run(options.pop("name"), *ARRAYS, **options)
    assert says in str(caught.value)


def test_input_is_read_as_condense_reads_it():
    with pytest.raises(InputError, match="NaN"):
        run("random", GRAPH.edge_index, np.full((40, 2), np.nan), GRAPH.labels, GRAPH.train, backend="cpu")


def test_too_small_a_budget_names_one_that_is_enough():
    with pytest.raises(BudgetError) as caught:
        run("herding", *ARRAYS, ratio=1e-6, backend="cpu")
    assert run("herding", *ARRAYS, ratio=caught.value.smallest_ratio, backend="cpu").n_nodes == 3


def test_every_argument_is_described():
    text = inspect.getdoc(run)
    for name in inspect.signature(run).parameters:
        assert name in text
    assert baselines.__all__ == ["NAMES", "BaselineResult", "run"]
