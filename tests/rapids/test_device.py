"""Memory of the device: batches that fit, and what is said when nothing does."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest
import scipy.sparse
from support.graphs import build, random_raw

from herald_gpu.config import HeraldConfig
from herald_gpu.errors import InputError, OutOfMemory
from herald_gpu.pipeline import Clock, run

CUVS = type("CuvsException", (Exception,), {"__module__": "cuvs.common.exceptions"})
"""cuVS raises an exception that derives from nothing but `Exception`."""
CUGRAPH = "non-success value returned from cugraph_neighbor_sample: CUGRAPH_UNKNOWN_ERROR std::bad_alloc: out_of_memory"


@pytest.fixture
def device(rapids):  # noqa: ARG001 - the module cannot be imported without CuPy
    from herald_gpu.backend.rapids import device

    return device


def test_a_batch_takes_its_share_of_free_memory(device, monkeypatch):
    monkeypatch.setattr(device, "free_bytes", lambda: 1000)
    assert device.batch_rows(10, 1_000_000) == int(device.SHARE_OF_FREE * 1000) // 10
    assert device.batch_rows(10, 7) == 7
    assert device.batch_rows(10**9, 7) == 1
    assert device.batch_rows(0, 7) == 7


def test_free_memory_counts_what_the_pool_holds(rapids, device):
    pool = rapids.xp.get_default_memory_pool()
    pool.free_all_blocks()
    before = device.free_bytes()
    held = rapids.xp.zeros(10_000_000, dtype=np.uint8)
    while_held = device.free_bytes()
    del held
    assert while_held <= before - 10_000_000
    assert device.free_bytes() >= before - 1_000_000
    assert rapids.peak_memory() >= 10_000_000
    pool.free_all_blocks()


@pytest.mark.parametrize("count", [0, 2**31 - 1])
def test_what_fits_in_32_bits_passes(device, count):
    device.check_index_width(count, "the number of nodes")


def test_what_does_not_fit_in_32_bits_is_refused(device):
    with pytest.raises(InputError, match=r"the number of nodes is 2147483648, .* condense it in parts"):
        device.check_index_width(2**31, "the number of nodes")


# Out of memory


def too_much(rapids):
    """Ask for more than any device has."""
    return rapids.xp.empty(2**50, dtype=np.uint8)


def test_running_out_says_where_and_what_helps(rapids):
    said = r"stage 'scoring'.*bytes are free.*feature_count.*backend='cpu'"
    with pytest.raises(OutOfMemory, match=said) as caught, rapids.stage("scoring"):
        too_much(rapids)
    assert caught.value.stage == "scoring"
    assert isinstance(caught.value, MemoryError)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("std::bad_alloc: out_of_memory: CUDA error"),  # Cython's word for what cuML's C++ throws
        RuntimeError(CUGRAPH),
        CUVS("std::bad_alloc: out_of_memory: RMM failure"),
    ],
)
def test_running_out_inside_a_library_is_understood(rapids, error):
    with pytest.raises(OutOfMemory, match="stage 'expansion'") as caught, rapids.stage("expansion"):
        raise error
    assert caught.value.__cause__ is error


OTHERS = [RuntimeError("another"), ValueError("bad_alloc"), CUVS("Row major"), InputError("x"), KeyboardInterrupt()]


@pytest.mark.parametrize("error", OTHERS)
def test_other_errors_pass(rapids, error):
    with pytest.raises(type(error)) as caught, rapids.stage("expansion"):
        raise error
    assert caught.value is error


@pytest.mark.parametrize(
    ("stage", "method"), [("scoring", "nearest_distances"), ("expansion", "grow"), ("pruning", "pagerank")]
)
def test_the_pipeline_names_the_stage(rapids, stage, method, monkeypatch):
    monkeypatch.setattr(type(rapids), method, lambda self, *_, **__: too_much(self))
    graph = build(rapids, random_raw("counts", 60, seed=1))
    with pytest.raises(OutOfMemory, match=f"stage '{stage}'"):
        run(rapids, graph, 0.3, HeraldConfig.paper(feature_count=5), seed=0, clock=Clock(rapids))


def test_ranges_are_closed_whatever_happens(rapids, monkeypatch):
    marks = []
    nvtx = rapids.xp.cuda.nvtx
    monkeypatch.setattr(nvtx, "RangePush", marks.append)
    monkeypatch.setattr(nvtx, "RangePop", lambda: marks.append("."))
    with rapids.stage("features"):
        pass
    with pytest.raises(KeyError), rapids.stage("scoring"):
        raise KeyError
    assert marks == ["herald.features", ".", "herald.scoring", "."]


# Peaks


def test_a_pool_that_is_not_used_tells_nothing_of_the_peak(rapids, monkeypatch):
    monkeypatch.setattr(rapids.xp, "get_default_memory_pool", rapids.xp.cuda.MemoryPool)
    assert rapids.peak_memory() is None


# Streams


class Stream:
    """A stream that tells what it is asked."""

    def __init__(self, name, said, ptr):
        self.name, self.said, self.ptr = name, said, ptr

    def record(self):
        self.said.append(f"{self.name} records")
        return self.name

    def wait_event(self, event):
        self.said.append(f"{self.name} waits for {event}")

    def synchronize(self):
        self.said.append(f"{self.name} is waited for")

    def __enter__(self):
        self.said.append(f"{self.name} is current")

    def __exit__(self, *_):
        self.said.append(f"{self.name} is not")


def test_a_library_waits_for_the_callers_stream_and_the_other_way_round(rapids, device, monkeypatch):
    """Queued work is ordered by events, so that nobody waits on the host; arrays of the library are on its stream."""
    said, cuda = [], rapids.xp.cuda
    monkeypatch.setattr(cuda, "get_current_stream", lambda: Stream("ours", said, 7))
    monkeypatch.setattr(cuda.Stream, "ptds", Stream("theirs", said, 2))
    with device.library_order():
        said.append("a call")
    assert said == [
        *("ours records", "theirs waits for ours", "theirs is current", "a call", "theirs is not"),
        *("theirs records", "ours waits for theirs"),
    ]


def test_the_default_stream_needs_no_order(rapids, device, monkeypatch):
    said, cuda = [], rapids.xp.cuda
    assert cuda.get_current_stream().ptr == cuda.Stream.null.ptr
    monkeypatch.setattr(cuda.Stream, "ptds", Stream("theirs", said, 2))
    with device.library_order():
        said.append("a call")
    assert said == ["a call"]


@pytest.mark.parametrize("config", [HeraldConfig(), HeraldConfig.paper(pca_variance=0.9)], ids=["default", "paper"])
def test_a_stream_of_the_callers_own_changes_nothing(rapids, config):
    given, results = random_raw("counts", 80, seed=1), []
    for stream in (rapids.xp.cuda.Stream.null, rapids.xp.cuda.Stream(non_blocking=True)):
        with stream:
            graph = build(rapids, given)
            made = run(rapids, graph, 0.3, config, seed=0, clock=Clock(rapids))
            results.append([rapids.to_host(part) for part in (made.nodes, made.feature_indices, made.is_root)])
            assert rapids.xp.cuda.get_current_stream() == stream
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.fixture
def ordered_calls(rapids, monkeypatch):  # noqa: ARG001 - the modules cannot be imported without CuPy
    """Tell of each call of a library whether the streams are in order around it."""
    import cuml.decomposition
    import cuml.ensemble
    import cuml.neighbors
    import pylibcugraph

    from herald_gpu.backend.rapids import graphs, learning, neighbours, pagerank

    inside, seen = [], {}

    @contextmanager
    def order():
        inside.append(True)
        yield
        inside.pop()

    def watch(owner, name):
        real = getattr(owner, name)

        def call(*args, **kwargs):
            seen[name if owner is pylibcugraph else f"{owner.__name__}.{name}"] = bool(inside)
            return real(*args, **kwargs)

        monkeypatch.setattr(owner, name, call)

    for module in (graphs, learning, neighbours, pagerank):
        monkeypatch.setattr(module, "library_order", order)
    for name in ("neighbor_sample", "personalized_pagerank"):
        watch(pylibcugraph, name)
    watch(cuml.neighbors.NearestNeighbors, "fit")
    watch(cuml.neighbors.NearestNeighbors, "kneighbors")
    watch(cuml.ensemble.RandomForestClassifier, "fit")
    watch(cuml.decomposition.PCA, "fit")
    return seen


def test_every_call_of_cugraph_and_cuml_is_in_order_with_our_stream(rapids, ordered_calls):
    graph = build(rapids, random_raw("dense", 80, seed=1))
    run(rapids, graph, 0.3, HeraldConfig.paper(pca_variance=0.9), seed=0, clock=Clock(rapids))
    assert ordered_calls == dict.fromkeys(
        (
            *("NearestNeighbors.fit", "NearestNeighbors.kneighbors", "PCA.fit", "RandomForestClassifier.fit"),
            *("neighbor_sample", "personalized_pagerank"),
        ),
        True,
    )


def test_what_was_queued_before_is_not_charged_to_the_first_stage(rapids, monkeypatch):
    said = []
    monkeypatch.setattr(rapids.xp.cuda, "get_current_stream", lambda: Stream("ours", said, 0))
    clock = Clock(rapids)
    assert said == ["ours is waited for"]
    with clock.stage("reading"):
        said.append("work")
    assert said == ["ours is waited for", "work", "ours is waited for"]


# To the device and back


def test_arrays_and_matrices_cross_over(rapids):
    array, matrix = np.arange(6).reshape(2, 3), scipy.sparse.csr_matrix(np.eye(3, dtype=np.float32))
    there, sparse = rapids.asarray(array, dtype=np.float32), rapids.asarray(matrix)
    assert isinstance(there, rapids.xp.ndarray)
    assert there.dtype == np.float32
    assert rapids.sparse.issparse(sparse)
    assert rapids.asarray(sparse) is sparse
    assert rapids.asarray(there) is there
    np.testing.assert_array_equal(rapids.to_host(there), array)
    np.testing.assert_array_equal(rapids.to_host(sparse).toarray(), np.eye(3))
    assert scipy.sparse.issparse(rapids.to_host(sparse))
    np.testing.assert_array_equal(rapids.to_host([1, 2]), [1, 2])


def test_versions_name_cupy(rapids):
    assert {"python", "numpy"} < set(rapids.versions())
    assert any(name.startswith("cupy") for name in rapids.versions())
