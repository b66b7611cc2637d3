"""Def-use tables, and whether a number may stand for a variable wherever that is used."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ..core.errors import TransformError
from ..core.grammar import Atom, Const, Function, Let, Stmt, Var, type_of
from ..core.halves import finfo, promoted
from ..core.types import INT, ArrayType
from ..core.walk import all_definitions, all_statements, atom_vars, head_uses, tail_uses
from ..ops.value import hands_on

# With Python numbers these give what they give with NumPy's: none of them raises.
ALIKE = {"add", "subtract", "multiply", "negative", "same"}
ARITHMETIC = {"add", "subtract", "multiply", "divide"}
PLAIN = (int, str, bool, float, type(None))


class Uses:
    """Which statements mention a variable, once for each mention; None stands for the results."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.users: dict[Var, list[Stmt | None]] = defaultdict(list)
        for stmt in all_statements(function.body):
            if type(stmt) is Let:
                self._let(stmt)
                continue
            for var in (*head_uses(stmt), *tail_uses(stmt)):
                self.users[var].append(stmt)
        for var in atom_vars(function.results):
            self.users[var].append(None)
        self.counts = {var: len(users) for var, users in self.users.items()}

    def _let(self, stmt: Let) -> None:
        for atom in stmt.args:
            if type(atom) is Var:
                self.users[atom].append(stmt)
            elif type(atom) is not Const:
                for var in atom_vars(atom):
                    self.users[var].append(stmt)
        for value in stmt.attrs.values():
            if type(value) not in PLAIN:
                for var in atom_vars(value):
                    self.users[var].append(stmt)

    @cached_property
    def has_narrow(self) -> bool:
        """Whether there are floating point numbers narrower than Python's: they decide the dtype of what they give
        with those of Python, and not of what they give with float64."""
        variables = [*self.function.params, *all_definitions(self.function.body)]
        types = (var.type for var in variables if isinstance(var.type, ArrayType))
        return any(type.is_inexact and finfo(type.dtype).bits < 64 for type in types)

    def once(self, var: Var) -> bool:
        """Whether a variable is mentioned exactly once."""
        return self.counts.get(var) == 1

    def move(self, old: Var, new: Atom) -> None:
        """Counts the mentions of `old` (but for its definition's own) as mentions of `new`."""
        if isinstance(new, Var):
            self.counts[new] = self.counts.get(new, 0) + self.counts.get(old, 0)


def number_for(var: Var, atom: Atom, uses: Uses, gone: Mapping[Any, Atom]) -> Atom | None:
    """What stands for the NumPy number `var` when its value is the Python number `atom`; else None.

    A Python number is as wide as what it meets, so it may stand only where every use keeps its
    dtype: a float64 may have met an array of float32. Where the NumPy number is rounded, every use has
    to round the Python number to the same dtype. A constant may stand elsewhere too, as a NumPy number.
    `gone` are the variables for which something else stands by now.
    """
    own, wanted = type_of(atom), var.type
    if not isinstance(wanted, ArrayType) or not isinstance(own, ArrayType):
        return None
    if wanted.sizes or own.sizes or not own.weak:
        return None
    if wanted.dtype.kind != own.dtype.kind:
        if not (isinstance(atom, Const) and own.dtype.kind == "i" and wanted.dtype.kind == "f"):
            return None
        atom = Const(float(atom.value), name=atom.name)
    if not wanted.is_inexact:
        return None
    users = _users_with(var, type_of(atom), uses, gone)
    if all(_keeps(user, types, uses) for user, types in users) and (
            _is_exact(atom, wanted.dtype) or all(_rounds(user, types, wanted.dtype) for user, types in users)):
        return atom
    plain = isinstance(atom, Const) and atom.name is None
    return Const(wanted.dtype.type(atom.value)) if plain else None           # type: ignore


def _is_exact(atom: Atom, dtype: Any) -> bool:
    """Whether a number is the same in another dtype of its kind."""
    if not isinstance(atom, Const):
        return type_of(atom).dtype == dtype                                  # type: ignore[union-attr]
    with np.errstate(all="ignore"):
        return bool(atom.value == dtype.type(atom.value).item())


def _users_with(var: Var, type: Any, uses: Uses, gone: Mapping[Any, Atom]) -> list[tuple[Stmt | None, list[Any]]]:
    """Who mentions `var`, and the types of their operands when `var` has this one."""
    return [(user, [type if atom is var else type_of(gone.get(atom, atom)) for atom in user.args]
             if isinstance(user, Let) else []) for user in uses.users[var]]


def _rounds(user: Stmt | None, types: list[Any], dtype: Any) -> bool:
    """Whether a statement computes in this dtype, as nothing that it is given is wider."""
    kinds = "iufc" if user.op.elementwise else "fc"                          # type: ignore[union-attr]
    met = [type.dtype for type in types if not getattr(type, "weak", True) and type.dtype.kind in kinds]
    return promoted((dtype, *met)) == dtype


def integer_for(var: Var, uses: Uses, gone: Mapping[Any, Atom]) -> bool:
    """Whether a Python integer may stand for the float `var`: each use is arithmetic with a floating point operand,
    which makes a float of it all the same, and of the same dtype."""
    for user, types in _users_with(var, INT, uses, gone):
        if not isinstance(user, Let) or user.op.name not in ARITHMETIC:
            return False
        if not any(type.dtype.kind in "fc" for type in types):
            return False
        if not getattr(var.type, "weak", False) and not _keeps(user, types, uses):
            return False
    return True


def _keeps(user: Stmt | None, types: list[Any], uses: Uses) -> bool:
    """Whether a statement's results keep their dtypes for operands of these types, and what they give with others."""
    if not isinstance(user, Let) or user.op.of_sequences or hands_on(user):
        return False
    if all(getattr(each, "weak", False) for each in types) and (user.op.name not in ALIKE or uses.has_narrow):
        return False
    try:
        found = _result_types(user, types)
    except (TransformError, TypeError, ValueError, AttributeError):
        return False
    return all(new.dtype == target.type.dtype                                # type: ignore[union-attr]
               for new, target in zip(found, user.targets, strict=True))


def _result_types(stmt: Let, types: list[Any]) -> tuple[Any, ...]:
    """The types of a statement's results for operands of other types."""
    attrs = {key: value for key, value in stmt.attrs.items() if key != "spelling"}
    args = (types,) if stmt.op.variadic else tuple(types)
    with np.errstate(all="ignore"):
        found = stmt.op.types(*args, **attrs)
    return found if isinstance(found, tuple) else (found,)
