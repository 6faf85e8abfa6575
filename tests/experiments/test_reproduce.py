"""reproduce(): run what is missing, keep it, write the page."""

from __future__ import annotations

import pandas as pd
import pytest

from herald_gpu.errors import ConfigError
from herald_gpu.experiments import timing
from herald_gpu.experiments.grids import GRIDS
from herald_gpu.experiments.reproduce import NAMES, reproduce, within

PART = {"datasets": ["tiny"], "methods": ["herald"], "columns": ["true"], "ratios": [0.3]}


@pytest.mark.usefixtures("tiny")
def test_an_experiment_is_run_once(tmp_path):
    out = tmp_path / "results"
    first = reproduce("statistics", out, parquet=True, **PART)
    again = reproduce("statistics", out, **PART)
    assert (first.told, again.told) == ("1 run", "1 there already")
    assert first.files[0] == out / "statistics.md"
    assert "| HERALD | 0.3 | true budget |" in first.files[0].read_text("utf-8")
    csv, parquet = pd.read_csv(out / "data" / "statistics.csv"), pd.read_parquet(out / "data" / "statistics.parquet")
    assert csv["n_nodes"].tolist() == parquet["n_nodes"].tolist()
    assert out / "data" / "statistics.parquet" in first.files


@pytest.mark.usefixtures("tiny")
def test_the_page_is_written_anew_from_the_rows(tmp_path):
    reproduce("statistics", tmp_path, **PART)
    page = tmp_path / "statistics.md"
    text = page.read_text("utf-8")
    page.unlink()
    assert reproduce("statistics", tmp_path, render_only=True).told == "nothing was run"
    assert page.read_text("utf-8") == text


def test_complexity(tmp_path, monkeypatch):
    monkeypatch.setattr(timing, "BASE", {"nodes": 200, "edges": 1200, "features": 8})
    plan = timing.Plan({"features": (4, 6, 8)}, repeats=1)
    assert reproduce("complexity", tmp_path, plan=plan).told == "3 run"
    assert reproduce("complexity", tmp_path, plan=plan).told == "0 run"
    assert "F = 4 | F = 6 | F = 8" in (tmp_path / "complexity.md").read_text("utf-8")


@pytest.mark.usefixtures("tiny")
def test_comparison_reads_the_accuracies(tmp_path):
    reproduce("statistics", tmp_path, **PART)
    (tmp_path / "data" / "statistics.csv").rename(tmp_path / "data" / "accuracy.csv")
    outcome = reproduce("comparison", tmp_path)
    assert "| HERALD | 0." in outcome.files[0].read_text("utf-8").split("## Kept")[1]


@pytest.mark.parametrize("name", NAMES)
def test_rendering_nothing(tmp_path, name):
    outcome = reproduce(name, tmp_path, render_only=True)
    assert [path.name for path in outcome.files] == [f"{name}.md"]
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("acuracy", {}, "'acuracy' is no experiment: pass one of accuracy"),
        ("complexity", {"datasets": ["cora"]}, "datasets does not belong to complexity"),
        ("accuracy", {"plan": timing.Plan()}, "not to accuracy"),
        ("ablation", {"changes": ["A9"]}, "A9"),
    ],
)
def test_what_makes_no_sense(tmp_path, name, options, said):
    with pytest.raises(ConfigError, match=said):
        reproduce(name, tmp_path, **options)
    assert list(tmp_path.iterdir()) == []


def test_options_for_all_are_narrowed_to_each():
    assert within(GRIDS["ablation"], {"datasets": ["cora"]}) is None
    assert within(GRIDS["accuracy"], {"datasets": ["cora", "reddit"], "seeds": 1}) == {"datasets": ["cora"], "seeds": 1}
    assert within(GRIDS["statistics"], {"models": ["GCN"]}) == {"models": None}
    assert within(GRIDS["sensitivity"], {"ratios": [0.01]}) is None
