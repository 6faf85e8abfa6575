"""Labels and training marks: what is unknown, what is a class, what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import strangers
import torch
from numpy.testing import assert_array_equal

from herald_gpu.errors import InputError, UnsupportedInputError
from herald_gpu.io.labels import (
    aligned,
    count_named,
    encode_classes,
    read_labels,
    read_train,
    unlabelled_hint,
    unlabelled_note,
)

IDS = np.array([10, 20, 30, 40])
NAMES = np.array(["a", "b", "c", "d"], dtype=object)
EVERY = np.ones(4, dtype=bool)


def encode(values, train=EVERY, unlabelled=-1):
    return encode_classes(*read_labels(np.asarray(values), unlabelled, "labels"), np.asarray(train), "labels")


# Alignment


@pytest.mark.parametrize(
    "values",
    [
        [1, 2, 3, 4],
        np.array([1, 2, 3, 4]),
        np.array([[1], [2], [3], [4]]),
        pd.Series([1, 2, 3, 4]),
        pd.Series([1, 2, 3, 4], index=IDS),
        pd.Series([4, 2, 1, 3], index=[40, 20, 10, 30]),
        pd.DataFrame({"y": [4, 2, 1, 3]}, index=[40, 20, 10, 30]),
        pl.Series([1, 2, 3, 4]),
        pa.array([1, 2, 3, 4]),
        pa.table({"y": [1, 2, 3, 4]}),
        strangers.Stream(pa.chunked_array([[1, 2, 3, 4]])),
        torch.tensor([1, 2, 3, 4]),
        strangers.ndarray(np.array([1, 2, 3, 4])),
        strangers.Series(pd.Series([4, 2, 1, 3], index=[40, 20, 10, 30])),
    ],
)
def test_entries_come_in_row_order_or_by_id(values):
    entries, known = read_labels(aligned(values, IDS, "labels"), -1, "labels")
    assert entries.tolist() == [1, 2, 3, 4]
    assert known.all()


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ([1, 2, 3], "labels has 3 entries but there are 4 nodes: pass one a node"),
        (pd.Series([1, 2, 3], index=[10, 20, 30]), "labels has 3 entries but there are 4 nodes"),
        (pd.Series([1, 2, 3, 4], index=[10, 20, 30, 50]), "labels has an index that does not hold the node ids"),
        (pd.Series([1, 2, 3, 4], index=[10, 10, 20, 30]), "labels has an index that does not hold the node ids"),
        (7, "labels is a single int: pass one entry a node"),
    ],
)
def test_what_does_not_fit_the_nodes_is_refused(values, match):
    with pytest.raises(InputError, match=match):
        aligned(values, IDS, "labels")


# What is unknown


@pytest.mark.parametrize(
    ("values", "unlabelled"),
    [
        (np.array([0, -1, 1, -1]), -1),
        (np.array([0, 99, 1, 99]), 99),
        (np.array([0, np.nan, 1, np.nan]), -1),
        (np.array([0, np.nan, 1, -1]), -1),
        (np.array(["x", None, "y", None], dtype=object), -1),
        (np.array(["x", "?", "y", "?"]), "?"),
        (np.array(["x", "?", "y", None], dtype=object), "?"),
        (pd.Series([0, None, 1, None], dtype="Int64"), -1),
        (pd.Series([0, None, 1, -1], dtype="Int64"), -1),
        (pd.array([0, None, 1, -1], dtype="Int64"), -1),
        (pd.Series(["x", None, "y", None]), -1),
        (pd.Series(pd.Categorical(["x", None, "y", "?"])), "?"),
        (pd.Series([True, None, False, None], dtype="boolean"), -1),
        (np.array([0, np.nan, 1, np.nan]), None),
        (np.array([0, -1, 1, -1]), np.int64(-1)),
    ],
)
def test_null_and_the_named_value_are_unknown(values, unlabelled):
    _, known = read_labels(values if isinstance(values, pd.Series) else np.asarray(values), unlabelled, "labels")
    assert known.tolist() == [True, False, True, False]


@pytest.mark.parametrize("unlabelled", [-1, 99, None, 2**70])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_whole_numbers_are_read_as_pandas_reads_them(dtype, unlabelled):
    values = np.array([7, 3, 99, 7], dtype=dtype)
    for given in (values, values[:, None]):
        found, known = read_labels(given, unlabelled, "labels")
        wanted, marked = read_labels(pd.Series(values), unlabelled, "labels")
        assert (found.dtype, known.dtype) == (wanted.dtype, marked.dtype)
        assert_array_equal(found, wanted)
        assert_array_equal(known, marked)
        assert set(map(type, found)) == set(map(type, wanted)) == {int}


def test_one_hot_and_multi_label_targets_are_refused():
    with pytest.raises(
        UnsupportedInputError, match=r"labels has shape \(4, 3\): multi-label targets are not supported"
    ):
        read_labels(np.zeros((4, 3)), -1, "labels")


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([[0], [1], [0], [1]]),
        pd.Series([np.array([0, 1])] * 4),
        pd.Series([{"a": 1}, None, None, None]),
        pd.Series([[0], [1], [0], None], dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
        pl.Series([[0], [1, 2], [0], None]).to_pandas(),
        pl.Series([[0], [1, 2], [0], None]),
        pa.array([[0], [1, 2], [0], None]),
        [[0], [1, 2], [0], [1]],
    ],
    ids=["lists", "arrays", "dicts", "arrow lists", "polars column", "polars", "arrow", "ragged"],
)
def test_labels_that_are_lists_are_refused(values):
    with pytest.raises(UnsupportedInputError, match="labels holds lists or the like: multi-label targets are not"):
        read_labels(aligned(values, IDS, "labels"), -1, "labels")


@pytest.mark.parametrize(
    ("values", "unlabelled", "count"),
    [
        ([0, -1, 1, -1], -1, 2),
        ([0, 1, 1, 0], -1, 0),
        ([0, np.nan, 1, -1], -1, 1),
        (["x", "?", None, "?"], "?", 2),
        ([0, -1, 1, -1], None, 0),
    ],
)
def test_nodes_whose_label_means_unknown_are_counted(values, unlabelled, count):
    assert count_named(*read_labels(pd.Series(values), unlabelled, "labels")) == count
    note = unlabelled_note(count, unlabelled, marked=False)
    assert bool(note) == bool(unlabelled_hint(count, unlabelled)) == (count > 0)
    assert unlabelled_note(count, unlabelled, marked=True) == []


# Classes


@pytest.mark.parametrize(
    "values",
    [[3, 7, 5, 3], ["x", "y", "z", "x"], [True, False, True, True], [3.0, 7.0, 5.0, 3.0]],
    ids=["integers", "strings", "booleans", "floats"],
)
def test_values_outside_the_training_set_have_the_number_of_their_class_or_none(values):
    entries = np.empty(4, dtype=object)
    entries[:] = values
    codes, classes = encode_classes(entries, EVERY, np.array([True, True, False, False]), "labels")
    listed = classes.tolist()
    assert codes.tolist() == [listed.index(value) if value in listed else -1 for value in values]


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        ([3, 7, 7, 3], [3, 7]),
        ([-5, 100, -5, 100], [-5, 100]),
        (["no", "yes", "no", "maybe"], ["maybe", "no", "yes"]),
        ([True, False, True, True], [False, True]),
        ([1.0, 2.0, 2.0, 1.0], [1, 2]),
        (np.array([200, 7, 7, 200], dtype=np.uint8), [7, 200]),
    ],
)
def test_classes_are_the_sorted_values(values, classes):
    codes, found = encode(values)
    assert found.tolist() == classes
    assert [type(value) for value in found.tolist()] == [type(value) for value in classes]
    assert found[codes].tolist() == list(values)


def test_a_class_without_training_node_is_unknown():
    codes, classes = encode([0, 1, 2, 2], [True, True, False, False])
    assert classes.tolist() == [0, 1]
    assert codes.tolist() == [0, 1, -1, -1]


def test_labels_outside_training_are_numbered_but_decide_nothing():
    train = [True, True, False, False]
    for rest in ([1, 0], [np.nan, 0.5], [-1, 5]):
        codes, classes = encode([0, 1, *rest], train)
        assert classes.tolist() == [0, 1]
        assert classes.dtype.kind == "i"
        assert codes[:2].tolist() == [0, 1]
    mixed = np.array([0.0, 1.0, "hidden", None], dtype=object)
    assert encode(mixed, train)[0].tolist() == [0, 1, -1, -1]
    assert encode([0.0, 1.0, 1.0, 0.0], train)[0].tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("values", "train", "error", "match"),
    [
        ([-1, -1, -1, -1], EVERY, InputError, "labels has no labelled node: at least two classes"),
        ([0, 1, 0, 1], ~EVERY, InputError, "train marks no node: at least one training node of two classes"),
        ([0, 1, -1, -1], EVERY, InputError, "train marks 2 nodes without a label: label them or leave them out"),
        ([4, 4, 4, 4], EVERY, InputError, r"labels has one class only among training nodes \(4\): at least two"),
        ([4, 4, 5, 5], [True, True, False, False], InputError, "one class only among training nodes"),
        ([0.5, 1.0, 2.0, 1.0], EVERY, UnsupportedInputError, "values such as 0.5: regression targets are not"),
        ([np.inf, 1.0, 2.0, 1.0], EVERY, UnsupportedInputError, "values such as inf: regression targets are not"),
        (
            np.array([1, 2.5, 1, 2], dtype=object),
            EVERY,
            UnsupportedInputError,
            "values such as 2.5: regression targets are not supported",
        ),
        (np.array([1, "a", 1, 2], dtype=object), EVERY, InputError, "mixes types that do not compare: use one type"),
    ],
)
def test_what_gives_no_classes_is_refused(values, train, error, match):
    with pytest.raises(error, match=match):
        encode(values, train)


# Training marks


@pytest.mark.parametrize(
    "train",
    [
        np.array([True, False, True, False]),
        [True, False, True, False],
        np.array([True, False, True, False], dtype=object),
        pd.Series([True, False, True, False]),
        pd.Series([True, False, True, False], dtype="boolean"),
        pd.Series([False, True, True, False], index=[40, 30, 10, 20]),
        pl.Series([True, False, True, False]),
        pa.array([True, False, True, False]),
        strangers.Stream(pa.chunked_array([[True, False, True, False]])),
        torch.tensor([True, False, True, False]),
        strangers.ndarray(np.array([True, False, True, False])),
        strangers.Series(pd.Series([True, False, True, False])),
        [10, 30],
        {30, 10},
        (30, 10, 10),
        np.array([30, 10]),
        pd.Index([30, 10]),
        pd.Series([30, 10]),
        pl.Series([30, 10]),
        torch.tensor([30, 10]),
        strangers.Series(pd.Series([30, 10])),
    ],
    ids=lambda train: f"{type(train).__module__.partition('.')[0]} {type(train).__name__}",
)
def test_a_mask_or_ids_mark_the_training_nodes(train):
    marks = read_train(train, IDS, "train")
    assert marks.train.tolist() == [True, False, True, False]
    assert marks.notes == []


def test_string_and_tuple_ids_mark_them_too():
    assert read_train(["a", "c"], NAMES, "train").train.tolist() == [True, False, True, False]
    pairs = np.empty(2, dtype=object)
    pairs[:] = [(0, 1), (2, 3)]
    assert read_train([(2, 3)], pairs, "train").train.tolist() == [False, True]


def test_no_marks_mark_nothing():
    assert not read_train([], IDS, "train").train.any()


@pytest.mark.parametrize(
    ("train", "note"),
    [
        (np.array([1, 0, 1, 0]), "train is read as 0/1: 2 of 4 nodes are for training"),
        ([1, 0, 1, 0], "train is read as 0/1: 2 of 4 nodes are for training"),
        (np.array([1.0, 0.0, 1.0, 0.0]), "train is read as 0/1: 2 of 4 nodes are for training"),
        (torch.tensor([1, 0, 1, 0], dtype=torch.uint8), "train is read as 0/1: 2 of 4 nodes are for training"),
        (pd.Series([0, 1, 1, 0], index=[40, 30, 10, 20]), "train is read as 0/1: 2 of 4 nodes are for training"),
        (["Yes", "no", "yes", "no"], "train is read as yes/no: 2 of 4 nodes are for training"),
        (pl.Series(["train", "val", "train", "test"]), "train is read as words: 2 train, 1 validation, 1 test nodes"),
    ],
)
def test_zeros_and_ones_and_words_are_a_mask(train, note):
    marks = read_train(train, IDS, "train")
    assert marks.train.tolist() == [True, False, True, False]
    assert marks.notes == [note]


def test_zeros_and_ones_for_two_nodes_are_ids():
    assert read_train([1, 0], np.array([0, 1]), "train").train.tolist() == [True, True]


@pytest.mark.parametrize(
    ("train", "match"),
    [
        (np.array([1.0, 0.0]), r"train has the values \[1.0, 0.0\], which do not say .*: write 0/1.*, or node ids"),
        (np.array([0, 1, 2, 0]), r"train names 4 nodes that feats does not have, such as \[0, 1, 2, 0\]"),
        (np.array([True, False]), "train has 2 entries but there are 4 nodes"),
        (np.ones((4, 2), dtype=bool), r"train has shape \(4, 2\): pass a boolean mask of length 4, or node ids"),
        ([[True, False]] * 4, r"train has shape \(4, 2\)"),
        (True, r"train has shape \(\): pass a boolean mask of length 4"),
        (pd.Series([True, None, True, False], dtype="boolean"), "train has 1 missing values: pass booleans"),
        ([True, None, True, False], "train has 1 missing values"),
        ([10, 11, 12], r"train names 2 nodes that feats does not have, such as \[11, 12\]: correct them"),
        (["a"], r"train names 1 nodes that feats does not have, such as \['a'\]"),
        (pd.Series([True] * 4, index=[1, 2, 3, 4]), "train has an index that does not hold the node ids"),
    ],
)
def test_what_marks_no_nodes_is_refused(train, match):
    with pytest.raises(InputError, match=match):
        read_train(train, IDS, "train")
