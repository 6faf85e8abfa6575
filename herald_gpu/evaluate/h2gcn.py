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

HOPS = ROUNDS = 2
CHANNELS = 6
"""Of `published`: ego, neighbours and neighbours once more, in two rounds."""


class H2GCN(Network):
    """Zhu et al., 2020: a node's own embedding, one-hop and two-hop averages kept apart, over two rounds.

    `published` averages over one hop only: in its first round the neighbours' features, with weights of their own, in
    its second one the neighbours' embeddings. What stands for two hops there is one more layer on each of the two
    averages, without any further exchange. The ego is in both rounds. Half of the final representation is dropped in
    both variants.
    """

    def _build(self, sizes: Sizes, generator: Generator) -> None:
        self.share, hidden = 0.5, sizes.hidden
        self.embed = glorot(sizes.n_features, hidden, generator=generator)
        if self.variant == "standard":
            self.widths = [hidden * HOPS**k for k in range(ROUNDS + 1)]
            self.classify = glorot(sum(self.widths), sizes.n_classes, generator=generator)
            return
        self.embed_near = glorot(sizes.n_features, hidden, generator=generator)
        self.deepen = glorot(hidden, hidden, generator=generator)
        self.classify = glorot(CHANNELS * hidden, sizes.n_classes, generator=generator)
        _, self.classify_bias = linear(CHANNELS * hidden, sizes.n_classes, generator)

    def matrices(self, adjacency: csr_array, *, ready: bool = False) -> tuple[csr_array, ...]:
        """Averages over one hop and, in `standard`, over two."""
        if self.variant == "published":
            return (operators.mean(adjacency, ready=ready),)
        return (operators.one_hop(adjacency, ready=ready), operators.two_hop(adjacency))

    def forward(self, operands: Operands) -> Tensor:
        """Embed, average, classify all that was seen on the way."""
        own = project(operands.features, self.embed, 0, None).relu()
        if self.variant == "published":
            return self._published(operands, own)
        if not self.training:
            return self._folded(operands.operators, own, list(torch.split(self.classify, self.widths)))
        rounds = [own]
        for _ in range(ROUNDS):
            rounds.append(torch.cat([average @ rounds[-1] for average in operands.operators], dim=1))
        return dropout(torch.cat(rounds, dim=1), self.share, self.dropping) @ self.classify

    def _published(self, operands: Operands, own: Tensor) -> Tensor:
        """Give the scores of `published`; weights come before averages, which gives the same on narrower rows."""
        (average,) = operands.operators
        near = (average @ project(operands.features, self.embed_near, 0, None)).relu()
        again = (average @ (own @ self.deepen)).relu()
        seen = [own, near, (near @ self.deepen).relu(), own, again, (again @ self.deepen).relu()]
        return dropout(torch.cat(seen, dim=1), self.share, self.dropping) @ self.classify + self.classify_bias

    def _folded(self, averages: tuple[Tensor | SparseMatrix, ...], own: Tensor, blocks: list[Tensor]) -> Tensor:
        """Classify before averaging: the same sums without dropout, on a column per class instead of all units.

        Round k is the averages of round k - 1 side by side, so that its block of weights falls into one part for each.
        """
        scores = own @ blocks[0]
        if len(blocks) > 1:
            parts = [block.chunk(HOPS) for block in blocks[1:]]
            for i, average in enumerate(averages):
                scores = scores + average @ self._folded(averages, own, [part[i] for part in parts])
        return scores
