"""When nothing is transformed any more: loops that go through the items of an array take them from it, and loops that
add to each row of zeros fill these.

>>> from .examples import shown
>>> shown(by_rows, '''
... function f(x: f64[n], dy: f64[n])
...     effect comment(text='reverse')
...     ys: Seq[f64] = unstacked(dy)
...     z: f64[n] = zeros(shape=(<n>,))
...     loop k: int in <n> down
...         carry a: f64[n] = z
...         read d: f64 = ys
...         body
...             t: f64 = sin(d)
...             b: f64[n] = addat(a, t, k, index=(Slot(k=0),))
...         next dx: f64[n] = b
...     return dx
... ''')
function f(x: f64[n], dy: f64[n])
    effect comment(text='reverse')
    ys: Seq[f64] = unstacked(dy)
    z: f64[n] = zeros(shape=(<n>,))
    t: f64[n] = empty(shape=(<n>,))
    loop k: int in <n> down
        carry a: f64[n] = t
        body
            d: f64 = get(dy, k, index=(Slot(k=0),))
            t_1: f64 = sin(d)
            b: f64[n] = put(a, t_1, k, index=(Slot(k=0),))
        next dx: f64[n] = b
    return dx

Transformations want what a loop reads instead, as its cotangent is recorded, where that of an array is carried along.
"""

from __future__ import annotations

from ..core.grammar import Atom, Block, Carry, Effect, Function, Let, Loop, Var, type_of
from ..core.guards import Assumptions
from ..core.headings import is_about_loop, is_all_ours, is_ours
from ..core.sizes import Size, Unknown
from ..core.types import INT
from ..core.walk import WRITES, size_of_atom
from ..ops.creation import Empty
from ..ops.indexing import Get, Put
from ..ops.regions import Slot
from .apart import affine
from .fold import Fold
from .rewriter import Rewriter, array_type
from .uses import Uses


def by_rows(function: Function, assumptions: Assumptions) -> bool:
    """Does both, in place; says whether there was any."""
    return ByRows(function, assumptions).run()


class ByRows(Rewriter):
    """`array` has the array that a sequence is, `fold` the statements seen so far."""

    def __init__(self, function: Function, assumptions: Assumptions) -> None:
        super().__init__(function, assumptions)
        self.uses = Uses(function)
        self.fold = Fold(function, assumptions)
        self.array: dict[Atom, Var] = {}
        self.is_generated = is_all_ours(function)

    def block(self, block: Block) -> Block:
        outside = dict(self.array)
        done = super().block(block)
        self.array = outside
        return done

    def effect(self, stmt: Effect) -> None:
        self.is_generated = is_ours(stmt, self.is_generated)
        super().effect(stmt)

    def let(self, stmt: Let) -> None:
        for target in stmt.targets:
            self.fold.definition[target] = stmt
        if stmt.op.name == "stacked" and self._stays(stmt.target):
            self.array[stmt.args[0]] = stmt.target
        elif stmt.op.name == "unstacked" and isinstance(stmt.args[0], Var) and self._stays(stmt.args[0]):
            self.array[stmt.target] = stmt.args[0]
        self.out.append(stmt)

    def _stays(self, array: Var) -> bool:
        """Whether nothing writes to an array, so that its rows can be read at any time."""
        return all(user is None or isinstance(user, Let) and user.op.name not in WRITES
                   for user in self.uses.users.get(array, ()))

    # -- what is read ----------------------------------------------------------------------------

    def before_loop(self, stmt: Loop) -> None:
        for read in [read for read in stmt.reads if read.source in self.array]:
            stmt.reads.remove(read)
            stmt.body.insert(0, self._taken(read.target, self.array[read.source], stmt))
            self.changed = True

    def _taken(self, row: Var, array: Var, loop: Loop) -> Let:
        index = (Slot(0), *[slice(None)] * array_type(row).rank)
        return Let((row,), Get, (array, loop.position), {"index": index}, loop.origin)

    # -- what is added ---------------------------------------------------------------------------

    def after_loop(self, stmt: Loop) -> None:
        if self.is_generated and stmt.trips is not None and stmt.cond is None:
            for carry in stmt.carries:
                added = self._added(stmt, carry)
                if added is not None:
                    carry.init = self._room(carry)
                    added.op = Put
                    self.changed = True
        self.out.append(stmt)

    def _added(self, loop: Loop, carry: Carry) -> Let | None:
        """What adds a row to zeros in each iteration, of which nobody looks at another one."""
        added = self.fold.defined_by(carry.next, "addat")
        if added is None or self.fold.defined_by(carry.init, "zeros") is None:
            return None
        if self.uses.users[carry.entry] != [added] or self.uses.users[added.target] != [loop] or (
                not any(stmt is added for stmt in loop.body)):
            return None
        return added if self._is_each_row(loop, added) else None

    def _is_each_row(self, loop: Loop, added: Let) -> bool:
        """Whether whole rows are added, from the first one to the last one or the other way round."""
        base, _, *places = added.args
        first, *others = added.attrs["index"]
        if first != Slot(0) or len(places) != 1 or type_of(places[0]) != INT or any(
                each != slice(None) for each in others):
            return False
        assert loop.trips is not None
        rows, place, position = size_of_atom(loop.trips), affine(self.fold, places[0]), Size.of(Unknown(loop.position))
        return self.same_sizes((rows,), array_type(base).sizes[:1]) and (
            place == position or self.same_sizes((place + position,), (rows - 1,)))

    def _room(self, carry: Carry) -> Var:
        """An array that holds nothing yet, made before what is said about the loop."""
        zeros = self.fold.definition[carry.init]                             # type: ignore[index]
        room = Var(zeros.target.type)
        begins = len(self.out) - (1 if self.out and is_about_loop(self.out[-1]) else 0)
        self.out.insert(begins, Let((room,), Empty, (), zeros.attrs, zeros.origin))
        return room
