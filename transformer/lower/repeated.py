"""Nests of a kernel that occur several times but for the names in them, as calls of one function.

    for i in range(n):                              def fill_y(n, m, x, total, y):
        for j in range(m):                              for i in range(n):
            y[i, j] = x[i, j] / total[i]                    for j in range(m):
    for i in range(n2):                      →                  y[i, j] = x[i, j] / total[i]
        for j in range(m2):
            y2[i, j] = x2[i, j] / total2[i]         fill_y(n, m, x, total, y)
                                                    fill_y(n2, m2, x2, total2, y2)

They come from the layers of a network. A compiler takes as long for each as for the first one, and so does a reader.
What is small stays where it is. A function is compiled as a kernel is, for arrays that share no memory: each of those
that it is given is an argument of the kernel or memory of its own.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Hashable, Iterator
from typing import Any

from ..write.layout import Group, Item, Line
from .same_tasks import form_of
from .sharing import array_named, assigned, nodes, statements_of, taken

LEAST = 60                             # nodes of a tree: some four lines with elements of arrays
MAKERS = {"np.empty", "np.zeros", "np.ones", "np.full"}
STATEMENTS = ast.For, ast.If, ast.Assign, ast.AugAssign, ast.Expr


def outlined(e: Any, params: list[str], items: list[Item]) -> list[Item]:
    """The items of a kernel, which has these parameters, with calls in place of such nests."""
    if sum(map(_is_long, items)) < 2:
        return items
    found = _Nests(e, params, items)
    return [found.call(k, item) if k in found.forms and found.times[found.forms[k]] > 1 else item
            for k, item in enumerate(items)]


def _is_long(item: Item) -> bool:
    return isinstance(item, Group) and isinstance(item.head, ast.For) and sum(1 for _ in nodes(item)) >= LEAST


class _Nests:
    """`given` are the names that each nest takes, by its place among the items, `forms` what is equal for those that do
    the same, and `times` how many there are of a form."""

    def __init__(self, e: Any, params: list[str], items: list[Item]) -> None:
        self.e, self.items = e, items
        self.names = {*e.names.of.values(), *e.names.sizes.values()}
        self.others = {*params, *(name for item in items for name in assigned(item))} - self.names  # lists, …
        self.apart = _memory_of_its_own(e, items)
        self.uses = [set(_read_first([item])) for item in items]
        self.later = _used_later(items, self.uses)
        self.given: dict[int, list[str]] = {}
        self.forms: dict[int, Hashable] = {}
        for k, item in enumerate(items):
            if _is_long(item) and self._may_be_apart(k, item):
                self.given[k] = taken([item], self.names)
                self.forms[k] = form_of(self._function(k, item), self._arrays(k))
        self.times = Counter(self.forms.values())

    def _may_be_apart(self, k: int, item: Item) -> bool:
        used = {node.id for node in nodes(item) if isinstance(node, ast.Name)}
        if not all(isinstance(each, STATEMENTS) for each in statements_of(item)) or not self.others.isdisjoint(used):
            return False
        made = set(assigned(item))
        arrays = {name for name in taken([item], self.names) if self._is_array(name)}
        return made.isdisjoint(self.later[k] | self.uses[k]) and arrays <= self.apart

    def _is_array(self, name: str) -> bool:
        return any(other == name and getattr(var.type, "sizes", ()) for var, other in self.e.names.of.items())

    def _arrays(self, k: int) -> list[Any]:
        return [array_named(self.e, name) for name in self.given[k]]

    def _function(self, k: int, item: Item) -> Group:
        params = ast.arguments([], [ast.arg(name) for name in self.given[k]], None, [], [], None, [])
        return Group(ast.FunctionDef("", params, [], [], None), [item])

    def call(self, k: int, item: Any) -> Line:
        e = self.e
        name = e.numbers.functions.repeat(self._function(k, item), f"fill_{self._filled(item)}",
                                          e.names.used | e.names.reserved, self._arrays(k))
        return Line(ast.Expr(ast.Call(ast.Name(name), list(map(ast.Name, self.given[k])), [])), item.origin)

    def _filled(self, item: Item) -> str:
        """The name of the first array that a nest writes."""
        targets = (target for node in nodes(item) for target in _targets(node) if isinstance(target, ast.Subscript))
        return next((target.value.id for target in targets if isinstance(target.value, ast.Name)), "array")


def _memory_of_its_own(e: Any, items: list[Item]) -> set[str]:
    """The names of arrays that share memory with none of another name: arguments, and what is made at the top."""
    arguments = {e.names.of[array] for array in [*e.lowered.function.params, *e.lowered.outside] if array in e.names.of}
    made: set[str] = set()
    for item in items:
        value = item.node.value if isinstance(item, Line) and isinstance(item.node, ast.Assign) else None
        if isinstance(value, ast.Call) and ast.unparse(value.func) in MAKERS:
            made.update(assigned(item))
    times = Counter(name for item in items for name in assigned(item))
    return {name for name in arguments if not times[name]} | {name for name in made - arguments if times[name] == 1}


def _used_later(items: list[Item], uses: list[set[str]]) -> list[set[str]]:
    """The names whose values at the end of each item are looked at by what follows it."""
    later: list[set[str]] = [set()]
    for item, used in zip(items[:0:-1], uses[:0:-1]):
        bound = set(assigned(item)) if isinstance(item, Line) else set()
        later.append(later[-1] - bound | used)
    return later[::-1]


def _read_first(items: list[Item], known: frozenset[str] = frozenset()) -> Iterator[str]:
    """The names of which items may look at what they were before; `known` are those that are assigned by then."""
    for item in items:
        if isinstance(item, Line):
            yield from _loaded(item.node, known)
            known |= set(assigned(item))
        elif isinstance(item, Group):
            yield from _loaded(item.head, known)
            inside = known | set(assigned(Line(item.head))) if isinstance(item.head, ast.For) else known
            for block in (item.body, item.orelse):
                yield from _read_first(block, inside)


def _loaded(node: Any, known: frozenset[str]) -> Iterator[str]:
    """The names that a statement looks at, and are not `known`."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.For) else []
    parts = [part for target in targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
    stored = {id(part) for part in parts if isinstance(part, ast.Name)}
    yield from (each.id for each in ast.walk(node)
                if isinstance(each, ast.Name) and id(each) not in stored and each.id not in known)


def _targets(node: ast.AST) -> list[ast.expr]:
    """What a statement writes to; a call of BLAS writes to what it is given last."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return node.value.args[-1:]
    return node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
