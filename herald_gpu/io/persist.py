"""Saving without pickle: a zip of the bytes of all arrays and a JSON file that describes them.

Arrays are written one after another in the smallest type that holds their values exactly, so that a small graph is a
small file: integers in as few bytes as their range needs (ascending ones as the steps between them), booleans as bits.
What is not a number (names, dates, tuples) stands in the JSON file.
"""

from __future__ import annotations

import datetime as dt
import decimal
import hashlib
import json
import math
import os
import uuid
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu.errors import FileFormatError, InputError
from herald_gpu.io.atomic import whole_file

if TYPE_CHECKING:
    from collections.abc import Callable

FORMAT = "herald_gpu.condensed_graph"
SCHEMA_VERSION = 2
META, DATA = "meta.json", "arrays.bin"
ARCHIVE = "condensed.herald"
"""Name of the saved graph in a folder of results."""
NUMBERS = "biufcmMS"
"""Kinds of NumPy types that are written as their bytes."""
TEXT, OBJECTS = "str", "object"
LEVEL = 9
TAGS: dict[type, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]] = {
    bytes: ("bytes", bytes.hex, bytes.fromhex),
    dt.datetime: ("datetime", dt.datetime.isoformat, dt.datetime.fromisoformat),
    dt.date: ("date", dt.date.isoformat, dt.date.fromisoformat),
    dt.time: ("time", dt.time.isoformat, dt.time.fromisoformat),
    dt.timedelta: ("timedelta", lambda v: [v.days, v.seconds, v.microseconds], lambda v: dt.timedelta(*v)),
    decimal.Decimal: ("decimal", str, decimal.Decimal),
    uuid.UUID: ("uuid", str, uuid.UUID),
    tuple: ("tuple", lambda v: [_tagged(one) for one in v], lambda v: tuple(map(_untagged, v))),
}
"""What JSON has no type for: the tag, and how it is written and read."""
PANDAS_TAGS = ("Timestamp", "Timedelta")
"""Types of pandas, which is not imported for their sake, that are written in ISO format."""
READERS = {tag: read for tag, _, read in TAGS.values()}


def write_archive(
    path: str | os.PathLike[str], arrays: dict[str, np.ndarray], meta: dict[str, Any], *, overwrite: bool = False
) -> int:
    """Write arrays and metadata to one file, all or nothing.

    Parameters
    ----------
    path : path-like
    arrays : dict of arrays
        Of numbers, strings, or objects that are numbers, strings, bytes, dates, times, UUIDs or tuples of them.
    meta : dict
        Plain values that JSON can hold.
    overwrite : bool
        Replace an existing file.

    Returns
    -------
    int
        Bytes of the file.
    """
    table, parts = dict[str, dict[str, Any]](), list[bytes]()
    for name, array in arrays.items():
        table[name], content = _encode(name, array)
        parts.append(content)
    data = b"".join(parts)
    mark = hashlib.sha256(data).hexdigest()
    body = {"format": FORMAT, "schema_version": SCHEMA_VERSION, "sha256": mark, "arrays": table, "content": meta}
    text = json.dumps(body, separators=(",", ":")).encode()
    with whole_file(path, overwrite=overwrite) as beside:
        with zipfile.ZipFile(beside, "w") as archive:
            for name, content in {META: text, DATA: data}.items():
                archive.writestr(_member(name), content, compresslevel=LEVEL)
        return beside.stat().st_size


def read_archive(path: str | os.PathLike[str]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read what :func:`write_archive` wrote and verify its checksum."""
    shown = os.fspath(path)
    with Path(path).open("rb") as stream:
        try:
            with zipfile.ZipFile(stream) as archive:
                body = _meta(archive, shown)
                data = _data(archive, body["sha256"], shown)
            return _decode(body["arrays"], data), body["content"]
        except FileFormatError:
            raise
        except Exception as error:  # a damaged archive makes zipfile, zlib and NumPy raise almost anything
            msg = (
                f"path={shown!r} is not a saved condensed graph, or it is damaged ({error}): "
                "pass a file that CondensedGraph.save wrote, or save the graph again"
            )
            raise FileFormatError(msg) from error


def check_savable(name: str, values: np.ndarray) -> None:
    """Refuse values that a file without pickle cannot hold.

    Examples
    --------
    >>> check_savable("node_ids", np.array(["a", b"b", 3], dtype=object))
    >>> check_savable("node_ids", np.array([frozenset()], dtype=object))
    Traceback (most recent call last):
        ...
    herald_gpu.errors.InputError: node_ids holds values such as frozenset(), which a file cannot hold without pickle: \
use numbers, strings, bytes, dates or tuples of them
    """
    if values.dtype.kind in f"U{NUMBERS}":
        return
    for value in values.ravel().tolist() if values.dtype == object else [values.dtype]:
        try:
            _tagged(value)
        except KeyError as error:
            msg = (
                f"{name} holds values such as {error.args[0]!r}, which a file cannot hold without pickle: use numbers, "
                "strings, bytes, dates or tuples of them"
            )
            raise InputError(msg) from error


def _meta(archive: zipfile.ZipFile, shown: str) -> dict[str, Any]:
    try:
        body = json.loads(archive.read(META))
    except (KeyError, ValueError) as error:
        msg = f"path={shown!r} is a zip file but no saved condensed graph, without {META}: pass a file of save()"
        raise FileFormatError(msg) from error
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        msg = f"path={shown!r} is not a saved condensed graph: its {META} is of another kind; pass a file of save()"
        raise FileFormatError(msg)
    if body.get("schema_version") != SCHEMA_VERSION:
        msg = (
            f"path={shown!r} has schema version {body.get('schema_version')!r}, this version reads {SCHEMA_VERSION}: "
            "upgrade herald-gpu or save the graph again"
        )
        raise FileFormatError(msg)
    return body


def _data(archive: zipfile.ZipFile, expected: str, shown: str) -> bytes:
    try:
        data = archive.read(DATA)
    except KeyError as error:
        msg = f"path={shown!r} is damaged: {DATA} is missing; save the graph again"
        raise FileFormatError(msg) from error
    if hashlib.sha256(data).hexdigest() != expected:
        msg = f"path={shown!r} is damaged: the checksum of {DATA} does not match; save the graph again"
        raise FileFormatError(msg)
    return data


def _encode(name: str, array: np.ndarray) -> tuple[dict[str, Any], bytes]:
    """Describe an array, and give its bytes: none if its values are in the description."""
    kind = array.dtype.kind
    if kind not in NUMBERS:
        check_savable(name, array)
        values = array.tolist()
        text = kind == "U" or (array.ndim == 1 and all(type(value) is str for value in values))
        listed = values if text else [_tagged(value) for value in array.ravel().tolist()]
        return {"type": TEXT if text else OBJECTS, "shape": array.shape, "values": listed}, b""
    entry: dict[str, Any] = {"type": array.dtype.newbyteorder("<").str, "shape": array.shape}
    if kind == "b":
        return entry, np.packbits(array.ravel()).tobytes()
    plain = np.ascontiguousarray(array)
    if kind in "iu" and array.size:
        low, high = int(array.min()), int(array.max())
        if array.ndim == 1 and high - low <= np.iinfo(np.int64).max and bool((array[1:] >= array[:-1]).all()):
            entry["first"] = low
            wide = array.astype(_widest(array.dtype))
            plain = np.diff(wide, prepend=wide[:1])
            low, high = 0, int(plain.max())
        entry["stored"] = _narrowest(low, high)
        plain = plain.astype(entry["stored"])
    return entry, plain.astype(plain.dtype.newbyteorder("<"), copy=False).tobytes()


def _decode(table: dict[str, dict[str, Any]], data: bytes) -> dict[str, np.ndarray]:
    arrays, place = dict[str, np.ndarray](), 0
    for name, entry in table.items():
        shape, kind = tuple(entry["shape"]), entry["type"]
        count = math.prod(shape)
        if kind == TEXT:
            arrays[name] = np.array(entry["values"], dtype=str).reshape(shape)
            continue
        if kind == OBJECTS:
            flat = np.empty(count, dtype=object)
            flat[:] = [_untagged(value) for value in entry["values"]]
            arrays[name] = flat.reshape(shape)
            continue
        dtype = np.dtype(kind).newbyteorder("=")
        stored = np.dtype(np.uint8 if dtype.kind == "b" else entry.get("stored", kind))
        n_stored = -(-count // 8) if dtype.kind == "b" else count
        found = np.frombuffer(data, dtype=stored, count=n_stored, offset=place)
        place += found.nbytes
        if dtype.kind == "b":
            found = np.unpackbits(found, count=count)
        elif "first" in entry:
            found = np.cumsum(found, dtype=_widest(dtype)) + _widest(dtype)(entry["first"])
        arrays[name] = found.astype(dtype).reshape(shape)
    if place != len(data):
        msg = f"{DATA} has {len(data)} bytes, {place} are described"
        raise ValueError(msg)
    return arrays


def _tagged(value: Any) -> Any:  # noqa: ANN401 - any object
    """Give a value in the types of JSON; a KeyError names one that has none."""
    plain: Any = value.item() if isinstance(value, np.bool | np.integer | np.floating | np.str_) else value
    if plain is None or type(plain) in (str, int, float, bool):
        return plain
    kind = type(plain)
    if kind in TAGS:
        tag, write, _ = TAGS[kind]
        return {tag: write(plain)}
    if kind.__name__ in PANDAS_TAGS and kind.__module__.partition(".")[0] == "pandas":
        return {kind.__name__: plain.isoformat()}
    raise KeyError(value)


def _narrowest(low: int, high: int) -> str:
    """Name the smallest integer type that holds both."""
    kind, reach = ("u", high) if low >= 0 else ("i", max(high, -low - 1))
    width = next(width for width in (1, 2, 4, 8) if reach < 2 ** (8 * width - (kind == "i")))
    return f"<{kind}{width}"


def _widest(dtype: np.dtype[Any]) -> type[np.int64 | np.uint64]:
    return np.uint64 if dtype.kind == "u" else np.int64


def _untagged(value: Any) -> Any:  # noqa: ANN401 - any value of JSON
    if not isinstance(value, dict):
        return value
    ((tag, content),) = value.items()
    if tag in PANDAS_TAGS:
        import pandas as pd

        return getattr(pd, tag)(content)
    return READERS[tag](content)


def _member(name: str) -> zipfile.ZipInfo:
    # A fixed date: the same graph gives the same file.
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    return info
