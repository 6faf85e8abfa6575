"""Graphs in Parquet files: the same result as from tables, read in blocks, with messages that help."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest

import herald_gpu
from herald_gpu.cli import main
from herald_gpu.datasets import make_graph
from herald_gpu.errors import ColumnError, FileFormatError, InputError, UnsupportedInputError
from herald_gpu.io import parquet, read

OPTIONS = {"ratio": 0.2, "backend": "cpu"}


@pytest.fixture
def tables():
    return make_graph(120, n_features=6, seed=3).to_frames()


def saved(folder, edges, nodes, **options):
    paths = folder / "edges.parquet", folder / "nodes.parquet"
    edges.to_parquet(paths[0], index=False)
    nodes.to_parquet(paths[1], **options)
    return paths


def same(one, other):
    assert one.node_ids.tolist() == other.node_ids.tolist()
    pd.testing.assert_frame_equal(one.features, other.features)
    pd.testing.assert_frame_equal(one.edges, other.edges)


@pytest.mark.parametrize("as_text", [True, False])
def test_files_give_what_tables_give(tmp_path, tables, as_text, monkeypatch):
    monkeypatch.setattr(parquet, "BATCH_ROWS", 7)
    monkeypatch.setattr(read, "BLOCK_ENDS", 11)
    paths = saved(tmp_path, *tables)
    given = map(str, paths) if as_text else paths
    same(herald_gpu.condense(*given, **OPTIONS), herald_gpu.condense(*tables, **OPTIONS))


def test_ids_that_are_words(tmp_path, tables):
    edges, nodes = tables
    edges = edges.map(lambda number: f"n{number:03d}")
    nodes["node"] = nodes["node"].map(lambda number: f"n{number:03d}")
    same(herald_gpu.condense(*saved(tmp_path, edges, nodes), **OPTIONS), herald_gpu.condense(edges, nodes, **OPTIONS))


@pytest.mark.parametrize("start", [0, 5])
@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("name", [None, "node", "who"])
def test_ids_in_an_index(tmp_path, tables, start, counted, name):
    """Pandas stores a range as two numbers, any other index as a column."""
    edges, nodes = tables[0] + start, tables[1].drop(columns="node")
    ids = pd.RangeIndex(start, start + len(nodes))
    nodes.index = (ids if counted else pd.Index(list(ids))).rename(name)
    same(herald_gpu.condense(*saved(tmp_path, edges, nodes), **OPTIONS), herald_gpu.condense(edges, nodes, **OPTIONS))


def test_rows_are_numbered_where_there_are_no_ids(tmp_path, tables):
    edges, nodes = tables
    paths = saved(tmp_path, edges, nodes.drop(columns="node"), index=False)
    same(herald_gpu.condense(*paths, **OPTIONS), herald_gpu.condense(edges, nodes, **OPTIONS))


def test_features_of_a_file_are_transformed(tmp_path, tables):
    paths = saved(tmp_path, *tables)
    small = herald_gpu.condense(*paths, **OPTIONS)
    pd.testing.assert_frame_equal(small.transform(paths[1]), small.transform(tables[1]))
    tables[1].drop(columns=small.feature_ids[0]).to_parquet(paths[1])
    with pytest.raises(InputError, match="lacks the columns"):
        small.transform(paths[1])


def test_mapped_arrays_give_what_arrays_give(tmp_path, monkeypatch):
    monkeypatch.setattr(read, "BLOCK_ENDS", 13)
    graph = make_graph(150, n_features=5, seed=1)
    np.save(tmp_path / "edges.npy", graph.edge_index)
    np.save(tmp_path / "features.npy", graph.features)
    mapped = [np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("edges", "features")]
    one = herald_gpu.condense(*mapped, graph.labels, graph.train, **OPTIONS)
    other = herald_gpu.condense(graph.edge_index, graph.features, graph.labels, graph.train, **OPTIONS)
    assert one.node_ids.tolist() == other.node_ids.tolist()
    np.testing.assert_array_equal(one.features, other.features)


def test_mapped_features_are_not_copied_by_reading(tmp_path):
    graph = make_graph(50, n_features=5, seed=1)
    np.save(tmp_path / "features.npy", graph.features)
    mapped = np.load(tmp_path / "features.npy", mmap_mode="r")
    found = read.read(graph.edge_index, mapped, graph.labels, graph.train, columns=read.Columns())
    assert np.shares_memory(found.features, mapped)


def test_the_command_takes_files(tmp_path, tables, capsys):
    paths = saved(tmp_path, *tables)
    given = ["condense", "--edges", str(paths[0]), "--features", str(paths[1]), "--ratio", "0.2", "--backend", "cpu"]
    assert main(given) == 0
    assert "nodes" in capsys.readouterr().out


# What is wrong is said


def test_a_column_of_ids_that_is_not_there(tmp_path, tables):
    with pytest.raises(ColumnError, match=r"no column 'name' .*correct node="):
        herald_gpu.condense(*saved(tmp_path, *tables), node="name", **OPTIONS)


def test_columns_of_edges_that_are_not_there(tmp_path, tables):
    with pytest.raises(ColumnError, match=r"no column 'from' .*name the column with source="):
        herald_gpu.condense(*saved(tmp_path, *tables), source="from", **OPTIONS)


def test_gaps_among_the_ends(tmp_path, tables):
    edges, nodes = tables
    edges = edges.astype("Int64")
    edges.loc[3, "dst"] = pd.NA
    with pytest.raises(InputError, match="'dst' has 1 missing values"):
        herald_gpu.condense(*saved(tmp_path, edges, nodes), **OPTIONS)


def test_repeated_ids(tmp_path, tables):
    edges, nodes = tables
    nodes.loc[1, "node"] = 0
    with pytest.raises(InputError, match=r"duplicate node ids \[0\]"):
        herald_gpu.condense(*saved(tmp_path, edges, nodes), **OPTIONS)


def test_columns_of_text(tmp_path, tables):
    edges, nodes = tables
    nodes["f0"] = "much"
    with pytest.raises(UnsupportedInputError, match=r"\['f0'\] are text: pass categorical=\['f0'\]"):
        herald_gpu.condense(*saved(tmp_path, edges, nodes), **OPTIONS)


def test_gaps_among_the_features(tmp_path, tables):
    edges, nodes = tables
    nodes["f2"] = nodes["f2"].astype("Float32")
    nodes.loc[7, "f2"] = pd.NA
    with pytest.raises(InputError, match=r"NaN.*'f2' of node 7"):
        herald_gpu.condense(*saved(tmp_path, edges, nodes), **OPTIONS)


def test_another_format(tmp_path, tables):
    edges, nodes = tables
    nodes.to_csv(tmp_path / "nodes.table")
    with pytest.raises(FileFormatError, match=r"nodes\.table is no Parquet file by its name: pass a \.parquet, \.csv"):
        herald_gpu.condense(edges, tmp_path / "nodes.table", **OPTIONS)


def test_a_file_that_is_broken(tmp_path, tables):
    path = tmp_path / "nodes.parquet"
    path.write_bytes(b"PAR1 and no more")
    with pytest.raises(FileFormatError, match="cannot be read as Parquet"):
        herald_gpu.condense(tables[0], path, **OPTIONS)


def test_no_file(tmp_path, tables):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        herald_gpu.condense(tables[0], tmp_path / "nowhere.parquet", **OPTIONS)


def id_columns_of(n):
    import pyarrow as pa

    day = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    return {
        "dictionary": pa.array([f"n{row:03}" for row in range(n)]).dictionary_encode(),
        "time zone": pa.array([day + dt.timedelta(days=row) for row in range(n)]),
        "time of day": pa.array([dt.time(0, row) for row in range(n)]),
        "float16": pa.array(np.arange(n).astype(np.float16)),
        "lists": pa.array([[row] for row in range(n)]),
    }


@pytest.mark.parametrize("name", id_columns_of(1))
@pytest.mark.parametrize("given", ["files", "tables"])
def test_ids_of_every_arrow_type_are_read_or_refused(tmp_path, name, given):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    n, rng = 40, np.random.default_rng(0)
    ids, ends = id_columns_of(n)[name], rng.integers(0, n, (2, 120))
    nodes = pa.table({"node": ids, "label": pa.array(np.arange(n) % 3), "f0": pa.array(rng.normal(size=n))})
    edges = pa.table({"src": ids.take(pa.array(ends[0])), "dst": ids.take(pa.array(ends[1]))})
    paths = tmp_path / "edges.parquet", tmp_path / "nodes.parquet"
    for table, path in zip((edges, nodes), paths, strict=True):
        pq.write_table(table, path)
    pair = paths if given == "files" else (edges, nodes)
    if name in ("float16", "lists"):
        with pytest.raises(InputError, match="make them integers or text"):
            herald_gpu.condense(*pair, ratio=0.5)
        return
    plain = herald_gpu.condense(ends, np.asarray(nodes["f0"])[:, None], np.asarray(nodes["label"]), ratio=0.5)
    small = herald_gpu.condense(*pair, ratio=0.5)
    real = np.asarray(plain.node_ids)[~np.asarray(plain.is_landmark)]
    told = [str(one) for one in (small.node_ids.to_pylist() if given == "tables" else small.node_ids)]
    assert told[: len(real)] == [str(ids[int(row)].as_py()) for row in real]
