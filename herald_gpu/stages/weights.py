"""Stage 2: weights of the three node scores (eq:transition, eq:weights_raw, eq:normalise)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from herald_gpu.config import HeraldConfig


@dataclass(frozen=True)
class ScoreWeights:
    """Weights of prototype (alpha), boundary (beta) and LID (gamma) scores; they sum to 1."""

    alpha: float
    beta: float
    gamma: float


def adapt_weights(h: float, config: HeraldConfig) -> ScoreWeights:
    """Turn heterophily into score weights.

    Examples
    --------
    >>> from herald_gpu import HeraldConfig
    >>> w = adapt_weights(0.4, HeraldConfig())
    >>> round(w.alpha, 3), round(w.beta, 3), round(w.gamma, 3)
    (0.533, 0.267, 0.2)
    """
    if config.fixed_weights is not None:
        raw = config.fixed_weights
    else:
        t = 1.0 / (1.0 + math.exp(-config.steepness * (h - config.midpoint)))
        alpha0, beta0, gamma0 = config.base_weights
        raw = (alpha0 + (1.0 - alpha0 - beta0 - gamma0) * (1.0 - t), beta0 * t, gamma0 * (0.5 + 0.5 * t))
    total = sum(raw)
    return ScoreWeights(*(value / total for value in raw))
