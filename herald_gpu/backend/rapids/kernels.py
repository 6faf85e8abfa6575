"""CUDA kernels, as source: what CuPy cannot say in array operations.

Plain CUDA C without includes, so that NVRTC compiles them for any architecture without a toolkit.
"""

from __future__ import annotations

THREADS = 256
"""Threads of a block; the reductions below need a power of two."""
OPTIONS = ("--fmad=false",)
"""No fused multiply-add: equal rows are at distance zero, as on the CPU."""

ACCEPT_ROOTS = r"""
extern "C" __global__ void accept_roots(
    const long long* offsets, const int* nodes, const long long* roots, const long long n_roots,
    const int* indptr, const int* indices, const float* repeats, const double* price,
    const double edge, const double edge_to_member, const double limit,
    const long long patience, const long long quota, const int stop_when_full,
    bool* member, bool* considered, bool* fresh, double* spent, long long* counters)
{
    // One block walks the roots in order; its threads share the nodes of a neighbourhood. Membership, the running
    // cost and the counters {accepted, rejections, stopped} stay in device memory between launches.
    __shared__ double partial[256];
    __shared__ int done;
    const int lane = threadIdx.x;
    for (long long r = 0; r < n_roots; ++r) {
        if (lane == 0) {
            done = counters[2] != 0 || (quota >= 0 && counters[0] >= quota);
            if (!done) considered[roots[r]] = true;
        }
        __syncthreads();
        if (done) break;
        const long long low = offsets[r], high = offsets[r + 1];

        // Price of the nodes that are not there yet.
        double cost = 0.0, found = 0.0;
        for (long long i = low + lane; i < high; i += blockDim.x) {
            const int v = nodes[i];
            if (!member[v]) { fresh[v] = true; cost += price[v]; found += 1.0; }
        }
        partial[lane] = found;
        __syncthreads();
        for (int half = blockDim.x / 2; half > 0; half /= 2) {
            if (lane < half) partial[lane] += partial[lane + half];
            __syncthreads();
        }
        const double n_fresh = partial[0];
        __syncthreads();
        if (n_fresh == 0.0) continue;
        partial[lane] = cost;
        __syncthreads();
        for (int half = blockDim.x / 2; half > 0; half /= 2) {
            if (lane < half) partial[lane] += partial[lane + half];
            __syncthreads();
        }
        const double node_cost = partial[0];
        __syncthreads();

        // Price of their edges, unless the nodes alone are too much already.
        double total = node_cost;
        const bool hopeless = spent[0] + node_cost > limit;
        if (!hopeless) {
            double edges = 0.0;
            for (long long i = low + lane; i < high; i += blockDim.x) {
                const int u = nodes[i];
                if (!fresh[u]) continue;
                for (int p = indptr[u]; p < indptr[u + 1]; ++p) {
                    const int v = indices[p];
                    if (fresh[v]) edges += edge * repeats[p];
                    else if (member[v]) edges += edge_to_member * repeats[p];
                }
            }
            partial[lane] = edges;
            __syncthreads();
            for (int half = blockDim.x / 2; half > 0; half /= 2) {
                if (lane < half) partial[lane] += partial[lane + half];
                __syncthreads();
            }
            total += partial[0];
            __syncthreads();
        }
        const bool accept = !hopeless && spent[0] + total <= limit;
        __syncthreads();
        for (long long i = low + lane; i < high; i += blockDim.x) {
            const int v = nodes[i];
            if (fresh[v]) { if (accept) member[v] = true; fresh[v] = false; }
        }
        if (lane == 0) {
            if (accept) { spent[0] += total; counters[0] += 1; counters[1] = 0; }
            else { counters[1] += 1; if (counters[1] > patience) counters[2] = 1; }
            if (stop_when_full && spent[0] >= limit) counters[2] = 1;
        }
        __syncthreads();
    }
}
"""

DENSE_DISTANCES = r"""
template <typename T>
__device__ void distance(
    const T* x, const double* inverse_norm, const long long* rows, const long long* candidates,
    const long long n_pairs, const int width, const int n_features, const int keep_self,
    double* out)
{
    const long long pair = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= n_pairs) return;
    const long long u = rows[pair / width], v = candidates[pair];
    if (v < 0 || (u == v && !keep_self)) { out[pair] = 1e300; return; }
    const double a = inverse_norm[u], b = inverse_norm[v];
    if (a == 0.0 || b == 0.0) { out[pair] = 1.0; return; }
    const T* p = x + u * n_features;
    const T* q = x + v * n_features;
    double total = 0.0;
    for (int f = 0; f < n_features; ++f) {
        const double step = (double)p[f] * a - (double)q[f] * b;
        total += step * step;
    }
    out[pair] = 0.5 * total;
}

extern "C" __global__ void dense_distances(
    const float* x, const double* inverse_norm, const long long* rows, const long long* candidates,
    const long long n_pairs, const int width, const int n_features, const int keep_self, double* out)
{
    distance(x, inverse_norm, rows, candidates, n_pairs, width, n_features, keep_self, out);
}

extern "C" __global__ void dense_distances_of_doubles(
    const double* x, const double* inverse_norm, const long long* rows, const long long* candidates,
    const long long n_pairs, const int width, const int n_features, const int keep_self, double* out)
{
    distance(x, inverse_norm, rows, candidates, n_pairs, width, n_features, keep_self, out);
}
"""

SPARSE_DISTANCES = r"""
extern "C" __global__ void sparse_distances(
    const int* indptr, const int* indices, const float* data, const double* inverse_norm,
    const long long* rows, const long long* candidates, const long long n_pairs, const int width, const int keep_self,
    double* out)
{
    const long long pair = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= n_pairs) return;
    const long long u = rows[pair / width], v = candidates[pair];
    if (v < 0 || (u == v && !keep_self)) { out[pair] = 1e300; return; }
    const double a = inverse_norm[u], b = inverse_norm[v];
    if (a == 0.0 || b == 0.0) { out[pair] = 1.0; return; }
    int p = indptr[u], q = indptr[v];
    const int p_end = indptr[u + 1], q_end = indptr[v + 1];
    double total = 0.0;
    while (p < p_end || q < q_end) {
        double step;
        if (q == q_end || (p < p_end && indices[p] < indices[q])) step = (double)data[p++] * a;
        else if (p == p_end || indices[q] < indices[p]) step = (double)data[q++] * b;
        else { step = (double)data[p] * a - (double)data[q] * b; ++p; ++q; }
        total += step * step;
    }
    out[pair] = 0.5 * total;
}
"""

PLACE_EXEMPLARS = r"""
// Largest of the threads' values, ties to the lowest index; every thread learns it. Index -1 is no candidate.
__device__ void lead(long long* values, int* indices, long long value, int index)
{
    const int lane = threadIdx.x;
    values[lane] = value;
    indices[lane] = index;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (lane < half) {
            const int other = indices[lane + half];
            if (other >= 0 && (indices[lane] < 0 || values[lane + half] > values[lane]
                || (values[lane + half] == values[lane] && other < indices[lane]))) {
                values[lane] = values[lane + half];
                indices[lane] = other;
            }
        }
        __syncthreads();
    }
}

__device__ long long sum(long long* values, long long value)
{
    const int lane = threadIdx.x;
    values[lane] = value;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (lane < half) values[lane] += values[lane + half];
        __syncthreads();
    }
    const long long total = values[0];
    __syncthreads();
    return total;
}

extern "C" __global__ void place_exemplars(
    const short* similarity, const long long* starts, const long long* offsets, const int n_classes,
    const long long n_all, const bool* free_nodes, const int herd, const long long most,
    long long* covered_of, long long* gain_of, long long* known_of, int* places_of)
{
    // One block a class and fold. Cover: gains only fall, so an old gain is a bound; it is worked out anew when it
    // leads, and taken when it is fresh. Herding: (t + 1) * sum over all - N * sum over the chosen.
    __shared__ long long values[256];
    __shared__ int indices[256];
    const int lane = threadIdx.x, code = blockIdx.x % n_classes;
    const long long fold = blockIdx.x / n_classes, base = fold * n_all + starts[code];
    const int n = (int)(starts[code + 1] - starts[code]);
    const short* table = similarity + offsets[code];
    const bool* is_free = free_nodes + base;
    long long* covered = covered_of + base;
    long long* gain = gain_of + base;
    long long* known = known_of + base;
    int* places = places_of + base;
    long long mine = 0;
    for (int j = lane; j < n; j += blockDim.x) mine += is_free[j] ? 1 : 0;
    const long long n_free = sum(values, mine);
    for (int j = lane; j < n; j += blockDim.x) {
        covered[j] = 0;
        known[j] = 0;
        gain[j] = -1;
        if (!is_free[j]) continue;
        long long total = 0;
        for (int i = 0; i < n; ++i) {
            const int value = table[(long long)j * n + i];
            if (is_free[i] && (herd || value > 0)) total += value;
        }
        gain[j] = total;
    }
    __syncthreads();
    long long chosen = 0;
    while (chosen < most && chosen < n_free) {
        long long value = 0;
        int best = -1;
        for (int j = lane; j < n; j += blockDim.x) {
            if (!is_free[j] || places[j] >= 0) continue;
            const long long now = herd ? (chosen + 1) * gain[j] - n_free * covered[j] : gain[j];
            if (best < 0 || now > value) { value = now; best = j; }
        }
        lead(values, indices, value, best);
        best = indices[0];
        __syncthreads();
        const short* row = table + (long long)best * n;
        if (!herd && known[best] != chosen) {
            mine = 0;
            for (int i = lane; i < n; i += blockDim.x)
                if (is_free[i] && row[i] > covered[i]) mine += row[i] - covered[i];
            const long long total = sum(values, mine);
            if (lane == 0) { gain[best] = total; known[best] = chosen; }
            __syncthreads();
            continue;
        }
        for (int i = lane; i < n; i += blockDim.x) {
            if (herd) covered[i] += row[i];
            else if (is_free[i] && row[i] > covered[i]) covered[i] = row[i];
        }
        if (lane == 0) places[best] = (int)chosen;
        ++chosen;
        __syncthreads();
    }
}
"""

COSINE_SUMS = r"""
extern "C" __global__ void cosine_sums(
    const float* tables, const float* factors, const long long n, const long long low, const long long high,
    short* out)
{
    // A thread for each product of these rows up to the diagonal. It gives the cell across the diagonal, too: scaled by
    // the row first and then by the column, as either cell has them.
    const long long cell = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= (high - low) * high) return;
    const long long i = low + cell / high, j = cell % high;
    if (j > i) return;
    float below = 0.0f, above = 0.0f;
    for (int t = 0; t < 3; ++t) {
        const float product = tables[(t * n + i) * n + j], own = factors[t * n + i], other = factors[t * n + j];
        below += product * own * other;
        above += product * other * own;
    }
    out[i * n + j] = (short)rintf(below);
    out[j * n + i] = (short)rintf(above);
}
"""

SOURCES = {
    "cosine_sums": COSINE_SUMS,
    "accept_roots": ACCEPT_ROOTS,
    "dense_distances": DENSE_DISTANCES,
    "sparse_distances": SPARSE_DISTANCES,
    "place_exemplars": PLACE_EXEMPLARS,
}
"""Every kernel by name."""
