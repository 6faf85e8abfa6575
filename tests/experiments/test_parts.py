"""The page of the default preset's parts."""

from __future__ import annotations

from dataclasses import replace

from support.results import frame, lines, row

from herald_gpu import HeraldConfig
from herald_gpu.experiments.grids import GRIDS, MODELS, PARTS
from herald_gpu.experiments.parts import WHAT, parts_page


def runs(change, accuracy, **facts):
    return [
        row(method="herald-default", change=change, model=model, seed=seed, accuracy=accuracy + seed, **facts)
        for model in MODELS
        for seed in (0, 1)
    ]


def test_changes_from_the_whole():
    rows = frame(
        *runs("whole", 80.0),
        *runs("herding", 78.0),
        *runs("whole", 30.0, dataset="actor"),
        *runs("herding", 31.0, dataset="actor"),
        row(method="herald-default", change="covering", accuracy=99.0),  # one model only
    )
    found = {line[0]: line[2:] for line in lines(parts_page(rows))}
    assert found["whole"] == ["80.5 ± 0.7", "30.5 ± 0.7", ""]
    assert found["herding"] == ["78.5 ± 0.7; -2.0", "31.5 ± 0.7; +1.0", "-0.5"]
    assert found["covering"] == ["", "", ""]


def test_every_part_is_a_valid_change_with_a_name():
    assert list(WHAT) == list(PARTS)
    assert GRIDS["parts"].changes == PARTS
    for change in PARTS.values():
        replace(HeraldConfig(), **change)


def test_nothing_was_run():
    assert "Nothing has been run yet" in parts_page(frame())
