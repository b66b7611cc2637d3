"""Derivatives that a loop hands on are multiplied once in an iteration: what they are multiplied by does not wait for
them.

    dx = dx * (1 - x) * r - dx * (r * x)        →       dx = dx * ((1 - x) * r - r * x)

Tangents and cotangents are linear in those before, and such a loop takes the time of what lies between the two. Only
tangents, and sweeps that run down, are looked at: in a program of its own, `(t - s) - y` may be there for what is
rounded away.
"""

from __future__ import annotations

from typing import Any

from ...core.grammar import Atom, Carry, Const, Let, Loop, Var
from ...core.types import ArrayType
from ...core.walk import atom_vars
from ...ops.arithmetic import Add, Divide, Multiply, Negative, Subtract
from ...ops.identity import Same
from ..nest.nest_walk import is_float, statements, uses_after, uses_before
from ..nest.nests import Block

MOST_ADDED = 12                        # statements for one number


def shortened(block: Block) -> Block:
    """The block with short chains in loops that hand on derivatives."""
    for stmt in statements(block):
        if isinstance(stmt, Loop):
            for carry in stmt.carries:
                if is_float(carry.entry) and (stmt.down or carry.entry.primal is not None):
                    _shorten(stmt, carry)
    return block


def _shorten(loop: Loop, carry: Carry) -> None:
    made = {stmt.target: stmt for stmt in loop.body if isinstance(stmt, Let) and len(stmt.targets) == 1}
    form = _Form(carry.entry, made)
    length = form.length(carry.next)
    if length is None or length < 2:
        return
    form.others = _resting_on(loop, carry, made)
    value = form.direct(carry.next)
    if value is not None and len(form.added) <= MOST_ADDED and value[1] < length:
        body: Block = loop.body
        body += form.added
        carry.next = value[0]


def _resting_on(loop: Loop, carry: Carry, made: dict[Var, Let]) -> set[Var]:
    """The other numbers that rest on one that is handed on, sooner or later."""
    found, before = {carry.entry}, set[Var]()
    while len(found) > len(before):
        before = set(found)
        found |= {each.entry for each in loop.carries if _rests_on(each.next, before, made)}
    return {var for var in found if var is not carry.entry and is_float(var)}


def _rests_on(atom: Atom, goals: set[Var], made: dict[Var, Let]) -> bool:
    """Whether a number is computed from one of others."""
    waiting, seen = atom_vars(atom), set[Var]()
    while waiting:
        var = waiting.pop()
        if var in goals:
            return True
        if var in made and var not in seen:
            waiting += uses_before(made[var])
        seen.add(var)
    return False


ONE = "one"                            # the coefficient of the number itself
Parts = tuple[Any, Any]                # of `coefficient * number + rest`; None where there is nothing


class _NotLinear(Exception):
    pass


class _Form:
    """Numbers of an iteration as linear functions of the one that it begins with; `others` rest on that as well."""

    def __init__(self, entry: Var, made: dict[Var, Let]) -> None:
        self.entry, self.made = entry, made
        self.others: set[Var] = set()
        self.added: list[Let] = []
        self.known: dict[Any, Parts] = {}
        self.lengths: dict[Any, int | None] = {}

    def length(self, atom: Any) -> int | None:
        """How many operations lie between the number and another one; None where it is not needed for that."""
        if atom is self.entry:
            return 0
        if atom not in self.lengths:
            stmt = self.made.get(atom) if isinstance(atom, Var) else None
            before = [self.length(var) for var in uses_before(stmt)] if stmt is not None else []
            step = stmt is not None and stmt.op is not Same
            self.lengths[atom] = max((k + step for k in before if k is not None), default=None)
        return self.lengths[atom]

    def direct(self, atom: Atom) -> tuple[Atom, int] | None:
        """A number computed from its parts, and by how many operations; None if it is not linear, or rests on what is
        made of others that rest on it."""
        try:
            coefficient, rest = self._parts(atom)
            value = None if coefficient is None else self.applied(Multiply, self.entry, coefficient)
            if value is None or rest is None:
                return None if value is None else (value, 1)
            return self.applied(Add, value, rest), 2
        except _NotLinear:
            return None

    def _parts(self, atom: Any) -> Parts:
        if atom is self.entry:
            return ONE, None
        if atom in self.others:                                          # as it is, it may be added
            return None, atom
        if self.length(atom) is None:
            self._require_alone(atom)
            return None, atom
        if atom not in self.known:
            self.known[atom] = self._computed(self.made[atom])
        return self.known[atom]

    def _require_alone(self, atom: Any) -> None:
        """Nothing else that rests on the number may be in it."""
        stmt = self.made.get(atom) if isinstance(atom, Var) else None
        for var in (*uses_before(stmt), *uses_after(stmt)) if stmt is not None else ():
            if var in self.others:
                raise _NotLinear
            self._require_alone(var)

    def _computed(self, stmt: Let) -> Parts:
        args = list(map(self._parts, stmt.args))
        if stmt.op is Same:
            return args[0]
        if stmt.op is Negative:
            return self._each(Negative, args[0])
        if stmt.op in (Add, Subtract):
            (a, b), (c, d) = args
            return self._joined(stmt.op, a, c, True), self._joined(stmt.op, b, d, False)
        if stmt.op is Multiply and args[0][0] is None:
            args = args[::-1]
        if stmt.op in (Multiply, Divide) and args[1][0] is None:
            return self._each(stmt.op, args[0], args[1][1])
        raise _NotLinear

    def _each(self, op: Any, parts: Parts, *by: Any) -> Parts:
        """Both parts, negated, or multiplied or divided by a number."""
        return tuple(None if part is None else self.applied(op, part, *by) for part in parts)   # type: ignore[return-value]

    def _joined(self, op: Any, left: Any, right: Any, are_coefficients: bool) -> Any:
        """A sum or difference of parts. Coefficients that are all numbers of the text may be there to cancel."""
        if right is None:
            return left
        if left is None:
            return right if op is Add else self.applied(Negative, right)
        if are_coefficients and all(part is ONE or isinstance(part, Const) for part in (left, right)):
            raise _NotLinear
        return self.applied(op, left, right)

    def applied(self, op: Any, *args: Any) -> Any:
        """The result of an operation, which is added to the iteration."""
        type: Any = ArrayType(self.entry.type.dtype)                     # type: ignore[union-attr]
        if op is Multiply and ONE in args:
            return next(arg for arg in args if arg is not ONE)
        atoms = tuple(Const(type.dtype.type(1), type) if arg is ONE else arg for arg in args)
        if any(isinstance(atom, Var) and atom.type.dtype != type.dtype for atom in atoms):   # type: ignore[union-attr]
            raise _NotLinear
        target = Var(type)
        self.added.append(Let((target,), op, atoms, {}, None))
        return target
