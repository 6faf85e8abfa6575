"""How a model is trained on one graph and watched on another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch.nn import functional

from herald_gpu.errors import ConfigError, InputError
from herald_gpu.evaluate.threads import right_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from herald_gpu.evaluate.network import Network, Operands


@dataclass(frozen=True)
class Training:
    """Options of training; the defaults are the paper's.

    Attributes
    ----------
    epochs : int
        Steps; each is on the whole training graph.
    lr, weight_decay : float
        Of Adam.
    hidden : int
        Hidden units.
    best_validation : bool
        Keep the weights with the best accuracy on validation nodes (the first of equals) instead of the last ones.
    eval_every : int
        Epochs between two looks at the validation nodes; the last epoch is always looked at.

    Examples
    --------
    >>> Training(epochs=50).lr
    0.001
    """

    epochs: int = 200
    lr: float = 1e-3
    weight_decay: float = 5e-4
    hidden: int = 128
    best_validation: bool = True
    eval_every: int = 1

    def __post_init__(self) -> None:
        for name in ("epochs", "hidden", "eval_every"):
            value = getattr(self, name)
            good = isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 1
            _check(name, value, "an integer >= 1", good=bool(good))
        for name in ("lr", "weight_decay"):
            value = getattr(self, name)
            good = isinstance(value, int | float | np.number) and not isinstance(value, bool) and 0 <= value < np.inf
            _check(name, value, "a number >= 0", good=bool(good))
        _check("best_validation", self.best_validation, "True or False", good=isinstance(self.best_validation, bool))


def _check(name: str, value: object, wanted: str, *, good: bool) -> None:
    if not good:
        msg = f"{name}={value!r} is not valid: pass {wanted}"
        raise ConfigError(msg)


class Nodes(NamedTuple):
    """Some nodes of a prepared graph, and their classes.

    Attributes
    ----------
    operands : Operands
        Of the model's `prepare`.
    rows : (k,) int64 tensor
    codes : (k,) int64 tensor
    """

    operands: Operands
    rows: Tensor
    codes: Tensor


class Trained(NamedTuple):
    """What came of training: the epoch (from 1) whose weights were kept, and its validation accuracy (0 to 1)."""

    epoch: int
    validation: float


def some_nodes(operands: Operands, codes: np.ndarray, mask: np.ndarray) -> Nodes:
    """Pick the nodes of a mask; labels of all others are left behind.

    Parameters
    ----------
    operands : Operands
    codes : (N,) int array
    mask : (N,) bool array
    """
    device, rows = operands.features.device, np.flatnonzero(mask)
    return Nodes(operands, torch.from_numpy(rows).to(device), torch.from_numpy(codes[rows]).to(device))


def train(
    model: Network,
    learn: Nodes,
    watch: Nodes,
    *,
    training: Training,
    after_epoch: Callable[[int], None] | None = None,
) -> Trained:
    """Train a model in place and leave it with the weights that were chosen.

    Parameters
    ----------
    model : Network
        Fresh, of :func:`herald_gpu.evaluate.make_model`.
    learn : Nodes
        What the cross-entropy is summed over.
    watch : Nodes
        Validation nodes; only the choice of weights depends on them.
    training : Training
    after_epoch : callable, optional
        Called with the number of every epoch that is done.

    Raises
    ------
    InputError
        If weights are to be chosen by validation nodes and there are none.

    Examples
    --------
    >>> import scipy.sparse
    >>> from herald_gpu.evaluate import make_model
    >>> model = make_model("GCN", n_features=2, n_classes=2, variant="published", hidden=8)
    >>> pairs = scipy.sparse.csr_array(np.kron(np.eye(2), [[0, 1], [1, 0]]))
    >>> operands = model.prepare(torch.tensor([[1.0, 0], [1, 0], [0, 1], [0, 1]]), pairs)
    >>> codes = np.array([0, 0, 1, 1])
    >>> learn = some_nodes(operands, codes, np.array([True, False, True, False]))
    >>> watch = some_nodes(operands, codes, np.array([False, True, False, True]))
    >>> train(model, learn, watch, training=Training(lr=0.1)).validation
    1.0
    """
    if training.best_validation and len(watch.rows) == 0:
        msg = "validation marks no node to choose weights by: pass a split with some, or best_validation=False"
        raise InputError(msg)
    optimiser = torch.optim.Adam(
        [p for p in model.parameters() if p.requires_grad], lr=training.lr, weight_decay=training.weight_decay
    )
    best, kept = Trained(0, -1.0), {}
    for epoch in range(1, training.epochs + 1):
        with right_threads(model, learn.operands):
            model.train()
            optimiser.zero_grad()
            loss = functional.cross_entropy(model(learn.operands)[learn.rows], learn.codes)
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
        last = epoch == training.epochs
        if training.best_validation and (last or epoch % training.eval_every == 0):
            share = accuracy(model, watch)
            if share > best.validation:
                best = Trained(epoch, share)
                kept = {name: value.clone() for name, value in model.state_dict().items()}
        if after_epoch is not None:
            after_epoch(epoch)
    if training.best_validation:
        model.load_state_dict(kept)
        model.eval()
        return best
    return Trained(training.epochs, accuracy(model, watch))


def accuracy(model: Network, nodes: Nodes) -> float:
    """Share of nodes whose class has the highest score; NaN of none. The model is left in evaluation mode."""
    model.eval()
    if len(nodes.rows) == 0:
        return float("nan")
    with torch.no_grad(), right_threads(model, nodes.operands):
        found = model(nodes.operands)[nodes.rows].argmax(dim=1)
    return int((found == nodes.codes).sum()) / len(nodes.rows)
