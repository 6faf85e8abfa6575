"""The page of the large graph."""

from __future__ import annotations

from support.results import frame, infeasible, lines, row

from herald_gpu.experiments.large import large_page

LARGE = {"dataset": "reddit-like-0.1", "condense_seconds": 12.34}


def test_reduced_features_are_told_apart():
    rows = frame(
        row(accuracy=40.0, **LARGE),
        row(accuracy=42.0, change="pca", n_features=5, **LARGE),
        row(method="full", ratio=1.0, accuracy=60.0, storage_ratio=1.0, **LARGE),
        infeasible(method="random", ratio=0.0001, dataset="reddit-like-0.1"),
    )
    text = large_page(rows)
    found = lines(text)
    assert found[1] == ["whole graph", "", "60.0", "", "", "", "40", "9", "100.00", "12.3"]
    assert found[2] == ["Random", "0.0001", *["infeasible"] * 4, "", "", "smallest r 2 %", ""]
    assert found[3] == ["HERALD", "0.01", "40.0", "", "", "", "40", "9", "0.90", "12.3"]
    assert found[4] == ["HERALD, PCA", "0.01", "42.0", "", "", "", "40", "5", "0.90", "12.3"]
    assert "## reddit-like-0.1" in text


def test_the_papers_table_is_there_in_any_case():
    text = large_page(frame())
    assert "Nothing has been run yet" not in text.split("## The paper's")[1]
    found = lines(text)
    assert found[1] == ["whole graph", "", "52.5 ± 0.1", "51.7 ± 0.7", "47.7 ± 1.1", "50.9 ± 0.2"]
    assert len(found) == 1 + 1 + 4 * 4
