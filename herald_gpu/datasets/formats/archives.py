"""Members of zip archives, found by their last name whatever folder they lie in."""

from __future__ import annotations

import zipfile
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING

from herald_gpu.errors import FileFormatError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive; nothing is ever unpacked to disk."""
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        msg = f"{path} is no zip archive ({error}): delete it and get it from its source again"
        raise FileFormatError(msg) from error
    with archive:
        yield archive


def located(archive: zipfile.ZipFile, name: str, path: Path) -> str:
    """Give the full name of the one member whose path ends in `name`."""
    wanted = PurePosixPath(name).parts
    found = [
        full
        for full in archive.namelist()
        if PurePosixPath(full).parts[-len(wanted) :] == wanted and not full.startswith("__MACOSX")
    ]
    if len(found) != 1:
        msg = f"{path} holds {len(found)} files {name}, and one is needed: delete it and get it from its source again"
        raise FileFormatError(msg)
    return found[0]


def member(archive: zipfile.ZipFile, name: str, path: Path) -> bytes:
    """Read a member."""
    return archive.read(located(archive, name, path))


def stream(archive: zipfile.ZipFile, name: str, path: Path) -> IO[bytes]:
    """Open a member to be read bit by bit."""
    return archive.open(located(archive, name, path))
