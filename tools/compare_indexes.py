"""Compare libraries that find nearest neighbours approximately: time, recall, and what it does to LID.

Run ``python tools/compare_indexes.py --nodes 20000`` where some of faiss-cpu, hnswlib, pynndescent and usearch are
installed. Rows lie near a surface of 16 dimensions (`--data latent`), or are noise around class means
(`--data noise`), in which nothing is near anything: no index does well there. Times are of one run: building, and
searching for all rows; compare them with each other only. pynndescent compiles for a minute or more before its first
search, in every process; this is reported apart.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu.backend import _index, _kernels
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.datasets import make_graph
from herald_gpu.lid import lid_from_distances

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

NEIGHBOURS, WIDTH, FLOOR = 10, 19, 1e-12


def latent(n: int, n_features: int) -> NDArray[np.float32]:
    """Draw rows near a surface of 16 dimensions, in 20 groups."""
    rng = np.random.default_rng(0)
    place = rng.normal(size=(n, 16)) + 3 * rng.normal(size=(20, 16))[rng.integers(20, size=n)]
    x = np.tanh(place @ rng.normal(size=(16, n_features)) / 4) + 0.1 * rng.normal(size=(n, n_features))
    return x.astype(np.float32)


def noise(n: int, n_features: int) -> NDArray[np.float32]:
    """Draw the features of a synthetic graph."""
    return np.asarray(make_graph(n, n_features=n_features, mean_degree=2).features, dtype=np.float32)


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


def faiss(unit: NDArray[np.float32], threads: int) -> NDArray[np.int64]:
    """What this package uses: built by one thread, searched by all."""
    importlib.import_module("faiss").omp_set_num_threads(threads)
    return _index.nearest_positions(unit, WIDTH)


INDEXES: dict[str, Callable[[NDArray[np.float32], int], NDArray[np.int64]]] = {
    "faiss": faiss,
    "hnswlib": hnswlib,
    "pynndescent": pynndescent,
    "usearch": usearch,
}


def timed(search: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds and outcome of a call."""
    start = time.perf_counter()
    found = search()
    return time.perf_counter() - start, found


def ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Places in ascending order."""
    return np.argsort(np.argsort(values)).astype(np.float64)


def main(arguments: list[str] | None = None) -> int:
    """Print one line for each library."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--features", type=int, default=300)
    parser.add_argument("--data", choices=["latent", "noise"], default="latent")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", nargs="*", choices=list(INDEXES), default=list(INDEXES))
    options = parser.parse_args(arguments)
    x = (latent if options.data == "latent" else noise)(options.nodes, options.features)
    inverse = 1 / np.linalg.norm(x.astype(np.float64), axis=1)
    unit, backend = (x * inverse[:, None]).astype(np.float32), CpuBackend()
    backend.nearest_distances(x[:500], inverse[:500], NEIGHBOURS)  # compiles
    exact_seconds, exact = timed(lambda: backend.nearest_distances(x, inverse, NEIGHBOURS))
    true = ranks(lid_from_distances(backend, exact, FLOOR))
    print(f"exact        {exact_seconds:8.1f} s   ({options.nodes:,} x {options.features}, {options.data})")  # noqa: T201
    for name in options.only:
        if importlib.util.find_spec(name) is None:
            print(f"{name:<12} not installed")  # noqa: T201
            continue
        index = INDEXES[name]
        warm, _ = timed(lambda index=index: index(unit[:1000].copy(), options.threads))  # type: ignore[misc]
        seconds, found = timed(lambda index=index: index(unit, options.threads))  # type: ignore[misc]
        found[found == np.arange(len(x))[:, None]] = -1
        distances = np.empty(found.shape)
        _kernels.dense_distances(x, inverse, np.arange(len(x)), found, distances)
        distances = np.sort(distances, axis=1)[:, :NEIGHBOURS]
        recall = float((distances <= exact[:, -1:] + FLOOR).mean())
        agreement = float(np.corrcoef(ranks(lid_from_distances(backend, distances, FLOOR)), true)[0, 1])
        print(  # noqa: T201
            f"{name:<12} {seconds:8.1f} s   {exact_seconds / seconds:5.1f} x faster, recall {recall:.3f}, "
            f"rank correlation {agreement:.4f}, first use {warm:.1f} s",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
