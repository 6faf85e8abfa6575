"""What all models have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from torch import nn

from herald_gpu.evaluate.sparse import place

if TYPE_CHECKING:
    from scipy.sparse import csr_array
    from torch import Generator, Tensor

    from herald_gpu.evaluate.sparse import SparseMatrix

Variant = Literal["standard", "published"]
VARIANTS: tuple[str, ...] = get_args(Variant)


class Operands(NamedTuple):
    """What a model multiplies by on one graph; worked out once, used in every epoch.

    Attributes
    ----------
    features : tensor or SparseMatrix
    operators : tuple of tensors or SparseMatrix
    """

    features: Tensor | SparseMatrix
    operators: tuple[Tensor | SparseMatrix, ...]


@dataclass(frozen=True)
class Sizes:
    """Widths of a model."""

    n_features: int
    hidden: int
    n_classes: int


class Network(nn.Module):
    """A model: `prepare` once for each graph, then call it on what that gave.

    Parameters
    ----------
    sizes : Sizes
    variant : {"standard", "published"}
    generator : torch.Generator
        Draws the first weights.
    """

    def __init__(self, sizes: Sizes, variant: Variant, generator: Generator) -> None:
        super().__init__()
        self.sizes, self.variant = sizes, variant
        self.draws: Generator | None = None
        self._build(sizes, generator)

    def _build(self, sizes: Sizes, generator: Generator) -> None:
        raise NotImplementedError

    def matrices(self, adjacency: csr_array, *, ready: bool = False) -> tuple[csr_array, ...]:
        """Give the matrices that the model passes messages by."""
        raise NotImplementedError

    def prepare(self, features: Tensor | SparseMatrix, adjacency: csr_array, *, ready: bool = False) -> Operands:
        """Work out what the model multiplies by on a graph.

        Parameters
        ----------
        features : tensor or SparseMatrix
            Of :func:`herald_gpu.evaluate.sparse.place`.
        adjacency : (N, N) CSR array
            The weight of the edge from i to j at (i, j).
        ready : bool
            The adjacency is a propagation matrix already, self loops included: it is not normalised again.
        """
        made = tuple(place(matrix, features.device) for matrix in self.matrices(adjacency, ready=ready))
        return Operands(features, made)

    def forward(self, operands: Operands) -> Tensor:
        """Give the (N, classes) scores."""
        raise NotImplementedError

    @property
    def dropping(self) -> Generator | None:
        """What draws dropout: nothing outside training."""
        return self.draws if self.training else None
