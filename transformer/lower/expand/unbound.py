"""Names that may not be bound where they are used: whether they are is carried along, and tested there.

    for k in range(n):              is_bound = False
        last = x[k]                 for k in range(n):
    return last                         last, is_bound = x[k], True
                                    if not is_bound:
                                        raise UnboundLocalError("cannot access local variable 'last' where …")
                                    return last

Where a name is bound under a condition, and used under the same, nothing is tested; nor where a truth value goes with
the name, such as the one that a `return` in a loop leaves beside its result. Derivatives leave out much of what
uses a name, so that names are tested before these are taken, and not again. Source that runs as Python has
tests in loops only: elsewhere Python itself raises, but in a loop the name may still have the value of the iteration
before, or of the lane before, which is none of this one. A name that the program asks for, and nothing uses further
(`z = w`), is not in that source, so that all names of such a function are tested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from ...core.builder import current
from ...core.grammar import UNDEFINED, Atom, Block, Carry, Const, Effect, Function, If, Let, Loop, Merge, Var, raising
from ...core.naming import OwnName
from ...core.running import certainly_runs
from ...core.types import BOOL, ArrayType
from ...core.walk import all_statements, atom_vars, blocks_of, head_uses
from ...ops.identity import Same
from ...ops.logic import LogicalNot

TEXT = "cannot access local variable {!r} where it is not associated with a value"
TESTS = "tests"                     # what such an error says of itself, beside those that the reader has found


@dataclass(eq=False)
class Flag:
    """Whether a variable is bound: known, or a truth value of the program, which `make` puts where it comes
    about; it may be the outcome of a condition, or be `told` by a truth value that there is. `name` is the one that is
    not bound, which may have been handed on."""

    known: bool | None = None
    cond: Any = None
    truth: bool = True
    var: Var = field(default_factory=lambda: Var(BOOL, "is_bound"))
    make: Callable[[], None] | None = None
    name: str | None = None
    told: Any = None


BOUND, FREE = Flag(True), Flag(False)


def with_tests_of_names(function: Function, in_loops: bool = False) -> Function:
    """The function with tests of names that may not be bound, or only of those `in_loops`; the same one, if there
    are none."""
    if any(map(_is_test, all_statements(function.body))):               # from before derivatives were taken
        return function
    _forget_used(function.body, set(atom_vars(function.results)))
    if asks_for_names(function):
        return _Tests(in_loops=False).function(function)
    loops = [stmt for stmt in all_statements(function.body) if isinstance(stmt, Loop)]
    blocks = [[*loop.test, *loop.body] for loop in loops] if in_loops else [function.body]
    is_open = any(_leaves_open(stmt) for block in blocks for stmt in all_statements(block))
    return _Tests(in_loops).function(function) if is_open else function


def asks_for_names(function: Function) -> bool:
    """Whether a function asks for names that may not be bound."""
    return any(map(_asks, all_statements(function.body)))


def _asks(stmt: Any) -> bool:
    return isinstance(stmt, Effect) and stmt.kind == "name"


def _forget_used(block: Block, around: set[Var]) -> None:
    """Drops the names that a block asks for, and that it uses in any case, or what is `around` it."""
    used = around.union(*(_used_by(stmt) for stmt in block if not _asks(stmt)))
    block[:] = [stmt for stmt in block if not (_asks(stmt) and used.issuperset(head_uses(stmt)))]
    for stmt in block:
        for nested in blocks_of(stmt):
            _forget_used(nested, used)


def _used_by(stmt: Any) -> Iterable[Var]:
    """What a statement uses for certain, and does not hand on."""
    if isinstance(stmt, Let) and stmt.op is Same:
        return ()
    return atom_vars((stmt.trips, [read.source for read in stmt.reads])) if isinstance(stmt, Loop) else head_uses(stmt)


def _is_test(stmt: Any) -> bool:
    return isinstance(stmt, Effect) and TESTS in stmt.attrs


def _leaves_open(stmt: Any) -> bool:
    if isinstance(stmt, If):
        return any(side is UNDEFINED for merge in stmt.merges for side in (merge.then, merge.orelse))
    return isinstance(stmt, Loop) and any(UNDEFINED in (carry.init, carry.next) for carry in stmt.carries)


class _Tests:
    """Goes through blocks. `flags` are those of variables that may not be bound where it has come to, `held` the
    conditions that hold there; truth values that are `asked` for are made in the end. Where `quiet`, names are not
    looked at."""

    def __init__(self, in_loops: bool) -> None:
        self.quiet = in_loops
        self.flags: dict[Any, Flag] = {}
        self.held: set[tuple[Any, bool]] = set()
        self.asked: list[Flag] = []
        self.opposite: dict[Any, Any] = {}                  # of truth values, what they are the opposite of

    def function(self, function: Function) -> Function:
        body = self.block(function.body)
        body += self._tests(atom_vars(function.results), function.origin)
        while self.asked:
            flag = self.asked.pop()
            make, flag.make = flag.make, None
            if make is not None:
                make()
        return replace(function, body=body)

    def block(self, block: Block) -> Block:
        made: Block = []
        for stmt in block:
            if isinstance(stmt, Let) and stmt.op is Same:
                source, = stmt.args
                if source in self.flags:
                    self.flags[stmt.target] = self.flags[source]
            elif isinstance(stmt, Let) and stmt.op is LogicalNot:
                self.opposite[stmt.target], = stmt.args
            else:
                made += self._tests(_used_by(stmt), stmt.origin)
            if isinstance(stmt, If):
                made.append(self._if(stmt))
            elif not _asks(stmt):
                made.append(self._loop(stmt) if isinstance(stmt, Loop) else stmt)
        return made

    def _tests(self, used: Iterable[Var], origin: Any) -> Block:
        """What raises if one of these variables is not bound; behind it they are."""
        made: Block = []
        for var in dict.fromkeys(used):
            flag = self.flags.pop(var, None)
            if flag is not None and _is_users(var) and (flag.cond, flag.truth) not in self.held:
                error = raising(UnboundLocalError, TEXT.format(flag.name or var.name), origin)
                error.attrs[TESTS] = "a name"
                raised: Block = [error]
                if flag.cond is None:
                    made.append(If(self._atom(flag), [], raised, [], origin))
                else:
                    made.append(If(flag.cond, *(([], raised) if flag.truth else (raised, [])), [], origin))
        return made

    def _flag(self, atom: Any) -> Flag:
        return FREE if atom is UNDEFINED else self.flags.get(atom, BOUND) if isinstance(atom, Var) else BOUND

    def _atom(self, flag: Flag) -> Atom:
        if flag.known is not None:
            return Const(flag.known)
        if flag.told is not None:
            told: Atom = flag.told
            return told
        self.asked.append(flag)
        return flag.var

    def _if(self, stmt: If) -> If:
        then, first = self._side(stmt, True)
        orelse, second = self._side(stmt, False)
        new = replace(stmt, then=then, orelse=orelse, merges=list(stmt.merges))
        for merge, one, other in zip(stmt.merges, first, second, strict=True):
            if not self.quiet and not merge.saved and not one is other is BOUND:
                self.flags[merge.target] = self._merged(new, one, other, merge.target.name)
        return new

    def _side(self, stmt: If, truth: bool) -> tuple[Block, list[Flag]]:
        flags, held = dict(self.flags), set(self.held)
        self.held.add((stmt.cond, truth))
        if stmt.cond in self.opposite:
            self.held.add((self.opposite[stmt.cond], not truth))
        made = self.block(stmt.then if truth else stmt.orelse)
        ends = [self._here(self._flag(merge.then if truth else merge.orelse)) for merge in stmt.merges]
        self.flags, self.held = flags, held
        return made, ends

    def _here(self, flag: Flag) -> Flag:
        """What is known of a flag where some conditions hold."""
        if flag.cond is None:
            return flag
        if (flag.cond, flag.truth) in self.held:
            return BOUND
        return FREE if (flag.cond, not flag.truth) in self.held else flag

    def _merged(self, stmt: If, one: Flag, other: Flag, name: str | None) -> Flag:
        if one is other is FREE:
            return FREE
        for merge in stmt.merges:
            if merge.target.type == BOOL and _says(merge.then, one) and _says(merge.orelse, other):
                return _told(merge.target, one.name or other.name or name)
        decided = {one.known, other.known} == {True, False}
        flag = Flag(cond=stmt.cond if decided else None, truth=bool(one.known), name=one.name or other.name or name)
        flag.make = lambda: stmt.merges.append(Merge(flag.var, self._atom(one), self._atom(other)))
        return flag

    def _loop(self, stmt: Loop) -> Loop:
        begins = {} if self.quiet else {
            carry: flag for carry in stmt.carries if (flag := self._flag(carry.init)) is not BOUND}
        quiet, self.quiet, outer = self.quiet, False, dict(self.flags)
        beside: dict[Carry, list[Carry]] = {}                # the truth values that may tell of a name
        while True:                                         # an iteration may leave unbound what was bound before
            for carry in begins:
                beside.setdefault(carry, [each for each in stmt.carries if _says(each.init, begins[carry])])
            inside = {carry: _told(beside[carry][0].entry, flag.name) if beside[carry] else Flag(name=flag.name)
                      for carry, flag in begins.items()}
            self.flags.update((carry.entry, flag) for carry, flag in inside.items())
            test, body = self.block(stmt.test), self.block(stmt.body)
            body += self._tests(atom_vars([record.value for record in stmt.records if not record.saved]), stmt.origin)
            ends = {carry: self._flag(carry.next) for carry in stmt.carries}
            self.flags = dict(outer)
            left = [carry for carry, flag in ends.items() if flag is not BOUND and carry not in begins]
            wrong = [told for carry, told in beside.items() if told and not _says(told[0].next, ends[carry])]
            if not left and not wrong:
                break
            begins.update((carry, replace(self._flag(carry.init), name=ends[carry].name)) for carry in left)
            for told in wrong:
                del told[0]
        self.quiet = quiet
        new = replace(stmt, test=test, body=body, carries=list(stmt.carries))
        for carry, flag in inside.items():
            told = beside[carry]
            out = _told(told[0].out, flag.name) if told else self._carried(new, begins[carry], flag, ends[carry])
            if not (ends[carry] is BOUND and _runs(stmt)):
                self.flags[carry.out] = out
        return new

    def _carried(self, loop: Loop, begin: Flag, inside: Flag, end: Flag) -> Flag:
        out = Flag(name=inside.name)

        def make() -> None:
            inside.make = out.make = None
            loop.carries.append(Carry(inside.var, self._atom(begin), self._atom(end), out.var))

        inside.make = out.make = make
        return out


def _told(truth: Atom, name: str | None) -> Flag:
    """That of a name which is bound where a truth value is True."""
    return Flag(cond=truth, told=truth, name=name)


def _says(truth: Atom, flag: Flag) -> bool:
    """Whether a truth value is True where a flag is, and nowhere else."""
    if flag.known is not None:
        return isinstance(truth, Const) and truth.value is flag.known
    return flag.told is not None and flag.told is truth


def _is_users(var: Var) -> bool:
    """Whether a variable may be one of the program: what calls save for their reverse is none."""
    return var.name is not None and not isinstance(var.name, OwnName) and isinstance(var.type, ArrayType)


def _runs(loop: Loop) -> bool:
    return certainly_runs(loop, lambda trips: current().assumptions.certainly_at_least(trips, 1))
