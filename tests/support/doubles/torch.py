"""A double of torch on the device: tensors that come from DLPack and go back to it, and never to NumPy in silence."""

from __future__ import annotations

from types import ModuleType


class Tensor:
    """A tensor on the device, around a CuPy array."""

    is_cuda = True
    device = "cuda:0"

    def __init__(self, array, shape=None):
        self.array = array
        self.shape = array.shape if shape is None else shape
        self.ndim = len(self.shape)
        self.layout = "torch.strided"

    def __array__(self, *_, **__):
        msg = "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor first."
        raise TypeError(msg)

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def detach(self):
        return self

    def to(self, device):
        assert device == self.device
        return self


class SparseTensor(Tensor):
    """A coalesced COO tensor."""

    def __init__(self, indices, values, shape):
        super().__init__(values.array, shape)
        self.layout = "torch.sparse_coo"
        self._indices, self._values = indices, values

    def to_sparse_coo(self):
        return self

    def coalesce(self):
        return self

    def indices(self):
        return self._indices

    def values(self):
        return self._values


def from_dlpack(ext_tensor):
    import cupy as cp

    if not ext_tensor.flags.c_contiguous:
        msg = "not modelled: tensors of other strides"
        raise NotImplementedError(msg)
    return Tensor(cp.from_dlpack(ext_tensor))


def sparse_coo_tensor(indices, values, size, *, is_coalesced, check_invariants):
    assert is_coalesced
    assert not check_invariants
    return SparseTensor(indices, values, tuple(size))


class Data(dict):
    """PyG's Data, as far as it holds what it is given."""

    __getattr__ = dict.__getitem__


Tensor.__module__ = SparseTensor.__module__ = "torch"
Data.__module__ = "torch_geometric.data"


def modules():
    """Make the modules that stand in for torch and PyG."""
    torch, pyg = ModuleType("torch"), ModuleType("torch_geometric.data")
    torch.from_dlpack, torch.sparse_coo_tensor, pyg.Data = from_dlpack, sparse_coo_tensor, Data
    return {"torch": torch, "torch_geometric.data": pyg}
