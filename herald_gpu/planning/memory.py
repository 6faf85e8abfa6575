"""Device memory of each stage: bytes in CuPy's pool, and estimates of the workspaces inside the libraries.

Pool bytes follow the arrays that are alive at each stage's fullest moment; factors such as `24 * block` count them
by their item sizes. They hold for arrays with 32-bit indices, which is what the device works on.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from herald_gpu import ops
from herald_gpu.planning.batches import BINS, Footprint, columns, expansion, neighbours, rows
from herald_gpu.planning.exemplar_memory import most_footprints, pool_bytes
from herald_gpu.planning.tasks import graph_bytes, kept_bytes, promoted_bytes
from herald_gpu.stages.landmarks import PER_CLASS

if TYPE_CHECKING:
    from herald_gpu.config import HeraldConfig
    from herald_gpu.planning.exemplar_sizes import Exemplars
    from herald_gpu.planning.sizes import Sizes

ROUNDING = 48 * 512
"""The pool hands out multiples of 512 bytes; no stage holds more than some dozens of small arrays."""
TREE_NODES, TREE_COLUMN_BLOCKS = 4096, 10
"""Nodes and column blocks whose histograms cuML's tree builder keeps at once."""
COLUMNS_AT_ONCE = 16
"""Bytes of a node that cuDF needs besides while it casts one column after another: an estimate."""
BYTES_PER_PRODUCT = 12
"""Buffer of cuSPARSE for one product of a sparse matrix with a sparse matrix: column and float64 value."""


def footprints(s: Sizes, config: HeraldConfig, usable: int) -> dict[str, Footprint]:
    """Memory of every stage on a device with so many usable bytes."""
    graph = graph_bytes(s)
    found = {
        "reading": Footprint(_reading(s), COLUMNS_AT_ONCE * s.nodes if s.on_device else 0),
        "budget": Footprint(graph + 24 * s.nodes),
        "heterophily": Footprint(graph + _neighbour_classes(s)),
    }
    found |= _neighbourhoods(s, config, usable) if s.exemplars is None else _exemplars(s, s.exemplars, config)
    return {name: replace(one, pool=one.pool + ROUNDING) for name, one in found.items()}


def _exemplars(s: Sizes, e: Exemplars, config: HeraldConfig) -> dict[str, Footprint]:
    """Memory of the stages that exemplars pass."""
    kept, landmarks = kept_bytes(s), 4 * PER_CLASS * s.classes * s.kept if config.landmarks else 0
    fisher = {"features/fisher": Footprint(graph_bytes(s) + _fisher(s, config), 0, *columns(s))} if s.fisher else {}
    return {
        **fisher,
        **most_footprints(s, e),
        "scoring": Footprint(kept + pool_bytes(s, e) + _prototypes(s), _class_sums(s), *rows(s.nodes, s.kept)),
        "assembly": Footprint(kept + landmarks + 18 * s.nodes + 8 * s.train + _assembly(s)),
    }


def _neighbourhoods(s: Sizes, config: HeraldConfig, usable: int) -> dict[str, Footprint]:
    """Memory of the stages that neighbourhoods pass."""
    graph, kept = graph_bytes(s), kept_bytes(s)
    scores = kept + 32 * s.nodes + 8 * s.train
    members = scores + 2 * s.nodes
    tree = {"features/tree": Footprint(graph + _smoothing(s), _tree_workspace(s), *columns(s))} if s.tree else {}
    return {
        **tree,
        "features/fisher": Footprint(max(graph + _fisher(s, config), kept + _choosing(s)), 0, *columns(s)),
        "scoring/scores": Footprint(kept + _prototypes(s), _class_sums(s), *rows(s.nodes, s.kept)),
        "scoring/neighbours": neighbours(s, config, kept, usable),
        "expansion": expansion(s, config, scores, usable),
        "pruning": Footprint(members + _pruning(s), 64 * s.wide.edges + 64 * s.wide.nodes),
        "rebalance": Footprint(members + _rebalance(s)),
        "assembly": Footprint(members + _assembly(s)),
    }


def _reading(s: Sizes) -> int:
    """Edges sorted into CSR (given both ways, as int64), or features looked at beside the finished adjacency.

    From the device: a copy of the features waits meanwhile, column-major as cuDF gives it, and is copied once more, to
    rows; either in the order of the node ids, or when the values are looked at.
    """
    edges = 89 * s.edges + 8 * s.nodes
    features = 20 * s.values + 12 * s.nodes if s.sparse else 7 * s.values
    if not s.on_device:
        return max(edges, 24 * s.edges + 9 * s.nodes + features)
    waiting, again = (8 * s.values, 0) if s.sparse else (4 * s.values, 4 * s.values)
    return max(edges + waiting, 24 * s.edges + 9 * s.nodes + features + again) + 40 * s.nodes


def _neighbour_classes(s: Sizes) -> int:
    """One-hot classes, their Fortran-ordered copy, the product; the table in float64 where it is needed."""
    return 12 * s.nodes * s.classes + 12 * s.nodes


def _smoothing(s: Sizes) -> int:
    """Smoothed training rows, and the blocks they are made from."""
    around = 12 * s.train_edges + 20 * s.nodes
    if s.sparse:
        per_node = s.values / s.nodes
        fill = -math.expm1(-(s.degree + 1) * per_node / s.features)
        smooth = min(s.train * s.features, math.ceil((s.train_edges + s.train) * per_node))
        smooth = min(smooth, math.ceil(s.train * s.features * fill))
        return max(around + 8 * s.values + 36 * smooth, 8 * smooth + 4 * s.train * s.features)
    batches, width = columns(s)
    block, part = 8 * s.nodes * width, 8 * s.train * width
    transient = max(2 * block + part, block + 3 * part) + (part if batches > 1 else 0)
    return 4 * s.train * s.features + max(promoted_bytes(s) + 16 * s.nodes, around + max(transient, 16 * s.train_edges))


def _tree_workspace(s: Sizes) -> int:
    """A column-major copy of the rows, histograms of a batch of nodes, column numbers, quantiles.

    Before that, where features are sparse: the products of a sparse matrix with a sparse matrix.
    """
    histograms = 4 * TREE_NODES * min(BINS, s.train) * TREE_COLUMN_BLOCKS * s.classes
    tree = 4 * s.train * s.features + histograms + 4 * TREE_NODES * s.features + 8 * BINS * s.features
    return max(tree, BYTES_PER_PRODUCT * math.ceil(s.train_edges * s.values / s.nodes)) if s.sparse else tree


def _fisher(s: Sizes, config: HeraldConfig) -> int:
    """Blocks on their way through the hops, or the training rows whose activity is summed.

    Besides the walk's matrix, which shares its pattern with the graph's, there is that of the last step.
    """
    batches, width = columns(s)
    block, part = 8 * s.nodes * width, 8 * s.train * width
    hop = (2 + min(config.hops, 2)) * block if config.hops else 0
    matrices = promoted_bytes(s) + 12 * s.train_edges + 4 * s.train if config.hops else 0
    scatter = (1 + min(config.hops, 1)) * block + 3 * part
    following = (1.5 + (batches > 1) * (1 + min(config.hops, 1))) * block
    by_column = 16 * s.values if s.sparse else 0
    passing = (
        matrices
        + max(hop, scatter, following)
        + by_column
        + 8 * s.nodes
        + 60 * s.train
        + 8 * (config.hops + 1) * s.features
    )
    share = s.train / s.nodes
    _, height = rows(s.train, s.features)
    activity = 36 * s.values * share if s.sparse else 4 * s.train * s.features + 16 * height * s.features
    activity = activity if config.feature_density else 0
    return math.ceil(max(passing, activity + 8 * s.features))


def _choosing(s: Sizes) -> int:
    """Kept columns put in order, and training nodes sorted by price."""
    return 48 * s.train + (20 * s.kept_values if s.sparse else 0)


def _prototypes(s: Sizes) -> int:
    """Row blocks in float64 with one copy, centroids, or the table of neighbours' classes."""
    _, height = rows(s.nodes, s.kept)
    block = height * s.kept
    dense = max(12 * block + 8 * s.kept_values * height // s.nodes, 28 * s.kept_values) if s.sparse else 16 * block
    table = 16 * s.nodes * s.classes
    return max(dense + 8 * height * s.classes, table) + 32 * s.classes * s.kept + 40 * s.nodes + 60 * s.train


def _class_sums(s: Sizes) -> int:
    """The products of class indicators with sparse rows."""
    return BYTES_PER_PRODUCT * math.ceil(s.kept_values * s.train / s.nodes) if s.sparse else 0


def _pruning(s: Sizes) -> int:
    """Rows of the gathered nodes, their induced subgraph made symmetric, and the order in which nodes go."""
    nodes, edges, reach = s.wide.nodes, s.wide.edges, s.wide.reach
    return max(48 * edges, 8 * reach + 16 * edges) + 24 * s.nodes + 72 * nodes


def _rebalance(s: Sizes) -> int:
    """A copy of the column numbers with load and flags of candidates, or the induced subgraph and its costs."""
    induced = 8 * s.final.reach + 48 * s.final.edges + 16 * s.final.nodes
    return max(4 * s.edges + 24 * s.nodes, induced + 8 * s.nodes) + 12 * s.nodes


def _assembly(s: Sizes) -> int:
    """The result, and kept features of the training nodes, or of the chosen, with blocks that give their variances.

    Sparse features are there by rows and by columns, and those of a block three times more before they are dense.
    """
    most = max(s.train, s.final.nodes)
    width = min(s.kept, max(1, ops.BLOCK_ELEMENTS // most))
    part = (16 + 32 * width / s.kept) * s.kept_values * most / s.nodes if s.sparse else 4 * most * s.kept
    result = math.ceil(8 * (s.values + s.kept_values) * s.final.nodes / s.nodes) + 8 * s.final.edges
    induced = 8 * s.final.reach + 16 * s.final.edges + 16 * s.nodes
    return max(24 * most * width + math.ceil(part) + result, result + induced) + 24 * s.final.nodes
