"""Feature matrices as arrays of a file."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from outcomes import plain

from herald_gpu.encoding import Encoding
from herald_gpu.io.packing import pack, unpack

BITS = (np.arange(33).reshape(3, 11) % 4 == 0).astype(np.float32)
SCALES = np.float32([1, 0.5, 2])
CODES = np.int8([[0, 1, -127], [127, 0, 3]])


def test_packed_arrays_take_what_they_are_charged():
    packed = pack(BITS, Encoding("dense", "bits"), None)
    assert packed["features.bits"].nbytes == 3 * 2
    listed = pack(BITS, Encoding("sparse", "bits"), None)
    assert listed["features.indices"].nbytes == 2 * np.count_nonzero(BITS)
    assert "features.data" not in listed
    small = pack(CODES * SCALES, Encoding("dense", "int8"), SCALES)
    assert (small["features"].nbytes, small["features.scales"].nbytes) == (6, 12)
    np.testing.assert_array_equal(small["features"], CODES)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("values", "x", "scales"),
    [
        ("bits", BITS, None),
        ("float32", BITS * np.float32(0.1), None),
        ("float16", BITS * np.float32(0.5), None),
        ("int8", CODES * SCALES, SCALES),
    ],
)
def test_there_and_back(layout, sparse, values, x, scales):
    given = scipy.sparse.csr_matrix(x) if sparse else x
    back = unpack(pack(given, Encoding(layout, values), scales))
    assert scipy.sparse.issparse(back) == (layout == "sparse")
    assert back.dtype == np.float32
    np.testing.assert_array_equal(plain(back), x)


def test_more_columns_than_two_bytes_can_number():
    x = scipy.sparse.csr_matrix((np.float32([1]), ([0], [70_000])), shape=(1, 70_001))
    assert unpack(pack(x, Encoding("sparse", "float32"), None))[0, 70_000] == 1
