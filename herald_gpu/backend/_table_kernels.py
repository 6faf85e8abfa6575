"""Numba kernels over whole tables: similarities and what is chosen by them, sums by class. Each is cached on disk."""

from __future__ import annotations

import numpy as np

from herald_gpu.backend._compiling import kernel

STRETCH = 64
"""Nodes of a class of which the one with the largest gain is kept."""
COSINE_ROWS, COSINE_COLUMNS = 64, 1024
"""Rows and columns of products that are scaled at a time: long stretches of rows, so that memory is read ahead."""
COSINE_PAD = 32
"""Columns that a tile has besides: rows that are a power of two apart would share the same lines of a cache."""
TO_WHOLE = np.float32(1.5 * 2**23)
"""Added and taken off again, this rounds a float32 to the nearest whole number, halves to even: eight at a time, which
`np.rint` is not."""
MOST_SIMILAR = 32767
"""More than any similarity: what cannot be added to."""


@kernel(nogil=True)
def _added(row, covered):
    """Sum of what a row has beyond what is covered; in 32 bits throughout, so that it is done eight at a time."""
    total = np.int32(0)
    for i in range(row.shape[0]):
        total = np.int32(total + max(np.int32(row[i] - covered[i]), np.int32(0)))
    return total


@kernel(nogil=True)
def _leader(gain, low, high):
    """Place of the largest gain of a stretch, the first of equals."""
    best = low
    for j in range(low + 1, high):
        if gain[j] > gain[best]:
            best = j
    return best


@kernel(nogil=True)
def _cover_class(table, n, free, most, places):
    """Greedy cover of one class. Gains only fall, so an old gain is a bound: it is worked out anew when it leads.

    Leaders of stretches are kept, so that the best is found among those.
    """
    covered = np.zeros(n, np.int16)
    gain = np.full(n, -1, np.int32)
    known = np.zeros(n, np.int32)  # how many were chosen when the gain was worked out
    for i in range(n):
        if not free[i]:
            covered[i] = MOST_SIMILAR  # nothing can be added there
    for j in range(n):
        if free[j]:
            gain[j] = _added(table[j * n : (j + 1) * n], covered)
    leaders = np.empty((n + STRETCH - 1) // STRETCH, np.int64)
    for stretch in range(leaders.shape[0]):
        leaders[stretch] = _leader(gain, stretch * STRETCH, min(n, (stretch + 1) * STRETCH))
    chosen = 0
    while chosen < most and n > 0:
        best = leaders[0]
        for stretch in range(1, leaders.shape[0]):
            if gain[leaders[stretch]] > gain[best]:
                best = leaders[stretch]
        if gain[best] < 0:
            return
        row = table[best * n : (best + 1) * n]
        if known[best] == chosen:
            for i in range(n):
                covered[i] = max(covered[i], row[i])
            places[best] = chosen
            gain[best] = -1
            chosen += 1
        else:
            gain[best] = _added(row, covered)
            known[best] = chosen
        stretch = best // STRETCH
        leaders[stretch] = _leader(gain, stretch * STRETCH, min(n, (stretch + 1) * STRETCH))


@kernel(nogil=True)
def _herd_class(table, n, free, most, places):
    """Herding of one class, in whole numbers: (t + 1) * sum over all - N * sum over the chosen."""
    attraction = np.zeros(n, np.int64)
    taken = np.zeros(n, np.int64)
    counted = np.zeros(n, np.int32)
    n_free = 0
    for j in range(n):
        if free[j]:
            counted[j] = 1
            n_free += 1
    for j in range(n):
        if free[j]:
            row = table[j * n : (j + 1) * n]
            total = np.int32(0)
            for i in range(n):
                total = np.int32(total + np.int32(row[i] * counted[i]))
            attraction[j] = total
    for chosen in range(min(most, n_free)):
        best, value = -1, 0
        for j in range(n):
            if free[j] and places[j] < 0:
                score = (chosen + 1) * attraction[j] - n_free * taken[j]
                if best < 0 or score > value:
                    best, value = j, score
        places[best] = chosen
        row = table[best * n : (best + 1) * n]
        for i in range(n):
            taken[i] += row[i]


@kernel(nogil=True)
def place_exemplars(similarity, sizes, free, jobs, herd, most, places):
    """Order the exemplars of some (fold, class) after another."""
    for job in range(jobs.shape[0]):
        fold, code = jobs[job]
        first = sizes[:code].sum()
        start = (sizes[:code] ** 2).sum()
        n = sizes[code]
        table, own = similarity[start : start + n * n], slice(first, first + n)
        if herd:
            _herd_class(table, n, free[fold, own], most, places[fold, own])
        else:
            _cover_class(table, n, free[fold, own], most, places[fold, own])


@kernel(nogil=True)
def add_scatter(table, places, codes, counts, used, sums, within):
    """Sum rows by class, and then their squared distances to the means, in the order of rows."""
    width = table.shape[1]
    for i in range(places.shape[0]):
        row, total = table[places[i]], sums[codes[i]]
        for j in range(width):
            total[j] += row[j]
    means = np.zeros_like(sums)
    for code in range(sums.shape[0]):
        inverse = 1.0 / max(1, counts[code])
        for j in range(width):
            means[code, j] = sums[code, j] * inverse
    for i in range(places.shape[0]):
        if used[codes[i]] == 0.0:
            continue
        row, mean = table[places[i]], means[codes[i]]
        for j in range(width):
            apart = row[j] - mean[j]
            within[j] += apart * apart


@kernel(nogil=True)
def add_cosines(first, second, third, factors, low, high, out):
    """Scale three tables of products to cosines, add them up and round, for some rows and their columns.

    By tiles below the diagonal, each of which gives the one across it, too. Cosines of either half are scaled by the
    row first, then by the column.
    """
    across = np.empty((min(COSINE_ROWS, high - low), min(COSINE_COLUMNS, high) + COSINE_PAD), np.int16)
    for top in range(low, high, COSINE_ROWS):
        bottom = min(high, top + COSINE_ROWS)
        for left in range(0, bottom, COSINE_COLUMNS):
            right = min(bottom, left + COSINE_COLUMNS)
            one, two, three = factors[0, left:right], factors[1, left:right], factors[2, left:right]
            for i in range(top, bottom):
                x, y, z = first[i, left:right], second[i, left:right], third[i, left:right]
                own, turned, width = out[i, left:right], across[i - top], min(right, i + 1) - left
                a, b, c = factors[0, i], factors[1, i], factors[2, i]
                for j in range(width):
                    total = x[j] * a * one[j] + y[j] * b * two[j] + z[j] * c * three[j]
                    own[j] = np.int16(np.int32((total + TO_WHOLE) - TO_WHOLE))
                for j in range(width):
                    total = x[j] * one[j] * a + y[j] * two[j] * b + z[j] * three[j] * c
                    turned[j] = np.int16(np.int32((total + TO_WHOLE) - TO_WHOLE))
            for j in range(left, right):
                start = max(top, j + 1)
                row, column = out[j, start:bottom], across[start - top :, j - left]
                for i in range(row.shape[0]):
                    row[i] = column[i]


@kernel(nogil=True)
def multiply(indptr, indices, data, x, out):
    """Sums of the rows of a table that each row of a CSR matrix names, times its values, in the order it names them.

    Four rows are read side by side: what is added to is then read and written once for all of them.
    """
    width = x.shape[1]
    for i in range(indptr.shape[0] - 1):
        total, place, end = out[i], indptr[i], indptr[i + 1]
        for j in range(width):
            total[j] = 0
        while place + 4 <= end:
            a, b, c, d = x[indices[place]], x[indices[place + 1]], x[indices[place + 2]], x[indices[place + 3]]
            s, t, u, v = data[place], data[place + 1], data[place + 2], data[place + 3]
            for j in range(width):
                total[j] = (((total[j] + s * a[j]) + t * b[j]) + u * c[j]) + v * d[j]
            place += 4
        while place < end:
            a, s = x[indices[place]], data[place]
            for j in range(width):
                total[j] += s * a[j]
            place += 1


@kernel(nogil=True)
def reorder_columns(x, order):
    """Put the columns of a table in another order, in its own place: a row at a time, which a cache holds."""
    row = np.empty(order.shape[0], x.dtype)
    for i in range(x.shape[0]):
        own = x[i]
        for j in range(row.shape[0]):
            row[j] = own[order[j]]
        own[:] = row
