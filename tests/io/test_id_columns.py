"""Where node ids come from: what is taken, what is told, what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from outcomes import small_graph

from herald_gpu import condense
from herald_gpu.errors import ColumnError, InputError
from herald_gpu.io import id_columns, parquet
from herald_gpu.io.read import Columns, read

GRAPH = small_graph()
N = GRAPH.n_nodes
EDGES, NODES = GRAPH.to_frames()
MIXED = np.random.default_rng(5).permutation(N)
SHUFFLED = NODES.iloc[MIXED].reset_index(drop=True)
UNNAMED = SHUFFLED.rename(columns={"node": "id"})
BARE = NODES.drop(columns="node")
NUMBERED = "the table of nodes has no column 'node': rows are numbered from 0 and these numbers are the node ids"
FEATURES = [f"f{i}" for i in range(6)]
ENDS = np.unique(GRAPH.edge_index)


def text(edges, nodes, name):
    names = np.array([f"n{i:03d}" for i in range(N)])
    return edges.apply(lambda ends: names[ends]), nodes.assign(**{name: names[nodes[name]]})


@pytest.fixture(params=["pandas", "polars", "arrow", "parquet", "parquet without statistics"])
def load(request, tmp_path):
    """Give a table as another kind of table, or a file of it."""

    def stored(table, **options):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.parquet"
        table.to_parquet(path, index=False, **options)
        return path

    return {
        "pandas": lambda table: table,
        "polars": pl.from_pandas,
        "arrow": lambda table: pa.Table.from_pandas(table, preserve_index=False),
        "parquet": stored,
        "parquet without statistics": lambda table: stored(table, write_statistics=False),
    }[request.param]


def found(edges, nodes, **columns):
    return read(edges, nodes, columns=Columns(**columns))


def assert_right(one, warnings=()):
    """Compare with the graph as it is: every node has its own features."""
    np.testing.assert_array_equal(one.features, GRAPH.features)
    np.testing.assert_array_equal(one.node_ids, np.arange(N))
    assert list(one.feature_ids) == FEATURES
    assert one.warnings == list(warnings)


# A column that looks like ids


def test_ids_in_another_column_are_refused_and_named(load):
    with pytest.raises(ColumnError) as caught:
        found(load(EDGES), load(UNNAMED))
    assert str(caught.value) == (
        "feats has no column 'node', but its column 'id' looks like node ids (it holds every node that edges name): "
        "pass node='id' if it holds the ids, drop=['id'] if it is neither ids nor a feature, or node=None if rows are "
        "numbered from 0 to 39 and it is a feature"
    )
    assert_right(found(load(EDGES), load(UNNAMED), node="id"))


def test_so_are_ids_that_are_text(load):
    edges, nodes = text(EDGES, UNNAMED, "id")
    with pytest.raises(ColumnError, match=r"column 'id' looks like node ids \(it holds every node .*node='id'"):
        found(load(edges), load(nodes))


def test_so_are_ids_that_became_floats(load):
    with pytest.raises(ColumnError, match="column 'id' looks like node ids"):
        found(load(EDGES), load(UNNAMED.assign(id=UNNAMED["id"].astype(float))))


@pytest.mark.parametrize("values", [np.arange(100, 100 + N), [f"code {i}" for i in range(N)]], ids=["numbers", "text"])
def test_a_column_without_a_value_twice_is_refused(load, values):
    with pytest.raises(ColumnError, match=r"column 'code' looks like node ids \(it has another value in every row\)"):
        found(load(EDGES), load(BARE.assign(code=values)))


def test_the_column_that_holds_the_ends_is_named_first():
    nodes = pd.DataFrame({"code": np.arange(100, 100 + N)}).join(UNNAMED)
    with pytest.raises(ColumnError, match="pass node='id'"):
        found(EDGES, nodes)


def test_other_columns_raise_no_alarm(load):
    rng = np.random.default_rng(1)
    others = {
        "age": rng.integers(18, 30, N),
        "binary": rng.integers(0, 2, N),
        "flag": rng.integers(0, 2, N).astype(bool),
        "height": rng.normal(1000, 500, N),
        "count": np.arange(N) // 2,
        "gone": np.full(N, 5.0),
    }
    one = found(load(EDGES), load(BARE.assign(**others)))
    assert list(one.feature_ids) == [*FEATURES, *others]
    assert one.warnings == [NUMBERED]


def test_two_ends_are_too_few_to_tell():
    one = found(EDGES.iloc[:1], BARE.assign(binary=np.arange(N) % 2))
    assert "binary" in one.feature_ids


@pytest.mark.parametrize("name", ["label", "train"])
def test_columns_with_a_meaning_are_no_ids(name):
    nodes = BARE.assign(label=np.arange(N)) if name == "label" else BARE.assign(label=GRAPH.labels)
    assert found(EDGES, nodes).warnings == [NUMBERED]


def test_a_sparse_adjacency_names_rows_and_a_unique_column_is_refused_all_the_same():
    adjacency = scipy.sparse.coo_matrix((np.ones(GRAPH.n_edges), GRAPH.edge_index), shape=(N, N))
    assert_right(found(adjacency, BARE), [NUMBERED])
    with pytest.raises(ColumnError, match="another value in every row"):
        found(adjacency, BARE.assign(id=MIXED))


# Rows that are numbered


def test_numbered_rows_are_announced(load):
    assert_right(found(load(EDGES), load(BARE)), [NUMBERED])


def test_numbered_rows_that_were_asked_for_are_not(load):
    assert_right(found(load(EDGES), load(BARE), node=None))
    one = found(load(EDGES), load(BARE.assign(code=MIXED)), node=None)
    assert list(one.feature_ids) == [*FEATURES, "code"]
    assert one.warnings == []


def test_numbered_rows_do_not_ask_the_index(tmp_path):
    nodes = BARE.set_index(pd.Index(MIXED, name="node"))
    assert_right(found(EDGES, nodes, node=None))
    nodes.rename_axis(None).to_parquet(tmp_path / "nodes.parquet")
    assert_right(found(EDGES, tmp_path / "nodes.parquet", node=None))


def test_results_of_numbered_rows_have_named_ids(tmp_path):
    small = condense(EDGES, BARE, node=None, ratio=0.4, backend="cpu")
    assert small.node_ids.name == "node"
    small.save(tmp_path / "small.herald")
    assert small.features.index.name == "node"


# Stored row numbers


@pytest.mark.parametrize("name", ["Unnamed: 0", "Unnamed: 0.1", "index", "level_0", "__index_level_0__", ""])
@pytest.mark.parametrize("nodes", [NODES, SHUFFLED, BARE], ids=["ids", "shuffled ids", "numbered"])
def test_stored_row_numbers_are_no_features(load, nodes, name):
    note = f"columns [{name!r}] are not used as features: by their names they are stored row numbers"
    one = found(load(EDGES), load(nodes.assign(**{name: np.arange(N)})))
    assert_right(one, [note] if "node" in nodes else [note, NUMBERED])


def test_whatever_they_hold():
    one = found(EDGES, NODES.assign(**{"Unnamed: 9": np.nan, "index": "text"}))
    assert list(one.feature_ids) == FEATURES


def test_row_numbers_that_hold_the_ids_are_refused(load):
    nodes = SHUFFLED.rename(columns={"node": "Unnamed: 0"})
    with pytest.raises(ColumnError, match=r"column 'Unnamed: 0' looks like node ids .*pass node='Unnamed: 0'"):
        found(load(EDGES), load(nodes))
    assert_right(found(load(EDGES), load(nodes), node="Unnamed: 0"))


def test_such_a_name_may_have_a_meaning():
    assert_right(found(EDGES, SHUFFLED.rename(columns={"label": "index"}), label="index"))


# An index


def test_an_index_that_holds_the_ends_holds_the_ids():
    assert_right(found(EDGES, SHUFFLED.set_index("node")))
    assert_right(found(EDGES, SHUFFLED.set_index("node").rename_axis(None)))


@pytest.mark.parametrize("stored", [False, True])
def test_an_index_and_a_column_that_both_could_are_refused(tmp_path, stored):
    """Rows were shuffled and their index with them: what it holds are numbers of rows that were."""
    nodes = UNNAMED.sample(frac=1, random_state=0)
    if stored:
        nodes.to_parquet(tmp_path / "nodes.parquet")
        nodes = tmp_path / "nodes.parquet"
    with pytest.raises(
        ColumnError, match=r"both its index and its column 'id' hold .*pass node='id', or name the index"
    ):
        found(EDGES, nodes)
    assert_right(found(EDGES, nodes, node="id"))


@pytest.mark.parametrize("stored", [False, True])
def test_an_index_that_lacks_ends_leads_to_the_column_that_has_them(tmp_path, stored):
    nodes = UNNAMED.set_index(np.arange(N) + 1000)
    if stored:
        nodes.to_parquet(tmp_path / "nodes.parquet")
        nodes = tmp_path / "nodes.parquet"
    with pytest.raises(ColumnError, match=r"its index lacks nodes that edges name, but its column 'id' holds them"):
        found(EDGES, nodes)


def test_an_index_that_lacks_ends_without_such_a_column_is_told_as_ever():
    with pytest.raises(InputError, match=r"edges name nodes that feats does not have, such as .*\(ids of feats are"):
        found(EDGES, BARE.set_index(np.arange(N) + 1000))


def test_an_index_that_repeats_values_is_refused():
    nodes = pd.concat([BARE.iloc[:20], BARE.iloc[20:].reset_index(drop=True)])
    with pytest.raises(
        ColumnError, match=r"its index repeats values: name the column of ids with node=, or .*node=None"
    ):
        found(EDGES, nodes)
    with pytest.raises(ColumnError, match="column 'id' looks like node ids"):
        found(EDGES, nodes.assign(id=range(N)))
    assert_right(found(EDGES, nodes, node=None))


# Edges beyond the rows


def arrays(edges, n_rows=N, **columns):
    return read(edges, GRAPH.features[:n_rows], GRAPH.labels[:n_rows], columns=Columns(**columns))


@pytest.mark.parametrize("node", ["node", None])
def test_edges_beyond_the_rows_of_an_array(node):
    with pytest.raises(InputError) as caught:
        arrays(GRAPH.edge_index * 10, node=node)
    assert str(caught.value) == (
        "edges name nodes that feats does not have: feats is an array of 40 rows, so that ids are the row numbers 0 "
        f"to 39, but edges name nodes from {10 * ENDS[0]} to {10 * ENDS[-1]}: pass feats as a table with a column of "
        "ids"
    )


def test_ids_that_count_from_one():
    every = np.stack([np.arange(N), np.roll(np.arange(N), 1)]) + 1
    with pytest.raises(InputError, match=r"edges name nodes from 1 to 40: if ids count from 1, subtract 1 from edges"):
        arrays(every)
    with pytest.raises(InputError, match=r"name nodes from -1 to 38: pass feats as a table"):
        arrays(every - 2)


def test_text_beside_an_array():
    edges = pd.DataFrame({"src": ["a", "b"], "dst": ["b", "c"]})
    with pytest.raises(
        InputError, match=r"array of 40 rows, .* but edges name 'a': pass feats as a table with a column"
    ):
        arrays(edges)


def test_edges_beyond_numbered_rows_of_a_table(load):
    with pytest.raises(
        InputError, match=r"feats has 39 rows and no column 'node', .*: name its column of ids with node="
    ):
        found(load(EDGES), load(BARE.iloc[:-1]))
    with pytest.raises(InputError, match="feats has 39 rows, so that ids are the row numbers 0 to 38"):
        found(load(EDGES), load(BARE.iloc[:-1]), node=None)


# What it costs


def test_only_columns_that_may_hold_ids_are_read_from_a_file(tmp_path, monkeypatch):
    BARE.assign(code=np.arange(N) // 3 * 30).to_parquet(tmp_path / "nodes.parquet", index=False)
    looked = []
    monkeypatch.setattr(parquet.id_columns, "look_at", lambda name, *_: looked.append(name))
    assert found(EDGES, tmp_path / "nodes.parquet").warnings == [NUMBERED]
    assert looked == ["code"]


def test_columns_are_looked_at_only_without_a_column_of_ids(monkeypatch):
    monkeypatch.setattr(id_columns, "look_at", None)
    assert_right(found(EDGES, SHUFFLED))
    assert_right(found(EDGES, SHUFFLED.set_index("node")))
    assert_right(found(EDGES, BARE, node=None))
