"""Algebra: each statement is tried against the rules for its op, until none applies.

>>> from .examples import shown
>>> shown(fold, '''
... function f(x: f64[n], d: f64)
...     t: f64 = multiply(1.0, d)
...     y: f64 = multiply(t, 2)
...     z: f64[n] = multiply(y, x)
...     w: f64[n] = negative(z)
...     u: f64[n] = add(x, w)
...     return u
... ''')
function f(x: f64[n], d: f64)
    y: f64 = multiply(d, 2)
    z: f64[n] = multiply(y, x)
    w: f64[n] = negative(z)
    u: f64[n] = subtract(x, z)
    return u

The rules stand in modules by subject: `neutral` (``x * 1``), `constants` (``2 * 3``), `truths`
(``1 / 3 == 0``), `signs` (``a + -b``), `quotients` (``2 * a / (2 * b)``), `lengths` (norms that are not 0),
`linear_terms` (``solve(a, x) + solve(a, y)``), `like_terms` (``d * x + 2 * d * x``), `taken_back` (``r = d * g; r * a /
g; r * b / g``), `choices` (``where(c, a, 0) + where(c, 0, b)``), `shapes` (``reshape(reshape(x))``), `unit_axes`
(``x[:, 0][:, None]``), `elements` (``x[1:][0]``), `rows` (``x[i][j]``), `updates` (``put``, ``addat``), `classes`
(``float(x) + y``), `counts` (``2 * float(k) * y``), `of_zeros` (``np.zeros((n, n)) @ q``), `wider` (``broadcast_to``),
`traces` (``sum(x * eye(n))``). A rule is a function ``(fold, stmt) -> None | CHANGED | atom``: it does not apply, it
has changed the statement, or the atom stands for the statement's result. Rules keep types and, bit by bit, values,
except that

* ``x + 0`` is `x` also where `x` is -0.0, for a zero without a name that is a Python number or was
  made by `zeros`;
* two constant factors are multiplied if they are small whole numbers or powers of two: one
  rounding instead of two, and what would have overflowed in between does not;
* ``1 / b * a`` of a derivative is ``a / b``: one rounding instead of two; ``a / b * b`` is `a`, also where b is 0 or
  infinite, as is the determinant of a large matrix in the derivative of its logarithm;
* ``e / (1 + e)`` of a derivative is ``1 - z`` where the program has ``z = 1 / (1 + e)`` for an exponential e, as
  exactly as z tells; a norm of 0 makes infinite what was nan, or the other way round;
* what a choice between two terms of a derivative does not choose adds no zero, nor a nan; nor does what a unit matrix
  takes out of a sum;
* where signs move through a sum, the zero that it may cancel to has the other sign;
* the sign of a nan is nobody's business.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from typing import Any, Self

from ..core.grammar import Atom, Const, Effect, Function, Let, Loop, Var, type_of
from ..core.guards import Assumptions
from ..core.headings import is_all_ours, is_ours
from ..core.sizes import Extent, Size, Unknown
from ..core.types import Type
from ..core.walk import all_statements, size_of_atom
from ..ops.shape import Copy
from . import (
    choices,
    classes,
    constants,
    counts,
    divisors,
    elements,
    factors,
    filled,
    lengths,
    like_terms,
    linear_terms,
    neutral,
    of_zeros,
    polar,
    powers,
    quotients,
    rows,
    scattered,
    shapes,
    signs,
    taken_back,
    traces,
    truths,
    unit_axes,
    updates,
    wider,
)
from .aliasing import Aliasing
from .changes import CHANGED, CONSTANT, SIZE
from .deciding import deciding
from .derived import derived
from .rewriter import Rewriter, array_type
from .uses import Uses, integer_for, number_for

Rule = Callable[["Fold", Let], Any]

MOST_STEPS = 20                # applications of rules to one statement in one pass


def fold(function: Function, assumptions: Assumptions) -> bool:
    """Simplifies in place by algebra; says whether anything changed."""
    return Fold(function, assumptions).run()


def _gathered() -> dict[str, list[Rule]]:
    """The rules of all modules, by the name of the op."""
    rules: dict[str, list[Rule]] = {}
    for module in (of_zeros, constants, truths, quotients, powers, polar, neutral, choices, signs, divisors, like_terms,
                   factors, linear_terms, taken_back, lengths, shapes, filled, unit_axes, elements, rows, updates,
                   classes, counts, wider, traces, scattered):
        for name, own in module.RULES.items():
            rules.setdefault(name, []).extend(own)
    return rules


RULES = _gathered()
ELEMENTWISE = (*shapes.ELEMENTWISE, *unit_axes.ELEMENTWISE, *classes.ELEMENTWISE)


@cache
def rules_of(op: Any, kinds: frozenset[str]) -> tuple[Rule, ...]:
    """The rules for statements of an op with operands of these kinds."""
    rules = (*RULES.get(op.name, ()), *(ELEMENTWISE if op.elementwise else ()))
    return tuple(rule for rule in rules if _may_apply(rule, kinds))


def _may_apply(rule: Rule, kinds: frozenset[str]) -> bool:
    needed: frozenset[str] | None = getattr(rule, "operand_kinds", None)
    return needed is None or not needed.isdisjoint(kinds)


class Fold(Rewriter):
    """`definition` has the statements already visited, `uses` who mentions a variable, `positions`
    the positions of loops. Code `is_generated` from where the reverse sweep begins to where the derivative ends, if
    the program goes on with it; before and after, it is the user's."""

    def __init__(self, function: Function, assumptions: Assumptions) -> None:
        super().__init__(function, assumptions)
        self.definition: dict[Var, Let] = {}
        self.uses = Uses(function)
        self.positions: dict[Var, Extent | None] = {}
        self.is_generated = is_all_ours(function)
        self._aliasing: Aliasing | None = None

    @classmethod
    def over(cls, function: Function, assumptions: Assumptions) -> Self:
        """One that has looked at all statements, for rewrites that ask about them."""
        fold = cls(function, assumptions)
        lets = (stmt for stmt in all_statements(function.body) if isinstance(stmt, Let))
        fold.definition = {target: stmt for stmt in lets for target in stmt.targets}
        return fold

    def effect(self, stmt: Effect) -> None:
        self.is_generated = is_ours(stmt, self.is_generated)
        super().effect(stmt)

    def before_loop(self, stmt: Loop) -> None:
        self._enter(stmt)

    def _enter(self, stmt: Loop) -> None:
        """Notes what is known of the position of a loop."""
        trips = self.positions[stmt.position] = None if stmt.trips is None else size_of_atom(stmt.trips)
        last = None if trips is None else self.assumptions.if_any(trips) - 1
        self.assumptions.ranges.setdefault(Unknown(stmt.position), (0, last))

    def let(self, stmt: Let) -> None:
        if not self._folded(stmt):
            for target in stmt.targets:
                self.definition[target] = stmt
            self.out.append(stmt)

    def _folded(self, stmt: Let) -> bool:
        """Applies rules to a statement; says whether it is gone."""
        for _ in range(MOST_STEPS):
            result = self._first_result(stmt)
            if result is None:
                return False
            self.changed = True
            if result is not CHANGED:
                self._dissolve(stmt, result)
                return True
        return False

    def _first_result(self, stmt: Let) -> Any:
        """What the first rule that applies gives."""
        for rule in self.rules(stmt):
            result = rule(self, stmt)
            if result is not None:
                return result
        return None

    def rules(self, stmt: Let) -> tuple[Rule, ...]:
        """The rules that may apply to a statement."""
        return rules_of(stmt.op, frozenset(self._kinds(stmt)))

    def _kinds(self, stmt: Let) -> list[str]:
        """What the operands of a statement are, for rules that look for one `with_operand`."""
        kinds = []
        for atom in stmt.args:
            if type(atom) is Var:
                if atom in self.definition:
                    kinds.append(self.definition[atom].op.name)
            elif type(atom) is Const:
                kinds.append(CONSTANT)
            elif type(atom) is Size:
                kinds.append(SIZE)
        return kinds

    def _dissolve(self, stmt: Let, atom: Atom) -> None:
        """Lets an atom stand for the statement's result."""
        for arg in stmt.args:
            self.mention(arg, -1)
        self.uses.move(stmt.target, atom)
        self.replace(stmt.target, atom)

    # -- what rules ask --------------------------------------------------------------------------

    @cached_property
    def deciding(self) -> set[Var]:
        return deciding(self.function)

    @cached_property
    def derived(self) -> set[Var]:
        return derived(self.function)

    @cached_property
    def moved(self) -> set[Var]:
        """What rests on a tangent that the function is given: all of it belongs to the derivative."""
        is_given = any(var.primal is not None for var in self.function.params)
        return self.derived if is_given else set()

    def is_derivative(self, stmt: Let) -> bool:
        """Whether a statement is part of the reverse sweep, or computes a tangent, not what a user wrote, and may be
        rounded otherwise, as nothing is decided by it."""
        is_ours = self.is_generated or stmt.target.primal is not None or stmt.target in self.moved
        return is_ours and self.deciding.isdisjoint(stmt.targets)

    def is_plain_derivative(self, stmt: Let, kinds: str = "fc") -> bool:
        """The same of an operator on numbers of these kinds, without anything said of how it is done."""
        return self.is_derivative(stmt) and not stmt.attrs and array_type(stmt.target).dtype.kind in kinds

    def defined_by(self, atom: Atom, *names: str) -> Let | None:
        """The statement that defines an atom, if it is one of these ops."""
        stmt = self.definition.get(atom) if type(atom) is Var else None
        return stmt if stmt is not None and stmt.op.name in names else None

    def own(self, atom: Atom, *names: str) -> Let | None:
        """The same if nothing else mentions the atom, so that its statement may be changed."""
        stmt = self.defined_by(atom, *names)
        return stmt if stmt is not None and self.uses.once(stmt.target) else None

    def is_before(self, stmt: Any) -> bool:
        """Whether a statement stands before the one at hand, in the same block."""
        return any(each is stmt for each in self.out)

    def has_type(self, atom: Atom, var: Var) -> bool:
        return self.same_type(type_of(atom), var.type)

    def instead(self, stmt: Let, atom: Atom, copies: bool = True) -> Atom | None:
        """`atom` if it may stand for the result of `stmt`. `copies` says that the op gives an array
        of its own (not a view), which the caller may rely on where it is handed out."""
        target = stmt.target
        if self.same_type(target.type, type_of(atom)):
            return atom if not copies or self._may_stand(target, atom) else None
        return number_for(target, atom, self.uses, self.mapping)

    def or_copy(self, stmt: Let, atom: Atom) -> Any:
        """`atom` in place of the result of `stmt`, or a copy of it where that has to be an array of
        its own."""
        found = self.instead(stmt, atom)
        if found is None and isinstance(atom, Var) and self.has_type(atom, stmt.target):
            return self.become(stmt, Copy, atom)
        return found

    def integer_instead(self, stmt: Let, atom: Atom) -> Atom | None:
        """The integer `atom` if it may stand for the float that `stmt` gives."""
        return atom if integer_for(stmt.target, self.uses, self.mapping) else None

    def _may_stand(self, target: Var, atom: Atom) -> bool:
        if not getattr(target.type, "sizes", ()):
            return True
        self._aliasing = self._aliasing or Aliasing(self.function)
        moved = isinstance(atom, Var) and self.uses.once(atom)
        return self._aliasing.may_stand(target, atom, moved)

    # -- what rules do ---------------------------------------------------------------------------

    def become(self, stmt: Let, op: Any, *args: Atom, **attrs: Any) -> Any:
        """Makes `stmt` another statement with the same result."""
        for atom in args:
            self.mention(atom)
        for atom in stmt.args:
            self.mention(atom, -1)
        stmt.op, stmt.args, stmt.attrs = op, args, attrs
        return CHANGED

    def change(self, var: Var) -> None:
        """To be called when a variable that one statement uses gets another value: its name is that of the old one."""
        var.name = var.primal = None

    def mention(self, atom: Atom, times: int = 1) -> None:
        if isinstance(atom, Var):
            self.uses.counts[atom] = self.uses.counts.get(atom, 0) + times

    def emit(self, like: Let, op: Any, *args: Atom, type: Type, **attrs: Any) -> Var:
        """A new statement before the one at hand, `like`; gives its result."""
        target = Var(type)
        for atom in args:
            self.mention(atom)
        if like.target in self.moved:
            self.moved.add(target)
        stmt = Let((target,), op, args, attrs, like.origin)
        self.definition[target] = stmt
        self.out.append(stmt)
        self.uses.counts[target] = 0
        return target
