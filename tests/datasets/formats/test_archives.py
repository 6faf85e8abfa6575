"""Members of zip archives, found by the end of their path."""

from __future__ import annotations

import zipfile

import pytest

from herald_gpu.datasets.formats.archives import member, opened, stream
from herald_gpu.errors import FileFormatError


@pytest.fixture
def path(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in ("top/raw/edge", "top/other/edge", "top/edged", "__MACOSX/top/lone", "top/lone"):
            archive.writestr(name, name)
    return tmp_path / "a.zip"


def test_the_end_of_a_path_names_a_member(path):
    with opened(path) as archive:
        assert member(archive, "raw/edge", path) == b"top/raw/edge"
        assert member(archive, "edged", path) == b"top/edged"
        assert member(archive, "lone", path) == b"top/lone"
        with stream(archive, "other/edge", path) as file:
            assert file.read() == b"top/other/edge"


@pytest.mark.parametrize(("name", "count"), [("edge", 2), ("w/edge", 0), ("none", 0)])
def test_one_is_needed(path, name, count):
    with opened(path) as archive, pytest.raises(FileFormatError, match=f"a.zip holds {count} files {name}, and one"):
        member(archive, name, path)


def test_what_is_no_zip(tmp_path):
    (tmp_path / "a.zip").write_bytes(b"<html>")
    with pytest.raises(FileFormatError, match=r"a\.zip is no zip archive"), opened(tmp_path / "a.zip"):
        pass
