"""Doubles of cuVS: a graph of neighbours by NN-descent."""

from __future__ import annotations

import numpy as np

from support.doubles._arrays import DISORDER, require_device, require_ours, to_device, to_host

METRICS = frozenset({"sqeuclidean", "euclidean", "l2", "inner_product", "cosine", "l1", "correlation"})
DESCENT_METRICS = frozenset({"sqeuclidean", "euclidean", "l2", "inner_product", "cosine"})
MISSED = 0.03
"""Share of neighbours that the descent misses."""
NOWHERE = 2**31 - 1
"""What stands where no neighbour was found."""


class Resources:
    def __init__(self, stream=None, memory_tracking_csv_path=None, memory_tracking_sample_interval_ms=10):
        if memory_tracking_csv_path is not None or memory_tracking_sample_interval_ms != 10:
            msg = "memory tracking is not modelled"
            raise NotImplementedError(msg)
        self.stream, self.pending = stream, []

    def sync(self):
        """Let what was queued arrive."""
        for arrive in self.pending:
            arrive()
        self.pending.clear()


class DeviceArray:
    """As ``pylibraft.common.device_ndarray``: the interface of a device array, and next to nothing else."""

    def __init__(self, array):
        self._array = array

    @property
    def __cuda_array_interface__(self):
        return self._array.__cuda_array_interface__


class IndexParams:
    def __init__(
        self,
        *,
        metric=None,
        metric_arg=None,
        graph_degree=None,
        intermediate_graph_degree=None,
        max_iterations=None,
        termination_threshold=None,
        return_distances=None,
        dist_comp_dtype="auto",
    ):
        if any(given is not None for given in (metric_arg, max_iterations, termination_threshold, return_distances)):
            msg = "metric_arg, max_iterations, termination_threshold and return_distances are not modelled"
            raise NotImplementedError(msg)
        self.metric = "sqeuclidean" if metric is None else _known(metric)
        self.graph_degree = 64 if graph_degree is None else graph_degree
        self.intermediate_graph_degree = 128 if intermediate_graph_degree is None else intermediate_graph_degree
        # The real one compares with `is`: an equal string that is another object is refused.
        if not any(dist_comp_dtype is known for known in ("auto", "fp32", "fp16")):
            msg = f"Invalid dist_comp_dtype: {dist_comp_dtype}. Supported options are 'auto', 'fp32', and 'fp16'."
            raise ValueError(msg)


class AllNeighborsParams:
    def __init__(
        self,
        *,
        algo="nn_descent",
        overlap_factor=2,
        n_clusters=1,
        metric="sqeuclidean",
        ivf_pq_params=None,
        nn_descent_params=None,
    ):
        if algo not in ("brute_force", "ivf_pq", "nn_descent"):
            msg = f"Invalid algo: {algo}"
            raise ValueError(msg)
        if algo != "nn_descent" or ivf_pq_params is not None or overlap_factor != 2:
            msg = "only NN-descent is modelled"
            raise NotImplementedError(msg)
        self.algo, self.n_clusters, self.metric = algo, n_clusters, _known(metric)
        if nn_descent_params is not None:
            require_ours(nn_descent_params, IndexParams, "nn_descent_params")
            if nn_descent_params.metric != metric:
                msg = f"Metric conflict: {metric!r} does not match NN-Descent metric {nn_descent_params.metric!r}"
                raise ValueError(msg)
        self.nn_descent_params = nn_descent_params or IndexParams(metric=metric)


def build(dataset, k, params, *, indices=None, distances=None, core_distances=None, alpha=1.0, resources=None):
    """Give about the nearest rows of each row; nothing has arrived before the resources are synchronised."""
    require_ours(params, AllNeighborsParams, "params")
    if params.n_clusters > 1:
        msg = "Batched all-neighbors build is not supported with data on device. Put data on host for batch build."
        raise ValueError(msg)
    if indices is not None or distances is not None or core_distances is not None or alpha != 1.0:
        msg = "buffers of the caller and core distances are not modelled"
        raise NotImplementedError(msg)
    require_device(dataset, "dataset")
    if dataset.dtype != np.float32:
        msg = f"dtype {dataset.dtype} not supported"
        raise TypeError(msg)
    if not dataset.flags.c_contiguous:
        msg = "Row major input is expected"
        raise ValueError(msg)
    if params.metric not in DESCENT_METRICS:
        msg = f"Distance metric for all-neighbors build with NN Descent should be one of {sorted(DESCENT_METRICS)}"
        raise RuntimeError(msg)
    if params.metric != "sqeuclidean":
        msg = f"metric={params.metric!r} is not modelled"
        raise NotImplementedError(msg)
    degree = params.nn_descent_params
    if not k <= degree.graph_degree <= degree.intermediate_graph_degree < len(dataset):
        msg = "degrees that cuVS would change with a word in its log are not modelled"
        raise NotImplementedError(msg)
    out = to_device(np.full((len(dataset), k), -7, dtype=np.int64))
    found = _descent(to_host(dataset), k)

    def arrive():
        out[...] = to_device(found)

    if isinstance(resources, Resources):
        resources.pending.append(arrive)  # without resources of the caller, nobody ever waits for the result
    return DeviceArray(out)


def _descent(rows, k):
    """Neighbours in half precision: first the row itself, then others, some missed, some twice, some nowhere."""
    rough = rows.astype(np.float16).astype(np.float32)
    out = np.empty((len(rows), k), dtype=np.int64)
    squares = (rough**2).sum(axis=1)
    for low in range(0, len(rows), 512):
        part = rough[low : low + 512]
        apart = squares[low : low + 512, None] + squares[None, :] - 2 * part @ rough.T
        apart[DISORDER.random(apart.shape) < MISSED] = np.inf
        apart[np.arange(len(part)), low + np.arange(len(part))] = -np.inf
        out[low : low + 512] = np.argsort(apart, axis=1)[:, :k]
    damaged = DISORDER.choice(len(rows), max(1, len(rows) // 50), replace=False)
    out[damaged, -1] = NOWHERE
    out[damaged, -2] = out[damaged, 1]
    return out


def _known(metric):
    if metric not in METRICS:
        raise KeyError(metric)
    return metric
