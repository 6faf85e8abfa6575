"""Plausible but wrong input: whatever a table looks like, the result is the right graph, or there is none.

Each example takes one graph, writes it down correctly, and then as people write such tables. The reference is the
condensed graph of the correct tables. The disguised tables have to give the same graph, or be refused.
"""

from __future__ import annotations

import string
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from herald_gpu import HeraldConfig, condense
from herald_gpu.errors import HeraldError
from herald_gpu.io.frames import to_pandas

several = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
few = settings(several, max_examples=12)
RATIO = 0.5
WHOLE_NUMBERS = "int64"


@dataclass(frozen=True)
class Tables:
    """A graph in two tables, and how to read them.

    `node` and `train` are the true ids and training marks of the rows of `nodes`, whatever the table says.
    """

    edges: pd.DataFrame
    nodes: pd.DataFrame
    options: dict

    def condense(self, **more):
        return condense(self.edges, self.nodes, ratio=RATIO, backend="cpu", **{**self.options, **more})

    def shuffled(self, rng):
        return replace(self, nodes=self.nodes.iloc[rng.permutation(len(self.nodes))].reset_index(drop=True))


@st.composite
def correct_tables(draw, *, text_ids=None):
    """Draw a graph whose tables say everything in the documented way."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, width = draw(st.integers(24, 40)), draw(st.integers(3, 8))
    labels = rng.permutation(np.arange(n) % 3)
    features = rng.normal(size=(n, width)) + 2.0 * rng.normal(size=(3, width))[labels]
    if draw(st.booleans()):
        features = (features > 0).astype(float)
    ids = draw_ids(rng, n, text=draw(st.booleans()) if text_ids is None else text_ids)
    train = rng.random(n) < 0.6
    train[np.unique(labels, return_index=True)[1]] = True
    ends = rng.integers(0, n, (2, 3 * n))
    ends = np.concatenate([ends[:, ends[0] != ends[1]], [np.arange(n), np.roll(np.arange(n), 1)]], axis=1)
    nodes = pd.DataFrame(features, columns=[f"f{column}" for column in range(width)])
    nodes.insert(0, "node", ids)
    nodes.insert(1, "label", np.array(["low", "mid", "top"])[labels])
    nodes.insert(2, "train", train)
    edges = pd.DataFrame({"src": ids[ends[0]], "dst": ids[ends[1]]})
    return Tables(edges, nodes, {})


def draw_ids(rng, n, *, text):
    if text:
        letters = np.array(list(string.ascii_lowercase))
        return np.array([f"{''.join(rng.choice(letters, 3))}{row}" for row in rng.permutation(n)], dtype=object)
    return rng.permutation(np.arange(n) + rng.integers(0, 3))


def with_ids_as(name):
    def disguise(tables, rng):
        return replace(tables, nodes=tables.nodes.rename(columns={"node": name})).shuffled(rng)

    return disguise


def with_ids_last(tables, rng):
    nodes = tables.nodes.rename(columns={"node": "key"})
    return replace(tables, nodes=nodes[[*(c for c in nodes.columns if c != "key"), "key"]]).shuffled(rng)


def with_ids_as_floats(tables, rng):
    if tables.nodes["node"].dtype == WHOLE_NUMBERS:
        return replace(tables, nodes=tables.nodes.astype({"node": float})).shuffled(rng)
    return tables


def with_ids_as_text(tables, rng):
    return replace(tables, nodes=tables.nodes.astype({"node": str})).shuffled(rng)


def with_a_saved_index(name):
    def disguise(tables, rng):
        nodes = tables.shuffled(rng).nodes
        nodes.insert(0, name, np.arange(len(nodes)))
        return replace(tables, nodes=nodes)

    return disguise


def with_a_saved_index_instead_of_ids(tables, rng):
    nodes = tables.shuffled(rng).nodes.rename(columns={"node": "Unnamed: 0"})
    return replace(tables, nodes=nodes)


def with_ids_in_the_index(tables, rng):
    return replace(tables, nodes=tables.shuffled(rng).nodes.set_index("node"))


def with_ids_in_an_unnamed_index(tables, rng):
    return replace(tables, nodes=tables.shuffled(rng).nodes.set_index("node").rename_axis(None))


def with_marks(write):
    def disguise(tables, rng):
        marks = tables.nodes["train"].to_numpy()
        return replace(tables, nodes=tables.nodes.assign(train=write(marks, rng))).shuffled(rng)

    return disguise


def split_words(marks, rng):
    return np.where(marks, "train", np.where(rng.random(len(marks)) < 0.5, "val", "test"))


def with_a_text_column(tables, rng):
    city = rng.choice(np.array(["Oslo", "Rome", "Bern"]), len(tables.nodes))
    return replace(tables, nodes=tables.nodes.assign(city=city))


DISGUISES = {
    "ids in id": with_ids_as("id"),
    "ids in paper_id": with_ids_as("paper_id"),
    "ids in Node": with_ids_as("Node"),
    "ids in the last column": with_ids_last,
    "ids as floats": with_ids_as_floats,
    "ids as text": with_ids_as_text,
    "a saved index beside the ids": with_a_saved_index("Unnamed: 0"),
    "an index column beside the ids": with_a_saved_index("index"),
    "ids in a saved index": with_a_saved_index_instead_of_ids,
    "ids in the index": with_ids_in_the_index,
    "ids in an unnamed index": with_ids_in_an_unnamed_index,
    "marks 0/1": with_marks(lambda marks, _: marks.astype(int)),
    "marks 0.0/1.0": with_marks(lambda marks, _: marks.astype(float)),
    "marks true/false": with_marks(lambda marks, _: np.where(marks, "true", "FALSE")),
    "marks yes/no": with_marks(lambda marks, _: np.where(marks, "Yes", "no")),
    "marks y/n": with_marks(lambda marks, _: np.where(marks, "Y", "n")),
    "marks of a split": with_marks(split_words),
    "marks 1/2": with_marks(lambda marks, _: np.where(marks, 1, 2)),
    "marks x or empty": with_marks(lambda marks, _: np.where(marks, "x", "")),
    "marks with gaps": with_marks(lambda marks, _: np.where(marks, "train", None)),
    "a text column": with_a_text_column,
}
MUST_BE_READ = (
    *("ids in the index", "ids in an unnamed index", "an index column beside the ids", "a saved index beside the ids"),
    *("marks 0/1", "marks true/false", "marks yes/no", "marks y/n", "marks of a split"),
)
"""Tables that say enough: a refusal would be wrong."""


def assert_right(result, reference):
    """Compare two condensed graphs in everything that a caller trains on."""
    assert_array_equal(np.asarray(result.node_ids), np.asarray(reference.node_ids))
    assert_array_equal(result.feature_ids, reference.feature_ids)
    assert_array_equal(np.asarray(result.features), np.asarray(reference.features))
    assert_array_equal(np.asarray(result.edge_index), np.asarray(reference.edge_index))
    assert_array_equal(np.asarray(result.train_mask), np.asarray(reference.train_mask))
    assert to_pandas(result.labels).equals(to_pandas(reference.labels))


@pytest.mark.parametrize("name", DISGUISES)
@few
@given(tables=correct_tables(), seed=st.integers(0, 99))
def test_a_table_gives_the_right_graph_or_none(name, tables, seed):
    disguised = DISGUISES[name](tables, np.random.default_rng(seed))
    try:
        result = disguised.condense()
    except HeraldError as error:
        if name in MUST_BE_READ:
            pytest.fail(f"refused: {error}")
        event("refused")
        return
    event("read")
    assert_right(result, tables.condense())


@pytest.mark.parametrize("name", ["ids in id", "ids in paper_id", "ids in Node", "ids in the last column"])
@few
@given(tables=correct_tables(), seed=st.integers(0, 99))
def test_the_refusal_of_an_id_column_names_the_way_out(name, tables, seed):
    disguised = DISGUISES[name](tables, np.random.default_rng(seed))
    (column,) = set(disguised.nodes.columns) - set(tables.nodes.columns)
    with pytest.raises(HeraldError, match=f"node='{column}'"):
        disguised.condense()
    assert_right(disguised.condense(node=column), tables.condense())


DIALECTS = {
    "comma": {},
    "semicolon": {"sep": ";"},
    "tab": {"sep": "\t"},
    "bar": {"sep": "|"},
    "decimal comma": {"sep": ";", "decimal": ","},
    "Latin-1": {"encoding": "latin-1"},
    "byte order mark": {"encoding": "utf-8-sig"},
    "UTF-16": {"encoding": "utf-16"},
    "no header": {"header": False},
    "saved index": {"index": True},
    "all quoted": {"quoting": 1},
}
READ_AS_THEY_ARE = ("comma", "byte order mark", "all quoted", "saved index")


@pytest.mark.parametrize("dialect", DIALECTS)
@few
@given(tables=correct_tables(), seed=st.integers(0, 99))
def test_a_csv_file_gives_the_right_graph_or_none(dialect, tables, seed, tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("tables"), np.random.default_rng(seed)
    tables = replace(tables, nodes=tables.nodes.replace({"label": {"mid": "Mögel"}})).shuffled(rng)
    for name in ("edges", "nodes"):
        getattr(tables, name).to_csv(folder / f"{name}.csv", **{"index": False, **DIALECTS[dialect]})
    try:
        result = condense(folder / "edges.csv", folder / "nodes.csv", ratio=RATIO, backend="cpu")
    except HeraldError as error:
        if dialect in READ_AS_THEY_ARE:
            pytest.fail(f"refused: {error}")
        return
    assert_right(result, tables.condense())


SAID = {
    "semicolon": {"separator": ";"},
    "tab": {"separator": "\t"},
    "bar": {"separator": "|"},
    "decimal comma": {"separator": ";", "decimal": ","},
    "Latin-1": {"encoding": "latin-1"},
    "UTF-16": {"encoding": "utf-16"},
}


@pytest.mark.parametrize("dialect", SAID)
@few
@given(tables=correct_tables())
def test_a_csv_file_is_read_as_the_caller_says(dialect, tables, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    tables = replace(tables, nodes=tables.nodes.replace({"label": {"mid": "Mögel"}}))
    for name in ("edges", "nodes"):
        getattr(tables, name).to_csv(folder / f"{name}.csv", index=False, **DIALECTS[dialect])
    options = {"ratio": RATIO, "backend": "cpu", "csv": SAID[dialect]}
    assert_right(condense(folder / "edges.csv", folder / "nodes.csv", **options), tables.condense())


@few
@given(tables=correct_tables(), power=st.integers(7, 30), column=st.integers(0, 2))
def test_a_column_in_another_unit_changes_nothing_or_is_announced(tables, power, column):
    """Spreads that differ widely are evened out: the unit of a column then does not matter."""
    name = f"f{column}"
    values = tables.nodes[name].to_numpy()
    wild = replace(tables, nodes=tables.nodes.assign(**{name: values * 2.0**power}))
    wilder = replace(tables, nodes=tables.nodes.assign(**{name: values * 2.0 ** (power + 3)}))
    one, two = wild.condense(), wilder.condense()
    if one.report.n_scaled:
        assert any("standardized" in note for note in one.report.warnings)
        assert_right(two, one)
    else:  # zeros and ones in another unit are still two values
        assert len(np.unique(values)) <= 2


@few
@given(tables=correct_tables(), seed=st.integers(0, 99))
def test_text_is_read_when_it_is_named(tables, seed):
    rng = np.random.default_rng(seed)
    disguised = with_a_text_column(tables, rng)
    with pytest.raises(HeraldError, match=r"categorical=\['city'\].*drop=\['city'\]"):
        disguised.condense()
    assert_right(disguised.condense(drop=["city"]), tables.condense())
    by_hand = tables.nodes.assign(**{f"city={c}": (disguised.nodes["city"] == c) for c in ("Bern", "Oslo", "Rome")})
    assert_right(disguised.condense(categorical=["city"]), replace(tables, nodes=by_hand).condense())


@few
@given(tables=correct_tables())
def test_a_class_called_unlabelled_is_not_lost_in_silence(tables):
    codes = tables.nodes["label"].map({"low": -1, "mid": 0, "top": 1})
    numbered = replace(tables, nodes=tables.nodes.assign(label=codes))
    n_lost = int((codes == -1).sum())
    with pytest.raises(HeraldError):  # training nodes without a label
        numbered.condense()
    kept = numbered.condense(unlabelled=None)
    assert set(kept.report.class_counts) == {-1, 0, 1}
    everyone = replace(numbered, nodes=numbered.nodes.drop(columns="train"))
    assert any(f"{n_lost} nodes" in note and "-1" in note for note in everyone.condense().report.warnings)


@few
@given(tables=correct_tables(), preset=st.sampled_from([HeraldConfig(), HeraldConfig.paper()]))
def test_both_presets_read_alike(tables, preset):
    disguised = with_ids_in_the_index(tables, np.random.default_rng(0))
    assert_right(disguised.condense(config=preset), tables.condense(config=preset))
