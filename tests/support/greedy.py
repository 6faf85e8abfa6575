"""Greedy orders of exemplars by their definitions, in plain Python and whole numbers."""

from __future__ import annotations


def cover(table, free, most):
    """Places by what each adds to the cover, worked out anew for all of them at every step."""
    nodes = [j for j, flag in enumerate(free) if flag]
    covered, places = dict.fromkeys(nodes, 0), [-1] * len(free)
    for place in range(min(most, len(nodes))):
        gains = {j: sum(max(table[j][i] - covered[i], 0) for i in nodes) for j in nodes if places[j] < 0}
        best = max(gains, key=lambda j: (gains[j], -j))
        places[best] = place
        covered = {i: max(covered[i], table[best][i]) for i in nodes}
    return places


def herd(table, free, most):
    """Places by the pull of the mean of all, less that of the chosen: both times N (t + 1)."""
    nodes = [j for j, flag in enumerate(free) if flag]
    places, chosen = [-1] * len(free), []
    for place in range(min(most, len(nodes))):
        pulls = {
            j: (place + 1) * sum(table[j][i] for i in nodes) - len(nodes) * sum(table[j][i] for i in chosen)
            for j in nodes
            if places[j] < 0
        }
        best = max(pulls, key=lambda j: (pulls[j], -j))
        places[best] = place
        chosen.append(best)
    return places


RULES = {"cover": cover, "herd": herd}


def all_places(tables, free, rule, most):
    """Places of all classes in all folds; `free` is one row a fold over the classes one after the other."""
    found = []
    for row in free:
        flags, places = list(row), []
        for table in tables:
            part, flags = flags[: len(table)], flags[len(table) :]
            places += RULES[rule](table, part, most)
        found.append(places)
    return found
