"""The paper's theorems, and the two claims of its appendix that it leaves unproved, as properties of the code.

Robustness (theorem 1). With ``w = (alpha, beta, gamma)`` summing to 1 for every t, the change of a combined score
whose parts lie in [0, 1] is at most half of ``|w(t) - w(t')|_1``. The default base gives
``w = (0.8, 0.8 t, 0.2 (1 + t)) / (1 + t)``: gamma never moves, alpha loses what beta gains, and
``|d alpha / dh| = 8 t (1 - t) * 0.8 / (1 + t)^2 = 6.4 t (1 - t) / (1 + t)^2``, which is largest at t = 1/3: L = 0.8.
For any other base, ``|w'|_1 <= 2 |r'|_1 / S`` with raw weights r and their sum S, linear in t, so that
``L = c / 4 * (residual + beta0 + gamma0 / 2) / min(S(0), S(1))``.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from support.graphs import build, host, raw

from herald_gpu import ops
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.budget import Prices
from herald_gpu.config import HeraldConfig
from herald_gpu.stages.features import multihop_fisher
from herald_gpu.stages.scoring import prototype_scores
from herald_gpu.stages.weights import adapt_weights

CPU = CpuBackend()
CONFIG = HeraldConfig.paper()
LIPSCHITZ = 0.8
SHARES = st.floats(0, 1)
PARTS = st.tuples(SHARES, SHARES, SHARES)


def combined(h, parts, config=CONFIG):
    """Combined score (eq:combined) of a node whose three scaled scores are given."""
    weights = adapt_weights(h, config)
    return weights.alpha * parts[0] + weights.beta * parts[1] + weights.gamma * parts[2]


# Theorem 1


@given(SHARES, SHARES, PARTS)
def test_scores_are_lipschitz_in_heterophily(h, other, parts):
    assert abs(combined(h, parts) - combined(other, parts)) <= LIPSCHITZ * abs(h - other) + 1e-12


def test_the_constant_cannot_be_smaller():
    h = 0.4 - math.log(2) / 8  # t = 1/3
    step = 1e-5
    slope = abs(combined(h + step, (1, 0, 0)) - combined(h - step, (1, 0, 0))) / (2 * step)
    assert slope == pytest.approx(LIPSCHITZ, abs=1e-6)


@given(SHARES)
def test_the_weight_of_diversity_never_moves(h):
    assert adapt_weights(h, CONFIG).gamma == pytest.approx(0.2, abs=1e-15)


@given(
    base=st.tuples(*[st.floats(0.05, 1 / 3)] * 3),
    steepness=st.floats(0.5, 30),
    midpoint=SHARES,
    h=SHARES,
    other=SHARES,
    parts=PARTS,
)
def test_scores_are_lipschitz_for_any_base(base, steepness, midpoint, h, other, parts):
    config = replace(CONFIG, base_weights=base, steepness=steepness, midpoint=midpoint)
    alpha, beta, gamma = base
    residual = 1 - sum(base)
    smallest_sum = min(alpha + residual + gamma / 2, alpha + beta + gamma)
    constant = steepness / 4 * (abs(residual) + beta + gamma / 2) / smallest_sum
    change = abs(combined(h, parts, config) - combined(other, parts, config))
    assert change <= constant * abs(h - other) + 1e-9


# Theorem 2 and its corollary

ROWS = hnp.arrays(np.float32, st.tuples(st.integers(6, 16), st.integers(2, 5)), elements=st.floats(-4, 4, width=32))


def prototypes_of(x):
    """Unit rows, centroids and prototype scores of two classes that take turns; None if a centroid vanishes."""
    codes = [row % 2 for row in range(len(x))]
    graph = build(CPU, raw([], x, codes))
    inverse = ops.inverse(CPU, ops.row_norms(CPU, graph.features))
    scores = prototype_scores(CPU, graph, graph.features, inverse)
    unit = x.astype(np.float64) * inverse[:, None]
    means = [unit[code::2].mean(axis=0) for code in (0, 1)]
    lengths = [np.linalg.norm(mean) for mean in means]
    if min(lengths) < 1e-3:
        return None
    return unit, [mean / length for mean, length in zip(means, lengths, strict=True)], scores


def best_of_class(scores, code, m):
    mine = np.arange(code, len(scores), 2)
    return mine[np.argsort(-scores[mine], kind="stable")][:m]


def radius(worst):
    return math.sqrt(max(0.0, 2 - 2 * worst))


@settings(deadline=None)
@given(ROWS, st.integers(1, 3))
def test_centroids_of_the_best_prototypes_are_faithful(x, m):
    found = prototypes_of(x)
    assume(found is not None)
    unit, centroids, scores = found
    for code in (0, 1):
        chosen = best_of_class(scores, code, m)
        assert scores[chosen].min() >= np.delete(scores[code::2], (chosen - code) // 2).max(initial=-1) - 1e-12
        gap = np.linalg.norm(unit[chosen].mean(axis=0) - centroids[code])
        assert gap <= radius(scores[chosen].min()) + 1e-7


@settings(deadline=None)
@given(ROWS, st.integers(1, 3))
def test_classes_stay_apart(x, m):
    found = prototypes_of(x)
    assume(found is not None)
    unit, centroids, scores = found
    condensed, radii = [], []
    for code in (0, 1):
        chosen = best_of_class(scores, code, m)
        mean = unit[chosen].mean(axis=0)
        assume(np.linalg.norm(mean) > 1e-6)
        condensed.append(mean / np.linalg.norm(mean))
        radii.append(radius(scores[chosen].min()))
        assert np.linalg.norm(condensed[-1] - centroids[code]) <= 2 * radii[-1] + 1e-6
    separation = np.linalg.norm(centroids[0] - centroids[1])
    assert np.linalg.norm(condensed[0] - condensed[1]) >= separation - 2 * sum(radii) - 1e-6


def test_a_tight_class_is_kept_exactly():
    x = np.array([[1, 0], [0, 1], [2, 0], [0, 3], [5, 0], [0, 1]], dtype=np.float32)
    unit, centroids, scores = prototypes_of(x)
    for code in (0, 1):
        chosen = best_of_class(scores, code, 2)
        np.testing.assert_allclose(unit[chosen].mean(axis=0), centroids[code], atol=1e-12)


# Claim: higher hops lose mass as heterophily grows


@given(SHARES, SHARES, st.integers(1, 6))
def test_hop_weights_lose_their_tail(one, other, hops):
    low, high = sorted((one, other))
    tails = []
    for h in (low, high):
        weights = np.array([(1 - h) ** hop for hop in range(hops + 1)])
        weights /= weights.sum()
        tails.append(np.cumsum(weights[::-1])[::-1])
    assert (tails[1] <= tails[0] + 1e-12).all()  # beyond every hop
    assert tails[1][1:].sum() <= tails[0][1:].sum() + 1e-12  # and so on average
    if high - low > 1e-6 and high < 1:
        assert (tails[1][1:] < tails[0][1:]).all()


def test_features_that_separate_one_hop_away_lose_to_those_that_separate_at_once(backend):
    # Four labelled nodes, each with two leaves. The first feature tells the classes apart on the nodes, and on
    # every node's leaves it is 0 and 1; the second one is 0 on the nodes and tells the classes apart on the leaves.
    # One hop swaps what nodes and leaves hold, two hops bring it back: ratios (1, 0, 1) and (0, 1, 0).
    edges = [(v, 4 + 2 * v + leaf) for v in range(4) for leaf in (0, 1)]
    classes = [0, 0, 1, 1]
    x = [[code, 0] for code in classes] + [[leaf, classes[v]] for v in range(4) for leaf in (0, 1)]
    graph = build(backend, raw(edges, x, classes + [0] * 8, [True] * 4 + [False] * 8))
    previous = math.inf
    for h in (0.0, 0.2, 0.5, 0.8, 0.99, 1.0):
        at_once, one_away = host(backend, multihop_fisher(backend, graph, h, CONFIG)).tolist()
        assert at_once == 1
        assert one_away == pytest.approx((1 - h) / (1 + (1 - h) ** 2), abs=1e-12)
        assert one_away < previous
        previous = one_away


# Claim: score-weighted coverage is monotone and submodular

N = 12
EDGES = st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)), max_size=25)
SUBSETS = st.sets(st.integers(0, N - 1), max_size=5)


def coverage(edges, scores, depth):
    """Sum of the scores of all nodes within some hops of the chosen roots, as the expansion reaches them."""
    adjacency = build(CPU, raw(edges, np.ones((N, 1)), [0] * N)).adjacency
    free = Prices(np.zeros(N), 0.0, 0.0)

    def of(roots):
        chosen = np.array(sorted(roots), dtype=np.int64)
        reached = CPU.grow(adjacency, chosen, free, limit=0.0, depth=depth, patience=0).member
        return float(scores[reached].sum())

    return of


@settings(deadline=None)
@given(EDGES, hnp.arrays(np.float64, N, elements=SHARES), SUBSETS, SUBSETS, st.integers(0, N - 1), st.integers(0, 3))
def test_coverage_is_monotone_and_submodular(edges, scores, small, more, newcomer, depth):
    cover = coverage(edges, scores, depth)
    large = small | more
    assert cover(set()) == 0
    assert cover(small) <= cover(large) + 1e-12
    gain_small = cover(small | {newcomer}) - cover(small)
    gain_large = cover(large | {newcomer}) - cover(large)
    assert gain_small >= gain_large - 1e-9
    assert gain_large >= -1e-12


@settings(deadline=None, max_examples=20)
@given(EDGES, hnp.arrays(np.float64, N, elements=SHARES))
def test_greedy_roots_cover_what_submodularity_promises(edges, scores):
    cover, chosen = coverage(edges, scores, 1), set()
    for _ in range(2):
        chosen.add(max(range(N), key=lambda root: cover(chosen | {root})))
    best = max(cover(set(pair)) for pair in combinations(range(N), 2))
    assert cover(chosen) >= (1 - 1 / math.e) * best - 1e-9
