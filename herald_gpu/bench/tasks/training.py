"""What condensation saves: a GCN trained on the whole graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.bench import graphs
from herald_gpu.bench.clocks import median, seconds
from herald_gpu.io.kinds import library


def gcn(spec: dict[str, Any], hidden: int, epochs: int, extrapolated: int) -> dict[str, Any]:
    """Time some epochs of a GCN on the whole graph, after one that is not counted, and extrapolate.

    Parameters
    ----------
    spec : dict
        A graph, see :func:`herald_gpu.bench.graphs.load`.
    hidden, epochs : int
        Hidden units, and epochs that are timed; nothing is validated in between.
    extrapolated : int
        Epochs of a whole training.
    """
    library("torch", "eval")
    from herald_gpu.evaluate.models import make_model
    from herald_gpu.evaluate.protocol import Training, some_nodes, train
    from herald_gpu.evaluate.sparse import place

    graph = graphs.load(spec).seen(CpuBackend())
    model = make_model("GCN", graph.n_features, graph.n_classes, variant="published", hidden=hidden)
    operands = model.prepare(place(graph.features), graph.adjacency)
    codes = graph.labels.astype(np.int64)
    learn, nobody = some_nodes(operands, codes, graph.train), some_nodes(operands, codes, np.zeros_like(graph.train))
    once = Training(epochs=1, hidden=hidden, best_validation=False)
    taken = [seconds(lambda: train(model, learn, nobody, training=once)) for _ in range(epochs + 1)]
    epoch = median(taken[1:])
    return {"epoch": epoch, "epochs": epochs, "hidden": hidden, "seconds": extrapolated * epoch, "of": extrapolated}
