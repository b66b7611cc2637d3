"""What the threads of a block do together: places of nests are shared, folds are combined.

    total = np.float32(0.0)
    j = Place(cuda.threadIdx.x)
    while j < m:
        total += x[i, j]
        j = Place(j + cuda.blockDim.x)
    total = add_of_block(total, shared)
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import groupby
from typing import Any

from ...core.grammar import Carry, Const, Let, Loop, Var
from ...core.sizes import product
from ...core.types import INT, ArrayType
from ...write.expressions import dotted
from ...write.layout import Group, Item, Line
from ...write.numbers import number
from ..nest.combinations import Best, Combined, combinations
from ..nest.nest_walk import loaded, statements
from ..nest.nests import GREATEST, Block, Fold, Index, Nest, Store
from ..printing.numbers import literal
from ..printing.statements import assignments
from .combining import best_of_block, of_block
from .places import as_place
from .shares import flattened, is_along_rows, is_combined, shared_indices, shared_loop
from .strided import OF_BLOCK, parsed, started
from .tiles import bound
from .wide import Wide


class Together(Wide):
    """Prints what a block does. `together` says that a block of threads does what is printed, `shared` is memory
    through which they combine numbers, by dtype."""

    together = False
    has_tiles = False                  # whether blocks have memory that their threads share

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.shared: dict[Any, str] = {}
        self.read: set[Var] = set()                                      # arrays that the kernel reads
        self.added: set[Var] = set()                                     # arrays to which several threads may add

    def as_block(self, body: Callable[[], list[Item]]) -> list[Item]:
        outer, self.together = self.together, True
        items = body()
        self.together = outer
        return items

    def block(self, block: Block) -> list[Item]:
        return tidied(super().block(_numbers_first(block))) if self.together else super().block(block)

    def _nest(self, stmt: Nest) -> list[Item]:
        if not self.together:
            return super()._nest(stmt)
        nest = flattened(stmt)
        indices = shared_indices(nest)
        tile = indices[-2:] if self.has_tiles and all(self._bound(each) for each in indices[-2:]) else []
        self.together = False
        with self.names.scope():
            if len(tile) > 1:
                items = self._over_tile(nest, tile)
            else:
                items = self.over(nest, [(indices[-1:], OF_BLOCK)])
        self.together = True
        return self._apart(stmt, items)

    def _loop(self, stmt: Loop) -> list[Item]:
        nest = shared_loop(stmt) if self.together else None
        return super()._loop(stmt) if nest is None else self._nest(nest)

    def _bound(self, index: Index) -> int | None:
        return bound(index.size, self.lowered.assumptions)

    def _over_tile(self, nest: Nest, tile: list[Index]) -> list[Item]:
        """A nest whose places along two axes are shared by all threads of a block, as those of one line:
        `row, column = place // 8, place % 8`. Where the tile is cut short, threads have nothing to do."""
        for index in nest.indices:
            self.names.index(index.var)
        place = Index(Var(INT, "place"), product(self._bound(index) for index in tile))
        self.names.index(place.var)
        row, column = (ast.Name(self.names.of[index.var]) for index in tile)
        width, name = number(self._bound(tile[1])), ast.Name(self.names.of[place.var])
        self.unsigned.update((place.var, *(index.var for index in tile)))
        split = [Line(ast.Assign([row], as_place(ast.BinOp(name, ast.FloorDiv(), width))), nest.origin),
                 Line(ast.Assign([column], as_place(ast.BinOp(name, ast.Mod(), width))), nest.origin)]
        others = [index for index in nest.indices if index not in tile]
        inner = self.plainly(others, lambda: self.block(nest.body), nest.origin)
        short = [index for index in tile if not isinstance(index.size, int)]
        tests: list[ast.expr] = [ast.Compare(ast.Name(self.names.of[index.var]), [ast.Lt()], [self.size(index.size)])
                                 for index in short]
        if tests:
            test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
            inner = [Group(ast.If(test, [], []), inner, [], nest.origin)]
        return self.strided(place, [*split, *inner], OF_BLOCK, nest.origin)

    def _store(self, stmt: Store) -> list[Item]:
        at_once = stmt.array in self.added or stmt.adds == GREATEST
        items = self._added_at_once(stmt) if at_once else super()._store(stmt)
        if not self.together:
            return items
        return self._apart(stmt, [Group(ast.If(FIRST, [], []), items, [], stmt.origin)])

    def _added_at_once(self, stmt: Store) -> list[Item]:
        """`cuda.atomic.add(y, k, value)`, or `cuda.atomic.max`."""
        places = list(map(self.place, stmt.at))
        place = places[0] if len(places) == 1 else ast.Tuple(places)
        function = dotted("cuda.atomic.max" if stmt.adds == GREATEST else "cuda.atomic.add")
        call = ast.Call(function, [self.atom(stmt.array), place, self.atom(stmt.value)], [])
        return [Line(ast.Expr(call), stmt.origin)]

    def _apart(self, stmt: Any, items: list[Item]) -> list[Item]:
        """What writes to an array that the kernel reads, between barriers."""
        wait = Line(ast.Expr(WAIT), stmt.origin)
        written = {each.array for each in statements([stmt]) if isinstance(each, Store)}
        return items if written.isdisjoint(self.read) else [wait, *items, wait]

    def _fold(self, stmt: Fold) -> list[Item]:
        if self.together and is_along_rows(stmt):
            return super()._fold(stmt)
        if not self.together or not is_combined(stmt):
            outer, self.together = self.together, False
            items = super()._fold(stmt)
            self.together = outer
            return items
        return self._apart(stmt, self._combined(stmt))

    def _combined(self, stmt: Fold) -> list[Item]:
        """Each thread folds some of the items; then their results are combined."""
        items: list[Item] = []
        groups: Any = combinations(stmt)
        begins = {carry: begin for each in groups for carry, begin in zip(each.carries, each.begins(), strict=True)}
        wishes = {carry: wish for each in groups if isinstance(each, Best)
                  for carry, wish in zip(each.carries, ("best", "place"), strict=True)}
        for carry in stmt.carries:
            name = self.names.give(carry.entry, wishes.get(carry, "total"))
            self.names.of[carry.out] = name
            items.append(Line(ast.Assign([ast.Name(name)], self._begun(carry, begins[carry])), stmt.origin))
        self.together = False
        index, *inner = _outermost_last(stmt)
        start = started(stmt, index, self.unsigned)
        self.unsigned.add(index.var)
        with self.names.scope():
            for each in stmt.indices:
                self.names.index(each.var)
            items += self.plainly(inner, lambda: self.along(index, stmt.body, OF_BLOCK, stmt.origin, stmt.carries,
                                                            start), stmt.origin)
        self.together = True
        for each in groups:
            items.append(self._best(each, stmt) if isinstance(each, Best) else self._total(each, stmt))
        return items

    def _begun(self, carry: Carry, begin: Any) -> ast.expr:
        """What a thread begins with."""
        return self.atom(begin) if begin is carry.init else literal(begin)

    def _memory_of(self, dtype: Any, count: int = 0) -> ast.Name:
        """The memory through which threads combine numbers of a dtype, of several at once the `count`-th."""
        if (dtype, count) not in self.shared:
            wish = "shared" if not self.shared else f"shared_{dtype.name}"
            self.shared[dtype, count] = self.names.give(Var(INT), wish)
        return ast.Name(self.shared[dtype, count])

    def _total(self, each: Combined, stmt: Fold) -> Item:
        """`total = total_of_block(total, shared)`, with what the fold began with."""
        carry, step = each.carry, each.step
        name, dtype = self.names.of[carry.out], carry.entry.type.dtype   # type: ignore[union-attr]
        memory = self._memory_of(dtype)
        a, b = Var(ArrayType(dtype)), Var(ArrayType(dtype))
        made = Let((carry.out,), step.op, (a, b), dict(step.attrs))
        combined = self.numbers.application(made, [ast.Name("a"), ast.Name("b")])
        function = self.numbers.functions.of_block(step.op.name, of_block(dtype), combined)
        tree: ast.expr = ast.Call(self.function_name(function), [ast.Name(name), memory], [])
        if each.neutral is not None and not _is_number(carry.init, each.neutral):
            tree = self.numbers.application(Let((carry.out,), step.op, (carry.init, b), dict(step.attrs)),
                                            [self.atom(carry.init), tree])
        return _Combined(assignments([(name, tree)])[0], stmt.origin)

    def _best(self, each: Best, stmt: Fold) -> Item:
        """`best, place = first_of_block(best, place, shared, shared_int64)`."""
        dtypes = [carry.entry.type.dtype for carry in each.carries]      # type: ignore[union-attr]
        names = [self.names.of[carry.out] for carry in each.carries]
        memory = [self._memory_of(dtype, dtypes[:count].count(dtype)) for count, dtype in enumerate(dtypes)]
        text = best_of_block(*dtypes)
        function = self.numbers.functions.of_block("first", text, self._is_first(each))
        call = ast.Call(self.function_name(function), [*map(ast.Name, names), *memory], [])
        return _Combined(ast.Assign([ast.Tuple([*map(ast.Name, names)])], call), stmt.origin)

    def _is_first(self, each: Best) -> ast.expr:
        """Whether `b`, at the place `k`, comes before `a` at `place`."""
        ahead = ast.Compare(ast.Name("k"), [ast.Lt()], [ast.Name("place")])
        worse = ast.UnaryOp(ast.Not(), self._is_better(each, "a", "b"))
        return ast.BoolOp(ast.Or(), [self._is_better(each, "b", "a"), ast.BoolOp(ast.And(), [worse, ahead])])

    def _is_better(self, each: Best, item: str, own: str) -> ast.expr:
        trees: dict[Any, ast.expr] = {each.item: ast.Name(item), each.own: ast.Name(own)}
        for step in each.steps:
            trees[step.target] = self.numbers.application(step, [trees[arg] for arg in step.args])
        return trees[each.mask]


def _outermost_last(stmt: Fold) -> list[Index]:
    """The index that threads share: the last one, along which memory goes; and the others."""
    return [stmt.indices[-1], *stmt.indices[:-1]]


def _is_number(atom: Any, number: int) -> bool:
    return isinstance(atom, Const) and atom.value == number


class _Combined(Line):
    """Where threads combine their numbers, which ends with a barrier."""


def _numbers_first(block: Block) -> Block:
    """The block with numbers before what is written side by side with them, if they are not read where it is: all of
    that is one branch of the first thread then."""
    made: Block = []
    for is_plain, run in groupby(block, lambda stmt: isinstance(stmt, (Let, Store))):
        stmts = list(run)
        stores = [stmt for stmt in stmts if isinstance(stmt, Store)]
        numbers = [stmt for stmt in stmts if isinstance(stmt, Let)]
        if is_plain and len(stores) > 1 and {store.array for store in stores}.isdisjoint(
                array for stmt in numbers for array in loaded(stmt)):
            stmts = [*numbers, *stores]
        made += stmts
    return made


def tidied(items: list[Item]) -> list[Item]:
    """One barrier where there are several, and what the first thread does at once in one branch."""
    made: list[Item] = []
    for item in items:
        if _is_wait(item) and made and (_is_wait(made[-1]) or isinstance(made[-1], _Combined)):
            continue
        before = made[-2] if len(made) > 1 and _is_wait(made[-1]) else made[-1] if made else None
        if _is_of_first(item) and before is not None and _is_of_first(before):
            around = [made.pop()] if _is_wait(made[-1]) else []
            made.pop()
            ahead = [] if made and _is_wait(made[-1]) else around
            together = Group(before.head, [*before.body, *item.body], [], item.origin)   # type: ignore[union-attr]
            made += [*ahead, together, *around]
            continue
        made.append(item)
    return made


def _is_wait(item: Item) -> bool:
    return isinstance(item, Line) and isinstance(item.node, ast.Expr) and item.node.value is WAIT


def _is_of_first(item: Item) -> bool:
    return isinstance(item, Group) and isinstance(item.head, ast.If) and item.head.test is FIRST


WAIT, FIRST = parsed("cuda.syncthreads()"), parsed("cuda.threadIdx.x == 0")
