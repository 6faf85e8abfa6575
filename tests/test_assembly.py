"""The condensed graph put together, priced and explained."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from support.graphs import build, edge_set, host, raw

from herald_gpu import ops
from herald_gpu.assembly import Picked, assemble
from herald_gpu.budget import make_budget
from herald_gpu.config import HeraldConfig
from herald_gpu.encoding import OF_KIND, Encoding
from herald_gpu.search import Trial
from herald_gpu.stages.expansion import Expansion
from herald_gpu.stages.heterophily import Heterophily
from herald_gpu.stages.links import Edges
from herald_gpu.stages.pruning import Pruning
from herald_gpu.stages.scoring import NodeScores
from herald_gpu.stages.weights import ScoreWeights

PAPER = HeraldConfig.paper()
GIVEN = raw(
    [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (3, 3), (1, 2)],
    [[1, 1, 0], [0, 1, 1], [1, 0, 0], [0, 0, 1], [1, 1, 1]],
    [0, 1, 1, 0, 1],
    [True, True, True, True, False],
)


def put_together(
    backend,
    nodes=(0, 1, 3, 4),
    *,
    columns=(0, 2),
    roots=(0, 1, 2),
    ratio=1.0,
    config=PAPER,
    depth=2,
    hetero=Heterophily(0.5, 8, 0.0),  # noqa: B008 - frozen
    given=GIVEN,
    **made,
):
    """Assemble by hand, as if the stages had chosen this."""
    published = not config.exact
    graph = build(backend, given, stored=published, all_labels=published)
    kept_columns = backend.asarray(np.array(columns))
    nothing = backend.asarray(np.zeros(given.n))
    flags = np.zeros(given.n, dtype=bool)
    flags[list(roots)] = True
    ranking = backend.asarray(np.flatnonzero(given.train))
    budget = make_budget(backend, graph, ratio, config)
    chosen = backend.asarray(np.array(nodes))
    picked = Picked(
        nodes=chosen,
        roots=backend.asarray(flags),
        columns=kept_columns,
        kept=ops.take_columns(backend, graph.features, kept_columns),
        scores=NodeScores(nothing, nothing, ranking, nothing, nothing),
        **{"coded": OF_KIND[budget.kind], **(made or neighbourhoods(nothing > 1, chosen, depth))},
    )
    return assemble(backend, graph, picked, hetero=hetero, budget=budget, config=config)


def neighbourhoods(nobody, chosen, depth):
    return {
        "weights": ScoreWeights(0.5, 0.3, 0.2),
        "tree": "some tree",
        "expansion": Expansion(nobody, nobody, depth, 4),
        "pruning": Pruning(chosen, 1),
        "added": 2,
    }


def test_parts_by_hand(backend):
    found = put_together(backend)
    # Nodes 0, 1, 3, 4 become 0, 1, 2, 3; the edges 0-1, 3-0 and 3-4 are left.
    undirected = {(0, 1), (0, 2), (2, 3)}
    assert edge_set(backend, found.adjacency) == undirected | {(b, a) for a, b in undirected}
    assert host(backend, found.features).tolist() == [[1, 0], [0, 1], [0, 1], [1, 1]]
    assert host(backend, found.labels).tolist() == [0, 1, 0, -1]
    assert host(backend, found.train_mask).tolist() == [True, True, True, False]
    assert host(backend, found.is_root).tolist() == [True, True, False, False]
    assert not host(backend, found.is_landmark).any()
    assert not host(backend, found.synthetic).any()
    assert host(backend, found.synthetic).shape == (6,)
    assert found.n_synthetic == 0
    assert found.reduction is None


def test_sizes_by_hand(backend):
    sizes = put_together(backend, ratio=0.9).sizes
    # Binary: 9 non-zeros and 10 directed edges; kept 5 non-zeros and 6 directed edges.
    assert (sizes.full_bytes, sizes.storage_bytes) == (2 * 9 + 4 * 10, 2 * 5 + 4 * 6)
    assert sizes.budget_bytes == int(0.9 * 58)
    assert sizes.kind == "binary"
    assert sizes.published_ratio is None


def test_the_kind_of_storage_prices_both(backend):
    sizes = put_together(backend, config=replace(PAPER, storage="dense")).sizes
    assert (sizes.full_bytes, sizes.storage_bytes) == (4 * 15 + 40, 4 * 8 + 24)


def test_statistics_are_those_of_the_result(backend):
    figures = put_together(backend).statistics
    assert (figures.n_nodes, figures.n_edges, figures.class_counts) == (4, 6, (2, 1))
    assert figures.edge_ratio == 6 / 10


# Landmarks and links


def with_landmarks(backend, landmarks, coded=OF_KIND["binary"], **options):
    """Nodes 0, 1 and 3, the edges 0-1 and 3-0, a landmark a class, and a link from the first of them to node 0."""
    adjacency = np.zeros((5, 5), dtype=np.float32)
    for a, b in ((0, 1), (0, 2), (0, 3)):
        adjacency[a, b] = adjacency[b, a] = 1
    synthetic = np.array([False, False, True, False, False, True])
    return put_together(
        backend,
        (0, 1, 3),
        roots=(0, 1, 3),
        config=HeraldConfig(),
        edges=Edges(backend.asarray(scipy.sparse.csr_matrix(adjacency)), backend.asarray(synthetic)),
        landmarks=backend.asarray(np.array(landmarks, dtype=np.float32)),
        coded=coded,
        trial=Trial(2, "landmarks", 0.0, None),
        **options,
    )


def test_landmarks_come_last(backend):
    found = with_landmarks(backend, [[1, 0], [1, 1]])
    assert host(backend, found.nodes).tolist() == [0, 1, 3]
    assert host(backend, found.features).tolist() == [[1, 0], [0, 1], [0, 1], [1, 0], [1, 1]]
    assert host(backend, found.labels).tolist() == [0, 1, 0, 0, 1]
    assert host(backend, found.train_mask).all()
    assert host(backend, found.is_landmark).tolist() == [False, False, False, True, True]
    assert host(backend, found.is_root).tolist() == [True, True, True, False, False]
    assert host(backend, found.synthetic).tolist() == [False, False, True, False, False, True]
    assert found.n_synthetic == 2


def test_landmarks_and_links_are_paid_for_but_are_no_training_nodes(backend):
    found = with_landmarks(backend, [[1, 0], [1, 1]])
    assert found.sizes.storage_bytes == 2 * 3 + 2 * 5 + 4 * 6  # non-zeros, signs and scales, directed edges
    assert (found.statistics.n_nodes, found.statistics.n_edges) == (5, 6)
    assert found.statistics.class_counts == (2, 1)
    assert found.missing == ()


def test_landmarks_have_scales_of_their_own(backend):
    found = with_landmarks(backend, [[0.5, -0.5], [4, 4]], coded=Encoding("dense", "int8"))
    assert host(backend, found.scales).tolist() == [1, 1]  # of the nodes, which hold whole numbers
    assert host(backend, found.features)[3:].tolist() == [[0.5, -0.5], [4, 4]]
    assert found.sizes.storage_bytes == 3 * 2 + 4 * 2 + 2 * 5 + 4 * 6


def test_an_unused_budget_of_exemplars_is_explained(backend):
    assert with_landmarks(backend, [[1, 0], [1, 1]], ratio=1.0).warnings == ()  # 40 of 58 bytes: landmarks take few
    exemplars = {"roots": (0, 1, 3), "config": HeraldConfig(), "ratio": 1.0, "added": 0}
    (note,) = put_together(backend, (0, 1, 3), **exemplars).warnings  # 22 of 58 bytes, node 2 is left out
    assert note == "only 38 % of the budget used: no further exemplar fits"
    given = replace(GIVEN, train=(True, True, False, True, False))
    (note,) = put_together(backend, (0, 1, 3), **exemplars, given=given).warnings
    assert note == "only 38 % of the budget used: it holds every training node and their neighbours"


# Published


def test_published_results_are_made_undirected(backend):
    found = put_together(backend, config=HeraldConfig.published("citation"), ratio=0.01)
    undirected = {(0, 1), (0, 2), (2, 3)}
    assert edge_set(backend, found.adjacency) == undirected | {(b, a) for a, b in undirected} | {(2, 2)}
    assert (host(backend, found.adjacency.data) == 1).all()
    assert host(backend, found.train_mask).tolist() == [True, True, False, False]  # roots among training nodes
    # Dense, 4 x 2 values and 7 directed edges over 5 x 3 values and 7 stored edges.
    assert found.sizes.published_ratio == pytest.approx((2 * 8 + 2 * 7) / (2 * 15 + 2 * 7))
    assert found.sizes.storage_bytes == 2 * 5 + 4 * 7
    assert "does not keep the budget" in found.warnings[-1]


# What is explained


def test_nothing_to_explain(backend):
    assert put_together(backend, ratio=0.6).warnings == ()


def test_heterophily_without_edges_is_said(backend):
    notes = put_together(backend, ratio=0.6, hetero=Heterophily(0.0, 0, 1.0)).warnings
    assert notes == ("no edge joins two training nodes: heterophily is taken as 0",)


def test_a_smaller_depth_is_said(backend):
    (note,) = put_together(backend, ratio=0.6, depth=1).warnings
    assert "no neighbourhood of 2 hops fits" in note
    assert note.endswith("used 1")


def test_an_unused_budget_is_explained(backend):
    (note,) = put_together(backend, ratio=1.0).warnings  # 34 of 58 bytes
    assert note.startswith("only 59 % of the budget")


def test_no_budget_at_all(backend):
    """Nodes without features and edges fit into nothing."""
    given = raw([(0, 1), (2, 1)], [[0, 0], [1, 1], [0, 0]], [0, 1, 1], [True, False, True])
    found = put_together(backend, (0, 2), columns=(0, 1), roots=(0, 2), ratio=1e-6, given=given)
    assert found.sizes.storage_bytes == found.sizes.budget_bytes == 0
    assert not [note for note in found.warnings if "nan" in note]


# Principal components


def test_components_replace_features_where_they_fit(backend):
    config = replace(PAPER, storage="dense", pca_variance=0.5)
    found = put_together(backend, config=config)
    assert found.reduction is not None
    count = found.reduction.components.shape[0]
    assert found.features.shape == (4, count)
    assert found.sizes.storage_bytes == 4 * 4 * count + 4 * 6 + 4 * (2 * count + 2)
    assert found.sizes.kind == "dense"


def test_components_that_do_not_fit_are_left_out(backend):
    found = put_together(backend, config=replace(PAPER, pca_variance=0.9), ratio=0.6)
    assert found.reduction is None
    assert found.features.shape == (4, 2)
    assert found.sizes.storage_bytes == 34
    assert any(note.startswith("PCA not applied") for note in found.warnings)
