"""Data sets by name: from a prepared archive, from the cache, or from where they are published."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu.datasets import places
from herald_gpu.datasets.catalogue import DATASETS, Dataset, Sizes, canonical, find
from herald_gpu.datasets.labelled import LabelledGraph, SplitChoice
from herald_gpu.datasets.prepared import read_prepared, write_prepared
from herald_gpu.datasets.remote import obtain, write_down
from herald_gpu.datasets.splits import Split
from herald_gpu.errors import DatasetError, FileFormatError

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from herald_gpu.datasets.formats import Parsed

logger = logging.getLogger(__name__)


def load_graph(
    name: str,
    *,
    root: str | os.PathLike[str] | None = None,
    download: bool = True,
    split: SplitChoice | tuple[Any, Any, Any] = "paper",
) -> LabelledGraph:
    """Load a data set by name.

    A prepared archive ``NAME.npz`` in the folder that ``HERALD_DATA`` names comes first, then the cache, then the
    source: its files are downloaded, verified, parsed, and the graph is kept in the cache.

    Parameters
    ----------
    name : str
        One of `herald_gpu.datasets.DATASETS`, or the name of a prepared archive of one's own.
    root : path, optional
        A folder to use instead of both ``HERALD_DATA`` and the cache.
    download : bool
        Whether the network may be used; ``HERALD_OFFLINE=1`` forbids it too.
    split : "paper", "source", int, Split, tuple of three masks, or None
        See :meth:`LabelledGraph.with_split`.

    Raises
    ------
    ConfigError
        If the name or the split is not known.
    DatasetError
        If the data cannot be had, or are not what they should be.
    FileFormatError
        If a prepared archive cannot be read.

    Examples
    --------
    >>> import numpy, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> numpy.savez(folder / "mine.npz", edge_index=[[0, 1], [1, 2]], x=numpy.eye(4), y=[0, 1, 0, 1])
    >>> graph = load_graph("mine", root=folder, split=1)
    >>> graph.n_nodes, graph.n_edges, graph.n_classes, graph.test.sum().item()
    (4, 2, 2, 1)
    """
    plain = canonical(name)
    _, cache = _folders(root)
    parsed = None
    for path in stored_files(plain, root=root):
        if (parsed := read_prepared(path)) is not None:
            logger.info("%s: read from %s", plain, path)
            break
    if parsed is not None:
        graph = _labelled(plain, parsed, DATASETS.get(plain), str(path))
    else:
        dataset = find(plain)
        graph = _labelled(plain, _converted(dataset, cache, network=download and not places.is_offline()), dataset, "")
    return graph.with_split(split)


def stored_files(name: str, *, root: str | os.PathLike[str] | None = None) -> list[Path]:
    """List the files that a data set can be read from without a download; none if it is not here.

    Examples
    --------
    >>> import tempfile
    >>> stored_files("cora", root=tempfile.mkdtemp())
    []
    """
    places_of = (folder / f"{canonical(name)}.npz" for folder in dict.fromkeys(_folders(root)))
    return [path for path in places_of if path.is_file()]


def status(name: str, *, root: str | os.PathLike[str] | None = None) -> str:
    """Tell where a data set would be loaded from: "prepared", "cached" or "source".

    Parameters
    ----------
    name : str
        Its name.
    root : path, optional
        As in :func:`load_graph`.

    Examples
    --------
    >>> import tempfile
    >>> status("cora", root=tempfile.mkdtemp())
    'source'
    """
    plain = canonical(name)
    given, cache = _folders(root)
    if given != cache and (given / f"{plain}.npz").is_file():
        return "prepared"
    return "cached" if (cache / f"{plain}.npz").is_file() else "source"


def _folders(root: str | os.PathLike[str] | None) -> tuple[Path, Path]:
    if root is not None:
        return Path(root).expanduser(), Path(root).expanduser()
    cache = places.cache_folder()
    return places.prepared_folder() or cache, cache


def _converted(dataset: Dataset, cache: Path, *, network: bool) -> Parsed:
    """Get the files, parse them, and keep the graph; one process at a time."""
    raw, path = cache / "raw" / dataset.name, cache / f"{dataset.name}.npz"
    absent = [file for file in dataset.files if not (raw / file.name).is_file()]
    if absent and not network:
        msg = (
            f"{dataset.name} is not here and the network may not be used: put a prepared {dataset.name}.npz into the "
            f"folder that {places.DATA} names, or {absent[0].name} from {absent[0].url} into {raw}, "
            f"or allow download ({places.OFFLINE} unset, download=True)"
        )
        if len(absent) > 1:
            msg = msg.replace(f"or {absent[0].name} from", f"or {len(absent)} files such as {absent[0].name} from")
        raise DatasetError(msg)
    with places.locked(raw):
        if path.is_file() and (parsed := read_prepared(path)) is not None:
            return parsed  # another process made it meanwhile
        for file in dataset.files:
            obtain(file, raw, network=network)
        try:
            parsed = dataset.parse(raw, dataset.stem)
            _check_sizes(parsed, dataset, str(raw))
        except (FileFormatError, DatasetError):
            for file in dataset.files:
                if file.expected(raw) is None:
                    (raw / file.name).unlink()
                    logger.warning("%s from %s is not what it should be and was deleted", file.name, file.url)
            raise
        for file in dataset.files:
            write_down(file, raw)
        write_prepared(path, parsed)
    return parsed


def _check_sizes(parsed: Parsed, dataset: Dataset, where: str) -> None:
    known = parsed.labels[parsed.labels >= 0]
    highest, distinct = int(known.max(initial=-1)) + 1, len(np.unique(known))
    n_classes = dataset.sizes.classes if dataset.sizes.classes in {highest, distinct} else distinct
    found = Sizes(len(parsed.labels), parsed.edge_index.shape[1], parsed.features.shape[1], n_classes)
    if found != dataset.sizes:
        wrong = ", ".join(
            f"{seen} {what} instead of {right}"
            for seen, right, what in zip(found, dataset.sizes, Sizes._fields, strict=True)
            if seen != right
        )
        msg = f"{where} is not {dataset.name}: it has {wrong}; remove it, or give it a name of its own"
        raise DatasetError(msg)


def _labelled(name: str, parsed: Parsed, dataset: Dataset | None, where: str) -> LabelledGraph:
    if dataset is not None and where:
        _check_sizes(parsed, dataset, where)
    labels, n_classes = _coded(parsed.labels, dataset.sizes.classes if dataset is not None else None)
    splits: tuple[Split, ...] = ()
    if parsed.train is not None and parsed.validation is not None and parsed.test is not None:
        columns = zip(parsed.train.T, parsed.validation.T, parsed.test.T, strict=True)
        splits = tuple(Split(*(np.ascontiguousarray(mask) for mask in masks)) for masks in columns)
    return LabelledGraph(
        name=name,
        edge_index=parsed.edge_index.astype(np.int64),
        features=parsed.features,
        labels=labels,
        n_classes=n_classes,
        own_splits=splits,
        source=dataset.source if dataset is not None else where,
        licence=dataset.licence if dataset is not None else "",
    )


def _coded(labels: NDArray[np.int64], n_classes: int | None) -> tuple[NDArray[np.int64], int]:
    """Number classes from 0; a source may number them from 1, or leave one empty that counts all the same."""
    classes = np.unique(labels[labels >= 0])
    if n_classes is not None and classes.size and classes[-1] < n_classes:
        return labels, n_classes
    return np.where(labels >= 0, np.searchsorted(classes, labels), -1), int(classes.size)
