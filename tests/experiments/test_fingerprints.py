"""Fingerprints of condensed graphs."""

from __future__ import annotations

from dataclasses import replace

from outcomes import small_graph

from herald_gpu import baselines, condense
from herald_gpu.experiments.condensers import Made
from herald_gpu.experiments.fingerprints import fingerprint


def made(ratio=0.3, graph_as="clean", **options):
    g = small_graph()
    given = (g.edge_index, g.features, g.labels, g.train)
    small = baselines.run("random", *given, ratio=ratio, backend="cpu", **options)
    return Made(small, graph_as, scaled=False)


def test_equal_graphs_have_one():
    assert fingerprint(made()) == fingerprint(made())


def test_whatever_training_depends_on_changes_it():
    one = made()
    others = [
        made(random_state=1),
        made(links="none"),
        made(graph_as="stored"),
        replace(one, graph=replace(one.graph, feature_ids=one.graph.feature_ids + 1)),
        replace(one, graph=replace(one.graph, features=2 * one.graph.features)),
        replace(one, graph=replace(one.graph, train_mask=~one.graph.train_mask)),
        Made("full", "clean", scaled=False),
    ]
    assert len({fingerprint(other) for other in [one, *others]}) == 1 + len(others)


def test_of_the_method_itself():
    g = small_graph()
    small = condense(g.edge_index, g.features, g.labels, g.train, ratio=0.5, backend="cpu")
    assert len(fingerprint(Made(small, "clean", scaled=False))) == 24
