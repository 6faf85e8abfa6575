"""The page on what condensed graphs look like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from herald_gpu.experiments import names, paper
from herald_gpu.experiments.markdown import NOTHING, complete, figure, number, of, smallest, table

if TYPE_CHECKING:
    import pandas as pd

METHODS = ("bonsai", "herald")
HEADER = (
    "method",
    "r",
    "",
    "nodes",
    "edges",
    "mean degree",
    "density",
    "class entropy",
    "feature variance",
    "storage %",
)
INTRODUCTION = """\
Edges are undirected, as the paper prints them for condensed graphs; those of its whole graphs are as it prints them.
Mean degree is directed edges over nodes. Class entropy is over training nodes (the paper's own code counts all labels),
feature variance relative to that of the training set; where a kept feature does not vary there, eq:feat_var divides by
1e-12, which is what figures in the millions come from. Storage is as the paper counts it where published, true storage
else.
"""


def statistics_page(rows: pd.DataFrame) -> str:
    """Sizes, degree, density, class entropy, feature variance and storage, beside BONSAI's and the paper's.

    Parameters
    ----------
    rows : pandas.DataFrame
        Rows of the experiment `statistics`.
    """
    if rows.empty:
        return f"# Condensed graphs\n\n{NOTHING}"
    rows = complete(rows)
    datasets = list(dict.fromkeys(rows["dataset"]))
    parts = ["# Condensed graphs\n", INTRODUCTION]
    if missing := names.absent(datasets, ("roman-empire", "amazon-ratings", "squirrel"), ("chameleon", "actor")):
        parts.append(missing)
    for dataset in datasets:
        parts += [f"## {names.title(dataset)}\n", dataset_table(of(rows, dataset=dataset), dataset)]
    return "\n".join(parts)


def dataset_table(rows: pd.DataFrame, dataset: str) -> str:
    """Figures of all condensed graphs of one graph, and its own."""
    theirs = of(paper.load("statistics"), dataset=dataset)
    ratios = sorted(set(rows[rows["method"] != "full"]["ratio"]))
    lines = _lines(of(rows, method="full"), of(theirs, method="full"), [names.METHODS["full"], ""])
    for method in METHODS:
        for ratio in ratios:
            wanted = {"method": method, "ratio": ratio}
            lines += _lines(of(rows, **wanted), of(theirs, **wanted), [names.METHODS[method], f"{ratio:g}"])
    return table(HEADER, lines, left=3)


def _lines(ours: pd.DataFrame, theirs: pd.DataFrame, label: list[str]) -> list[list[str]]:
    """One condensed graph: the paper's figures and those of each column that was run."""
    cells = [["paper", *_figures(row, 1, "storage_percent", 1)] for _, row in theirs.iterrows()]
    for column, name in names.SIDES.items():
        for _, row in of(ours, column=column).iterrows():
            if row["status"] == "ok":
                share = "published_ratio" if column == "published" else "storage_ratio"
                side = "ours, undirected" if row["method"] == "full" else name
                cells.append([side, *_figures(row, 2, share, 100)])
            else:
                cells.append([name, "infeasible", "", "", "", "", "", smallest(row.to_frame().T)])
    return [[*(label if i == 0 else ["", ""]), *line] for i, line in enumerate(cells)]


def _figures(row: Any, both_ways: int, storage: str, factor: float) -> list[str]:  # noqa: ANN401 - a row of a frame
    return [
        number(figure(row, "n_nodes"), 0),
        number(figure(row, "n_edges") / both_ways, 0),
        number(figure(row, "mean_degree")),
        number(figure(row, "density"), 4),
        number(figure(row, "class_entropy"), 3),
        number(figure(row, "feature_variance"), 3),
        number(factor * figure(row, storage)),
    ]
