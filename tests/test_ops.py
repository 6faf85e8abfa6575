"""Idioms shared by stages."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from support import reference
from support.graphs import build, host, random_raw, raw
from support.strict import StrictBackend, counted

from herald_gpu import ops

KINDS = ("binary", "counts", "dense")


def on(backend, values, dtype=np.float64):
    return backend.asarray(np.array(values, dtype=dtype))


def test_degrees(backend, tiny):
    assert host(backend, ops.degrees(backend, tiny["star"].adjacency)).tolist() == [4, 1, 1, 1, 1]


def test_degrees_count_repeated_edges(backend):
    given = raw([(0, 1), (0, 1), (1, 1), (2, 0)], np.eye(3), [0, 1, 0])
    assert host(backend, ops.degrees(backend, build(backend, given, stored=True).adjacency)).tolist() == [2, 1, 1]


def test_inverse(backend):
    assert host(backend, ops.inverse(backend, on(backend, [0, 2, 0.5]))).tolist() == [0, 0.5, 2]


def test_row_ids(backend, tiny):
    assert host(backend, ops.row_ids(backend, tiny["path"].adjacency)).tolist() == [0, 1, 1, 2, 2, 3, 3, 4]


def test_with_data_keeps_the_pattern(backend, tiny):
    adjacency = tiny["path"].adjacency
    other = ops.with_data(backend, adjacency, on(backend, np.arange(8)))
    assert host(backend, other)[1].tolist() == [1, 0, 2, 0, 0]
    assert host(backend, adjacency).max() == 1


@pytest.mark.parametrize("block", [8_000_000, 7])
def test_to_csr(backend, block, monkeypatch):
    monkeypatch.setattr(ops, "BLOCK_ELEMENTS", block)
    x = random_raw("counts", 20, seed=0).x
    matrix = ops.to_csr(backend, backend.asarray(x))
    np.testing.assert_array_equal(host(backend, matrix), x)
    assert matrix.nnz == np.count_nonzero(x)


@pytest.mark.parametrize(("count", "width", "limit"), [(10, 3, 9), (10, 100, 9), (0, 3, 9), (7, 0, 9), (5, 1, 100)])
def test_blocks_cover_everything_once(count, width, limit, monkeypatch):
    monkeypatch.setattr(ops, "BLOCK_ELEMENTS", limit)
    spans = list(ops.blocks(count, width))
    assert [i for low, high in spans for i in range(low, high)] == list(range(count))
    assert all((high - low) * width <= limit or high - low == 1 for low, high in spans)


@pytest.mark.parametrize("kind", KINDS)
def test_dense_blocks_of_columns_and_rows(backend, kind, monkeypatch):
    monkeypatch.setattr(ops, "BLOCK_ELEMENTS", 90)
    given = random_raw(kind, 30, seed=1)
    features = build(backend, given).features
    parts = [(low, high, host(backend, block)) for low, high, block in ops.dense_column_blocks(backend, features)]
    assert len(parts) > 1
    for low, high, block in parts:
        assert block.dtype == np.float64
        np.testing.assert_array_equal(block, given.x[:, low:high])
    rows = ops.dense_rows(backend, features, 5, 9)
    assert rows.dtype == np.float64
    np.testing.assert_array_equal(host(backend, rows), given.x[5:9])


def test_a_step_of_a_walk(backend, tiny):
    adjacency = tiny["path"].adjacency
    walked = backend.linalg.multiply(ops.walk(backend, adjacency), on(backend, [[0], [2], [4], [6], [8]]))
    assert host(backend, walked)[:, 0].tolist() == [2, 2, 4, 6, 6]


def test_class_indicator(backend):
    codes = on(backend, [1, -1, 0, 1], np.int32)
    assert host(backend, ops.class_indicator(backend, codes, 2)).tolist() == [[0, 0, 1, 0], [1, 0, 0, 1]]
    weighted = ops.class_indicator(backend, codes, 2, on(backend, [0.5, 9, 2, 3]))
    assert host(backend, weighted).tolist() == [[0, 0, 2, 0], [0.5, 0, 0, 3]]


def test_neighbour_classes(backend, tiny):
    path = tiny["path"]
    table = ops.neighbour_classes(backend, path.adjacency, path.labels, 2)
    assert host(backend, table).tolist() == [[1, 0], [1, 1], [1, 1], [0, 1], [0, 1]]


def test_own_class(backend):
    table = on(backend, [[1, 2], [3, 4], [5, 6]])
    assert host(backend, ops.own_class(backend, table, on(backend, [1, 0, -1], np.int32))).tolist() == [2, 3, 5]


def test_class_counts(backend):
    codes = on(backend, [2, 0, -1, 2], np.int32)
    assert host(backend, ops.class_counts(backend, codes, 4)).tolist() == [1, 0, 2, 0]
    assert host(backend, ops.class_counts(backend, codes[codes > 5], 3)).tolist() == [0, 0, 0]
    marked = on(backend, [True, False, True, True], bool)
    assert host(backend, ops.class_counts(backend, codes, 3, marked)).tolist() == [0, 0, 2]
    assert ops.class_counts(backend, codes, 4).dtype == np.int64


def test_tally(backend):
    places = on(backend, [3, 0, 3, 3], np.int64)
    assert host(backend, ops.tally(backend, places, 5)).tolist() == [1, 0, 0, 3, 0]
    weighted = ops.tally(backend, places, 4, on(backend, [0.5, 2, 4, 8]))
    assert host(backend, weighted).tolist() == [2, 0, 0, 12.5]
    assert host(backend, ops.tally(backend, places[:0], 2)).tolist() == [0, 0]


@pytest.mark.parametrize("block", [8_000_000, 60])
@pytest.mark.parametrize("kind", KINDS)
def test_norms_sums_and_variances(backend, kind, block, monkeypatch):
    monkeypatch.setattr(ops, "BLOCK_ELEMENTS", block)
    given = random_raw(kind, 25, seed=3)
    x, features = given.x.astype(np.float64), build(backend, given).features
    np.testing.assert_allclose(host(backend, ops.row_norms(backend, features)), np.linalg.norm(x, axis=1), rtol=1e-12)
    np.testing.assert_allclose(host(backend, ops.column_abs_sums(backend, features)), abs(x).sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(host(backend, ops.column_variances(backend, features)), x.var(axis=0), rtol=1e-12)


def test_variances_of_large_values_are_not_cancelled(backend):
    x = backend.asarray(np.array([[4e6], [4e6 + 1], [4e6 + 2]], dtype=np.float32))
    assert host(backend, ops.column_variances(backend, x)).tolist() == pytest.approx([2 / 3])


@pytest.mark.parametrize(
    ("values", "by_max", "min_max"),
    [
        ([1, 2, 4], [0.25, 0.5, 1], [0, 1 / 3, 1]),
        ([0, 0], [0, 0], [0, 0]),
        ([3, 3, 3], [1, 1, 1], [0, 0, 0]),
        ([-1, 1], [-1, 1], [0, 1]),
        ([5], [1], [0]),
    ],
)
def test_scaling(backend, values, by_max, min_max):
    given = on(backend, values)
    assert host(backend, ops.scaled_by_max(backend, given)).tolist() == by_max
    assert host(backend, ops.min_max(backend, given)).tolist() == pytest.approx(min_max)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([10, 30, 20], [0, 1, 0.5]),
        ([1, 1, 5], [0.25, 0.25, 1]),
        ([2, 2, 2], [0.5, 0.5, 0.5]),
        ([7], [0]),
        ([1, 1 + 1e-11, 0], [0.75, 0.75, 0]),  # equal after rounding
    ],
)
def test_rank_scale(backend, values, expected):
    assert host(backend, ops.rank_scale(backend, on(backend, values))).tolist() == expected


def test_rank_scale_against_the_reference(backend):
    values = np.random.default_rng(0).integers(0, 12, size=40) / 3
    found = host(backend, ops.rank_scale(backend, on(backend, values)))
    assert found.tolist() == pytest.approx(reference.rank_scaled(values.tolist()), abs=1e-15)


def test_descending_keeps_ties_in_order(backend):
    values = on(backend, [0.5, 0.7, 0.5 + 1e-12, 0.7 - 1e-12, 0.9])
    assert host(backend, ops.descending(backend, values)).tolist() == [4, 1, 3, 0, 2]
    assert host(backend, ops.descending(backend, values, decimals=1)).tolist() == [4, 1, 3, 0, 2]
    assert host(backend, ops.descending(backend, on(backend, [0.2, 0.6, 0.4, 0.9]), decimals=0)).tolist() == [
        1,
        3,
        0,
        2,
    ]


def test_induced(backend, tiny):
    part = ops.induced(tiny["path"].adjacency, on(backend, [0, 1, 3], np.int64))
    assert host(backend, part).tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]


def test_mask_of(backend):
    assert host(backend, ops.mask_of(backend, on(backend, [0, 2], np.int64), 4)).tolist() == [True, False, True, False]


def test_scalar(backend):
    value = ops.scalar(on(backend, [1, 2]).sum())
    assert value == 3.0
    assert type(value) is float


def test_fetch(backend):
    """Whole numbers come over as they are, up to the last below 2^53; shapes stay."""
    large = 2**53 - 1
    table = on(backend, [[1, 2, 3], [4, 5, large]], np.int64)
    found = ops.fetch(backend, table, table.sum(axis=0)[:0], table[0].max(), table > 4)
    assert found[0].tolist() == [[1, 2, 3], [4, 5, large]]
    assert found[1].tolist() == []
    assert (found[2].shape, int(found[2])) == ((), 3)
    assert found[3].tolist() == [[0, 0, 0], [0, 1, 1]]
    assert all(isinstance(one, np.ndarray) for one in found)


def test_fetch_is_one_transfer():
    strict = StrictBackend()
    values = strict.asarray(np.arange(4))
    with counted() as transfers:
        ops.fetch(strict, values, values.sum(), values.max())
    assert (transfers.to_host, transfers.scalars) == (1, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_take_columns(backend, kind):
    given = random_raw(kind, 20, seed=5)
    features = build(backend, given).features
    part = ops.take_columns(backend, features, on(backend, [1, 4, 7], np.int64))
    np.testing.assert_array_equal(host(backend, part), given.x[:, [1, 4, 7]])
    assert backend.sparse.issparse(part) == backend.sparse.issparse(features)
    if kind == "dense":
        assert part.flags.c_contiguous


@pytest.mark.parametrize("columns", [[7, 1, 4], [0], list(range(13, -1, -1)), []])
@pytest.mark.parametrize("kind", KINDS)
def test_pick_columns_in_any_order(backend, kind, columns):
    given = random_raw(kind, 20, seed=5)
    features = build(backend, given).features
    part = ops.pick_columns(backend, features, on(backend, columns, np.int64))
    np.testing.assert_array_equal(host(backend, part), given.x[:, columns])
    assert part.dtype == np.float32
    assert backend.sparse.issparse(part) == backend.sparse.issparse(features)
    if kind == "dense":
        assert part.flags.c_contiguous
    else:
        places = [backend.to_host(part).indices[low:high].tolist() for low, high in row_bounds(backend, part)]
        assert places == [sorted(row) for row in places]
    np.testing.assert_array_equal(host(backend, features), given.x)


def row_bounds(backend, matrix):
    return list(pairwise(backend.to_host(matrix).indptr.tolist()))
