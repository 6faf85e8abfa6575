"""Stage 5: neighbourhoods of ranked roots under a budget."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support import reference
from support.graphs import build, host, random_raw, raw

from herald_gpu.budget import Budget, Prices
from herald_gpu.config import HeraldConfig
from herald_gpu.stages.expansion import expand

PAPER = HeraldConfig.paper()
PUBLISHED = HeraldConfig.published("citation")


def prices_of(backend, price, edge=4.0, edge_to_member=8.0):
    return Prices(backend.asarray(np.array(price, dtype=np.float64)), edge, edge_to_member)


def grown(backend, given, roots, price, limit, *, depth=2, patience=100, start=None, **options):
    """Grow, and give back sets."""
    if start is not None:
        around = reference.neighbours(given)
        mask = np.zeros(given.n, dtype=bool)
        mask[list(start)] = True
        options |= {"member": backend.asarray(mask), "spent": reference.cost(around, price, start)}
    growth = backend.grow(
        build(backend, given).adjacency,
        backend.asarray(np.array(roots, dtype=np.int64)),
        prices_of(backend, price),
        limit=limit,
        depth=depth,
        patience=patience,
        **options,
    )
    return as_sets(backend, growth)


def as_sets(backend, growth):
    member, considered = (np.flatnonzero(host(backend, part)) for part in (growth.member, growth.considered))
    return reference.Grown(set(member.tolist()), set(considered.tolist()), growth.accepted, growth.spent)


STEPS = raw([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)], np.ones((6, 1)), [0, 1, 0, 1, 0, 1])
"""A path of six nodes; each is priced at 10, each undirected edge at 8."""
TENS = [10.0] * 6


@pytest.mark.parametrize(
    ("limit", "members", "spent"),
    [
        (200, {0, 1, 2, 3, 4, 5}, 100),
        (100, {0, 1, 2, 3, 4, 5}, 100),  # exactly at the limit is within it
        (99, {0, 1, 2, 3, 4}, 82),  # root 5 would bring node 5 for 18 more
        (82, {0, 1, 2, 3, 4}, 82),
        (81, {0, 1, 2}, 46),
        (46, {0, 1, 2}, 46),
        (45, set(), 0),
    ],
)
def test_limits_by_hand(backend, limit, members, spent):
    # Root 0 brings 0, 1, 2 (30 + 16), root 2 adds 3 and 4 (20 + 16), root 5 adds the last one (10 + 8).
    found = grown(backend, STEPS, [0, 2, 5], TENS, limit)
    assert found.members == members
    assert found.spent == spent
    assert found.considered == {0, 2, 5}


def test_a_root_that_adds_nothing_is_kept_at_no_cost(backend):
    found = grown(backend, STEPS, [2, 3], TENS, 1000, depth=5)
    assert found.accepted == 1
    assert found.considered == {2, 3}
    assert found.spent == 100


def test_patience_is_spent_by_more_than_that_many_rejections(backend):
    # Roots 1, 2, 3 are too dear one by one; root 4 is free.
    price = [1, 50, 50, 50, 1, 1]
    for patience, considered in ((1, {0, 1, 2}), (2, {0, 1, 2, 3}), (3, {0, 1, 2, 3, 4})):
        found = grown(backend, STEPS, [0, 1, 2, 3, 4], price, 10, depth=0, patience=patience)
        assert found.considered == considered
        assert (4 in found.members) == (patience == 3)


def test_an_acceptance_forgives_earlier_rejections(backend):
    price = [50, 1, 50, 1, 50, 1]
    found = grown(backend, STEPS, [0, 1, 2, 3, 4, 5], price, 20, depth=0, patience=1)
    assert found.considered == set(range(6))
    assert found.members == {1, 3, 5}


def test_a_root_that_adds_nothing_forgives_nothing(backend):
    # Between two rejections comes a root that is there already: with a patience of one the second one ends it.
    price = [1, 50, 50, 1, 1, 1]
    found = grown(backend, STEPS, [0, 1, 0, 2, 5], price, 10, depth=0, patience=1)
    assert found.considered == {0, 1, 2}
    assert found.members == {0}


def test_quota_counts_accepted_roots(backend):
    found = grown(backend, STEPS, [0, 5, 3], TENS, 1000, depth=0, quota=2)
    assert found.members == {0, 5}
    assert found.considered == {0, 5}
    assert grown(backend, STEPS, [0], TENS, 1000, depth=0, quota=0).considered == set()


def test_starting_from_members_charges_the_edges_to_them(backend):
    found = grown(backend, STEPS, [3, 2], TENS, 48, depth=0, start={1})
    # Node 3 costs 10, then node 2 costs 10 and two undirected edges, 46 in all.
    assert found.members == {1, 2, 3}
    assert found.spent == 46
    assert grown(backend, STEPS, [3, 2], TENS, 45, depth=0, start={1}).members == {1, 3}


def test_the_start_is_not_changed(backend):
    mask = backend.asarray(np.array([True] + [False] * 5))
    roots = backend.asarray(np.array([5]))
    adjacency = build(backend, STEPS).adjacency
    backend.grow(adjacency, roots, prices_of(backend, TENS), limit=99, depth=0, patience=0, member=mask, spent=10.0)
    assert host(backend, mask).tolist() == [True] + [False] * 5


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_against_the_reference(backend, seed, depth):
    given = random_raw("counts", 60, seed)
    around, rng = reference.neighbours(given), np.random.default_rng(seed)
    price = (2.0 * rng.integers(0, 30, size=given.n)).tolist()
    roots = rng.permutation(np.flatnonzero(given.train)).tolist()
    whole = reference.cost(around, price, range(given.n))
    for share in (0.02, 0.1, 0.3, 0.7, 1.0):
        for patience in (0, 2, 100):
            expected = reference.grow(around, roots, price, share * whole, depth=depth, patience=patience)
            assert grown(backend, given, roots, price, share * whole, depth=depth, patience=patience) == expected


@pytest.mark.parametrize("seed", range(4))
def test_quota_and_start_against_the_reference(backend, seed):
    given = random_raw("counts", 60, seed)
    around, rng = reference.neighbours(given), np.random.default_rng(seed)
    price = (2.0 * rng.integers(1, 30, size=given.n)).tolist()
    order = rng.permutation(given.n).tolist()
    start, roots = set(order[:20]), order[20:]
    limit = 1.2 * reference.cost(around, price, start)
    for quota in (1, 5, None):
        expected = reference.grow(around, roots, price, limit, depth=0, patience=99, start=start, quota=quota)
        found = grown(backend, given, roots, price, limit, depth=0, patience=99, start=start, quota=quota)
        assert found == expected


def expanded(backend, given, ranking, price, limit, config=PAPER):
    return expand(
        backend,
        build(backend, given).adjacency,
        backend.asarray(np.array(ranking, dtype=np.int64)),
        prices_of(backend, price),
        Budget("sparse", 10_000, limit),
        config,
    )


def test_the_expansion_has_headroom_and_the_target_has_not(backend):
    # 46 for root 0 alone; 1.9 * 46 = 87.4 holds 82, the neighbourhoods of roots 0 and 2.
    found = expanded(backend, STEPS, [0, 2, 5], TENS, 46)
    assert np.flatnonzero(host(backend, found.member)).tolist() == [0, 1, 2, 3, 4]
    assert np.flatnonzero(host(backend, found.considered)).tolist() == [0, 2, 5]
    assert (found.target_size, found.depth) == (3, 2)


@pytest.mark.parametrize(("limit", "depth", "size"), [(25, 2, 3), (24, 1, 2), (15, 1, 2), (14, 0, 2), (5, 0, 0)])
def test_depth_drops_until_a_root_is_accepted(backend, limit, depth, size):
    # 1.9 times the limit against 46 (two hops of root 0), 28 (one hop) and 10 (the root itself; then root 5).
    found = expanded(backend, STEPS, [0, 5], TENS, limit)
    assert found.depth == depth
    members = np.flatnonzero(host(backend, found.member)).tolist()
    assert len(members) == size


@pytest.mark.parametrize("seed", range(6))
def test_expansion_against_the_reference(backend, seed):
    given = random_raw("binary", 70, seed, mean_degree=2.0)
    around, rng = reference.neighbours(given), np.random.default_rng(seed)
    price = (2.0 * rng.integers(1, 12, size=given.n)).tolist()
    ranking = rng.permutation(np.flatnonzero(given.train)).tolist()
    whole = reference.cost(around, price, range(given.n))
    for share in (0.005, 0.02, 0.05, 0.2):
        limit = int(share * whole)
        wide, depth = reference.expand(around, ranking, price, 1.9 * limit, depth=2, patience=100)
        plain, _ = reference.expand(around, ranking, price, limit, depth=2, patience=100)
        found = expanded(backend, given, ranking, price, limit)
        assert set(np.flatnonzero(host(backend, found.member)).tolist()) == wide.members
        assert set(np.flatnonzero(host(backend, found.considered)).tolist()) == wide.considered
        assert (found.depth, found.target_size) == (depth, len(plain.members))


# The published way of counting


def published_grow(given, roots, price, limit, depth):
    """Directed edges as stored, each charged 2 from the new side; stop when full; patience 100."""
    out = [[] for _ in range(given.n)]
    for a, b in given.edges:
        out[a].append(b)
    members, considered, spent, rejections = set(), set(), 0.0, 0
    for root in roots:
        considered.add(root)
        tree = reference.within_hops([set(near) for near in out], root, depth)
        new = tree - members
        if not new:
            continue
        extra = sum(price[v] for v in new) + 2 * sum(u in members | new for v in new for u in out[v])
        if spent + extra <= limit:
            members |= new
            spent += extra
            rejections = 0
        else:
            rejections += 1
            if rejections > 100:
                break
        if spent >= limit:
            break
    return members, considered


@pytest.mark.parametrize("low", [0, -20])
@pytest.mark.parametrize("seed", range(4))
def test_published_expansion(backend, seed, low):
    given = random_raw("counts", 60, seed)
    given = replace(given, edges=given.edges + given.edges[:10] + ((3, 3), (7, 7)))
    rng = np.random.default_rng(seed)
    price = (2.0 * rng.integers(low, 20, size=given.n)).tolist()
    roots = rng.permutation(np.flatnonzero(given.train)).tolist()
    adjacency = build(backend, given, stored=True).adjacency
    ranking = backend.asarray(np.array(roots, dtype=np.int64))
    for limit in (0, 10, 30, 80, 200):
        found = expand(
            backend,
            adjacency,
            ranking,
            prices_of(backend, price, 2.0, 2.0),
            Budget("sparse", 10_000, limit),
            PUBLISHED,
        )
        members, considered = published_grow(given, roots, price, 10 * limit, 2)
        plain, _ = published_grow(given, roots, price, limit, 2)
        assert set(np.flatnonzero(host(backend, found.member)).tolist()) == members
        assert set(np.flatnonzero(host(backend, found.considered)).tolist()) == considered
        assert (found.target_size, found.depth) == (len(plain), 2)


def test_stop_when_full(backend):
    # Root 0 fills the limit to the byte: root 5 is not even looked at.
    found = grown(backend, STEPS, [0, 5], TENS, 46, stop_when_full=True)
    assert found.considered == {0}
    assert grown(backend, STEPS, [0, 5], TENS, 47, stop_when_full=True).considered == {0, 5}
