"""The page: whole, valid in structure, escaped, and saying what the report says."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from herald_gpu import CondensedGraph
from herald_gpu.errors import InputError
from herald_gpu.ratios import percent
from herald_gpu.report import page as build
from herald_gpu.report.figures import figures

VOID = {"meta", "link", "br", "input"}


class Node:
    def __init__(self, name, attributes, parent=None):
        self.name, self.attributes, self.parent, self.children = name, attributes, parent, []

    def all(self, name, **wanted):
        for child in self.children:
            if isinstance(child, Node):
                if child.name == name and all(child.attributes.get(k.rstrip("_")) == v for k, v in wanted.items()):
                    yield child
                yield from child.all(name, **wanted)

    @property
    def text(self):
        return "".join(child if isinstance(child, str) else child.text for child in self.children)


class Reader(HTMLParser):
    """Build a tree; every element must be closed in order."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.root = self.here = Node("", {})

    def handle_starttag(self, tag, attrs):
        node = Node(tag, dict(attrs), self.here)
        assert len(attrs) == len(dict(attrs))
        self.here.children.append(node)
        if tag not in VOID:
            self.here = node

    def handle_endtag(self, tag):
        assert self.here.name == tag
        self.here = self.here.parent

    def handle_data(self, data):
        self.here.children.append(data)


def parse(text):
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.here is reader.root
    return reader.root


def written(result, **options):
    return build(result._host, result.report, **options)


@pytest.fixture(scope="session")
def text(result):
    return written(result)


@pytest.fixture(scope="session")
def tree(text):
    return parse(text)


def test_nothing_comes_from_elsewhere(text, tree):
    for scheme in ("http:", "https:", "//cdn", "@import", "url("):
        assert scheme not in text
    for node in [*tree.all("script"), *tree.all("img"), *tree.all("link"), *tree.all("iframe")]:
        assert "src" not in node.attributes
        assert node.attributes.get("href", "data:,") == "data:,"
    [policy] = tree.all("meta", **{"http-equiv": "Content-Security-Policy"})
    assert policy.attributes["content"].startswith("default-src 'none'")


def test_every_figure_has_a_title_and_a_description(tree, result):
    figured = list(tree.all("figure"))
    assert len(figured) == 1 + len(figures(result._host, result.report))
    for figure in figured:
        pictures = [node for node in figure.all("svg") if node.attributes.get("aria-hidden") != "true"]
        assert len(pictures) == 1
        [picture] = pictures
        assert picture.attributes["role"] == "img"
        for reference, name in (("aria-labelledby", "title"), ("aria-describedby", "desc")):
            [said] = picture.all(name)
            assert said.attributes["id"] == picture.attributes[reference]
            assert said.text.strip()
        assert list(figure.all("figcaption"))


def test_tables_have_captions_and_headers(tree):
    tables = list(tree.all("table"))
    assert len(tables) >= 8
    for table in tables:
        [caption] = table.all("caption")
        assert caption.text.strip()
        columns = [node for node in table.all("th") if node.attributes["scope"] == "col"]
        assert len(columns) >= 2
        [body] = table.all("tbody")
        for row in body.all("tr"):
            assert [node.attributes["scope"] for node in row.all("th")] == ["row"]
            assert len(list(row.all("td"))) == len(columns) - 1


def test_ids_are_unique_and_what_is_referred_to_is_there(tree):
    found = [n.attributes["id"] for name in TAGS for n in tree.all(name) if "id" in n.attributes]
    assert len(found) == len(set(found))
    for name in TAGS:
        for node in tree.all(name):
            for key in ("aria-labelledby", "aria-describedby"):
                assert node.attributes.get(key, found[0]) in found
    [skip] = tree.all("a", class_="skip")
    assert skip.attributes["href"].removeprefix("#") in found


TAGS = ("section", "figure", "svg", "title", "desc", "canvas", "div", "h2", "main", "button", "span", "script", "table")


def test_the_drawing_can_be_reached_and_is_described(tree, result):
    [canvas] = tree.all("canvas")
    assert canvas.attributes["tabindex"] == "0"
    assert f"{result.report.n_nodes:,} nodes" in canvas.attributes["aria-label"]
    assert list(tree.all("div", **{"aria-live": "polite"}))
    assert all(button.attributes.get("aria-label") or button.text for button in tree.all("button"))
    [html] = tree.all("html")
    assert html.attributes["lang"] == "en"


def test_the_numbers_are_those_of_the_report(tree, result):
    report, words = result.report, tree.text
    for part in (
        f"{report.n_nodes:,} nodes, {report.n_edges:,} directed edges",
        f"{report.storage_bytes:,} bytes",
        f"{report.budget_bytes:,} bytes",
        f"{report.full_bytes:,} bytes",
        percent(report.storage_ratio),
        percent(report.requested_ratio),
        f"{report.heterophily:.3f}",
        f"{report.mean_degree:.2f}",
        f"{report.density:.3g}",
        f"{report.class_entropy:.3f}",
        *map(str, report.class_counts),
        *report.warnings,
        *report.timings,
    ):
        assert part in words
    if report.weights is not None:
        for weight in (report.weights.alpha, report.weights.beta, report.weights.gamma):
            assert f"{weight:.3f}" in words
    for count in report.before.class_counts:
        assert f"{count:,}" in words


def test_the_script_has_the_graph(tree, result):
    [data] = tree.all("script", id="graph-data")
    graph = json.loads(data.text)
    contents = result._host
    assert graph["ids"] == [str(i) for i in contents.node_ids.tolist()]
    assert graph["codes"] == contents.codes.tolist()
    assert graph["degrees"] == contents.adjacency.sum(axis=1).astype(int).ravel().tolist()[0]
    upper = (contents.adjacency.tocoo().row < contents.adjacency.tocoo().col).sum()
    assert len(graph["edges"]) == 2 * upper
    assert 2 * len(graph["synthetic"]) == result.report.n_synthetic_edges
    assert len(graph["landmark"]) == result.report.n_landmarks
    for name, values in graph["scores"].items():
        assert name in contents.scores
        assert [v is None for v in values] == contents.is_landmark.tolist()


def test_odd_names_are_escaped(make):
    text = written(make("odd names"))
    tree = parse(text)
    assert "<b>" not in text
    assert len(list(tree.all("script"))) == 2
    assert next(iter(make("odd names").report.class_counts)) in tree.text


def test_the_static_drawing_has_every_edge_and_node(make):
    result = make("linked")
    [sheet] = parse(written(result)).all("svg", id="sheet")
    paths = [(node.attributes.get("class", ""), node.attributes["d"]) for node in sheet.all("path")]
    edges = sum(d.count("L") for c, d in paths if c.startswith("edge"))
    assert 2 * edges == result.report.n_edges
    assert sum(d.count("L") for c, d in paths if "synthetic" in c) * 2 == result.report.n_synthetic_edges
    assert sum(d.count("h0") for c, d in paths if c == "dots") == result.report.n_nodes - result.report.n_landmarks
    assert sum(d.count("z") for c, d in paths if c == "landmark") == result.report.n_landmarks


def test_landmarks_and_synthetic_edges_are_named_where_there_are_some(make):
    [legend] = parse(written(make("linked"))).all("ul", class_="legend")
    assert "landmark" in legend.text
    assert "synthetic edge" in legend.text
    [legend] = parse(written(make("real"))).all("ul", class_="legend")
    assert "landmark" not in legend.text
    assert "synthetic" not in legend.text


def test_accuracy_is_shown_if_evaluated(make, rows):
    tree = parse(written(make("default"), evaluation=rows))
    [figure] = tree.all("figure", id="figure-accuracy")
    assert "72.00 ± 2.83 %" in figure.text
    assert not list(parse(written(make("default"))).all("figure", id="figure-accuracy"))


def test_the_page_is_the_same_twice(make):
    assert written(make("default")) == written(make("default"))


def test_colours_are_defined_for_every_class(make):
    text = written(make("many classes"))
    for code in (*range(12), "unknown"):
        assert len(re.findall(rf"--class-{code}:#[0-9A-F]{{6}};", text)) == 2


# Files


def test_a_saved_graph_gives_the_same_page(make, tmp_path):
    result = make("linked")
    result.save(tmp_path / "graph.herald", with_scores=True)
    result.to_html(tmp_path / "one.html")
    CondensedGraph.load(tmp_path / "graph.herald").to_html(tmp_path / "two.html")
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


@pytest.mark.parametrize("name", ["linked", "paper", "odd names"])
def test_a_page_does_without_scores_and_says_why(make, tmp_path, name):
    result = make(name)
    result.save(tmp_path / "graph.herald")
    loaded = CondensedGraph.load(tmp_path / "graph.herald")
    loaded.to_html(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text("utf-8")
    assert text.count("are not in the file. Save the graph with its scores") == 1
    keys = set(re.findall(r'id="figure-(\w+)"', text))
    assert keys == {"classes", "storage", "degrees", "variances", "timings"}
    data = json.loads(re.search(r'id="graph-data">(.*?)</script>', text)[1])
    assert data["scores"] == {}
    assert len(data["ids"]) == result.report.n_nodes
    result.to_html(tmp_path / "whole.html")
    whole = (tmp_path / "whole.html").read_text("utf-8")
    assert "are not in the file" not in whole
    assert "figure-prototype" in whole


def test_a_large_graph_without_ranks_is_drawn_in_part(make, tmp_path, monkeypatch):
    make("linked").save(tmp_path / "graph.herald")
    loaded = CondensedGraph.load(tmp_path / "graph.herald")
    monkeypatch.setattr("herald_gpu.report.drawing.MOST_NODES", 8)
    loaded.to_html(tmp_path / "page.html")
    left = loaded.report.n_nodes - 8
    assert f"left out of the drawing: {left} nodes" in (tmp_path / "page.html").read_text("utf-8")


def test_an_existing_page_is_replaced_on_request(make, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    with pytest.raises(InputError, match=r"page.html' exists: pass overwrite=True to replace it"):
        make("tiny").to_html(path)
    assert path.read_text() == "old"
    make("tiny").to_html(path, overwrite=True)
    assert path.read_text("utf-8").startswith("<!DOCTYPE html>")


def test_a_failure_leaves_the_old_page(make, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        make("tiny").to_html(path, overwrite=True)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]


def test_places_that_no_page_can_be_written_to(make, tmp_path):
    with pytest.raises(InputError, match=r"is a folder: pass a file name, such as 'report.html'"):
        make("tiny").to_html(tmp_path)
    with pytest.raises(InputError, match="does not exist, create it first"):
        make("tiny").to_html(tmp_path / "none" / "page.html")
