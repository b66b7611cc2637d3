"""The reverse sweep: statements backwards, with the cotangents found so far. The rules are those of docs/reverse.md;
those of loops and of branches have files of their own (`reversed_loops`, `reversed_branches`).

    y = np.sin(x)         becomes     dx = dy * np.cos(x)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from ...core.builder import Builder
from ...core.grammar import (
    Atom,
    Block,
    Call,
    Effect,
    Function,
    If,
    Let,
    Loop,
    Var,
)
from ...core.types import INT, SavedType, SeqType
from ...core.walk import (
    METHODS,
)
from ...ops.elementwise import where
from ...ops.selection import Where
from ...ops.value import Value
from .. import rules
from ..activity import active_vars
from ..calls import Calls, Pattern
from ..custom.applied import is_ruled, pull
from ..naming import derivative_name, name_after, name_as_part
from . import saved
from .pairs import pull_call
from .residuals import Mirrors
from .retaking import unread_before
from .reversed_branches import partly_undefined, pull_branch
from .reversed_loops import pull_loop
from .sinking import Sinking
from .supports import EVERYWHERE, NOWHERE, Supports, both, may_be_steep

Cotangents = dict[Var, Value]


class Reverse:
    """Emits the reverse of statements, last first, keeping the cotangents found so far."""

    def __init__(self, builder: Builder, active: set[Var], calls: Calls) -> None:
        self.builder = builder
        self.calls = calls
        self.active = active
        self.begin = Var(INT).serial                    # of what is not part of the forward sweep
        self.cotangent: Cotangents = {}
        self.elements: dict[Var, list[Var]] = {}        # cotangents of sequences: each a sequence
        self.mirrors: Mirrors = {}                      # loops and branches, and their reverses
        self.partial: dict[Var, tuple[Atom, str]] = {}  # what is undefined on some path, and where
        self.unread: set[Let] = set()                   # writes over elements that did not matter before
        self.sinking = Sinking([], active)              # of the block being visited
        self.chosen: Any = None                         # what the choice being visited leaves of a cotangent
        self.supports = Supports()                 # where cotangents count
        self.sides: list[tuple[Atom, str]] = []             # of the branches being visited
        self.unfilled: dict[Var, tuple[tuple[Atom, str], Callable[[], None]]] = {}
        self.patterns: dict[Function, Pattern] = {}     # what carries cotangents in calls of functions

    @classmethod
    def of(cls, body: Block, inputs: Collection[Var], seeded: list[Atom], builder: Builder, calls: Calls) -> Reverse:
        """For statements that are `prepared`, from their results that are `seeded` with cotangents to their inputs."""
        sweep = cls(builder, active_vars(body, inputs, seeded, calls.summaries), calls)
        sweep.partial, sweep.unread = partly_undefined(body), unread_before(body, sweep.active, builder.assumptions)
        sweep.supports = Supports.of(body, sweep.active, calls.summaries)
        patterns = calls.shared(body, sweep.active)
        sweep.patterns = {each: pattern for each, pattern in patterns.items() if not may_be_steep(each.body)}
        return sweep

    def is_active(self, atom: object) -> bool:
        return isinstance(atom, Var) and atom in self.active

    def contribute(self, atom: Atom, term: Value, support: Value | None = None) -> None:
        """Adds `term`, which counts where `support` says, to the cotangent of `atom`, if that carries one."""
        if not isinstance(atom, Var) or atom not in self.active:
            return
        if isinstance(atom.type, SeqType):
            assert isinstance(term.atom, Var)
            self.elements.setdefault(atom, []).append(term.atom)
            return
        before = self.cotangent.get(atom)
        self.supports.contributed(atom, before is None, support)
        add = saved.added if isinstance(atom.type, SavedType) else rules.added
        if before is not None and isinstance(before.atom, Var):
            name_as_part(before.atom, atom, self.builder)
            self._fill(before.atom)
        self.set(atom, term if before is None else add(before, term))

    def _fill(self, cotangent: Var) -> None:
        """Makes a cotangent that is defined on one side of a branch zero on the other one, unless only the first one
        looks at it."""
        if cotangent in self.unfilled and self.unfilled[cotangent][0] not in self.sides:
            self.unfilled.pop(cotangent)[1]()

    def set(self, var: Var, term: Value) -> None:
        self.cotangent[var] = term
        if isinstance(term.atom, Var) and term.atom.name is None:
            term.atom.name = derivative_name(var, self.builder)
            if term.atom.serial > self.begin and term.atom.primal is None:
                name_after(term.atom, var, self.builder)

    def result(self, param: Var) -> Atom:
        """The cotangent of a parameter, in its full size and dtype."""
        found = saved.full_cotangent(self.builder, self.cotangent.get(param), param)
        if param not in self.cotangent and isinstance(found, Var):
            found.name = derivative_name(param, self.builder)
            name_after(found, param, self.builder)
        return found

    def take(self, var: Var) -> Value | None:
        """The complete cotangent of a variable whose definition has been reached."""
        return self.cotangent.pop(var, None)

    def block(self, block: Block) -> None:
        outer, self.sinking = self.sinking, Sinking(block, self.active)
        for stmt in reversed(block):
            if stmt not in self.sinking.sunk:
                with self.builder.at(stmt.origin):
                    getattr(self, METHODS[type(stmt)])(stmt)
        self.sinking = outer

    def _effect(self, stmt: Effect) -> None:
        """Effects happened in the forward sweep; they are not repeated."""

    def _call(self, stmt: Call) -> None:
        pull_call(self, stmt)

    def _if(self, stmt: If) -> None:
        pull_branch(self, stmt)

    def _loop(self, stmt: Loop) -> None:
        pull_loop(self, stmt)

    # -- straight line ---------------------------------------------------------------------

    def _let(self, stmt: Let) -> None:
        if "layout" in stmt.attrs:
            return saved.pull_saved(self, stmt)
        if isinstance(stmt.target.type, SeqType):
            for source in self.elements.pop(stmt.target, []):
                self._apply_rule(stmt, [Value(source)])
            return
        given = [self.take(target) for target in stmt.targets]
        if all(dy is None for dy in given) or stmt.op.derivative is not None:
            return
        with self.supports.of_statement(stmt):
            self._pull(stmt, given)

    def _pull(self, stmt: Let, given: list[Value | None]) -> None:
        if is_ruled(stmt):
            given = [None if dy is None else rules.full(dy, t.type) for dy, t in zip(given, stmt.targets)]
            return self._contribute_all(stmt, pull(stmt, given, self))
        if not (stmt.op.elementwise or stmt.op.accumulate) or len(given) > 1:
            given = [rules.zero_or(dy, t.type) for dy, t in zip(given, stmt.targets)]
        sunk = self.sinking.into_choice(stmt, self.cotangent) if stmt.op is Where else ()
        if any(sunk) and given[0] is not None:
            return self._choose(stmt, sunk, given[0])
        self._apply_rule(stmt, [dy for dy in given if dy is not None])

    def _choose(self, stmt: Let, sunk: tuple[Block, ...], dy: Value) -> None:
        """The reverse of a choice and of what only it looks at: what was not chosen is left out at the end."""
        cond, whole, before = Value(stmt.args[0]), rules.sizes_of(stmt.target), self.chosen
        for place, block in ((2, sunk[1]), (1, sunk[0])):
            def chosen(d: Any, place: int = place) -> Any:
                d = where(cond, d, 0.0) if place == 1 else where(cond, 0.0, d)
                return d if before is None else before(d)

            outer, self.cotangent, self.chosen = self.cotangent, {}, chosen
            with self.supports.inside({}) as supports:
                self.contribute(stmt.args[place], dy)
                self.block(block)
            found, self.cotangent, self.chosen = self.cotangent, outer, before
            for var, d in found.items():
                if not block or rules.sizes_of(var) == whole:           # others are sums of what was chosen
                    d = rules.fitted(chosen(d), stmt.target.type, var.type)
                self.contribute(var, d, both(supports.get(var, EVERYWHERE), self.supports.at(stmt, place)))

    def _apply_rule(self, stmt: Let, given: list[Value]) -> None:
        outer, self.builder.derivatives.family = self.builder.derivatives.family, rules.family_of(stmt)
        if self.is_active(stmt.args[0]) and rules.is_sparse(stmt):
            self._accumulate(stmt, given[0])
        elif stmt in self.unread:                       # the elements keep a cotangent that nobody looks at
            array, value, *_ = stmt.args
            self._contribute_all(stmt, rules.cotangents(stmt, given, lambda a: a is value and self.is_active(a)))
            self.contribute(array, given[0])
        else:
            guarded = self.supports.guard(stmt, self.chosen)
            self._contribute_all(stmt, rules.cotangents(stmt, given, self.is_active, guarded))
        self.builder.derivatives.family = outer

    def _contribute_all(self, stmt: Let, terms: Iterable[tuple[int, Value]]) -> None:
        """Contributes to each operand once: what a statement gives to one twice is added up first."""
        totals: dict[Atom, Value] = {}
        supports: dict[Atom, Value] = {}
        for place, term in terms:
            atom = stmt.args[place]
            if isinstance(term.type, SeqType):
                self.contribute(atom, term)
            else:
                totals[atom] = rules.added(totals[atom], term) if atom in totals else term
                supports[atom] = self.supports.either(supports.get(atom, NOWHERE), self.supports.at(stmt, place))
        for atom, total in totals.items():
            self.contribute(atom, total, supports[atom])

    def _accumulate(self, stmt: Let, dy: Value | None) -> None:
        """The cotangent of operand 0 is sparse: it is added to the running cotangent in place."""
        x = stmt.args[0]
        assert isinstance(x, Var) and dy is not None
        self.supports.contributed_part(stmt, x not in self.cotangent)
        shadow = rules.zero_or(self.cotangent.get(x), x.type)
        self.set(x, stmt.op.accumulate(shadow, dy, *rules.operands_of(stmt), **rules.rule_attrs(stmt)))
