"""GCN, GAT, GIN and H2GCN on sparse products, each in two variants.

``standard`` is the model of its own paper; ``published`` is what the condensation paper's numbers were measured with:
two plain layers, no dropout but in H2GCN. Both take features as they are given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn import functional

from herald_gpu.errors import ConfigError
from herald_gpu.evaluate import operators
from herald_gpu.evaluate.convolutions import CONVOLUTIONS
from herald_gpu.evaluate.h2gcn import H2GCN
from herald_gpu.evaluate.layers import Attention, Normalisation, dropout, glorot, linear, project, zeros
from herald_gpu.evaluate.network import VARIANTS, Network, Operands, Sizes, Variant
from herald_gpu.evaluate.sparse import SparseMatrix

if TYPE_CHECKING:
    from scipy.sparse import csr_array
    from torch import Generator, Tensor


class GCN(Network):
    """Kipf and Welling, 2017; `standard` drops half of the features and of the hidden units."""

    def _build(self, sizes: Sizes, generator: Generator) -> None:
        self.share = 0.5 if self.variant == "standard" else 0.0
        self.weight1 = glorot(sizes.n_features, sizes.hidden, generator=generator)
        self.bias1 = zeros(sizes.hidden)
        self.weight2 = glorot(sizes.hidden, sizes.n_classes, generator=generator)
        self.bias2 = zeros(sizes.n_classes)

    def matrices(self, adjacency: csr_array, *, ready: bool = False) -> tuple[csr_array, ...]:
        """The renormalised adjacency."""
        return (operators.gcn(adjacency, ready=ready),)

    def forward(self, operands: Operands) -> Tensor:
        """Two rounds of mixing neighbours."""
        (mix,) = operands.operators
        hidden = mix @ project(operands.features, self.weight1, self.share, self.dropping) + self.bias1
        hidden = dropout(hidden.relu(), self.share, self.dropping)
        return mix @ (hidden @ self.weight2) + self.bias2


class GAT(Network):
    """Velickovic et al., 2018; `standard`: eight heads, ELU, dropout 0.6 of inputs and attention of both layers.

    `published`: one head, ReLU, no dropout.
    """

    def _build(self, sizes: Sizes, generator: Generator) -> None:
        standard = self.variant == "standard"
        self.share, heads = (0.6, 8) if standard else (0.0, 1)
        if sizes.hidden % heads:
            msg = f"hidden={sizes.hidden} cannot be shared by the {heads} heads of GAT: pass a multiple of {heads}"
            raise ConfigError(msg)
        self.weight1 = glorot(sizes.n_features, sizes.hidden, generator=generator)
        self.attention1 = Attention(heads, sizes.hidden // heads, share=self.share, generator=generator)
        self.bias1 = zeros(sizes.hidden)
        self.weight2 = glorot(sizes.hidden, sizes.n_classes, generator=generator)
        self.attention2 = Attention(1, sizes.n_classes, share=self.share, generator=generator)
        self.bias2 = zeros(sizes.n_classes)

    def matrices(self, adjacency: csr_array, *, ready: bool = False) -> tuple[csr_array, ...]:  # noqa: ARG002
        """Edges and self loops; nothing is normalised here."""
        return (operators.attention(adjacency),)

    def prepare(self, features: Tensor | SparseMatrix, adjacency: csr_array, *, ready: bool = False) -> Operands:
        """Work out the edges; attention lives on them, however many there are, so they stay sparse."""
        made = tuple(SparseMatrix(m, features.device) for m in self.matrices(adjacency, ready=ready))
        return Operands(features, made)

    def forward(self, operands: Operands) -> Tensor:
        """Two rounds of attention."""
        (pairs,) = operands.operators
        if not isinstance(pairs, SparseMatrix):
            msg = "operands of another model: pass those of this model's prepare()"
            raise ConfigError(msg)
        drops = self.dropping
        hidden = project(operands.features, self.weight1, self.share, drops)
        hidden = self.attention1(pairs, hidden, drops) + self.bias1
        hidden = functional.elu(hidden) if self.variant == "standard" else hidden.relu()
        hidden = dropout(hidden, self.share, drops) @ self.weight2
        scores: Tensor = self.attention2(pairs, hidden, drops) + self.bias2
        return scores


class GIN(Network):
    """Xu et al., 2019: sums over neighbours; `standard` learns epsilon and has MLPs of two layers with batch norm.

    `published`: epsilon stays 0, and each of the two layers is linear. A layer's first matrix is applied before the
    sum over neighbours instead of after it, which gives the same with narrower rows to sum.
    """

    def _build(self, sizes: Sizes, generator: Generator) -> None:
        deep = self.variant == "standard"
        self.epsilon = nn.Parameter(torch.zeros(2), requires_grad=deep)
        first, second = sizes.hidden, (sizes.hidden if deep else sizes.n_classes)
        self.weight1, self.bias1 = linear(sizes.n_features, first, generator)
        self.weight2, self.bias2 = linear(sizes.hidden, second, generator)
        if deep:
            self.norm1, self.norm2 = Normalisation(first), Normalisation(second)
            self.inner1, self.inner_bias1 = linear(first, sizes.hidden, generator)
            self.inner2, self.inner_bias2 = linear(second, sizes.n_classes, generator)

    def matrices(self, adjacency: csr_array, *, ready: bool = False) -> tuple[csr_array, ...]:  # noqa: ARG002
        """The adjacency itself; nothing is normalised here."""
        return (operators.messages(adjacency),)

    def forward(self, operands: Operands) -> Tensor:
        """Two rounds of summing neighbours."""
        (total,) = operands.operators
        hidden = self._sum(total, project(operands.features, self.weight1, 0, None), 0) + self.bias1
        if self.variant == "standard":
            hidden = self.norm1(hidden).relu() @ self.inner1 + self.inner_bias1
        hidden = self._sum(total, hidden.relu() @ self.weight2, 1) + self.bias2
        if self.variant == "standard":
            hidden = self.norm2(hidden).relu() @ self.inner2 + self.inner_bias2
        return hidden

    def _sum(self, total: Tensor | SparseMatrix, hidden: Tensor, layer: int) -> Tensor:
        return (1 + self.epsilon[layer]) * hidden + total @ hidden


MODELS: dict[str, type[Network]] = {"GCN": GCN, "GAT": GAT, "GIN": GIN, "H2GCN": H2GCN, **CONVOLUTIONS}
"""The models by name: the four of the paper, and those built from PyG's layers."""


def make_model(
    name: str,
    n_features: int,
    n_classes: int,
    *,
    variant: Variant = "standard",
    hidden: int = 128,
    seed: int = 0,
    device: torch.device | str = "cpu",
) -> Network:
    """Make a model with fresh weights; torch's own random state is neither read nor changed.

    Parameters
    ----------
    name : str
        Of `MODELS`.
    n_features, n_classes : int
        Columns of the features and of the scores.
    variant : {"standard", "published"}
        Only the four networks of the paper have a published variant.
    hidden : int
        Hidden units.
    seed : int
        Of first weights and dropout; first weights are drawn on the host and so are the same on every device.
    device : torch.device or str

    Raises
    ------
    ConfigError
        If there is no such model or variant.

    Examples
    --------
    >>> model = make_model("GCN", n_features=10, n_classes=3, hidden=16)
    >>> sum(parameter.numel() for parameter in model.parameters())
    227
    """
    if name not in MODELS:
        msg = f"model {name!r} is not known: pass one of {', '.join(MODELS)}"
        raise ConfigError(msg)
    if variant not in VARIANTS:
        msg = f"variant={variant!r} is not known: pass one of {', '.join(VARIANTS)}"
        raise ConfigError(msg)
    model = MODELS[name](Sizes(n_features, hidden, n_classes), variant, torch.Generator().manual_seed(seed))
    model.to(device)
    model.draws = torch.Generator(device).manual_seed(seed)
    return model
