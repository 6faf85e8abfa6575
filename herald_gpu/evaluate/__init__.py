"""How well GNNs do on the full graph after training on a condensed one.

Everything but the splits needs torch (extra ``eval``). Importing this package does not load it; names are resolved
on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from herald_gpu.datasets.splits import Split, paper_split, random_split
    from herald_gpu.evaluate.fidelity import Fidelity, search_fidelity
    from herald_gpu.evaluate.inputs import Trainable
    from herald_gpu.evaluate.measure import evaluate, summarise
    from herald_gpu.evaluate.models import MODELS, make_model
    from herald_gpu.evaluate.network import VARIANTS
    from herald_gpu.evaluate.protocol import Training, train

_HOMES = {
    "Fidelity": "fidelity",
    "MODELS": "models",
    "Trainable": "inputs",
    "Training": "protocol",
    "VARIANTS": "network",
    "evaluate": "measure",
    "make_model": "models",
    "search_fidelity": "fidelity",
    "summarise": "measure",
    "train": "protocol",
}
_SPLITS = ("Split", "paper_split", "random_split")

__all__ = [
    "MODELS",
    "VARIANTS",
    "Fidelity",
    "Split",
    "Trainable",
    "Training",
    "evaluate",
    "make_model",
    "paper_split",
    "random_split",
    "search_fidelity",
    "summarise",
    "train",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """Load a public name from its home when it is first asked for."""
    if name in _SPLITS:
        home = "herald_gpu.datasets.splits"
    elif name in _HOMES:
        from herald_gpu.io.kinds import library

        library("torch", "eval")
        home = f"{__name__}.{_HOMES[name]}"
    else:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(set(globals()) | set(__all__))
