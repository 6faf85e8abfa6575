"""Files: all or nothing, no pickle, and every damage is noticed."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import os
import pickle
import uuid
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from herald_gpu.errors import FileFormatError, InputError
from herald_gpu.io import persist
from herald_gpu.io.persist import DATA, META, check_savable, read_archive, write_archive

ARRAYS = {
    "numbers": np.arange(300, dtype=np.float32).reshape(3, 100),
    "words": np.array(["a", "bee", "ü"]),
    "objects": np.array(["x", "yy"], dtype=object),
    "flags": np.array([True, False]),
    "empty": np.zeros((0, 2), dtype=np.int64),
}
CONTENT = {"answer": 42, "nested": {"list": [1, None, "ü"]}}


@pytest.fixture
def path(tmp_path):
    write_archive(tmp_path / "graph.herald", ARRAYS, CONTENT)
    return tmp_path / "graph.herald"


def rewrite(path, change):
    """Write the archive again with its members changed by `change`, all zip checksums right."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def edit_meta(**changes):
    def change(members):
        body = {**json.loads(members[META]), **changes}
        members[META] = json.dumps({name: value for name, value in body.items() if value is not None}).encode()

    return change


def test_arrays_and_content_come_back(path):
    arrays, content = read_archive(path)
    assert content == CONTENT
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert_array_equal(arrays[name], array)
        assert arrays[name].dtype.kind == ("U" if array.dtype == object else array.dtype.kind)


def test_the_same_content_gives_the_same_file(path, tmp_path):
    size = write_archive(tmp_path / "again.herald", ARRAYS, CONTENT)
    assert (tmp_path / "again.herald").read_bytes() == path.read_bytes()
    assert size == path.stat().st_size


def test_members_are_plain_bytes_and_json(path):
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == [META, DATA]
        body, data = json.loads(archive.read(META)), archive.read(DATA)
    assert body["schema_version"] == persist.SCHEMA_VERSION
    assert body["arrays"].keys() == ARRAYS.keys()
    numbers = body["arrays"]["numbers"]
    assert numbers == {"type": "<f4", "shape": [3, 100]}
    assert_array_equal(np.frombuffer(data, "<f4", 300).reshape(3, 100), ARRAYS["numbers"])
    assert body["arrays"]["words"]["values"] == ["a", "bee", "ü"]


WHOLE = np.array([0, 1, 5, 5, 250, 2**40])
EXACT = {
    "ascending": WHOLE,
    "descending": WHOLE[::-1].copy(),
    "negative": np.array([-7, -1, -1, 300]),
    "extreme": np.array([np.iinfo(np.int64).min, 0, np.iinfo(np.int64).max]),
    "all of int8": np.arange(-128, 128, dtype=np.int8),
    "unsigned": np.array([2**63, 2**64 - 1], dtype=np.uint64),
    "large steps": np.array([0, 2**64 - 1], dtype=np.uint64),
    "square": np.arange(12, dtype=np.int32).reshape(3, 4),
    "one": np.array([9], dtype=np.uint16),
    "none": np.zeros(0, dtype=np.int32),
    "scalar": np.array(5),
    "flags": np.arange(21) % 3 == 0,
    "no flags": np.zeros((0, 3), dtype=bool),
    "table of flags": np.eye(5, dtype=bool),
    "halves": np.float16([0.5, -2, np.inf]),
    "doubles": np.array([np.pi, -0.0, np.nan]),
    "turned": np.arange(6, dtype=np.float32).reshape(2, 3).T,
    "dates": np.array(["2020-01-01", "2021-05-06"], dtype="datetime64[ns]"),
    "durations": np.array([1, 5], dtype="timedelta64[s]"),
    "short bytes": np.array([b"a", b"bc"]),
    "swapped": np.array([1, 500, 3], dtype=">i4"),
    "no words": np.array([], dtype=str),
    "odd words": np.array(["", "\ud800", "a\nb", '"']),
}


@pytest.mark.parametrize("name", EXACT)
def test_values_and_types_come_back_exactly(tmp_path, name):
    write_archive(tmp_path / "x", {"before": np.arange(3), name: EXACT[name], "after": np.arange(3.0)}, {})
    found = read_archive(tmp_path / "x")[0]
    assert_array_equal(found[name], EXACT[name])
    assert found[name].shape == EXACT[name].shape
    assert found[name].dtype == EXACT[name].dtype.newbyteorder("=") or found[name].dtype.kind == "U"
    assert found[name].flags.writeable
    assert_array_equal(found["after"], np.arange(3.0))


def test_numbers_take_no_more_bytes_than_they_need(tmp_path):
    arrays = {
        "ids": np.arange(10**12, 10**12 + 1000),
        "codes": np.tile(np.array([-1, 5]), 500),
        "marks": np.ones(1000, dtype=bool),
    }
    write_archive(tmp_path / "x", arrays, {})
    with zipfile.ZipFile(tmp_path / "x") as archive:
        assert len(archive.read(DATA)) == 1000 + 1000 + 125


OBJECTS = [
    *(None, True, 3, 2**70, 2.5, "three", b"\x00\xff", ("a", (1, b"b")), uuid.UUID(int=5), decimal.Decimal("1.50")),
    *(pd.Timestamp(2020, 2, 29, nanosecond=7), pd.Timedelta(5, "ns")),
    *(dt.date(2020, 2, 29), dt.datetime(2020, 2, 29, 1, 2, 3, 4, tzinfo=dt.UTC), dt.time(1, 2), dt.timedelta(1, 2, 3)),
]


def test_objects_that_ids_may_be_come_back_as_they_were(tmp_path):
    objects = np.empty(len(OBJECTS), dtype=object)
    objects[:] = OBJECTS
    check_savable("ids", objects)
    write_archive(tmp_path / "x", {"ids": objects}, {})
    found = read_archive(tmp_path / "x")[0]["ids"].tolist()
    assert found == OBJECTS
    assert list(map(type, found)) == list(map(type, OBJECTS))


@pytest.mark.parametrize(
    "value",
    [object(), frozenset({1}), ("a", [1]), 1j, np.datetime64("2020-01-01", "ns")],
    ids=lambda v: type(v).__name__,
)
def test_other_objects_are_refused(tmp_path, value):
    odd = np.empty(2, dtype=object)
    odd[:] = ["fine", value]
    with pytest.raises(InputError, match=r"ids holds values such as .*, which a file cannot hold without pickle: use"):
        write_archive(tmp_path / "x.herald", {"ids": odd}, {})
    with pytest.raises(InputError, match="ids holds values such as"):
        check_savable("ids", odd)
    assert list(tmp_path.iterdir()) == []


def test_records_are_refused():
    with pytest.raises(InputError, match="ids holds values such as dtype"):
        check_savable("ids", np.zeros(2, dtype=[("a", int)]))


def test_pickles_are_never_loaded(path):
    class Bomb:
        def __reduce__(self):
            return (Path.touch, (path.parent / "exploded",))

    def plant(members):
        import hashlib
        import io

        stream = io.BytesIO()
        np.lib.format.write_array(stream, np.array([Bomb()], dtype=object), allow_pickle=True)
        members[DATA] = stream.getvalue()
        body = json.loads(members[META])
        body["arrays"] = {"numbers": {"type": "|O", "shape": [1]}}
        body["sha256"] = hashlib.sha256(members[DATA]).hexdigest()
        members[META] = json.dumps(body).encode()

    rewrite(path, plant)
    with pytest.raises(FileFormatError, match="damaged"):
        read_archive(path)
    assert not (path.parent / "exploded").exists()


# All or nothing


@pytest.mark.parametrize("broken", ["writestr", "fsync", "replace"])
def test_a_failure_midway_leaves_the_old_file_and_nothing_else(path, monkeypatch, broken):
    before = path.read_bytes()

    def fail(*_, **__):
        msg = "disk full"
        raise OSError(msg)

    owner = {"writestr": zipfile.ZipFile, "fsync": os, "replace": Path}[broken]
    monkeypatch.setattr(owner, broken, fail)
    with pytest.raises(OSError, match="disk full"):
        write_archive(path, {"other": np.zeros(3)}, {}, overwrite=True)
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_an_interruption_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(zipfile.ZipFile, "writestr", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_archive(tmp_path / "new.herald", ARRAYS, {})
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_replaced_on_request_and_nothing_is_left_beside_it(path):
    with pytest.raises(InputError, match="exists: pass overwrite=True"):
        write_archive(path, {"other": np.zeros(3)}, {})
    assert read_archive(path)[0].keys() == ARRAYS.keys()
    write_archive(path, {"other": np.zeros(3)}, {}, overwrite=True)
    assert read_archive(path)[0].keys() == {"other"}
    assert [p.name for p in path.parent.iterdir()] == [path.name]


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_the_mode_follows_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_archive(tmp_path / "x.herald", ARRAYS, {})
    finally:
        os.umask(before)
    assert (tmp_path / "x.herald").stat().st_mode & 0o777 == 0o640


def test_a_folder_is_no_destination(tmp_path):
    with pytest.raises(InputError, match=r"path=.* is a folder: pass a file name"):
        write_archive(tmp_path, ARRAYS, {})
    with pytest.raises(InputError, match=r"path=.*the folder .* does not exist, create it first"):
        write_archive(tmp_path / "no" / "x.herald", ARRAYS, {})


# Damage


@pytest.mark.parametrize(
    "content",
    [b"", b"not a zip at all", b"PK\x03\x04 only the beginning", pickle.dumps({"a": 1}), b"\x93NUMPY\x01\x00"],
    ids=["empty", "text", "zip header", "pickle", "npy"],
)
def test_foreign_files_are_refused(tmp_path, content):
    path = tmp_path / "foreign.herald"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"path='.*foreign.herald' is not a saved condensed graph"):
        read_archive(path)


def test_other_zip_files_are_refused(tmp_path):
    path = tmp_path / "other.npz"
    np.savez(path, a=np.zeros(3))
    with pytest.raises(FileFormatError, match="is a zip file but no saved condensed graph"):
        read_archive(path)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (edit_meta(format="someone.else"), "its meta.json is of another kind"),
        (edit_meta(schema_version=1), "has schema version 1, this version reads 2: upgrade herald-gpu"),
        (edit_meta(schema_version=None), "has schema version None"),
        (edit_meta(sha256=None), "not a saved condensed graph, or it is damaged"),
        (edit_meta(content=None), "not a saved condensed graph, or it is damaged"),
        (edit_meta(arrays=None), "not a saved condensed graph, or it is damaged"),
        (edit_meta(arrays={}), r"damaged \(arrays.bin has \d+ bytes, 0 are described"),
        (edit_meta(arrays={"a": {"type": "<f8", "shape": [999]}}), "not a saved condensed graph, or it is damaged"),
        (lambda members: members.update({META: b"[1, 2]"}), "its meta.json is of another kind"),
        (lambda members: members.update({META: b"{broken"}), "without meta.json"),
        (lambda members: members.pop(DATA), "damaged: arrays.bin is missing"),
        (lambda members: members.update({DATA: b"other"}), "damaged: the checksum of arrays.bin does not match"),
    ],
)
def test_changed_members_are_noticed(path, change, match):
    rewrite(path, change)
    with pytest.raises(FileFormatError, match=match):
        read_archive(path)


def test_every_truncation_is_noticed(path):
    content = path.read_bytes()
    for length in range(0, len(content), max(1, len(content) // 60)):
        path.write_bytes(content[:length])
        with pytest.raises(FileFormatError, match="damaged"):
            read_archive(path)


def test_every_flipped_byte_is_noticed_or_harmless(path):
    content = path.read_bytes()
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
        try:
            arrays, found = read_archive(path)
        except FileFormatError as error:
            assert "path=" in str(error)  # noqa: PT017 - either outcome is fine, any other error is not
        else:  # dates and versions of the zip format mean nothing here
            assert found == CONTENT
            for name, array in ARRAYS.items():
                assert_array_equal(arrays[name], array)


def test_a_missing_file_is_the_usual_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_archive(tmp_path / "absent.herald")
