"""The page of the ablation."""

from __future__ import annotations

from support.results import frame, infeasible, lines, row

from herald_gpu.experiments.ablation import VARIANTS, ablation_page
from herald_gpu.experiments.grids import ABLATION

SQUIRREL = {"dataset": "squirrel", "ratio": 0.005}


def test_every_variant_is_named():
    assert set(VARIANTS) == set(ABLATION)


def test_accuracies_with_their_change():
    rows = frame(
        row(change="A", accuracy=40.0, **SQUIRREL),
        row(change="A", accuracy=42.0, seed=1, **SQUIRREL),
        row(change="A4", accuracy=38.5, **SQUIRREL),
        row(change="A4", accuracy=38.5, seed=1, **SQUIRREL),
        row(change="A3", accuracy=41.02, **SQUIRREL),
    )
    page = ablation_page(rows)
    found = {line[0]: line[2:] for line in lines(page)[:9]}
    assert found["A"][4:] == ["41.0 ± 1.4", ""]
    assert found["A4"][4:] == ["38.5 ± 0.0; -2.5", ""]
    assert found["A3"][4:] == ["41.0; +0.0", ""]
    assert found["A1"][2:] == ["", "", "", ""]
    assert found["A3"][0] == "25.2 ± 1.6; -1.6"  # of the paper
    assert "Not run: Amazon-ratings, which the paper has here.\n" in page


def test_structure_beside_the_papers():
    published = {"column": "published", "published_ratio": 0.1655, "storage_ratio": 0.6}
    rows = frame(row(change="A", n_nodes=3645, n_edges=259_530, **published, **SQUIRREL), row(change="A1", **SQUIRREL))
    found = {line[0]: line[2:] for line in lines(ablation_page(rows))[9:18]}
    assert found["A"] == ["3,643 / 259,510 / 16.54", "3,645 / 259,530 / 16.55", ""]
    assert found["A1"] == ["3,635 / 259,384 / 16.51", "", "40 / 60 / 0.90"]


def test_the_largest_drop_names_its_place():
    rows = frame(
        row(change="A", accuracy=50.0, **SQUIRREL),
        row(change="A1", accuracy=49.0, **SQUIRREL),
        row(change="A", accuracy=60.0, model="H2GCN", **SQUIRREL),
        row(change="A1", accuracy=57.5, model="H2GCN", **SQUIRREL),
        row(change="A2a", accuracy=61.0, model="H2GCN", **SQUIRREL),
    )
    found = {line[0]: line[2:] for line in lines(ablation_page(rows).split("## Largest drop")[1])}
    assert found["A1"] == ["", "2.5 (Squirrel, H2GCN)"]
    assert found["A2a"] == ["", "none"]
    assert found["A4"] == ["", ""]


def test_nothing_was_run():
    assert "Nothing has been run yet" in ablation_page(frame())
    assert "Nothing has been run yet" in ablation_page(frame(infeasible(change="A")))
