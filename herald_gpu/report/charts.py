"""Figures as SVG: no script, no font and no picture from elsewhere; colours are those of the page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from herald_gpu.report.markup import Markup, join, tag
from herald_gpu.report.numbers import nice_ticks
from herald_gpu.report.shapes import Bars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from herald_gpu.report.shapes import Columns, Figure, Series

WIDTH = 560
NAME_ROOM, TEXT_ROOM = 150, 76
"""Left of horizontal bars for their names, right of them for their values."""
BAR, BAR_GAP, GROUP_GAP = 13, 2, 9
TOP, BOTTOM, LEFT, RIGHT = 30, 46, 46, 12
HEIGHT = 250
MOST_TICKS = 10
"""Of names below an axis; beyond, every other one is written."""
RUG = 12
"""Height of marks below an axis."""


def chart(figure: Figure) -> Markup:
    """Draw a figure."""
    return _bars(figure) if isinstance(figure, Bars) else _columns(figure)


def _svg(figure: Figure, height: float, *content: str) -> Markup:
    named = f"{figure.key}-title", f"{figure.key}-desc"
    return tag(
        "svg",
        tag("title", figure.title, id=named[0]),
        tag("desc", figure.description, id=named[1]),
        *content,
        viewBox=f"0 0 {WIDTH} {height:g}",
        role="img",
        aria_labelledby=named[0],
        aria_describedby=named[1],
        class_="chart",
    )


def _legend(series: tuple[Series, ...], marks_name: str = "") -> Markup:
    """Name the colours, where there is more than one."""
    names = [(one.name, f"fill-{one.role}") for one in series] + ([(marks_name, "fill-mark")] if marks_name else [])
    if len(names) == 1:
        return Markup("")
    parts, x = [], 0.0
    for name, role in names:
        parts += [_box(x, 4, 11, 11, role), _text(x + 16, 14, name)]
        x += 34 + 7.0 * len(name)
    return join(*parts)


def _box(x: float, y: float, width: float, height: float, role: str) -> Markup:
    return tag("rect", x=f"{x:g}", y=f"{y:g}", width=f"{max(0.0, width):.4g}", height=f"{height:.4g}", class_=role)


def _text(x: float, y: float, text: str, *, anchor: str | None = None, class_: str | None = None) -> Markup:
    return tag("text", text, x=f"{x:.4g}", y=f"{y:.4g}", text_anchor=anchor, class_=class_)


def _line(x: float, y: float, to_x: float, to_y: float, class_: str) -> Markup:
    return tag("path", d=f"M{x:.4g} {y:.4g}L{to_x:.4g} {to_y:.4g}", class_=class_)


def _bars(figure: Bars) -> Markup:
    n_series = len(figure.series)
    top = TOP if n_series > 1 else 8
    group = n_series * (BAR + BAR_GAP) + GROUP_GAP
    bottom = top + group * len(figure.categories)
    room = WIDTH - NAME_ROOM - TEXT_ROOM
    highest = max(_reached(figure, j, i) for j in range(n_series) for i in range(len(figure.categories))) or 1.0
    ticks = nice_ticks(0, highest, 4)
    if ticks[-1] < highest:  # the axis ends at a tick
        ticks.append(round(ticks[-1] + ticks[1] - ticks[0], 12))
    highest = ticks[-1]
    parts = [_legend(figure.series)]
    for place in ticks:
        x = NAME_ROOM + room * place / highest
        parts += [_line(x, top, x, bottom, "grid"), _text(x, bottom + 16, f"{place:g}", anchor="middle", class_="tick")]
    for i, name in enumerate(figure.categories):
        start = top + i * group + GROUP_GAP / 2
        middle = start + (group - GROUP_GAP - BAR_GAP) / 2 + 4.5
        parts.append(_text(NAME_ROOM - 8, middle, name, anchor="end"))
        for j, one in enumerate(figure.series):
            if math.isnan(one.values[i]):
                continue
            y, width = start + j * (BAR + BAR_GAP), room * one.values[i] / highest
            parts.append(_box(NAME_ROOM, y, max(width, 1.0 if one.values[i] else 0.0), BAR, f"fill-{one.role}"))
            beyond = NAME_ROOM + room * _reached(figure, j, i) / highest + 6
            parts.append(_text(beyond, y + BAR - 2.5, figure.texts[j][i], class_="value"))
            dots = figure.points[j][i] if figure.points else ()
            parts += [_dot(NAME_ROOM + room * value / highest, y + BAR / 2) for value in dots]
    parts.append(_line(NAME_ROOM, top, NAME_ROOM, bottom, "axis"))
    parts.append(_text(NAME_ROOM + room / 2, bottom + 34, figure.axis, anchor="middle", class_="tick"))
    return _svg(figure, bottom + BOTTOM, *parts)


def _reached(figure: Bars, series: int, category: int) -> float:
    """How far a bar and its single values go."""
    value = figure.series[series].values[category]
    return max([0.0 if math.isnan(value) else value, *(figure.points[series][category] if figure.points else ())])


def _dot(x: float, y: float) -> Markup:
    return tag("circle", cx=f"{x:.4g}", cy=f"{y:g}", r=3, class_="dot")


def _columns(figure: Columns) -> Markup:
    width = WIDTH - LEFT - RIGHT
    step = width / figure.n_bins
    highest = max((value for one in figure.series for value in one.values), default=0.0) or 1.0

    def across(place: float) -> float:
        return LEFT + step * place

    def up(value: float) -> float:
        return HEIGHT - (HEIGHT - TOP - 6) * value / highest

    parts = [_legend(figure.series, figure.marks_name if figure.marks else "")]
    for place in nice_ticks(0, highest, 4):
        parts += [
            _line(LEFT, up(place), LEFT + width, up(place), "grid"),
            _text(LEFT - 6, up(place) + 4, f"{place:g}", anchor="end", class_="tick"),
        ]
    parts += [*_bins(figure, across, up), _line(LEFT, HEIGHT, LEFT + width, HEIGHT, "axis")]
    low = HEIGHT
    if figure.marks:
        low += RUG + 3
        spots = sorted({round(across(place)) for place in figure.marks})  # one tick a pixel is all that can be seen
        parts.append(tag("path", d="".join(f"M{x} {HEIGHT + 3}v{RUG}" for x in spots), class_="mark"))
    every = 2 if len(figure.ticks) > MOST_TICKS else 1
    parts += [
        _text(across(place), low + 16, label, anchor="middle", class_="tick") for place, label in figure.ticks[::every]
    ]
    parts.append(_text(LEFT + width / 2, low + 35, figure.axis, anchor="middle", class_="tick"))
    parts.append(_text(WIDTH - RIGHT, 14, f"% of {figure.share_of}", anchor="end", class_="tick"))
    return _svg(figure, low + BOTTOM, *parts)


def _bins(figure: Columns, across: Callable[[float], float], up: Callable[[float], float]) -> Iterator[Markup]:
    """Bars side by side; where places are marked, one graph's bars and an outline of the other's."""
    beside = len(figure.series) > 1 and not figure.marks
    share = 1 / len(figure.series) if beside else 1.0
    step = across(1) - across(0)
    inset = min(2.0, 0.12 * step)
    for j, one in enumerate(figure.series):
        if figure.marks and one.role == "after":
            yield _outline(one.values, across, up)
            continue
        for i, value in enumerate(one.values):
            if value:
                x = across(i + (j * share if beside else 0)) + inset
                yield _box(x, up(value), step * share - 2 * inset, HEIGHT - up(value), f"fill-{one.role}")


def _outline(values: tuple[float, ...], across: Callable[[float], float], up: Callable[[float], float]) -> Markup:
    """A line around the bins, so that what lies behind stays in sight."""
    points = [(i + side, value) for i, value in enumerate(values) for side in (0, 1)]
    path = "".join(f"L{across(x):.4g} {up(y):.4g}" for x, y in points)
    start, end = across(0), across(len(values))
    floor = up(0)
    return tag("path", d=f"M{start:.4g} {floor:.4g}{path}L{end:.4g} {floor:.4g}", class_="outline-after")
