"""Copied functions with the functions that they call written out inside of them: one function takes a compiler
less time than five."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

from ...write.moves import names_in

MOST_STATEMENTS = 60


def flatten(trees: dict[str, ast.FunctionDef], called: Iterable[str], alike: Callable[[str, str], bool]
            ) -> dict[str, ast.FunctionDef]:
    """The functions of `trees` (each behind those that it calls) that are still called, when calls of functions of
    plain assignments are written out. `called` are those that other code calls; `alike` says whether two
    functions are compiled in the same way."""
    for name, tree in trees.items():
        plain = {other: trees[other] for other in names_in(tree) & trees.keys()
                 if alike(name, other) and _is_plain(trees[other])}
        body = _Writing(tree, plain).body() if plain else tree.body
        if len(body) <= MOST_STATEMENTS:
            tree.body = body
    needed = set(called)
    for name in reversed(list(trees)):
        if name in needed:
            needed |= names_in(trees[name])
    return {name: tree for name, tree in trees.items() if name in needed}


def _is_plain(tree: ast.FunctionDef) -> bool:
    """Whether a function assigns and returns, and nothing else."""
    body = _without_text(tree)
    arguments = tree.args
    return (bool(body) and isinstance(body[-1], ast.Return) and body[-1].value is not None
            and all(isinstance(stmt, ast.Assign) for stmt in body[:-1])
            and not (arguments.defaults or arguments.kwonlyargs or arguments.vararg or arguments.kwarg))


def _without_text(tree: ast.FunctionDef) -> list[ast.stmt]:
    return tree.body[ast.get_docstring(tree) is not None:]


def _twin(tree: Any) -> Any:
    """A copy of a tree, made in a fraction of the time that `copy.deepcopy` takes."""
    if isinstance(tree, list):
        return [_twin(each) for each in tree]
    if not isinstance(tree, ast.AST) or not tree._fields:    # operators and contexts say nothing but their class
        return tree
    made = type(tree).__new__(type(tree))                 # Python 3.15 makes none of some classes without all parts
    vars(made).update({name: _twin(value) for name, value in vars(tree).items()})
    return made


class _Writing(ast.NodeTransformer):
    """Writes out the calls in one function."""

    def __init__(self, tree: ast.FunctionDef, plain: dict[str, ast.FunctionDef]) -> None:
        self.tree, self.plain = tree, plain
        self.taken = names_in(tree) | {argument.arg for argument in tree.args.args}
        self.before: list[ast.stmt] = []

    def body(self) -> list[ast.stmt]:
        text = self.tree.body[:len(self.tree.body) - len(_without_text(self.tree))]
        made: list[ast.stmt] = list(text)
        for stmt in _without_text(self.tree):
            self.before = []
            stmt = self.visit(_twin(stmt)) if isinstance(stmt, (ast.Assign, ast.Return)) else stmt
            made += [*self.before, stmt]
        return made

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        callee = self.plain.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if callee is None or node.keywords:
            return node
        names: dict[str, ast.expr] = {}
        for argument, value in zip(callee.args.args, node.args, strict=True):
            names[argument.arg] = self._named(argument.arg, value)
        for stmt in _without_text(callee)[:-1]:
            value = _Renamed(names).visit(_twin(stmt.value))             # type: ignore[attr-defined]
            for target in stmt.targets:                                  # type: ignore[attr-defined]
                for each in ast.walk(target):
                    if isinstance(each, ast.Name):
                        names[each.id] = ast.Name(self._fresh(each.id))
            targets = [_Renamed(names).visit(_twin(target)) for target in stmt.targets]   # type: ignore[attr-defined]
            self.before.append(ast.Assign(targets, value))
        return _Renamed(names).visit(_twin(_without_text(callee)[-1].value))   # type: ignore[attr-defined]

    def _named(self, wish: str, value: ast.expr) -> ast.expr:
        """An operand that may be mentioned several times."""
        if isinstance(value, (ast.Name, ast.Constant)):
            return value
        name = ast.Name(self._fresh(wish))
        self.before.append(ast.Assign([name], value))
        return name

    def _fresh(self, wish: str) -> str:
        name = wish if wish not in self.taken else next(
            f"{wish}{k}" for k in count(2) if f"{wish}{k}" not in self.taken)
        self.taken.add(name)
        return name


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: dict[str, ast.expr]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return _twin(self.names[node.id]) if node.id in self.names else node
