"""Cells and their keys."""

from __future__ import annotations

import pytest

from herald_gpu.experiments.cells import KEY, Cell, Condensation


def test_the_key_has_a_value_for_each_column():
    of = Condensation("cora", "herald", "published", 0.005, "A2b", "7")
    named = dict(zip(KEY, Cell(of, "GCN", "standard", 3).key, strict=True))
    assert named == {
        "dataset": "cora", "method": "herald", "column": "published", "ratio": 0.005, "change": "A2b", "split": "7",
        "model": "GCN", "variant": "standard", "seed": 3,
    }  # fmt: skip


BASE = Cell(Condensation("cora", "herald", "true", 0.01), "GCN", "published", 0)
OTHERS = [
    Cell(Condensation("pubmed", "herald", "true", 0.01), "GCN", "published", 0),
    Cell(Condensation("cora", "bonsai", "true", 0.01), "GCN", "published", 0),
    Cell(Condensation("cora", "herald", "published", 0.01), "GCN", "published", 0),
    Cell(Condensation("cora", "herald", "true", 0.02), "GCN", "published", 0),
    Cell(Condensation("cora", "herald", "true", 0.01, "A1"), "GCN", "published", 0),
    Cell(Condensation("cora", "herald", "true", 0.01, split="1"), "GCN", "published", 0),
    Cell(Condensation("cora", "herald", "true", 0.01), "GAT", "published", 0),
    Cell(Condensation("cora", "herald", "true", 0.01), "GCN", "standard", 0),
    Cell(Condensation("cora", "herald", "true", 0.01), "GCN", "published", 1),
]


@pytest.mark.parametrize("other", OTHERS)
def test_whatever_differs_makes_another_key(other):
    assert other.key != BASE.key


def test_a_condensation_is_told_in_a_line():
    assert str(Condensation("cora", "herald", "true", 0.005, "A1")) == "cora herald true r=0.005 A1"
    assert str(Condensation("cora", "full", split="3")) == "cora full true r=1 3"
