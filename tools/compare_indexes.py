"""Compare ways to find nearest neighbours: time, recall, and what it does to LID.

Run ``python tools/compare_indexes.py --nodes 20000`` where faiss-cpu and some of hnswlib, pynndescent and usearch are
installed. Rows lie near a surface of 8, 16 or 32 dimensions (``--data latent16``) or near a flat sheet without groups
(``flat``, as `herald bench` has it), are noise around class means (``noise``) or bags of words (``words``) as
`make_graph` draws them, or are the 300 most frequent features of a graph of the literature (``pubmed``,
``coauthor-cs``, read by `load_graph`).

Times are medians and ranges of ``--repeat`` runs, of everything from rows to distances in float64; compare those of one
process only. The first line is the exact search. What a library compiles is compiled before, on few rows.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import math
import statistics
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu import ops
from herald_gpu.backend import _index, _kernels
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.bench.graphs import latent_rows
from herald_gpu.datasets import load_graph, make_graph
from herald_gpu.lid import levelled, regular_lid

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Index = Callable[["NDArray[np.float32]", int], "NDArray[np.int64]"]

NEIGHBOURS, WIDTH, REFINED, FLOOR = 10, 19, 40, 1e-12
BLOCK = 2048
BACKEND = CpuBackend()


# Rows


def latent(n: int, n_features: int, dimensions: int) -> NDArray[np.float32]:
    """Draw rows near a surface, in 20 groups."""
    rng = np.random.default_rng(0)
    place = rng.normal(size=(n, dimensions)) + 3 * rng.normal(size=(20, dimensions))[rng.integers(20, size=n)]
    turn = rng.normal(size=(dimensions, n_features)) / 4
    x = np.empty((n, n_features), dtype=np.float32)
    for low in range(0, n, BLOCK):
        part = place[low : low + BLOCK]
        x[low : low + BLOCK] = np.tanh(part @ turn) + 0.1 * rng.normal(size=(len(part), n_features))
    return x


def drawn(n: int, n_features: int, kind: Any) -> NDArray[np.float32]:  # noqa: ANN401 - a Literal of make_graph
    """Draw the features of a synthetic graph."""
    x = make_graph(n, n_features=n_features, mean_degree=2, features=kind).features
    return np.asarray(x.toarray() if hasattr(x, "toarray") else x, dtype=np.float32)


def stored(name: str, n_features: int) -> NDArray[np.float32]:
    """Read the most frequent features of a graph."""
    x: Any = load_graph(name).features
    count = np.asarray((x != 0).sum(axis=0)).ravel()
    x = x[:, np.sort(np.argsort(-count, kind="stable")[:n_features])]
    return np.ascontiguousarray(x.toarray() if hasattr(x, "toarray") else x, dtype=np.float32)


DATA: dict[str, Callable[[int, int], NDArray[np.float32]]] = {
    "latent8": lambda n, f: latent(n, f, 8),
    "latent16": lambda n, f: latent(n, f, 16),
    "latent32": lambda n, f: latent(n, f, 32),
    "flat": latent_rows,
    "noise": lambda n, f: drawn(n, f, "dense"),
    "words": lambda n, f: drawn(n, f, "bag_of_words"),
    "pubmed": lambda _, f: stored("pubmed", f),
    "coauthor-cs": lambda _, f: stored("coauthor-cs", f),
}


# Indexes: positions of near rows, each row itself possibly among them


def chosen(unit: NDArray[np.float32], threads: int) -> NDArray[np.int64]:  # noqa: ARG001 - takes those of numba
    """What this package uses: lists of FAISS, whose rows meet in matrix products, and neighbours of neighbours."""
    return _index.nearest_positions(unit, WIDTH - 1)


def faiss_lists(unit: NDArray[np.float32], threads: int) -> NDArray[np.int64]:
    """The same lists, searched by FAISS."""
    faiss = _faiss(threads)
    n, width = unit.shape
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(width), width, _lists(n))
    _train(index, unit)
    return index.search(unit, WIDTH)[1]


def faiss_scan(unit: NDArray[np.float32], threads: int) -> NDArray[np.int64]:
    """The same lists, of values in two bits each, which FAISS compares in registers; more candidates make up for it."""
    faiss = _faiss(threads)
    n, width = unit.shape
    index = faiss.IndexIVFPQFastScan(faiss.IndexFlatL2(width), width, _lists(n), width // 2, 4)
    index.by_residual = False
    index.pq.cp.niter, index.pq.cp.max_points_per_centroid = _index.ROUNDS, 64
    _train(index, unit)
    return index.search(unit, REFINED)[1]


def faiss_hnsw(unit: NDArray[np.float32], threads: int) -> NDArray[np.int64]:
    """HNSW, built by one thread: several would link nodes in another order at each run."""
    faiss = _faiss(1)
    index = faiss.IndexHNSWFlat(unit.shape[1], 16)
    index.hnsw.efConstruction, index.hnsw.efSearch = 40, 64
    index.add(unit)
    faiss.omp_set_num_threads(threads)
    return index.search(unit, WIDTH)[1]


def faiss_descent(unit: NDArray[np.float32], threads: int) -> NDArray[np.int64]:
    """NN-descent of FAISS."""
    faiss = _faiss(threads)
    index = faiss.IndexNNDescentFlat(unit.shape[1], 32)
    index.nndescent.search_L = 64
    index.add(unit)
    return index.search(unit, WIDTH)[1]


def hnswlib(unit: NDArray[np.float32], threads: int) -> NDArray[np.int64]:
    """The original of HNSW."""
    index: Any = importlib.import_module("hnswlib").Index("l2", unit.shape[1])
    index.init_index(len(unit), ef_construction=64, M=16, random_seed=42)
    index.set_num_threads(threads)
    index.add_items(unit)
    index.set_ef(64)
    return np.asarray(index.knn_query(unit, WIDTH)[0], dtype=np.int64)


def usearch(unit: NDArray[np.float32], threads: int) -> NDArray[np.int64]:
    """HNSW again, with values of eight bits."""
    module: Any = importlib.import_module("usearch.index")
    index = module.Index(ndim=unit.shape[1], metric="cos", dtype="i8", connectivity=16, expansion_add=64)
    index.add(np.arange(len(unit)), unit, threads=threads)
    return np.asarray(index.search(unit, WIDTH, threads=threads).keys, dtype=np.int64)


def pynndescent(unit: NDArray[np.float32], threads: int) -> NDArray[np.int64]:
    """NN-descent on numba."""
    make: Any = importlib.import_module("pynndescent").NNDescent
    made = make(unit, metric="dot", n_neighbors=WIDTH, random_state=42, n_jobs=threads)
    return np.asarray(made.neighbor_graph[0], dtype=np.int64)


INDEXES: dict[str, tuple[str, Index]] = {
    "chosen": ("faiss", chosen),
    "faiss-lists": ("faiss", faiss_lists),
    "faiss-scan": ("faiss", faiss_scan),
    "faiss-hnsw": ("faiss", faiss_hnsw),
    "faiss-descent": ("faiss", faiss_descent),
    "hnswlib": ("hnswlib", hnswlib),
    "pynndescent": ("pynndescent", pynndescent),
    "usearch": ("usearch", usearch),
}


def _faiss(threads: int) -> Any:  # noqa: ANN401 - a module without types
    faiss = importlib.import_module("faiss")
    faiss.omp_set_num_threads(threads)
    return faiss


def _lists(n: int) -> int:
    return math.ceil(_index.LISTS * math.sqrt(n))


def _train(index: Any, unit: NDArray[np.float32]) -> None:  # noqa: ANN401 - of FAISS
    index.cp.niter, index.cp.max_points_per_centroid, index.cp.min_points_per_centroid = _index.ROUNDS, _index.SAMPLE, 1
    index.nprobe = _index.PROBES
    faiss = importlib.import_module("faiss")
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)  # several get into each other's way
    index.train(unit)
    faiss.omp_set_num_threads(threads)
    index.add(unit)


# Measurement


@dataclass(frozen=True)
class Rows:
    """Rows to search, and what an exact search says of them."""

    x: NDArray[np.float32]
    inverse: NDArray[np.float64]
    exact: NDArray[np.float64]

    def search(self, index: Index, threads: int) -> NDArray[np.float64]:
        """Distances of the neighbours that an index finds."""
        found = index((self.x * self.inverse[:, None]).astype(np.float32), threads)
        found[found == np.arange(len(self.x))[:, None]] = -1
        distances = np.empty(found.shape)
        _kernels.dense_distances(self.x, self.inverse, np.arange(len(self.x)), found, distances)
        return np.sort(distances, axis=1)[:, :NEIGHBOURS]

    def judge(self, distances: NDArray[np.float64]) -> str:
        """Recall and rank correlation of LID."""
        recall = (distances <= self.exact[:, -1:] + FLOOR).mean()
        found = (levelled(BACKEND, *regular_lid(BACKEND, part, FLOOR)) for part in (distances, self.exact))
        ranks = [ops.rank_scale(BACKEND, part) for part in found]
        return f"recall {recall:.3f}, rank correlation of LID {np.corrcoef(*ranks)[0, 1]:.4f}"


def timed(call: Callable[[], Any], repeat: int) -> tuple[list[float], Any]:
    """Ascending seconds of each run, and the last outcome."""
    seconds, found = [], None
    for _ in range(repeat):
        start = time.perf_counter()
        found = call()
        seconds.append(time.perf_counter() - start)
    return sorted(seconds), found


def product(unit: NDArray[np.float32]) -> None:
    """All rows with all rows, block by block."""
    for low in range(0, len(unit), BLOCK):
        for left in range(0, len(unit), BLOCK):
            unit[low : low + BLOCK] @ unit[left : left + BLOCK].T


def line(name: str, seconds: list[float], rest: str) -> None:
    """Print a name, the median and the range of its times, and more."""
    spread = f"{seconds[0]:.2f} to {seconds[-1]:.2f}"
    print(f"{name:<14} {statistics.median(seconds):8.2f} s ({spread})  {rest}", flush=True)  # noqa: T201


def main(arguments: list[str] | None = None) -> int:
    """Print one line for each way."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--nodes", type=int, default=20_000, help="rows to draw; stored graphs have their own number")
    parser.add_argument("--features", type=int, default=300)
    parser.add_argument("--data", choices=list(DATA), default="latent16")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--product", action="store_true", help="time the product of all rows with all rows, too")
    parser.add_argument("--only", nargs="*", choices=list(INDEXES), default=list(INDEXES))
    options = parser.parse_args(arguments)
    importlib.import_module("numba").set_num_threads(options.threads)
    x = DATA[options.data](options.nodes, options.features)
    x = x[x.any(axis=1)]
    inverse = 1 / np.linalg.norm(x.astype(np.float64), axis=1)
    BACKEND.nearest_distances(x[:500], inverse[:500], NEIGHBOURS)  # compiles
    print(f"{options.data}: {x.shape[0]:,} x {x.shape[1]}, {options.threads} threads, {options.repeat} runs")  # noqa: T201
    unit = (x * inverse[:, None]).astype(np.float32)
    whole = timed(lambda: product(unit), options.repeat)[0] if options.product else []
    seconds, exact = timed(lambda: BACKEND.nearest_distances(x, inverse, NEIGHBOURS), options.repeat)
    middle, rows = statistics.median(seconds), Rows(x, inverse, exact)
    if whole:
        line("product", whole, "all pairs, by BLAS alone")
    line("exact", seconds, f"{middle / statistics.median(whole):.2f} of the product" if whole else "")
    for name in options.only:
        module, index = INDEXES[name]
        if importlib.util.find_spec(module) is None:
            print(f"{name:<14} not installed")  # noqa: T201
            continue
        index(unit[:1000].copy(), options.threads)
        seconds, found = timed(lambda index=index: rows.search(index, options.threads), options.repeat)  # type: ignore[misc]
        line(name, seconds, f"{middle / statistics.median(seconds):5.1f} x faster than exact, {rows.judge(found)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
