"""The matrices by which the models pass messages, worked out once per graph.

An adjacency holds the weight of the edge from i to j at (i, j); messages flow along edges, so that what is multiplied
by is its transpose. On an undirected graph the two are the same. Weights may be negative (some condensed graphs are
spectral sketches): degrees then sum their absolute values, so that no normalisation divides by a negative number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

from herald_gpu.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MAX_TWO_HOP = 100_000_000
"""Pairs of nodes two hops apart that are still stored: 0.8 GB, and as much again to train on them."""


def messages(adjacency: csr_array) -> csr_array:
    """Turn an adjacency around: row i holds what node i hears from.

    Parameters
    ----------
    adjacency : (N, N) CSR array

    Examples
    --------
    >>> one_way = scipy.sparse.csr_array([[0.0, 1.0], [0.0, 0.0]])
    >>> messages(one_way).toarray().tolist()
    [[0.0, 0.0], [1.0, 0.0]]
    """
    turned = scipy.sparse.csr_array(adjacency.T).astype(np.float64)
    turned.eliminate_zeros()
    return turned


def without_loops(matrix: csr_array) -> csr_array:
    """Drop the diagonal."""
    coo = matrix.tocoo()
    off = coo.row != coo.col
    return scipy.sparse.csr_array((coo.data[off], (coo.row[off], coo.col[off])), shape=matrix.shape)


def normalised(matrix: csr_array) -> csr_array:
    """Scale rows and columns by the roots of the row sums; a row without entries stays empty."""
    degree = np.asarray(abs(matrix).sum(axis=1)).ravel()
    scale = np.zeros_like(degree)
    scale[degree > 0] = degree[degree > 0] ** -0.5
    diagonal = scipy.sparse.diags_array(scale)
    return scipy.sparse.csr_array(diagonal @ matrix @ diagonal)


def gcn(adjacency: csr_array, *, ready: bool = False) -> csr_array:
    """Renormalised adjacency of GCN, D^-1/2 (A + I) D^-1/2; a node with a self loop gets no second one.

    Parameters
    ----------
    adjacency : (N, N) CSR array
    ready : bool
        It is a propagation matrix already, self loops included, and is used as it is.
    """
    heard = messages(adjacency)
    if ready:
        return heard
    missing = (heard.diagonal() == 0).astype(np.float64)
    return normalised(scipy.sparse.csr_array(heard + scipy.sparse.diags_array(missing)))


def attention(adjacency: csr_array) -> csr_array:
    """Pairs between which GAT pays attention: all edges, and every node to itself with weight 1."""
    heard = without_loops(messages(adjacency))
    return scipy.sparse.csr_array(heard + scipy.sparse.eye_array(heard.shape[0]))


def one_hop(adjacency: csr_array, *, ready: bool = False) -> csr_array:
    """Neighbours without the node itself, normalised (unless they are `ready`), as H2GCN averages them."""
    near = without_loops(messages(adjacency))
    return near if ready else normalised(near)


def mean(adjacency: csr_array, *, ready: bool = False) -> csr_array:
    """Mean over neighbours, D^-1 A, weighted by edges; those that are `ready` are summed, without the node itself.

    A self loop of the graph counts as any other edge; none is added.

    Examples
    --------
    >>> path = scipy.sparse.csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> mean(path).toarray().tolist()
    [[0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [0.0, 1.0, 0.0]]
    """
    near = messages(adjacency)
    if ready:
        return without_loops(near)
    degree = np.asarray(abs(near).sum(axis=1)).ravel()
    scale = np.divide(1, degree, out=np.zeros_like(degree), where=degree > 0)
    return scipy.sparse.csr_array(scipy.sparse.diags_array(scale) @ near)


def two_hop(adjacency: csr_array, *, limit: int = MAX_TWO_HOP) -> csr_array:
    """Nodes at exactly two hops, normalised, as H2GCN averages them.

    Parameters
    ----------
    adjacency : (N, N) CSR array
    limit : int
        Pairs that may be stored.

    Raises
    ------
    InputError
        If there may be more pairs than that.

    Examples
    --------
    >>> path = scipy.sparse.csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> two_hop(path).toarray().tolist()
    [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    """
    near = without_loops(messages(adjacency))
    near.data = np.ones_like(near.data)
    n = near.shape[0]
    bound = min(float((near @ np.diff(near.indptr)).sum()), float(n) * n)
    if bound > limit:
        msg = (
            f"graph has up to {bound:.3g} pairs of nodes two hops apart, and H2GCN stores each (limit {limit:.3g}): "
            "pass variant='published', whose H2GCN does without, or leave 'H2GCN' out of models="
        )
        raise InputError(msg)
    reached = scipy.sparse.csr_array(near @ near)
    reached.data = np.ones_like(reached.data)
    # Whatever is one hop away, or is the node itself, sums to more than one.
    inner = scipy.sparse.csr_array(near + scipy.sparse.eye_array(n))
    far = scipy.sparse.csr_array(reached - reached.multiply(inner))
    far.eliminate_zeros()
    return normalised(far)
