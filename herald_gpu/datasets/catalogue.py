"""The data sets that are known by name: how large each is, where its files are, and who parses them."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from herald_gpu.datasets import formats
from herald_gpu.datasets._sums import SUMS
from herald_gpu.datasets.remote import RemoteFile
from herald_gpu.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_RAW = "https://raw.githubusercontent.com"
PLANETOID = f"{_RAW}/kimiyoung/planetoid/af6abf468a772cc055bec88c52e4d6f51b7c37e3/data"
HETEROPHILOUS = f"{_RAW}/yandex-research/heterophilous-graphs/a431395582e929d88271309716bea4fe24ce6318/data"
GRAPHDATA = f"{_RAW}/EdisonLeeeee/GraphData/f8022c26b917346f2a461ffec0ec5ae24b36de68/datasets"
GEOM_GCN = f"{_RAW}/graphdml-uiuc-jlu/geom-gcn/f1fc0d14b3b019c562737240d06ec83b07d16a8f"
DGL = "https://data.dgl.ai/dataset"
OGB = "https://snap.stanford.edu/ogb/data/nodeproppred"


class Sizes(NamedTuple):
    """How large a graph is; edges as stored, undirected ones counted twice."""

    nodes: int
    edges: int
    features: int
    classes: int


@dataclass(frozen=True)
class Dataset:
    """A data set that can be had by name.

    Attributes
    ----------
    name : str
        Its name.
    sizes : Sizes
        What is loaded must have them.
    files : tuple of RemoteFile
        What is downloaded.
    parse : callable
        Makes a graph of the folder of the files and `stem`.
    stem : str
        What the names of the files have in common.
    source, licence : str
        Where it comes from, and the licence stated there.
    """

    name: str
    sizes: Sizes
    files: tuple[RemoteFile, ...]
    parse: Callable[[Path, str], formats.Parsed]
    stem: str
    source: str
    licence: str

    @property
    def verification(self) -> str:
        """How the files are known to be the right ones: "sha256", "git" or "first use"."""
        kinds = {file.checksum.partition(":")[0] if file.checksum else "first use" for file in self.files}
        return next(kind for kind in ("first use", "git", "sha256") if kind in kinds)


def _file(base: str, path: str) -> RemoteFile:
    name = path.rpartition("/")[2]
    return RemoteFile(f"{base}/{path}", name, SUMS.get(name))


def _planetoid(name: str, sizes: Sizes) -> Dataset:
    parts = ("x", "y", "tx", "ty", "allx", "ally", "graph", "test.index")
    files = tuple(_file(PLANETOID, f"ind.{name}.{part}") for part in parts)
    return Dataset(name, sizes, files, formats.parse_planetoid, name, "github.com/kimiyoung/planetoid", "MIT")


def _heterophilous(name: str, sizes: Sizes, *, stem: str | None = None, directed: bool = False) -> Dataset:
    stem = stem or name.replace("-", "_")
    parse = formats.parse_directed if directed else formats.parse_undirected
    source = "github.com/yandex-research/heterophilous-graphs"
    return Dataset(name, sizes, (_file(HETEROPHILOUS, f"{stem}.npz"),), parse, stem, source, "MIT")


def _graphdata(name: str, sizes: Sizes, *, stem: str) -> Dataset:
    source = "github.com/EdisonLeeeee/GraphData"
    return Dataset(name, sizes, (_file(GRAPHDATA, f"{stem}.npz"),), formats.parse_graphdata, stem, source, "MIT")


def _film(sizes: Sizes) -> Dataset:
    text = ("new_data/film/out1_node_feature_label.txt", "new_data/film/out1_graph_edges.txt")
    splits = tuple(f"splits/film_split_0.6_0.2_{split}.npz" for split in range(formats.geom_gcn.N_SPLITS))
    files = tuple(_file(GEOM_GCN, path) for path in (*text, *splits))
    source = "github.com/graphdml-uiuc-jlu/geom-gcn"
    return Dataset("film", sizes, files, formats.parse_geom_gcn, "film", source, "none stated")


def _zip(
    name: str, sizes: Sizes, base: str, parse: Callable[[Path, str], formats.Parsed], source: str, licence: str
) -> Dataset:
    stem = name.removeprefix("ogbn-")
    return Dataset(name, sizes, (_file(base, f"{stem}.zip"),), parse, stem, source, licence)


_SAINT = "GraphSAINT (Zeng et al., 2020), copy of data.dgl.ai"
_SAGE = "GraphSAGE (Hamilton et al., 2017), copy of data.dgl.ai"
_OGB = "Open Graph Benchmark, ogb.stanford.edu"
_ALL = (
    _planetoid("cora", Sizes(2_708, 10_556, 1_433, 7)),
    _planetoid("citeseer", Sizes(3_327, 9_104, 3_703, 6)),
    _planetoid("pubmed", Sizes(19_717, 88_648, 500, 3)),
    _heterophilous("chameleon", Sizes(2_277, 36_101, 2_325, 5), stem="chameleon_directed", directed=True),
    _heterophilous(
        "chameleon-filtered", Sizes(890, 13_584, 2_325, 5), stem="chameleon_filtered_directed", directed=True
    ),
    _heterophilous("squirrel", Sizes(5_201, 217_073, 2_089, 5), stem="squirrel_directed", directed=True),
    _heterophilous(
        "squirrel-filtered", Sizes(2_223, 65_718, 2_089, 5), stem="squirrel_filtered_directed", directed=True
    ),
    _heterophilous("actor", Sizes(7_600, 53_318, 932, 5)),
    _film(Sizes(7_600, 33_391, 932, 5)),
    _heterophilous("roman-empire", Sizes(22_662, 65_854, 300, 18)),
    _heterophilous("amazon-ratings", Sizes(24_492, 186_100, 300, 5)),
    _heterophilous("minesweeper", Sizes(10_000, 78_804, 7, 2)),
    _heterophilous("tolokers", Sizes(11_758, 1_038_000, 10, 2)),
    _heterophilous("questions", Sizes(48_921, 307_080, 301, 2)),
    _graphdata("amazon-photo", Sizes(7_650, 238_162, 745, 8), stem="amazon_photo"),
    _graphdata("amazon-computers", Sizes(13_752, 491_722, 767, 10), stem="amazon_cs"),
    _graphdata("coauthor-cs", Sizes(18_333, 163_788, 6_805, 15), stem="coauthor_cs"),
    _graphdata("coauthor-physics", Sizes(34_493, 495_924, 8_415, 5), stem="coauthor_phy"),
    _graphdata("blogcatalog", Sizes(5_196, 343_486, 8_189, 6), stem="blogcatalog"),
    _zip("flickr", Sizes(89_250, 899_756, 500, 7), DGL, formats.parse_graphsaint, _SAINT, "none stated"),
    _zip("reddit", Sizes(232_965, 114_615_892, 602, 41), DGL, formats.parse_reddit, _SAGE, "none stated"),
    _zip("ogbn-arxiv", Sizes(169_343, 1_166_243, 128, 40), OGB, formats.parse_ogb, _OGB, "ODC-BY"),
    _zip("ogbn-products", Sizes(2_449_029, 61_859_140, 100, 47), OGB, formats.parse_ogb, _OGB, "Amazon"),
)
DATASETS = {dataset.name: dataset for dataset in _ALL}
"""Every known data set by its name."""


def canonical(name: str) -> str:
    """Give a name in the form the catalogue has it.

    Raises
    ------
    ConfigError
        If it is no name at all: letters, digits, dots and hyphens.

    Examples
    --------
    >>> canonical("Roman_Empire")
    'roman-empire'
    """
    plain = str(name).strip().lower().replace("_", "-").replace(" ", "-")
    if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", plain):
        msg = f"name={name!r} is no name of a data set: pass one of {', '.join(DATASETS)}"
        raise ConfigError(msg)
    return plain


def find(name: str) -> Dataset:
    """Find a data set.

    Raises
    ------
    ConfigError
        If there is none of that name.

    Examples
    --------
    >>> find("cora").sizes
    Sizes(nodes=2708, edges=10556, features=1433, classes=7)
    """
    plain = canonical(name)
    if plain not in DATASETS:
        near = difflib.get_close_matches(plain, DATASETS, n=1)
        guess = f"did you mean {near[0]!r}? " if near else ""
        msg = f"name={name!r} is no known data set: {guess}Pass one of {', '.join(DATASETS)}"
        raise ConfigError(msg)
    return DATASETS[plain]
