"""Graphs to condense: data sets by name, a generator of synthetic ones, and readers of files."""

from herald_gpu.datasets.catalogue import DATASETS, Dataset
from herald_gpu.datasets.files import GraphFile, read_npz, read_table
from herald_gpu.datasets.labelled import LabelledGraph
from herald_gpu.datasets.loading import load_graph
from herald_gpu.datasets.splits import Split, paper_split, random_split
from herald_gpu.datasets.synthetic import SyntheticGraph, make_graph

__all__ = [
    "DATASETS",
    "Dataset",
    "GraphFile",
    "LabelledGraph",
    "Split",
    "SyntheticGraph",
    "load_graph",
    "make_graph",
    "paper_split",
    "random_split",
    "read_npz",
    "read_table",
]
