"""Every constant of the method, what it may be, and the presets."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace

import numpy as np
import pytest

from herald_gpu import HeraldConfig
from herald_gpu.errors import ConfigError, HeraldError

METHOD = {
    "storage": "auto",
    "encoding": "graph",
    "selection": "neighbourhoods",
    "landmarks": False,
    "edges": "real",
    "feature_density": True,
    "on_infeasible": "raise",
    "steepness": 8.0,
    "midpoint": 0.4,
    "base_weights": (0.4, 0.4, 0.2),
    "fixed_weights": None,
    "feature_count": None,
    "tree_depth": 50,
    "tree_seed": 42,
    "feature_tree": "backend",
    "feature_ranking": "fisher",
    "hops": 2,
    "fisher_eps": 1e-12,
    "min_class_size": 1,
    "lid": "exact",
    "lid_neighbours": 10,
    "lid_rule": "exact",
    "lid_floor": 1e-12,
    "lid_reference": 512,
    "lid_scaling": "minmax",
    "lid_zero_rows": "cap",
    "node_ranking": "score",
    "depth": 2,
    "expansion_factor": 1.9,
    "patience": 100,
    "restart": 0.15,
    "ppr_tol": 1e-6,
    "ppr_max_iter": 100,
    "lower_tolerance": 0.99,
    "upper_tolerance": 1.01,
    "trim_roots": False,
    "pca_variance": None,
    "accounting": "exact",
}

EXEMPLARS = {
    "exemplar_rule": "auto",
    "homophily_switch": 0.5,
    "prior_share": 0.5,
    "linked_share": 0.5,
    "smallest_pool": 1024,
    "largest_pool": 2048,
    "trial_nodes": 2000,
    "fewest_exemplars": 5,
}
"""Constants that the paper does not have."""


def differences(one, other):
    return {key: value for key, value in other.to_dict().items() if one.to_dict()[key] != value}


def test_the_paper_preset_is_the_method():
    found = HeraldConfig.paper().to_dict()
    assert {key: value for key, value in found.items() if key not in EXEMPLARS} == METHOD


def test_the_default_departs_from_the_paper_in_what_the_result_is_made_of():
    found = HeraldConfig().to_dict()
    assert {key: found[key] for key in EXEMPLARS} == EXEMPLARS
    assert differences(HeraldConfig.paper(), HeraldConfig()) == {
        "encoding": "auto",
        "selection": "exemplars",
        "landmarks": True,
        "edges": "auto",
        "feature_density": False,
    }


@pytest.mark.parametrize("kind", ["citation", "pubmed", "scaled"])
def test_the_published_preset(kind):
    assert differences(HeraldConfig.paper(), HeraldConfig.published(kind)) == {
        "accounting": kind,
        "fisher_eps": 1e-8,
        "min_class_size": 2,
        "lid_rule": "clipped",
        "lid_floor": 1e-8,
        "lid": "sampled",
        "expansion_factor": 10.0,
    }
    assert not HeraldConfig.published(kind).exact
    assert HeraldConfig().exact


def test_presets_take_changes():
    assert HeraldConfig.paper(depth=1, lid_scaling="rank").depth == 1
    assert HeraldConfig.paper(lid_scaling="rank").lid_scaling == "rank"
    assert HeraldConfig.published("pubmed", lid="exact").lid == "exact"


def test_an_unknown_published_kind():
    with pytest.raises(ConfigError, match="citation"):
        HeraldConfig.published("cora")


BAD = [
    ("storage", "csr"),
    ("encoding", "int4"),
    ("selection", "roots"),
    ("landmarks", "yes"),
    ("landmarks", None),
    ("edges", "synthetic"),
    ("exemplar_rule", "random"),
    ("feature_density", None),
    ("homophily_switch", 1.5),
    ("prior_share", -0.1),
    ("prior_share", True),
    ("linked_share", 1.01),
    ("smallest_pool", 0),
    ("smallest_pool", 65_537),
    ("largest_pool", 10**6),
    ("largest_pool", 10.0),
    ("trial_nodes", 0),
    ("fewest_exemplars", 0),
    ("on_infeasible", "ignore"),
    ("feature_ranking", None),
    ("lid_scaling", "zscore"),
    ("lid_zero_rows", 0),
    ("lid_rule", ""),
    ("node_ranking", "degree"),
    ("accounting", "published"),
    ("tree_depth", 0),
    ("tree_depth", 2.0),
    ("lid_neighbours", 0),
    ("lid_neighbours", True),
    ("ppr_max_iter", 0),
    ("min_class_size", 0),
    ("tree_seed", -1),
    ("hops", -1),
    ("depth", -1),
    ("depth", "2"),
    ("patience", -1),
    ("feature_count", 0),
    ("feature_count", 1.5),
    ("feature_tree", "gpu"),
    ("lid", "fast"),
    ("lid", None),
    ("lid_reference", 0),
    ("lid_reference", 1),
    ("lid_reference", None),
    ("fisher_eps", 0.0),
    ("lid_floor", -1e-9),
    ("ppr_tol", 0),
    ("steepness", 0),
    ("steepness", float("inf")),
    ("steepness", float("nan")),
    ("midpoint", -0.1),
    ("midpoint", 1.1),
    ("restart", 0),
    ("restart", 1.5),
    ("expansion_factor", 0.99),
    ("expansion_factor", None),
    ("lower_tolerance", 1.01),
    ("upper_tolerance", 0.99),
    ("pca_variance", 0.0),
    ("pca_variance", 1.01),
    ("base_weights", (0.4, 0.4)),
    ("base_weights", (0.1, 0.6, 0.5)),
    ("base_weights", (0, 0, 0)),
    ("base_weights", None),
    ("fixed_weights", (-1, 1, 1)),
    ("fixed_weights", (0, 0, 0)),
    ("fixed_weights", "abc"),
    ("fixed_weights", (1, 1, float("nan"))),
]


@pytest.mark.parametrize("preset", [HeraldConfig, HeraldConfig.paper], ids=["default", "paper"])
@pytest.mark.parametrize(("name", "value"), BAD, ids=[f"{name}={value!r}" for name, value in BAD])
def test_values_outside_the_range_are_refused_by_name(name, value, preset):
    with pytest.raises(ConfigError, match=f"^{name}=.* is not valid") as error:
        preset(**{name: value})
    assert "pass" in str(error.value)
    assert isinstance(error.value, HeraldError)
    assert isinstance(error.value, ValueError)


GOOD = [
    ("midpoint", 0),
    ("midpoint", 1),
    ("restart", 1),
    ("depth", 0),
    ("patience", 0),
    ("hops", 0),
    ("expansion_factor", 1),
    ("pca_variance", 1.0),
    ("base_weights", (1, 0, 0)),
    ("base_weights", (0.6, 0.4, 0.2)),
    ("base_weights", [0.2, 0.2, 0.2]),
    ("fixed_weights", [3, 2, 1]),
    ("lower_tolerance", 0),
    ("homophily_switch", 0),
    ("prior_share", 1),
    ("linked_share", 1.0),
    ("trial_nodes", 1),
]


@pytest.mark.parametrize(("name", "value"), GOOD, ids=[f"{name}={value!r}" for name, value in GOOD])
def test_values_at_the_edge_of_the_range(name, value):
    found = getattr(HeraldConfig.paper(**{name: value}), name)
    assert found == (tuple(float(part) for part in value) if isinstance(value, tuple | list) else value)


def test_instances_cannot_be_changed_but_replaced():
    config = HeraldConfig.paper()
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.depth = 1
    assert replace(config, depth=1).depth == 1
    with pytest.raises(ConfigError):
        replace(config, depth=-1)


def test_options_are_keyword_only():
    with pytest.raises(TypeError):
        HeraldConfig("dense")


def test_to_dict_is_plain():
    for config in (HeraldConfig(), HeraldConfig.paper(fixed_weights=(1, 0, 0)), HeraldConfig.published("scaled")):
        text = json.dumps(config.to_dict())
        again = HeraldConfig(**json.loads(text))
        assert again == config


@pytest.mark.parametrize(("name", "value"), [("depth", np.int64(1)), ("restart", np.float32(0.5))])
def test_numpy_scalars_are_numbers_or_refused_by_name(name, value):
    """Whatever is decided, it is never a silent misreading."""
    try:
        config = HeraldConfig.paper(**{name: value})
    except ConfigError as error:
        assert name in str(error)  # noqa: PT017 - one of two good outcomes
    else:
        assert getattr(config, name) == value


def test_a_feature_count_and_the_trees_own_choice_exclude_each_other():
    with pytest.raises(ConfigError, match=r"feature_count=5 .*feature_ranking='tree'.*leave one of them out"):
        HeraldConfig.paper(feature_count=5, feature_ranking="tree")


# What the selection would ignore

IGNORED = {
    "steepness": 4.0,
    "midpoint": 0.5,
    "base_weights": (0.2, 0.2, 0.2),
    "fixed_weights": (1, 0, 0),
    "tree_depth": 3,
    "tree_seed": 1,
    "feature_tree": "host",
    "feature_ranking": "tree",
    "lid": "sampled",
    "lid_neighbours": 5,
    "lid_rule": "clipped",
    "lid_floor": 1e-8,
    "lid_reference": 20,
    "lid_scaling": "rank",
    "lid_zero_rows": "zero",
    "node_ranking": "random",
    "depth": 1,
    "expansion_factor": 1.0,
    "restart": 0.5,
    "ppr_tol": 1e-3,
    "ppr_max_iter": 10,
    "lower_tolerance": 0.5,
    "upper_tolerance": 1.5,
    "trim_roots": True,
}


@pytest.mark.parametrize("name", IGNORED)
def test_what_exemplars_ignore_is_refused(name):
    with pytest.raises(ConfigError, match=rf"^{name}=.* has no effect .*HeraldConfig\.paper\({name}="):
        HeraldConfig(**{name: IGNORED[name]})
    changed = {name: IGNORED[name]}
    assert differences(HeraldConfig.paper(), HeraldConfig.paper(**changed)) == changed


def test_exemplars_have_no_published_accounting():
    with pytest.raises(ConfigError, match="accounting='citation' has no effect"):
        HeraldConfig(accounting="citation", encoding="graph")


@pytest.mark.parametrize(("name", "value"), [("landmarks", True), ("edges", "auto")])
def test_what_neighbourhoods_ignore_is_refused(name, value):
    with pytest.raises(ConfigError, match=rf"^{name}={value!r} has no effect with selection='neighbourhoods': pass"):
        HeraldConfig.paper(**{name: value})


def test_the_selection_alone_is_not_enough_for_neighbourhoods():
    with pytest.raises(ConfigError, match=r"landmarks=True .*HeraldConfig\.paper\(\)"):
        HeraldConfig(selection="neighbourhoods")
