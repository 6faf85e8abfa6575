"""Partial results in a folder: whole or absent, of one run alone."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
from support.crew import Here
from support.sameness import assert_same_graph

from herald_gpu import HeraldConfig, condense, search
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.datasets import make_graph
from herald_gpu.distributed.checkpoints import Checkpoints
from herald_gpu.distributed.front import condense_collections
from herald_gpu.errors import InputError
from herald_gpu.io.read import Columns

GRAPH = make_graph(150, n_classes=3, n_features=8, seed=2)
PRESETS = {"default": HeraldConfig(), "paper": HeraldConfig.paper()}


def run(folder, *, config, crew=None, chunk=50, seed=0):
    graph = (
        da.from_array(GRAPH.edge_index, chunks=(2, 400)),
        da.from_array(GRAPH.features, chunks=(chunk, -1)),
        GRAPH.labels,
        GRAPH.train,
    )
    options = {"columns": Columns(), "unlabelled": -1, "backend": "cpu", "output_type": "input", "seed": seed}
    return condense_collections(graph, 0.2, config=config, crew=crew or Here(CpuBackend()), resume=folder, **options)


class Broken(Here):
    """Stops at the n-th task of a kind."""

    def __init__(self, name, count):
        super().__init__(CpuBackend())
        self.name, self.count = name, count

    def submit(self, work, *given, near=None):
        if work.__name__ == self.name:
            self.count -= 1
            if self.count < 0:
                raise KeyboardInterrupt
        return super().submit(work, *given, near=near)


@pytest.mark.parametrize(
    ("preset", "where"),
    [
        ("paper", "scatter_hops"),
        ("default", "last_leg"),
        ("default", "cosines"),
        ("paper", "values_of"),
        ("paper", "stock"),
    ],
)
def test_a_run_goes_on_where_it_was_broken_off(tmp_path, preset, where):
    config = PRESETS[preset]
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "run", config=config, crew=Broken(where, 1))
    there = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "run").iterdir()}
    assert "run.json" in there
    whole = condense(
        *(GRAPH.edge_index, GRAPH.features, GRAPH.labels, GRAPH.train), ratio=0.2, config=config, backend="cpu"
    )
    assert_same_graph(run(tmp_path / "run", config=config), whole)
    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "run").iterdir()}
    assert there.items() <= after.items()  # what was there is read, not made again


@pytest.mark.parametrize("most", [3, 8])
def test_more_features_than_are_looked_at_are_ranked_first(tmp_path, monkeypatch, most):
    monkeypatch.setattr(search, "MOST_LEARNT", most)
    crew = Here(CpuBackend())
    whole = condense(*(GRAPH.edge_index, GRAPH.features, GRAPH.labels, GRAPH.train), ratio=0.2, backend="cpu")
    assert_same_graph(run(tmp_path / "run", config=HeraldConfig(), crew=crew), whole)
    assert (("features", "scatter_hops") in crew.done) == (most == 3)


def test_a_finished_run_is_read_again(tmp_path):
    first, again = Here(CpuBackend()), Here(CpuBackend())
    one = run(tmp_path / "run", config=HeraldConfig(), crew=first)
    two = run(tmp_path / "run", config=HeraldConfig(), crew=again)
    assert_same_graph(one, two)
    assert one.report.exchanged_bytes == two.report.exchanged_bytes
    assert ("exemplars", "last_leg") in first.done
    assert ("exemplars", "last_leg") not in again.done


@pytest.mark.parametrize("change", [{"seed": 1}, {"chunk": 40}, {"config": HeraldConfig.paper()}])
def test_other_runs_are_refused(tmp_path, change):
    run(tmp_path / "run", config=HeraldConfig())
    with pytest.raises(InputError, match="of another graph, of other options or of another partitioning"):
        run(tmp_path / "run", **({"config": HeraldConfig()} | change))


def test_places_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is a file"):
        Checkpoints(tmp_path / "file", {})
    with pytest.raises(InputError, match="holds other files"):
        Checkpoints(tmp_path, {})


def test_arrays_come_back_as_they_were(tmp_path):
    store = Checkpoints(tmp_path / "run", {})
    arrays = [np.arange(3), np.ones((2, 2), dtype=np.float32), np.array(7)]
    store.save("a/b", 0, arrays)
    for one, two in zip(arrays, store.load("a/b", 0), strict=True):
        np.testing.assert_array_equal(one, two)
        assert one.dtype == two.dtype
