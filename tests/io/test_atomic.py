"""Files and folders: all or nothing."""

from __future__ import annotations

import pytest

from herald_gpu.errors import InputError
from herald_gpu.io.atomic import whole_file, whole_folder


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
        with whole_file(tmp_path / "x.csv") as beside:
            beside.write_text(text)
            assert beside.suffix == ".csv"
        assert content(tmp_path) == {"x.csv": text}


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, SystemExit])
def test_a_file_that_is_not_finished(tmp_path, error):
    (tmp_path / "x").write_text("old")
    with pytest.raises(error), whole_file(tmp_path / "x") as beside:
        fail(error, beside, "half")
    assert content(tmp_path) == {"x": "old"}


def test_a_folder_appears_and_is_replaced(tmp_path):
    for text in ("first", "second"):
        with whole_folder(tmp_path / "x", ("a", "b")) as beside:
            fill(beside, text)
        assert content(tmp_path / "x") == {"a": text, "b": text}
        assert [path.name for path in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("old", [True, False])
def test_a_folder_that_is_not_finished(tmp_path, error, old):
    if old:
        (tmp_path / "x").mkdir()
        fill(tmp_path / "x", "old")
    with pytest.raises(error), whole_folder(tmp_path / "x", ("a", "b")) as beside:
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
    with pytest.raises(OSError), whole_folder(tmp_path / "x", ("a", "b")) as beside:  # noqa: PT011 - raised above
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
