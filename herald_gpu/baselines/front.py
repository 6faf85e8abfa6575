"""run(): a baseline by its name, on the same input and under the same budget as condense()."""

from __future__ import annotations

import importlib
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from herald_gpu import api, ops
from herald_gpu.backend import get_backend
from herald_gpu.baselines.options import make_options, require
from herald_gpu.baselines.result import BaselineResult
from herald_gpu.baselines.selection import cut_columns
from herald_gpu.budget import make_budget, matrix_bytes, settle_prices
from herald_gpu.config import HeraldConfig
from herald_gpu.encoding import candidates, most_rows_first
from herald_gpu.errors import ConfigError
from herald_gpu.io.matrices import to_numpy
from herald_gpu.io.read import Columns
from herald_gpu.stages.feature_budget import count_features
from herald_gpu.stages.features import choose_features
from herald_gpu.stages.heterophily import measure_heterophily
from herald_gpu.stages.scaling import standard_scale

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, BackendName
    from herald_gpu.baselines.bonsai import Accounting
    from herald_gpu.baselines.selection import Selection
    from herald_gpu.budget import Budget
    from herald_gpu.config import EncodingChoice, StorageKind
    from herald_gpu.graph import Graph
    from herald_gpu.io.read import Source
    from herald_gpu.stages.scaling import Scaling

FeatureChoice = Literal["all", "tree", "fisher"]
FEATURE_CHOICES = ("all", "tree", "fisher")


@dataclass(frozen=True)
class Method:
    """Where a baseline lives, the class of its options, the features it keeps by default, and if it makes its nodes."""

    module: str
    options: str
    features: FeatureChoice
    synthetic: bool = False

    def load(self) -> tuple[Any, Any]:
        """Its `select` and its options."""
        module = importlib.import_module(f"herald_gpu.baselines.{self.module}")
        home = importlib.import_module("herald_gpu.baselines.options") if self.options == "SpaceOptions" else module
        return module.select, getattr(home, self.options)


METHODS = {
    "random": Method("random_nodes", "RandomOptions", "all"),
    "herding": Method("herding", "SpaceOptions", "all"),
    "kcenter": Method("kcenter", "SpaceOptions", "all"),
    "bonsai": Method("bonsai", "BonsaiOptions", "tree"),
    "gdem": Method("gdem", "GdemOptions", "all", synthetic=True),
    "cluster": Method("cluster", "ClusterOptions", "all", synthetic=True),
}
NAMES = tuple(METHODS)
"""The baselines there are."""


def run(
    name: str,
    edges: Any,  # noqa: ANN401 - every graph type of the field
    feats: Any = None,  # noqa: ANN401
    labels: Any = None,  # noqa: ANN401
    train: Any = None,  # noqa: ANN401
    *,
    ratio: float = 0.01,
    features: FeatureChoice | None = None,
    feature_count: int | None = None,
    storage: StorageKind = "auto",
    encoding: EncodingChoice = "graph",
    source: str = "src",
    target: str = "dst",
    node: str | None = "node",
    label: str = "label",
    train_column: str = "train",
    unlabelled: Any = -1,  # noqa: ANN401
    backend: BackendName | Backend = "auto",
    random_state: int = 0,
    **options: Any,  # noqa: ANN401 - checked by the method's own class
) -> BaselineResult:
    """Condense a graph with a baseline, inside the same storage budget as :func:`herald_gpu.condense`.

    Parameters
    ----------
    name : {"random", "herding", "kcenter", "bonsai", "gdem", "cluster"}
        The method.
    edges, feats, labels, train
        The graph, as :func:`herald_gpu.condense` takes it. Only labels of training nodes are ever read.
    ratio : float
        The result takes at most this share of the graph's storage, in (0, 1].
    features : {"all", "tree", "fisher"}, optional
        Keep all columns, those a decision tree splits on, or as many with the largest Fisher x density score. By
        default `"tree"` for `bonsai`, else `"all"`.
    feature_count : int, optional
        With `features="fisher"`: keep this many.
    storage : {"auto", "dense", "binary", "sparse"}
        How the full graph's features are priced, as in :class:`herald_gpu.HeraldConfig`.
    encoding : {"graph", "auto", "float32", "float16", "int8", "bits"}
        How the condensed graph's are stored, likewise. Synthetic nodes have float features: `"graph"` is float32 there,
        and `"bits"` is refused.
    source, target, node, label, train_column : str
        Column names; `node=None` says that rows are numbered, as in :func:`herald_gpu.condense`.
    unlabelled : object
        The label value that means unknown.
    backend : {"auto", "cpu", "rapids"} or Backend
        Where to run.
    random_state : int
        Seed of whatever is drawn at random.
    **options
        Options of the method: see docs/baselines.md.

    Returns
    -------
    BaselineResult

    Examples
    --------
    >>> from herald_gpu import baselines
    >>> from herald_gpu.datasets import make_graph
    >>> g = make_graph(300, n_classes=3, n_features=16, seed=1)
    >>> small = baselines.run("herding", g.edge_index, g.features, g.labels, g.train, ratio=0.1, backend="cpu")
    >>> small.storage_ratio <= 0.1
    True
    >>> small.transform(g.features).shape[1] == small.n_features
    True
    >>> all(g.train[small.node_ids])
    True
    """
    require("name", name, name in METHODS, f"one of {NAMES}")
    method = METHODS[name]
    choice = method.features if features is None else features
    require("features", choice, choice in FEATURE_CHOICES, f"one of {FEATURE_CHOICES}")
    if feature_count is not None and choice != "fisher":
        msg = f"feature_count={feature_count!r} has no effect with features={choice!r}: pass features='fisher'"
        raise ConfigError(msg)
    config = HeraldConfig.paper(
        storage=storage,
        encoding=encoding,
        feature_count=feature_count,
        feature_ranking="tree" if choice == "tree" else "fisher",
    )
    _check(ratio, random_state)
    select, kind = method.load()
    chosen = make_options(name, kind, options)
    exact = getattr(chosen, "accounting", "exact") == "exact"
    require("encoding", encoding, exact or encoding == "graph", "'graph' with the published accounting")
    require("encoding", encoding, not (method.synthetic and encoding == "bits"), "another: synthetic nodes have floats")
    device = get_backend(backend) if isinstance(backend, str) else backend
    columns = Columns(source, target, node, label, train_column)
    given = device.read(edges, feats, labels, train, columns=columns, unlabelled=unlabelled)
    graph, notes = api.build_graph(device, given, config)
    start = time.perf_counter()
    with device.stage(name):
        budget = make_budget(device, graph, float(ratio), config)
        seen, scaling = as_published(device, given, getattr(chosen, "accounting", "exact")) or (graph, None)
        kept = keep_features(device, seen, choice, config)
        cut = cut_columns(device, seen, kept)
        room = settle_encoding(device, cut, budget, config, synthetic=method.synthetic)
        made = select(device, cut, room, seed=int(random_state), options=chosen)
        if seen is not graph:  # the true price is that of the values as they were given
            own = ops.take_columns(device, graph.features[made.nodes], kept)
            made = replace(made, storage_bytes=matrix_bytes(device, budget.coded, own, int(made.adjacency.nnz)))
    seconds = time.perf_counter() - start
    result = _result(
        device,
        name,
        given,
        made,
        kept,
        replace(budget, encoding=room.encoding),
        notes,
        seconds=seconds,
        seed=int(random_state),
    )
    if scaling is None:
        return result
    mean, deviation = (device.to_host(part[kept]) for part in (scaling.center, scaling.spread))
    return replace(result, mean=mean, deviation=deviation)


def settle_encoding(backend: Backend, graph: Graph, budget: Budget, config: HeraldConfig, *, synthetic: bool) -> Budget:
    """Give the budget with the encoding that holds the most nodes, and without what that stores once.

    Synthetic nodes decide between rows and lists of non-zeros by themselves, and charge their scales themselves.
    """
    if config.encoding == "graph":
        return budget
    if not synthetic:
        return settle_prices(backend, graph, graph.features, budget, config).budget
    width, options = graph.n_features, candidates("dense", config.encoding)
    return replace(budget, encoding=most_rows_first(options, width, width, limit=budget.limit, largest=1.0)[0])


def as_published(backend: Backend, given: Source, accounting: Accounting) -> tuple[Graph, Scaling | None] | None:
    """Give the graph that a branch of the published code sees, and how its features were scaled; None for `exact`."""
    if accounting == "exact":
        return None
    stored, _ = api.build_graph(backend, given, HeraldConfig.published(accounting))
    stored = replace(stored, labels=backend.xp.where(stored.train, stored.labels, -1))
    if accounting != "scaled":
        return stored, None
    scaling = standard_scale(backend, stored)
    return replace(stored, features=scaling.widened(backend, stored.features)), scaling


def keep_features(backend: Backend, graph: Graph, choice: FeatureChoice, config: HeraldConfig) -> Array:
    """Columns to keep, ascending."""
    if choice == "all":
        return backend.xp.arange(graph.n_features, dtype=backend.xp.int64)
    anchor = count_features(backend, graph, config)
    h = 0.0 if choice == "tree" else measure_heterophily(backend, graph).h
    return choose_features(backend, graph, h, anchor, config).indices


def _check(ratio: object, random_state: object) -> None:
    good = isinstance(ratio, int | float | np.number) and not isinstance(ratio, bool) and 0 < ratio <= 1
    require("ratio", ratio, bool(good), "a number in (0, 1]")
    good = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0
    require("random_state", random_state, bool(good), "an integer >= 0")


def _result(
    backend: Backend,
    name: str,
    given: Source,
    made: Selection,
    kept: Array,
    budget: Budget,
    notes: list[str],
    *,
    seconds: float,
    seed: int,
) -> BaselineResult:
    host = backend.to_host
    ids, positions, codes = to_numpy(given.node_ids), host(kept), host(made.labels)
    warnings = [*given.warnings, *notes]
    if made.storage_bytes > budget.limit:
        times = made.storage_bytes / max(1.0, budget.limit)
        warnings.append(
            f"the accounting asked for does not keep the budget: the result takes {made.storage_bytes} bytes, "
            f"{times:.1f} times the {int(budget.limit)} asked for"
        )
    return BaselineResult(
        name=name,
        node_ids=ids[:0] if made.nodes is None else ids[host(made.nodes)],
        features=host(made.features).astype(np.float32),
        adjacency=host(made.adjacency),
        labels=_labels(codes, given.class_values),
        train_mask=host(made.train),
        codes=codes,
        class_values=given.class_values,
        feature_ids=given.feature_ids[positions],
        feature_positions=positions,
        n_input_features=int(given.features.shape[1]),
        normalised=made.normalised,
        storage_bytes=int(made.storage_bytes),
        full_bytes=int(budget.full_bytes),
        budget_bytes=int(budget.limit),
        storage_kind=budget.kind,
        encoding=made.encoding or budget.coded.name,
        requested_ratio=float(budget.ratio or 0.0),
        seconds=seconds,
        backend=backend.name,
        random_state=seed,
        details=made.details,
        warnings=tuple(warnings),
    )


def _labels(codes: np.ndarray, class_values: np.ndarray) -> np.ndarray:
    picked = class_values[np.maximum(codes, 0)]
    if class_values.dtype.kind in "iu":
        return np.where(codes >= 0, picked, -1)
    values = picked.astype(object)
    values[codes < 0] = None
    return values
