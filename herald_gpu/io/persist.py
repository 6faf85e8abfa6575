"""Saving without pickle: a zip of plain arrays, with a schema version and a checksum for each."""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from herald_gpu.errors import FileFormatError, InputError
from herald_gpu.io.whole import replacing

FORMAT = "herald_gpu.condensed_graph"
SCHEMA_VERSION = 1
META = "meta.json"


def write_archive(path: str | os.PathLike[str], arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> Path:
    """Write arrays and metadata to one file, all or nothing."""
    members = {f"{name}.npy": _encode(name, array) for name, array in arrays.items()}
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    body = {"format": FORMAT, "schema_version": SCHEMA_VERSION, "sha256": sums, "content": meta}
    text = json.dumps(body, indent=1).encode()
    with (
        replacing(path, example="condensed.herald") as stream,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name, content in {META: text, **members}.items():
            # A fixed date: the same graph gives the same file.
            archive.writestr(_member(name), content)
    return Path(path)


def read_archive(path: str | os.PathLike[str]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read what :func:`write_archive` wrote, every checksum verified."""
    shown = os.fspath(path)
    with Path(path).open("rb") as stream:
        try:
            with zipfile.ZipFile(stream) as archive:
                body = _meta(archive, shown)
                arrays = {
                    name.removesuffix(".npy"): _decode(archive, name, expected, shown)
                    for name, expected in body["sha256"].items()
                }
            return arrays, body["content"]
        except FileFormatError:
            raise
        except Exception as error:  # a damaged archive makes zipfile, zlib and NumPy raise almost anything
            msg = (
                f"path={shown!r} is not a saved condensed graph, or it is damaged ({error}): "
                "pass a file that CondensedGraph.save wrote, or save the graph again"
            )
            raise FileFormatError(msg) from error


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


def _encode(name: str, array: np.ndarray) -> bytes:
    if array.dtype == object:
        if not all(isinstance(value, str) for value in array.tolist()):
            msg = f"{name} holds values that are neither numbers nor strings: they cannot be saved without pickle"
            raise InputError(msg)
        array = array.astype(str)
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def _decode(archive: zipfile.ZipFile, name: str, expected: str, shown: str) -> np.ndarray:
    try:
        content = archive.read(name)
    except KeyError as error:
        msg = f"path={shown!r} is damaged: {name} is missing; save the graph again"
        raise FileFormatError(msg) from error
    if hashlib.sha256(content).hexdigest() != expected:
        msg = f"path={shown!r} is damaged: the checksum of {name} does not match; save the graph again"
        raise FileFormatError(msg)
    return np.load(io.BytesIO(content), allow_pickle=False)


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    return info
