"""The one seam: what a backend must offer, and how one is chosen.

What NumPy/SciPy and CuPy/cupyx spell alike is written once in the stages, on `backend.xp`, `backend.sparse` and
`backend.linalg`. The protocol holds only what truly differs.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from herald_gpu.errors import BackendUnavailable, ConfigError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from herald_gpu.budget import Prices
    from herald_gpu.io.categories import Levels
    from herald_gpu.io.present import Presenter
    from herald_gpu.io.read import Columns, Kept, Source, Style

Array: TypeAlias = Any
"""An array of the backend's own kind (`backend.xp`)."""
Matrix: TypeAlias = Any
"""A dense array or CSR matrix of the backend's own kind."""
BackendName = Literal["auto", "cpu", "rapids"]
Memory = Literal["default", "pool", "managed"]
EXACT_TREE = "scikit-learn, exact splits"
"""The decision tree that every backend can grow on the host."""

logger = logging.getLogger("herald_gpu")


@dataclass(frozen=True)
class Growth:
    """What a budgeted expansion gathered.

    Attributes
    ----------
    member : bool array of length N
        The gathered nodes.
    considered : bool array of length N
        The roots that were looked at, accepted or not.
    accepted : int or 0-d array
        How many roots added at least one node.
    spent : float or 0-d array
        Storage of the gathered nodes and their induced edges.
    """

    member: Array
    considered: Array
    accepted: Array
    spent: Array


class Backend(Protocol):
    """Where the arrays live and the few operations that libraries spell differently."""

    name: str
    tree_name: str
    all_pairs_limit: float
    """Largest N^2 F at which comparing all pairs of N rows with F features is affordable: about a minute."""
    cached_elements: int | None
    """Elements of a dense block that a processor's cache holds; None where memory is as good."""
    xp: Any
    sparse: Any
    linalg: Any
    """Linear algebra beside `xp.linalg`: `cholesky` (the lower factor), `solve_triangular`, `add_product`, `multiply`
    (sparse with dense), and what is one pass over tables on either side but not in either library: `take_columns`,
    `reorder_columns`, `cosine_sums`, `class_scatter` (see `_linalg`)."""

    @property
    def workers(self) -> int:
        """Threads that independent pieces of a stage are spread over."""
        ...

    @property
    def index_name(self) -> str | None:
        """The index that finds neighbours approximately; None if its library is not installed."""
        ...

    def read(
        self,
        edges: Any,  # noqa: ANN401 - every type this package reads
        feats: Any,  # noqa: ANN401
        given_labels: Any,  # noqa: ANN401
        given_train: Any,  # noqa: ANN401
        *,
        columns: Columns,
        unlabelled: Any,  # noqa: ANN401
    ) -> Source:
        """Take the caller's objects apart (see :func:`herald_gpu.io.read.read`), leaving data where they can stay."""
        ...

    def read_kept(
        self,
        feats: Any,  # noqa: ANN401 - any matrix
        *,
        names: Array,
        positions: Array,
        width: int,
        levels: Levels | None = None,
    ) -> Kept:
        """Read the kept columns of a feature matrix (see :func:`herald_gpu.io.read.read_kept`)."""
        ...

    def presenter(self, given: Source, style: Style) -> Presenter:
        """Choose what gives results: on the host, or on the device where the graph came from it and can go back."""
        ...

    def asarray(self, value: Any, dtype: Any = None) -> Array:  # noqa: ANN401 - anything array-like
        """Bring a host array or SciPy CSR matrix to this backend; what is there already passes."""
        ...

    def to_host(self, value: Any) -> Any:  # noqa: ANN401 - array in, NumPy array out; CSR in, SciPy CSR out
        """Copy an array or CSR matrix to the host, as NumPy array or SciPy CSR."""
        ...

    def nearest_distances(
        self,
        x: Matrix,
        inverse_norm: Array,
        k: int,
        reference: Array | None = None,
        *,
        rows: Array | None = None,
        keep_self: bool = False,
        approximate: bool = False,
    ) -> Array:
        """Cosine distances of every row to its k nearest rows, ascending, in float64.

        A row is never its own neighbour (told by index, not by distance). Candidates may be found in float32;
        the distances are ``|x_u - x_v|^2 / 2`` of the normalised rows in float64; a zero row is at distance 1
        from everything.

        Parameters
        ----------
        x : (N, F) matrix of float32
            Rows before normalisation.
        inverse_norm : (N,) float64 array
            One over each row's length; 0 for a zero row.
        k : int
            At most the number of reference rows other than the row itself.
        reference : int array, optional
            Look for neighbours among these rows only.
        rows : int array, optional
            Give the distances of these rows only.
        keep_self : bool
            With a reference: a row of it may be its own neighbour, as in the published code.
        approximate : bool
            Let an index find the candidates (:attr:`index_name`): some neighbours may be missed for others a
            little farther away. Of all rows among all rows only, so without `reference` and `rows`.

        Returns
        -------
        (N, k) float64 array
            Or one row for each of `rows`.
        """
        ...

    def grow(
        self,
        adjacency: Matrix,
        roots: Array,
        prices: Prices,
        *,
        limit: float,
        depth: int,
        patience: int,
        member: Array | None = None,
        spent: Array = 0.0,
        quota: int | None = None,
        stop_when_full: bool = False,
    ) -> Growth:
        """Add neighbourhoods of roots, in the order given, while the storage stays within a limit.

        Parameters
        ----------
        adjacency : CSR matrix
            Rows list the neighbours that an expansion follows; values say how often an edge is charged.
        roots : int array
            Candidates, best first.
        prices : Prices
            Storage of nodes and edges.
        limit : float
            A root is accepted if the storage stays at or below this, else rejected whole.
        depth : int
            A root brings all nodes within this many hops.
        patience : int
            Stop after more than this many rejections in a row. An acceptance resets the count; a root that
            adds nothing does not.
        member, spent : bool array, float or 0-d array
            Start from these nodes and their storage.
        quota : int, optional
            Stop after this many accepted roots.
        stop_when_full : bool
            Stop as soon as the storage reaches the limit.
        """
        ...

    def exemplar_places(
        self, similarity: Array, sizes: list[int], free: Array, *, rule: Literal["cover", "herd"], most: int
    ) -> Array:
        """Order the nodes of each class greedily by how well they stand for the others.

        Parameters
        ----------
        similarity : int16 array
            For each class its symmetric table of similarities, row by row, one class after the other.
        sizes : list of int
            Nodes of each class.
        free : (folds, sum of sizes) bool array
            Nodes that may be chosen, and that are to be stood for.
        rule : {"cover", "herd"}
            Next is the node that adds most to the sum over nodes of their largest similarity to a chosen one (negative
            ones count as 0); or the one that brings the mean of the chosen closest to the mean of all. Ties go to
            the node that stands first.
        most : int
            Choose at most this many of a class.

        Returns
        -------
        (folds, sum of sizes) int32 array
            Place of each node in its class, from 0; -1 for those not chosen.
        """
        ...

    def pagerank(self, adjacency: Matrix, restart: Array, *, probability: float, tol: float, max_iter: int) -> Array:
        """Personalised PageRank on a graph without isolated nodes, in float64.

        Parameters
        ----------
        adjacency : CSR matrix
            Symmetric, non-negative; rows are divided by their sums.
        restart : float64 array
            Restart distribution, summing to 1.
        probability : float
            Restart probability.
        tol, max_iter : float, int
            Stop at an L1 change below `tol` or after `max_iter` steps; start uniform, renormalise each step.
        """
        ...

    def tree_features(self, x: Matrix, codes: Array, *, max_depth: int, seed: int, on_host: bool = False) -> Array:
        """Give the ascending indices of the features that a decision tree on (x, codes) splits on.

        The tree is :attr:`tree_name`; with `on_host` it is `EXACT_TREE`, for which `x` is copied to the host.
        """
        ...

    def principal_components(self, x: Matrix, variance: float) -> tuple[Array, Array]:
        """Give the mean and the fewest components (rows, float32) that hold this share of the variance."""
        ...

    def stage(self, name: str) -> AbstractContextManager[None]:
        """Surround a stage: mark it for profilers, and wait at its end for queued work, so that clocks are right."""
        ...

    def start_run(self) -> None:
        """Forget what belongs to earlier runs, as far as it can be told apart: a new one starts."""
        ...

    @property
    def compile_seconds(self) -> float:
        """Seconds that this process has spent compiling kernels so far, on any thread."""
        ...

    def peak_memory(self) -> int | None:
        """Peak bytes in use so far, or None where it cannot be told."""
        ...

    def versions(self) -> dict[str, str]:
        """Versions of the libraries that did the work."""
        ...


def get_backend(name: BackendName = "auto", *, memory: Memory = "default") -> Backend:
    """Choose a backend.

    Parameters
    ----------
    name : {"auto", "cpu", "rapids"}
        `"auto"` logs its choice and reason; `"rapids"` raises if it cannot run, it never falls back.
    memory : {"default", "pool", "managed"}
        Device memory: as it is set up, from one RMM pool that CuPy and RAPIDS share, or managed memory that spills to
        the host. Set it before anything is on the device. The CPU has no use for it.

    Examples
    --------
    >>> from herald_gpu import get_backend
    >>> get_backend("cpu").name
    'cpu'
    """
    if name not in ("auto", "cpu", "rapids"):
        msg = f"backend={name!r} is not known: pass 'auto', 'cpu' or 'rapids'"
        raise ConfigError(msg)
    if memory not in ("default", "pool", "managed"):
        msg = f"memory={memory!r} is not known: pass 'default', 'pool' or 'managed'"
        raise ConfigError(msg)
    if name != "cpu":
        from herald_gpu.backend.probe import probe

        found = probe()
        if found.available:
            from herald_gpu.backend.rapids import RapidsBackend

            logger.info("backend: rapids (%s)", found.reason)
            return RapidsBackend(memory=memory)
        if name == "rapids":
            msg = f"backend='rapids' cannot run here: {found.reason}"
            raise BackendUnavailable(msg)
        logger.info("backend: cpu (%s)", found.reason)
    from herald_gpu.backend.cpu import CpuBackend

    return CpuBackend()


def backend_for(value: Any) -> Backend:  # noqa: ANN401 - any object
    """Choose the backend that can work where an object is; what is on a device comes to the host without RAPIDS."""
    from herald_gpu.io.kinds import device_of

    if device_of(value) == "cuda":
        from herald_gpu.backend.probe import probe

        if probe().available:
            return get_backend("rapids")
    return get_backend("cpu")
