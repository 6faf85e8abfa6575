"""The training of GDEM: features that tell classes apart, then eigenbasis and features in turns (torch)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from herald_gpu.io.kinds import library

if TYPE_CHECKING:
    import torch

    from herald_gpu.baselines.gdem import GdemOptions

    Rows = np.ndarray | scipy.sparse.csr_matrix

HIDDEN = 256
"""Width of the perceptron that features are first fitted to; it and what follows are the public settings."""
FIT_EPOCHS, FIT_RATE, FIT_DECAY = 100, 0.05, 5e-4
"""How that perceptron is trained."""
FEATURE_DECAY = 0.05
"""Weight decay of the features that are fitted to it."""


@dataclass(frozen=True)
class Wanted:
    """What the synthetic graph is matched to.

    Attributes
    ----------
    values : (K,) array
        Eigenvalues of the Laplacian.
    projected : (K, d) array
        U^T X, each row of length 1.
    classes : (C, d) array
        Mean of each class after one filtered step, each row of length 1.
    """

    values: np.ndarray
    projected: np.ndarray
    classes: np.ndarray


def class_features(
    rows: Rows, labels: np.ndarray, codes: np.ndarray, rng: np.random.Generator, options: GdemOptions
) -> np.ndarray:
    """Features that a multilayer perceptron, trained on the real training rows, takes for their classes."""
    torch_ = library("torch", "eval")
    functional = torch_.nn.functional
    d, n_classes = rows.shape[1], int(codes.max()) + 1

    def tensor(array: np.ndarray) -> torch.Tensor:
        return torch_.as_tensor(array, device=options.device)

    def glorot(fan_in: int, fan_out: int) -> torch.Tensor:
        bound = math.sqrt(6.0 / (fan_in + fan_out))
        return tensor(rng.uniform(-bound, bound, (fan_in, fan_out)).astype(np.float32)).requires_grad_()

    layers = [glorot(d, HIDDEN), glorot(HIDDEN, n_classes)]
    offsets = [torch_.zeros(size, device=options.device, requires_grad=True) for size in (HIDDEN, n_classes)]

    def scores(x: torch.Tensor) -> torch.Tensor:
        return torch_.relu(x @ layers[0] + offsets[0]) @ layers[1] + offsets[1]

    given = _rows_tensor(rows, options.device)
    truth = tensor(labels.astype(np.int64))
    adam = torch_.optim.Adam([*layers, *offsets], lr=FIT_RATE, weight_decay=FIT_DECAY)
    for _ in range(FIT_EPOCHS):
        adam.zero_grad()
        functional.cross_entropy(scores(given), truth).backward()
        adam.step()
    features, aim = glorot(len(codes), d), tensor(codes.astype(np.int64))
    adam = torch_.optim.Adam([features], lr=options.init_rate, weight_decay=FEATURE_DECAY)
    for _ in range(options.init_epochs):
        adam.zero_grad()
        functional.cross_entropy(scores(features), aim).backward()
        adam.step()
    return features.detach().cpu().numpy().astype(np.float64)


def match(
    basis: np.ndarray, features: np.ndarray, codes: np.ndarray, wanted: Wanted, options: GdemOptions
) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Train eigenbasis and features in turns: (basis, features, losses before and after)."""
    torch_ = library("torch", "eval")

    def tensor(array: np.ndarray) -> torch.Tensor:
        return torch_.as_tensor(array, dtype=torch_.float32, device=options.device)

    u, x = tensor(basis).requires_grad_(), tensor(features).requires_grad_()
    values, projected, classes = tensor(wanted.values), tensor(wanted.projected), tensor(wanted.classes)
    means = tensor(_indicator(codes))
    first = torch_.optim.Adam([u], lr=options.basis_rate)
    second = torch_.optim.Adam([x], lr=options.feature_rate)
    turn = options.basis_steps + options.feature_steps
    record = []
    for epoch in range(options.epochs + 1):
        parts = _losses(torch_, u, x, values, projected, classes, means)
        record.append([float(part.detach()) for part in parts])
        if epoch == options.epochs:
            break
        first.zero_grad()
        second.zero_grad()
        loss: Any = options.alpha * parts[0] + options.beta * parts[1] + options.gamma * parts[2]
        loss.backward()
        (first if epoch % turn < options.basis_steps else second).step()
    names = ("matching", "discrimination", "orthogonality")
    losses = {name: (record[0][i], record[-1][i]) for i, name in enumerate(names)}
    return u.detach().cpu().numpy().astype(np.float64), x.detach().cpu().numpy().astype(np.float64), losses


def _losses(
    torch_: Any,  # noqa: ANN401 - the module
    u: torch.Tensor,
    x: torch.Tensor,
    values: torch.Tensor,
    projected: torch.Tensor,
    classes: torch.Tensor,
    means: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Eigenbasis matching, discrimination, orthogonality: mean squared errors, as the public code has them.

    For unit vectors a and b, |a a^T - b b^T|^2 = 2 - 2 <a, b>^2: the K matrices of size d x d are never formed.
    """
    normalise = torch_.nn.functional.normalize
    (k, d), n_classes = projected.shape, classes.shape[0]
    plain = u.T @ x
    cosine = (normalise(plain, dim=1) * projected).sum(dim=1)
    matching = (2.0 - 2.0 * cosine**2).sum() / (k * d * d)
    filtered = normalise((means @ u) @ ((1.0 - values)[:, None] * plain), dim=1)
    same = torch_.eye(n_classes, device=u.device)
    discrimination = ((classes @ filtered.T - same) ** 2).mean()
    orthogonality = ((u.T @ u - torch_.eye(k, device=u.device)) ** 2).mean()
    return matching, discrimination, orthogonality


def _rows_tensor(rows: Rows, device: str) -> torch.Tensor:
    from herald_gpu.io.torch import to_sparse_tensor, to_tensor

    made = to_sparse_tensor(rows) if scipy.sparse.issparse(rows) else to_tensor(rows)
    return made.to(device)


def _indicator(codes: np.ndarray) -> np.ndarray:
    one_hot = codes[None, :] == np.arange(int(codes.max()) + 1)[:, None]
    return one_hot / one_hot.sum(axis=1, keepdims=True)
