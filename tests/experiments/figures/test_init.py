"""Figures of every experiment are drawn, of whatever there is."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd
import pytest
from support.results import frame, infeasible, row

from herald_gpu.errors import MissingDependencyError
from herald_gpu.experiments import figures
from herald_gpu.experiments.figures import style
from herald_gpu.experiments.grids import MODELS

FIGURES = {"mean_degree": 1.5, "density": 0.03, "class_entropy": 1.6, "feature_variance": 0.99}
TIMES = [{"axis": "nodes", "value": v, "stage": "tree", "repeat": 0, "seconds": v / 1000} for v in (100, 200, 400)]
ROWS = {
    "accuracy": frame(
        row(),
        row(ratio=0.03, storage_ratio=0.03, seed=1),
        row(column="published", storage_ratio=0.6),
        row(method="full", ratio=1.0, storage_ratio=1.0),
        row(model="GIN", method="random"),
        row(dataset="actor", model="H2GCN"),
        infeasible(method="gdem"),
    ),
    "ablation": frame(row(change="A"), row(change="A", seed=1), row(change="A4"), row(change="A", column="published")),
    "sensitivity": frame(row(change="depth=1"), row(change="depth=2", seed=1), row(change="alpha0=0.2", model="H2GCN")),
    "statistics": frame(
        row(model="", **FIGURES), row(model="", method="bonsai"), row(model="", method="full", ratio=1.0, **FIGURES)
    ),
    "large-scale": frame(row(dataset="reddit-like-0.1"), row(dataset="reddit-like-0.1", change="pca")),
    "complexity": pd.DataFrame(TIMES),
    "leaderboard": frame(*(row(method="herald-default", model=model, validation=1.0) for model in MODELS)),
}
STEMS = {
    "accuracy": ["accuracy-cora", "accuracy-actor"],
    "ablation": ["ablation"],
    "sensitivity": ["sensitivity-true"],
    "statistics": ["statistics-cora"],
    "large-scale": ["accuracy-reddit-like-0.1"],
    "complexity": ["complexity"],
    "leaderboard": ["leaderboard"],
}


@pytest.mark.parametrize("name", list(figures.DRAWERS))
def test_pictures_are_written(tmp_path, name):
    pytest.importorskip("matplotlib")
    drawn = figures.draw(name, ROWS[name], tmp_path / "figures")
    wanted = [f"{stem}.{kind}" for stem in STEMS[name] for kind in ("png", "svg")]
    assert [path.name for _, path in drawn] == wanted
    for caption, path in drawn:
        assert caption
        assert path.stat().st_size > 1000
        assert path.read_bytes().startswith(b"\x89PNG" if path.suffix == ".png" else b"<?xml")


def test_the_same_rows_give_the_same_files(tmp_path):
    pytest.importorskip("matplotlib")
    one, other = (dict(figures.draw("ablation", ROWS["ablation"], tmp_path / name)) for name in "ab")
    assert [path.read_bytes() for path in one.values()] == [path.read_bytes() for path in other.values()]


@pytest.mark.parametrize("name", ["accuracy", "ablation", "sensitivity", "statistics", "large-scale"])
def test_only_infeasible_rows_draw_nothing(tmp_path, name):
    pytest.importorskip("matplotlib")
    assert figures.draw(name, frame(infeasible(change="depth=1")), tmp_path) == []


def test_nothing_to_draw(tmp_path):
    assert figures.draw("accuracy", frame(), tmp_path) == []
    assert figures.draw("comparison", ROWS["accuracy"], tmp_path) == []


def test_without_matplotlib(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "matplotlib", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'matplotlib"):
        figures.draw("accuracy", ROWS["accuracy"], tmp_path)


def test_matplotlib_is_loaded_when_something_is_drawn():
    code = "import sys, herald_gpu.experiments.figures; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - our own code


def test_settings_are_put_back():
    matplotlib = pytest.importorskip("matplotlib")
    before = matplotlib.rcParams["svg.hashsalt"]
    with style.settings():
        assert matplotlib.rcParams["svg.hashsalt"] == "herald"
    assert matplotlib.rcParams["svg.hashsalt"] == before
