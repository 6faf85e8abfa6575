"""From Dask collections to a graph in partitions, held by the workers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu.distributed.parts import Layout
from herald_gpu.distributed.pieces import piece_facts, piece_ids, read_piece, slice_piece, sorted_ids
from herald_gpu.distributed.shuffle import (
    bucket_edges,
    bucket_facts,
    join_edges,
    make_part,
    part_facts,
    pick_bucket,
    rows_facts,
)
from herald_gpu.errors import InputError
from herald_gpu.graph import cheapest_kind, not_finite
from herald_gpu.io import marks
from herald_gpu.io.labels import check_marks, distinct_classes, plain_classes, unlabelled_hint, unlabelled_note

if TYPE_CHECKING:
    from herald_gpu.distributed.collections import Given
    from herald_gpu.distributed.crew import Crew
    from herald_gpu.distributed.pieces import PieceFacts
    from herald_gpu.stages.scaling import Scaling


@dataclass(frozen=True)
class PartedGraph:
    """A graph on workers, and what the client keeps of it.

    Attributes
    ----------
    parts : list of futures of Part
    layout : Layout
    n_stored : int
        Feature values that are not zero, as they were given.
    class_counts : int array
        Training nodes by class.
    class_values : array
        The caller's value of each class.
    ids : array or range
        Of all nodes, ascending.
    notes : list of str
        How marks and labels were read, and what was dropped.
    check : int
        Tells this graph from another.
    received : int
        Bytes that were exchanged to bring rows to their partitions.
    scaling : Scaling, optional
        How features of the partitions were scaled, on the host.
    """

    parts: list[Any]
    layout: Layout
    n_stored: int
    class_counts: np.ndarray
    class_values: np.ndarray
    ids: np.ndarray | range
    notes: list[str]
    check: int
    received: int
    scaling: Scaling | None = None


def read_graph(crew: Crew, given: Given, bounds: tuple[int, ...] | None = None) -> PartedGraph:
    """Build partitions.

    Parameters
    ----------
    crew : Crew
    given : Given
        The caller's collections, taken apart.
    bounds : tuple of int, optional
        Of the partitions; by default those of `feats` where ids ascend through them, else equal parts.
    """
    pieces = [
        crew.submit(read_piece, rows, labels, train, given.columns, given.unlabelled, first, given.categories)
        for rows, labels, train, first in zip(given.nodes, given.labels, given.train, given.firsts, strict=True)
    ]
    facts = crew.gather([crew.submit(piece_facts, piece, near=piece) for piece in pieces])
    classes, kind = _check(facts, given)
    ids, ends = _ids(crew, pieces, facts)
    moved = bounds is not None or ends is None
    bounds = bounds or ends or _equal(sum(one.n_rows for one in facts), len(pieces))
    everyone = range(len(bounds) - 1)
    known = ids if isinstance(ids, range) else crew.submit(sorted_ids, [crew.submit(piece_ids, one) for one in pieces])
    held = _place_pieces(crew, pieces, facts, known, bounds, moved=moved)
    buckets = [crew.submit(bucket_edges, edges, given.columns, known, bounds, given.origin) for edges in given.edges]
    counted = crew.gather([crew.submit(bucket_facts, one, near=one) for one in buckets])
    taken = [[crew.submit(pick_bucket, one, p, near=one) for one in buckets] for p in everyone]
    rows = [crew.submit(join_edges, taken[p], bounds, p) for p in everyone]
    repeated, came = zip(*crew.gather([crew.submit(rows_facts, one, near=one) for one in rows]), strict=True)
    del buckets, taken
    sparse = kind != "dense"
    parts = [crew.submit(make_part, rows[p], held[p], classes, p, bounds, sparse, near=rows[p]) for p in everyone]
    n_classes = len(classes)
    told = crew.gather([crew.submit(part_facts, one, n_classes, near=one) for one in parts])
    n_edges = sum(one.n_edges for one in told)
    n_loops = sum(one.n_loops for one in counted)
    if sum(one.n_given for one in counted) == 0:
        msg = "edges is empty: pass at least one edge"
        raise InputError(msg)
    if n_edges == 0:
        msg = "edges holds nothing but self loops: pass at least one edge between two nodes"
        raise InputError(msg)
    n_repeated = sum(one.n_repeated for one in counted) + sum(repeated)
    dropped = ((n_loops, "self loops"), (n_repeated, "duplicate edges"))
    layout = Layout(bounds, len(given.names), n_classes, kind, n_edges)
    return PartedGraph(
        parts=parts,
        layout=layout,
        n_stored=sum(one.n_stored for one in told),
        class_counts=np.sum([one.classes for one in told], axis=0),
        class_values=plain_classes(classes),
        ids=ids,
        notes=[*_notes(facts, given), *(f"{count} {what} dropped" for count, what in dropped if count)],
        check=hash((bounds, tuple(one.check for one in told))),
        received=sum(came),
    )


def _check(facts: list[PieceFacts], given: Given) -> tuple[np.ndarray, Any]:
    """Refuse what cannot be condensed; give classes and the kind of the features."""
    n_rows = sum(one.n_rows for one in facts)
    if n_rows == 0:
        msg = "feats has no rows: the graph is empty, pass at least one training node of two classes"
        raise InputError(msg)
    name = given.label_name
    n_known, n_train = sum(one.n_known for one in facts), sum(one.n_train for one in facts)
    wanted = given.train[0] if given.origin != "array" else None  # ids of training nodes, the same for all partitions
    if wanted is not None and n_train < len(wanted):
        msg = f"train names {len(wanted) - n_train} nodes that feats does not have: correct them"
        raise InputError(msg)
    hint = unlabelled_hint(sum(one.n_unlabelled for one in facts), given.unlabelled)
    check_marks(n_known, n_train, sum(one.n_blind for one in facts), name, hint)
    classes, _ = distinct_classes(np.concatenate([one.seen for one in facts]), name, hint)
    bad = [one.bad for one in facts if one.bad is not None]
    if bad:
        raise not_finite(sum(one[0] for one in bad), given.names[bad[0][1]], bad[0][2])
    n_stored, binary = sum(one.n_stored for one in facts), all(one.binary for one in facts)
    return classes, cheapest_kind((n_rows, len(given.names)), n_stored, binary=binary)


def _notes(facts: list[PieceFacts], given: Given) -> list[str]:
    """Say how training marks and labels of all partitions were read."""
    reading = marks.together([one.reading for one in facts if one.reading is not None])
    unlabelled = unlabelled_note(sum(one.n_unlabelled for one in facts), given.unlabelled, marked=given.marked)
    return unlabelled if reading is None else [reading.note, *unlabelled]


def _ids(crew: Crew, pieces: list[Any], facts: list[PieceFacts]) -> tuple[np.ndarray | range, tuple[int, ...] | None]:
    """Ids of all nodes, ascending; and where pieces end, if they ascend from one to the next."""
    ends = tuple(np.cumsum([0, *(one.n_rows for one in facts)]).tolist())
    filled = [one for one in facts if one.n_rows]
    inner = all(one.ascending for one in facts)
    if inner and len(filled) == len(facts) and all(one.last < two.first for one, two in pairwise(filled)):
        if all(one.whole for one in filled) and (filled[0].first, filled[-1].last) == (0, ends[-1] - 1):
            return range(ends[-1]), ends
        return np.concatenate(crew.gather([crew.submit(piece_ids, piece, near=piece) for piece in pieces])), ends
    every = crew.submit(sorted_ids, [crew.submit(piece_ids, piece, near=piece) for piece in pieces])
    ids = crew.gather([every])[0]
    numbered = ids.dtype.kind in "iu" and (ids[0], ids[-1]) == (0, len(ids) - 1)
    return (range(len(ids)) if numbered else ids), None


def _place_pieces(
    crew: Crew,
    pieces: list[Any],
    facts: list[PieceFacts],
    known: Any,  # noqa: ANN401 - ids of all nodes: a range, or a future of them
    bounds: tuple[int, ...],
    *,
    moved: bool,
) -> list[list[Any]]:
    """Nodes of every partition: pieces as they are, or slices of all of them."""
    spans = list(pairwise(bounds))
    if not moved:
        return [[(np.arange(*span), piece)] for span, piece in zip(spans, pieces, strict=True)]
    filled = [piece for piece, one in zip(pieces, facts, strict=True) if one.n_rows]
    return [[crew.submit(slice_piece, piece, known, *span, near=piece) for piece in filled] for span in spans]


def _equal(n_nodes: int, n_parts: int) -> tuple[int, ...]:
    """Bounds of equal parts, none of them empty.

    Examples
    --------
    >>> _equal(10, 3)
    (0, 3, 6, 10)
    """
    n_parts = max(1, min(n_parts, n_nodes))
    return tuple(n_nodes * part // n_parts for part in range(n_parts + 1))
