"""Numbers in print: by the name that the user gave them, or by their value.

A name with a dot is an expression (`np.pi`). Others are variables: of the function itself, which then
begins with `dt = 0.01`, or of its module, which then has `LR = 0.1` at its top. A name that also stands
for something else is not used.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.grammar import Block, Const, Function, Let, type_of
from ..core.headings import reverse_from
from ..core.types import BOOL, INT, ArrayType
from ..core.walk import all_definitions, all_statements
from ..ops.value import is_python, is_weak
from .names import PRINTED
from .numbers import number, number_class

WIDE = frozenset("float64 int64 bool complex128".split())
WIDE_INEXACT = frozenset({"float64", "complex128"})
EXACT = ("power", "left_shift")       # of Python's integers these have no bounds


def _rows_as_python(function: Function, only_wide: bool) -> str:
    """The kinds of Python's numbers that have to be Python's again when they are read from storage: NumPy's
    widen narrow arrays, its truth values do not add up, its integers overflow and take no negative power."""
    kinds = "" if only_wide else "fic"
    for stmt in all_statements(function.body):
        if isinstance(stmt, Let) and is_python(stmt.attrs.get("spelling")):
            if not all(is_weak(type_of(atom)) for atom in stmt.args):
                continue
            types = {type_of(atom) for atom in stmt.args}
            adds_truth = types == {BOOL} and stmt.target.type != BOOL and stmt.op.name != "cast"
            kinds += "bfi" if adds_truth else "i" if types == {INT} and stmt.op.name in EXACT else ""
    return kinds


class Constants:
    """The numbers of one function; remembers which names it used."""

    def __init__(self, function: Function, interface: Any) -> None:
        variables = [*function.params, *all_definitions(function.body)]
        forward = [*function.params, *all_definitions(_forward_sweep(function.body))]
        self.taken = {var.name for var in forward}
        dtypes = {var.type.dtype for var in variables if isinstance(var.type, ArrayType)}
        dtypes |= {const.type.dtype for const in _operands(function.body)}
        self.only_wide = all(dtype.name in WIDE for dtype in dtypes)
        self.rows_as_python = _rows_as_python(function, self.only_wide)
        self.inside = _names_bound_inside(interface)
        self.ambiguous = _ambiguous(function)
        self.local: dict[str, Const] = {}
        self.shared: dict[str, Const] = {}

    def tree(self, const: Const, settled: bool = False) -> ast.expr:
        """A number; `settled` says that its dtype is plain from what stands beside it."""
        if const.name is not None:
            named = self._named(const)
            if named is not None:
                return named
        return self.literal(const, settled)

    def _named(self, const: Const) -> ast.expr | None:
        name = const.name
        assert name is not None
        if not name.isidentifier():
            return ast.parse(name, mode="eval").body
        if name in self.taken or name in self.ambiguous or name in PRINTED:
            return None
        home = self.local if self._is_local(name) else self.shared
        known = home.setdefault(name, const)
        same = type(known.value) is type(const.value) and known.value == const.value
        return ast.Name(name) if same else None

    def _is_local(self, name: str) -> bool:
        return name in self.inside if self.inside is not None else not name.isupper()

    def literal(self, const: Const, settled: bool = False) -> ast.expr:
        """The number itself, as a NumPy number if it must not take on another dtype."""
        value = const.value.item() if isinstance(const.value, np.generic) else const.value
        dtype = const.type.dtype
        plain = const.type.weak or settled or dtype.kind == "b" or self.only_wide and dtype.name in WIDE_INEXACT
        if isinstance(value, int) and not isinstance(value, bool) and dtype.kind in "fc":
            value = dtype.type(value).item()
        if isinstance(value, float) and not const.type.weak and dtype.kind == "f":
            value = float(str(dtype.type(value)))                            # its own shortest digits
        if plain:
            return number(value)
        return ast.Call(number_class(dtype), [number(value)], [])


def _operands(body: Block) -> Iterator[Const]:
    """The numbers that are operands."""
    for stmt in all_statements(body):
        for atom in stmt.args if isinstance(stmt, Let) else ():
            if isinstance(atom, Const):
                yield atom


def _ambiguous(function: Function) -> set[str]:
    """The names that stand for several numbers, such as those of two modules."""
    values: dict[str, set[str]] = {}
    for const in _operands(function.body):
        if const.name is not None:
            values.setdefault(const.name, set()).add(repr(const.value))
    return {name for name, found in values.items() if len(found) > 1}


def _forward_sweep(body: Block) -> Block:
    """The statements before the reverse sweep, whose variables may be given other names."""
    return body[:reverse_from(body)]


def _names_bound_inside(interface: Any) -> set[str] | None:
    """The names that the user's function binds itself; None if its source is not known."""
    code = getattr(getattr(getattr(interface, "source", None), "function", None), "__code__", None)
    return set(code.co_varnames) | set(code.co_cellvars) if code is not None else None
