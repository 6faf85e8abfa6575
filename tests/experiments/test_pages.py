"""Pages are made of rows alone, and say where they come from."""

from __future__ import annotations

import re
import shlex
import sys

import pandas as pd
import pytest
from support.results import frame, infeasible, row

from herald_gpu.cli import build_parser
from herald_gpu.commands.reproduce import chosen, sizes
from herald_gpu.experiments.grids import GRIDS
from herald_gpu.experiments.pages import PAGES, coverage, footer, write_page

ORIGIN = {"version": "0.1.0", "machine": "2 cores of Some CPU, x86_64 Linux", "libraries": "Python 3.11.2, numpy 2.4.6"}


@pytest.mark.parametrize("name", list(PAGES))
def test_a_page_of_nothing(tmp_path, name):
    (page,) = write_page(name, pd.DataFrame(), tmp_path)
    text = page.read_text("utf-8")
    assert page == tmp_path / f"{name}.md"
    assert text.startswith("# ")
    assert "herald reproduce " + name in text


def test_a_page_shows_its_figures(tmp_path):
    pytest.importorskip("matplotlib")
    files = write_page("ablation", frame(row(change="A")), tmp_path)
    text = files[0].read_text("utf-8")
    for linked in re.findall(r"!\[.+\]\((.+)\)", text):
        assert (tmp_path / linked).is_file()
    assert "(figures/ablation.png)" in text
    assert [path.name for path in files] == ["ablation.md", "ablation.png", "ablation.svg"]


def test_a_page_without_matplotlib(tmp_path, monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    (page,) = write_page("ablation", frame(row(change="A")), tmp_path)
    assert "figures/" not in page.read_text("utf-8")
    assert "no figures" in caplog.text


def test_the_footer_names_machine_libraries_and_version():
    text = footer("accuracy", frame(row(**ORIGIN), row(seed=1, **ORIGIN), row(seed=2)))
    for value in ORIGIN.values():
        assert text.count(value) == 1
    assert "nan" not in text


def test_the_footer_says_how_models_were_trained():
    assert "200 epochs, 1024 hidden units; of every 20th epoch" in footer("large-scale", frame(row()))
    assert "epochs" not in footer("statistics", frame(row()))


def test_rows_of_two_machines_are_told():
    text = footer("accuracy", frame(row(**ORIGIN), row(seed=1, **(ORIGIN | {"machine": "8 cores of Another"}))))
    assert "2 cores of Some CPU" in text
    assert "8 cores of Another" in text


def test_the_footer_links_to_rows_only_where_there_are_any():
    assert "(data/accuracy.csv)" in footer("accuracy", frame(row()))
    assert ".csv" not in footer("accuracy", frame())


def test_how_much_of_the_grid_is_there():
    total = sum(len(cells) for _, cells in GRIDS["accuracy"].groups())
    rows = frame(row(), row(seed=1), infeasible(ratio=0.03))
    assert coverage("accuracy", rows) == (
        f"3 of the {total:,} cells of this experiment; 1 of them below the smallest feasible ratio."
    )
    assert coverage("accuracy", frame(row(), row(ratio=0.5))) == (
        f"1 of the {total:,} cells of this experiment, and 1 besides."
    )


@pytest.mark.parametrize("name", list(PAGES))
def test_the_command_of_a_page_is_one_cell(name):
    command = re.search(r"```sh\n(.+)\n```", footer(name, pd.DataFrame())).group(1)
    args = build_parser().parse_args(shlex.split(command)[1:])
    ((experiment, narrowed),) = chosen(args).items()
    assert experiment == name
    if name in GRIDS:
        assert len([cell for _, cells in GRIDS[name].groups(**narrowed) for cell in cells]) in (1, 2)
    if name == "complexity":
        assert len(list(sizes(args).runs())) == 1
