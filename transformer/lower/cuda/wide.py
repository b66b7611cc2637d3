"""Loops that read and write four elements at once, where these lie side by side: one access of 16 bytes in place of
four keeps four times as much on its way from memory, which is what bounds a loop that computes little.

    fours = in_fours(n, x, y)                    in the driver: 0 where an array does not lie so
    fill_y[over_threads(n - 3 * fours)](n, fours, x, y)

    k = Place(cuda.grid(1))                      in the kernel
    while k < fours:
        x0, x1, x2, x3 = four_of(x, k)
        y0 = y_at(x0)
        ...
        set_four(y, k, (y0, y1, y2, y3))
        k = Place(k + cuda.gridsize(1))
    i = Place(4 * fours + cuda.grid(1))          what is left, or everything
    while i < n:
        y[i] = y_at(x[i])
        i = Place(i + cuda.gridsize(1))

What is computed of an element is a function of its own. Numbers that are handed on (sums, say) go through it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from ...core.equations import only_atom
from ...core.grammar import Carry, If, Let, Var
from ...core.sizes import Extent, Least, Size
from ...core.types import INT, ArrayType
from ...core.walk import atom_vars
from ...write.layout import Group, Item, Line
from ...write.numbers import number
from ..nest.lifetimes import mentioned
from ..nest.nest_walk import defined, is_load, statements
from ..nest.nests import Block, Index, Store
from ..printing.sharing import taken
from .columns_by_fours import LANES, FourColumns, FourOf, columns_beside, is_beside
from .strided import Steps, Strided, later

MOST_STEPS = 24                        # of what is computed of an element: more takes longer than memory does


@dataclass
class Stream:
    """A loop over elements side by side: what it reads, computes, and writes of each."""

    loads: list[Let]
    steps: Block
    stores: list[Store]
    carries: list[Carry]

    @property
    def is_copy(self) -> bool:
        """Whether the elements of one array are written to another one as they are."""
        return not self.steps and len(self.loads) == len(self.stores) == 1 and (
            self.loads[0].target is self.stores[0].value and len({array.type.dtype for array in self.arrays}) == 1)

    @property
    def arrays(self) -> list[Any]:
        return list(dict.fromkeys([*(each.args[0] for each in self.loads), *(each.array for each in self.stores)]))


class Wide(Strided):
    """Prints such loops. `inside` is what a kernel makes itself, `fours` the numbers of four elements along an
    axis by its size, each with the arrays for which it is counted, and `singly` the sizes of axes along which it goes
    one by one."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.inside: set[Any] = set()
        self.fours: dict[Extent, tuple[str, list[Var]]] = {}
        self.singly: set[Extent] = set()

    def along(self, index: Index, block: Block, steps: Steps, origin: Any, carries: list[Carry] | None = None,
              start: Extent = 0) -> list[Item]:
        """A strided loop over the places of an index, with what is handed on."""
        stream = streamed(index, block, carries or [])
        size = whole(start, index.size)
        columns = [] if stream or carries or start != 0 or not isinstance(size, Size) else columns_beside(index, block)
        if columns and self._are_apart(size, columns):                  # type: ignore[arg-type]
            return self._four_columns(index, block, self._counted(size, columns), steps, origin)    # type: ignore
        if stream is None or size is None or not self._are_apart(size, stream.arrays):
            items = self.block(block) + self.handed_on(carries or [], origin)
            return self.strided(index, items, steps, origin, start)
        return self._by_fours(index, stream, self._counted(size, stream.arrays), steps, origin, start)

    def strided(self, index: Index, *given: Any) -> list[Item]:
        self.singly.add(index.size)
        return super().strided(index, *given)

    def steps_along(self, size: Extent) -> ast.expr:
        """How many steps it takes along an axis: `n`, or `n - 3 * fours`, where four together are one."""
        if size not in self.fours:
            return self.size(size)
        fours = ast.BinOp(number(LANES - 1), ast.Mult(), ast.Name(self.fours[size][0]))
        return ast.BinOp(self.size(size), ast.Sub(), fours)

    def _are_apart(self, size: Extent, arrays: list[Var]) -> bool:
        """Whether the driver knows arrays, and a size."""
        return self.inside.isdisjoint((*arrays, *atom_vars((size,))))

    def _counted(self, size: Extent, arrays: list[Var]) -> str:
        """The name of how many times four elements there are along an axis, in these arrays too."""
        if size not in self.fours:
            self.fours[size] = self.names.keep("fours"), []
        name, known = self.fours[size]
        known += [array for array in arrays if array not in known]
        return name

    # -- the two loops --------------------------------------------------------------------------

    def _by_fours(self, index: Index, stream: Stream, fours: str, steps: Steps, origin: Any, start: Extent
                  ) -> list[Item]:
        step, (first, distance) = None if stream.is_copy else self._step(stream), steps
        with self.names.scope():
            k = ast.Name(self.names.index(Var(INT)))
            begin = first if start == 0 else _plus(self.size(start // LANES), first)
            end: ast.expr = ast.Name(fours)
            if start != 0:
                end = ast.Call(ast.Name("min"), [self.size((start + _chunk(index.size)) // LANES), end], [])
            items = self._copied(k, stream, origin) if step is None else self._four_at_once(k, stream, step, origin)
            wide = self.counting(k, begin, end, distance, items, origin)
        done: ast.expr = ast.BinOp(number(LANES), ast.Mult(), ast.Name(fours))
        if start != 0:
            done = ast.Call(ast.Name("max"), [self.size(start), done], [])
        name = ast.Name(self.names.of[index.var])
        end = self.size(later(start, index.size))
        items = self.block([*stream.loads, *stream.stores]) if step is None else self._one(stream, step, origin)
        return wide + self.counting(name, _plus(done, first), end, distance, items, origin)

    def _copied(self, k: ast.Name, stream: Stream, origin: Any) -> list[Item]:
        """`set_four(y, k, four_of(x, k))`."""
        (load,), (store,) = stream.loads, stream.stores
        items = self._intrinsic("four_of", self._row(load.args[0], load.args[1:]), k)
        return [Line(ast.Expr(self._intrinsic("set_four", self._row(store.array, store.at), k, items)), origin)]

    def _four_at_once(self, k: ast.Name, stream: Stream, step: Step, origin: Any) -> list[Item]:
        """Four elements of every array are read, four of them computed, and written."""
        items: list[Item] = []
        lanes = {load.target: [self._lane(load.args[0], lane) for lane in range(LANES)] for load in stream.loads}
        for load in stream.loads:
            call = self._intrinsic("four_of", self._row(load.args[0], load.args[1:]), k)
            items.append(Line(ast.Assign([ast.Tuple([*map(ast.Name, lanes[load.target])])], call), origin))
        made = [[self._lane(store.array, lane) for store in stream.stores] for lane in range(LANES)]
        for lane in range(LANES):
            inputs = [lanes[load.target][lane] for load in stream.loads]
            targets: list[ast.expr] = [*map(ast.Name, [*step.carries, *made[lane]])]
            items.append(_given(targets, step.call(inputs), origin))
        for n, store in enumerate(stream.stores):
            values = ast.Tuple([ast.Name(names[n]) for names in made])
            call = self._intrinsic("set_four", self._row(store.array, store.at), k, values)
            items.append(Line(ast.Expr(call), origin))
        return items

    def _intrinsic(self, name: str, *args: ast.expr) -> ast.expr:
        return ast.Call(ast.Name(self.numbers.functions.wide(name)), list(args), [])

    def _lane(self, array: Any, lane: int) -> str:
        """`x0`, or `x2_0`: what a thread has of an array."""
        return self.names.give(Var(ArrayType(array.type.dtype)), self._wished(array, lane))

    def _one(self, stream: Stream, step: Step, origin: Any) -> list[Item]:
        inputs = [self.subscript(load.args[0], load.args[1:]) for load in stream.loads]
        targets = [*map(ast.Name, step.carries), *(self.subscript(store.array, store.at) for store in stream.stores)]
        return [_given(targets, step.call(inputs), origin)]

    def _row(self, array: Any, at: tuple[Any, ...]) -> ast.expr:
        """What lies along the last axis."""
        return self.subscript(array, at[:-1]) if len(at) > 1 else self.atom(array)

    # -- columns ----------------------------------------------------------------------------------

    def _four_columns(self, index: Index, block: Block, fours: str, steps: Steps, origin: Any) -> list[Item]:
        """A loop over four columns at once, and one over those that are left."""
        first, distance = steps
        with self.names.scope():
            four = Var(INT)
            k = ast.Name(self.names.index(four))
            self.unsigned.add(four)
            made = FourColumns(index, four).of(block)
            self.inlining.note(made)
            wide = self.counting(k, first, ast.Name(fours), distance, self.block(made), origin)
        begin = _plus(ast.BinOp(number(LANES), ast.Mult(), ast.Name(fours)), first)
        name, end = ast.Name(self.names.of[index.var]), self.size(index.size)
        return wide + self.counting(name, begin, end, distance, self.block(block), origin)

    def _let(self, stmt: Let) -> list[Item]:
        if stmt.op is not FourOf:
            return super()._let(stmt)
        array, *at, k = stmt.args
        names = [self.names.give(target, self._wished(array, lane)) for lane, target in enumerate(stmt.targets)]
        row = self.subscript(array, tuple(at)) if at else self.atom(array)
        call = self._intrinsic("four_of", row, ast.Name(self.names.of[k]))
        return [Line(ast.Assign([ast.Tuple([*map(ast.Name, names)])], call), stmt.origin)]

    def _wished(self, array: Any, lane: int) -> str:
        name = self.names.of[array]
        return f"{name}{'_' * name[-1].isdigit()}{lane}"

    # -- what is computed of an element -----------------------------------------------------------

    def _step(self, stream: Stream) -> Step:
        outside = {*self.names.of.values(), *self.names.sizes.values()}
        carries = [self.names.of[carry.entry] for carry in stream.carries]
        with self.names.scope():
            own = [*carries, *(self.names.give(load.target, self.names.wish(load)) for load in stream.loads)]
            items = self.block(stream.steps)
            made = [self.atom(atom) for atom in (*(carry.next for carry in stream.carries),
                                                 *(store.value for store in stream.stores))]
            items.append(Line(ast.Return(made[0] if len(made) == 1 else ast.Tuple(made))))
            others = [name for name in taken(items, outside) if name not in own]
        params = ast.arguments([], [*map(ast.arg, [*own, *others])], None, [], [], None, [])
        wish = f"next_{carries[0]}" if carries else f"{self.names.of[stream.stores[0].array]}_at"
        task = Group(ast.FunctionDef("", params, [], [], None), items)
        name = self.numbers.functions.step(task, wish, self.names.used | self.names.reserved)
        self.names.reserved.add(name)
        return Step(name, carries, others)


@dataclass
class Step:
    """The function of an element: its name, what is handed on through it, and what else it is given."""

    name: str
    carries: list[str]
    others: list[str]

    def call(self, inputs: list[Any]) -> ast.expr:
        trees = [ast.Name(each) if isinstance(each, str) else each for each in (*self.carries, *inputs, *self.others)]
        return ast.Call(ast.Name(self.name), trees, [])


def streamed(index: Index, block: Block, carries: list[Carry]) -> Stream | None:
    """A loop as one over elements side by side; None if it is not, or computes much."""
    loads = [stmt for stmt in block if is_load(stmt) and index.var in atom_vars(stmt.args[1:])]
    stores = [stmt for stmt in block if isinstance(stmt, Store)]
    steps = [stmt for stmt in block if stmt not in loads and stmt not in stores]
    if not loads or len(steps) > MOST_STEPS or not all(map(_is_number, _all(steps))):
        return None
    inside = {index.var, *(carry.entry for carry in carries), *(var for stmt in _all(block) for var in defined(stmt))}
    if not all(is_beside(each.args[0], each.args[1:], index, inside) for each in loads):
        return None
    if any(store.adds or not is_beside(store.array, store.at, index, inside) for store in stores):
        return None
    if index.var in _uses(steps, stores, carries) or not _keeps(block, loads, steps, stores):
        return None
    return Stream(loads, steps, stores, carries)


def _is_number(stmt: Any) -> bool:
    """Whether a statement computes numbers alone."""
    return isinstance(stmt, If) or isinstance(stmt, Let) and not stmt.op.of_sequences


def _all(block: Block) -> list[Any]:
    return list(statements(block))


def _uses(steps: Block, stores: list[Store], carries: list[Carry]) -> set[Var]:
    """The variables that numbers are computed of."""
    used = {var for stmt in _all(steps) for var in mentioned(stmt)}
    return used | set(atom_vars([*(store.value for store in stores), *(carry.next for carry in carries)]))


def _keeps(block: Block, loads: list[Let], steps: Block, stores: list[Store]) -> bool:
    """Whether what is written is read at the same places alone, and before."""
    written: dict[Any, Store] = {store.array: store for store in stores}
    if len(written) < len(stores) or any(each.args[0] in written for each in _all(steps) if is_load(each)):
        return False
    both = [(load, written[load.args[0]]) for load in loads if load.args[0] in written]
    return all(load.args[1:] == store.at and block.index(load) < block.index(store) for load, store in both)


def whole(start: Extent, size: Extent) -> Extent | None:
    """How long an axis is of which a loop takes this part; None where the part has no fours of its own."""
    if start == 0:
        return size if isinstance(size, Size) else None
    chunk = _chunk(size)
    if not isinstance(start, Size) or any(count % LANES for count in start.terms.values()) or chunk % LANES:
        return None
    end = only_atom(later(start, size))
    if not isinstance(end, Least):
        return None
    ends = [each for each in (end.first, end.second) if each != start + chunk]
    return ends[0] if len(ends) == 1 else None


def _chunk(size: Extent) -> int:
    """The number that a part is at most; 1 where there is none."""
    part = only_atom(size)
    ends = (part.first, part.second) if isinstance(part, Least) else ()
    return next((each for each in ends if isinstance(each, int)), 1)


def _plus(left: ast.expr, right: ast.expr) -> ast.expr:
    return ast.BinOp(left, ast.Add(), right)


def _given(targets: list[ast.expr], call: ast.expr, origin: Any) -> Item:
    return Line(ast.Assign([targets[0] if len(targets) == 1 else ast.Tuple(targets)], call), origin)
