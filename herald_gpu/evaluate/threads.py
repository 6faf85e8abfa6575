"""How many threads torch works with on a graph: one, unless there is enough to share."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

from herald_gpu.evaluate.sparse import SparseMatrix

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from herald_gpu.evaluate.network import Network, Operands

SHARED = 1 << 26
"""Multiplications of one pass from which work is shared among threads.

Below, a pass takes one thread less than about 30 ms, in some sixty operations; threads then wait for one another
longer than they work, above all where other programs keep the cores busy. Measured with two threads on two cores that
others used too: on a graph of 172 nodes one thread was 4 to 36 times faster.
"""


@contextmanager
def right_threads(model: Network, operands: Operands) -> Iterator[None]:
    """Let torch use one thread in this block if the graph is small, and the caller's number otherwise.

    The choice depends on sizes alone, so that the same input is worked on in the same way every time. The number of
    threads is the caller's again afterwards.

    Parameters
    ----------
    model : Network
    operands : Operands
        What the model multiplies by.
    """
    before = torch.get_num_threads()
    if before == 1 or operands.features.device.type != "cpu" or multiplications(model, operands) >= SHARED:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def multiplications(model: Network, operands: Operands) -> int:
    """Count the multiplications of one pass: features by weights, and operators by hidden units.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> from herald_gpu.evaluate import make_model
    >>> model = make_model("GCN", n_features=3, n_classes=2, hidden=8)
    >>> multiplications(model, model.prepare(torch.ones(4, 3), scipy.sparse.csr_array(np.ones((4, 4)))))
    224
    """
    return model.sizes.hidden * sum(map(_entries, (operands.features, *operands.operators)))


def _entries(matrix: Tensor | SparseMatrix) -> int:
    if isinstance(matrix, SparseMatrix):
        return len(matrix.values)
    return matrix.numel() if matrix.layout == torch.strided else matrix.values().numel()
