"""Definitions in the sources that a wheel carries, without installing it."""

from __future__ import annotations

import ast
import copy
import re
import zipfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from cython_headers import headers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

PROPERTY = re.compile(r"property$|\.(setter|getter|deleter)$")


@dataclass
class Definition:
    """Something that a source file defines.

    Attributes
    ----------
    kind : {"module", "class", "function", "attribute"}
    source : str
        Path of the file inside its wheel.
    arguments : ast.arguments, optional
        Of a function, `self` included.
    bases : list of str
        Of a class, as written.
    members : dict
        What a module or class holds, by name.
    imports : dict
        What a module imports: name there -> dotted name.
    """

    kind: Literal["module", "class", "function", "attribute"]
    source: str
    arguments: ast.arguments | None = None
    bases: list[str] = field(default_factory=list)
    members: dict[str, Definition] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)

    def add_attribute(self, name: str) -> None:
        """Note an attribute, unless something better is known by that name."""
        self.members.setdefault(name, Definition("attribute", self.source))


class Sources:
    """The sources inside a set of wheels."""

    def __init__(self, wheels: Iterable[Path]) -> None:
        self.versions: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._modules: dict[str, Definition | None] = {}
        for wheel in wheels:
            distribution, version, *_ = wheel.name.split("-")
            self.versions[distribution.replace("_", "-")] = version
            with zipfile.ZipFile(wheel) as archive:
                names = [name for name in archive.namelist() if name.endswith((".py", ".pyx"))]
                self._texts |= {name: archive.read(name).decode("utf-8") for name in names}

    def module(self, dotted: str) -> Definition | None:
        """Read a module by its import name."""
        if dotted not in self._modules:
            stem = dotted.replace(".", "/")
            path = next((p for p in (f"{stem}/__init__.py", f"{stem}.py", f"{stem}.pyx") if p in self._texts), None)
            read = read_cython if path is not None and path.endswith(".pyx") else read_python
            self._modules[dotted] = None if path is None else read(self._texts[path], path)
        return self._modules[dotted]

    def find(self, dotted: str) -> Definition | None:
        """Find what a dotted name stands for; an imported function hides the module of the same name."""
        owner, _, name = dotted.rpartition(".")
        home = self.module(owner) if owner else None
        if home is not None and name in home.members:
            return home.members[name]
        if home is not None and home.imports.get(name, dotted) != dotted:
            return self.find(home.imports[name])
        if not owner or (found := self.module(dotted)) is not None:
            return self.module(dotted)
        found = self.find(owner)
        return self.member(found, name) if found is not None and found.kind == "class" else None

    def member(self, owner: Definition, name: str) -> Definition | None:
        """Find a method or attribute of a class, through its bases."""
        if name in owner.members:
            return owner.members[name]
        for base in owner.bases:
            parent = self.find(f"{_dotted(owner.source)}.{base}") or self.find(base)
            found = None if parent is None else self.member(parent, name)
            if found is not None:
                return found
        return None

    def signature(self, dotted: str) -> str | None:
        """Parameters as source text, without `self`; None for modules and attributes.

        Raises
        ------
        LookupError
            The wheels do not have that name.
        """
        found = self.find(dotted)
        if found is None:
            msg = f"{dotted} is not in the wheels"
            raise LookupError(msg)
        owner = self.find(dotted.rpartition(".")[0]) if "." in dotted else None
        bound = found.kind == "class" or (owner is not None and owner.kind == "class")
        if found.kind == "class":
            found = self.member(found, "__init__") or self.member(found, "__cinit__")
        if found is None or found.arguments is None:
            return None
        given = copy.deepcopy(found.arguments)
        del given.args[: int(bound)]
        return f"({ast.unparse(given)})"


def _dotted(path: str) -> str:
    return path.removesuffix("/__init__.py").rsplit(".", 1)[0].replace("/", ".")


def read_python(text: str, path: str) -> Definition:
    """Read a `.py` file."""
    module = Definition("module", path)
    for node in _statements(ast.parse(text).body):
        _note(module, node)
    return module


def read_cython(text: str, path: str) -> Definition:
    """Read the headers of a `.pyx` file."""
    module = Definition("module", path)
    inside: list[tuple[int, Definition]] = [(-1, module)]
    for header in headers(text):
        while header.depth <= inside[-1][0]:
            inside.pop()
        owner = inside[-1][1]
        if header.kind == "import":
            _note(owner, ast.parse(header.name).body[0])
        elif header.kind == "own":
            classes = [definition for _, definition in inside if definition.kind == "class"]
            if classes:
                classes[-1].add_attribute(header.name)
        elif header.kind == "name":
            if owner.kind != "function":
                owner.add_attribute(header.name)
        else:
            kind: Literal["class", "function", "attribute"] = "attribute" if header.kind == "property" else header.kind
            made = Definition(kind, path, header.arguments if kind == "function" else None, list(header.bases))
            owner.members[header.name] = made
            inside.append((header.depth, made))
    return module


def _note(owner: Definition, node: ast.stmt) -> None:
    """Put what a statement defines into a module or class."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        marked = any(PROPERTY.search(ast.unparse(mark)) for mark in node.decorator_list)
        made = Definition("attribute", owner.source) if marked else Definition("function", owner.source, _plain(node))
        owner.members[node.name] = made
    elif isinstance(node, ast.ClassDef):
        made = owner.members[node.name] = Definition("class", owner.source, bases=[ast.unparse(b) for b in node.bases])
        for part in _statements(node.body):
            _note(made, part)
        stored = (n for n in ast.walk(node) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store))
        for target in stored:
            if ast.unparse(target.value) == "self":
                made.add_attribute(target.attr)
    elif isinstance(node, ast.Import | ast.ImportFrom):
        owner.imports |= _imported(node, owner.source)
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        for assigned in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(assigned, ast.Name):
                owner.add_attribute(assigned.id)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a block, those under ``try`` and ``if`` included."""
    for node in body:
        yield node
        if isinstance(node, ast.Try | ast.If):
            yield from _statements([*node.body, *node.orelse])


def _plain(node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.arguments:
    """Parameters without annotations."""
    given = node.args
    for part in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
        if part is not None:
            part.annotation = None
    return given


def _imported(node: ast.Import | ast.ImportFrom, path: str) -> dict[str, str]:
    if isinstance(node, ast.Import):
        return {alias.asname: alias.name for alias in node.names if alias.asname}
    package = _dotted(path).split(".")
    if not path.endswith("/__init__.py"):
        package.pop()
    start = package[: len(package) + 1 - node.level] if node.level else []
    origin = ".".join([*start, *([node.module] if node.module else [])])
    return {alias.asname or alias.name: f"{origin}.{alias.name}" for alias in node.names}
