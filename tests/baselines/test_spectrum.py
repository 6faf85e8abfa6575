"""Ends of the spectrum against a dense decomposition."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from herald_gpu.baselines import spectrum
from herald_gpu.baselines.spectrum import ends_of_spectrum

GRAPH = nx.disjoint_union(nx.path_graph(4), nx.barabasi_albert_graph(60, 3, seed=1))
ADJACENCY = nx.to_scipy_sparse_array(GRAPH, format="csr", dtype=np.float32)


def laplacian(nodes):
    loops = ADJACENCY.toarray().astype(np.float64)[np.ix_(nodes, nodes)] + np.eye(len(nodes))
    root = np.diag(loops.sum(axis=1) ** -0.5)
    return np.eye(len(nodes)) - root @ loops @ root


@pytest.mark.parametrize("dense_nodes", [512, 0], ids=["dense", "iterated"])
@pytest.mark.parametrize(("count", "share", "low"), [(8, 1.0, 8), (8, 0.7, 6), (8, 0.0, 0), (1, 0.95, 1)])
def test_both_ends_of_the_largest_component(count, share, low, dense_nodes, monkeypatch):
    monkeypatch.setattr(spectrum, "DENSE_NODES", dense_nodes)
    found = ends_of_spectrum(ADJACENCY, count, low_share=share, seed=0)
    assert found.nodes.tolist() == list(range(4, 64))
    matrix = laplacian(found.nodes)
    every = np.linalg.eigvalsh(matrix)
    np.testing.assert_allclose(found.values, np.r_[every[:low], every[len(every) - (count - low) :]], atol=1e-9)
    np.testing.assert_allclose(matrix @ found.vectors, found.vectors * found.values, atol=1e-7)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(count), atol=1e-7)


def test_no_more_vectors_than_nodes():
    assert ends_of_spectrum(ADJACENCY, 500, low_share=0.5, seed=0).vectors.shape == (60, 60)
