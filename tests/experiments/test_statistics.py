"""The page on what condensed graphs look like."""

from __future__ import annotations

from support.results import frame, infeasible, lines, row

from herald_gpu.experiments.statistics import statistics_page

DESCRIBED = {"dataset": "squirrel", "ratio": 0.005, "model": "", "mean_degree": 1.5, "density": 0.0385}
MORE = {"class_entropy": 1.6, "feature_variance": 0.99}


def test_beside_the_papers_figures():
    published = {"column": "published", "n_nodes": 3645, "n_edges": 2 * 129_765, "published_ratio": 0.16553}
    text = statistics_page(frame(row(**DESCRIBED, **MORE), row(**(DESCRIBED | MORE | published))))
    found = lines(text)[2:]
    assert found[0] == ["BONSAI", "0.005", "paper", "2,911", "114,386", "78.59", "", "1.609", "1.014", "13.41"]
    assert found[1] == ["HERALD", "0.005", "paper", "3,643", "129,755", "71.23", "", "1.609", "0.999", "16.54"]
    assert found[2] == ["", "", "as published", "3,645", "129,765", "1.50", "0.0385", "1.600", "0.990", "16.55"]
    assert found[3] == ["", "", "true budget", "40", "30", "1.50", "0.0385", "1.600", "0.990", "0.90"]


def test_the_whole_graph_comes_first():
    whole = (
        DESCRIBED | MORE | {"method": "full", "ratio": 1.0, "n_nodes": 5201, "n_edges": 396_846, "storage_ratio": 1.0}
    )
    found = lines(statistics_page(frame(row(**DESCRIBED), row(**whole))))
    assert found[1][:5] == ["whole graph", "", "paper", "5,201", "217,073"]
    assert found[2] == ["", "", "ours, undirected", "5,201", "198,423", "1.50", "0.0385", "1.600", "0.990", "100.00"]


def test_what_is_not_known_is_left_empty():
    found = lines(statistics_page(frame(row(dataset="cora"), infeasible(dataset="cora", method="bonsai"))))
    assert found[1] == ["BONSAI", "0.01", "true budget", "infeasible", "", "", "", "", "", "smallest r 2 %"]
    assert found[2] == ["HERALD", "0.01", "true budget", "40", "30", "", "", "", "", "0.90"]


def test_nothing_was_run():
    assert "Nothing has been run yet" in statistics_page(frame())
