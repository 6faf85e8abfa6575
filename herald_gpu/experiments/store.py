"""Results on disk: one tidy CSV file, whole after every step, so that a killed run continues where it was."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from herald_gpu.errors import FileFormatError, MissingDependencyError
from herald_gpu.experiments.cells import KEY
from herald_gpu.install import pip_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from herald_gpu.experiments.cells import Cell

TEXT = (
    "dataset",
    "method",
    "column",
    "change",
    "split",
    "model",
    "variant",
    "status",
    "version",
    "machine",
    "libraries",
    "fingerprint",
)
COUNTS = ("n_nodes", "n_edges", "n_features", "epoch")
DIGITS = "%.6g"


class Store:
    """Rows of results, told apart by their cell.

    Two runs may share a file: what another has written meanwhile is kept.

    Parameters
    ----------
    path : path-like
        A CSV file; made with its folder when the first rows come. Where it ends in ``.parquet`` it is Parquet.

    Examples
    --------
    >>> import tempfile
    >>> from herald_gpu.experiments import Cell, Condensation, Store
    >>> store = Store(Path(tempfile.mkdtemp()) / "rows.csv")
    >>> cell = Cell(Condensation("cora", "random", ratio=0.01), "GCN", "published", 0)
    >>> store.add([(cell, {"accuracy": 50.5})])
    >>> cell in store, Store(store.path).frame["accuracy"].tolist()
    (True, [50.5])
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.frame = pd.DataFrame(columns=list(KEY))
        self._known: set[tuple[Any, ...]] = set()
        self._seen: tuple[int, int] | None = None
        self._refresh()

    def __contains__(self, cell: Cell) -> bool:
        return cell.key in self._known

    def __len__(self) -> int:
        return len(self.frame)

    def add(self, rows: Iterable[tuple[Cell, dict[str, Any]]]) -> None:
        """Add rows and write the file anew, all or nothing; a cell that is there already is left as it is.

        Parameters
        ----------
        rows : iterable of (Cell, dict)
            A cell and what was measured.
        """
        given = list(rows)
        with _alone(self.path):
            self._refresh()
            new = [dict(zip(KEY, cell.key, strict=True)) | facts for cell, facts in given if cell not in self]
            if not new:
                return
            added = pd.DataFrame(new)
            self.frame = added if self.frame.empty else pd.concat([self.frame, added], ignore_index=True)
            self._known.update(keys(added))
            write(self.frame, self.path)
            self._seen = _stamp(self.path)

    def _refresh(self) -> None:
        """Read the file, unless it is as this store left it."""
        stamp = _stamp(self.path)
        if stamp is not None and stamp != self._seen:
            self.frame, self._seen = _read(self.path), stamp
            self._known = set(keys(self.frame))


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Keep other runs on this machine from writing the same file meanwhile, where the system has such locks."""
    try:
        import fcntl
    except ImportError:  # not a POSIX system
        yield
        return
    mark = hashlib.blake2b(str(path.resolve()).encode(), digest_size=8).hexdigest()
    with (Path(tempfile.gettempdir()) / f"herald-{mark}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def write(frame: pd.DataFrame, path: Path) -> None:
    """Write rows as CSV, or as Parquet where the name ends so, all or nothing.

    Parameters
    ----------
    frame : pandas.DataFrame
    path : Path
        Its folder is made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    whole = frame.astype({name: "Int64" for name in COUNTS if name in frame})
    try:
        if path.suffix == ".parquet":
            _need_arrow()
            whole.to_parquet(part, index=False)
        else:
            if "ratio" in whole:  # a key: read back, it must be the same number
                whole["ratio"] = whole["ratio"].map(_exact)
            whole.to_csv(part, index=False, float_format=DIGITS, lineterminator="\n")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _need_arrow() -> None:
    if importlib.util.find_spec("pyarrow") is None:
        msg = f"Parquet files need pyarrow: {pip_line('arrow')}, or keep to CSV"
        raise MissingDependencyError(msg)


def _exact(value: float) -> str:
    return short if float(short := DIGITS % value) == value else repr(float(value))


def _stamp(path: Path) -> tuple[int, int] | None:
    if not path.exists():
        return None
    found = path.stat()
    return found.st_mtime_ns, found.st_ino


def _read(path: Path) -> pd.DataFrame:
    try:
        if path.suffix == ".parquet":
            return pd.read_parquet(path)
        dtypes: dict[Any, Any] = dict.fromkeys(TEXT, "str")
        return pd.read_csv(path, dtype=dtypes, keep_default_na=False, na_values=_numbers(path))
    except (ValueError, KeyError) as error:
        msg = f"{path} is no table of results ({error}): move it away, or pass another folder"
        raise FileFormatError(msg) from error


def _numbers(path: Path) -> dict[str, list[str]]:
    """Columns of numbers, in which an empty field is missing; in text it is empty text."""
    header = pd.read_csv(path, nrows=0).columns
    lacking = [name for name in KEY if name not in header]
    if lacking:
        msg = f"it lacks the columns {', '.join(lacking)}"
        raise ValueError(msg)
    return {name: [""] for name in header if name not in TEXT}


def keys(frame: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    """Give the key of each row, in the types of :attr:`Cell.key`."""
    for row in frame[list(KEY)].itertuples(index=False, name=None):
        named = dict(zip(KEY, row, strict=True))
        yield tuple(
            float(value) if name == "ratio" else int(value) if name == "seed" else str(value)
            for name, value in named.items()
        )
