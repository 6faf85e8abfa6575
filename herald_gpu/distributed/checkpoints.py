"""Partial results in a folder, so that a run that was broken off goes on where it was."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu._version import __version__
from herald_gpu.errors import InputError
from herald_gpu.io.atomic import whole_file

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

RUN = "run.json"


class Checkpoints:
    """A folder with the finished partial results of one run.

    Every file appears whole or not at all. A folder belongs to one graph, in the same partitions, with the same
    options: it is refused for any other.

    Parameters
    ----------
    folder : path-like
        New, empty, or that of a run that was broken off.
    facts : dict
        What tells this run from another; plain values.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> Checkpoints(folder, {"seed": 0}).save("features", 3, [np.arange(2)])
    >>> Checkpoints(folder, {"seed": 0}).load("features", 3)
    [array([0, 1])]
    >>> Checkpoints(folder, {"seed": 0}).load("features", 4) is None
    True
    """

    def __init__(self, folder: str | os.PathLike[str], facts: dict[str, Any]) -> None:
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            msg = f"resume={str(folder)!r} is a file: pass the name of a folder"
            raise InputError(msg)
        self.folder.mkdir(parents=True, exist_ok=True)
        facts = {**facts, "version": __version__}
        mark = hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()
        there = self.folder / RUN
        if there.exists():
            if json.loads(there.read_text("utf-8")).get("mark") != mark:
                msg = (
                    f"resume={str(folder)!r} holds results of another graph, of other options or of another "
                    "partitioning: pass the same as before, or a new folder"
                )
                raise InputError(msg)
        elif any(self.folder.iterdir()):
            msg = f"resume={str(folder)!r} holds other files: pass a new folder"
            raise InputError(msg)
        else:
            with whole_file(there, overwrite=True) as beside:
                beside.write_text(json.dumps({"mark": mark}), "utf-8")

    def load(self, name: str, part: int) -> list[np.ndarray] | None:
        """Read the partial result of a partition; None if it is not there."""
        path = self._path(name, part)
        if not path.exists():
            return None
        with np.load(path, allow_pickle=False) as held:
            return [held[f"a{place}"] for place in range(len(held.files))]

    def save(self, name: str, part: int, arrays: Sequence[np.ndarray]) -> None:
        """Keep the partial result of a partition."""
        with whole_file(self._path(name, part), overwrite=True) as beside, beside.open("wb") as stream:
            named: dict[str, Any] = {f"a{place}": np.asarray(array) for place, array in enumerate(arrays)}
            np.savez(stream, **named)

    def _path(self, name: str, part: int) -> Path:
        return self.folder / f"{name.replace('/', '-')}-{part}.npz"
