"""What the tree of a function says about its names, found once per tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from functools import lru_cache
from typing import Any

import gast

from ...core.errors import Origin
from ..desugar import desugar
from .source import Source

FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
LEAVES = (gast.Name, gast.Constant)
YIELDS = (gast.Yield, gast.YieldFrom)
BINDING = (gast.Store, gast.Del)


class Scope:
    """The names that a function binds and declares, and how often its code loads each."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self.bound: set[str] = set(parameter_names(node.args)) if hasattr(node, "args") else set()
        self.outer: set[str] = set()  # declared `nonlocal`
        self.globals: set[str] = set()  # declared `global`
        self.is_generator = False
        for statement in body_of(node):
            self._collect(statement)
        self.bound -= self.outer | self.globals

    def _collect(self, node: Any) -> None:
        if isinstance(node, LEAVES):
            self.bound.update(names_bound_by(node))
            return
        if isinstance(node, gast.Nonlocal):
            self.outer.update(node.names)
        elif isinstance(node, gast.Global):
            self.globals.update(node.names)
        else:
            self.bound.update(names_bound_by(node))
            self.is_generator |= isinstance(node, YIELDS)
        for child in children_in_scope(node):
            self._collect(child)


def body_of(node: Any) -> list[Any]:
    """The statements (or the expression) that run when a function is called."""
    if isinstance(node, COMPREHENSIONS):
        return [generator.target for generator in node.generators]
    return node.body if isinstance(node.body, list) else [node.body]


def names_bound_by(node: Any) -> list[str]:
    """The names that one node itself binds."""
    if type(node) is gast.Name:
        return [node.id] if isinstance(node.ctx, BINDING) else []
    match node:
        case gast.expr():
            return []
        case gast.FunctionDef() | gast.ClassDef():
            return [node.name]
        case gast.Import() | gast.ImportFrom():
            return [(alias.asname or alias.name.split(".")[0]) for alias in node.names]
        case gast.MatchAs() | gast.MatchStar():
            return [node.name] if node.name else []
        case gast.MatchMapping():
            return [node.rest] if node.rest else []
    return []


def children_in_scope(node: Any) -> list[Any]:
    """The children of a node that belong to the same scope: not the insides of functions."""
    if isinstance(node, FUNCTIONS):
        return [*node.args.defaults, *filter(None, node.args.kw_defaults)]
    if isinstance(node, gast.ClassDef):
        return []
    if isinstance(node, COMPREHENSIONS):
        return [walrus.target for walrus in gast.walk(node) if isinstance(walrus, gast.NamedExpr)] + [
            node.generators[0].iter
        ]
    return _children(node)


def _children(node: Any) -> list[Any]:
    """The nodes right below a node that have a place in the source: not `Load`, `Add`, ..."""
    found: list[Any] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if type(value) is list:
            found += [item for item in value if isinstance(item, gast.AST)]
        elif isinstance(value, gast.AST) and value._fields:
            found.append(value)
    return found


def parameter_names(args: Any) -> list[str]:
    """The names of all parameters, in the order of the signature."""
    every = [*args.posonlyargs, *args.args, *filter(None, [args.vararg]), *args.kwonlyargs, *filter(None, [args.kwarg])]
    return [parameter.id for parameter in every]


@lru_cache(maxsize=1024)
def scope_of(node: Any) -> Scope:
    return Scope(node)


@lru_cache(maxsize=4096)
def loads_in(node: Any) -> Counter[str]:
    """How often each name is loaded anywhere in a node, inner functions included."""
    return Counter(
        name.id for name in gast.walk(node) if isinstance(name, gast.Name) and isinstance(name.ctx, gast.Load)
    )


@lru_cache(maxsize=4096)
def names_in(node: Any) -> Counter[str]:
    """How often each name is loaded, bound or deleted anywhere in a node, inner functions included."""
    return Counter(name.id for name in gast.walk(node) if isinstance(name, gast.Name))


@lru_cache(maxsize=4096)
def uses_in(node: Any) -> Counter[str]:
    """How often a name has to be bound anywhere in a node: where it is loaded, added to or deleted."""
    augmented = [each.target for each in gast.walk(node) if isinstance(each, gast.AugAssign)]
    added_to = Counter(target.id for target in augmented if isinstance(target, gast.Name))
    deleted = Counter(
        name.id for name in gast.walk(node) if isinstance(name, gast.Name) and isinstance(name.ctx, gast.Del)
    )
    return loads_in(node) + added_to + deleted


@lru_cache(maxsize=512)
def _desugared(tree: Any, file: str, attempting: bool, ended: frozenset[tuple[int, int]],
               forks: frozenset[tuple[int, int, str]], asked: frozenset[tuple[int, int]]) -> Any:
    return desugar(tree, file, attempting, ended, forks, asked)


def desugared(source: Source, attempting: bool = False, ended: Collection[Origin] = (),
              forks: Collection[tuple[Origin, str]] = (), asked: Collection[Origin] = ()) -> Any:
    """The tree of a function without jumps; the same object for the same source."""
    def places(of: Collection[Origin]) -> frozenset[tuple[int, int]]:
        return frozenset((place.line, place.column or 0) for place in of if place.file == source.file)

    names = frozenset((place.line, place.column or 0, name) for place, name in forks if place.file == source.file)
    return _desugared(source.tree, source.file, attempting, places(ended), names, places(asked))


class Writes:
    """What the body of a loop assigns to, as far as its text tells: a first guess of what it carries."""

    def __init__(self, body: list[Any]) -> None:
        self.assigned: set[str] = set()
        self.augmented: set[str] = set()
        self.stored: set[str] = set()  # names of which an item is written: x[i] = …
        for statement in body:
            self._collect(statement)

    def _collect(self, node: Any) -> None:
        if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
            self.augmented.add(node.target.id)
            self._collect(node.value)
            return
        if isinstance(node, gast.Subscript) and isinstance(node.ctx, gast.Store):
            root = node.value
            while isinstance(root, gast.Subscript | gast.Attribute):
                root = root.value
            if isinstance(root, gast.Name):
                self.stored.add(root.id)
        self.assigned.update(names_bound_by(node))
        for child in children_in_scope(node):
            self._collect(child)


@lru_cache(maxsize=1024)
def writes_of(loop: Any) -> Writes:
    """What the loop's body (and, for a `while`, its test) assigns to."""
    test = [loop.test] if isinstance(loop, gast.While) else []
    return Writes([*test, *loop.body])
