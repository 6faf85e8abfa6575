"""H2GCN on sparse products."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from herald_gpu.evaluate import operators
from herald_gpu.evaluate.layers import dropout, glorot, linear, project
from herald_gpu.evaluate.network import Network, Operands, Sizes

if TYPE_CHECKING:
    from scipy.sparse import csr_array
    from torch import Generator, Tensor

    from herald_gpu.evaluate.sparse import SparseMatrix


class H2GCN(Network):
    """Zhu et al., 2020: a node's own embedding, one-hop and two-hop averages kept apart, over two rounds.

    `published` has one round of means over neighbours, no two-hop averages, and biases. Half of the final
    representation is dropped in both.
    """

    def _build(self, sizes: Sizes, generator: Generator) -> None:
        self.share = 0.5
        self.hops = self.rounds = 2 if self.variant == "standard" else 1
        widths = [sizes.hidden * self.hops**k for k in range(self.rounds + 1)]
        self.embed_bias: Tensor | None
        self.classify_bias: Tensor | None
        if self.variant == "standard":
            self.embed = glorot(sizes.n_features, sizes.hidden, generator=generator)
            self.classify = glorot(sum(widths), sizes.n_classes, generator=generator)
            self.embed_bias = self.classify_bias = None
        else:
            self.embed, self.embed_bias = linear(sizes.n_features, sizes.hidden, generator)
            self.classify, self.classify_bias = linear(sum(widths), sizes.n_classes, generator)
        self.widths = widths

    def matrices(self, adjacency: csr_array, *, ready: bool = False) -> tuple[csr_array, ...]:
        """Averages over one hop and, in `standard`, over two."""
        if self.variant == "published":
            return (operators.mean(adjacency, ready=ready),)
        return (operators.one_hop(adjacency, ready=ready), operators.two_hop(adjacency))

    def forward(self, operands: Operands) -> Tensor:
        """Embed, average, classify all that was seen on the way."""
        own = project(operands.features, self.embed, 0, None)
        own = (own if self.embed_bias is None else own + self.embed_bias).relu()
        if self.training:
            rounds = [own]
            for _ in range(self.rounds):
                rounds.append(torch.cat([average @ rounds[-1] for average in operands.operators], dim=1))
            scores = dropout(torch.cat(rounds, dim=1), self.share, self.dropping) @ self.classify
        else:
            scores = self._folded(operands.operators, own, list(torch.split(self.classify, self.widths)))
        return scores if self.classify_bias is None else scores + self.classify_bias

    def _folded(self, averages: tuple[Tensor | SparseMatrix, ...], own: Tensor, blocks: list[Tensor]) -> Tensor:
        """Classify before averaging: the same sums without dropout, on a column per class instead of all units.

        Round k is the averages of round k - 1 side by side, so that its block of weights falls into one part for each.
        """
        scores = own @ blocks[0]
        if len(blocks) > 1:
            parts = [block.chunk(self.hops) for block in blocks[1:]]
            for i, average in enumerate(averages):
                scores = scores + average @ self._folded(averages, own, [part[i] for part in parts])
        return scores
