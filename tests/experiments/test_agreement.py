"""Our runs beside the paper's numbers."""

from __future__ import annotations

import pytest
from support.results import frame, infeasible, lines, row

from herald_gpu.experiments import paper
from herald_gpu.experiments.agreement import agreement_page, differences
from herald_gpu.experiments.markdown import complete, of


def printed(method, ratio, model="GCN"):
    return float(of(paper.load("accuracy"), dataset="cora", method=method, ratio=ratio, model=model)["mean"].iloc[0])


@pytest.fixture
def rows():
    return frame(
        row(column="published", accuracy=printed("herald", 0.01) + 1.0, storage_ratio=0.5),
        row(column="published", accuracy=printed("herald", 0.01) + 2.0, seed=1, storage_ratio=0.5),
        row(column="published", method="bonsai", accuracy=printed("bonsai", 0.01) - 3.0, storage_ratio=0.2),
        row(method="full", ratio=1.0, accuracy=printed("full", 1.0) + 0.5, storage_ratio=1.0),
        row(accuracy=44.0),
        row(method="random", accuracy=55.0, model="H2GCN"),
        infeasible(method="gdem"),
    )


def test_differences_are_of_means(rows):
    found = differences(of(complete(rows), status="ok"))
    gaps = {(line.method, line.ratio): round(line.gap, 6) for line in found.itertuples()}
    assert gaps == {("herald", 0.01): 1.5, ("bonsai", 0.01): -3.0, ("full", 1.0): 0.5}


def test_a_whole_graph_as_published_stands_before_the_clean_one(rows):
    more = row(method="full", ratio=1.0, column="published", accuracy=printed("full", 1.0) - 7.0)
    found = differences(of(complete(frame(*rows.to_dict("records"), more)), status="ok"))
    assert [round(gap, 6) for gap in of(found, method="full")["gap"]] == [-7.0]


def test_the_page(rows):
    text = agreement_page(rows)
    found = lines(text)
    assert found[0] == ["graph", "model", "whole graph", "BONSAI, r = 1 %", "HERALD, r = 1 %"]
    assert found[1] == ["Cora", "GCN", "+0.5", "-3.0", "+1.5"]
    assert "2 of 3 cells are within 2 points" in text
    assert "the largest 3.0 (BONSAI on Cora, GCN, r = 1 %)" in text
    assert "take 20 to 50 times the storage" in text
    assert found[2] == ["GCN / H2GCN", "Random", "GDEM", "HERALD", "HERALD's true storage %"]
    assert found[3] == ["Cora", "not run / 55.0", "infeasible", "44.0 / not run", "0.90"]


def test_nothing_was_run():
    assert "Nothing has been run yet" in agreement_page(frame())
