"""Condensation as a PyG transform: a `Data` in, a small `Data` out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from herald_gpu.api import condense
from herald_gpu.errors import InputError, MissingDependencyError
from herald_gpu.install import pip_line_of
from herald_gpu.io.torch import check_pyg

try:
    from torch_geometric.transforms import BaseTransform
except ImportError as error:
    msg = f"herald_gpu.pyg needs PyG, which is not installed: {pip_line_of(['torch', 'torch-geometric'])}"
    raise MissingDependencyError(msg) from error

if TYPE_CHECKING:
    from torch_geometric.data import Data

    from herald_gpu.backend import Backend, BackendName
    from herald_gpu.config import HeraldConfig, Scale
    from herald_gpu.result import CondensedGraph

__all__ = ["Condense"]


class Condense(BaseTransform):  # type: ignore[misc]  # PyG is typed in part
    """Condense a graph to a share of its storage, as :func:`herald_gpu.condense` does.

    The new `Data` has `x`, `edge_index`, `y`, `train_mask`, `n_id` (rows of the nodes in the given `Data`, -1 for
    synthetic nodes), `is_landmark` and `edge_is_synthetic`; other attributes of the given one are left out. `y` is -1
    outside the training nodes.

    Parameters
    ----------
    ratio : float
        The result takes at most this share of the graph's storage, in (0, 1].
    split : int, optional
        Which column of `train_mask` to train on, for data that hold several splits.
    unlabelled : int
        The value of `y` that means unknown.
    scale : {"auto", "none", "standard", "robust"}
        How features are scaled, as in :func:`herald_gpu.condense`.
    config : HeraldConfig, optional
        Constants of the method; by default the default preset.
    backend : {"auto", "cpu", "rapids"} or Backend
        Where to run.
    random_state : int
        Seed of whatever is drawn at random.
    verbose : bool
        Show a progress bar.

    Attributes
    ----------
    condensed_ : CondensedGraph or None
        The result of the last call: ``condensed_.transform(data)`` gives the whole graph with the kept features, and
        ``condensed_.report`` tells what was kept.

    Examples
    --------
    >>> import torch
    >>> from torch_geometric.data import Data
    >>> from herald_gpu.datasets import make_graph
    >>> g = make_graph(400, n_classes=3, n_features=32, seed=1)
    >>> fields = {"x": g.features, "edge_index": g.edge_index, "y": g.labels, "train_mask": g.train}
    >>> data = Data(**{name: torch.from_numpy(values) for name, values in fields.items()})
    >>> condense = Condense(ratio=0.1)
    >>> small = condense(data)
    >>> bool((small.n_id < data.num_nodes).all())
    True
    >>> condense.condensed_.transform(data).num_features == small.num_features
    True
    """

    def __init__(
        self,
        ratio: float = 0.01,
        *,
        split: int | None = None,
        unlabelled: int = -1,
        scale: Scale = "auto",
        config: HeraldConfig | None = None,
        backend: BackendName | Backend = "auto",
        random_state: int = 0,
        verbose: bool = False,
    ) -> None:
        self.ratio = ratio
        self.split = split
        self.options: dict[str, Any] = {
            "unlabelled": unlabelled,
            "scale": scale,
            "config": config,
            "backend": backend,
            "random_state": random_state,
            "verbose": verbose,
        }
        self.condensed_: CondensedGraph | None = None

    def forward(self, data: Data) -> Data:
        """Return the condensed graph, on the device of the given one."""
        check_pyg(data)
        self.condensed_ = condense(data, train=self._train(data), ratio=self.ratio, **self.options)
        return self.condensed_.to_pyg().to(data.edge_index.device)

    def _train(self, data: Data) -> Any:  # noqa: ANN401 - a tensor, or None for what `data` says itself
        mask: Any = getattr(data, "train_mask", None)
        splits = 0 if mask is None or mask.dim() == 1 else int(mask.shape[1])
        if self.split is None and not splits:
            return None
        if not splits:
            msg = f"split={self.split} chooses a column of data.train_mask, which does not hold several: leave it out"
            raise InputError(msg)
        if self.split is None or not 0 <= self.split < splits:
            msg = f"split={self.split}, but data.train_mask holds {splits} splits: pass split=0 to split={splits - 1}"
            raise InputError(msg)
        return mask[:, self.split]

    def __repr__(self) -> str:
        """Name all that changes the result: PyG data sets compare it to see whether they must be built again."""
        changing = {"ratio": self.ratio, "split": self.split, **self.options}
        ignored = ("verbose", *(name for name in ("split", "config") if changing[name] is None))
        listed = ", ".join(f"{name}={value!r}" for name, value in changing.items() if name not in ignored)
        return f"{type(self).__name__}({listed})"
