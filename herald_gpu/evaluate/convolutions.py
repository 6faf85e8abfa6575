"""Networks put together from PyG's layers: those that the paper did not measure.

A condensed graph should train any network, not only the four of the paper. Each network here has two rounds of messages
unless its own paper says otherwise, and drops half of its inputs and hidden units.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn import functional

from herald_gpu.errors import ConfigError
from herald_gpu.evaluate import operators
from herald_gpu.evaluate.layers import dropout
from herald_gpu.evaluate.names import OTHER_MODELS
from herald_gpu.evaluate.network import Network, Operands
from herald_gpu.evaluate.sparse import SparseMatrix
from herald_gpu.io.kinds import library

if TYPE_CHECKING:
    from types import ModuleType

    from scipy.sparse import csr_array
    from torch import Generator, Tensor

    from herald_gpu.evaluate.network import Sizes

DROPOUT = 0.5
HEADS = 8
STEPS, RESTART = 10, 0.1
"""Propagation of APPNP."""
DEPTH, RESIDUAL, DECAY = 8, 0.1, 0.5
"""Layers of GCNII, its share of the first layer, and how fast its weights turn into the identity."""


class Convolutional(Network):
    """A network of PyG layers.

    Layers draw their first weights from torch's random state; it is set to the seed for that moment and then restored,
    so that a seed means the same weights wherever it is used.
    """

    def _build(self, sizes: Sizes, generator: Generator) -> None:
        if self.variant == "published":
            msg = f"variant='published' has no {type(self).__name__}: pass 'standard', or one of GCN, GAT, GIN, H2GCN"
            raise ConfigError(msg)
        layers = library("torch_geometric.nn", "eval")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(generator.initial_seed())
            self._make(layers, sizes.n_features, sizes.hidden, sizes.n_classes)

    def _make(self, pyg: ModuleType, inputs: int, hidden: int, outputs: int) -> None:
        """Make the layers."""
        raise NotImplementedError

    def matrices(self, adjacency: csr_array, *, ready: bool = False) -> tuple[csr_array, ...]:
        """Return the renormalised adjacency, D^-1/2 (A + I) D^-1/2."""
        return (operators.gcn(adjacency, ready=ready),)

    def prepare(self, features: Tensor | SparseMatrix, adjacency: csr_array, *, ready: bool = False) -> Operands:
        """Bring features and matrices to the form that PyG's layers take: a dense matrix and CSR tensors."""
        dense = _dense(features)
        made = [SparseMatrix(matrix, dense.device) for matrix in self.matrices(adjacency, ready=ready)]
        return Operands(dense, tuple(matrix.tensor for matrix in made))

    def _drop(self, hidden: Tensor | SparseMatrix) -> Tensor:
        return dropout(_dense(hidden), DROPOUT, self.dropping)


class SAGE(Convolutional):
    """Hamilton et al., 2017: a node beside the mean of its neighbors."""

    def _make(self, pyg: ModuleType, inputs: int, hidden: int, outputs: int) -> None:
        self.first, self.last = pyg.SAGEConv(inputs, hidden), pyg.SAGEConv(hidden, outputs)

    def matrices(self, adjacency: csr_array, *, ready: bool = False) -> tuple[csr_array, ...]:  # noqa: ARG002
        """Return the adjacency itself; the layers take means."""
        return (operators.messages(adjacency),)

    def forward(self, operands: Operands) -> Tensor:
        """Return the scores of two rounds."""
        (mix,) = operands.operators
        hidden = self.first(self._drop(operands.features), mix).relu()
        return self.last(self._drop(hidden), mix)


class GraphConv(SAGE):
    """Morris et al., 2019: a node beside the sum of its neighbors."""

    def _make(self, pyg: ModuleType, inputs: int, hidden: int, outputs: int) -> None:
        self.first, self.last = pyg.GraphConv(inputs, hidden), pyg.GraphConv(hidden, outputs)


class TAG(SAGE):
    """Du et al., 2017: three hops of D^-1/2 A D^-1/2 in each of two layers."""

    def _make(self, pyg: ModuleType, inputs: int, hidden: int, outputs: int) -> None:
        self.first = pyg.TAGConv(inputs, hidden, normalize=False)
        self.last = pyg.TAGConv(hidden, outputs, normalize=False)

    def matrices(self, adjacency: csr_array, *, ready: bool = False) -> tuple[csr_array, ...]:
        """Return the normalized adjacency without self loops."""
        turned = operators.messages(adjacency)
        return (turned if ready else operators.normalised(turned),)


class Attentive(Convolutional):
    """A network that weighs every edge by itself, so that edges are given one by one: their ends, and their weights."""

    def prepare(self, features: Tensor | SparseMatrix, adjacency: csr_array, *, ready: bool = False) -> Operands:
        """Bring features and edges to the form that PyG's attention takes."""
        dense = _dense(features)
        (mix,) = (SparseMatrix(matrix, dense.device) for matrix in self.matrices(adjacency, ready=ready))
        return Operands(dense, (torch.stack([mix.columns, mix.rows]), mix.values))


class GATv2(Attentive):
    """Brody et al., 2022: attention that depends on both ends of an edge, with eight heads."""

    def _make(self, pyg: ModuleType, inputs: int, hidden: int, outputs: int) -> None:
        if hidden % HEADS:
            msg = f"hidden={hidden} cannot be shared by the {HEADS} heads of GATv2: pass a multiple of {HEADS}"
            raise ConfigError(msg)
        self.first = pyg.GATv2Conv(inputs, hidden // HEADS, heads=HEADS, add_self_loops=False)
        self.last = pyg.GATv2Conv(hidden, outputs, add_self_loops=False)

    def matrices(self, adjacency: csr_array, *, ready: bool = False) -> tuple[csr_array, ...]:  # noqa: ARG002
        """Return edges and self loops; attention weighs them."""
        return (operators.attention(adjacency),)

    def forward(self, operands: Operands) -> Tensor:
        """Return the scores of two rounds of attention."""
        pairs, _ = operands.operators
        hidden = functional.elu(self.first(self._drop(operands.features), pairs))
        return self.last(self._drop(hidden), pairs)


class APPNP(Convolutional):
    """Gasteiger et al., 2019: predictions of an MLP, spread by personalized PageRank."""

    def _make(self, pyg: ModuleType, inputs: int, hidden: int, outputs: int) -> None:
        self.first, self.last = nn.Linear(inputs, hidden), nn.Linear(hidden, outputs)
        self.spread = pyg.APPNP(STEPS, RESTART, normalize=False)

    def forward(self, operands: Operands) -> Tensor:
        """Return the scores after they have been spread."""
        hidden = self.first(self._drop(operands.features)).relu()
        return self.spread(self.last(self._drop(hidden)), *operands.operators)


class SGC(Convolutional):
    """Wu et al., 2019: a linear classifier on features that were mixed twice."""

    def _make(self, pyg: ModuleType, inputs: int, hidden: int, outputs: int) -> None:  # noqa: ARG002
        self.last = nn.Linear(inputs, outputs)

    def prepare(self, features: Tensor | SparseMatrix, adjacency: csr_array, *, ready: bool = False) -> Operands:
        """Mix the features once for all epochs."""
        made = super().prepare(features, adjacency, ready=ready)
        (mix,) = made.operators
        return Operands(mix @ (mix @ _dense(made.features)), ())

    def forward(self, operands: Operands) -> Tensor:
        """Return the scores."""
        return self.last(operands.features)


class MLP(Convolutional):
    """No messages at all: what features say without the graph."""

    def _make(self, pyg: ModuleType, inputs: int, hidden: int, outputs: int) -> None:  # noqa: ARG002
        self.first, self.last = nn.Linear(inputs, hidden), nn.Linear(hidden, outputs)

    def matrices(self, adjacency: csr_array, *, ready: bool = False) -> tuple[csr_array, ...]:  # noqa: ARG002
        """Return no matrix."""
        return ()

    def forward(self, operands: Operands) -> Tensor:
        """Return the scores."""
        return self.last(self._drop(self.first(self._drop(operands.features)).relu()))


class FAGCN(Attentive):
    """Bo et al., 2021: edges with a sign, so that neighbors of another class may repel; two rounds."""

    def _make(self, pyg: ModuleType, inputs: int, hidden: int, outputs: int) -> None:
        self.first, self.last = nn.Linear(inputs, hidden), nn.Linear(hidden, outputs)
        self.rounds = nn.ModuleList(pyg.FAConv(hidden, eps=0.3, normalize=False) for _ in range(2))

    def forward(self, operands: Operands) -> Tensor:
        """Return the scores of two signed rounds."""
        start = hidden = self._drop(self.first(self._drop(operands.features)).relu())
        for layer in self.rounds:
            hidden = layer(hidden, start, *operands.operators)
        return self.last(hidden)


class GCNII(Convolutional):
    """Chen et al., 2020: eight rounds, each with a share of the first layer."""

    def _make(self, pyg: ModuleType, inputs: int, hidden: int, outputs: int) -> None:
        self.first, self.last = nn.Linear(inputs, hidden), nn.Linear(hidden, outputs)
        self.rounds = nn.ModuleList(
            pyg.GCN2Conv(hidden, RESIDUAL, theta=DECAY, layer=layer, normalize=False) for layer in range(1, DEPTH + 1)
        )

    def forward(self, operands: Operands) -> Tensor:
        """Return the scores of all rounds."""
        start = hidden = self.first(self._drop(operands.features)).relu()
        for layer in self.rounds:
            hidden = layer(self._drop(hidden), start, *operands.operators).relu()
        return self.last(self._drop(hidden))


class JKNet(Convolutional):
    """Xu et al., 2018: three rounds of GCN, all of them seen by the classifier."""

    def _make(self, pyg: ModuleType, inputs: int, hidden: int, outputs: int) -> None:
        widths = (inputs, hidden, hidden)
        self.rounds = nn.ModuleList(pyg.GCNConv(width, hidden, normalize=False) for width in widths)
        self.last = nn.Linear(len(widths) * hidden, outputs)

    def forward(self, operands: Operands) -> Tensor:
        """Return the scores of all rounds side by side."""
        hidden, seen = operands.features, []
        for layer in self.rounds:
            hidden = layer(self._drop(hidden), *operands.operators).relu()
            seen.append(hidden)
        return self.last(torch.cat(seen, dim=1))


CONVOLUTIONS: dict[str, type[Network]] = {name: globals()[name] for name in OTHER_MODELS}
"""The networks of this module by name."""


def _dense(features: Tensor | SparseMatrix) -> Tensor:
    return features.tensor.to_dense() if isinstance(features, SparseMatrix) else features
