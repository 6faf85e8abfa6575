"""CSV files as they are in the world, from Python; those that need an option say which."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import herald_gpu
from herald_gpu.datasets import make_graph, read_table
from herald_gpu.errors import ColumnError, ConfigError, FileFormatError, UnsupportedInputError
from herald_gpu.io import csv
from herald_gpu.io.read import Columns

OPTIONS = {"ratio": 0.3, "backend": "cpu"}


@pytest.fixture
def tables():
    edges, nodes = make_graph(120, n_features=6, seed=3).to_frames()
    return edges, nodes.astype({f"f{i}": np.float64 for i in range(6)}).round(3)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def same(one, other):
    assert one.node_ids.tolist() == other.node_ids.tolist()
    pd.testing.assert_frame_equal(one.features, other.features)
    pd.testing.assert_frame_equal(one.edges, other.edges)


def write(text, name="nodes.csv", encoding="utf-8"):
    with open(name, "w", encoding=encoding, newline="") as stream:  # noqa: PTH123 - a name in the folder at hand
        stream.write(text)
    return name


# What is read


@pytest.mark.parametrize(
    ("ending", "given", "written"),
    [
        ("csv", None, {}),
        ("csv.gz", None, {}),
        ("tsv", None, {"sep": "\t"}),
        ("txt", {"separator": "|"}, {"sep": "|"}),
        ("txt.gz", {"separator": "\\t"}, {"sep": "\t"}),
        ("csv", {"separator": ";", "decimal": ","}, {"sep": ";", "decimal": ","}),
        ("csv", {"encoding": "latin-1"}, {"encoding": "latin-1"}),
        ("csv", {"encoding": "utf-16"}, {"encoding": "utf-16"}),
        ("csv", None, {"encoding": "utf-8-sig", "quoting": 1}),
    ],
    ids=["plain", "packed", "tabs", "bars", "packed tabs", "semicolons", "latin-1", "utf-16", "mark and quotes"],
)
def test_paths_give_what_tables_give(folder, tables, ending, given, written):
    edges, nodes = tables
    nodes = nodes.rename(columns={"f1": "größe"})
    paths = folder / f"edges.{ending}", str(folder / f"nodes.{ending}")
    for frame, path in zip((edges, nodes), paths, strict=True):
        frame.to_csv(path, index=False, **written)
    small = herald_gpu.condense(*paths, csv=given, **OPTIONS)
    same(small, herald_gpu.condense(edges, nodes, **OPTIONS))
    pd.testing.assert_frame_equal(small.transform(paths[1], csv=given), small.transform(nodes))
    pd.testing.assert_frame_equal(read_table(paths[1], csv=given), nodes)


def test_options_are_for_the_file_that_they_fit(folder, tables):
    edges, nodes = tables
    edges.to_csv("edges.csv", index=False)
    nodes.to_csv("nodes.csv", index=False, sep=";", decimal=",")
    small = herald_gpu.condense("edges.csv", folder / "nodes.csv", csv={"separator": ";", "decimal": ","}, **OPTIONS)
    same(small, herald_gpu.condense(edges, nodes, **OPTIONS))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("shift", [0, 5])
def test_the_index_that_pandas_wrote_is_no_feature(tables, shift):
    edges, nodes = tables
    nodes.index += shift
    (edges + shift).to_csv("edges.csv")
    nodes.drop(columns="node").to_csv("nodes.csv")
    nodes["node"] += shift
    options = OPTIONS
    if shift:  # it does not count the rows: it may be ids
        with pytest.raises(ColumnError, match="node='Unnamed: 0'"):
            herald_gpu.condense("edges.csv", "nodes.csv", **OPTIONS)
        options = {**OPTIONS, "node": "Unnamed: 0"}
    small = herald_gpu.condense("edges.csv", "nodes.csv", **options)
    assert "Unnamed: 0" not in small.feature_ids
    assert small.node_ids.tolist() == herald_gpu.condense(edges + shift, nodes, **OPTIONS).node_ids.tolist()


@pytest.mark.usefixtures("folder")
def test_text_and_categories(tables):
    edges, nodes = tables
    nodes["zip"] = np.where(nodes["f0"] > 0, "00501", "10001")
    edges.to_csv("edges.csv", index=False)
    nodes.to_csv("nodes.csv", index=False)
    small = herald_gpu.condense("edges.csv", "nodes.csv", categorical="zip", **OPTIONS)
    same(small, herald_gpu.condense(edges, nodes, categorical="zip", **OPTIONS))
    assert small.categories == {"zip": ["00501", "10001"]}
    others = nodes[nodes["zip"] == "10001"].reset_index(drop=True)
    others.to_csv("others.csv", index=False)  # where all are whole numbers
    pd.testing.assert_frame_equal(small.transform("others.csv"), small.transform(others))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_ids_that_begin_with_zeros_stay_as_they_are(tables, ending):
    edges, nodes = (
        frame.assign(**{n: frame[n].map("{:03d}".format) for n in names})
        for frame, names in ((tables[0], ["src", "dst"]), (tables[1], ["node"]))
    )
    edges.to_csv(f"edges.{ending}", index=False)
    nodes.to_csv(f"nodes.{ending}", index=False)
    small = herald_gpu.condense(f"edges.{ending}", f"nodes.{ending}", **OPTIONS)
    same(small, herald_gpu.condense(edges, nodes, **OPTIONS))
    assert "000" in small.node_ids.tolist() or all(len(node) >= 3 for node in small.node_ids.tolist())


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("which", ["nodes", "edges"])
def test_one_file_with_zeros_or_words_tells_for_both(tables, which):
    """Ids 100 to 219 in one file look like numbers; an id 007 or x1 in the other says that they are text."""
    edges, nodes = tables[0] + 100, tables[1].assign(node=tables[1]["node"] + 100)
    more = nodes.tail(1).assign(node="007")
    if which == "nodes":
        nodes = pd.concat([nodes, more], ignore_index=True)
        edges.to_csv("edges.csv", index=False)
        nodes.to_csv("nodes.csv", index=False)
        pairs, table = csv.read_graph("edges.csv", "nodes.csv", Columns())
    else:
        pd.DataFrame({"src": ["0100", "101"], "dst": [102, 103]}).to_csv("edges.csv", index=False)
        nodes.to_csv("nodes.csv", index=False)
        pairs, table = csv.read_graph("edges.csv", "nodes.csv", Columns())
    assert pairs["src"].iloc[-1] == str(pairs["src"].iloc[-1])
    assert pairs["dst"].iloc[0] == str(pairs["dst"].iloc[0])
    assert table["node"].iloc[0] == "100"


@pytest.mark.usefixtures("folder")
def test_numbers_of_other_columns_may_begin_with_zeros():
    write("node,label,f0\n1,a,007\n2,b,010\n")
    _, table = csv.read_graph(None, "nodes.csv", Columns())
    assert table["node"].tolist() == [1, 2]
    assert table["f0"].tolist() == [7, 10]


@pytest.mark.usefixtures("folder")
def test_mixed_columns_raise_no_warning_of_pandas():
    write("node,label,f0\n" + "".join(f"{i},{i % 2},{i if i < 300_000 else 'x'}\n" for i in range(300_010)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read_table("nodes.csv")) == 300_010


# What is recognised


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("separator", "ending", "shown"),
    [(";", "csv", "';'"), ("\t", "csv", r"'\\t'"), ("|", "txt", r"'\|'"), (",", "tsv", "','"), (" ", "txt", "' '")],
)
def test_another_separator(tables, separator, ending, shown):
    tables[1].to_csv(f"nodes.{ending}", index=False, sep=separator)
    with pytest.raises(FileFormatError, match=rf"looks separated by {shown}: pass csv=\{{'separator': {shown}\}}"):
        herald_gpu.condense(tables[0], f"nodes.{ending}", **OPTIONS)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("encoding", "text", "says"),
    [
        ("latin-1", "größe", r"byte 0xf6 at position 7\): pass csv=\{'encoding': 'latin-1'\}"),
        ("cp1252", "„a“", r"byte 0x84 at position 5\): pass csv=\{'encoding': 'cp1252'\}"),
        ("utf-16", "a", r"byte 0x.. at position 0\): pass csv=\{'encoding': 'utf-16'\}"),
    ],
)
def test_another_encoding(encoding, text, says):
    write(f"node,{text},label\n1,1,1\n", encoding=encoding)
    with pytest.raises(FileFormatError, match=f"nodes.csv is not utf-8 .*{says}"):
        csv.read_graph(None, "nodes.csv", Columns())


@pytest.mark.usefixtures("folder")
def test_the_wrong_encoding_was_given():
    write("node,größe,label\n1,1,1\n")
    with pytest.raises(FileFormatError, match=r"is not ascii .*pass csv=\{'encoding': 'utf-8'\}"):
        csv.read_graph(None, "nodes.csv", Columns(), {"encoding": "ascii"})


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("values", "given", "error", "says"),
    [
        (["0,5", "-12,25", "3"], None, FileFormatError, r"'f' has numbers such as '0,5': pass csv=\{'decimal': ','\}"),
        (
            ["1,234", "56", "7,654,321.5"],
            None,
            FileFormatError,
            r"'1,234': write thousands without ','; if it is the dec",
        ),
        (["1.234,5", "6,5"], {"separator": ";", "decimal": ","}, FileFormatError, r"write thousands without '\.'"),
        (["0.5", "1.5x"], {"separator": ";", "decimal": ","}, UnsupportedInputError, r"\['f'\] are text"),
        (["2020-01-02", "2021-10-12 10:00"], None, UnsupportedInputError, r"'f' has dates such as .*drop=\['f'\]"),
        (["31.12.2020"], {"separator": ";", "decimal": ","}, UnsupportedInputError, r"dates such as '31.12.2020'"),
        (["a, b", "c"], None, UnsupportedInputError, r"\['f'\] are text: pass categorical="),
    ],
)
def test_numbers_and_dates_in_another_spelling(values, given, error, says):
    rows = [values[i % len(values)] for i in range(4)]
    frame = pd.DataFrame({"node": range(4), "label": [0, 1, 0, 1], "f": rows})
    frame.to_csv("nodes.csv", index=False, sep=";" if given else ",")
    edges = pd.DataFrame({"src": [0, 1], "dst": [2, 3]})
    with pytest.raises(error, match=says):
        herald_gpu.condense(edges, "nodes.csv", csv=given, **OPTIONS)
    csv.read_graph(edges, "nodes.csv", Columns(drop="f"), given)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("text", ["0 1\n1 2\n", "0,1\n1,2\n", "5\t5\n1\t2\n", "0.5;1\n"])
def test_edges_without_a_header(text):
    write(text, "edges.txt")
    with pytest.raises(
        FileFormatError, match=r"edges.txt has no header row, its first line begins with .*such as src, dst"
    ):
        csv.read_graph("edges.txt", None, Columns())


@pytest.mark.usefixtures("folder")
def test_comments_before_the_edges():
    write("# Nodes: 3 Edges: 2\n0\t1\n1\t2\n", "edges.txt")
    with pytest.raises(FileFormatError, match=r"no header row.*remove comments"):
        csv.read_graph("edges.txt", None, Columns())


@pytest.mark.usefixtures("folder")
def test_nodes_without_a_header_and_with_odd_ones():
    write("0,red,0.5,1\n1,blue,0.1,0\n")
    with pytest.raises(FileFormatError, match=r"nodes\.csv has no header row.*such as node, label"):
        csv.read_graph(None, "nodes.csv", Columns())
    write("0,1,2\n0.5,1.5,2.5\n")  # the names that pandas gives columns without any
    assert csv.read_graph(None, "nodes.csv", Columns())[1].columns.tolist() == ["0", "1", "2"]
    write("id,0,1,2\n7,0.5,1.5,2.5\n")
    assert csv.read_graph(None, "nodes.csv", Columns())[1].columns.tolist() == ["id", "0", "1", "2"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("row", ["1,0,5", "1,2,"])
def test_rows_with_more_values_than_names(row):
    write(f"node,f0\n{row}\n{row}\n")
    with pytest.raises(FileFormatError, match="2 names in its header and 3 values in a row: add the missing name"):
        read_table("nodes.csv")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("text", ["", "a,b\n1,2\n1,2,3,4,5\n"])
def test_what_is_no_table(text):
    write(text)
    with pytest.raises(FileFormatError, match="cannot be read as its name says"):
        read_table("nodes.csv")


def test_no_file(folder):
    with pytest.raises(FileNotFoundError):
        herald_gpu.condense(folder / "edges.csv", folder / "nodes.csv", **OPTIONS)


# Options


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"seperator": ";"}, r"has the key 'seperator', which is not known: did you mean 'separator'\?"),
        ({"x": ";"}, "the key 'x', which is not known: pass some of 'separator', 'decimal', 'encoding'"),
        ({"separator": ";;"}, "'separator': ';;'} is not valid: pass one character"),
        ({"separator": 5}, "'separator': 5} is not valid: pass text"),
        ({"decimal": ";"}, "'decimal': ';'} is not valid: pass '.' or ','"),
        ({"encoding": "utf-9"}, "'encoding': 'utf-9'} is not known: pass 'utf-8', 'latin-1'"),
        ({"decimal": ","}, "is also what separates the values of nodes.csv: pass another separator"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_options_that_cannot_be(tables, given, says):
    tables[1].to_csv("nodes.csv", index=False)
    with pytest.raises(ConfigError, match=says):
        herald_gpu.condense(tables[0], "nodes.csv", csv=given, **OPTIONS)


def test_options_without_a_file(tables):
    small = herald_gpu.condense(*tables, **OPTIONS)
    for call in (
        lambda: herald_gpu.condense(*tables, csv={"decimal": ","}, **OPTIONS),
        lambda: small.transform(tables[1], csv={"decimal": ","}),
    ):
        with pytest.raises(ConfigError, match="is for paths of CSV files, and none is given"):
            call()


@pytest.mark.usefixtures("folder")
def test_names_of_columns_are_checked_in_files_too(tables):
    tables[1].to_csv("nodes.csv", index=False)
    with pytest.raises(ColumnError, match=r"no columns \['city'\]"):
        herald_gpu.condense(tables[0], "nodes.csv", drop="city", **OPTIONS)
