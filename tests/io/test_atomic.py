"""Files and folders: all or nothing, and nothing is replaced by chance."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from herald_gpu.errors import InputError
from herald_gpu.io import atomic
from herald_gpu.io.atomic import check_file, check_folder, whole_file, whole_folder, would_replace


def content(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def fill(folder, text):
    (folder / "a").write_text(text)
    (folder / "b").write_text(text)


def fail(error, path, text):
    path.write_text(text)
    raise error


def test_a_file_appears_and_is_replaced(tmp_path):
    for text in ("first", "second"):
        with whole_file(tmp_path / "x.csv", overwrite=text == "second") as beside:
            beside.write_text(text)
            assert beside.suffix == ".csv"
        assert content(tmp_path) == {"x.csv": text}


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, SystemExit])
def test_a_file_that_is_not_finished(tmp_path, error):
    (tmp_path / "x").write_text("old")
    with pytest.raises(error), whole_file(tmp_path / "x", overwrite=True) as beside:
        fail(error, beside, "half")
    assert content(tmp_path) == {"x": "old"}


def test_a_folder_appears_and_is_replaced(tmp_path):
    for text in ("first", "second"):
        with whole_folder(tmp_path / "x", ("a", "b"), overwrite=text == "second") as beside:
            fill(beside, text)
        assert content(tmp_path / "x") == {"a": text, "b": text}
        assert [path.name for path in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("old", [True, False])
def test_a_folder_that_is_not_finished(tmp_path, error, old):
    if old:
        (tmp_path / "x").mkdir()
        fill(tmp_path / "x", "old")
    with pytest.raises(error), whole_folder(tmp_path / "x", ("a", "b"), overwrite=True) as beside:
        fail(error, beside / "a", "half")
    assert [path.name for path in tmp_path.iterdir()] == (["x"] if old else [])
    assert not old or content(tmp_path / "x") == {"a": "old", "b": "old"}


def test_a_folder_that_cannot_be_moved_leaves_the_old_one(tmp_path, monkeypatch):
    (tmp_path / "x").mkdir()
    fill(tmp_path / "x", "old")
    rename = type(tmp_path).rename
    calls = []

    def second_fails(path, target):
        calls.append(path)
        if len(calls) == 2:
            raise OSError
        return rename(path, target)

    monkeypatch.setattr(type(tmp_path), "rename", second_fails)
    moved = whole_folder(tmp_path / "x", ("a", "b"), overwrite=True)
    with pytest.raises(OSError), moved as beside:  # noqa: PT011 - raised above
        fill(beside, "new")
    assert content(tmp_path / "x") == {"a": "old", "b": "old"}
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_places_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a folder: pass a file name"), whole_file(tmp_path):
        pass
    with pytest.raises(InputError, match="is a file: pass the name of a folder"), whole_folder(tmp_path / "file", ()):
        pass
    with pytest.raises(InputError, match="does not exist, create it first"), whole_folder(tmp_path / "no" / "x", ()):
        pass
    with pytest.raises(InputError, match="other files in it, such as 'file'"), whole_folder(tmp_path, ("a",)):
        pass
    assert content(tmp_path) == {"file": ""}


# What is there already


def test_an_existing_file_is_refused_and_left_alone(tmp_path):
    (tmp_path / "x").write_text("mine")
    with pytest.raises(InputError, match=r"path='.*x' exists: pass overwrite=True to replace it, or another path"):
        check_file(tmp_path / "x")
    with pytest.raises(InputError, match="exists"), whole_file(tmp_path / "x"):
        pytest.fail("it was to be refused before the work")
    check_file(tmp_path / "x", overwrite=True)
    assert content(tmp_path) == {"x": "mine"}


def test_a_file_that_appears_meanwhile_is_left_alone(tmp_path):
    def write(beside):
        beside.write_text("ours")
        (tmp_path / "x").write_text("mine")

    with pytest.raises(InputError, match="exists"), whole_file(tmp_path / "x") as beside:
        write(beside)
    assert content(tmp_path) == {"x": "mine"}


def test_an_existing_folder_is_refused_unless_it_is_empty(tmp_path):
    (tmp_path / "x").mkdir()
    check_folder(tmp_path / "x", ("a", "b"))
    (tmp_path / "x" / "a").write_text("mine")
    with pytest.raises(InputError, match="exists: pass overwrite=True"):
        check_folder(tmp_path / "x", ("a", "b"))
    with pytest.raises(InputError, match="exists"), whole_folder(tmp_path / "x", ("a", "b")):
        pytest.fail("it was to be refused before the work")
    check_folder(tmp_path / "x", ("a", "b"), overwrite=True)
    (tmp_path / "x" / "c").write_text("mine")
    with pytest.raises(InputError, match="other files in it, such as 'c'"):
        check_folder(tmp_path / "x", ("a", "b"), overwrite=True)
    assert content(tmp_path / "x") == {"a": "mine", "c": "mine"}


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_a_link_stays_and_its_file_is_replaced(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "x").write_text("old")
    (tmp_path / "x").symlink_to(tmp_path / "far" / "x")
    with pytest.raises(InputError, match="exists"):
        check_file(tmp_path / "x")
    with whole_file(tmp_path / "x", overwrite=True) as beside:
        beside.write_text("new")
    assert (tmp_path / "x").is_symlink()
    assert content(tmp_path / "far") == {"x": "new"}
    (tmp_path / "folder").symlink_to(tmp_path / "far")
    with whole_folder(tmp_path / "folder", ("x",), overwrite=True) as beside:
        (beside / "x").write_text("newer")
    assert (tmp_path / "folder").is_symlink()
    assert content(tmp_path / "far") == {"x": "newer"}


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_a_link_that_leads_nowhere_is_written_through(tmp_path):
    (tmp_path / "x").symlink_to(tmp_path / "new")
    with whole_file(tmp_path / "x") as beside:
        beside.write_text("new")
    assert (tmp_path / "x").is_symlink()
    assert (tmp_path / "new").read_text() == "new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
def test_what_is_no_file_is_never_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is a device or a pipe"):
        check_file(tmp_path / "pipe", overwrite=True)
    assert (tmp_path / "pipe").is_fifo()


# Places that take no file


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc takes no files, not even from root")
def test_a_folder_that_takes_no_file_is_told_before_the_work():
    with pytest.raises(InputError, match=r"path='/proc/x' cannot be written in the folder '/proc' \("):
        check_file("/proc/x")
    with pytest.raises(InputError, match="cannot be written"):
        check_folder("/proc/x", ("a",))


def test_a_denied_permission_is_told_with_the_path(tmp_path, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied", "hidden name")

    monkeypatch.setattr(Path, "touch", denied)
    with pytest.raises(InputError, match=r"path='.*x' cannot be written in the folder '.*' \(Permission denied\)"):
        check_file(tmp_path / "x")


def test_checks_leave_nothing_behind(tmp_path):
    check_file(tmp_path / "x")
    check_folder(tmp_path / "y", ("a",))
    assert list(tmp_path.iterdir()) == []


# Outputs over inputs


@pytest.fixture
def tree(tmp_path, monkeypatch):
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "edges.csv").write_text("src,dst")
    (tmp_path / "in" / "deep" / "part.parquet").write_text("rows")
    (tmp_path / "new").mkdir()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "soft").symlink_to("in/edges.csv")
    (tmp_path / "softer").symlink_to("soft")
    (tmp_path / "folder").symlink_to("in")
    (tmp_path / "hard").hardlink_to("in/edges.csv")
    (tmp_path / "new" / "edges.csv").hardlink_to("in/edges.csv")
    return tmp_path


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
@pytest.mark.parametrize(
    ("output", "given"),
    [
        ("in/edges.csv", "in/edges.csv"),
        ("in/deep/../edges.csv", "in/edges.csv"),
        ("soft", "in/edges.csv"),
        ("softer", "in/edges.csv"),
        ("in/edges.csv", "softer"),
        ("hard", "in/edges.csv"),
        ("folder/edges.csv", "hard"),
        ("in", "in/edges.csv"),
        ("folder", "in/deep/part.parquet"),
        ("new", "in/edges.csv"),
        ("in/deep/part.parquet", "in"),
        ("in/deep", "folder"),
    ],
)
def test_an_output_that_is_an_input_is_seen_by_any_name(tree, output, given):
    assert would_replace(Path(output), Path(given))
    assert would_replace(tree / output, Path(given))


@pytest.mark.parametrize(
    ("output", "given"),
    [("in/small.herald", "in"), ("new", "in"), ("other", "in/edges.csv"), ("in/edges.csv", "none.csv")],
)
def test_other_outputs_are_let_through(tmp_path, monkeypatch, output, given):
    (tmp_path / "in").mkdir()
    (tmp_path / "new").mkdir()
    (tmp_path / "in" / "edges.csv").write_text("src,dst")
    monkeypatch.chdir(tmp_path)
    assert not would_replace(Path(output), Path(given))


def test_the_name_beside_keeps_its_ending(tmp_path):
    assert atomic._beside(tmp_path / "x.tar.gz").suffix == ".gz"
