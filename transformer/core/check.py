"""The rules of Core, checked between stages in tests and under the debug flag.

>>> from .grammar import Const, Effect, Function, Var
>>> from .types import FLOAT
>>> stray = Var(FLOAT, "stray")
>>> check(Function("f", [], [Effect("print", (stray,))], []))
Traceback (most recent call last):
    ...
transformer.core.check.CoreError: f: stray is used before or outside of its definition
effect print(stray)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, assert_never

from .builder import Builder
from .equations import guardable
from .grammar import (
    UNDEFINED,
    Block,
    Call,
    Carry,
    Effect,
    Function,
    If,
    Let,
    Loop,
    Stmt,
    Var,
    type_of,
)
from .guards import Assumptions
from .sizes import Size
from .text import statement_text
from .types import ArrayType, SavedType, SeqType, Type
from .walk import WRITES, atom_vars, head_uses, inner_targets, targets_of


class CoreError(AssertionError):
    """A stage made Core that breaks the rules of the language: a mistake in that stage."""


def check(function: Function, *, assumptions: Assumptions | None = None, linear: bool = False
          ) -> None:
    """Raises `CoreError`, with the text of the statement, where a function breaks a rule.

    `assumptions` tells which sizes are equal (else the guards of the function do). With `linear`,
    also: within a block a version of an array is written once, after all reads of its elements.
    """
    assumptions = assumptions or _assumed(function)         # those of a function hold in what it calls
    seen: set[Function] = set()
    pending = [function]
    while pending:
        each = pending.pop()
        if each not in seen:
            seen.add(each)
            checker = Checker(each, assumptions, linear)
            with Builder(assumptions).active(), assumptions.consistent():    # for the types that ops state
                checker.check()
            pending += checker.called


def _assumed(function: Function) -> Assumptions:
    """The equalities of sizes that the guards of a function state."""
    assumptions = Assumptions()
    for guard in function.guards:
        if guard.kind == "equal":
            assumptions.equal(guard.left, guard.right)
    return assumptions


class Checker:
    """Walks one function; `visible` are the variables in scope, `written` those put to in it."""

    def __init__(self, function: Function, assumptions: Assumptions, linear: bool) -> None:
        self.function = function
        self.assumptions, self.normal = assumptions, assumptions.normal
        self.linear = linear
        self.visible: set[Var] = set()
        self.defined: set[Var] = set()
        self.written: set[Var] = set()
        self.statements: set[Stmt] = set()
        self.called: list[Function] = []
        self.stmt: Stmt | None = None

    def check(self) -> None:
        self.define(self.function.params)
        for dim, (var, _) in self.function.dims.items():
            self.require(var in self.function.params, f"dimension {dim} is in no parameter")
        with self.scope(self.function.body):
            self.stmt = None
            self.use(atom_vars(self.function.results))

    def fail(self, what: str) -> NoReturn:
        shown = "" if self.stmt is None else "\n" + statement_text(self.stmt, self.function)
        raise CoreError(f"{self.function.name}: {what}{shown}")

    def require(self, holds: bool, what: str) -> None:
        if not holds:
            self.fail(what)

    # -- scopes ------------------------------------------------------------------------------

    @contextmanager
    def scope(self, block: Block, inner: Iterable[Var] = ()) -> Iterator[None]:
        """Checks a block; inside the `with` its variables (and the `inner` ones) are in scope."""
        visible, written, stmt = set(self.visible), set(self.written), self.stmt
        self.define(inner)
        for each in block:
            self.statement(each)
        self.stmt = stmt
        yield
        self.visible, self.written = visible, written

    def define(self, targets: Iterable[Var]) -> None:
        for var in targets:
            if var in self.defined:
                self.fail(f"{var.name or var} is defined twice")
            self.defined.add(var)
            self.visible.add(var)

    def use(self, uses: Iterable[Var]) -> None:
        for var in uses:
            if var not in self.visible:
                self.fail(f"{var.name or var} is used before or outside of its definition")

    def statement(self, stmt: Stmt) -> None:
        self.stmt = stmt
        self.require(stmt not in self.statements, "a statement stands in the program twice")
        self.statements.add(stmt)
        self.use(head_uses(stmt))
        match stmt:
            case Let():
                self._let(stmt)
            case If():
                self._if(stmt)
            case Loop():
                self._loop(stmt)
            case Call():
                self._call(stmt)
            case Effect():
                pass
            case _:
                assert_never(stmt)
        self.stmt = stmt
        self.define(targets_of(stmt))

    # -- statements --------------------------------------------------------------------------

    def _let(self, stmt: Let) -> None:
        self.require(UNDEFINED not in stmt.args, "an undefined value is used")
        if self.linear and stmt.args and isinstance(stmt.args[0], Var):
            self._order(stmt, stmt.args[0])
        if hasattr(stmt.op, "types") and not stmt.op.of_sequences:
            if all(isinstance(type_of(atom), ArrayType) for atom in stmt.args):
                self._stated(stmt)

    def _stated(self, stmt: Let) -> None:
        """The results have the ranks, sizes and dtypes that the op states."""
        operands = [type_of(atom) for atom in stmt.args]
        attrs = {key: item for key, item in stmt.attrs.items() if key != "spelling"}
        stated = stmt.op.typed(operands, attrs, stmt.attrs.get("spelling"))
        types = stated if isinstance(stated, tuple) else (stated,)
        for target, type in zip(stmt.targets, types, strict=True):
            own = target.type
            if isinstance(type, ArrayType) and isinstance(own, ArrayType):
                fits = own.dtype == type.dtype and len(own.sizes) == len(type.sizes) and all(
                    map(self.equal, own.sizes, type.sizes))
                if not fits:
                    self.fail(f"{target.name or target} is {own}, and {type} by its op")

    def _order(self, stmt: Let, version: Var) -> None:
        if stmt.op.name in WRITES:
            self.require(version not in self.written, "a version of an array is written twice")
            self.written.add(version)
        elif stmt.op.name == "get":
            self.require(version not in self.written, "elements are read after the write")

    def _call(self, stmt: Call) -> None:
        function = stmt.function
        self.called.append(function)
        self.require(len(stmt.args) == len(function.params), "a call has too few or many arguments")
        self.require(len(stmt.targets) == len(function.results), "a call gives other results")
        pairs = [*zip(function.params, stmt.args), *zip(stmt.targets, function.results)]
        for wanted, own in pairs:
            if own is not UNDEFINED and not _alike(wanted.type, type_of(own)):
                self.fail(f"{own} is no {wanted.type}, as {wanted.name or wanted} of {function.name} is")

    def _if(self, stmt: If) -> None:
        self.condition(stmt.cond)
        for side, block in (("then", stmt.then), ("orelse", stmt.orelse)):
            with self.scope(block):
                for merge in stmt.merges:
                    atom = getattr(merge, side)
                    self.use(atom_vars(atom))
                    self.same(merge.target.type, atom, f"side {side!r} of a merge")

    def _loop(self, stmt: Loop) -> None:
        if stmt.cond is None:
            self.require(stmt.trips is not None, "a loop has neither a condition nor a trip count")
        else:
            self.require(not stmt.down and not stmt.reads,
                         "a loop with a condition runs upwards and reads nothing")
        self._positions(stmt)
        if stmt.count is not None:
            self.integer(stmt.count, "the count of a loop")
        inner = inner_targets(stmt)
        if self.linear:
            self._entries(stmt)
        if stmt.cond is not None:
            self._test(stmt)
        with self.scope(stmt.body, inner):
            for carry in stmt.carries:
                self._carry(carry)
            self._records(stmt)

    def _entries(self, stmt: Loop) -> None:
        """A loop reads what its carries begin as."""
        for carry in stmt.carries:
            self.require(carry.init not in self.written, "a loop begins with an array after its write")

    def _test(self, stmt: Loop) -> None:
        """The test sees the entries of the carries, and what it defines is its own."""
        entries = inner_targets(stmt)
        with self.scope(stmt.test, entries):
            self.use(atom_vars(stmt.cond))
            self.condition(stmt.cond)
        self.defined.difference_update(entries)

    def _positions(self, stmt: Loop) -> None:
        self.integer(stmt.position, "the position of a loop")
        if stmt.trips is not None:
            self.integer(stmt.trips, "the trip count of a loop")
        for read in stmt.reads:
            source = type_of(read.source)
            self.require(not isinstance(source, SavedType), "a read takes items of what a call saved")
            row = source.element if isinstance(source, SeqType) else self._row(source)    # type: ignore[arg-type]
            self.require(self.agree(read.target.type, row), "a read is not an item of its source")

    def _row(self, type: ArrayType) -> ArrayType:
        self.require(bool(type.sizes), "a read takes items of a scalar")
        return type.with_sizes(type.sizes[1:])

    def _carry(self, carry: Carry) -> None:
        self.use(atom_vars(carry.next))
        for atom, name in ((carry.init, "init"), (carry.next, "next"), (carry.out, "out")):
            self.same(carry.entry.type, atom, f"{name!r} of a carry")

    def _records(self, stmt: Loop) -> None:
        for record in stmt.records:
            self.use(atom_vars(record.value))
            type = record.target.type
            self.require(isinstance(type, SeqType), "a record is no sequence")
            self.same(type.element, record.value, "a record")             # type: ignore[union-attr]

    # -- types -------------------------------------------------------------------------------

    def condition(self, atom: Any) -> None:
        type = type_of(atom)
        if not isinstance(type, ArrayType) or type.dtype.kind != "b" or type.sizes:
            self.fail(f"a condition has type {type}")

    def integer(self, atom: Any, what: str) -> None:
        type = type_of(atom)
        if not isinstance(type, ArrayType) or type.dtype.kind not in "iu" or type.sizes:
            self.fail(f"{what} has type {type}")

    def same(self, type: Type, atom: Any, what: str) -> None:
        """`atom` may stand where a value of this type is expected."""
        if atom is not UNDEFINED:
            own = type_of(atom)
            if not self.agree(type, own):
                self.fail(f"{what} has type {own}, not {type}")

    def agree(self, wanted: Type, own: Type) -> bool:
        if isinstance(wanted, SeqType) or isinstance(own, SeqType):
            return (isinstance(wanted, SeqType) and isinstance(own, SeqType)
                    and self.agree(wanted.element, own.element))
        if isinstance(wanted, SavedType) or isinstance(own, SavedType):
            return wanted == own
        if len(wanted.sizes) != len(own.sizes) or not _same_dtype(wanted, own):
            return False
        return all(map(self.equal, wanted.sizes, own.sizes))

    def equal(self, left: Any, right: Any) -> bool:
        """Whether two sizes are equal; those that rest on integers of the program may be, as the
        integer has another name in another loop, or as the program has tested it."""
        left, right = self.normal(left), self.normal(right)
        if self.normal(left - right) == 0 or any(atom_vars(left)) and any(atom_vars(right)):
            return True
        return isinstance(left - right, Size) and not guardable(left - right)


def _alike(wanted: Type, own: Type) -> bool:
    """Whether two types are the same but for sizes, which each function has its own names for."""
    if not isinstance(wanted, ArrayType) or not isinstance(own, ArrayType):
        return type(wanted) is type(own)
    return wanted.rank == own.rank and _same_dtype(wanted, own)


def _same_dtype(wanted: ArrayType, own: ArrayType) -> bool:
    return wanted.dtype == own.dtype or _fits(own, wanted)


def _fits(own: ArrayType, wanted: ArrayType) -> bool:
    """Whether a Python number becomes one of the wanted type where the two meet."""
    order = "biufc"
    return own.weak and order.index(own.dtype.kind) <= order.index(wanted.dtype.kind)


