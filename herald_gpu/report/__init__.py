"""The report of a condensation as a page, and its figures for notebooks and papers."""

from herald_gpu.report.page import page, write_page
from herald_gpu.report.plots import plot

__all__ = ["page", "plot", "write_page"]
