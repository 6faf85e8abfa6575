"""Find every mention of a RAPIDS name in our own source."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SEARCHED = ("herald_gpu",)
"""All of the package: RAPIDS is imported in `backend` only, but `library("cudf")` gives a module elsewhere too."""
LIBRARIES = frozenset(
    {
        *("cudf", "cugraph", "cuml", "cuvs", "dask_cuda", "dask_cudf"),
        *("pylibcudf", "pylibcugraph", "pylibraft", "raft_dask", "rmm"),
    }
)
GIVE_THEMSELVES = frozenset(
    {"astype", "drop_duplicates", "fillna", "fit", "isna", "merge", "reset_index", "sort_values", "take"}
)
"""Methods that return the object they are called on, or another of its kind."""
OBJECTS = {
    ("herald_gpu/backend/rapids/allocation.py", "counted"): "rmm.statistics.Statistics",
    ("herald_gpu/backend/rapids/allocation.py", "counter"): "rmm.mr.StatisticsResourceAdaptor",
    ("herald_gpu/backend/rapids/allocation.py", "layer"): "rmm.mr.UpstreamResourceAdaptor",
    ("herald_gpu/backend/rapids/allocation.py", "limiter"): "rmm.mr.LimitingResourceAdaptor",
    ("herald_gpu/backend/rapids/allocation.py", "pool"): "rmm.mr.PoolMemoryResource",
    ("herald_gpu/backend/rapids/columns.py", "ordered"): "cudf.Series",
    ("herald_gpu/backend/rapids/columns.py", "values"): "cudf.Series",
    ("herald_gpu/backend/rapids/neighbours.py", "index"): "cuml.neighbors.NearestNeighbors",
    ("herald_gpu/backend/rapids/presenting.py", "ids"): "cudf.Series",
    ("herald_gpu/backend/rapids/reading.py", "feats"): "cudf.DataFrame",
    ("herald_gpu/io/frames.py", "ids"): "cudf.Series",
    ("herald_gpu/io/frames.py", "table"): "cudf.DataFrame",
}
"""RAPIDS objects that come out of a function of our own, or from the user: (file, name) -> class."""
PARTS = {"cudf.DataFrame": "cudf.Series", "cudf.Series": "cudf.Series"}
"""What an object gives when it is indexed."""
HELD = {
    "cudf.DataFrame.index": "cudf.Index",
    "cudf.Series.index": "cudf.Index",
    "rmm.mr.StatisticsResourceAdaptor.allocation_counts": "rmm.statistics.Statistics",
}
"""Attributes that hold objects of RAPIDS themselves."""
FOREIGN = frozenset({"detach"})
"""Methods of others (here torch) that the same variable may hold."""


@dataclass(frozen=True)
class Use:
    """One mention of a RAPIDS name.

    Attributes
    ----------
    target : str
        Dotted name, such as ``cuml.neighbors.NearestNeighbors.kneighbors``.
    file : str
        Relative to the repository.
    line : int
    call : ast.Call, optional
        The call, if the name is called here.
    """

    target: str
    file: str
    line: int
    call: ast.Call | None = None

    @property
    def place(self) -> str:
        """File and line, as editors understand them."""
        return f"{self.file}:{self.line}"


def uses(root: Path = ROOT) -> list[Use]:
    """Find the mentions in all files where they are allowed."""
    files = sorted(path for folder in SEARCHED for path in (root / folder).rglob("*.py"))
    return [use for path in files for use in uses_in(path.read_text("utf-8"), path.relative_to(root).as_posix())]


def uses_in(source: str, file: str) -> list[Use]:
    """Find the mentions in one file."""
    finder, tree = _Finder(file), ast.parse(source)
    for node in ast.walk(tree):  # imports first: they may stand below the function that uses them
        finder.note_import(node)
    finder.visit(tree)
    return finder.found


class _Finder(ast.NodeVisitor):
    """Resolve names to dotted targets, following assignments of the objects made from them."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.names: dict[str, str] = {}
        self.objects = {name: target for (where, name), target in OBJECTS.items() if where == file}
        self.found: list[Use] = []

    def note_import(self, node: ast.AST) -> None:
        """Remember what an import statement binds, and count what it names as a mention."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] in LIBRARIES:
                    bound = alias.asname or alias.name.partition(".")[0]
                    self.names[bound] = alias.name if alias.asname else bound
                    self.found.append(Use(alias.name, self.file, node.lineno))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in LIBRARIES:
            for alias in node.names:
                self.names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                self.found.append(Use(f"{node.module}.{alias.name}", self.file, node.lineno))

    def named(self, node: ast.expr) -> str | None:
        """Dotted target of a module, function or class that an expression names outright."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.named(node.value)
            return None if owner is None else f"{owner}.{node.attr}"
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "library" and node.args:
            given = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
            return str(given) if given in LIBRARIES else None
        return None

    def resolve(self, node: ast.expr) -> str | None:
        """Dotted target of an expression: named outright, or a method or attribute of an object."""
        if isinstance(node, ast.Attribute) and node.attr not in FOREIGN:
            made = self.made_by(node.value)
            if made is not None:
                return f"{made}.{node.attr}"
        return self.named(node)

    def made_by(self, node: ast.expr) -> str | None:
        """Class of the object that an expression gives, where it is one of RAPIDS."""
        if isinstance(node, ast.Name | ast.Attribute):
            return self.objects.get(ast.unparse(node)) or HELD.get(self.resolve(node) or "")
        if isinstance(node, ast.Compare):
            return self.made_by(node.left)
        if isinstance(node, ast.Subscript):
            return PARTS.get(self.made_by(node.value) or "")
        target = self.resolve(node.func) if isinstance(node, ast.Call) else None
        if target is None:
            return None
        owner, _, last = target.rpartition(".")
        if last in GIVE_THEMSELVES:
            return owner
        return target if last[:1].isupper() else None

    def visit_Assign(self, node: ast.Assign) -> None:
        """Follow ``name = Class(...)`` and ``self.name = Class(...)``."""
        made = self.made_by(node.value)
        for target in node.targets:
            if made is not None and isinstance(target, ast.Name | ast.Attribute):
                self.objects[ast.unparse(target)] = made
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """Note a call of a RAPIDS function, class or method."""
        target = self.resolve(node.func)
        if target is None:
            self.visit(node.func)
        else:
            self.found.append(Use(target, self.file, node.lineno, node))
            if isinstance(node.func, ast.Attribute):
                self.visit(node.func.value)
        for part in (*node.args, *(keyword.value for keyword in node.keywords)):
            self.visit(part)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Note a name or attribute that is mentioned without being called."""
        target = self.resolve(node)
        if target is not None:
            self.found.append(Use(target, self.file, node.lineno))
        self.visit(node.value)
