"""A repeated call finds its function by a key made for the kinds of its arguments.

For arguments like ``({"w": w, "b": 1.0}, x)`` with arrays `w` and `x` the key is that of

    lambda a, b: (type(a), tuple(a), type(a["w"]), a["w"].dtype, a["w"].shape, type(a["b"]), type(b), ...)

which costs a fifth of looking at the arguments one by one. Where a call is not of these kinds, the key is
another one, or an exception; then it takes the long way.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterator
from typing import Any

import numpy as np

from ..containers import LEAVES, kind_of
from ..core.on_devices import is_on_device

MOST_PARTS = 4000
MOST_KEYS = 4096
BY_TYPE = frozenset({float, complex, np.float64, np.float32, np.complex128, np.complex64})
WHOLE = frozenset({int, np.bool_, *(np.dtype(code).type for code in "bBhHiIlLqQ")})
BY_VALUE = frozenset({bool, str, type(None)})
Pattern = tuple[str, ...]


class Quick:
    """Functions of calls by position. `valued` are the paths of integers whose value counts; `follow` is told of keys,
    for how many arguments they are, and of their tables."""

    def __init__(self) -> None:
        self.patterns: dict[int, tuple[Pattern, dict[Any, Any]]] = {}
        self.find: dict[int, Callable[..., Any]] = {}
        self.follow: Callable[[str, int, dict[Any, Any]], None] | None = None

    def add(self, args: tuple[Any, ...], names: list[str], valued: Container[str], function: Any) -> None:
        """Notes the function for calls like this one, if it is of kinds that have a key."""
        try:
            pattern = tuple(part for k, arg in enumerate(args) for part in _parts(arg, f"a{k}", names[k], valued))
        except _NoKey:
            return
        known, table = self.patterns.get(len(args), (None, {}))
        find = self.find.get(len(args))          # other threads may clear this at any time
        if find is None or known != pattern or len(table) >= MOST_KEYS:
            if len(pattern) > MOST_PARTS:
                return
            table = {}
            self.patterns[len(args)] = pattern, table
            find = self.find[len(args)] = _lookup(pattern, len(args), table)
            if self.follow is not None and args:
                self.follow("".join(f"{part}, " for part in pattern), len(args), table)
        find(*args, noted=function)

    def clear(self) -> None:
        for _, table in self.patterns.values():
            table.clear()
        self.patterns.clear()
        self.find.clear()


class _NoKey(Exception):
    """An argument that no part of a key stands for."""


def _parts(arg: Any, way: str, path: str, valued: Container[str]) -> Iterator[str]:
    """Expressions that tell this argument from others that take another function."""
    kind: Any = type(arg)
    if hasattr(kind, "layout"):                  # what lies on several devices
        yield from (f"type({way})", f"{way}.layout")
    elif is_on_device(arg):
        yield from (f"type({way})", f"{way}._kind")
    elif (kind is np.ndarray or kind.__module__ == "cupy") and getattr(arg, "ndim", 0):
        yield from (f"type({way})", f"{way}.dtype", f"{way}.shape")
    elif kind in BY_VALUE or kind in WHOLE and path in valued:
        yield from (f"type({way})", way)
    elif kind in WHOLE or kind in BY_TYPE and path not in valued:
        yield f"type({way})"
    elif kind in (dict, list, tuple) or hasattr(kind, "_fields"):
        yield from (f"type({way})", f"tuple({way})" if kind is dict else f"len({way})")
        for accessor, child in _children(arg, kind):
            yield from _parts(child, way + accessor, path + accessor, valued)
    elif kind.__hash__ is object.__hash__ and kind_of(kind) is LEAVES:
        yield way                                # an object that is equal to itself alone
    else:
        raise _NoKey


def _children(arg: Any, kind: type) -> Iterator[tuple[str, Any]]:
    found = kind_of(kind)
    if found is LEAVES:
        raise _NoKey
    static, children = found.split(arg)
    children = list(children)
    return zip(found.accessors(static, len(children)), children)


def _lookup(pattern: Pattern, count: int, table: dict[Any, Any]) -> Callable[..., Any]:
    """`lambda a0, a1: table.get(key)`, which notes what it is given as `noted`."""
    names = [f"a{k}" for k in range(count)]
    key = ast.Tuple([ast.parse(part, mode="eval").body for part in pattern], ast.Load())
    get = ast.parse("table.get(key) if noted is None else table.setdefault(key, noted)", mode="eval").body
    for call in (get.body, get.orelse):                                   # type: ignore[attr-defined]
        call.args[0] = key
    nothing: list[ast.expr | None] = [ast.Constant(None)]
    given = ast.arguments([], [ast.arg(name) for name in names], None, [ast.arg("noted")], nothing, None, [])
    tree = ast.fix_missing_locations(ast.Expression(ast.Lambda(given, get)))
    made: Callable[..., Any] = eval(compile(tree, "<key>", "eval"), {"table": table})
    return made
