"""The order of exemplars, and as many of them as fit."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from support import reference
from support.graphs import build, host, random_raw, raw

from herald_gpu.budget import Budget, Prices, Pricing
from herald_gpu.config import HeraldConfig
from herald_gpu.stages.exemplars import Order, fill, order_members, surround
from herald_gpu.stages.pool import draw_pool

CONFIG = HeraldConfig()
EDGE = 4.0


def pool_of(backend, given, config=CONFIG, seed=0):
    graph = build(backend, given)
    return graph, draw_pool(backend, graph, 1, config, seed=seed)


def drawn_places(pool, fold, free, rng, share=1.0):
    """Places of compared nodes as a backend gives them: from 0 in each class, to free nodes alone."""
    places = np.full(sum(pool.sizes), -1)
    start = 0
    for size in pool.sizes:
        able = start + np.flatnonzero(free[fold][start : start + size])
        chosen = rng.permutation(able)[: int(np.ceil(share * len(able)))]
        places[chosen] = np.arange(len(chosen))
        start += size
    return places


def classes_only(counts):
    """A graph without edges, with so many nodes of each class."""
    return raw([], np.eye(sum(counts), 2), [code for code, count in enumerate(counts) for _ in range(count)])


def takes_turns(counts, shares):
    """Sainte-Lague by loop: the class with the lowest (i + 1/2) / share is next, of equals the first."""
    taken, order = [0] * len(counts), []
    while sum(taken) < sum(counts):
        able = [code for code, count in enumerate(counts) if taken[code] < count]
        best = min(able, key=lambda code: ((Fraction(2 * taken[code] + 1, 2)) / shares[code], code))
        order.append((best, taken[best]))
        taken[best] += 1
    return order


# Order


@pytest.mark.parametrize(
    ("counts", "prior", "shares"),
    [
        ([9, 3, 6], 1.0, [Fraction(1, 2), Fraction(1, 6), Fraction(1, 3)]),
        ([9, 3, 6], 0.0, [Fraction(1, 3)] * 3),
        ([9, 1, 6, 4], 0.5, [Fraction(7, 20), Fraction(3, 20), Fraction(11, 40), Fraction(9, 40)]),
        ([5], 0.5, [Fraction(1)]),
        ([1, 1, 1], 1.0, [Fraction(1, 3)] * 3),
    ],
)
def test_classes_take_turns_by_their_shares(backend, counts, prior, shares):
    _, pool = pool_of(backend, classes_only(counts), replace(CONFIG, prior_share=prior))
    assert pool.targets.tolist() == pytest.approx([float(share) for share in shares])
    places = np.concatenate([np.arange(count)[::-1] for count in counts])
    order = order_members(backend, pool, backend.asarray(places), pool.n_folds, link_share=0.0)
    turn, codes = host(backend, order.turn), host(backend, pool.codes)
    found = [(int(codes[i]), int(host(backend, order.place)[i])) for i in turn]
    assert found == takes_turns(counts, shares)
    assert host(backend, order.place).tolist() == places.tolist()


@pytest.mark.parametrize("smallest", [3, 50])
@pytest.mark.parametrize("share", [1.0, 0.4, 0.0])
def test_the_others_follow_as_they_were_drawn(backend, smallest, share):
    """Those without a place, and those who were not compared: behind the others of their class."""
    given = random_raw("binary", 60, seed=3)
    _, pool = pool_of(backend, given, replace(CONFIG, smallest_pool=smallest, largest_pool=smallest))
    free, codes = host(backend, pool.free), host(backend, pool.codes)
    compared = host(backend, pool.compared)
    for fold in range(pool.n_folds + 1):
        places = drawn_places(pool, fold, free[:, compared], np.random.default_rng(fold), share)
        order = order_members(backend, pool, backend.asarray(places), fold, link_share=0.0)
        found = host(backend, order.place)
        for code in range(3):
            first = {int(compared[i]): places[i] for i in range(len(places)) if places[i] >= 0}
            mine = [i for i in range(len(codes)) if codes[i] == code and free[fold][i]]
            best = sorted((i for i in mine if i in first), key=first.get)
            expected = best + [i for i in mine if i not in first]
            assert sorted(mine, key=lambda i: found[i]) == expected
            assert sorted(found[mine].tolist()) == list(range(len(mine)))


def test_held_out_nodes_have_no_turn(backend):
    given = random_raw("binary", 60, seed=3)
    _, pool = pool_of(backend, given)
    free = host(backend, pool.free)
    held, low = host(backend, pool.held), 0
    members = host(backend, pool.members)
    for fold, size in enumerate(pool.held_sizes):
        # Even a place does not help a node that is held out.
        places = np.concatenate([np.arange(size) for size in pool.sizes])
        order = order_members(backend, pool, backend.asarray(places), fold, link_share=0.5)
        turn = host(backend, order.turn)
        assert sorted(turn.tolist()) == np.flatnonzero(free[fold]).tolist()
        assert set(members[turn].tolist()).isdisjoint(held[low : low + size].tolist())
        low += size


@pytest.mark.parametrize(
    "share", [Fraction(0), Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), Fraction(7, 10), Fraction(1)]
)
def test_links_are_due_evenly(backend, share):
    """Of the first m of a class, floor(m * share)."""
    _, pool = pool_of(backend, classes_only([30, 7]))
    places = np.concatenate([np.arange(30), np.arange(7)])
    order = order_members(backend, pool, backend.asarray(places), pool.n_folds, link_share=float(share))
    linked = host(backend, order.linked)
    for part in (linked[:30], linked[30:]):
        assert np.cumsum(part).tolist() == [int((m + 1) * share) for m in range(len(part))]


# As many as fit


def priced(backend, node, limit, *, feasible=True):
    prices = Prices(backend.asarray(np.asarray(node, dtype=np.float64)), EDGE, 2 * EDGE)
    return Pricing(prices, Budget("dense", 1e9, limit), feasible=feasible)


def in_turn(backend, pool, nodes, linked=()):
    """An order that looks at these nodes of the pool one after the other."""
    members = host(backend, pool.members).tolist()
    turn = np.array([members.index(v) for v in nodes])
    marks = np.array([v in linked for v in members])
    return Order(backend.asarray(np.arange(len(members))), backend.asarray(marks), backend.asarray(turn))


def filled(backend, given, node, limit, ranking=None, linked=(), *, every_class=False, feasible=True, config=CONFIG):
    graph, pool = pool_of(backend, given)
    known = [v for v in range(given.n) if given.train[v]]
    order = in_turn(backend, pool, known if ranking is None else ranking, linked)
    pricing = priced(backend, node, limit, feasible=feasible)
    found = fill(backend, graph, pool, order, pricing, limit, config, every_class=every_class)
    assert host(backend, pricing.prices.node).tolist() == list(node)
    return None if found is None else host(backend, found).tolist()


@pytest.mark.parametrize("patience", [100, 2])
@pytest.mark.parametrize("limit", [0, 60, 140, 300, 10_000])
def test_nodes_and_edges_among_them_against_the_reference(backend, limit, patience):
    given = random_raw("binary", 40, seed=4)
    rng = np.random.default_rng(5)
    node, ranking = 2.0 * rng.integers(1, 15, 40), rng.permutation(np.flatnonzero(given.train)).tolist()
    grown = reference.grow(reference.neighbours(given), ranking, node.tolist(), limit, depth=0, patience=patience)
    config = replace(CONFIG, patience=patience)
    assert filled(backend, given, node, limit, ranking, config=config) == sorted(grown.members)


def test_links_are_paid_for(backend):
    # Three nodes of 10 bytes each: a link takes 8 more.
    given = raw([], np.eye(3, 2), [0, 0, 0])
    assert filled(backend, given, [10.0] * 3, 30) == [0, 1, 2]
    assert filled(backend, given, [10.0] * 3, 38, linked=(1,)) == [0, 1, 2]
    assert filled(backend, given, [10.0] * 3, 37, linked=(1,)) == [0, 1]
    assert filled(backend, given, [10.0] * 3, 27, linked=(1,)) == [0, 2]


def test_a_class_may_be_left_out(backend):
    given = raw([], np.eye(4, 2), [0, 0, 0, 1])
    assert filled(backend, given, [10.0] * 4, 30) == [0, 1, 2]


def test_where_every_class_must_be_there_the_cheapest_come_first(backend):
    given = raw([], np.eye(6, 2), [0, 0, 0, 1, 1, 1])
    node = [10.0, 10.0, 10.0, 14.0, 12.0, 12.0]
    assert filled(backend, given, node, 30, every_class=True) == [0, 4]
    assert filled(backend, given, node, 35, every_class=True) == [0, 1, 4]
    assert filled(backend, given, node, 44, every_class=True) == [0, 1, 2, 3]  # as they come


def test_edges_of_the_cheapest_are_paid_for_too(backend):
    given = raw([(0, 2), (0, 3)], np.eye(4, 2), [0, 0, 1, 1])
    node = [10.0, 11.0, 10.0, 10.0]
    assert filled(backend, given, node, 28, [0, 1, 2, 3], every_class=True) == [0, 2]
    assert filled(backend, given, node, 27, [0, 1, 2, 3], every_class=True) is None


def test_links_that_leave_no_room_for_a_class(backend):
    given = raw([], np.eye(3, 2), [0, 0, 1])
    assert filled(backend, given, [10.0] * 3, 20, every_class=True) == [0, 2]
    assert filled(backend, given, [10.0] * 3, 20, linked=(2,), every_class=True) is None
    assert filled(backend, given, [10.0] * 3, 28, linked=(2,), every_class=True) == [0, 2]
    assert filled(backend, given, [10.0] * 3, 20, linked=(0,), every_class=True) == [1, 2]  # another is cheaper now


def test_where_not_every_class_fits_what_fits_is_taken(backend):
    given = raw([], np.eye(4, 2), [0, 1, 1, 2])
    node = [30.0, 25.0, 6.0, 4.0]
    options = {"every_class": True, "feasible": False}
    assert filled(backend, given, node, 35, [0, 1, 2, 3], **options) == [0, 3]
    assert filled(backend, given, node, 29, [0, 1, 2, 3], **options) == [1, 3]
    # Whoever was looked at and was too large is not waited for: the cheapest still come in.
    hasty = replace(CONFIG, patience=0)
    assert filled(backend, given, node, 10, [0, 1, 2, 3], config=hasty, **options) == [2, 3]


def test_nodes_outside_the_training_set_stand_for_no_class(backend):
    given = raw([], np.eye(4, 2), [0, 0, 1, 1], [True, True, True, False])
    assert filled(backend, given, [5.0, 5.0, 9.0, 1.0], 14, every_class=True) == [0, 2]


# Surroundings


@pytest.mark.parametrize("kind", ["binary", "dense"])
@pytest.mark.parametrize("limit", [0.0, 40.0, 150.0, 1e6])
def test_neighbours_with_the_most_chosen_ones_come_first(backend, kind, limit):
    given = random_raw(kind, 30, seed=6)
    train = [bool(known) and v % 2 == 0 for v, known in enumerate(given.train)]
    given = raw(given.edges, given.x, given.y, train)
    graph, price = build(backend, given), [3.0 + v % 5 for v in range(30)]
    chosen, around = {v for v in range(30) if train[v]}, reference.neighbours(given)
    start = reference.cost(around, price, chosen)
    asked = sorted((v for v in range(30) if v not in chosen), key=lambda v: (-len(around[v] & chosen), v))
    member = set(chosen)
    for v in (v for v in asked if around[v] & chosen):
        if reference.cost(around, price, member | {v}) <= start + limit:
            member.add(v)
    made = surround(
        backend,
        graph,
        backend.asarray(np.array(sorted(chosen))),
        Pricing(Prices(backend.asarray(np.array(price)), EDGE, 2 * EDGE), Budget("dense", 1e9, 1e9), feasible=True),
        start + limit,
        CONFIG,
    )
    assert host(backend, made).tolist() == sorted(member)
    assert (limit == 0) == (member == chosen)
