"""Doubles of pylibcugraph: graphs, neighbour sampling and PageRank as the C++ sources have them."""

from __future__ import annotations

import operator
import warnings

import numpy as np

from support.doubles._arrays import DISORDER, require_device, require_ours, to_device, to_host

VERTEX_TYPES = (np.dtype(np.int32), np.dtype(np.int64))
WEIGHT_TYPES = (np.dtype(np.float32), np.dtype(np.float64))


class FailedToConvergeError(Exception):
    pass


class ResourceHandle:
    def __init__(self, handle=None):
        self.handle = handle


class GraphProperties:
    def __init__(self, is_symmetric=False, is_multigraph=False):
        self.is_symmetric, self.is_multigraph = is_symmetric, is_multigraph


class SGGraph:
    def __init__(  # noqa: PLR0917 - the real signature
        self,
        resource_handle,
        graph_properties,
        src_or_offset_array,
        dst_or_index_array,
        weight_array=None,
        store_transposed=False,
        renumber=False,
        do_expensive_check=False,
        edge_id_array=None,
        edge_type_array=None,
        edge_start_time_array=None,
        edge_end_time_array=None,
        input_array_format="COO",
        vertices_array=None,
        drop_self_loops=False,
        drop_multi_edges=False,
        symmetrize=False,
    ):
        require_ours(resource_handle, ResourceHandle, "resource_handle")
        require_ours(graph_properties, GraphProperties, "graph_properties")
        flags = {"store_transposed": store_transposed, "renumber": renumber, "do_expensive_check": do_expensive_check}
        for name, value in flags.items():
            if not isinstance(value, int | bool):
                msg = f"expected int or bool for {name}, got {type(value)}"
                raise TypeError(msg)
        extras = (edge_id_array, edge_type_array, edge_start_time_array, edge_end_time_array, vertices_array)
        if any(extra is not None for extra in extras) or drop_self_loops or drop_multi_edges or symmetrize or renumber:
            msg = "edge properties, isolated vertices, dropping, symmetrising and renumbering are not modelled"
            raise NotImplementedError(msg)
        require_device(src_or_offset_array, "src_or_offset_array")
        require_device(dst_or_index_array, "dst_or_index_array")
        require_device(weight_array, "weight_array", optional=True)
        if src_or_offset_array.dtype != dst_or_index_array.dtype:
            warnings.warn("The graph requires its arrays to match. Those will be widened to 64-bit.", stacklevel=2)
        first, second, weights = to_host(src_or_offset_array), to_host(dst_or_index_array), to_host(weight_array)
        self.vertex_type = second.dtype
        self.weight_type = np.dtype(np.float32) if weights is None else weights.dtype
        self.n_vertices, source, target = _edges(first, second, input_array_format)
        self.source, self.target = source.astype(np.int64), target.astype(np.int64)
        self.weight = np.ones(len(source), self.weight_type) if weights is None else weights
        self.store_transposed = bool(store_transposed)
        self._check_arrays(first)
        self._check_properties(graph_properties)

    def _check_arrays(self, first):
        for dtype, known in (
            (first.dtype, VERTEX_TYPES),
            (self.vertex_type, VERTEX_TYPES),
            (self.weight_type, WEIGHT_TYPES),
        ):
            if dtype not in known:
                msg = f"Internal error: got invalid data type enum value from Numpy: {dtype}"
                raise RuntimeError(msg)
        if not len(self.source) == len(self.target) == len(self.weight):
            msg = "Invalid input arguments: src size != dst size, or != weights size."
            raise ValueError(msg)
        ends = np.concatenate([self.source, self.target])
        if len(ends) and (ends.min() < 0 or ends.max() >= self.n_vertices):
            msg = "renumber=False takes vertices 0..N-1 only: others are read out of bounds"
            raise ValueError(msg)

    def _check_properties(self, properties):
        """Catch a false promise; the real library believes it and goes wrong later."""
        forward = self.source * self.n_vertices + self.target
        if not properties.is_multigraph and len(np.unique(forward)) != len(forward):
            msg = "is_multigraph=False, but an edge is there twice"
            raise ValueError(msg)
        backward = self.target * self.n_vertices + self.source
        if properties.is_symmetric:
            order, other = np.argsort(forward, kind="stable"), np.argsort(backward, kind="stable")
            same = (forward[order] == backward[other]).all() and (self.weight[order] == self.weight[other]).all()
            if not same:
                msg = "is_symmetric=True, but an edge lacks its reverse or has another weight"
                raise ValueError(msg)


def _edges(first, second, form):
    """Vertices and edges of a graph that is not renumbered."""
    if form == "COO":
        last = max((int(array.max()) for array in (first, second) if len(array)), default=-1)
        return last + 1, first, second  # gaps become isolated vertices
    if form == "CSR":
        if first.dtype != second.dtype:
            msg = "non-success value returned from cugraph_sg_graph_create_from_csr(): types of offsets and indices"
            raise ValueError(msg)
        return len(first) - 1, np.repeat(np.arange(len(first) - 1), np.diff(first)), second
    msg = "invalid 'input_array_format'. Only 'COO' and 'CSR' format are supported."
    raise ValueError(msg)


def _vertices(array, graph, name):
    require_device(array, name)
    if array.dtype != graph.vertex_type:
        msg = f"non-success value returned: vertex type of graph and {name} must match"
        raise ValueError(msg)
    taken = to_host(array).astype(np.int64)
    if len(taken) and (taken.min() < 0 or taken.max() >= graph.n_vertices):
        msg = f"{name} holds vertices that the graph does not have: read out of bounds"
        raise ValueError(msg)
    return taken


def neighbor_sample(
    resource_handle,
    input_graph,
    start_vertex_list,
    h_fan_out,
    *,
    starting_vertex_start_times=None,
    starting_vertex_end_times=None,
    starting_vertex_label_offsets=None,
    vertex_type_offsets=None,
    num_edge_types=1,
    with_replacement,
    do_expensive_check,  # noqa: ARG001 - what it would find is always looked for here
    prior_sources_behavior=None,
    deduplicate_sources=False,
    disjoint_sampling=False,
    return_hops=False,
    renumber=False,
    retain_seeds=False,
    compression="COO",
    compress_per_hop=False,
    random_state=None,
    temporal_sampling_comparison=None,
    use_edge_weights_as_biases=False,
    neighbor_selection="random",
    fixed_window=False,
):
    require_ours(resource_handle, ResourceHandle, "resource_handle")
    require_ours(input_graph, SGGraph, "input_graph")
    require_device(starting_vertex_label_offsets, "starting_vertex_label_offsets", optional=True)
    if not hasattr(h_fan_out, "__array_interface__"):
        msg = "h_fan_out does not support __array_interface__"
        raise TypeError(msg)
    if h_fan_out.dtype != np.int32 or len(h_fan_out) == 0:
        msg = "non-success value returned from cugraph_neighbor_sample: fan_out should be of type int, and not empty"
        raise ValueError(msg)
    if prior_sources_behavior not in {None, "carryover", "exclude"}:
        msg = f"Invalid option {prior_sources_behavior} for prior sources behavior"
        raise ValueError(msg)
    unmodelled = (
        *(starting_vertex_start_times, starting_vertex_end_times, vertex_type_offsets, temporal_sampling_comparison),
        *(with_replacement, disjoint_sampling, renumber, retain_seeds, compress_per_hop, random_state, fixed_window),
        *(use_edge_weights_as_biases, num_edge_types != 1, compression != "COO", neighbor_selection != "random"),
        *(prior_sources_behavior == "carryover", (h_fan_out >= 0).any()),
    )
    if any(option is not None and option is not False and bool(option) for option in unmodelled):
        msg = "only whole neighbourhoods, without replacement, are modelled"
        raise NotImplementedError(msg)
    start = _vertices(start_vertex_list, input_graph, "start_vertices")
    labels, n_labels = np.zeros(len(start), dtype=np.int64), 1
    if starting_vertex_label_offsets is not None:
        labels, n_labels = _labels(starting_vertex_label_offsets, len(start))
    edges = _expand(input_graph, start, labels, len(h_fan_out), prior_sources_behavior, dedupe=deduplicate_sources)
    segment = edges["label"] * len(h_fan_out) + edges["hop"] if return_hops else edges["label"]
    order = np.lexsort((DISORDER.random(len(segment)), segment))  # inside a segment in any order
    n_segments = n_labels * (len(h_fan_out) if return_hops else 1)
    found = {
        "majors": to_device(edges["source"][order].astype(input_graph.vertex_type)),
        "minors": to_device(edges["target"][order].astype(input_graph.vertex_type)),
    }
    if starting_vertex_label_offsets is not None:
        found["batch_id"] = to_device(edges["label"][order].astype(np.int32))
    if starting_vertex_label_offsets is not None or return_hops:
        offsets = np.searchsorted(segment[order], np.arange(n_segments + 1))
        found["label_hop_offsets"] = to_device(offsets.astype(np.int64))
    return found


def _labels(offsets, n_start):
    """Label of every start vertex; the offsets are taken for `size_t` whatever they are."""
    if offsets.dtype.itemsize != 8:
        msg = f"starting_vertex_label_offsets are read as 8-byte integers, not {offsets.dtype}"
        raise ValueError(msg)
    bounds = to_host(offsets).astype(np.int64)
    if bounds[-1] != n_start:
        msg = "'starting_vertex_label_offsets' and 'start_vertex_list' must be proportional"
        raise ValueError(msg)
    labels = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    return labels, int(labels.max(initial=-1)) + 1  # labels without a seed at the end are lost


def _expand(graph, start, labels, n_hops, behaviour, *, dedupe):
    """All edges out of the frontier, hop by hop, with their labels."""
    order = np.argsort(graph.source, kind="stable")
    target, n = graph.target[order], graph.n_vertices
    bounds = np.searchsorted(graph.source[order], np.arange(n + 1))
    frontier, used = labels * n + start, np.empty(0, dtype=np.int64)
    parts = []
    for hop in range(n_hops):
        counts = np.diff(bounds)[frontier % n]
        place = np.repeat(bounds[frontier % n] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        source = np.repeat(frontier, counts)
        reached = source // n * n + target[place]
        parts.append((source // n, np.full(len(source), hop), source % n, target[place]))
        used = np.union1d(used, frontier)
        frontier = reached[~np.isin(reached, used)] if behaviour == "exclude" else reached
        if dedupe:
            frontier = np.unique(frontier)
        if not len(frontier):
            break
    joined = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return dict(zip(("label", "hop", "source", "target"), joined, strict=True))


def personalized_pagerank(  # noqa: PLR0917 - the real signature
    resource_handle,
    graph,
    precomputed_vertex_out_weight_vertices,
    precomputed_vertex_out_weight_sums,
    initial_guess_vertices,
    initial_guess_values,
    personalization_vertices,
    personalization_values,
    alpha,
    epsilon,
    max_iterations,
    do_expensive_check,  # noqa: ARG001 - what it would find is always looked for here
    fail_on_nonconvergence=True,
):
    require_ours(resource_handle, ResourceHandle, "resource_handle")
    require_ours(graph, SGGraph, "graph")
    guesses = (initial_guess_vertices, initial_guess_values)
    sums = (precomputed_vertex_out_weight_vertices, precomputed_vertex_out_weight_sums)
    if any(array is not None for array in (*guesses, *sums)):
        msg = "initial guesses and precomputed sums are not modelled"
        raise NotImplementedError(msg)
    if not graph.store_transposed:
        msg = "PageRank of a graph that is not stored transposed transposes it first: pass store_transposed=True"
        raise ValueError(msg)
    alpha, epsilon, most = float(alpha), float(epsilon), operator.index(max_iterations)
    vertices = _vertices(personalization_vertices, graph, "personalization_vector")
    require_device(personalization_values, "personalization_values")
    if personalization_values.dtype != graph.weight_type:
        msg = "non-success value returned: weight type of graph and personalization_vector must match"
        raise ValueError(msg)
    values = to_host(personalization_values)
    if not 0 <= alpha <= 1 or epsilon < 0 or len(values) != len(vertices) or len(values) == 0 or values.sum() <= 0:
        msg = "Invalid input argument: alpha, epsilon or the personalization vector"
        raise ValueError(msg)
    if (values < 0).any() or len(np.unique(vertices)) != len(vertices):
        msg = "personalization values must not be negative, nor vertices repeated"
        raise ValueError(msg)
    rank, steps = _power_iteration(graph, vertices, values / values.sum(), alpha, epsilon, most)
    converged = steps < most  # convergence in the last allowed step counts as none
    if fail_on_nonconvergence and not converged:
        raise FailedToConvergeError
    order = DISORDER.permutation(graph.n_vertices)
    result = to_device(order.astype(graph.vertex_type)), to_device(rank[order])
    return result if fail_on_nonconvergence else (*result, converged)


def _power_iteration(graph, vertices, restart, alpha, epsilon, most):
    """As pagerank_impl.cuh, in the type of the weights: no renormalisation, L1 change below epsilon."""
    n, kind = graph.n_vertices, graph.weight_type.type
    out = np.zeros(n, kind)
    np.add.at(out, graph.source, graph.weight)
    rank, steps = np.full(n, kind(1) / kind(n)), 0
    while True:
        before = rank
        dangling = before[out == 0].sum(dtype=kind)
        spread = before / np.where(out == 0, kind(1), out)
        rank = np.zeros(n, kind)
        np.add.at(rank, graph.target, spread[graph.source] * graph.weight * kind(alpha))
        rank[vertices] += (dangling * kind(alpha) + kind(1 - alpha)) * restart.astype(kind)
        steps += 1
        if np.abs(rank - before).sum(dtype=kind) < kind(epsilon) or steps >= most:
            return rank, steps
