"""Where data sets are looked for, and whether the network may be used."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA, CACHE, OFFLINE = "HERALD_DATA", "HERALD_CACHE", "HERALD_OFFLINE"
"""Environment variables: prepared archives, the cache, and whether to stay off the network."""
_NO = {"", "0", "false", "no", "off"}


def cache_folder() -> Path:
    """Give the folder that downloads and converted graphs are kept in: ``HERALD_CACHE``, or the system's place.

    Examples
    --------
    >>> cache_folder().name
    'datasets'
    """
    return _cache_root() / "datasets"


def _cache_root() -> Path:
    if given := os.environ.get(CACHE):
        return Path(given).expanduser()
    if given := os.environ.get("XDG_CACHE_HOME"):
        return Path(given) / "herald_gpu"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "herald_gpu" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "herald_gpu"
    return Path.home() / ".cache" / "herald_gpu"


def prepared_folder() -> Path | None:
    """Give the folder of prepared archives that ``HERALD_DATA`` names, if it names one."""
    given = os.environ.get(DATA)
    return Path(given).expanduser() if given else None


def is_offline() -> bool:
    """Tell whether ``HERALD_OFFLINE`` forbids the network."""
    return os.environ.get(OFFLINE, "").strip().lower() not in _NO


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes out of a folder; they wait until it is free, or its holder has died."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("a+b") as file:
        _acquire(file)
        try:
            yield
        finally:
            _release(file)


if sys.platform == "win32":
    import msvcrt

    def _acquire(file: IO[bytes]) -> None:
        while True:
            try:
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)  # gives up after ten seconds
            except OSError:
                continue
            return

    def _release(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _acquire(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)

    def _release(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
