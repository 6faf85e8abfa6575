"""Whether a graph condensed in partitions is the one that a single machine gives."""

from __future__ import annotations

import numpy as np
import pytest

ARRAYS = (
    *("node_ids", "feature_ids", "class_values", "feature_positions", "codes", "train_mask", "is_root"),
    *("is_landmark", "edge_is_synthetic"),
)
OF_THE_RUN = ("timings", "peak_memory_bytes", "backend", "workers", "exchanged_bytes", "versions")


def plain(x):
    return x.toarray() if hasattr(x, "toarray") else np.asarray(x)


def assert_same_graph(parted, whole):
    """Compare nodes, edges and features bit by bit; scores and figures that are sums up to their last bits."""
    a, b = parted._contents, whole._contents
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    np.testing.assert_array_equal(plain(a.adjacency), plain(b.adjacency), err_msg="adjacency")
    np.testing.assert_array_equal(plain(a.features), plain(b.features), err_msg="features")
    assert a.encoding == b.encoding
    assert a.scores.keys() == b.scores.keys()
    for name in a.scores:
        if name in ("node", "rank"):
            np.testing.assert_array_equal(a.scores[name], b.scores[name], err_msg=name)
        else:
            np.testing.assert_allclose(a.scores[name], b.scores[name], rtol=1e-9, atol=1e-12, err_msg=name)
    told = [
        {name: value for name, value in one.report.to_dict().items() if name not in OF_THE_RUN}
        for one in (parted, whole)
    ]
    assert told[0].keys() == told[1].keys()
    for name, value in told[0].items():
        other = told[1][name]
        assert value == (pytest.approx(other, rel=1e-9) if isinstance(other, float) else other), name
