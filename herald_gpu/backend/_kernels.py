"""Numba kernels of the CPU backend. Each compiles once and is cached on disk."""

from __future__ import annotations

import numpy as np
from numba import prange

from herald_gpu.backend._compiling import kernel

STRIDE = 32
"""Similarities compared at once with what a list asks for, before any is looked at alone."""


@kernel(inline="always")
def _bar(best, best_index, first):
    """What a similarity must exceed to enter a list where ids from `first` on are offered: ties go to the lower id."""
    last = best.shape[0] - 1
    if best_index[last] > first:
        return np.nextafter(best[last], np.float32(-np.inf))
    return best[last]


@kernel()
def _insert(similarity, index, best, best_index):
    """Insert into a list in falling order, equal ones by id: what it holds does not depend on the order of offers."""
    place = best.shape[0] - 1
    if similarity < best[place] or (similarity == best[place] and index > best_index[place]):
        return
    while place > 0 and (
        similarity > best[place - 1] or (similarity == best[place - 1] and index < best_index[place - 1])
    ):
        best[place] = best[place - 1]
        best_index[place] = best_index[place - 1]
        place -= 1
    best[place] = similarity
    best_index[place] = index


@kernel(nogil=True)
def offer_tile(tile, row0, column0, best, best_index):
    """Offer a tile of similarities to the lists of its rows and of its columns, or of its rows if they are the same.

    Rows are numbered from `row0`, columns from `column0`. A row is not offered to itself.
    """
    n_columns = tile.shape[1]
    whole = n_columns - n_columns % STRIDE
    bars = np.full(n_columns, np.float32(np.inf), np.float32)
    if row0 != column0:
        for j in range(n_columns):
            bars[j] = _bar(best[column0 + j], best_index[column0 + j], row0)
    for i in range(tile.shape[0]):
        row = row0 + i
        bar = _bar(best[row], best_index[row], column0)
        for left in range(0, n_columns, STRIDE):
            hits = np.uint32(left >= whole)
            if left < whole:
                for j in range(left, left + STRIDE):
                    if tile[i, j] > min(bar, bars[j]):
                        hits += np.uint32(1)
            if hits == 0:
                continue
            for j in range(left, min(left + STRIDE, n_columns)):
                similarity, column = tile[i, j], column0 + j
                if similarity > bar and column != row:
                    _insert(similarity, column, best[row], best_index[row])
                    bar = _bar(best[row], best_index[row], column0)
                if similarity > bars[j]:
                    _insert(similarity, row, best[column], best_index[column])
                    bars[j] = _bar(best[column], best_index[column], row0)


@kernel(nogil=True)
def offer_rows(tile, places, banned, column_ids, best, best_index):
    """Offer a tile to the lists of its rows alone, which are at `places`.

    Each row has one column id that it must not find (itself), or -1.
    """
    n_columns = tile.shape[1]
    whole = n_columns - n_columns % STRIDE
    first = column_ids.min()
    for i in range(tile.shape[0]):
        place = places[i]
        bar = _bar(best[place], best_index[place], first)
        for left in range(0, n_columns, STRIDE):
            hits = np.uint32(left >= whole)
            if left < whole:
                for j in range(left, left + STRIDE):
                    if tile[i, j] > bar:
                        hits += np.uint32(1)
            if hits == 0:
                continue
            for j in range(left, min(left + STRIDE, n_columns)):
                if tile[i, j] > bar and column_ids[j] != banned[i]:
                    _insert(tile[i, j], column_ids[j], best[place], best_index[place])
                    bar = _bar(best[place], best_index[place], first)


@kernel(nogil=True)
def add_postings(tile, indptr, indices, data, post_ptr, post_row, post_value):
    """Add the products of sparse rows (CSR) with others (posting lists: column -> rows) to their tile.

    `post_row` is unsigned: an index that may be negative takes a third longer.
    """
    for i in range(tile.shape[0]):
        line = tile[i]
        for p in range(indptr[i], indptr[i + 1]):
            column, value = indices[p], data[p]
            for q in range(post_ptr[column], post_ptr[column + 1]):
                line[post_row[q]] += value * post_value[q]


@kernel(parallel=True)
def dense_distances(x, inverse_norm, rows, candidates, out):
    """Half squared distance of normalised rows to their candidates, in float64.

    1 if either row is zero, infinite where there is no candidate (-1). Four candidates are summed side by side, each in
    the order of features.
    """
    n_features, last = x.shape[1], candidates.shape[1] - 1
    for i in prange(rows.shape[0]):
        u = rows[i]
        a = inverse_norm[u]
        unit = np.empty(n_features, np.float64)
        for f in range(n_features):
            unit[f] = np.float64(x[u, f]) * a
        for j in range(0, last + 1, 4):
            v0, v1 = max(candidates[i, j], 0), max(candidates[i, min(j + 1, last)], 0)
            v2, v3 = max(candidates[i, min(j + 2, last)], 0), max(candidates[i, min(j + 3, last)], 0)
            b0, b1, b2, b3 = inverse_norm[v0], inverse_norm[v1], inverse_norm[v2], inverse_norm[v3]
            t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
            for f in range(n_features):
                own = unit[f]
                s0, s1 = own - np.float64(x[v0, f]) * b0, own - np.float64(x[v1, f]) * b1
                s2, s3 = own - np.float64(x[v2, f]) * b2, own - np.float64(x[v3, f]) * b3
                t0 += s0 * s0
                t1 += s1 * s1
                t2 += s2 * s2
                t3 += s3 * s3
            totals = (t0, t1, t2, t3)
            for step in range(min(4, last + 1 - j)):
                out[i, j + step] = 0.5 * totals[step]
        for j in range(last + 1):
            v = candidates[i, j]
            if v < 0:
                out[i, j] = np.inf
            elif a == 0.0 or inverse_norm[v] == 0.0:
                out[i, j] = 1.0


@kernel(parallel=True)
def sparse_distances(indptr, indices, data, inverse_norm, rows, candidates, out):
    """As `dense_distances`, merging two sorted CSR rows."""
    for i in prange(rows.shape[0]):
        u = rows[i]
        a = inverse_norm[u]
        for j in range(candidates.shape[1]):
            v = candidates[i, j]
            if v < 0:
                out[i, j] = np.inf
                continue
            b = inverse_norm[v]
            if a == 0.0 or b == 0.0:
                out[i, j] = 1.0
                continue
            p, p_end = indptr[u], indptr[u + 1]
            q, q_end = indptr[v], indptr[v + 1]
            total = 0.0
            while p < p_end or q < q_end:
                if q == q_end or (p < p_end and indices[p] < indices[q]):
                    step = np.float64(data[p]) * a
                    p += 1
                elif p == p_end or indices[q] < indices[p]:
                    step = np.float64(data[q]) * b
                    q += 1
                else:
                    step = np.float64(data[p]) * a - np.float64(data[q]) * b
                    p += 1
                    q += 1
                total += step * step
            out[i, j] = 0.5 * total


@kernel()
def _gather(indptr, indices, root, depth, member, node_price, room, bounded, seen, stamp, queue, fresh):
    """Search from a root: (new nodes, their price), or (-1, price) as soon as they alone exceed the room."""
    queue[0] = root
    seen[root] = stamp
    filled, low, n_fresh, price = 1, 0, 0, 0.0
    if not member[root]:
        fresh[0] = root
        n_fresh, price = 1, node_price[root]
        if bounded and price > room:
            return -1, price
    for _ in range(depth):
        high = filled
        for i in range(low, high):
            u = queue[i]
            for p in range(indptr[u], indptr[u + 1]):
                v = indices[p]
                if seen[v] == stamp:
                    continue
                seen[v] = stamp
                queue[filled] = v
                filled += 1
                if not member[v]:
                    fresh[n_fresh] = v
                    n_fresh += 1
                    price += node_price[v]
                    if bounded and price > room:
                        return -1, price
        low = high
    return n_fresh, price


@kernel()
def _edge_price(indptr, indices, repeats, fresh, n_fresh, is_fresh, member, edge, edge_to_member, room, bounded):
    """Price of the edges among new nodes and to members; stops early once it exceeds the room."""
    price = 0.0
    for i in range(n_fresh):
        u = fresh[i]
        for p in range(indptr[u], indptr[u + 1]):
            v = indices[p]
            if is_fresh[v]:
                price += edge * repeats[p]
            elif member[v]:
                price += edge_to_member * repeats[p]
        if bounded and price > room:
            return price
    return price


@kernel(nogil=True)
def grow(
    indptr,
    indices,
    repeats,
    roots,
    node_price,
    edge,
    edge_to_member,
    limit,
    depth,
    patience,
    quota,
    stop_when_full,
    member,
    spent,
):
    """Budgeted expansion in rank order; changes `member` in place: (considered, accepted, spent)."""
    n = indptr.shape[0] - 1
    considered = np.zeros(n, np.bool_)
    is_fresh = np.zeros(n, np.bool_)
    seen = np.full(n, -1, np.int64)
    queue = np.empty(n, np.int64)
    fresh = np.empty(n, np.int64)
    bounded = node_price.min() >= 0.0 if n else True  # early rejection needs prices that only add up
    accepted, rejections = 0, 0
    for stamp in range(roots.shape[0]):
        if quota >= 0 and accepted >= quota:
            break
        root = roots[stamp]
        considered[root] = True
        room = limit - spent
        n_fresh, price = _gather(
            indptr, indices, root, depth, member, node_price, room, bounded, seen, stamp, queue, fresh
        )
        if n_fresh == 0:
            continue
        if n_fresh > 0:
            for i in range(n_fresh):
                is_fresh[fresh[i]] = True
            price += _edge_price(
                indptr, indices, repeats, fresh, n_fresh, is_fresh, member, edge, edge_to_member, room - price, bounded
            )
            for i in range(n_fresh):
                is_fresh[fresh[i]] = False
        if n_fresh > 0 and spent + price <= limit:
            for i in range(n_fresh):
                member[fresh[i]] = True
            spent += price
            accepted += 1
            rejections = 0
        else:
            rejections += 1
            if rejections > patience:
                break
        if stop_when_full and spent >= limit:
            break
    return considered, accepted, spent
