"""Seconds of each stage: measured once, kept, and gone on with."""

from __future__ import annotations

import pytest

from herald_gpu.errors import ConfigError, FileFormatError
from herald_gpu.experiments import timing
from herald_gpu.experiments.complexity import STAGES
from herald_gpu.experiments.timing import BASE, KEY, Plan, measure, read, time_stages

SMALL = {"nodes": 200, "edges": 1200, "features": 8}


@pytest.fixture
def clock(monkeypatch):
    """Stand in for condensing: seconds are numbered, sizes recorded."""
    seen = []

    def stages(sizes, *, seed):
        seen.append((dict(sizes), seed))
        return {"features": float(len(seen)), "tree": 0.5}

    monkeypatch.setattr(timing, "time_stages", stages)
    return seen


def test_every_stage_is_timed_and_parts_are_taken_out():
    found = time_stages(SMALL, seed=1)
    assert set(STAGES) <= set(found)
    assert all(seconds >= 0 for seconds in found.values())


def test_parts_and_stages_add_up(monkeypatch):
    reports = []
    real = timing.condense
    monkeypatch.setattr(
        timing, "condense", lambda *args, **options: reports.append(real(*args, **options)) or reports[0]
    )
    found = time_stages(SMALL, seed=1)
    whole = reports[0].report.timings
    assert found["features"] + found["tree"] == pytest.approx(whole["features"])
    assert found["scoring"] + found["neighbours"] == pytest.approx(whole["scoring"])
    assert 0 < found["tree"] < whole["features"]
    assert 0 < found["neighbours"] < whole["scoring"]


def test_one_size_is_varied_at_a_time(tmp_path, clock):
    path = tmp_path / "data" / "complexity.csv"
    plan = Plan({"nodes": (500, 1000), "features": (16,)}, repeats=2)
    assert measure(path, plan) == 6
    runs = clock[1:]  # the first compiles
    assert runs[0] == (BASE | {"nodes": 500}, 0)
    assert runs[2] == (BASE | {"features": 16}, 0)
    assert [seed for _, seed in runs] == [0, 0, 0, 1, 1, 1]
    rows = read(path)
    assert len(rows) == 6 * 2
    assert not rows.duplicated(list(KEY)).any()
    assert {"machine", "libraries", "version"} <= set(rows)


def test_a_run_that_is_stopped_goes_on(tmp_path, clock, monkeypatch):
    path, plan = tmp_path / "complexity.csv", Plan({"nodes": (500, 1000)}, repeats=2)
    real = timing.time_stages

    def stopped(sizes, *, seed):
        if len(clock) == 3:
            raise KeyboardInterrupt
        return real(sizes, seed=seed)

    monkeypatch.setattr(timing, "time_stages", stopped)
    with pytest.raises(KeyboardInterrupt):
        measure(path, plan)
    assert len(read(path)) == 2 * 2
    monkeypatch.setattr(timing, "time_stages", real)
    assert measure(path, plan) == 2
    assert measure(path, plan) == 0
    assert not read(path).duplicated(list(KEY)).any()


@pytest.mark.parametrize(
    ("sweeps", "repeats", "said"),
    [({"classes": (2,)}, 1, "classes"), ({"nodes": (0,)}, 1, "nodes"), ({"nodes": (10,)}, 0, "repeats=0")],
)
def test_plans_that_make_no_sense(sweeps, repeats, said):
    with pytest.raises(ConfigError, match=said):
        Plan(sweeps, repeats)


@pytest.mark.parametrize("text", ["", "axis,value\nnodes,3\n"])
def test_another_file_is_refused(tmp_path, text):
    path = tmp_path / "complexity.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError, match="is no table of times"):
        read(path)
