"""Parsers of raw files, one a source.

Each takes the folder of the files and the name they share, and gives a :class:`Parsed` graph.
"""

from herald_gpu.datasets.formats.geom_gcn import parse_geom_gcn
from herald_gpu.datasets.formats.graphdata import parse_graphdata
from herald_gpu.datasets.formats.graphsaint import parse_graphsaint
from herald_gpu.datasets.formats.heterophilous import parse_directed, parse_undirected
from herald_gpu.datasets.formats.ogb import parse_ogb
from herald_gpu.datasets.formats.parsed import Parsed
from herald_gpu.datasets.formats.planetoid import parse_planetoid
from herald_gpu.datasets.formats.reddit import parse_reddit

__all__ = [
    "Parsed",
    "parse_directed",
    "parse_geom_gcn",
    "parse_graphdata",
    "parse_graphsaint",
    "parse_ogb",
    "parse_planetoid",
    "parse_reddit",
    "parse_undirected",
]
