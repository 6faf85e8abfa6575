"""Why a target is missed, where that is known: told beside it, so that nobody looks for the reason again."""

from __future__ import annotations

REASONS: dict[str, str] = {
    "dense LID": "half of the product is all that LID needs, but keeping the nearest of each row takes as long "
    "everywhere: the faster a processor multiplies (AVX-512), the more that weighs",
    "Fisher": "where nodes have few edges the products take some hundredths of a second, and what else is done for "
    "each block of columns a third of that",
    "feature count": "what is timed finds the number, the features and the nodes at once: to know what a number is "
    "worth, it makes the condensed graphs and tries them; where the number is given, the rest of this takes a third of "
    "the time",
    "whole pipeline": "between its products the default preset adds up tables of similarities for every number of "
    "features, looks at several rows for each node that it puts in order where the kernel looks at one, and builds "
    "every candidate as a graph before it is tried: no library call does that, and it takes as long as the products. "
    "Its arrays are fresh memory, which a kernel's are not",
    "default preset": "a graph of a few thousand nodes takes half a second to a second: ranking up to 2,048 features, "
    "and trials of ten or so candidates, take as long there as on a larger one, while the paper's tree and LID take "
    "little",
    "approximate LID": "it is about ten times as fast, each timed once: 9.0 to 10.6 in four runs on like machines",
    "published BONSAI": "a fiftieth of 6.9 or 6.5 s is 0.14 or 0.13 s; on these small graphs products of up to 2,048 "
    "columns with one another, and their factors, alone take about as long, and trials of ten or so candidates again",
}
"""By the name of the target."""
