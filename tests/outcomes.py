"""What tests of whole condensations share: small graphs, equality of results, sizes computed from scratch."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from herald_gpu.datasets import make_graph

RATIO = 0.4
"""Large enough for every small graph here."""
HOMOPHILIC = {"homophily": 0.95, "mean_degree": 1.5}
"""Options of small graphs with few enough edges for exemplars to be linked."""
LANDMARKS = {"exemplar_rule": "landmarks"}
"""Options of configurations that have landmarks for certain."""
ARRAYS = (
    "node_ids",
    "feature_ids",
    "class_values",
    "feature_positions",
    "codes",
    "train_mask",
    "is_root",
    "is_landmark",
    "edge_is_synthetic",
)
PASSING = ("timings", "peak_memory_bytes")
"""Figures that differ from run to run."""
UNITS = {"dense": 2, "binary": 1, "sparse": 3}


def small_graph(features="dense", **options):
    """Draw a graph of 40 nodes and three classes, four of the nodes isolated."""
    chosen = {"n_classes": 3, "n_features": 6, "mean_degree": 4, "isolated_share": 0.1, "seed": 3, **options}
    if features == "bag_of_words":
        chosen = {
            "n_features": 30,
            "mean_words": 4,
            **{k: v for k, v in chosen.items() if k != "n_features"},
            **options,
        }
    return make_graph(40, features=features, **chosen)


def plain(matrix):
    """Give any matrix of the kinds results come in as a dense NumPy array."""
    if hasattr(matrix, "to_dense") and hasattr(matrix, "layout"):
        matrix = matrix.to_dense()
    if hasattr(matrix, "toarray"):
        matrix = matrix.toarray()
    if hasattr(matrix, "to_pandas"):
        matrix = matrix.to_pandas()
    return np.asarray(matrix)


def figures(report):
    """Give the figures of a report that must not differ between two equal condensations."""
    return {name: value for name, value in report.to_dict().items() if name not in PASSING}


def assert_same(one, two):
    """Compare two condensed graphs bit by bit, scores and report included."""
    a, b = one._contents, two._contents
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    np.testing.assert_array_equal(a.adjacency.toarray(), b.adjacency.toarray(), err_msg="adjacency")
    np.testing.assert_array_equal(plain(a.features), plain(b.features), err_msg="features")
    assert a.scores.keys() == b.scores.keys()
    for name in a.scores:
        np.testing.assert_array_equal(a.scores[name], b.scores[name], err_msg=name)
    for name in ("scaling", "reduction"):
        assert (getattr(a, name) is None) == (getattr(b, name) is None)
        for left, right in zip(getattr(a, name) or (), getattr(b, name) or (), strict=True):
            np.testing.assert_array_equal(left, right, err_msg=name)
    assert figures(one.report) == figures(two.report)


def nominal_bytes(kind, x, n_directed):
    """eq:budget, written out: two bytes a unit, two units an edge, m_f units a stored value."""
    x = scipy.sparse.csr_matrix(x) if scipy.sparse.issparse(x) else np.asarray(x)
    if kind == "dense":
        stored = x.shape[0] * x.shape[1]
    else:
        stored = int((x.data != 0).sum()) if scipy.sparse.issparse(x) else int((x != 0).sum())
    return 2 * (UNITS[kind] * stored + 2 * n_directed)


def packed_bytes(encoding, x, n_directed):
    """Storage of features in an encoding, given by its name, and of edges."""
    layout, values = encoding.split()
    rows, columns = x.shape
    each = {"float32": 4, "float16": 2, "int8": 1, "bits": 0}[values]
    if layout == "sparse":
        size = (2 + each) * (x.nnz if scipy.sparse.issparse(x) else np.count_nonzero(x))
    else:
        size = rows * ((columns + 7) // 8 if values == "bits" else each * columns)
    return size + (4 * columns if values == "int8" else 0) + 4 * n_directed


def sign_bytes(rows, columns):
    """Storage of landmarks: a bit a value and a float32 a row."""
    return rows * ((columns + 7) // 8 + 4)


def encoded_bytes(result):
    """Storage of a result, from its adjacency, its features and the name of their encoding alone."""
    adjacency, features = result.to_scipy()
    n_landmarks = int(np.asarray(result.is_landmark).sum())
    real = features[: features.shape[0] - n_landmarks]
    return packed_bytes(result.report.encoding, real, adjacency.nnz) + sign_bytes(n_landmarks, features.shape[1])


def cheapest(x):
    """Name the cheapest way to store these values."""
    values = x.data if scipy.sparse.issparse(x) else np.asarray(x)
    possible = ["dense", "sparse"] + ["binary"] * bool(np.isin(values, (0, 1)).all())
    return min(possible, key=lambda kind: nominal_bytes(kind, x, 0))


def directed_edges(edge_index):
    """Count the directed edges of the simple undirected graph."""
    low, high = np.sort(np.asarray(edge_index, dtype=np.int64), axis=0)
    return 2 * len(np.unique((low * (high.max() + 1) + high)[low != high]))


def storage_ratio(result, edge_index, x):
    """Give the share of the full graph's storage that a result takes, from its adjacency and features alone."""
    return encoded_bytes(result) / nominal_bytes(cheapest(x), x, directed_edges(edge_index))
