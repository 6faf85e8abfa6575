"""The report as one page of HTML that needs nothing from elsewhere."""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING, Any

from herald_gpu._version import __version__
from herald_gpu.io.atomic import check_file, whole_file
from herald_gpu.report import facts, features
from herald_gpu.report.charts import chart
from herald_gpu.report.colours import UNKNOWN_DARK, UNKNOWN_LIGHT, class_colours
from herald_gpu.report.drawing import as_json, draw
from herald_gpu.report.evaluation import checked
from herald_gpu.report.figures import figures
from herald_gpu.report.markup import Markup, join, tag
from herald_gpu.report.sheet import sheet

if TYPE_CHECKING:
    import os

    from herald_gpu.report.drawing import Drawing
    from herald_gpu.report.features import Kept
    from herald_gpu.report.shapes import Figure, Table
    from herald_gpu.result import Contents
    from herald_gpu.summary import Report

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
"""What a browser may load: nothing that is not on the page."""
NO_SCORES = (
    "Scores of the nodes of the full graph are not shown: they are not in the file. Save the graph with its scores "
    "(save(path, with_scores=True), herald condense --with-scores) to see them here."
)
EXAMPLE = "report.html"
SECTIONS = {
    "Before and after": ("classes", "storage", "degrees", "variances"),
    "Scores": ("prototype", "boundary", "lid", "score"),
    "Time": ("timings",),
}


def write_page(
    path: str | os.PathLike[str],
    contents: Contents,
    report: Report,
    *,
    evaluation: Any = None,  # noqa: ANN401 - rows, however they are kept
    overwrite: bool = False,
) -> None:
    """Write the page, all or nothing.

    Parameters
    ----------
    path : path-like
    contents : Contents
        On the host.
    report : Report
    evaluation : pandas.DataFrame, list or dict, optional
        What `evaluate` gave, or the JSON of it.
    overwrite : bool
        Replace an existing file.
    """
    check_file(path, overwrite=overwrite, example=EXAMPLE)  # the drawing of a large graph takes a while
    text = page(contents, report, evaluation=evaluation)
    with whole_file(path, overwrite=overwrite, example=EXAMPLE) as beside:
        beside.write_text(text, encoding="utf-8")


def page(contents: Contents, report: Report, *, evaluation: Any = None) -> str:  # noqa: ANN401 - as above
    """Build the page."""
    rows = None if evaluation is None else checked(evaluation, report)
    made = {figure.key: figure for figure in figures(contents, report, rows)}
    drawing = draw(contents)
    title = f"Condensed graph: {report.n_nodes:,} nodes, {report.n_edges:,} directed edges"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("link", rel="icon", href="data:,"),
        tag("title", title),
        tag("style", Markup(_file("page.css") + _class_styles(len(drawing.classes)))),
    )
    # A script cannot be ended from within, whatever a node is called.
    kept = features.kept(contents)
    content = as_json(drawing) | {"features": features.as_json(kept)}
    data = json.dumps(content, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    body = tag(
        "body",
        tag("a", "Skip to the report", href="#report", class_="skip"),
        tag("header", tag("h1", title), _lead(report)),
        tag("main", *_main(contents, report, made, drawing, kept), id="report", tabindex="-1"),
        tag("footer", f"Written by herald-gpu {__version__}; condensed by {report.versions.get('herald_gpu', '?')}."),
        tag("script", Markup(data), type="application/json", id="graph-data"),
        tag("script", Markup(_file("page.js"))),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _file(name: str) -> str:
    return resources.files("herald_gpu.report").joinpath(name).read_text("utf-8")


def _class_styles(count: int) -> str:
    pairs = [*enumerate(class_colours(count)), ("unknown", (UNKNOWN_LIGHT, UNKNOWN_DARK))]
    light, dark = ("".join(f"--class-{name}:{pair[side]};" for name, pair in pairs) for side in (0, 1))
    return f":root{{{light}}}\n@media screen and (prefers-color-scheme: dark){{:root{{{dark}}}}}\n"


def _lead(report: Report) -> Markup:
    tiles = [
        tag("div", tag("dt", what), tag("dd", value, class_="big"), tag("dd", beside, class_="beside"))
        for what, value, beside in facts.headlines(report)
    ]
    return tag("dl", *tiles, class_="tiles")


def _main(
    contents: Contents, report: Report, made: dict[str, Figure], drawing: Drawing, kept: list[Kept]
) -> list[Markup]:
    notes = [*report.warnings]
    if report.missing_classes:
        notes.append(f"Classes without a training node: {', '.join(map(str, report.missing_classes))}")
    if not contents.scores:
        notes.append(NO_SCORES)
    listed = [tag("ul", *(tag("li", note) for note in notes), class_="notes", aria_label="Notes")] if notes else []
    trials = facts.trials(report)
    parts = [
        *listed,
        _section(
            "Asked and given", _table(facts.outcome(report)), _columns(facts.choice(report), facts.structure(report))
        ),
        *([_section("Accuracy", _figure(made["accuracy"], open_=True))] if "accuracy" in made else []),
        _section("The condensed graph", _graph(drawing)),
    ]
    for title, keys in SECTIONS.items():
        own = [_figure(made[key]) for key in keys if key in made]
        if own:
            parts.append(_section(title, tag("div", *own, class_="columns")))
    parts.append(_section("Classes", _table(features.class_table(contents, report))))
    parts.append(_section("Kept features", *_features(contents, kept)))
    tables = [_details(table) for table in (trials, facts.options(report), facts.run(report)) if table is not None]
    return [*parts, _section("Method and run", *tables)]


def _features(contents: Contents, kept: list[Kept]) -> list[Markup]:
    """Say what `transform` does, and list kept features; the script shows the search and fills the table."""
    weighed = features.WEIGHT if contents.reduction is None else features.NO_WEIGHT
    search = tag(
        "p",
        tag("label", "Search by name or column ", for_="feature-search"),
        tag("input", type="search", id="feature-search", autocomplete="off", aria_controls="feature-rows"),
        " ",
        tag("span", id="feature-found", role="status"),
        class_="search",
    )
    return [
        tag("h3", "What transform does to other nodes"),
        tag("ul", *(tag("li", step) for step in features.transform_steps(contents))),
        tag("p", weighed, class_="soft"),
        search,
        tag("div", _table(features.feature_table(kept)), id="feature-rows", data_shown=features.SHOWN),
    ]


def _section(title: str, *content: Markup) -> Markup:
    key = title.lower().replace(" ", "-")
    return tag("section", tag("h2", title, id=key), *content, aria_labelledby=key)


def _columns(*tables: Table) -> Markup:
    return tag("div", *(_table(table) for table in tables), class_="columns")


def _table(table: Table) -> Markup:
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in table.header)))
    rows = [tag("tr", tag("th", row[0], scope="row"), *(tag("td", cell) for cell in row[1:])) for row in table.rows]
    return tag("div", tag("table", tag("caption", table.caption), head, tag("tbody", *rows)), class_="scroll")


def _details(table: Table, *, open_: bool = False) -> Markup:
    return tag("details", tag("summary", table.caption), _table(table), open=open_)


def _figure(figure: Figure, *, open_: bool = False) -> Markup:
    caption = tag("figcaption", tag("h3", figure.title), figure.description)
    return tag("figure", caption, chart(figure), _details(figure.table, open_=open_), id=f"figure-{figure.key}")


def _graph(drawing: Drawing) -> Markup:
    label = f"Drawing of the condensed graph: {drawing.description}"
    tools = tag(
        "div",
        tag("button", "+", type="button", id="zoom-in", aria_label="Zoom in"),
        tag("button", "−", type="button", id="zoom-out", aria_label="Zoom out"),  # noqa: RUF001 - a minus sign
        tag("button", "Whole graph", type="button", id="zoom-whole"),
        tag("span", _keys(), id="graph-keys"),
        class_="tools",
    )
    view = tag(
        "canvas",
        id="view",
        tabindex=0,
        role="application",
        aria_label=label,
        aria_describedby="graph-keys",
    )
    live = tag("div", id="said", class_="quiet", role="status", aria_live="polite")
    return tag(
        "figure",
        tag("figcaption", tag("h3", "Drawing"), drawing.description.capitalize()),
        tools,
        tag("div", sheet(drawing), view, tag("div", id="tip", aria_hidden="true"), id="stage"),
        live,
        _legend(drawing),
        id="graph",
    )


def _keys() -> Markup:
    pairs = (("+ −", "zoom"), ("← ↑ → ↓", "pan"), ("0", "whole graph"), ("N P", "next and previous node"))  # noqa: RUF001
    listed: list[str] = ["Drag to pan, scroll to zoom, point at a node. Keys: "]
    for keys, meaning in pairs:
        listed += [join(*(tag("kbd", key) for key in keys.split())), f" {meaning}; "]
    return join(*listed[:-1], f" {pairs[-1][1]}.")


def _legend(drawing: Drawing) -> Markup:
    entries = [(name, _key_dot(f"--class-{code}")) for code, name in enumerate(drawing.classes)]
    entries = [(f"class {name}", picture) for name, picture in entries]
    if (drawing.codes < 0).any():
        entries.append(("class unknown (no training node)", _key_dot("--class-unknown")))
    if not drawing.is_root.all() and (~drawing.is_root & ~drawing.is_landmark).any():
        entries.append(("smaller: not chosen for its own sake", _key_dot("--soft", 3.2)))
    if drawing.is_landmark.any():
        square = tag("path", d="M4 2h10v10h-10z", class_="landmark", style="fill:var(--before)")
        entries.append(("landmark (synthetic node)", _picture(square)))
    if (~drawing.synthetic).any():
        entries.append(("edge", _picture(tag("path", d="M0 7h18", style="stroke:var(--edge);stroke-width:1.5"))))
    if drawing.synthetic.any():
        dashed = "stroke:var(--synthetic);stroke-width:1.5;stroke-dasharray:4 3"
        entries.append(("synthetic edge", _picture(tag("path", d="M0 7h18", style=dashed))))
    return tag("ul", *(tag("li", picture, name) for name, picture in entries), class_="legend", aria_label="Legend")


def _key_dot(colour: str, radius: float = 5.5) -> Markup:
    return _picture(tag("circle", cx=9, cy=7, r=radius, style=f"fill:var({colour})"))


def _picture(content: Markup) -> Markup:
    return tag("svg", content, viewBox="0 0 18 14", aria_hidden="true")
