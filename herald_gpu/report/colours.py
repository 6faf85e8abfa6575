"""Colours of classes, on a light and on a dark page."""

from __future__ import annotations

import colorsys

LIGHT = (
    *("#0072B2", "#D55E00", "#008A63", "#B0479B", "#A67C00"),
    *("#2A9DB5", "#882255", "#6B55C9", "#8A5A2B", "#5C8A00"),
)
DARK = (
    *("#4DA8E0", "#FF8A3D", "#35C99A", "#E38BD0", "#E0B83A"),
    *("#6BD3E6", "#E0709F", "#A99BF5", "#C99A6B", "#A6D24A"),
)
"""The same hues, each light enough to be seen on black."""
UNKNOWN_LIGHT, UNKNOWN_DARK = "#767676", "#9A9A9A"
BEFORE, AFTER = "#8A8F98", "#0072B2"
"""Of figures: the full graph, the condensed one."""
GOLDEN = 0.618033988749895


def class_colours(count: int) -> list[tuple[str, str]]:
    """Give a colour for light and one for dark pages to each class.

    Beyond ten, hues go around the circle by the golden section: neighbours in the list are far apart.

    Examples
    --------
    >>> class_colours(1)
    [('#0072B2', '#4DA8E0')]
    >>> len(set(class_colours(47)))
    47
    """
    if count <= len(LIGHT):
        return list(zip(LIGHT, DARK, strict=True))[:count]
    return [
        (_hex(i * GOLDEN % 1, 0.30 + 0.14 * (i % 3), 0.75), _hex(i * GOLDEN % 1, 0.58 + 0.11 * (i % 3), 0.75))
        for i in range(count)
    ]


def _hex(hue: float, lightness: float, saturation: float) -> str:
    return "#" + "".join(f"{round(255 * part):02X}" for part in colorsys.hls_to_rgb(hue, lightness, saturation))
