"""The page from the command line."""

from __future__ import annotations

import json

import pytest
from outcomes import HOMOPHILIC, small_graph

from herald_gpu import condense
from herald_gpu.cli import main

GRAPH = small_graph(**HOMOPHILIC)


@pytest.fixture(scope="module")
def result():
    return condense(GRAPH.edge_index, GRAPH.features, GRAPH.labels, GRAPH.train, ratio=0.6)


@pytest.fixture
def saved(result, tmp_path):
    result.save(tmp_path / "small.herald")
    return tmp_path / "small.herald"


def test_the_page_stands_beside_the_graph(saved, capsys):
    assert main(["report", str(saved)]) == 0
    out, err = capsys.readouterr()
    assert out == f"{saved.with_suffix('.html')}\n"
    assert err == ""
    assert saved.with_suffix(".html").read_text("utf-8").startswith("<!DOCTYPE html>")


def test_options(saved, result, tmp_path, capsys):
    row = {"model": "GCN", "accuracy": 71.25, "n_nodes": result.report.n_nodes, "n_edges": result.report.n_edges}
    (tmp_path / "a.json").write_text(json.dumps({"rows": [row | {"storage_ratio": 0.5}]}))
    page = tmp_path / "page.html"
    assert main(["report", str(saved), "--output", str(page), "--evaluation", str(tmp_path / "a.json")]) == 0
    assert capsys.readouterr().out == f"{page}\n"
    assert "71.25 %" in page.read_text("utf-8")


def test_a_page_is_replaced_on_request(saved, capsys):
    assert main(["report", str(saved)]) == 0
    page = saved.with_suffix(".html")
    page.write_text("mine")
    capsys.readouterr()
    assert main(["report", str(saved)]) == 1
    told = capsys.readouterr().err
    assert told == f"herald: error: --output {page} exists: pass --force to replace it, or another path\n"
    assert page.read_text() == "mine"
    assert main(["report", str(saved), "--force"]) == 0
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("name", ["small.herald", "soft", "hard", "a.json"])
def test_what_is_read_is_never_replaced(saved, monkeypatch, capsys, name):
    monkeypatch.chdir(saved.parent)
    (saved.parent / "soft").symlink_to("small.herald")
    (saved.parent / "hard").hardlink_to("small.herald")
    (saved.parent / "a.json").write_text("[]")
    before = saved.read_bytes()
    argv = ["report", "small.herald", "--evaluation", "./a.json", "--output", name, "--force"]
    assert main(argv) == 1
    assert f"--output {name} would replace what " in capsys.readouterr().err
    assert saved.read_bytes() == before
    assert (saved.parent / "a.json").read_text() == "[]"


def test_a_graph_that_ends_in_html_is_no_page(saved, capsys):
    odd = saved.rename(saved.with_suffix(".html"))
    before = odd.read_bytes()
    assert main(["report", str(odd), "--force"]) == 1
    assert "would replace what RESULT" in capsys.readouterr().err
    assert odd.read_bytes() == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["none.herald"], "none.herald"),
        (["small.herald", "--evaluation", "none.json"], "none.json"),
        (["small.herald", "--evaluation", "small.herald"], "cannot be read"),
        (["small.herald", "--output", "nowhere/page.html"], "create it first"),
    ],
)
def test_errors_are_one_line(saved, monkeypatch, capsys, options, said):
    monkeypatch.chdir(saved.parent)
    assert main(["report", *options]) == 1
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
    assert [p.name for p in saved.parent.iterdir()] == ["small.herald"]


def test_a_folder_named_by_a_dot(tmp_path, monkeypatch):
    (tmp_path / "result").mkdir()
    monkeypatch.chdir(tmp_path / "result")
    assert main(["demo", "--nodes", "300", "--output", "../small.herald", "--quiet"]) == 0
    (tmp_path / "small.herald").rename("condensed.herald")
    assert main(["report", ".", "--quiet"]) == 0
    assert (tmp_path / "result.html").is_file()
