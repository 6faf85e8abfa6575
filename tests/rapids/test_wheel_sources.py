"""What is read from the sources inside a wheel, without installing it."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from wheel_sources import Sources

FILES = {
    "lib/__init__.py": (
        "from lib.graphs import Graph\n"
        "from lib.sample import sample\n"
        "try:\n    from .plain import helper as public\nexcept ImportError:\n    public = None\n"
    ),
    "lib/plain.py": "LIMIT = 3\ndef helper(a: int, /, b: str = 'x', *rest, c, **more) -> None: ...\n",
    "lib/base.py": (
        "class Base:\n"
        "    shape = None\n"
        "    def fit(self, X, y=None):\n        self.fitted_ = True\n        return self\n"
        "    @property\n    def size(self): return 0\n"
        "    @size.setter\n    def size(self, value): ...\n"
    ),
    "lib/sample.pyx": (
        "from libc.stdint cimport uintptr_t\n"
        "import numpy\n"
        "cdef extern from 'x.h' nogil:\n    void run(int n) except +\n"
        "def sample(ResourceHandle handle not None,\n"
        "           vertices,  # of the graph (any type\n"
        "           *,\n"
        "           bool_t with_replacement,\n"
        "           sizes=(1, 2),\n"
        "           mode='a (b',\n"
        "           double tol=1e-7):\n"
        '    """\n    def not_a_function(x): ...\n    """\n'
        "    cdef int* p = <int*> NULL\n"
        "    return p[0]\n"
        "cpdef object other(int[:] rows, float* values=NULL): pass\n"
    ),
    "lib/graphs.pyx": (
        "from lib.base import Base\n\n"
        "class Graph(Base):\n"
        "    kind_ = Attribute()\n"
        "    def __init__(self, *, int depth=3):\n"
        "        super().__init__()\n"
        "        self.depth = depth\n"
        "        cdef int n = 3\n"
        "    @property\n    @cached\n    def width(self):\n        return 1\n"
        "cdef class Handle:\n"
        "    cdef void* pointer\n"
        "    def __cinit__(self, handle=None):\n"
        "        def inner(a, b): pass\n"
        "        self.pointer = NULL\n"
    ),
}


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    path = tmp_path_factory.mktemp("wheels") / "lib_cu13-26.10.1-cp311-abi3-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in FILES.items():
            archive.writestr(name, text)
    return Sources([path])


def test_the_version_is_that_of_the_file(sources):
    assert sources.versions == {"lib-cu13": "26.10.1"}


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("lib.plain.helper", "(a, /, b='x', *rest, c, **more)"),
        ("lib.public", "(a, /, b='x', *rest, c, **more)"),
        ("lib.sample", "(handle, vertices, *, with_replacement, sizes=(1, 2), mode='', tol=1e-07)"),
        ("lib.sample.other", "(rows, values=NULL)"),
        ("lib.graphs.Graph", "(*, depth=3)"),
        ("lib.Graph.fit", "(X, y=None)"),
        ("lib.graphs.Handle", "(handle=None)"),
        ("lib.base.Base", None),
        ("lib.plain.LIMIT", None),
        ("lib.Graph.depth", None),
        ("lib.Graph.width", None),
        ("lib.Graph.kind_", None),
        ("lib.Graph.fitted_", None),
        ("lib.Graph.size", None),
        ("lib.plain", None),
        ("lib", None),
    ],
)
def test_signatures(sources, name, signature):
    assert sources.signature(name) == signature


@pytest.mark.parametrize("name", ["lib.absent", "lib.Graph.absent", "lib.graphs.inner", "lib.sample.run", "absent"])
def test_what_is_not_there(sources, name):
    with pytest.raises(LookupError, match=name):
        sources.signature(name)
