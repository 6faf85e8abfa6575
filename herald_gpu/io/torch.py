"""PyTorch tensors and PyG data objects, in and out."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu.errors import ColumnError, InputError, UnsupportedInputError
from herald_gpu.io.kinds import library

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import scipy.sparse
    import torch
    from torch_geometric.data import Data

REFUSED = {
    "HeteroData": "heterogeneous graphs are not supported: pass one node type and one edge type as Data",
    "TemporalData": "temporal graphs are not supported: pass a snapshot as Data",
}
IGNORED = ("edge_attr", "edge_weight")


def read_pyg(data: Data) -> tuple[Any, Any, Any, Any, list[str]]:
    """Take a PyG `Data` apart: (edge_index, x, y, train_mask, warnings); absent parts are None."""
    check_pyg(data)
    if getattr(data, "edge_index", None) is None:
        msg = "edges is a PyG Data without edge_index: set it (for adj_t, torch_geometric.utils.to_edge_index helps)"
        raise InputError(msg)
    present = [name for name in IGNORED if getattr(data, name, None) is not None]
    warnings = [f"edge attributes {present} are ignored"] if present else []
    return data.edge_index, *(getattr(data, name, None) for name in ("x", "y", "train_mask")), warnings


def check_pyg(data: Data) -> None:
    """Refuse a PyG object that is not one homogeneous graph."""
    for base in type(data).__mro__:
        if base.__name__ in REFUSED:
            raise UnsupportedInputError(REFUSED[base.__name__])


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    """Bring a dense tensor to NumPy; bfloat16, which NumPy does not have, becomes float32."""
    plain = tensor.detach().cpu()
    return (plain.float() if str(plain.dtype) == "torch.bfloat16" else plain).numpy()


def unpack(data: Data, feats: Any, labels: Any, train: Any) -> tuple[Any, Any, Any, Any, list[str]]:  # noqa: ANN401
    """Take from a PyG `Data` what was not given apart: (edge_index, feats, labels, train, warnings)."""
    edge_index, x, y, mask, warnings = read_pyg(data)
    for name, inside, outside in (("feats", x, feats), ("labels", y, labels)):
        if inside is not None and outside is not None:
            msg = f"{name}= is given together with a PyG Data that holds its own: pass one of them"
            raise ColumnError(msg)
    if train is None and mask is not None and mask.ndim > 1:
        msg = f"edges is a PyG Data whose train_mask has shape {tuple(mask.shape)}: pass train=data.train_mask[:, k]"
        raise InputError(msg)
    return edge_index, _either(feats, x), _either(labels, y), _either(train, mask), warnings


def _either(given: Any, inside: Any) -> Any:  # noqa: ANN401
    return inside if given is None else given


def to_tensor(array: np.ndarray) -> torch.Tensor:
    """Copy a NumPy array into a tensor."""
    return library("torch", "eval").from_numpy(np.ascontiguousarray(array).copy())


def to_sparse_tensor(matrix: scipy.sparse.csr_matrix) -> torch.Tensor:
    """Copy a CSR matrix into a coalesced sparse COO tensor."""
    torch_ = library("torch", "eval")
    coo = matrix.tocoo()
    indices = to_tensor(np.stack([coo.row, coo.col]).astype(np.int64))
    return torch_.sparse_coo_tensor(indices, to_tensor(coo.data), coo.shape, is_coalesced=True, check_invariants=False)


def to_pyg(fields: dict[str, Any]) -> Data:
    """Build a PyG `Data`."""
    return library("torch_geometric.data").Data(**fields)


def with_features(data: Data, transform: Callable[[Any], Any]) -> Data:
    """Return a copy of a PyG `Data` with transformed `x`, on the same device; all else is shared with the original."""
    check_pyg(data)
    if getattr(data, "x", None) is None:
        msg = "feats is a PyG Data without x: set it to the features that the full graph has"
        raise InputError(msg)
    out = copy.copy(data)
    out.x = transform(data.x).to(data.x.device)
    return out


def save(data: Data, path: Path) -> None:
    """Write a PyG `Data`; ``torch.load(path, weights_only=False)`` reads it."""
    library("torch", "eval").save(data, path)
