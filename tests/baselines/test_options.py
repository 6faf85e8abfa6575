"""Options say what is wrong with them."""

from __future__ import annotations

import pytest

from herald_gpu.baselines.options import NodeOptions, SpaceOptions, make_options, require_number
from herald_gpu.errors import ConfigError


@pytest.mark.parametrize("wrong", [{"links": "some"}, {"depth": 0}, {"depth": True}, {"patience": -1}, {"space": "x"}])
def test_wrong_values_are_named(wrong):
    ((name, value),) = wrong.items()
    with pytest.raises(ConfigError, match=f"{name}={value!r} is not valid: pass"):
        SpaceOptions(**wrong)


def test_an_option_of_another_method_is_named_with_those_there_are():
    with pytest.raises(ConfigError, match="top=3 is not an option of 'herding': it has links, depth, patience, space"):
        make_options("herding", SpaceOptions, {"top": 3})


def test_options_that_are_there_are_set():
    assert make_options("random", NodeOptions, {"links": "none"}) == NodeOptions(links="none")


@pytest.mark.parametrize("value", [0, -1.0, float("nan"), float("inf"), "1", True, None])
def test_what_is_no_number_above_zero(value):
    with pytest.raises(ConfigError, match=r"x=.* is not valid: pass a number in \(0, inf\]"):
        require_number("x", value, 0, low_open=True)
