"""Partitions, cuts of them, and walks over their borders, against the whole graph."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from support.crew import Here
from support.graphs import build, host, random_raw

from herald_gpu import ops
from herald_gpu.distributed.parts import Part, asked_rows, cut_rows, nbytes, places_in, received, union
from herald_gpu.distributed.routes import Route, give_features, give_labels, give_values, stack, walk_hop
from herald_gpu.distributed.seeing import split_nodes

BOUNDS = (0, 11, 12, 30, 45)


def parts_of(backend, graph, bounds=BOUNDS):
    """Cut a graph of the host into partitions on a backend."""
    whole, out = backend.to_host(graph.adjacency), []
    labels, train = backend.to_host(graph.labels), backend.to_host(graph.train)
    features = backend.to_host(graph.features)
    for index, (low, high) in enumerate(pairwise(bounds)):
        rows = whole[low:high]
        columns = np.unique(rows.indices)
        moved = (rows.data, np.searchsorted(columns, rows.indices).astype(np.int32), rows.indptr)
        adjacency = scipy.sparse.csr_matrix(moved, shape=(high - low, len(columns)))
        given = (adjacency, columns.astype(np.int32), features[low:high], labels[low:high], train[low:high])
        out.append(Part(index, bounds, *(backend.asarray(one) for one in given)))
    return out


@pytest.fixture(params=["dense", "counts"])
def graph(backend, request):
    return build(backend, random_raw(request.param, 45, seed=3))


def test_a_cut_holds_the_edges_of_its_rows_and_no_more(backend, graph):
    whole = host(backend, graph.adjacency)
    for part in parts_of(backend, graph):
        rows = np.arange(0, part.n_rows, 2)
        cut = cut_rows(backend, part, backend.asarray(rows))
        columns = host(backend, cut.columns)
        np.testing.assert_array_equal(host(backend, cut.matrix), whole[part.low + rows][:, columns])
        reached = np.flatnonzero(whole[part.low + rows].any(axis=0))
        np.testing.assert_array_equal(columns, np.union1d(reached, part.low + rows))
        np.testing.assert_array_equal(host(backend, cut.own), part.low + rows)


def test_rows_asked_for_are_those_of_the_columns(backend, graph):
    part = parts_of(backend, graph)[2]
    cut = cut_rows(backend, part, backend.asarray(np.arange(part.n_rows)))
    asked = [host(backend, asked_rows(backend, cut, owner)) + BOUNDS[owner] for owner in range(4)]
    np.testing.assert_array_equal(np.concatenate(asked), host(backend, cut.columns))


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_a_walk_over_borders_is_that_of_the_whole_graph(backend, graph, hops):
    crew, parts = Here(backend), parts_of(backend, graph)
    wanted = [np.array([0, 4]), np.array([], dtype=np.int64), np.array([3, 17]), np.array([2])]
    route = Route(crew, parts, wanted, hops)
    columns, blocks = np.array([3, 1]), []
    for hop, cuts in enumerate(route.cuts):
        if hop == 0:
            given = route.exchange(hop, give_features, parts, columns)
        else:
            given = route.exchange(hop, give_values, list(zip(route.cuts[hop - 1], blocks[-1], strict=True)))
        blocks.append([crew.submit(walk_hop, *one) for one in zip(cuts, given, strict=True)])
    x = host(backend, graph.features)[:, columns].astype(np.float64)
    step = ops.walk(backend, graph.adjacency)
    for _ in range(hops):
        x = host(backend, step) @ x
    for part, rows, block in zip(parts, wanted, blocks[-1], strict=True):
        np.testing.assert_allclose(host(backend, block.values), x[part.low + rows], atol=1e-12)


def test_what_is_received_is_counted(backend, graph):
    crew, parts = Here(backend), parts_of(backend, graph)
    route = Route(crew, parts, [np.arange(part.n_rows) for part in parts], 1)
    given = route.exchange(0, give_labels, parts)
    blocks = [stack(backend, cut, one) for cut, one in zip(route.cuts[0], given, strict=True)]
    assert sum(block.received for block in blocks) == route.index_bytes > 0
    assert received([np.zeros(2), np.zeros(3)], 1) == 16
    assert route.width(10**9) > route.width(5) == 5


def test_small_things(backend):
    asked = [backend.asarray(np.array([5, 7])), backend.asarray(np.array([1, 5]))]
    rows = union(backend, asked)
    assert host(backend, rows).tolist() == [1, 5, 7]
    assert host(backend, places_in(backend, rows, np.array([7, 1]))).tolist() == [2, 0]
    assert nbytes(scipy.sparse.csr_matrix(np.eye(2, dtype=np.float32))) == 8 + 8 + 12
    assert [rows.tolist() for rows in split_nodes((0, 2, 2, 5), np.array([1, 2, 4]))] == [[1], [], [0, 2]]
