"""The kernel that orders exemplars: as by definition, and as on the CPU."""

from __future__ import annotations

import numpy as np
import pytest
from support import greedy
from support.graphs import host

from herald_gpu.backend.cpu import CpuBackend

CPU = CpuBackend()


def drawn(seed, sizes, low, high, n_folds=3):
    """Tables of similarities, one class after the other, and free nodes."""
    rng = np.random.default_rng(seed)
    tables = [np.tril(table) + np.tril(table, -1).T for table in (rng.integers(low, high, (n, n)) for n in sizes)]
    return tables, rng.random((n_folds, sum(sizes))) < 0.75


def places_of(backend, tables, free, rule, most):
    flat = np.concatenate([table.ravel() for table in tables]).astype(np.int16)
    sizes = [len(table) for table in tables]
    found = backend.exemplar_places(
        backend.asarray(flat), sizes, backend.asarray(np.ascontiguousarray(free)), rule=rule, most=most
    )
    assert found.dtype == np.int32
    return host(backend, found).tolist()


@pytest.mark.parametrize("rule", greedy.RULES)
@pytest.mark.parametrize(("low", "high"), [(-9, 30), (0, 3), (-8000, 12289)])
@pytest.mark.parametrize("most", [0, 3, 99])
def test_by_definition(rapids, rule, low, high, most):
    tables, free = drawn(5, [7, 1, 12], low, high)
    expected = greedy.all_places([table.tolist() for table in tables], free.tolist(), rule, most)
    assert places_of(rapids, tables, free, rule, most) == expected


@pytest.mark.parametrize("rule", greedy.RULES)
@pytest.mark.parametrize("span", [(0, 2), (-3000, 12289)])
def test_classes_larger_than_a_block(rapids, rule, span):
    """More nodes than threads, and ties across threads: each thread looks at several nodes."""
    tables, free = drawn(6, [300, 5, 257], *span, n_folds=2)
    ours = places_of(CPU, tables, free, rule, 12)
    assert places_of(rapids, tables, free, rule, 12) == ours
    assert all(max(row) == 11 for row in ours)


@pytest.mark.parametrize("rule", greedy.RULES)
def test_ties_go_to_the_first(rapids, rule):
    found = places_of(rapids, [np.full((280, 280), 4)], np.arange(280)[None, :] % 3 > 0, rule, 5)
    assert [found[0].index(place) for place in range(5)] == [1, 2, 4, 5, 7]
    assert found[0].count(-1) == 275


@pytest.mark.parametrize("rule", greedy.RULES)
def test_folds_without_free_nodes(rapids, rule):
    free = np.array([[False, False, True], [True, True, True], [False, False, False]])
    expected = [[-1, -1, 0], [0, 1, 0], [-1, -1, -1]]
    assert places_of(rapids, [np.eye(2), np.eye(1)], free, rule, 9) == expected


def test_free_nodes_picked_from_a_larger_table(rapids):
    """A selection of columns need not be contiguous; the kernel takes it as it stands in memory."""
    tables, free = drawn(7, [6, 4], -9, 30)
    wide = np.asfortranarray(np.repeat(free, 2, axis=1))
    flat = np.concatenate([table.ravel() for table in tables]).astype(np.int16)
    given = rapids.asarray(flat), [6, 4], rapids.asarray(wide)[:, ::2]
    found = host(rapids, rapids.exemplar_places(*given, rule="cover", most=9)).tolist()
    assert found == places_of(CPU, tables, free, "cover", 9)
