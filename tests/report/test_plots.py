"""The same figures with matplotlib."""

from __future__ import annotations

import sys

import pytest

from herald_gpu import CondensedGraph
from herald_gpu.errors import ConfigError, MissingDependencyError
from herald_gpu.report.figures import figures

mpl = pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install '.[plot]'")
Figure = pytest.importorskip("matplotlib.figure").Figure


def test_all_figures_are_panels(result, tmp_path):
    before = dict(mpl.rcParams)
    made = result.plot()
    assert isinstance(made, Figure)
    titles = [ax.get_title() for ax in made.axes if ax.get_title()]
    assert titles == ["The condensed graph", *(one.title for one in figures(result._host, result.report))]
    made.savefig(tmp_path / "all.png", dpi=40)
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize(
    "kind", ["graph", "classes", "prototype", "boundary", "degrees", "variances", "storage", "timings"]
)
def test_one_figure_by_its_name(make, kind):
    made = make("default").plot(kind)
    assert len(made.axes) == 1


def test_bars_are_the_numbers(make):
    result = make("default")
    [ax] = result.plot("classes").axes
    [before, after] = ax.containers
    counts = list(result.report.class_counts.values())
    assert [bar.get_width() for bar in after] == pytest.approx([100 * c / sum(counts) for c in counts])
    assert len(before) == len(result.report.before.class_counts)


def test_axes_may_be_given(make):
    figure = Figure()
    ax = figure.subplots()
    assert make("default").plot("degrees", ax) is figure
    assert ax.get_title() == "Degrees"


def test_accuracy(make, rows):
    [ax] = make("default").plot("accuracy", evaluation=rows).axes
    assert [label.get_text() for label in ax.get_yticklabels()] == ["GCN", "GIN"]


def test_a_graph_without_scores_is_plotted_without_them(make, tmp_path):
    make("paper").save(tmp_path / "graph.herald")
    loaded = CondensedGraph.load(tmp_path / "graph.herald")
    titles = [ax.get_title() for ax in loaded.plot().axes if ax.get_title()]
    assert len(titles) == 6
    assert not any("score" in title for title in titles)
    with pytest.raises(ConfigError, match="lid needs a file that was saved with_scores=True"):
        loaded.plot("lid")


def test_what_cannot_be_drawn_is_refused(make):
    with pytest.raises(ConfigError, match=r"kind='lid' is not a figure .*: pass one of graph, classes, prototype"):
        make("default").plot("lid")
    with pytest.raises(ConfigError, match="accuracy needs evaluation="):
        make("default").plot("accuracy")
    with pytest.raises(ConfigError, match="ax is given but kind is not"):
        make("default").plot(ax=Figure().subplots())


def test_without_matplotlib(make, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'matplotlib"):
        make("default").plot()


@pytest.mark.parametrize("size", [(2.2, 1.6), (3.0, 2.0), (6.0, 4.2)])
@pytest.mark.parametrize("kind", ["classes", "storage", "degrees", "prototype"])
def test_the_legend_covers_nothing(make, kind, size):
    figure = Figure(figsize=size, layout="constrained")
    ax = figure.subplots()
    make("many classes").plot(kind, ax)
    figure.canvas.draw()
    legend = ax.get_legend().get_window_extent()
    drawn = [*ax.patches, ax.title, *ax.texts]
    assert not [one for one in drawn if one.get_window_extent().shrunk(0.99, 0.99).overlaps(legend)]
