"""Pickles as Python 2 wrote them, put together opcode by opcode; texts and bytes are the same there."""

from __future__ import annotations

import struct

import numpy as np


def finish(body):
    return b"\x80\x02" + body + b"."


def number(value):
    return b"J" + struct.pack("<i", value)


def text(value):
    content = value if isinstance(value, bytes) else value.encode()
    return b"T" + struct.pack("<i", len(content)) + content


def name(module, attribute):
    return f"c{module}\n{attribute}\n".encode()


def sequence(values):
    return b"(" + b"".join(values) + b"t"


def array(values):
    values = np.asarray(values)
    kind = sequence([text(values.dtype.str[1:]), number(0), number(1)])
    state = sequence([number(3), text("<"), b"N", b"N", b"N", number(-1), number(-1), number(0)])
    dtype = name("numpy", "dtype") + kind + b"R" + state + b"b"
    start = name("numpy.core.multiarray", "_reconstruct")
    start += sequence([name("numpy", "ndarray"), sequence([number(0)]), text("b")]) + b"R"
    shape = sequence([number(size) for size in values.shape])
    return start + sequence([number(1), shape, dtype, b"\x89", text(values.tobytes())]) + b"b"


def csr(matrix):
    parts = {
        "_shape": sequence([number(size) for size in matrix.shape]),
        "data": array(matrix.data.astype("<f4")),
        "indices": array(matrix.indices.astype("<i4")),
        "indptr": array(matrix.indptr.astype("<i4")),
        "maxprint": number(50),
    }
    items = b"".join(text(key) + value for key, value in parts.items())
    return name("scipy.sparse.csr", "csr_matrix") + b")\x81}(" + items + b"ub"


def lists(neighbours):
    start = name("collections", "defaultdict") + sequence([name("__builtin__", "list")]) + b"R"
    rows = [number(node) + b"](" + b"".join(number(other) for other in row) + b"e" for node, row in neighbours.items()]
    return start + b"(" + b"".join(rows) + b"u"
