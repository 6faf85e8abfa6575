"""How things are called."""

from __future__ import annotations

from herald_gpu.experiments import condensers, names


def test_every_method_has_a_name():
    assert set(names.METHODS) == set(condensers.METHODS)
    assert len(set(names.METHODS.values())) == len(names.METHODS)


def test_nothing_is_said_where_nothing_is_missing():
    assert names.absent(["cora", "actor"], ["cora"], ["actor"]) == ""


def test_several_are_missing_and_several_stand_in():
    text = names.absent(["actor", "chameleon"], ["roman-empire", "amazon-ratings"], ["chameleon", "actor", "cora"])
    assert text == (
        "Not run: Roman-empire and Amazon-ratings, which the paper has here. "
        "Chameleon and Actor, not in its table, stand in for them.\n"
    )


def test_none_stands_in():
    assert names.absent(["cora"], ["pubmed"], ["actor"]) == "Not run: PubMed, which the paper has here.\n"
