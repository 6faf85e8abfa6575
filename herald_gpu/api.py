"""condense(): the caller's types in, the caller's types out."""

from __future__ import annotations

import dataclasses
import logging
import os
from collections.abc import Mapping, Sequence  # noqa: TC003 - typing.get_type_hints looks names up here
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu._version import __version__
from herald_gpu.backend import Backend, BackendName, get_backend
from herald_gpu.config import HeraldConfig, Scale
from herald_gpu.errors import BudgetError, ConfigError, InputError
from herald_gpu.graph import Graph, check_finite, clean_edges, clean_features, stored_edges
from herald_gpu.io import csv as csv_files
from herald_gpu.io import present
from herald_gpu.io.kinds import any_dask
from herald_gpu.io.landmarks import landmark_ids
from herald_gpu.io.matrices import to_numpy as on_host
from herald_gpu.io.present import OutputType  # noqa: TC001 - as above
from herald_gpu.io.read import Columns
from herald_gpu.pipeline import STAGES, Clock, Shared, in_turn, run
from herald_gpu.result import CondensedGraph, Contents
from herald_gpu.stages.scaling import check_scale, fit_scaling
from herald_gpu.summary import Report

if TYPE_CHECKING:
    from collections.abc import Callable

    from herald_gpu.assembly import Condensed
    from herald_gpu.distributed.parts import Layout
    from herald_gpu.io.read import Source, Style
    from herald_gpu.stages.scaling import ScalingPlan

logger = logging.getLogger("herald_gpu")


def condense(
    edges: Any,  # noqa: ANN401 - every graph type of the field
    feats: Any = None,  # noqa: ANN401
    labels: Any = None,  # noqa: ANN401
    train: Any = None,  # noqa: ANN401
    *,
    ratio: float = 0.01,
    source: str = "src",
    target: str = "dst",
    node: str | None = "node",
    label: str = "label",
    train_column: str = "train",
    unlabelled: Any = -1,  # noqa: ANN401
    drop: str | Sequence[str] = (),
    categorical: str | Sequence[str] = (),
    csv: Mapping[str, str] | None = None,
    scale: Scale = "auto",
    config: HeraldConfig | None = None,
    backend: BackendName | Backend = "auto",
    output_type: OutputType = "input",
    random_state: int = 0,
    verbose: bool = False,
    resume: str | os.PathLike[str] | None = None,
) -> CondensedGraph:
    """Condense a labelled graph to a share of its storage.

    Parameters
    ----------
    edges : table, (2, E) array or tensor, sparse matrix, NetworkX graph, PyG Data, or path of a Parquet or CSV file; \
or a Dask table or array
        Directions do not matter; self loops, duplicates, weights and attributes are dropped, and the report
        says so. Entries are node ids; rows and columns of a sparse matrix are rows of `feats`.
    feats : table, 2-D array or tensor, CSR matrix, path of a Parquet or CSV file, or names of node attributes
        One row a node. In a table the column `node` (or else the index) holds the ids, `label` the labels
        (missing or `unlabelled` is unknown), `train_column` marks training nodes; all other columns are
        features. A table without ids whose columns look like some is refused, and stored row numbers
        (`Unnamed: 0`, `index`) are no features. In an array the ids are row numbers. Not needed with a PyG Data
        that has `x`.
        With a NetworkX graph it may name the node attribute that holds a vector of features (by default "x"), or
        list several that hold a number each; `label` and `train_column` then are node attributes too.
    labels : array or Series, optional
        One a node, where `feats` has no label column.
    train : boolean mask or node ids, optional
        The training nodes; by default the column `train_column`, else all labelled nodes. Masks and columns may
        hold booleans, 0/1, true/false, yes/no, y/n, or words as train, val, test. Only labels of training nodes
        are ever read.
    ratio : float
        The result takes at most this share of the graph's storage, in (0, 1].
    source, target, node, label, train_column : str
        Names of columns, or of node attributes of a NetworkX graph; `node=None` says that a table has no column of ids
        and its rows are numbered from 0.
    unlabelled : object
        The label value that means unknown; None if there is none.
    drop : str or sequence of str
        Columns of the table `feats` to leave out.
    categorical : str or sequence of str
        Columns of the table `feats` to encode one-hot: text, categories, whole numbers or booleans. Each level
        becomes a column of zeros and ones, named ``column=level``; a missing value is zero in all of them.
    csv : mapping, optional
        How CSV files are written: "separator" (by default a comma, in ``.tsv`` files a tab), "decimal" (by default a
        point) and "encoding" (by default UTF-8), as in ``{"separator": ";", "decimal": ","}``.
    scale : {"auto", "none", "standard", "robust"}
        How features are scaled, by figures of all rows: by mean and standard deviation (`"standard"`), or by median
        and quartiles (`"robust"`). `"auto"` standardizes dense columns if their sizes differ by a factor of more than
        20, and leaves all others. A column of zeros and ones is never scaled, and zeros of a column that is mostly
        zero stay zeros. The center and the spread of every kept column are stored with the result, count in the
        budget, and are applied by :meth:`CondensedGraph.transform`.
    config : HeraldConfig, optional
        Constants of the method; by default the default preset.
    backend : {"auto", "cpu", "rapids"} or Backend
        Where to run; :func:`herald_gpu.get_backend` makes one with options.
    output_type : {"input", "numpy", "pandas", "polars", "arrow", "torch", "cupy", "cudf"}
        What results are given as; by default as the input.
    random_state : int
        Seed of whatever is drawn at random.
    verbose : bool
        Show a progress bar.
    resume : path-like, optional
        Folder for partial results of Dask collections: a run that was broken off goes on where it was, when it is
        called with the same folder and all else the same.

    Returns
    -------
    CondensedGraph

    Notes
    -----
    For the inductive setting pass the training graph only; :meth:`CondensedGraph.transform` serves new nodes.

    Where `edges` and `feats` are Dask collections (`dask.dataframe`, `dask_cudf`, `dask.array`), the workers of the
    active `distributed.Client` do the work, none of which holds the whole graph; on a CPU the result is that of the
    same tables in memory. Results are plain tables and arrays (docs/distributed.md).

    Examples
    --------
    >>> import pandas as pd
    >>> import herald_gpu
    >>> edges = pd.DataFrame({"src": ["a", "b", "c", "d"], "dst": ["b", "c", "d", "a"]})
    >>> nodes = pd.DataFrame(
    ...     {"node": list("abcd"), "label": ["x", "y", "x", "y"], "f0": [1, 0, 1, 0], "f1": [0, 1, 0, 1]}
    ... )
    >>> small = herald_gpu.condense(edges, nodes, ratio=0.5)
    >>> small.report.storage_ratio <= 0.5
    True
    >>> list(small.report.class_counts)
    ['x', 'y']
    """
    (found,) = condense_each(
        edges,
        feats,
        labels,
        train,
        [ratio],
        source=source,
        target=target,
        node=node,
        label=label,
        train_column=train_column,
        unlabelled=unlabelled,
        drop=drop,
        categorical=categorical,
        csv=csv,
        scale=scale,
        config=config,
        backend=backend,
        output_type=output_type,
        random_state=random_state,
        verbose=verbose,
        resume=resume,
    )
    if isinstance(found, BudgetError):
        raise found
    return found


def condense_each(
    edges: Any,  # noqa: ANN401 - every graph type of the field
    feats: Any,  # noqa: ANN401
    labels: Any,  # noqa: ANN401
    train: Any,  # noqa: ANN401
    ratios: Sequence[float],
    *,
    source: str,
    target: str,
    node: str | None,
    label: str,
    train_column: str,
    unlabelled: Any,  # noqa: ANN401
    drop: str | Sequence[str],
    categorical: str | Sequence[str],
    csv: Mapping[str, str] | None,
    scale: Scale,
    config: HeraldConfig | None,
    backend: BackendName | Backend,
    output_type: OutputType,
    random_state: int,
    verbose: bool,
    resume: str | os.PathLike[str] | None,
) -> list[CondensedGraph | BudgetError]:
    """Condense a graph to every one of several ratios: what does not depend on the ratio is done once.

    Parameters
    ----------
    ratios : sequence of float
        At least one.
    edges, feats, labels, train, source, target, node, label, train_column, unlabelled, drop, categorical, csv, scale, \
config, backend, output_type, random_state, verbose, resume
        As of :func:`condense`.

    Returns
    -------
    list
        In the order of `ratios`; for those that do not hold a node of every class, the error.
    """
    config = HeraldConfig() if config is None else config
    for ratio in ratios:
        _check_options(ratio, config, random_state, output_type)
    scale = check_scale(scale, exact=config.exact)
    columns = Columns(source, target, node, label, train_column, drop, categorical)  # type: ignore[arg-type]
    csv_files.check_used(csv, edges, feats)
    if any_dask(edges, feats, labels, train):
        from herald_gpu.distributed.front import condense_collections

        spread = partial(
            condense_collections,
            (edges, feats, labels, train),
            columns=columns,
            unlabelled=unlabelled,
            scale=scale,
            config=config,
            backend=backend,
            output_type=output_type,
            seed=int(random_state),
            verbose=verbose,
            resume=resume,
        )
        return [_or_refusal(partial(spread, float(ratio))) for ratio in ratios]
    if resume is not None:
        msg = f"resume={os.fspath(resume)!r} is for Dask collections, but edges is none: leave it out"
        raise ConfigError(msg)
    chosen = get_backend(backend) if isinstance(backend, str) else backend
    found: dict[float, CondensedGraph | BudgetError] = {}
    with ExitStack() as stack:
        bar = stack.enter_context(progress_bar(config, len(ratios))) if verbose else None
        clock = Clock(chosen, bar)
        with clock.stage("reading"):
            edges, feats = csv_files.read_graph(edges, feats, columns, csv)
            given = chosen.read(edges, feats, labels, train, columns=columns, unlabelled=unlabelled)
            graph, notes = build_graph(chosen, given, config)
            graph, scaled = scale_graph(chosen, graph, scale)
        style = present.choose_style(given.style, output_type)
        shared = Shared() if len(ratios) > 1 else None

        def condensed(ratio: float, clock: Clock) -> CondensedGraph:
            made = run(chosen, graph, ratio, config, seed=random_state, clock=clock, shared=shared)
            report = make_report(
                chosen, given, made, clock, notes, config, ratio=ratio, seed=random_state, scale=scale, scaled=scaled
            )
            return CondensedGraph(make_contents(chosen, given, graph, made, columns, style, unlabelled), report)

        turns = [float(ratio) for ratio in ratios]
        if shared is not None:
            turns = in_turn(chosen, graph, turns, config, seed=random_state, shared=shared)
        for turn, ratio in enumerate(turns):
            own = Clock(chosen, bar, {"reading": 0.0}) if turn else clock  # it was read once
            found[ratio] = _or_refusal(partial(condensed, ratio, own))
    log_warnings(*(one.report for one in found.values() if isinstance(one, CondensedGraph)))
    return [found[float(ratio)] for ratio in ratios]


def _or_refusal(condensed: Callable[[], CondensedGraph]) -> CondensedGraph | BudgetError:
    """Condense, or return the error of a ratio that does not hold a node of every class."""
    try:
        return condensed()
    except BudgetError as error:
        return error.with_traceback(None)  # which would keep what the run made alive


def log_warnings(*reports: Report) -> None:
    """Log what reports warn of, each warning once, marked so that whoever prints a report does not repeat it."""
    for warning in dict.fromkeys(warning for report in reports for warning in report.warnings):
        logger.warning("%s", warning, extra={"reported": True})


def build_graph(backend: Backend, given: Source, config: HeraldConfig) -> tuple[Graph, list[str]]:
    """Clean what was read and bring it to the backend: (graph, what was dropped).

    Labels outside the training set are erased here, before any stage can see them.
    """
    n, notes = len(given.node_ids), []
    source, target = backend.asarray(given.source), backend.asarray(given.target)
    if config.exact:
        adjacency, dropped = clean_edges(backend, source, target, n)
        for count, what in ((dropped.self_loops, "self loops"), (dropped.duplicates, "duplicate edges")):
            if count:
                notes.append(f"{count} {what} dropped")
        if int(adjacency.nnz) == 0:
            msg = "edges holds nothing but self loops: pass at least one edge between two nodes"
            raise InputError(msg)
    else:
        adjacency = stored_edges(backend, source, target, n)
    given_features = backend.asarray(given.features)
    check_finite(backend, given_features, given.feature_ids, given.node_ids)
    features, kind = clean_features(backend, given_features)
    labels, train = backend.asarray(given.codes, dtype=np.int32), backend.asarray(given.train)
    if config.exact:
        labels = backend.xp.where(train, labels, -1)
    return Graph(adjacency, features, kind, labels, train, len(given.class_values)), notes


def scale_graph(backend: Backend, graph: Graph, scale: Scale) -> tuple[Graph, ScalingPlan | None]:
    """Scale the features of a graph: (graph, what was done)."""
    found = fit_scaling(backend, graph, scale)
    if found is None:
        return graph, None
    scaling, plan = found
    features = scaling.apply(backend, graph.features)
    return dataclasses.replace(graph, features=features, scaling=scaling, n_given=plan.n_given), plan


def _check_options(ratio: object, config: object, random_state: object, output_type: str) -> None:
    if isinstance(ratio, bool) or not isinstance(ratio, int | float | np.number) or not 0 < ratio <= 1:
        msg = f"ratio={ratio!r} is not valid: pass a number in (0, 1]"
        raise ConfigError(msg)
    if not isinstance(config, HeraldConfig):
        msg = f"config={config!r} is not valid: pass a HeraldConfig, such as HeraldConfig.paper()"
        raise ConfigError(msg)
    if isinstance(random_state, bool) or not isinstance(random_state, int | np.integer) or random_state < 0:
        msg = f"random_state={random_state!r} is not valid: pass an integer >= 0"
        raise ConfigError(msg)
    present.check_output_type(output_type)


def progress_bar(config: HeraldConfig, n_runs: int = 1) -> Any:  # noqa: ANN401 - a tqdm bar
    """Make the bar that stages move on; of several runs on one graph, which is read once."""
    from tqdm import tqdm

    return tqdm(total=n_runs * len(STAGES[config.selection]) + 1, unit="stage", desc="reading")


def make_report(
    backend: Backend,
    given: Source,
    made: Condensed,
    clock: Clock,
    notes: list[str],
    config: HeraldConfig,
    *,
    ratio: float,
    seed: int,
    scale: Scale,
    scaled: ScalingPlan | None,
) -> Report:
    """Write down what was asked, what came out and what it cost."""
    classes, s, sizes, picked = given.class_values.tolist(), made.statistics, made.sizes, made.picked
    search, trial = picked.scores.search, picked.trial
    missing = [classes[code] for code in made.missing]
    warnings = given.warnings + notes + list(made.warnings)
    if scaled is not None and scaled.note is not None:
        warnings.append(scaled.note)
    if missing:
        warnings.append(f"no training node of the classes {missing} fits in the budget")
    return Report(
        heterophily=made.hetero.h,
        homophily=made.hetero.homophily,
        weights=picked.weights,
        feature_count=int(made.feature_indices.shape[0]),
        feature_tree=picked.tree,
        lid_search=None if search is None else search.name,
        lid_recall=None if search is None else search.recall,
        lid_correlation=None if search is None else search.correlation,
        exemplar_rule=None if trial is None else trial.rule,
        trials=[dataclasses.asdict(one) for one in picked.trials],
        majority_share=picked.majority,
        scale=scale,
        n_scaled=0 if scaled is None else scaled.n_scaled,
        validation_nodes=picked.validation_nodes,
        component_count=None if made.reduction is None else int(made.reduction.components.shape[0]),
        requested_ratio=ratio,
        storage_ratio=sizes.storage_bytes / sizes.full_bytes,
        node_ratio=s.node_ratio,
        edge_ratio=s.edge_ratio,
        storage_bytes=sizes.storage_bytes,
        budget_bytes=sizes.budget_bytes,
        full_bytes=sizes.full_bytes,
        storage_kind=sizes.kind,
        encoding=sizes.encoding.name,
        published_storage_ratio=sizes.published_ratio,
        n_nodes=s.n_nodes,
        n_edges=s.n_edges,
        n_landmarks=0 if picked.landmarks is None else int(picked.landmarks.shape[0]),
        n_synthetic_edges=made.n_synthetic,
        class_counts=dict(zip(classes, s.class_counts, strict=True)),
        missing_classes=missing,
        class_entropy=s.class_entropy,
        feature_variance=s.feature_variance,
        mean_degree=s.mean_degree,
        density=s.density,
        expansion_depth=None if picked.expansion is None else picked.expansion.depth,
        target_size=None if picked.expansion is None else picked.expansion.target_size,
        before=made.before,
        timings=dict(clock.seconds),
        peak_memory_bytes=backend.peak_memory(),
        backend=backend.name,
        workers=None,
        exchanged_bytes={},
        versions={"herald_gpu": __version__, **backend.versions()},
        random_state=int(seed),
        config=config,
        warnings=warnings,
    )


def make_contents(
    backend: Backend,
    given: Source,
    graph: Graph | Layout,
    made: Condensed,
    columns: Columns,
    style: Style,
    unlabelled: Any,  # noqa: ANN401
) -> Contents:
    """Give what a condensed graph holds; `graph` is asked for its numbers of nodes and features alone."""
    xp, present_as = backend.xp, backend.presenter(given, style)
    stays = present_as.xp is xp

    def placed(value: Any) -> Any:  # noqa: ANN401 - array or CSR matrix, here or on the host
        return value if stays else backend.to_host(value)

    positions = backend.to_host(made.feature_indices)
    ids = given.node_ids if stays else on_host(given.node_ids)
    rank = xp.zeros(graph.n_nodes, dtype=xp.int64)
    rank[made.scores.ranking] = xp.arange(1, int(made.scores.ranking.shape[0]) + 1)
    known = {name: getattr(made.scores, name) for name in ("prototype", "boundary", "lid", "score")}
    raw = {name: placed(values) for name, values in known.items() if values is not None}
    own = present_as.take(ids, placed(made.nodes))
    if made.picked.landmarks is not None:
        each = int(made.picked.landmarks.shape[0]) // len(given.class_values)
        own = present_as.extend(own, landmark_ids(present_as, ids, given.class_values, each=each))
    scaling, reduction, kept = made.scaling, made.reduction, made.feature_indices
    return Contents(
        node_ids=own,
        feature_ids=given.feature_ids[positions],
        class_values=given.class_values,
        feature_positions=positions,
        n_input_features=graph.n_features,
        adjacency=placed(made.adjacency),
        features=placed(made.features.astype(xp.float32)),
        codes=placed(made.labels),
        train_mask=placed(made.train_mask),
        is_root=placed(made.is_root),
        is_landmark=placed(made.is_landmark),
        edge_is_synthetic=placed(made.synthetic),
        scores={"node": ids, **raw, "rank": placed(rank)},
        encoding=made.sizes.encoding,
        scales=None if made.scales is None or reduction is not None else placed(made.scales),
        scaling=None if scaling is None else (placed(scaling.center[kept]), placed(scaling.spread[kept])),
        reduction=None if reduction is None else (placed(reduction.mean), placed(reduction.components)),
        columns=dataclasses.replace(columns, node=columns.node or Columns.node),  # results name their ids
        style=style,
        unlabelled=unlabelled,
        categories=given.categories,
        present=present_as,
    )
