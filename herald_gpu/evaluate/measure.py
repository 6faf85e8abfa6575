"""evaluate(): accuracy on the full graph of models trained on a condensed one."""

from __future__ import annotations

import logging
import time
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import pandas as pd
import torch

from herald_gpu.errors import BackendUnavailable, ConfigError
from herald_gpu.evaluate.full import read_full
from herald_gpu.evaluate.inputs import read_small, whole
from herald_gpu.evaluate.models import MODELS, make_model
from herald_gpu.evaluate.names import PAPER_MODELS
from herald_gpu.evaluate.protocol import Training, accuracy, some_nodes, train
from herald_gpu.evaluate.sparse import place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from herald_gpu.datasets.splits import Split
    from herald_gpu.evaluate.full import Full, GraphAs
    from herald_gpu.evaluate.inputs import Small, Trainable
    from herald_gpu.evaluate.network import Variant

logger = logging.getLogger("herald_gpu")
DEFAULT = Training()
PAUSE = 0.2
"""Seconds between two looks at the epochs of a model."""


def evaluate(
    result: Trainable | Literal["full"] | None,
    graph: Any,  # noqa: ANN401 - whatever has the parts of a labelled graph
    *,
    models: Sequence[str] | str = PAPER_MODELS,
    variant: Variant = "standard",
    seeds: int | Sequence[int] = 5,
    training: Training = DEFAULT,
    device: torch.device | str = "auto",
    split: Split | None = None,
    graph_as: GraphAs = "clean",
    scaled: bool = False,
    progress: bool = False,
) -> pd.DataFrame:
    """Train models on a condensed graph and test them on the full one.

    Training reads labels of the condensed graph's training nodes, the choice of weights those of validation nodes,
    and only the accuracy those of test nodes.

    Parameters
    ----------
    result : CondensedGraph, other Trainable, None or "full"
        What to train on; None and "full" stand for the full graph itself.
    graph : object
        The full graph: `edge_index`, `features`, `labels`, and the masks `train`, `validation` and `test`.
    models : sequence of str
        Names of `MODELS`; by default the four of the paper. The others need PyG.
    variant : {"standard", "published"}
        Models as their papers define them, or as the condensation paper's numbers were measured with.
    seeds : int or sequence of int
        How many initialisations (0, 1, ...), or which.
    training : Training
    device : torch.device or str
        "auto" is a GPU if torch has one.
    split : Split, optional
        Used instead of the graph's own masks, such as ``paper_split(n)``.
    graph_as : {"clean", "stored"}
        Whether the full graph is made undirected and simple first, or messages follow its edges as they are given.
    scaled : bool
        Standard-scale the full graph's features before training on it; condensed graphs bring their own scaling.
    progress : bool
        Show a progress bar.

    Returns
    -------
    pandas.DataFrame
        A row for each model and seed: `model`, `variant`, `seed`, `accuracy` and `validation` (percent), `epoch`
        (whose weights were kept), `seconds`, and of what was trained on `trained_on` ("condensed" or "full"),
        `n_nodes`, `n_edges` (directed), `n_features` and `storage_ratio`.

    Raises
    ------
    ConfigError
        If an option has a value outside its range.
    InputError
        If the two graphs do not fit together, or the condensed one holds labels of test or validation nodes.

    Notes
    -----
    On a CPU the same seed gives the same row, whatever else is evaluated; on a GPU sums may differ in their last bits.
    torch's own random state is neither read nor changed. Small graphs are worked on with one thread, which is faster
    there, whatever torch is set to; its setting is the same again afterwards.

    Examples
    --------
    >>> import herald_gpu
    >>> from herald_gpu.datasets import make_graph
    >>> from herald_gpu.evaluate import Training, evaluate, paper_split, summarise
    >>> graph, split = make_graph(300, n_classes=3, n_features=16, homophily=0.8), paper_split(300)
    >>> small = herald_gpu.condense(graph.edge_index, graph.features, graph.labels, split.train, ratio=0.1)
    >>> rows = evaluate(small, graph, split=split, models=["GCN", "GIN"], seeds=2, training=Training(epochs=20))
    >>> rows[["model", "seed"]].to_numpy().tolist()
    [['GCN', 0], ['GCN', 1], ['GIN', 0], ['GIN', 1]]
    >>> list(summarise(rows))
    ['model', 'variant', 'mean', 'std', 'n']
    """
    names, numbers = _checked_models(models), _checked_seeds(seeds)
    place_to = _device(device)
    if isinstance(result, str) and result != "full":
        msg = f"result={result!r} is not valid: pass a condensed graph, or 'full' (or None) for the full one"
        raise ConfigError(msg)
    given = None if isinstance(result, str) else result
    if given is not None and scaled:
        msg = "scaled=True is for the full graph only: condensed graphs bring their own scaling"
        raise ConfigError(msg)
    full = read_full(graph, split, graph_as=graph_as)
    small = whole(full, scaled=scaled) if given is None else read_small(given, full)
    trained_on = "full" if given is None else "condensed"
    facts = {
        "trained_on": trained_on,
        "n_nodes": len(small.codes),
        "n_edges": int(small.adjacency.nnz),
        "n_features": int(small.features.shape[1]),
        "storage_ratio": small.storage_ratio,
    }
    with ExitStack() as stack:
        bar = stack.enter_context(_Bar(len(names) * len(numbers), trained_on, training.epochs)) if progress else None
        rows = []
        for row in _rows(small, full, names, numbers, variant=variant, training=training, device=place_to, bar=bar):
            rows.append(row | facts)
            if bar is None:
                told = (row["model"], row["seed"], trained_on, row["accuracy"], row["seconds"])
                logger.debug("%s, seed %d, trained on the %s graph: %.2f %% in %.1f s", *told)
            else:
                bar.one_more()
    return pd.DataFrame(rows)


def _rows(
    small: Small,
    full: Full,
    names: Sequence[str],
    seeds: Sequence[int],
    *,
    variant: Variant,
    training: Training,
    device: torch.device,
    bar: _Bar | None,
) -> Iterator[dict[str, Any]]:
    """Train and test model by model; what does not depend on the seed is worked out once."""
    n_features, n_classes = int(small.features.shape[1]), len(full.classes)
    features, full_features = place(small.features, device), place(small.full_features, device)
    for name in names:
        ready = None
        for seed in seeds:
            model = make_model(
                name, n_features, n_classes, variant=variant, hidden=training.hidden, seed=seed, device=device
            )
            if ready is None:
                on_full = model.prepare(full_features, full.adjacency)
                same = small.adjacency is full.adjacency
                on_small = on_full if same else model.prepare(features, small.adjacency, ready=small.ready)
                ready = (
                    some_nodes(on_small, small.codes, small.codes >= 0),
                    some_nodes(on_full, full.codes, full.validation),
                    some_nodes(on_full, full.codes, full.test),
                )
            learn, watch, judge = ready
            start = time.perf_counter()
            told = None if bar is None else partial(bar.within, f"{name}, seed {seed}")
            trained = train(model, learn, watch, training=training, after_epoch=told)
            yield {
                "model": name,
                "variant": variant,
                "seed": seed,
                "accuracy": 100 * accuracy(model, judge),
                "validation": 100 * trained.validation,
                "epoch": trained.epoch,
                "seconds": time.perf_counter() - start,
            }


def summarise(frame: pd.DataFrame, *, by: Sequence[str] = ("model", "variant")) -> pd.DataFrame:
    """Mean, sample standard deviation and number of the accuracies of each group, in the order of first appearance.

    Parameters
    ----------
    frame : pandas.DataFrame
        Of :func:`evaluate`; several may be put together with further columns.
    by : sequence of str
        Columns that tell the groups apart.

    Examples
    --------
    >>> rows = pd.DataFrame({"model": ["GCN", "GCN"], "variant": "standard", "accuracy": [80.0, 82.0]})
    >>> summarise(rows)[["mean", "n"]].to_numpy().tolist()
    [[81.0, 2.0]]
    """
    groups = frame.groupby(list(by), sort=False)["accuracy"]
    return groups.agg(mean="mean", std="std", n="count").reset_index()


def _checked_models(models: Sequence[str] | str) -> list[str]:
    names = [models] if isinstance(models, str) else list(models)
    unknown = [name for name in names if name not in MODELS]
    if unknown or not names:
        msg = f"models={models!r} is not valid: pass one or more of {', '.join(MODELS)}"
        raise ConfigError(msg)
    return names


def _checked_seeds(seeds: int | Sequence[int]) -> list[int]:
    given: list[Any] = list(range(seeds)) if isinstance(seeds, int) else list(seeds)
    good = all(isinstance(seed, int | np.integer) and not isinstance(seed, bool) and seed >= 0 for seed in given)
    if isinstance(seeds, bool) or not given or not good:
        msg = f"seeds={seeds!r} is not valid: pass how many, at least 1, or a list of integers >= 0"
        raise ConfigError(msg)
    return [int(seed) for seed in given]


def _device(device: torch.device | str) -> torch.device:
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
    except RuntimeError as error:
        msg = f"device={device!r} is not known to torch: pass 'auto', 'cpu' or 'cuda'"
        raise ConfigError(msg) from error
    if chosen.type == "cuda" and not torch.cuda.is_available():
        msg = f"device={device!r} but this torch sees no GPU: pass device='cpu', or install torch with CUDA"
        raise BackendUnavailable(msg)
    return chosen


class _Bar:
    """A progress bar of trained models, with the epochs of the one at hand where they take long.

    Parameters
    ----------
    total : int
        Models to train.
    trained_on : {"condensed", "full"}
    epochs : int
        Of each.
    """

    def __init__(self, total: int, trained_on: str, epochs: int) -> None:
        from tqdm import tqdm

        self._bar = tqdm(total=total, unit="model", desc=f"{trained_on} graph")
        self._epochs, self._shown = epochs, time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def within(self, name: str, epoch: int) -> None:
        """Tell how far a model is, a few times a second."""
        now = time.monotonic()
        if now - self._shown > PAUSE:
            self._shown = now
            self._bar.set_postfix_str(f"{name}, epoch {epoch}/{self._epochs}")

    def one_more(self) -> None:
        """Tell that a model is trained and tested."""
        self._bar.update()
