"""A graph of one's own under the name ``tiny``, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from herald_gpu.datasets import make_graph


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """Hold the archive ``tiny.npz`` where data sets are looked for, and no way to the network."""
    made = make_graph(150, n_classes=3, n_features=12, mean_degree=4, seed=3)
    folder = tmp_path / "graphs"
    folder.mkdir()
    np.savez(folder / "tiny.npz", edge_index=made.edge_index, x=made.features, y=made.labels)
    monkeypatch.setenv("HERALD_DATA", str(folder))
    monkeypatch.setenv("HERALD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HERALD_OFFLINE", "1")
    return made
