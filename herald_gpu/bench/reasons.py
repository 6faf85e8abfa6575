"""Why a target is missed, where that is known: told beside it, so that nobody looks for the reason again."""

from __future__ import annotations

REASONS: dict[str, str] = {
    "Fisher": "where nodes have few edges, sparse products are short: measuring how rows scatter around the means of "
    "their classes takes as long as a product does",
    "feature count": "what is timed finds the number, the features and the nodes at once: to know what a number is "
    "worth, it makes the condensed graphs and tries them; where the number is given, the rest of this takes half of "
    "the time or less",
    "whole pipeline": "between its products the default preset scales, rounds and adds up tables of similarities for "
    "every number of features, and builds every candidate as a graph before it is tried: no library call does that, "
    "and it takes as long as the products",
    "default preset": "a graph of a few thousand nodes takes a second or two: ranking up to 2,048 features, and trials "
    "of ten or so candidates, take as long there as on a larger one, while the paper's tree and LID take little",
    "approximate LID": "each row meets the rows of sixteen lists of 895: fewer would be faster, but agree less",
    "approximate LID agrees": "rows lie near a flat sheet without groups: lists cut it anywhere, and the nearest rows "
    "are spread over more lists than are met. Where rows have groups, agreement is better (docs/neighbours.md); a run "
    "measures its own and warns",
    "published BONSAI": "a fiftieth of 6.9 or 6.5 s is 0.14 or 0.13 s; on these small graphs the default preset takes "
    "one or two seconds, whichever they are, for the reason given with its own target",
}
"""By the name of the target."""
