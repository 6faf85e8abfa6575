"""Graphs to condense: a generator of synthetic ones, and readers of files."""

from herald_gpu.datasets.files import GraphFile, read_npz, read_table
from herald_gpu.datasets.synthetic import SyntheticGraph, make_graph

__all__ = ["GraphFile", "SyntheticGraph", "make_graph", "read_npz", "read_table"]
