"""The page of the leaderboard."""

from __future__ import annotations

import math

import pytest
from scipy.stats import ttest_rel
from support.results import frame, infeasible, lines, row

from herald_gpu.experiments.grids import MODELS
from herald_gpu.experiments.standings import chosen_rows, duels, leaderboard_page, over_models

PAIRS = [("paper", 0), ("paper", 1), ("1", 0)]


def runs(method, accuracies, *, change="", bonus=(), **facts):
    """All models on all pairs of split and initialisation; `bonus` is added to single models."""
    extra = dict(bonus)
    return [
        row(
            method=method,
            change=change,
            split=split,
            seed=seed,
            model=model,
            accuracy=value + extra.get(model, 0.0),
            validation=value,
            **facts,
        )
        for (split, seed), value in zip(PAIRS, accuracies, strict=True)
        for model in MODELS
    ]


@pytest.fixture
def rows():
    return frame(
        *runs("herald-default", [80.0, 81.0, 83.0], bonus=[("GAT", 8.0)]),
        *runs("random", [60.0, 60.0, 60.0], change="all, induced"),
        *runs("herding", [79.0, 81.5, 80.0], change="tree, induced", bonus=[("H2GCN", 8.0)]),
        row(method="herding", change="all, induced", validation=1.0),
        infeasible(method="gdem", change="all"),
        *runs("full", [90.0, 90.0, 90.0], ratio=1.0),
    )


def test_only_chosen_variants_count(rows):
    found = chosen_rows(rows)
    assert set(found[found["method"] == "herding"]["change"]) == {"tree, induced"}


def test_means_need_all_models(rows):
    rows = rows[~((rows["method"] == "random") & (rows["model"] == "GIN") & (rows["seed"] == 1))]
    whole = over_models(chosen_rows(rows))
    assert len(whole[whole["method"] == "random"]) == 2
    ours = whole[whole["method"] == "herald-default"]["accuracy"].tolist()
    assert ours == [82.0, 83.0, 85.0]


def test_a_duel_is_paired(rows):
    (duel,) = duels(chosen_rows(rows))
    assert (duel.dataset, duel.ratio, duel.rival, duel.pairs) == ("cora", 0.01, "herding", 3)
    ours, theirs = [82.0, 83.0, 85.0], [81.0, 83.5, 82.0]
    gap = [a - b for a, b in zip(ours, theirs, strict=True)]
    mean = sum(gap) / 3
    assert duel.difference == pytest.approx(mean)
    assert duel.error == pytest.approx(math.sqrt(sum((g - mean) ** 2 for g in gap) / 2 / 3))
    assert duel.probability == pytest.approx(ttest_rel(ours, theirs).pvalue)
    assert duel.holds
    assert duel.worst_model == "H2GCN"
    assert duel.worst == pytest.approx((80 + 81 + 83 - 79 - 81.5 - 80) / 3 - 8)


def test_a_lost_duel_is_named():
    rows = frame(
        *runs("herald-default", [70.0, 71.0, 70.0]), *runs("random", [75.0, 76.0, 77.0], change="all, induced")
    )
    (duel,) = duels(chosen_rows(rows))
    assert not duel.holds
    text = leaderboard_page(rows)
    assert "Behind: Cora at 1 % by 5.7 (Random)." in text
    assert "in 0 of 1 places" in text


def test_the_page(rows):
    text = leaderboard_page(rows)
    found = lines(text)
    assert ["Cora", "1", "83.3", "82.2", "Herding", "1.2 ± 1.0", "0.37", "3", "H2GCN -6.8"] in found
    assert ["Cora", "83.3", "90.0", "92.6 %"] in found
    assert any(line[:3] == ["GDEM", "1", "does not fit (smallest r 2 %)"] for line in found)
    assert any(line[:3] == ["Herding", "1", "tree, induced"] and line[7] == "82.2 ± 1.3" for line in found)
    assert "more than 5 points behind the best other: 1." in text


def test_nothing_was_run():
    assert "Nothing has been run yet" in leaderboard_page(frame())


def test_storage_is_the_mean_over_splits(rows):
    ours = rows["method"] == "herald-default"
    rows.loc[ours & (rows["split"] == "paper"), "storage_ratio"] = 0.001
    rows.loc[ours & (rows["split"] == "1"), "storage_ratio"] = 0.01
    (line,) = [line for line in lines(leaderboard_page(rows)) if line[0].endswith("default preset") and len(line) > 10]
    assert line[-1] == "0.400"
