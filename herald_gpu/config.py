"""The constants of the method, each beside its equation, and the presets."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, get_args

from herald_gpu.errors import ConfigError

StorageKind = Literal["auto", "dense", "binary", "sparse"]
EncodingChoice = Literal["graph", "auto", "float32", "float16", "int8", "bits"]
Selection = Literal["exemplars", "neighbourhoods"]
EdgeChoice = Literal["auto", "real"]
LidSearch = Literal["exact", "approximate", "sampled", "auto"]
PublishedKind = Literal["citation", "pubmed", "scaled"]
Scale = Literal["auto", "none", "standard", "robust"]
SCALES: tuple[Scale, ...] = get_args(Scale)
SCALE_FACTOR = 20
"""`scale="auto"` scales where the largest size of a dense column is more than this many times the smallest spread:
below it trials lost less than a point, and real graphs stay below 8 (tools/measure_scale.py)."""
Weights = tuple[float, float, float]
WEIGHTS = 3

_CHOICES: dict[str, tuple[str | bool, ...]] = {
    "storage": ("auto", "dense", "binary", "sparse"),
    "encoding": ("graph", "auto", "float32", "float16", "int8", "bits"),
    "selection": ("exemplars", "neighbourhoods"),
    "landmarks": (True, False),
    "edges": ("auto", "real"),
    "exemplar_rule": ("auto", "landmarks", "cover", "herd"),
    "feature_density": (True, False),
    "on_infeasible": ("raise", "best_effort"),
    "feature_ranking": ("fisher", "tree"),
    "feature_tree": ("backend", "host"),
    "lid": ("exact", "approximate", "sampled", "auto"),
    "lid_scaling": ("minmax", "rank"),
    "lid_zero_rows": ("cap", "zero"),
    "lid_rule": ("exact", "clipped"),
    "node_ranking": ("score", "random"),
    "accounting": ("exact", "citation", "pubmed", "scaled"),
}
_POSITIVE_INTS = (
    *("tree_depth", "lid_neighbours", "ppr_max_iter", "min_class_size"),
    *("smallest_pool", "largest_pool", "trial_nodes", "fewest_exemplars"),
)
LARGEST_POOL = 65_536
"""Of a class, compared with one another: their table takes 8 GB, and sums of a row of it fit 32 bits."""
_SHARES = ("prior_share", "linked_share", "homophily_switch")
_OF_NEIGHBOURHOODS = (
    *("steepness", "midpoint", "base_weights", "fixed_weights", "tree_depth", "tree_seed", "feature_tree"),
    *("feature_ranking", "lid", "lid_neighbours", "lid_rule", "lid_floor", "lid_reference", "lid_scaling"),
    *("lid_zero_rows", "node_ranking", "depth", "expansion_factor", "restart", "ppr_tol", "ppr_max_iter"),
    *("lower_tolerance", "upper_tolerance", "trim_roots", "accounting"),
)
"""Fields that exemplars make no use of."""
_OF_EXEMPLARS = ("landmarks", "edges")
"""Fields that neighbourhoods make no use of, and that say something of the result."""
_NON_NEGATIVE_INTS = ("tree_seed", "hops", "depth", "patience")
_POSITIVE = ("fisher_eps", "lid_floor", "ppr_tol", "steepness")


@dataclass(frozen=True, kw_only=True)
class HeraldConfig:
    """Every constant of the method; the default preset.

    Instances are immutable; derive variants with :func:`dataclasses.replace`. The default preset spends every byte
    where it teaches most: on landmarks that say what tells each class from the others, with one exemplar of each or
    with as many as fit and the edges among them, in as many features as a trial on held-out training nodes finds best
    (docs/method-default.md).
    :meth:`paper` is the method as the paper has it.

    Parameters
    ----------
    storage : {"auto", "dense", "binary", "sparse"}
        How the full graph's features are priced (eq:budget). `"auto"` takes the cheapest kind that can hold the
        values of the full feature matrix, whatever container they came in.
    encoding : {"graph", "auto", "float32", "float16", "int8", "bits"}
        How the condensed graph's features are stored, and so what its nodes cost. `"graph"` is what prices the full
        graph. `"auto"` holds the most nodes: bits where features are binary, else int8 with a scale a column (or
        a float type, where the scales would take too much of a small budget); rows or lists of non-zeros, whichever
        is smaller. A type leaves that last choice open; `"bits"` needs binary features. Not for PCA.
    selection : {"exemplars", "neighbourhoods"}
        What the condensed graph is made of: nodes that stand for the others of their class; or the neighbourhoods of
        the best-scored nodes, pruned and balanced, as in the paper.
    landmarks : bool
        Exemplars: put two synthetic nodes a class beside them, each joined to the other, that hold what tells the class
        from the others. Not for PCA.
    edges : {"auto", "real"}
        Exemplars: join the landmarks of a class, and where the graph is homophilic and joins too few of them,
        exemplars of a class, by synthetic edges; or keep to the edges of the graph.
    exemplar_rule : {"auto", "landmarks", "cover", "herd"}
        Exemplars come one a class, so that landmarks say nearly all; as many as fit, to cover their class (facility
        location); or so that their mean follows the mean of the class (herding). `"auto"` tries all of these.
    homophily_switch : float
        A graph is homophilic where ``1 - h / (1 - sum_c p_c^2)`` is above this, with p_c the classes' training shares.
    prior_share : float
        Class shares of exemplars are this much training shares and the rest equal shares.
    linked_share : float
        Links join exemplars until this share of them has an edge.
    smallest_pool, largest_pool : int
        Exemplars of a class are compared among this many drawn nodes, depending on how many fit; at most 65,536.
    trial_nodes : int
        Held-out training nodes that a number of features is tried on, if there are that many.
    fewest_exemplars : int
        Numbers of features are tried that leave room for this many exemplars a class.
    on_infeasible : {"raise", "best_effort"}
        When the budget cannot hold one training node of every class: raise
        :class:`~herald_gpu.errors.BudgetError`, or return what fits and name the missing classes.
    steepness, midpoint : float
        ``t = sigmoid(steepness * (h - midpoint))`` (eq:transition).
    base_weights : tuple of float
        ``(alpha0, beta0, gamma0)`` of eq:weights_raw.
    fixed_weights : tuple of float, optional
        Use these ``(alpha, beta, gamma)`` (divided by their sum) instead of the adaptive ones.
    feature_count : int, optional
        The number of kept features; by default what a trial finds best (exemplars), or as many as the decision tree
        splits on (neighbourhoods).
    tree_depth, tree_seed : int
        The decision tree that counts features.
    feature_tree : {"backend", "host"}
        Where that tree grows: on the backend (on a GPU cuML's, whose histogram splits may count otherwise), or
        in any case scikit-learn's exact one on the host, to which the smoothed training rows are then copied.
    feature_ranking : {"fisher", "tree"}
        Choose features by multi-hop Fisher x density (eq:featselect), or keep those the tree splits on.
    feature_density : bool
        Multiply the Fisher score by the density (eq:density), as the paper does.
    hops : int
        Highest hop of eq:multihop_fisher.
    fisher_eps : float
        Added to the within-class scatter of eq:fisher.
    min_class_size : int
        Smaller classes are left out of eq:fisher.
    lid : {"exact", "approximate", "sampled", "auto"}
        How the nearest nodes of eq:lid are found: by comparing all pairs; through an index (cuVS on a GPU, FAISS
        on a CPU, extra `approx`), which misses some of them, and the report says how many; among
        `lid_reference` drawn nodes only; or exactly while that is affordable, and through the index beyond.
    lid_neighbours : int
        k of eq:lid; capped at N - 1.
    lid_rule : {"exact", "clipped"}
        Degenerate distances decided case by case; or clipped at `lid_floor`, and a drawn node may be its own
        neighbour, as in the published code.
    lid_floor : float
        Smallest distance that counts as one.
    lid_reference : int
        Nodes that ``lid="sampled"`` draws, with seed 42; capped at N.
    lid_scaling : {"minmax", "rank"}
        How LID is brought to [0, 1] before the scores are combined (eq:combined).
    lid_zero_rows : {"cap", "zero"}
        LID of a row without any kept feature: the largest of the graph, or 0.
    node_ranking : {"score", "random"}
        Order of the roots: by combined score, or a seeded random permutation.
    depth : int
        L of eq:bfs.
    expansion_factor : float
        The expansion may use this multiple of the budget before pruning (alg. 2).
    patience : int
        The expansion stops after more than this many rejections in a row.
    restart, ppr_tol, ppr_max_iter : float, float, int
        Personalised PageRank (eq:ppr).
    lower_tolerance, upper_tolerance : float
        Class counts outside ``[lower * n*, upper * n* + 1]`` are corrected (eq:rebalance).
    trim_roots : bool
        Let the correction remove roots of over-full classes; with `False` roots are never trimmed.
    pca_variance : float, optional
        Reduce the kept features to the fewest principal components with this share of their variance.
    accounting : {"exact", "citation", "pubmed", "scaled"}
        `"exact"` charges eq:budget to the byte and guarantees it; the other three are the published code's
        ways of counting and set all its habits. Use :meth:`published`.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from herald_gpu import HeraldConfig
    >>> HeraldConfig().selection, HeraldConfig.paper().selection
    ('exemplars', 'neighbourhoods')
    >>> replace(HeraldConfig.paper(), fixed_weights=(1, 0, 0)).fixed_weights
    (1.0, 0.0, 0.0)
    """

    storage: StorageKind = "auto"
    encoding: EncodingChoice = "auto"
    selection: Selection = "exemplars"
    landmarks: bool = True
    edges: EdgeChoice = "auto"
    exemplar_rule: Literal["auto", "landmarks", "cover", "herd"] = "auto"
    homophily_switch: float = 0.5
    prior_share: float = 0.5
    linked_share: float = 0.5
    smallest_pool: int = 1024
    largest_pool: int = 2048
    trial_nodes: int = 2000
    fewest_exemplars: int = 5
    on_infeasible: Literal["raise", "best_effort"] = "raise"
    steepness: float = 8.0
    midpoint: float = 0.4
    base_weights: Weights = (0.4, 0.4, 0.2)
    fixed_weights: Weights | None = None
    feature_count: int | None = None
    tree_depth: int = 50
    tree_seed: int = 42
    feature_tree: Literal["backend", "host"] = "backend"
    feature_ranking: Literal["fisher", "tree"] = "fisher"
    feature_density: bool = False
    hops: int = 2
    fisher_eps: float = 1e-12
    min_class_size: int = 1
    lid: LidSearch = "exact"
    lid_neighbours: int = 10
    lid_rule: Literal["exact", "clipped"] = "exact"
    lid_floor: float = 1e-12
    lid_reference: int = 512
    lid_scaling: Literal["minmax", "rank"] = "minmax"
    lid_zero_rows: Literal["cap", "zero"] = "cap"
    node_ranking: Literal["score", "random"] = "score"
    depth: int = 2
    expansion_factor: float = 1.9
    patience: int = 100
    restart: float = 0.15
    ppr_tol: float = 1e-6
    ppr_max_iter: int = 100
    lower_tolerance: float = 0.99
    upper_tolerance: float = 1.01
    trim_roots: bool = False
    pca_variance: float | None = None
    accounting: Literal["exact", "citation", "pubmed", "scaled"] = "exact"

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            _require(name, getattr(self, name), getattr(self, name) in choices, f"one of {choices}")
        for name in _POSITIVE_INTS:
            _require(name, getattr(self, name), _is_int(getattr(self, name), 1), "an integer >= 1")
        for name in _NON_NEGATIVE_INTS:
            _require(name, getattr(self, name), _is_int(getattr(self, name), 0), "an integer >= 0")
        count = self.feature_count
        _require("feature_count", count, count is None or _is_int(count, 1), "None or an integer >= 1")
        _require("lid_reference", self.lid_reference, _is_int(self.lid_reference, 2), "an integer >= 2")
        for name in _POSITIVE:
            _require(name, getattr(self, name), _in_range(getattr(self, name), 0, low_open=True), "a number > 0")
        for name in _SHARES:
            _require(name, getattr(self, name), _in_range(getattr(self, name), 0, 1), "a number in [0, 1]")
        _require("midpoint", self.midpoint, _in_range(self.midpoint, 0, 1), "a number in [0, 1]")
        _require("restart", self.restart, _in_range(self.restart, 0, 1, low_open=True), "a number in (0, 1]")
        factor = self.expansion_factor
        _require("expansion_factor", factor, _in_range(factor, 1), "a number >= 1")
        _require("lower_tolerance", self.lower_tolerance, _in_range(self.lower_tolerance, 0, 1), "a number in [0, 1]")
        _require("upper_tolerance", self.upper_tolerance, _in_range(self.upper_tolerance, 1), "a number >= 1")
        variance = self.pca_variance
        good = variance is None or _in_range(variance, 0, 1, low_open=True)
        _require("pca_variance", variance, good, "None or a number in (0, 1]")
        object.__setattr__(self, "base_weights", _weights("base_weights", self.base_weights))
        if sum(self.base_weights[1:]) > 1 + 1e-9:  # alpha falls to 1 - beta0 - gamma0 as t falls to 0
            wanted = "three numbers of which the last two sum to at most 1"
            _require("base_weights", self.base_weights, good=False, wanted=wanted)
        if self.feature_count is not None and self.feature_ranking == "tree":
            msg = f"feature_count={self.feature_count} has no effect with feature_ranking='tree': leave one of them out"
            raise ConfigError(msg)
        if not self.exact and self.encoding != "graph":
            _require("encoding", self.encoding, good=False, wanted="'graph' with the published accounting")
        if self.fixed_weights is not None:
            object.__setattr__(self, "fixed_weights", _weights("fixed_weights", self.fixed_weights))
        self._check_selection()

    def _check_selection(self) -> None:
        """Refuse what the selection would ignore, since a user who set it expects an effect, or cannot do."""
        for name in ("smallest_pool", "largest_pool"):
            _require(name, getattr(self, name), getattr(self, name) <= LARGEST_POOL, f"at most {LARGEST_POOL}")
        given = {field.name: field.default for field in dataclasses.fields(self)}
        if self.selection == "exemplars":
            for name in _OF_NEIGHBOURHOODS:
                value = getattr(self, name)
                if value != given[name]:
                    msg = (
                        f"{name}={value!r} has no effect with selection='exemplars': pass "
                        f"HeraldConfig.paper({name}={value!r}), or leave it out"
                    )
                    raise ConfigError(msg)
            if self.exemplar_rule == "landmarks" and (not self.landmarks or self.pca_variance is not None):
                msg = (
                    f"exemplar_rule='landmarks' makes landmarks, which landmarks={self.landmarks!r} and "
                    f"pca_variance={self.pca_variance!r} do not allow: pass landmarks=True without PCA, or another rule"
                )
                raise ConfigError(msg)
            return
        for name, nothing in zip(_OF_EXEMPLARS, (False, "real"), strict=True):
            if getattr(self, name) != nothing:
                msg = (
                    f"{name}={getattr(self, name)!r} has no effect with selection='neighbourhoods': pass "
                    f"{name}={nothing!r}, or start from HeraldConfig.paper()"
                )
                raise ConfigError(msg)

    @property
    def exact(self) -> bool:
        """Whether the storage budget is charged exactly and guaranteed."""
        return self.accounting == "exact"

    @property
    def stored_as(self) -> EncodingChoice:
        """How kept features are stored; principal components are float32, and what they are made of as the graph's."""
        return self.encoding if self.pca_variance is None else "graph"

    @classmethod
    def paper(cls, **changes: Any) -> HeraldConfig:  # noqa: ANN401 - any field, checked by the constructor
        """Stages 0-7 of the paper, made exact.

        Departures from the text of the paper, all forced by it contradicting itself or its own promise:

        - only training labels are read: boundary shares count training neighbours, statistics and balance
          count training nodes (the paper's eq:boundary reads the labels it is tested on);
        - costs are eq:budget to the byte; eq:incremental charges one direction of an edge to an old node, and
          two bytes per directed edge where eq:budget has four;
        - the budget holds after stage 7: pruning goes on past n* while the graph is too large, additions must
          fit, and a class still absent takes the place of the worst nodes of the largest class;
        - if no neighbourhood of depth L fits at all, L drops by one;
        - nodes isolated in the induced subgraph stay out of the PageRank iteration;
        - all three scores are min-max scaled before they are combined, degenerate LID distances are decided
          case by case, distances are float64;
        - scores are rounded to 1e-9 and PageRank to 1e-10 before ranking, ties go to the lower node id.

        Parameters
        ----------
        **changes
            Fields to set differently.
        """
        paper = {
            "selection": "neighbourhoods",
            "landmarks": False,
            "edges": "real",
            "encoding": "graph",
            "feature_density": True,
        }
        return cls(**{**paper, **changes})

    @classmethod
    def published(cls, kind: PublishedKind, **changes: Any) -> HeraldConfig:  # noqa: ANN401 - as in paper()
        """What the published code does, kept only to reproduce the paper's tables.

        It reads the labels of all nodes, takes the graph as stored (directed, with self loops and duplicates),
        under-charges features and edges, and does not check its budget at the end; the report says by how much
        it is exceeded.

        Parameters
        ----------
        kind : {"citation", "pubmed", "scaled"}
            The branch of the published code: Cora and CiteSeer, PubMed, or all other graphs (features
            standard-scaled over all nodes first).
        **changes
            Fields to set differently.
        """
        if kind not in ("citation", "pubmed", "scaled"):
            _require("kind", kind, good=False, wanted="one of ('citation', 'pubmed', 'scaled')")
        published = {
            "accounting": kind,
            "fisher_eps": 1e-8,
            "min_class_size": 2,
            "lid": "sampled",
            "lid_rule": "clipped",
            "lid_floor": 1e-8,
            "lid_reference": 512,
            "expansion_factor": 10.0,
        }
        return cls.paper(**{**published, **changes})

    def to_dict(self) -> dict[str, Any]:
        """Give the fields as a plain dict (JSON-able)."""
        return dataclasses.asdict(self)


def _require(name: str, value: object, good: bool, wanted: str) -> None:  # noqa: FBT001 - a predicate's outcome
    if not good:
        msg = f"{name}={value!r} is not valid: pass {wanted}"
        raise ConfigError(msg)


def _is_int(value: object, low: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= low


def _in_range(value: object, low: float, high: float = float("inf"), *, low_open: bool = False) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return (low < value if low_open else low <= value) and value <= high and value != float("inf")


def _weights(name: str, value: Any) -> Weights:  # noqa: ANN401 - whatever the caller passed
    good = isinstance(value, tuple | list) and len(value) == WEIGHTS and all(_in_range(v, 0) for v in value)
    _require(name, value, good=good and sum(value) > 0, wanted="three non-negative numbers, not all zero")
    alpha, beta, gamma = (float(v) for v in value)
    return (alpha, beta, gamma)
