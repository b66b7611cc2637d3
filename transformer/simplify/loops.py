"""Loops: carries that stay zero or are twins, records of what was recorded before, rows that are all alike.

>>> from .examples import shown
>>> shown(loops, '''
... function f(n_1: int, x: f64, us: f64)
...     loop i: int in n_1
...         carry a: f64 = x
...         carry b: f64 = x
...         body
...             t: f64 = multiply(a, b)
...         next c: f64 = t
...         next d: f64 = t
...         record ts: Seq[f64] = t
...     loop j: int in n_1 down
...         carry s: f64 = 0.0
...         read u: f64 = ts
...         body
...             v: f64 = add(s, u)
...         next w: f64 = v
...         record vs: Seq[f64] = u
...     loop k: int in n_1
...         carry p: f64 = w
...         read q: f64 = vs
...         body
...             r: f64 = multiply(q, d)
...         next z: f64 = r
...     return z
... ''')
function f(n_1: int, x: f64, us: f64)
    loop i: int in n_1
        carry a: f64 = x
        body
            t: f64 = multiply(a, a)
        next c: f64 = t
        record ts: Seq[f64] = t
    loop j: int in n_1 down
        carry s: f64 = 0.0
        read u: f64 = ts
        body
            v: f64 = add(s, u)
        next w: f64 = v
    loop k: int in n_1
        carry p: f64 = w
        read q: f64 = ts
        body
            r: f64 = multiply(q, c)
        next z: f64 = r
    return z
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from ..core.grammar import Atom, Carry, Const, Function, Let, Loop, Record, Var
from ..core.guards import Assumptions
from ..core.walk import atom_vars, free_vars, inner_targets, targets_of
from ..ops.regions import Slot
from ..ops.shape import Copy
from .aliasing import Aliasing
from .rewriter import Rewriter, array_type, same_atom

FILLED = "zeros", "ones", "full"


def loops(function: Function, assumptions: Assumptions) -> bool:
    """Simplifies what loops carry and record, in place; says whether anything changed."""
    return Loops(function, assumptions).run()


class Loops(Rewriter):
    """`zeros` has the statements that make zeros; `lengths` how many items a sequence has; `alike` by what the
    arrays are made of which a loop records nothing else; `rows_of` of which array it records each row; `after` what is
    to stand behind a loop."""

    def __init__(self, function: Function, assumptions: Assumptions) -> None:
        super().__init__(function, assumptions)
        self.zeros: dict[Any, Let] = {}
        self.lengths: dict[Any, Atom | None] = {}
        self.alike: dict[Any, Let] = {}
        self.rows_of: dict[Any, Var] = {}
        self.after: dict[Loop, list[Let]] = defaultdict(list)

    def let(self, stmt: Let) -> None:
        if stmt.op.name == "stacked" and stmt.args[0] in self.rows_of and self._put_together(stmt):
            return
        if stmt.op.name == "stacked" and stmt.args[0] in self.alike:
            made = self.alike[stmt.args[0]]
            stmt.op, stmt.args, stmt.attrs = made.op, made.args, {**made.attrs, "shape": array_type(stmt.target).sizes}
            self.changed = True
        if stmt.op.name == "zeros":
            self.zeros[stmt.target] = stmt
        self.out.append(stmt)

    def _put_together(self, stmt: Let) -> bool:
        """All rows of an array are a copy of it; says whether the very array has taken their place."""
        array, target = self.rows_of[stmt.args[0]], stmt.target
        aliasing = Aliasing(self.function)
        if not self.same_type(array.type, target.type) or array in aliasing.written:
            return False
        self.changed = True
        if not aliasing.may_stand(target, array, moved=False):
            stmt.op, stmt.args, stmt.attrs = Copy, (array,), {}
            return False
        self.replace(target, array)
        return True

    def before_loop(self, stmt: Loop) -> None:
        self._join_twins(stmt)
        own = {s.target: s for s in stmt.body if isinstance(s, Let) and s.op.name == "zeros"}
        for carry in list(stmt.carries):
            if carry.next in own and (carry.init in self.zeros or _is_replaced(stmt, carry)):
                self._stays_zero(stmt, carry, own[carry.next])               # type: ignore[index]

    def _join_twins(self, stmt: Loop) -> None:
        """Two carries that begin alike and go on alike are one."""
        seen: dict[Any, Carry] = {}
        for carry in list(stmt.carries):
            first = seen.setdefault((_key(carry.init), _key(self.atom(carry.next))), carry)
            if first is not carry and self.same_type(first.entry.type, carry.entry.type):
                self.replace(carry.entry, first.entry)
                self.replace(carry.out, first.out)
                stmt.carries.remove(carry)

    def _stays_zero(self, stmt: Loop, carry: Carry, zeros: Let) -> None:
        """A carry that is zero at first, or never looked at, and zero later: zeros where they are needed."""
        if any(atom_vars(zeros.attrs)) or not self.same_type(carry.entry.type, zeros.target.type):
            return
        inside, outside = (self._again(zeros, var) for var in (carry.entry, carry.out))
        stmt.body.insert(0, inside)
        self.after[stmt].append(outside)
        self.replace(carry.entry, inside.target)
        self.replace(carry.out, outside.target)
        stmt.carries.remove(carry)

    def _again(self, zeros: Let, var: Var) -> Let:
        target = Var(zeros.target.type, var.name)
        return Let((target,), zeros.op, (), dict(zeros.attrs), zeros.origin)

    def after_loop(self, stmt: Loop) -> None:
        trips = stmt.count if stmt.cond is not None else stmt.trips
        sources = {read.target: read.source for read in stmt.reads}
        lets = [inner for inner in stmt.body if isinstance(inner, Let)]
        made = {inner.target: inner for inner in lets if inner.op.name in FILLED}
        rows: dict[Any, Atom] = {row.target: row.args[0] for row in lets if _is_row(row, stmt)}
        for record in list(stmt.records):
            self.lengths[record.target] = trips
            if record.value in rows:
                self.rows_of[record.target] = rows[record.value]                 # type: ignore[assignment]
            if record.value in made and all(isinstance(arg, Const) for arg in made[record.value].args):  # type: ignore
                self.alike[record.target] = made[record.value]                                          # type: ignore
            source = sources.get(record.value)                               # type: ignore[arg-type]
            if source is not None and self._is_copy(record, source, trips):
                self.replace(record.target, source)
                stmt.records.remove(record)
        self.out.append(stmt)
        self.out += self.after.pop(stmt, [])

    def _is_copy(self, record: Record, source: Atom, trips: Atom | None) -> bool:
        """Whether a record of what is read is the sequence that it is read from."""
        length = self.lengths.get(source)
        return (length is not None and trips is not None and same_atom(length, trips)
                and record.target.type == source.type)                       # type: ignore[union-attr]


def _is_row(stmt: Let, loop: Loop) -> bool:
    """Whether a statement takes the row of an array at the position of a loop that is not left."""
    if stmt.op.name != "get" or stmt.args[1:] != (loop.position,) or loop.cond is not None:
        return False
    first, *others = stmt.attrs["index"]
    made_here = {*inner_targets(loop), *(target for inner in loop.body for target in targets_of(inner))}
    return first == Slot(0) and stmt.args[0] not in made_here and all(each == slice(None) for each in others)


def _is_replaced(loop: Loop, carry: Carry) -> bool:
    """Whether what a carry begins with is never seen: by no iteration, and not behind the loop, which runs."""
    runs = isinstance(loop.trips, Const) and loop.trips.value > 0 and loop.cond is None
    handed = atom_vars([*(other.next for other in loop.carries), *(record.value for record in loop.records)])
    return runs and carry.entry not in free_vars(loop.body, handed)


def _key(atom: Atom) -> Any:
    return ("constant", atom.type, repr(atom.value)) if isinstance(atom, Const) else atom
