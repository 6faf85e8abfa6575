"""Arguments of a plan that make no sense are refused."""

from __future__ import annotations

import math

from herald_gpu.config import HeraldConfig
from herald_gpu.errors import ConfigError


def check_config(config: object) -> HeraldConfig:
    """Give the configuration, or the default preset for None."""
    if config is None:
        return HeraldConfig()
    if not isinstance(config, HeraldConfig):
        msg = f"config={config!r} is not valid: pass a HeraldConfig, such as HeraldConfig.paper()"
        raise ConfigError(msg)
    if not config.exact:
        msg = f"config.accounting={config.accounting!r} is not planned: pass the default preset or HeraldConfig.paper()"
        raise ConfigError(msg)
    return config


def check_counts(n_nodes: int, n_edges: int, n_features: int, n_classes: int, feature_count: int | None) -> None:
    """Refuse what is no count."""
    for name, value in (("n_nodes", n_nodes), ("n_edges", n_edges), ("n_features", n_features)):
        _check(name, value, _is_int(value, 1), "an integer >= 1")
    good = _is_int(n_classes, 1) and n_classes <= n_nodes
    _check("n_classes", n_classes, good, f"an integer from 1 to n_nodes={n_nodes}")
    good = feature_count is None or _is_int(feature_count, 1)
    _check("feature_count", feature_count, good, "None or an integer >= 1")


def check_rule(n_classes: int, config: HeraldConfig) -> None:
    """Refuse landmarks that have nothing to tell apart."""
    if n_classes == 1 and config.selection == "exemplars" and config.exemplar_rule == "landmarks":
        msg = "exemplar_rule='landmarks' tells classes apart, but n_classes=1: pass another rule"
        raise ConfigError(msg)


def check_shares(*, ratio: float, train_share: float, density: float) -> None:
    """Refuse what is no share."""
    for name, share in (("ratio", ratio), ("train_share", train_share), ("density", density)):
        _check(name, share, _is_number(share) and 0 < share <= 1, "a number in (0, 1]")


def check_skews(*, degree_skew: float | None, class_skew: float | None) -> None:
    """Refuse a mean square below the squared mean."""
    for name, skew in (("degree_skew", degree_skew), ("class_skew", class_skew)):
        good = skew is None or (_is_number(skew) and 1 <= skew < math.inf)
        _check(name, skew, good, "None or a number >= 1")


def _is_int(value: object, low: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= low


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check(name: str, value: object, good: bool, wanted: str) -> None:  # noqa: FBT001 - a predicate's outcome
    if not good:
        msg = f"{name}={value!r} is not valid: pass {wanted}"
        raise ConfigError(msg)
