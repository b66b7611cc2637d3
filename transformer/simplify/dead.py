"""Dead code: what no result and no effect depends on.

>>> from .examples import shown
>>> shown(dead, '''
... function f(x: f64[n], k: int)
...     t: f64 = sum(x)
...     loop i: int in <n>
...         carry s: f64 = 0.0
...         carry p: f64 = 1.0
...         read v: f64 = x
...         body
...             q: f64 = multiply(p, v)
...             w: f64 = add(s, v)
...         next s_1: f64 = w
...         next p_1: f64 = q
...         record ps: Seq[f64] = p
...     b: bool = greater(k, 0)
...     if b
...         then
...             u: f64 = multiply(t, 2)
...         merge z: f64 = u, t
...     effect comment(text='reverse')
...     return s_1
... ''')
function f(x: f64[n], k: int)
    loop i: int in <n>
        carry s: f64 = 0.0
        read v: f64 = x
        body
            w: f64 = add(s, v)
        next s_1: f64 = w
    return s_1

A value that depends on nothing but itself (`p` above) is dead too, and of an op with several results
only those that are needed are computed, where that is another op:

>>> shown(dead, '''
... function f(x: f64[n, n])
...     w: f64[n], v: f64[n, n] = eigh(x)
...     return w
... ''')
function f(x: f64[n, n])
    w: f64[n] = eigvalsh(x)
    return w

Loops and branches go with their
last live part, also a `while` that may never have ended: what is left out cannot fail or hang.
Effects live, but for comments on what is gone, headings with nothing after them, or before them (but that of the
reverse sweep, behind which code is known to be generated), and the end of records that are gone, or needed longer.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any, assert_never

from ..core.grammar import Block, Call, Const, Effect, Function, If, Let, Loop, Stmt, Var
from ..core.guards import Assumptions
from ..core.headings import begins_reverse, ends_derivative, is_heading
from ..core.walk import atom_vars, free_vars, has_effects
from .rewriter import type_vars


class Before(Enum):
    """What is made of a function next, and so what has to be kept that no result needs."""
    TRANSFORMATIONS = "integers that only types mention, and the counts of loops"
    LOOPS = "integers that only types mention"
    SOURCE = "nothing"


def dead(function: Function, assumptions: Assumptions, before: Before = Before.TRANSFORMATIONS) -> bool:
    """Removes dead code in place; says whether there was any."""
    liveness = Liveness(function, before)
    function.body = liveness.swept(function.body)
    return liveness.changed


class Liveness:
    """What is live, found from the results and effects backwards."""

    def __init__(self, function: Function, before: Before, called: Iterable[Function] = ()) -> None:
        self.before = before
        self.changed = False
        self.origin: dict[Var, tuple[Stmt, Iterable[Any]]] = {}
        self.parent: dict[Stmt, Stmt | None] = {}
        self.live: set[Var] = set()
        self.kept: set[Stmt] = set()
        self.pending: list[Var] = []
        self.effects: list[Effect | Call] = []
        for each in (function, *called):
            self._enter(each.body, None)
        self._mark(function)

    # -- where variables come from -----------------------------------------------------------

    def _enter(self, block: Block, parent: Stmt | None) -> None:
        for stmt in block:
            self.parent[stmt] = parent
            match stmt:
                case Let():
                    self._enter_let(stmt)
                case If():
                    for merge in stmt.merges:
                        self.origin[merge.target] = stmt, (merge.then, merge.orelse)
                    self._enter(stmt.then, stmt)
                    self._enter(stmt.orelse, stmt)
                case Loop():
                    self._enter_loop(stmt)
                case Call():
                    self._enter_call(stmt)
                    if has_effects(stmt.function):
                        self.effects.append(stmt)
                case Effect():
                    if stmt.kind not in ("comment", "forget"):
                        self.effects.append(stmt)
                case _:
                    assert_never(stmt)

    def _enter_let(self, stmt: Let) -> None:
        source = (stmt, (*stmt.args, stmt.attrs) if stmt.attrs else stmt.args)
        for target in stmt.targets:
            self.origin[target] = source

    def _enter_call(self, stmt: Call) -> None:
        for target in stmt.targets:
            self.origin[target] = stmt, stmt.args

    def _enter_loop(self, stmt: Loop) -> None:
        self.origin[stmt.position] = stmt, ()
        for read in stmt.reads:
            self.origin[read.target] = stmt, (read.source,)
        for record in stmt.records:
            self.origin[record.target] = stmt, (record.value,)
        for carry in stmt.carries:
            self.origin[carry.entry] = self.origin[carry.out] = stmt, (carry.init, carry.next)
        if stmt.count is not None:
            self.origin[stmt.count] = stmt, ()
        self._enter(stmt.test, stmt)
        self._enter(stmt.body, stmt)

    # -- marking -----------------------------------------------------------------------------

    def _mark(self, function: Function) -> None:
        self._need(function.results)
        for effect in self.effects:
            self._need(self._used_by(effect))
            self._keep(effect)
        self._follow()

    def _used_by(self, effect: Effect | Call) -> Iterable[Any]:
        return effect.args, getattr(effect, "attrs", ())

    def _follow(self) -> None:
        while self.pending:
            var = self.pending.pop()
            if self.before is not Before.SOURCE:
                self._need(type_vars(var.type))
            if var in self.origin:
                stmt, sources = self.origin[var]
                self._need(sources)
                if stmt not in self.kept:
                    self._keep(stmt)

    def _need(self, atoms: Iterable[Any]) -> None:
        for atom in atoms:
            if type(atom) is Const:
                continue
            for var in (atom,) if type(atom) is Var else atom_vars(atom):
                if var not in self.live:
                    self.live.add(var)
                    self.pending.append(var)

    def _keep(self, stmt: Stmt | None) -> None:
        """A statement stays, those around it too, and what decides whether it runs."""
        while stmt is not None and stmt not in self.kept:
            self.kept.add(stmt)
            if isinstance(stmt, If):
                self._need((stmt.cond,))
            elif isinstance(stmt, Loop):
                self._need((stmt.trips, stmt.cond))
            stmt = self.parent[stmt]

    # -- sweeping ----------------------------------------------------------------------------

    def swept(self, block: Block) -> Block:
        """What is left of a block."""
        left: Block = []
        for stmt in reversed(block):
            if stmt in self.kept or _is_comment(stmt) and _is_needed(stmt, left) or self._ends(stmt, block, left):
                left.append(stmt)
        while left and is_heading(left[-1]) and not begins_reverse(left[-1]):
            left.pop()
        left.reverse()
        self.changed |= len(left) < len(block)
        left = [self._narrowed(stmt) if type(stmt) is Let and stmt.op.alone else stmt for stmt in left]
        for stmt in left:
            if type(stmt) is not Let:
                self._shrink(stmt)
        return left

    def _narrowed(self, stmt: Let) -> Let:
        """`svdvals` in place of an `svd` of which only the singular values are live."""
        live = [k for k, target in enumerate(stmt.targets) if target in self.live]
        op = stmt.op.alone.get(live[0]) if len(live) == 1 else None
        if op is None:
            return stmt
        self.changed = True
        attrs = {key: stmt.attrs[key] for key in op.silent if key in stmt.attrs}
        return Let((stmt.targets[live[0]],), op, stmt.args, attrs, stmt.origin)

    def _ends(self, stmt: Stmt, block: Block, after: Block) -> bool:
        """Whether a record of this block, which may be another one than at first, is given free here for good."""
        if not isinstance(stmt, Effect) or stmt.kind != "forget":
            return False
        record: Any = stmt.args[0]
        return record in self.live and self.origin[record][0] in block and record not in free_vars(after)

    def _shrink(self, stmt: Stmt) -> None:
        match stmt:
            case If():
                stmt.merges = self._left(stmt.merges, lambda merge: merge.target in self.live)
                stmt.then, stmt.orelse = self.swept(stmt.then), self.swept(stmt.orelse)
            case Loop():
                stmt.carries = self._left(
                    stmt.carries, lambda carry: carry.entry in self.live or carry.out in self.live)
                self._shrink_ends(stmt)
                if self.before is not Before.TRANSFORMATIONS and stmt.count not in self.live:
                    stmt.count = None
                stmt.test, stmt.body = self.swept(stmt.test), self.swept(stmt.body)
            case Let() | Call() | Effect():
                pass
            case _:
                assert_never(stmt)

    def _shrink_ends(self, stmt: Loop) -> None:
        stmt.reads = self._left(stmt.reads, lambda read: read.target in self.live)
        stmt.records = self._left(stmt.records, lambda record: record.target in self.live)

    def _left(self, items: list[Any], is_live: Any) -> list[Any]:
        left = [item for item in items if is_live(item)]
        self.changed |= len(left) < len(items)
        return left


def _is_comment(stmt: Stmt) -> bool:
    return isinstance(stmt, Effect) and stmt.kind == "comment"


def _is_needed(comment: Any, after: Block) -> bool:
    """Whether what a comment is about is still there; `after` has what follows, last first."""
    if "reverse of" in comment.attrs:
        return bool(after) and isinstance(after[-1], (Loop, If))
    if ends_derivative(comment):
        return bool(after) and not ends_derivative(after[-1])
    return bool(after) and not is_heading(after[-1]) and not ends_derivative(after[-1])
