"""How a counted loop runs: `for i in range(start, stop, step)`, and for which variable.

A loop of Core runs over positions 0..trips-1. Where its body begins with ``i = start + step * position``
and looks at the position nowhere else, the loop runs over ``i`` itself:

    for k in range(n - 1):                    for i in range(1, n):
        i = k + 1                 becomes         y[i] = x[i - 1]
        y[i] = x[i - 1]
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..core.equations import of_range
from ..core.grammar import Atom, Const, Function, Let, Loop, Stmt, Var, type_of
from ..core.sizes import Extent, Floor, Greatest, Size, Unknown, replaced
from ..core.types import ArrayType
from ..core.walk import all_definitions, all_statements, atom_vars, head_uses, tail_uses
from ..ops.integers import POLYNOMIAL, combined

LOOKED_AT = 8  # statements at the start of a body that may make up its index
SEEN_THROUGH = 6  # integer statements followed from a trip count


@dataclass(slots=True)
class Range:
    """`for variable in range(start, stop, step)`. The position is `(variable - shift) * scale`; `index`
    are the statements of the body that computed `variable` from it and are not needed any more."""

    variable: Var
    start: Extent
    stop: Extent | Const
    step: int
    shift: Extent = 0
    scale: int = 1
    count: Extent | Const = 0
    index: tuple[Let, ...] = ()

    @property
    def place(self) -> Extent:
        """The position, told from the variable."""
        return (Size.of(Unknown(self.variable)) - self.shift) * self.scale


def ranges(function: Function) -> dict[Stmt, Range]:
    """The range of every counted loop of a function."""
    statements = list(all_statements(function.body))
    lets = {let.target: let for let in statements if isinstance(let, Let) and let.targets}
    return {stmt: _range(stmt, lets) for stmt in statements if isinstance(stmt, Loop) and stmt.trips is not None}


def _range(loop: Any, lets: dict[Var, Let]) -> Range:
    index = index_of(loop)
    if isinstance(loop.trips, Const) and loop.trips.name is not None and index is None:
        if not getattr(loop, "down", False):
            return Range(loop.position, 0, loop.trips, 1, count=loop.trips)
    trips = seen_through(loop.trips, lets)
    if index is None:
        return _directed(loop, Range(loop.position, 0, 0, 1), trips)
    chain, start, step = index
    start = _seen_through(start, lets)
    form = Range(chain[-1].target, start, 0, step, start, step, index=tuple(chain))
    return _directed(loop, form, trips)


def seen_through(trips: Atom, lets: dict[Var, Let]) -> Extent:
    """A number of trips in terms of named integers."""
    return _seen_through(extent_of(trips, lets), lets)


def _seen_through(size: Extent, lets: dict[Var, Let]) -> Extent:
    """A size in terms of named integers, so that a start and a number of trips meet in `n`."""
    return replaced(size, lambda leaf: extent_of(leaf.var, lets) if isinstance(leaf, Unknown) else None)


def _directed(loop: Any, form: Range, trips: Extent) -> Range:
    """Fills in `stop`, and turns the range round for a loop that runs down."""
    start, step = form.start, form.step
    form.count = of_range(trips)
    if getattr(loop, "down", False):
        last = start + step * (of_range(trips) - 1)
        form.start, form.stop, form.step = last, start - step, -step
    else:
        form.stop = _stop(start, step, trips)
    return form


def _stop(start: Extent, step: int, trips: Extent) -> Extent:
    """The end that a person would write: `(n + 1) // 2` trips by 2 end at `n`."""
    trips = of_range(trips)
    if isinstance(trips, Size) and len(trips.terms) == 1 and abs(step) > 1:
        ((monomial, count),) = trips.terms.items()
        atom = monomial[0] if count == 1 and len(monomial) == 1 else None
        if isinstance(atom, Floor) and atom.denominator == abs(step):
            covered = atom.numerator - abs(step) + 1
            return start + covered if step > 0 else start - covered
    return start + trips * step


def index_of(loop: Any) -> tuple[list[Let], Extent, int] | None:
    """The statements that compute the loop's index from its position, its start and its step."""
    known: dict[Var, Extent] = {loop.position: Size.of(Unknown(loop.position))}
    chain: list[Let] = []
    for stmt in loop.body[:LOOKED_AT]:
        value = _combined(stmt, known) if isinstance(stmt, Let) else None
        if value is not None:
            known[stmt.target] = value
        if value is not None and Unknown(loop.position) in _leaves(value):
            chain.append(stmt)
            if chain[-1].target.name is not None:
                break
    return _accepted(loop, chain, known)


def _accepted(loop: Any, chain: list[Let], known: dict[Var, Extent]) -> tuple[list[Let], Extent, int] | None:
    if not chain or chain[-1].target.name is None:
        return None
    value = known[chain[-1].target]
    start = replaced(value, lambda leaf: 0 if leaf == Unknown(loop.position) else None)
    own = value - start
    step = own.terms.get((Unknown(loop.position),)) if isinstance(own, Size) else None
    only = own == Size.of(Unknown(loop.position)) * (step or 0)
    told = abs(step or 0) == 1 and loop.position.name in (None, "_")
    if step is None or not only or not _is_outer(start, loop) or _is_used_elsewhere(loop, chain, told):
        return None
    return None if abs(step) != 1 and (loop.reads or loop.records) else (chain, start, step)


def _is_outer(start: Extent, loop: Any) -> bool:
    inside = set(all_definitions([loop]))
    return not any(isinstance(leaf, Unknown) and leaf.var in inside for leaf in _leaves(start))


def _is_used_elsewhere(loop: Any, chain: list[Let], told: bool) -> bool:
    """Whether the position, or a step on the way to the index, is used by other statements; with
    `told`, the position may be, as it can be told from the index: `i - 1`."""
    hidden = {let.target for let in chain[:-1]} | (set() if told else {loop.position})
    others: Iterable[Var] = (
        var for stmt in (*getattr(loop, "test", ()), *loop.body) if stmt not in chain for var in _printed_uses(stmt)
    )
    ends = [
        getattr(loop, "cond", None),
        *(c.next for c in getattr(loop, "carries", ())),
        *(r.value for r in loop.records),
    ]
    return any(var in hidden for var in others) or any(end in hidden for end in ends if isinstance(end, Var))


def _printed_uses(stmt: Stmt) -> Iterable[Var]:
    """What a statement uses in print: how large the part is that an index takes does not show there, but
    storage is made as large as what it keeps."""
    from .demand import printed_attrs

    for inner in all_statements([stmt]):
        if isinstance(inner, Let):
            yield from atom_vars((inner.args, printed_attrs(inner)))
            continue
        yield from (*head_uses(inner), *tail_uses(inner))
        for record in getattr(inner, "records", ()):
            yield from atom_vars(getattr(type_of(record.value), "sizes", ()))


def _combined(let: Let, known: dict[Var, Extent]) -> Extent | None:
    """What a statement computes, as a size, if it is integer arithmetic on numbers, sizes and variables."""
    if not is_integer(let.target) or "spelling" in let.attrs:
        return None
    operands = [_operand(atom, known) for atom in let.args]
    if any(operand is None for operand in operands):
        return None
    return combined(let, operands) if let.op.name in POLYNOMIAL else None


def _operand(atom: Atom, known: dict[Var, Extent]) -> Any:
    if isinstance(atom, Const):
        return atom.value if type(atom.value) is int and atom.name is None else None
    if isinstance(atom, Var):
        return known.get(atom, Size.of(Unknown(atom))) if is_integer(atom) else None
    return atom if isinstance(atom, Size) else None


def _leaves(value: Extent) -> set[Any]:
    from ..core.sizes import leaves

    return set(leaves(value))


def is_integer(var: Var) -> bool:
    """Whether a variable is a Python integer, or a 64-bit one that stands for it."""
    type = var.type
    return isinstance(type, ArrayType) and not type.sizes and type.dtype == "int64"


def extent_of(atom: Atom, lets: dict[Var, Let], depth: int = SEEN_THROUGH) -> Extent:
    """An integer as a size, seen through unnamed statements: `max(b - a, 0)` of named `a` and `b`."""
    if isinstance(atom, Const):
        return int(atom.value)
    if isinstance(atom, Size):
        return atom
    assert isinstance(atom, Var), atom
    let = lets.get(atom)
    if let is None or atom.name is not None or not depth or not is_integer(atom):
        return Size.of(Unknown(atom))
    if not all(isinstance(arg, (Const, Size)) or isinstance(arg, Var) and is_integer(arg) for arg in let.args):
        return Size.of(Unknown(atom))
    value = _seen(let, [extent_of(arg, lets, depth - 1) for arg in let.args])
    return Size.of(Unknown(atom)) if value is None else value


def _seen(let: Let, operands: list[Extent]) -> Extent | None:
    match let.op.name, operands:
        case "add", [left, right]:
            return left + right
        case "subtract", [left, right]:
            return left - right
        case "multiply", [left, int(right)]:
            return left * right
        case "maximum" | "max", [left, 0]:
            return Size.of(Greatest(left, 0)) if isinstance(left, Size) else max(left, 0)
        case "maximum" | "max", [0, right]:
            return Size.of(Greatest(right, 0)) if isinstance(right, Size) else max(right, 0)
        case "floor_divide", [left, int(right)] if right > 0:
            return left // right
        case "same", [only]:
            return only
    return None
