"""Out of single assignment: which values share one Python variable.

Values that a loop or branch hands over, the versions of an array written in place, and values that the
user gave one name share a variable, as long as no two of them are alive at once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Collection, Iterator
from heapq import heappop, heappush

from ..core.grammar import UNDEFINED, If, Let, Loop, Var
from ..core.walk import WRITES, all_statements
from .aliasing import Aliases, is_array
from .flow import Flow
from .liveness import Pieces


class Variable:
    """A Python variable: the values that it holds one after the other."""

    def __init__(self, var: Var, pieces: Pieces) -> None:
        self.values = [var]
        self.pieces = pieces  # sorted and apart
        self.stretches: Pieces = []  # where it is read later, in what it is nested into
        name = given_name(var)
        self.names = {name} if name else set()
        self.is_param = False

    def stretch(self) -> None:
        """Adds where it is read later to where it holds something."""
        if self.stretches:
            self.pieces = joined(sorted(self.pieces + self.stretches))
            self.stretches = []

    def is_apart_from(self, other: Variable) -> bool:
        """Whether no value of one is alive together with a value of the other."""
        small, large = (other, self) if len(other.pieces) < len(self.pieces) else (self, other)
        return not any(large.covers(first, last) for first, last in small.pieces)

    def covers(self, first: int, last: int) -> bool:
        """Whether it holds something anywhere in first..last."""
        place = bisect_right(self.pieces, (last, float("inf")))
        return place > 0 and self.pieces[place - 1][1] >= first

    def busy_until(self, place: int) -> int | None:
        """The end of the piece in which a place lies; None if it holds nothing there."""
        k = bisect_right(self.pieces, (place, float("inf")))
        return self.pieces[k - 1][1] if k and self.pieces[k - 1][1] >= place else None

    def definitions_in(self, first: int, last: int) -> bool:
        """Whether it is bound anew in first..last."""
        place = bisect_left(self.pieces, (first, -1))
        return place < len(self.pieces) and self.pieces[place][0] <= last

    def absorb(self, other: Variable) -> None:
        self.values += other.values
        self.pieces = sorted(self.pieces + other.pieces)
        self.names |= other.names
        self.is_param |= other.is_param


Variables = dict[Var, Variable]


def given_name(var: Var) -> str | None:
    """The name that the user gave a value, if it says anything."""
    return None if var.name == "_" else var.name


def share_variables(flow: Flow, ranges: dict[Var, Pieces], aliases: Aliases) -> Variables:
    """The variable of every value."""
    variables = {var: Variable(var, joined(pieces)) for var, pieces in ranges.items()}
    for param in flow.function.params:
        variables[param].is_param = True
    for first, second, forced in _wishes(flow, aliases):
        _share(variables, first, second, forced)
    by_name: dict[str, _Namesakes] = defaultdict(lambda: _Namesakes(variables))
    for var in sorted(ranges, key=lambda var: ranges[var][0][0]):
        if var.name and given_name(var) and flow.stored.of.get(var) is None:
            by_name[var.name].add(var, ranges[var][0][0])
    return variables


def namesakes(variables: Variables) -> set[Variable]:
    """Variables of a name of the user's that another one has already when they come about: they get a number."""
    found: set[Variable] = set()
    by_name: dict[str, list[Variable]] = defaultdict(list)
    for variable in sorted(dict.fromkeys(variables.values()), key=lambda variable: variable.pieces[0][0]):
        for name in variable.names:
            if not all(variable.is_apart_from(other) for other in by_name[name]):
                found.add(variable)
            by_name[name].append(variable)
    return found


def without_nested(variables: Variables, nested: Collection[Var], ranges: dict[Var, Pieces]) -> None:
    """Frees the names of values that get none, as they are printed where they are used."""
    for variable in dict.fromkeys(variables[var] for var in nested if var in variables):
        held = [piece for var in variable.values if var not in nested for piece in ranges[var]]
        variable.pieces = joined(sorted(held)) or variable.pieces


class _Namesakes:
    """Values of one name, in the order in which they come about. Each shares the variable of the first
    one before it that allows it; those that hold something anyway at that time are not asked."""

    def __init__(self, variables: Variables) -> None:
        self.variables = variables
        self.firsts: list[Var] = []             # of those that share a variable, the first
        self.free: list[int] = []               # places in `firsts`, in order
        self.busy: list[tuple[int, int]] = []   # until when, and the place; a heap

    def add(self, var: Var, begin: int) -> None:
        while self.busy and self.busy[0][0] < begin:
            insort(self.free, heappop(self.busy)[1])
        for place in list(self.free):
            first = self.firsts[place]
            end = self.variables[first].busy_until(begin)
            if end is not None:
                self.free.remove(place)
                heappush(self.busy, (end, place))
            if (end is None or self.variables[first] is self.variables[var]) \
                    and _share(self.variables, first, var, False):
                return
        insort(self.free, len(self.firsts))
        self.firsts.append(var)


def joined(pieces: Pieces) -> Pieces:
    """Pieces without overlaps."""
    result: Pieces = []
    for first, last in pieces:
        if result and first <= result[-1][1]:
            result[-1] = result[-1][0], max(last, result[-1][1])
        else:
            result.append((first, last))
    return result


def _share(variables: Variables, first: Var, second: Var, forced: bool) -> bool:
    """Lets two values share a variable if they may; whether they do."""
    one, other = variables.get(first), variables.get(second)
    if one is None or other is None:
        return False
    if one is other:
        return True
    if not forced and one.names and other.names and not one.names & other.names:
        return False
    if one.is_param and other.is_param or not one.is_apart_from(other):
        return False
    if len(other.values) > len(one.values):
        one, other = other, one
    one.absorb(other)
    variables.update(dict.fromkeys(other.values, one))
    return True


def _wishes(flow: Flow, aliases: Aliases) -> Iterator[tuple[Var, Var, bool]]:
    """Pairs of values that had better share a variable, the most urgent first."""
    statements = [stmt for stmt in all_statements(flow.function.body) if stmt in flow.spans]
    for stmt in statements:
        if isinstance(stmt, Let) and (stmt.op.name in WRITES or stmt in aliases.in_place):
            if isinstance(stmt.args[0], Var) and is_array(stmt.target):
                yield stmt.args[0], stmt.target, stmt not in aliases.writes
    for stmt in statements:
        if isinstance(stmt, Loop):
            yield from _of_loop(stmt)
    for stmt in statements:
        if isinstance(stmt, If):
            yield from _of_branches(stmt)
    for stmt in statements:
        if isinstance(stmt, Let) and stmt.op.name in ("stacked", "unstacked") and stmt.target not in aliases.views:
            if isinstance(stmt.args[0], Var):
                yield stmt.target, stmt.args[0], True                     # the very array, as a sequence


def _of_loop(loop: Loop) -> Iterator[tuple[Var, Var, bool]]:
    for carry in loop.carries:
        yield carry.entry, carry.out, False
        if isinstance(carry.next, Var):
            yield carry.entry, carry.next, False
        if isinstance(carry.init, Var) and (given_name(carry.entry) or not given_name(carry.init)):
            yield carry.init, carry.entry, False
    if loop.count is not None:
        yield loop.position, loop.count, True


def _of_branches(stmt: If) -> Iterator[tuple[Var, Var, bool]]:
    """A value that the user gave a name does not lend it to a choice that has none, unless there is no other."""
    for merge in stmt.merges:
        is_choice = UNDEFINED not in (merge.then, merge.orelse)
        for side in (merge.then, merge.orelse):
            if isinstance(side, Var) and (given_name(merge.target) or not (given_name(side) and is_choice)):
                yield merge.target, side, False
