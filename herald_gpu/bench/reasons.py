"""Why a target is missed, where that is known: told beside it, so that nobody looks for the reason again."""

from __future__ import annotations

REASONS: dict[str, str] = {
    "feature count": "what is timed finds the number, the features and the nodes at once: to know what a number is "
    "worth, it makes the condensed graphs and tries them",
    "default preset": "a graph of a few thousand nodes takes a second or two: ranking up to 2,048 features, and trials "
    "of ten or so candidates, take as long there as on a larger one, while the paper's tree and LID take little",
}
"""By the name of the target."""
