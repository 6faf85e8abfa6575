"""Rows on disk: nothing is lost, nothing is there twice."""

from __future__ import annotations

import importlib.util
import math
import subprocess
import sys

import pandas as pd
import pytest

from herald_gpu.errors import FileFormatError, MissingDependencyError
from herald_gpu.experiments.cells import Cell, Condensation
from herald_gpu.experiments.store import Store, write


def cell(seed=0, *, ratio=0.01, change="", model="GCN"):
    return Cell(Condensation("cora", "herald", "true", ratio, change), model, "published", seed)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data" / "rows.csv"


@pytest.mark.parametrize("ratio", [1.0, 0.0001, 0.005, 0.03, 1 / 3, 0.1234567890123, 1e-7])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_key_reads_back_as_it_was_written(tmp_path, ratio, suffix):
    wanted = [cell(ratio=ratio), cell(7, ratio=ratio, change="alpha0=0.2", model="")]
    path = tmp_path / f"rows.{suffix}"
    Store(path).add((one, {"status": "ok"}) for one in wanted)
    again = Store(path)
    assert all(one in again for one in wanted)
    assert cell(1, ratio=ratio) not in again
    assert again.frame["change"].tolist() == ["", "alpha0=0.2"]
    assert again.frame["model"].tolist() == ["GCN", ""]


def test_text_that_looks_like_a_number_or_nothing_stays_text(path):
    made = Cell(Condensation("nan", "NA", split="3"), "null", "None", 0)
    Store(path).add([(made, {"status": "ok"})])
    assert made in Store(path)


def test_missing_numbers_are_missing_and_counts_stay_whole(path):
    store = Store(path)
    store.add([(cell(0), {"status": "ok", "n_edges": 114_615_893, "accuracy": 1.5})])
    store.add([(cell(1), {"status": "infeasible", "smallest_ratio": 0.02})])
    first, second = path.read_text("utf-8").splitlines()[1:]
    assert ",114615893," in first
    read = Store(path).frame
    assert read["n_edges"][0] == 114_615_893
    assert math.isnan(read["accuracy"][1])
    assert math.isnan(read["smallest_ratio"][0])
    assert "infeasible" in second


def test_a_cell_is_kept_once(path):
    store = Store(path)
    store.add([(cell(), {"accuracy": 1.0})])
    store.add([(cell(), {"accuracy": 2.0}), (cell(1), {"accuracy": 3.0})])
    assert Store(path).frame["accuracy"].tolist() == [1.0, 3.0]


def test_rows_before_an_exception_are_kept(path):
    def rows():
        yield cell(1), {"accuracy": 2.0}
        raise KeyboardInterrupt

    store = Store(path)
    store.add([(cell(0), {"accuracy": 1.0})])
    with pytest.raises(KeyboardInterrupt):
        store.add(rows())
    assert Store(path).frame["accuracy"].tolist() == [1.0]
    assert cell(1) not in store


def test_a_write_that_dies_leaves_the_old_file(path, monkeypatch):
    store = Store(path)
    store.add([(cell(0), {"accuracy": 1.0})])
    before = path.read_bytes()

    def dying(self, part, **options):  # noqa: ARG001
        part.write_text("dataset,meth", encoding="utf-8")
        raise KeyboardInterrupt

    monkeypatch.setattr(pd.DataFrame, "to_csv", dying)
    with pytest.raises(KeyboardInterrupt):
        store.add([(cell(1), {"accuracy": 2.0})])
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == ["rows.csv"]


def test_two_runs_share_a_file(path):
    one, other = Store(path), Store(path)
    one.add([(cell(0), {"accuracy": 1.0})])
    other.add([(cell(1), {"accuracy": 2.0}), (cell(0), {"accuracy": 9.0})])
    one.add([(cell(2), {"accuracy": 3.0})])
    assert Store(path).frame["accuracy"].tolist() == [1.0, 2.0, 3.0]
    assert cell(1) in one


def test_nothing_to_add_writes_nothing(path):
    Store(path).add([])
    assert not path.exists()


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "", "dataset,method\ncora,full\n"])
def test_another_file_is_refused(tmp_path, text):
    path = tmp_path / "rows.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"rows\.csv is no table of results"):
        Store(path)
    assert path.read_text("utf-8") == text


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match="arrow"):
        write(pd.DataFrame({"a": [1]}), tmp_path / "rows.parquet")
    assert list(tmp_path.iterdir()) == []


ADDING = """
import sys
from herald_gpu.experiments import Cell, Condensation, Store
store = Store(sys.argv[1])
for seed in range(20):
    store.add([(Cell(Condensation("cora", sys.argv[2]), "GCN", "published", seed), {"accuracy": 1.0})])
"""


def test_runs_at_the_same_time_lose_nothing(tmp_path):
    path = tmp_path / "rows.csv"
    command = [sys.executable, "-c", ADDING, str(path)]
    running = [subprocess.Popen([*command, method]) for method in ("random", "herding")]  # noqa: S603 - our own
    assert [one.wait() for one in running] == [0, 0]
    assert len(Store(path)) == 40
