"""The traps that the doubles of RAPIDS have: a stand-in that is kinder than the library would hide mistakes."""

from __future__ import annotations

import sys
from importlib import import_module
from itertools import pairwise
from types import ModuleType

import networkx as nx
import numpy as np
import pytest
from support import doubles
from support.backends import FACTORIES
from support.doubles import cudf, cuml, pylibcugraph, rmm

pytestmark = pytest.mark.emulated


@pytest.fixture(scope="module")
def cp():
    return FACTORIES["emulated"]().xp


@pytest.fixture(scope="module")
def cs(cp):  # noqa: ARG001 - a precondition
    return pytest.importorskip("cupyx.scipy.sparse", reason="CuPy is not installed: make test-emulated")


# Installation


@pytest.mark.usefixtures("cp")
def test_the_backend_finds_the_doubles():
    from cuml.neighbors import NearestNeighbors
    from pylibcugraph import SGGraph

    assert NearestNeighbors is cuml.NearestNeighbors
    assert SGGraph is pylibcugraph.SGGraph
    doubles.install()  # again: nothing to do
    with pytest.raises(ImportError):
        from cuml.cluster import KMeans  # noqa: F401


@pytest.mark.usefixtures("cp")
def test_a_real_library_is_not_replaced(monkeypatch):
    monkeypatch.setitem(sys.modules, "cuml", ModuleType("cuml"))
    with pytest.raises(RuntimeError, match="cuml is installed"):
        doubles.install()


def test_real_cupy_gets_no_doubles(cp, monkeypatch):
    monkeypatch.setattr(cp, "__version__", "14.2.0")
    with pytest.raises(RuntimeError, match="emulated CuPy only"):
        doubles.install()


# cuML


def fitted(points, **options):
    return cuml.NearestNeighbors(algorithm="brute", metric="cosine", **options).fit(points)


def test_neighbours_types(cp, cs):
    x = cp.asarray(np.random.default_rng(0).normal(size=(9, 4)))
    distances, indices = fitted(x).kneighbors(x, n_neighbors=3)
    assert (distances.dtype, indices.dtype) == (np.float32, np.int64)
    assert isinstance(indices, cp.ndarray)
    sparse = cs.csr_matrix(x)
    assert fitted(sparse).kneighbors(sparse, n_neighbors=3, return_distance=False).dtype == np.int32
    assert isinstance(fitted(x, output_type="numpy").kneighbors(x, 3)[0], np.ndarray)


def test_neighbours_find_themselves(cp):
    x = cp.asarray(np.random.default_rng(0).normal(size=(9, 4)))
    assert fitted(x).kneighbors(x, 3)[1][:, 0].get().tolist() == list(range(9))


def test_neighbours_at_the_same_distance_come_in_any_order(cp):
    x = cp.ones((30, 2))
    runs = {tuple(fitted(x).kneighbors(x[:1], 30)[1].get()[0]) for _ in range(4)}
    assert len(runs) == 4


def test_zero_rows_are_nowhere(cp):
    x = cp.asarray(np.vstack([np.eye(3), np.zeros(3)]))
    distances, _ = fitted(x).kneighbors(x, 4)
    assert cp.isnan(distances[3]).all()
    assert cp.isnan(distances[:3, 3]).all()


def test_neighbours_refuse(cp, cs):
    x = cp.asarray(np.random.default_rng(0).normal(size=(9, 4)))
    with pytest.raises(ValueError, match="n_neighbors must be <="):
        fitted(x).kneighbors(x, 10)
    with pytest.raises(ValueError, match="n_neighbors must be <="):
        fitted(x).kneighbors(n_neighbors=9)  # ten with the row itself
    with pytest.raises(ValueError, match="positive"):
        fitted(x).kneighbors(x, 0)
    with pytest.raises(ValueError, match="sparse"):
        fitted(x).kneighbors(cs.csr_matrix(x), 3)
    with pytest.raises(ValueError, match="features"):
        fitted(x).kneighbors(x[:, :2], 3)
    with pytest.raises(ValueError, match="NaN"):
        fitted(cp.asarray([[np.nan, 1.0]]))
    with pytest.raises(TypeError, match="silently"):
        fitted(x.get())
    with pytest.raises(ValueError, match="algorithm='cagra' is not supported"):
        cuml.NearestNeighbors(algorithm="cagra").fit(x)
    with pytest.raises(NotImplementedError):
        cuml.NearestNeighbors(algorithm="brute", metric="euclidean").fit(x)


def test_asked_without_rows_the_first_column_is_dropped(cp):
    x = cp.asarray(np.random.default_rng(0).normal(size=(9, 4)))
    assert not (fitted(x).kneighbors(n_neighbors=3)[1] == cp.arange(9)[:, None]).any()


def test_forest(cp, cs):
    pytest.importorskip("treelite", reason="treelite is not installed: pip install treelite")
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(300, 4)).astype(np.float32), rng.integers(3, size=300)
    there, codes = cp.asarray(x), cp.asarray(y)
    made = cuml.RandomForestClassifier(n_estimators=2, n_bins=8, random_state=0).fit(there, codes)
    assert made.as_treelite().num_tree == 2
    assert len(np.unique(cuml._binned(x, 8)[:, 0])) == 8
    with pytest.warns(UserWarning, match="n_bins"):
        cuml.RandomForestClassifier(n_estimators=1, n_bins=9).fit(there[:8], codes[:8])
    with pytest.raises(TypeError, match="Sparse"):
        cuml.RandomForestClassifier().fit(cs.csr_matrix(there), codes)
    with pytest.raises(TypeError, match="silently"):
        cuml.RandomForestClassifier().fit(x, codes)
    with pytest.raises(ValueError, match="max_depth"):
        cuml.RandomForestClassifier(max_depth=0).fit(there, codes)


def test_components(cp):
    x = cp.asarray(np.random.default_rng(1).normal(size=(20, 3)))
    first = [cuml.PCA(output_type="cupy").fit(x).components_ for _ in range(12)]
    assert first[0].flags.f_contiguous
    assert len({float(run[0, 0]) > 0 for run in first}) == 2
    for few in (x[:1], x[:, :1]):
        with pytest.raises(ValueError, match="minimum of 2"):
            cuml.PCA().fit(few)
    with pytest.raises(ValueError, match="n_components"):
        cuml.PCA(n_components=4).fit(x)
    with pytest.raises(ValueError, match="svd_solver"):
        cuml.PCA(svd_solver="arpack").fit(x)


# cuVS


def neighbour_graph(cp, rows, k, **options):
    """The graph of neighbours, and the resources that must be waited for."""
    from cuvs.common import Resources
    from cuvs.neighbors import all_neighbors

    resources = Resources(stream=0)
    params = all_neighbors.AllNeighborsParams(**options)
    return all_neighbors.build(cp.asarray(rows), k, params, resources=resources), resources


def cloud(n=300):
    return np.random.default_rng(0).random((n, 5)).astype(np.float32)


def test_a_graph_of_neighbours_is_not_there_before_it_is_waited_for(cp):
    found, resources = neighbour_graph(cp, cloud(), 20)
    assert not hasattr(found, "shape")  # a device array, and no CuPy array
    assert (cp.asarray(found).get() < 0).all()
    resources.sync()
    assert cp.asarray(found).dtype == np.int64


def test_a_graph_of_neighbours_has_the_row_itself_and_gaps(cp):
    rows = cloud()
    found, resources = neighbour_graph(cp, rows, 20)
    resources.sync()
    found = cp.asarray(found).get()
    assert (found[:, 0] == np.arange(300)).all()
    assert (found >= 300).any()  # where nothing was found
    assert any(len(set(row)) < 20 for row in found.tolist())  # one is there twice
    exact = np.argsort(((rows[:, None] - rows[None]) ** 2).sum(axis=2), axis=1)[:, :20]
    shared = [len(set(one) & set(other)) for one, other in zip(found.tolist(), exact.tolist(), strict=True)]
    assert 0.8 < np.mean(shared) / 20 < 1


def test_a_graph_of_neighbours_refuses(cp):
    rows = cloud()
    for given, error in (
        (rows.astype(np.float64), TypeError),
        (np.asfortranarray(rows), ValueError),
        (rows[:100], NotImplementedError),  # fewer rows than neighbours: cuVS would say so in its log only
    ):
        with pytest.raises(error):
            neighbour_graph(cp, given, 20)
    with pytest.raises(ValueError, match="on device"):
        neighbour_graph(cp, rows, 20, n_clusters=4)
    module = import_module("cuvs.neighbors.all_neighbors")
    with pytest.raises(TypeError, match="params"):
        module.build(cp.asarray(rows), 20, None)
    with pytest.raises(TypeError, match="__cuda_array_interface__"):
        module.build(rows, 20, module.AllNeighborsParams())


# pylibcugraph

EDGES = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (4, 0), (4, 5)]


def graph_of(cp, edges=EDGES, *, symmetric=False, weight=None, dtype=np.int32, transposed=False):
    ends = np.array(edges)
    ends = np.vstack([ends, ends[:, ::-1]]) if symmetric else ends
    weights = None if weight is None else cp.ones(len(ends), dtype=weight)
    handle = pylibcugraph.ResourceHandle()
    graph = pylibcugraph.SGGraph(
        handle,
        pylibcugraph.GraphProperties(is_symmetric=symmetric),
        cp.asarray(ends[:, 0].astype(dtype)),
        cp.asarray(ends[:, 1].astype(dtype)),
        weight_array=weights,
        store_transposed=transposed,
    )
    return handle, graph


def sampled(cp, handle, graph, *, start=(0, 4), hops=2, **options):
    given = {
        "starting_vertex_label_offsets": cp.arange(len(start) + 1, dtype=np.uint64),
        "with_replacement": False,
        "do_expensive_check": False,
        "prior_sources_behavior": "exclude",
        "deduplicate_sources": True,
        "return_hops": True,
    }
    roots, fan_out = cp.asarray(np.array(start, dtype=np.int32)), np.full(hops, -1, dtype=np.int32)
    return pylibcugraph.neighbor_sample(handle, graph, roots, fan_out, **(given | options))


def test_a_sample_by_hand(cp):
    found = {name: value.get().tolist() for name, value in sampled(cp, *graph_of(cp)).items()}
    bounds = found["label_hop_offsets"]
    assert bounds == [0, 2, 4, 6, 8]
    edges = list(zip(found["majors"], found["minors"], strict=True))
    assert [sorted(edges[low:high]) for low, high in pairwise(bounds)] == [
        [(0, 1), (0, 2)],
        [(1, 2), (2, 3)],
        [(4, 0), (4, 5)],
        [(0, 1), (0, 2)],
    ]
    assert found["batch_id"] == [0, 0, 0, 0, 1, 1, 1, 1]


def test_a_sample_is_out_of_order_inside_a_hop(cp):
    star = graph_of(cp, [(0, leaf) for leaf in range(1, 30)])
    runs = {tuple(sampled(cp, *star, start=(0,), hops=1)["minors"].get().tolist()) for _ in range(4)}
    assert len(runs) == 4


def test_types_of_a_sample(cp):
    found = sampled(cp, *graph_of(cp))
    assert {name: value.dtype.name for name, value in found.items()} == {
        "majors": "int32",
        "minors": "int32",
        "batch_id": "int32",
        "label_hop_offsets": "int64",
    }
    assert set(sampled(cp, *graph_of(cp), starting_vertex_label_offsets=None, return_hops=False)) == {
        "majors",
        "minors",
    }


def test_sources_that_are_not_excluded_are_sampled_again(cp):
    found = sampled(cp, *graph_of(cp, [(0, 1), (1, 0)]), start=(0,), hops=3, prior_sources_behavior=None)
    assert found["minors"].get().tolist() == [1, 0, 1]


def test_a_sample_refuses(cp):
    handle, graph = graph_of(cp)
    flags = {"with_replacement": False, "do_expensive_check": False}
    roots, fan_out = cp.asarray(np.array([0], np.int32)), np.array([-1], np.int32)
    sample = pylibcugraph.neighbor_sample
    with pytest.raises(TypeError, match="start_vertices does not support"):
        sample(handle, graph, roots.get(), fan_out, **flags)
    with pytest.raises(TypeError, match="h_fan_out"):
        sample(handle, graph, roots, cp.asarray(fan_out), **flags)
    with pytest.raises(ValueError, match="fan_out should be of type int"):
        sample(handle, graph, roots, fan_out.astype(np.int64), **flags)
    with pytest.raises(ValueError, match="vertex type"):
        sample(handle, graph, roots.astype(np.int64), fan_out, **flags)
    with pytest.raises(ValueError, match="does not have"):
        sample(handle, graph, roots + 6, fan_out, **flags)
    with pytest.raises(ValueError, match="proportional"):
        sampled(cp, handle, graph, starting_vertex_label_offsets=cp.arange(2, dtype=np.uint64))
    with pytest.raises(ValueError, match="8-byte"):
        sampled(cp, handle, graph, starting_vertex_label_offsets=cp.arange(3, dtype=np.int32))
    with pytest.raises(ValueError, match="Invalid option"):
        sampled(cp, handle, graph, prior_sources_behavior="drop")
    for option in ({"renumber": True}, {"with_replacement": True}, {"random_state": 3}):
        with pytest.raises(NotImplementedError):
            sampled(cp, handle, graph, **option)


def test_a_graph_refuses(cp):
    one, two = cp.asarray(np.array([0, 1], np.int32)), cp.asarray(np.array([1, 0], np.int32))
    handle, plain = pylibcugraph.ResourceHandle(), pylibcugraph.GraphProperties()
    with pytest.raises(TypeError, match="incorrect type"):
        pylibcugraph.SGGraph(plain, handle, one, two)
    with pytest.raises(TypeError, match="weight_array must be None or support"):
        pylibcugraph.SGGraph(handle, plain, one, two, weight_array=np.ones(2))
    with pytest.raises(TypeError, match="store_transposed"):
        pylibcugraph.SGGraph(handle, plain, one, two, store_transposed="yes")
    with pytest.raises(RuntimeError, match="invalid data type"):
        pylibcugraph.SGGraph(handle, plain, one.astype(np.uint32), two.astype(np.uint32))
    with pytest.raises(RuntimeError, match="invalid data type"):
        pylibcugraph.SGGraph(handle, plain, one, two, weight_array=cp.ones(2, dtype=np.int32))
    with pytest.raises(ValueError, match="size"):
        pylibcugraph.SGGraph(handle, plain, one, two[:1])
    with pytest.raises(ValueError, match=r"0\.\.N-1"):
        pylibcugraph.SGGraph(handle, plain, one - 1, two)
    with pytest.raises(ValueError, match="twice"):
        pylibcugraph.SGGraph(handle, plain, cp.zeros(2, np.int32), cp.zeros(2, np.int32))
    with pytest.raises(ValueError, match="reverse"):
        pylibcugraph.SGGraph(handle, pylibcugraph.GraphProperties(is_symmetric=True), one[:1], two[:1])
    with pytest.raises(ValueError, match="input_array_format"):
        pylibcugraph.SGGraph(handle, plain, one, two, input_array_format="CSC")
    offsets = cp.asarray(np.array([0, 1, 2]))
    with pytest.warns(UserWarning, match="64-bit"), pytest.raises(ValueError, match="types of offsets"):
        pylibcugraph.SGGraph(handle, plain, offsets, two, input_array_format="CSR")


def ranked(cp, handle, graph, restart, *, epsilon=1e-12, max_iterations=500, **options):
    values = cp.asarray(np.array(list(restart.values()), dtype=options.pop("dtype", np.float64)))
    vertices = cp.asarray(np.array(list(restart), dtype=np.int32))
    given = (None, None, None, None, vertices, values, 0.85, epsilon, max_iterations, False)
    return pylibcugraph.personalized_pagerank(handle, graph, *given, **options)


def test_pagerank_is_that_of_networkx_in_any_order(cp):
    made = graph_of(cp, weight=np.float64, transposed=True)
    vertices, values = ranked(cp, *made, {0: 3.0, 5: 1.0})
    expected = nx.pagerank(nx.DiGraph(EDGES), personalization={0: 3, 5: 1}, tol=1e-14, max_iter=500)
    found = dict(zip(vertices.get().tolist(), values.get().tolist(), strict=True))
    assert found == pytest.approx(expected, abs=1e-10)
    orders = {tuple(ranked(cp, *made, {0: 1.0})[0].get().tolist()) for _ in range(6)}
    assert len(orders) > 1


def test_pagerank_that_converges_in_the_last_step_is_called_a_failure(cp):
    made = graph_of(cp, symmetric=True, weight=np.float64, transposed=True)
    for most in range(1, 500):
        *_, converged = ranked(cp, *made, {0: 1.0}, max_iterations=most, epsilon=1e-6, fail_on_nonconvergence=False)
        if converged:
            break
    *_, before = ranked(cp, *made, {0: 1.0}, max_iterations=most - 1, epsilon=1e-6, fail_on_nonconvergence=False)
    assert not before
    with pytest.raises(pylibcugraph.FailedToConvergeError):
        ranked(cp, *made, {0: 1.0}, max_iterations=most - 1, epsilon=1e-6)
    ends = []
    for steps in (most - 1, most):
        options = {"max_iterations": steps, "epsilon": 1e-6, "fail_on_nonconvergence": False}
        vertices, values, _ = ranked(cp, *made, {0: 1.0}, **options)
        ends.append(dict(zip(vertices.get().tolist(), values.get().tolist(), strict=True)))
    assert ends[0] == ends[1]  # it had converged all the same


def test_pagerank_refuses(cp):
    weighted = graph_of(cp, weight=np.float64, transposed=True)
    with pytest.raises(ValueError, match="weight type"):
        ranked(cp, *weighted, {0: 1.0}, dtype=np.float32)
    with pytest.raises(ValueError, match="weight type"):
        ranked(cp, *graph_of(cp, transposed=True), {0: 1.0})  # without weights it computes in float32
    with pytest.raises(ValueError, match="transposed"):
        ranked(cp, *graph_of(cp, weight=np.float64), {0: 1.0})
    with pytest.raises(ValueError, match="Invalid input"):
        ranked(cp, *weighted, {0: 0.0})
    with pytest.raises(ValueError, match="does not have"):
        ranked(cp, *weighted, {9: 1.0})


# cuDF


def test_columns_stay_on_the_device(cp):
    column = cudf.Series(cp.arange(3))
    assert type(column).__module__ == "cudf"
    for leak in (np.asarray, list):
        with pytest.raises(TypeError):
            leak(column)
    with pytest.raises(TypeError, match="silently"):
        column.take(np.array([0]))
    assert isinstance(column.to_cupy(), cp.ndarray)


@pytest.mark.usefixtures("cp")
def test_nulls_do_not_change_the_type_of_a_column_but_forbid_an_array():
    column = cudf.Series([1, None, 3])
    assert column.dtype == np.int64
    with pytest.raises(ValueError, match="no nulls"):
        column.to_cupy()
    assert column.to_cupy(na_value=-1).get().tolist() == [1, -1, 3]
    with pytest.raises(TypeError, match="Cannot safely cast"):  # whole numbers have no NaN, whatever they become
        column.to_cupy(dtype="float64", na_value=np.nan)
    np.testing.assert_array_equal(column.astype("float64").to_cupy(na_value=np.nan).get(), [1, np.nan, 3])
    with pytest.raises(TypeError, match="not supported by cupy"):
        cudf.Series(["a", "b"]).to_cupy()


@pytest.mark.usefixtures("cp")
def test_a_table_becomes_an_array_column_by_column():
    array = cudf.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0]}).to_cupy(dtype="float32")
    assert array.flags.f_contiguous
    assert not array.flags.c_contiguous
    assert array.dtype == np.float32


def test_rows_of_a_merge_and_distinct_values_come_in_any_order(cp):
    left, right = cudf.DataFrame({"a": list("abcdefgh")}), cudf.DataFrame({"a": list("gab"), "n": cp.arange(3)})
    orders = {tuple(left.merge(right, on="a", how="left")["a"].to_pandas()) for _ in range(4)}
    assert len(orders) > 1
    joined = left.merge(right, on="a", how="left")
    assert joined["n"].isna().sum() == 5
    assert joined["n"].dtype == np.int64
    assert len({tuple(cudf.Series(list("abcdefgh")).drop_duplicates().to_arrow().to_pylist()) for _ in range(4)}) > 1


# RMM


def test_memory_in_use_outlives_no_allocator(cp):
    before = cp.cuda.get_allocator()
    try:
        rmm.reinitialize(pool_allocator=True)
        cp.cuda.set_allocator(rmm.rmm_cupy_allocator)
        held = cp.ones(10)
        with pytest.raises(RuntimeError, match="still in use"):
            rmm.reinitialize(managed_memory=True)
        del held
        rmm.reinitialize()
    finally:
        cp.cuda.set_allocator(before)
