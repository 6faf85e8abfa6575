"""The matrices of the models, against dense formulas."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from herald_gpu.errors import InputError
from herald_gpu.evaluate import operators

# 0 - 1 - 2 - 3, and 4 alone
PATH = np.zeros((5, 5))
PATH[[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]] = 1


def csr(dense):
    return scipy.sparse.csr_array(np.asarray(dense, dtype=np.float64))


def random_graph(seed=0, n=30, *, directed=False, weighted=False):
    rng = np.random.default_rng(seed)
    dense = (rng.random((n, n)) < 0.1) * (rng.random((n, n)) if weighted else 1.0)
    np.fill_diagonal(dense, 0)
    return dense if directed else np.maximum(dense, dense.T)


def test_gcn_renormalises_by_hand():
    made = operators.gcn(csr(PATH)).toarray()
    assert made[0, 0] == pytest.approx(1 / 2)
    assert made[0, 1] == pytest.approx(1 / np.sqrt(2 * 3))
    assert made[1, 2] == pytest.approx(1 / 3)
    assert made[4, 4] == 1
    np.testing.assert_allclose(made, made.T)


def test_gcn_gives_no_second_self_loop():
    looped = PATH.copy()
    looped[0, 0] = 1
    np.testing.assert_allclose(operators.gcn(csr(looped)).toarray(), operators.gcn(csr(PATH)).toarray())


def test_directed_edges_carry_messages_from_source_to_target():
    edge = np.zeros((2, 2))
    edge[0, 1] = 1
    for made in (operators.messages(csr(edge)), operators.one_hop(csr(edge))):
        assert made.toarray()[0, 1] == 0
    assert operators.messages(csr(edge)).toarray()[1, 0] == 1
    assert operators.gcn(csr(edge)).toarray()[1, 0] == pytest.approx(1 / np.sqrt(2))


def test_weights_are_honoured():
    dense = random_graph(weighted=True)
    with_loops = dense + np.eye(len(dense))
    root = np.diag(with_loops.sum(axis=1) ** -0.5)
    np.testing.assert_allclose(operators.gcn(csr(dense)).toarray(), root @ with_loops @ root)
    np.testing.assert_allclose(operators.attention(csr(dense)).toarray(), with_loops)


def test_negative_weights_count_by_their_size():
    made = operators.one_hop(csr([[0, -4], [-4, 0]])).toarray()
    np.testing.assert_allclose(made, [[0, -1], [-1, 0]])


def test_attention_replaces_self_loops_by_weight_one():
    looped = PATH * 2.0
    looped[1, 1] = 7
    np.testing.assert_array_equal(operators.attention(csr(looped)).toarray(), 2 * PATH + np.eye(5))


def test_one_hop_leaves_the_node_itself_out():
    looped = PATH.copy()
    looped[1, 1] = 1
    made = operators.one_hop(csr(looped)).toarray()
    assert made.diagonal().tolist() == [0] * 5
    assert made[1, 2] == pytest.approx(1 / 2)
    assert not made[4].any()


def test_mean_by_hand():
    looped = PATH * 2.0
    looped[1, 1] = 4
    made = operators.mean(csr(looped)).toarray()
    assert made[1].tolist() == [0.25, 0.5, 0.25, 0, 0]
    assert made[0].tolist() == [0, 1, 0, 0, 0]
    assert not made[4].any()


def test_a_ready_matrix_is_not_normalised_again():
    ready = np.array([[0.5, 0.25], [0.25, 0.5]])
    np.testing.assert_array_equal(operators.gcn(csr(ready), ready=True).toarray(), ready)
    np.testing.assert_array_equal(operators.mean(csr(ready), ready=True).toarray(), [[0, 0.25], [0.25, 0]])
    np.testing.assert_array_equal(operators.one_hop(csr(ready), ready=True).toarray(), [[0, 0.25], [0.25, 0]])


def test_two_hop_by_hand():
    made = operators.two_hop(csr(PATH)).toarray()
    expected = np.zeros((5, 5))
    expected[[0, 2, 1, 3], [2, 0, 3, 1]] = 1
    np.testing.assert_array_equal(made, expected)


@pytest.mark.parametrize("directed", [False, True])
def test_two_hop_is_exactly_the_nodes_at_distance_two(directed):
    dense = random_graph(3, directed=directed)
    heard = dense.T
    distance = np.full(dense.shape, np.inf)
    distance[(heard @ heard) > 0] = 2
    distance[heard > 0] = 1
    np.fill_diagonal(distance, 0)
    pattern = (distance == 2).astype(float)
    degree = pattern.sum(axis=1)
    scale = np.divide(1, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    np.testing.assert_allclose(operators.two_hop(csr(dense)).toarray(), scale[:, None] * pattern * scale)


def test_two_hop_weights_do_not_matter():
    dense = random_graph(4)
    made = [operators.two_hop(csr(matrix)).toarray() for matrix in (dense, 5 * dense)]
    np.testing.assert_array_equal(*made)


def test_too_many_pairs_are_refused_with_advice():
    star = np.zeros((50, 50))
    star[0, 1:] = star[1:, 0] = 1
    assert operators.two_hop(csr(star), limit=2500).nnz == 49 * 48
    with pytest.raises(InputError, match=r"two hops apart.*variant='published'.*models="):
        operators.two_hop(csr(star), limit=2000)
