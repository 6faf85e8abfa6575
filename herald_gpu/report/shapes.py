"""Figures as numbers: what the page and matplotlib both draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["before", "after"]


@dataclass(frozen=True)
class Table:
    """A table with a caption; the first cell of a row names it.

    Attributes
    ----------
    caption : str
    header : tuple of str
    rows : tuple of tuples of str
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Series:
    """Values of one colour.

    Attributes
    ----------
    name : str
    role : {"before", "after"}
        The full graph's, or the condensed one's.
    values : tuple of float
        NaN where there is none.
    """

    name: str
    role: Role
    values: tuple[float, ...]


@dataclass(frozen=True)
class Bars:
    """Horizontal bars, some to a category.

    Attributes
    ----------
    key : str
        What `plot` calls it.
    title, description : str
        The description says in words what the figure shows, for who cannot see it.
    categories : tuple of str
    series : tuple of Series
    axis : str
        What the values are.
    texts : tuple of tuples of str
        What is written at the end of each bar, by series.
    points : tuple of tuples of tuples of float
        Single values behind the bars, by series and category.
    table : Table
    """

    key: str
    title: str
    description: str
    categories: tuple[str, ...]
    series: tuple[Series, ...]
    axis: str
    texts: tuple[tuple[str, ...], ...]
    table: Table
    points: tuple[tuple[tuple[float, ...], ...], ...] = ()


@dataclass(frozen=True)
class Columns:
    """A histogram.

    Attributes
    ----------
    key, title, description, series, table
        As of :class:`Bars`; values are shares in percent.
    n_bins : int
        Bins are of one width; places on the axis are counted in them.
    ticks : tuple of (float, str)
    axis : str
    marks : tuple of float
        Places to mark below the axis.
    marks_name : str
    share_of : str
        What the shares are of.
    """

    key: str
    title: str
    description: str
    series: tuple[Series, ...]
    n_bins: int
    ticks: tuple[tuple[float, str], ...]
    axis: str
    table: Table
    marks: tuple[float, ...] = ()
    marks_name: str = ""
    share_of: str = "nodes"


Figure = Bars | Columns
