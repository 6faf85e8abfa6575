"""search_fidelity(): rankings of settings on the condensed graph beside those on the whole graph."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from herald_gpu.errors import ConfigError
from herald_gpu.evaluate.measure import evaluate
from herald_gpu.evaluate.protocol import Training

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from herald_gpu.datasets.splits import Split
    from herald_gpu.evaluate.inputs import Trainable

FEWEST = 3
"""Settings below which a rank correlation says nothing."""
MODELS = ("GCN", "SAGE", "APPNP", "MLP")
WIDTHS = (16, 64)
RATES = (0.001, 0.003, 0.01, 0.03)


@dataclass(frozen=True)
class Fidelity:
    """How well a search on the condensed graph stands for one on the whole graph.

    Attributes
    ----------
    table : pandas.DataFrame
        A row per setting: `model`, `hidden`, `lr`, the validation accuracies `condensed`, `full` and `full_again` (the
        whole graph with other seeds), and the test accuracy `test` of the network that was trained on the whole graph.
    spearman, kendall : float
        Rank correlation of `condensed` and `full`.
    spearman_limit, kendall_limit : float
        Rank correlation of `full` and `full_again`: what a repeated search on the whole graph reaches itself.
    regret : float
        Test accuracy that is lost by following the condensed graph: that of the setting with the best `full`, less that
        of the setting with the best `condensed`, both trained on the whole graph. In points; negative if it gains.
    seconds, full_seconds : float
        Training time of the search on the condensed and on the whole graph.
    """

    table: pd.DataFrame
    spearman: float
    kendall: float
    spearman_limit: float
    kendall_limit: float
    regret: float
    seconds: float
    full_seconds: float

    def __str__(self) -> str:
        best = self.table.iloc[int(np.argmax(self.table["condensed"]))]
        return (
            f"{len(self.table)} settings: rank correlation {self.spearman:.2f} (Spearman; {self.spearman_limit:.2f} "
            f"between two searches on the whole graph), {self.kendall:.2f} (Kendall; {self.kendall_limit:.2f})\n"
            f"best setting on the condensed graph: {best['model']}, {best['hidden']} hidden units, learning rate "
            f"{best['lr']:g}; it loses {self.regret:.2f} points of test accuracy\n"
            f"training took {self.seconds:.1f} s instead of {self.full_seconds:.1f} s"
        )


def search_fidelity(
    result: Trainable,
    graph: Any,  # noqa: ANN401 - whatever has the parts of a labelled graph
    *,
    models: Sequence[str] = MODELS,
    hidden: Sequence[int] = WIDTHS,
    lr: Sequence[float] = RATES,
    seeds: int = 1,
    training: Training | None = None,
    split: Split | None = None,
    device: torch.device | str = "auto",
) -> Fidelity:
    """Train a grid of settings on a condensed graph and on the whole graph, and compare the two rankings.

    A setting is a network, a number of hidden units and a learning rate. Settings are ranked by the accuracy on
    validation nodes of the whole graph, as a search would rank them. If the condensed graph scales features, those of
    the whole graph are standardized too.

    Parameters
    ----------
    result : CondensedGraph or other Trainable
    graph : object
        The whole graph, as for :func:`evaluate`.
    models, hidden, lr : sequences
        The grid: every combination is trained.
    seeds : int
        Initializations per setting; their mean is ranked. The whole graph is trained twice as often, to know the limit.
    training : Training, optional
        All other options of training.
    split : Split, optional
        Used instead of the graph's own masks.
    device : torch.device or str

    Returns
    -------
    Fidelity

    Raises
    ------
    ConfigError
        If the grid has fewer than three settings.

    Examples
    --------
    >>> import herald_gpu
    >>> from herald_gpu.datasets import make_graph, paper_split
    >>> graph, split = make_graph(300, n_classes=3, n_features=16, homophily=0.8), paper_split(300)
    >>> small = herald_gpu.condense(graph.edge_index, graph.features, graph.labels, split.train, ratio=0.1)
    >>> found = search_fidelity(
    ...     small, graph, split=split, models=["GCN", "MLP"], hidden=[8], lr=[0.01, 0.1], training=Training(epochs=10)
    ... )
    >>> len(found.table), -1 <= found.spearman <= 1
    (4, True)
    """
    settings = list(itertools.product(models, hidden, lr))
    if len(settings) < FEWEST:
        msg = f"models, hidden and lr make {len(settings)} settings: pass at least {FEWEST} to compare rankings"
        raise ConfigError(msg)
    start = Training() if training is None else training
    scaled = bool(getattr(result, "scales_features", False))
    rows, spent, spent_full = [], 0.0, 0.0
    for model, width, rate in settings:
        chosen = replace(start, hidden=width, lr=rate)
        measured = partial(evaluate, graph=graph, models=[model], training=chosen, split=split, device=device)
        small, full = measured(result, seeds=seeds), measured(None, seeds=2 * seeds, scaled=scaled)
        one, other = full.iloc[:seeds], full.iloc[seeds:]
        rows.append(
            {
                "model": model,
                "hidden": width,
                "lr": rate,
                "condensed": small["validation"].mean(),
                "full": one["validation"].mean(),
                "full_again": other["validation"].mean(),
                "test": one["accuracy"].mean(),
            }
        )
        spent, spent_full = spent + small["seconds"].sum(), spent_full + one["seconds"].sum()
    table = pd.DataFrame(rows)
    followed, best = (int(np.argmax(table[name])) for name in ("condensed", "full"))
    return Fidelity(
        table,
        spearman=_correlation(table, "condensed", "full", "spearman"),
        kendall=_correlation(table, "condensed", "full", "kendall"),
        spearman_limit=_correlation(table, "full", "full_again", "spearman"),
        kendall_limit=_correlation(table, "full", "full_again", "kendall"),
        regret=float(table["test"].iloc[best] - table["test"].iloc[followed]),
        seconds=float(spent),
        full_seconds=float(spent_full),
    )


def _correlation(table: pd.DataFrame, one: str, other: str, method: Literal["spearman", "kendall"]) -> float:
    """Return the rank correlation of two columns; 0 where one of them is constant, since it ranks nothing."""
    if any(np.ptp(table[name]) == 0 for name in (one, other)):
        return 0.0
    return float(table[one].corr(table[other], method=method))
