"""What the models are put together from."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn import functional

from herald_gpu.evaluate.sparse import SparseMatrix

if TYPE_CHECKING:
    from torch import Generator, Tensor

SLOPE = 0.2
"""Slope of GAT's leaky ReLU below zero."""


def glorot(*shape: int, generator: Generator) -> nn.Parameter:
    """Draw weights uniformly within sqrt(6 / (rows + columns))."""
    bound = sqrt(6 / (shape[-2] + shape[-1]))
    return nn.Parameter(torch.empty(*shape).uniform_(-bound, bound, generator=generator))


def linear(inputs: int, outputs: int, generator: Generator) -> tuple[nn.Parameter, nn.Parameter]:
    """Draw weights and bias as torch's linear layers do: uniformly within 1 / sqrt(inputs)."""
    bound = 1 / sqrt(inputs)
    weight = torch.empty(inputs, outputs).uniform_(-bound, bound, generator=generator)
    bias = torch.empty(outputs).uniform_(-bound, bound, generator=generator)
    return nn.Parameter(weight), nn.Parameter(bias)


def zeros(size: int) -> nn.Parameter:
    """Start a bias at zero."""
    return nn.Parameter(torch.zeros(size))


def dropout(values: Tensor, share: float, generator: Generator | None) -> Tensor:
    """Set a share of the entries to zero and scale up the rest; without a generator nothing is done."""
    if generator is None or share == 0:
        return values
    kept = torch.empty_like(values, requires_grad=False).bernoulli_(1 - share, generator=generator)
    return values * kept / (1 - share)


def project(features: Tensor | SparseMatrix, weight: Tensor, share: float, generator: Generator | None) -> Tensor:
    """Multiply features by weights, with dropout of features first; sparse ones stay sparse."""
    if isinstance(features, SparseMatrix):
        dropped = share > 0 and generator is not None
        return features.product(weight, dropout(features.values, share, generator) if dropped else None)
    return dropout(features, share, generator) @ weight


class Attention(nn.Module):
    """Attention of GAT: every node weighs what it hears by a softmax over its incoming edges.

    An edge of weight w counts as w edges; one of negative weight takes its share with the sign turned.

    Parameters
    ----------
    heads, width : int
        Number of heads, and outputs of each.
    share : float
        Dropout of attention.
    generator : torch.Generator
    """

    def __init__(self, heads: int, width: int, *, share: float, generator: Generator) -> None:
        super().__init__()
        self.share = share
        self.source, self.target = (glorot(heads, width, generator=generator) for _ in range(2))

    def forward(self, pairs: SparseMatrix, hidden: Tensor, generator: Generator | None) -> Tensor:
        """Mix the rows of `hidden` (N, heads x width) head by head."""
        split = hidden.reshape(-1, *self.source.shape)
        source, target = (split * self.source).sum(dim=2), (split * self.target).sum(dim=2)
        mixed = []
        for head in range(self.source.shape[0]):
            shares = self._shares(pairs, source[:, head], target[:, head])
            mixed.append(pairs.product(split[:, head].contiguous(), dropout(shares, self.share, generator)))
        return torch.cat(mixed, dim=1)

    @staticmethod
    def _shares(pairs: SparseMatrix, source: Tensor, target: Tensor) -> Tensor:
        rows, n = pairs.rows, pairs.shape[0]
        logits = functional.leaky_relu(
            source.index_select(0, pairs.columns) + target.index_select(0, rows), negative_slope=SLOPE
        )
        with torch.no_grad():  # subtracting the largest changes nothing but keeps exp within range
            largest = logits.new_full((n,), -torch.inf).scatter_reduce_(0, rows, logits, "amax")
        weighed = pairs.values * (logits - largest.index_select(0, rows)).exp()
        total = weighed.new_zeros(n).index_add(0, rows, weighed.abs())
        return weighed / total.index_select(0, rows)


class Normalisation(nn.Module):
    """Batch normalisation that lets a single row pass in training, where there is no variance to divide by."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.BatchNorm1d(width)

    def forward(self, hidden: Tensor) -> Tensor:
        """Scale every column."""
        if self.training and hidden.shape[0] == 1:
            return hidden
        result: Tensor = self.inner(hidden)
        return result
