"""Training marks: which words are read, which are refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from herald_gpu.errors import InputError
from herald_gpu.io.marks import Reading, read_marks, together

NAME = "feats column 'mine'"


@pytest.mark.parametrize("dtype", ["bool", "boolean", "bool[pyarrow]", "object"])
def test_booleans_are_read_without_a_word(dtype):
    found = read_marks(pd.Series([True, False, True], dtype=dtype), NAME)
    assert_array_equal(found.train, [True, False, True])
    assert found.train.dtype == bool
    assert found.notes == []


@pytest.mark.parametrize(
    ("values", "how"),
    [
        ([1, 0, 1], "0/1"),
        ([1.0, 0.0, 1.0], "0/1"),
        (["1", "0", "1"], "0/1"),
        (["TRUE", "False", "true"], "true/false"),
        (["Yes", "no ", "YES"], "yes/no"),
        (["y", "N", "Y"], "y/n"),
        (pd.Categorical(["y", "n", "y"]), "y/n"),
        (pd.array([1, 0, 1], dtype="Int64"), "0/1"),
        (pd.array(["y", "n", "y"], dtype="string"), "y/n"),
    ],
)
def test_pairs_of_words_mark_training_nodes(values, how):
    found = read_marks(pd.Series(values), NAME)
    assert found.train.tolist() == [True, False, True]
    assert (found.validation, found.test) == (None, None)
    assert found.notes == [f"column 'mine' is read as {how}: 2 of 3 nodes are for training"]


def test_words_tell_all_parts():
    words = ["Train", "training", "tr", "val", "VALID", "validation", "dev", "test", "testing", "unused", "none"]
    found = read_marks(pd.Series(words), NAME)
    assert np.flatnonzero(found.train).tolist() == [0, 1, 2]
    assert np.flatnonzero(found.validation).tolist() == [3, 4, 5, 6]
    assert np.flatnonzero(found.test).tolist() == [7, 8]
    assert found.notes == ["column 'mine' is read as words: 3 train, 4 validation, 2 test, 2 unused nodes"]


@pytest.mark.parametrize(
    ("values", "seen"),
    [
        ([0, 1, 2], r"\[0, 1, 2\]"),
        ([-1, 1, 1], r"\[-1, 1\]"),
        ([0.5, 1.0, 0.0], r"\[0.5, 1.0, 0.0\]"),
        (["yes", "false", "no"], r"\['yes', 'false', 'no'\]"),
        (["train", "y", "test"], r"\['train', 'y', 'test'\]"),
        (["a", "b", "c"], r"\['a', 'b', 'c'\]"),
        ([[1], [2], [3]], "'.1.'"),
        (range(100), r"\[0, 1, 2, 3, 4, ...\]"),
    ],
)
def test_what_is_not_understood_is_refused_with_the_values_seen(values, seen):
    with pytest.raises(InputError, match=f"{NAME} has the values .*{seen}.*: write 0/1, true/false, yes/no") as caught:
        read_marks(pd.Series(values), NAME)
    assert "astype" not in str(caught.value)


@pytest.mark.parametrize("values", [[True, None, False], [1, None, 0], ["train", None, "test"]])
def test_missing_marks_are_counted_and_refused(values):
    with pytest.raises(InputError, match=f"{NAME} has 1 missing values: write false, 0 or no there, or unused"):
        read_marks(pd.Series(values), NAME)


def test_partitions_are_read_with_one_vocabulary():
    def part(values):
        return read_marks(pd.Series(values), NAME).reading

    assert together([]) is None
    both = together([part(["train", "val"]), part(["Test", "train"])])
    assert both == Reading(NAME, ["train", "val", "Test"], {"train": 2, "validation": 1, "test": 1, "unused": 0})
    with pytest.raises(InputError, match="has the values"):
        together([part(["train", "val"]), part(["y", "n"])])
