"""The page and its figures."""

from __future__ import annotations

import pytest
from support.bench import fill

from herald_gpu.bench import draw, page
from herald_gpu.bench.cases import Case
from herald_gpu.bench.page import page_text, write_page
from herald_gpu.bench.results import Results
from herald_gpu.bench.sections import SECTIONS
from herald_gpu.errors import MissingDependencyError


def test_every_section_has_a_table(full):
    text = page_text(full)
    for name in SECTIONS:
        assert f"\n## {name}\n" in text
    assert "| dense LID: exact LID over the full N x N product | N=20000, F=300 | <= 0.8 x | 0.5 x | met |" in text
    assert "2 cores of a CPU, 16 GB of memory; numpy 2.0; commit abc" in text
    assert "quick" not in text


def test_stages_and_their_sum(full):
    text = page_text(full)
    assert "| pubmed paper | features/fisher | 0.600 | 0.500 | 1.20 x | 2 | 3 | 5 |" in text
    assert "|  | pruning | 0.0300 |  |  |  |  | 4 |" in text
    assert "|  | all stages | 0.650 | 0.510 | 1.27 x | 2 | 3 | 6 |" in text


def test_growth_and_peers(full):
    text = page_text(full)
    assert "| exponent | 1.00 | 1.00 |  |" in text
    assert "| cora | 0.0100 | 0.0100 | 0.0100 | 0.0100 | 6.90 |" in text


def test_training_is_said_to_be_extrapolated(full):
    assert "200 epochs, extrapolated from those, 2,000 s." in page_text(full)


def test_what_is_missed_stands_out_with_its_reason(full, monkeypatch):
    monkeypatch.setitem(page.judge.__globals__["REASONS"], "dense LID", "offers cost as much as products")
    case = SECTIONS["lid-dense"].cases(False)[0]
    full.add("lid-dense", case, full.cases("lid-dense")[case.name] | {"ratio": 2.5}, facts={})
    text = page_text(full)
    assert "| 2.5 x | **missed** |" in text
    assert "- dense LID: offers cost as much as products\n" in text


def test_what_is_left_out_is_said(full):
    full.add("memory", Case("coauthor-cs paper", "whole:whole"), {"failed": "no memory left"}, facts={})
    assert "- coauthor-cs paper: failed: no memory left" in page_text(full)


def test_a_quick_run_says_so(tmp_path):
    results = Results(tmp_path, quick=True)
    fill(results, ["lid-dense"])
    assert page.QUICK in page_text(results)


def test_nothing_yet(tmp_path):
    assert "Nothing has been run yet." in page_text(Results(tmp_path, quick=False))


def test_files(full, tmp_path):
    pytest.importorskip("matplotlib")
    files = write_page(full, tmp_path / "out")
    names = ["bench-stages-default", "bench-stages-paper", "bench-growth"]
    assert [path.name for path in files] == ["bench.md", *(f"{n}.{kind}" for n in names for kind in ("png", "svg"))]
    assert all(path.stat().st_size > 1000 for path in files)
    assert "![Time and memory of the default preset as a graph grows](figures/bench-growth.png)" in files[0].read_text()


def test_no_matplotlib(full, tmp_path, monkeypatch, caplog):
    def absent(*_):
        msg = "matplotlib is needed"
        raise MissingDependencyError(msg)

    monkeypatch.setattr(draw, "draw", absent)
    assert [path.name for path in write_page(full, tmp_path)] == ["bench.md"]
    assert "no figures: matplotlib is needed" in caplog.text


def test_curves_are_those_of_the_results(full):
    pytest.importorskip("matplotlib")
    (drawn,) = draw._stages(full.cases("stages"), "paper")
    axes = drawn.figure.axes
    assert [one.get_xlabel() for one in axes] == ["nodes N", "directed edges E", "features F"]
    shown = {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in axes[0].lines}
    assert shown["features/fisher"] == ([5000, 10_000, 20_000, 40_000], [0.6] * 4)
    assert shown["all stages"][1] == [0.65] * 4
    assert axes[0].get_xscale() == axes[0].get_yscale() == "log"
    assert not list(draw._stages({}, "paper"))
    assert not list(draw._growth({}))
