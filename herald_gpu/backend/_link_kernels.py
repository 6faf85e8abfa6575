"""Numba kernels of neighbours of neighbours. Each compiles once and is cached on disk."""

from __future__ import annotations

import numpy as np

from herald_gpu.backend._compiling import kernel
from herald_gpu.backend._kernels import _insert


@kernel(nogil=True)
def add_back(links, width):
    """Fill columns from `width` on with the rows that have a row among their first `width`, nearest first.

    Those that a row has itself are left out, so that they take no place.
    """
    n, places = links.shape
    filled = np.full(n, width, np.int32)
    for rank in range(width):
        for row in range(n):
            to = links[row, rank]
            if to < 0 or filled[to] == places:
                continue
            known = False
            for j in range(width):
                known |= links[to, j] == row
            if not known:
                links[to, filled[to]] = row
                filled[to] += 1


@kernel(nogil=True)
def _collect(links, width, row, seen, found):
    """Write what links lead to in one step back or two steps, each once and none that was seen; give how many."""
    count, places = 0, links.shape[1]
    for j in range(width, places):
        other = links[row, j]
        if other < 0:
            break
        if seen[other] != row:
            seen[other] = row
            found[count] = other
            count += 1
    for j in range(width):
        middle = links[row, j]
        if middle < 0:
            break
        for step in range(places):
            other = links[middle, step]
            if other >= 0 and seen[other] != row:
                seen[other] = row
                found[count] = other
                count += 1
    return count


# Sums may be taken in any order, so that they are made eight at a time: one compiled kernel always takes the same.
@kernel(nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _four_products(own, rows, a, b, c, d):
    """Products of a row with four others, which are read side by side: waiting for memory is what takes time."""
    first, second, third, fourth = rows[a], rows[b], rows[c], rows[d]
    s, t, u, v = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    for f in range(own.shape[0]):
        s += own[f] * first[f]
        t += own[f] * second[f]
        u += own[f] * third[f]
        v += own[f] * fourth[f]
    return s, t, u, v


@kernel(nogil=True)
def offer_linked(rows, links, width, low, high, seen, found, best, best_index):
    """Offer to the lists of rows from `low` to `high` what their links lead to.

    Links are not changed, and a row changes its own list alone: the outcome does not depend on the order of rows.
    `seen` holds numbers of other rows only, or -1.
    """
    last = best.shape[1] - 1
    for row in range(low, high):
        seen[row] = row
        for j in range(last + 1):
            if best_index[row, j] >= 0:
                seen[best_index[row, j]] = row
        count = _collect(links, width, row, seen, found)
        found[count : count + 3] = row  # the last four may be fewer
        for j in range(0, count, 4):
            products = _four_products(rows[row], rows, found[j], found[j + 1], found[j + 2], found[j + 3])
            for step in range(min(4, count - j)):
                if products[step] >= best[row, last]:
                    _insert(products[step], found[j + step], best[row], best_index[row])
