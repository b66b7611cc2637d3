"""Kernels as source: what each thread does.

    threads                                      a block of threads
    i = cuda.grid(1)                             i = cuda.blockIdx.x
    while 0 <= i < n:                            while 0 <= i < n:
        y[i] = x[i] * x[i]                           total = np.float32(0.0)
        i += cuda.gridsize(1)                        j = cuda.threadIdx.x
                                                     while 0 <= j < m:
                                                         total += x[i, j]
                                                         j += cuda.blockDim.x
                                                     total = total_of_block(total, shared)
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ...core.grammar import Const, Let, Var
from ...core.sizes import product
from ...core.types import INT, ArrayType
from ...ops.arithmetic import Add
from ...write.expressions import dotted
from ...write.layout import Group, Item, Line
from ...write.sizes import number
from ..nests import Allocate, Block, Fold, Index, Launch, Nest, Store, loaded, statements
from ..numbers import literal
from ..private import private_arrays
from ..sharing import taken
from ..source import Printer
from ..statements import assignments
from ..threads import combination
from . import grids
from .shares import flattened, is_along_rows, is_combined, shared_indices
from .telling import Telling, may_fail, status
from .tiles import bound

AXES = "xyz"
GRIDS = {"threads": grids.over_threads, "blocks": grids.over_blocks, "block": grids.one_block,
         "thread": grids.one_thread}


class Kernels(Printer):
    """Prints launches, and the kernels that they launch. `together` says that a block of threads does what is
    printed."""

    together = False
    telling: Telling | None = None
    has_tiles = False                  # whether blocks have memory that their threads share

    # -- a kernel -----------------------------------------------------------------------------

    def _launch(self, stmt: Launch) -> list[Item]:
        if may_fail(stmt.body):
            return self._telling(stmt)
        return [self._launched(stmt)]

    def _telling(self, stmt: Launch) -> list[Item]:
        """A launch, with what the kernel tells of errors."""
        self.telling = told = Telling(self.names.give(status(), "status"), self.in_driver())
        launch = self._launched(stmt)
        self.telling = None
        return [told.before(), launch, *told.after(self.names.give(Var(INT), "code"))]

    def in_driver(self) -> Any:
        """What prints expressions in the driver."""
        raise NotImplementedError

    def _launched(self, stmt: Launch) -> Item:
        outside = {*self.names.of.values(), *self.names.sizes.values()}
        with self.names.scope():
            self.shared: dict[Any, str] = {}
            self.added = stmt.added
            self.has_tiles = False
            self.read = {array for each in stmt.body for array in loaded(each)}
            items = getattr(self, f"_by_{stmt.form}")(stmt)
            items = [*self._memory(), *items]
            given = taken(items, outside)
        name = self._kernel(items, given, f"fill_{self._filled(stmt)}")
        call = ast.Call(ast.Subscript(ast.Name(name), self._grid(stmt)), list(map(ast.Name, given)), [])
        return Line(ast.Expr(call), stmt.origin)

    def _kernel(self, items: list[Item], given: list[str], wish: str) -> str:
        params = ast.arguments([], [ast.arg(name) for name in given], None, [], [], None, [])
        task = Group(ast.FunctionDef("", params, [], [dotted("cuda.jit")], None), items)
        return self.numbers.functions.share(task, wish, self.names.used | self.names.reserved)

    def _filled(self, stmt: Launch) -> str:
        own = {each.target for each in statements(stmt.body) if isinstance(each, Allocate)}
        arrays = [each.array for each in statements(stmt.body) if isinstance(each, Store)]
        arrays.sort(key=lambda array: array in own)
        return next((self.names.of[array] for array in arrays if array in self.names.of), "nothing")

    def _memory(self) -> list[Item]:
        """`shared = cuda.shared.array(THREADS, np.float32)`, for each dtype that a block combines."""
        return [Line(ast.Assign([ast.Name(name)], ast.Call(dotted("cuda.shared.array"), [
            ast.Name("THREADS"), dotted(f"np.{dtype.name}")], []))) for dtype, name in self.shared.items()]

    # -- who does what ------------------------------------------------------------------------

    def _by_thread(self, stmt: Launch) -> list[Item]:
        return self.block(stmt.body)

    def _by_block(self, stmt: Launch) -> list[Item]:
        return self._as_block(lambda: self.block(stmt.body))

    def _by_threads(self, stmt: Launch) -> list[Item]:
        *before, nest = stmt.body
        items = self.block(before)
        return items + self._over(nest, stmt.indices, _of_grid, lambda: self.block(nest.body))

    def _by_blocks(self, stmt: Launch) -> list[Item]:
        *before, nest = stmt.body
        items = self._as_block(lambda: self.block(before))
        memory = {each.target for each in before if isinstance(each, Allocate)}
        self.has_tiles = bool(memory)
        self.read |= private_arrays(nest.body, memory) or memory             # by all their names
        return items + self._over(nest, stmt.indices, _of_blocks, lambda: self._as_block(lambda: self.block(nest.body)))

    def _as_block(self, body: Callable[[], list[Item]]) -> list[Item]:
        outer, self.together = self.together, True
        items = body()
        self.together = outer
        return items

    def _over(self, nest: Nest, indices: list[Index], start: Callable[[str], tuple[ast.expr, ast.expr]],
              body: Callable[[], list[Item]]) -> list[Item]:
        """Loops over the places that are a thread's, around those over other indices."""
        others = [index for index in nest.indices if index not in indices]
        for index in nest.indices:
            self.names.index(index.var)
        items = self._plain(others, body, nest.origin)
        for axis, index in zip(AXES, reversed(indices)):
            steps = LINE_OF_GRID if start is _of_grid and len(indices) == 1 else start(axis)
            items = self._strided(index, items, steps, nest.origin)
        return items

    def _plain(self, indices: list[Index], body: Callable[[], list[Item]], origin: Any) -> list[Item]:
        items = body()
        for index in reversed(indices):
            count = ast.Call(ast.Name("range"), [self.size(index.size)], [])
            items = [Group(ast.For(ast.Name(self.names.of[index.var]), count, [], [], None), items, [], origin)]
        return items

    def _strided(self, index: Index, items: list[Item], steps: tuple[ast.expr, ast.expr], origin: Any) -> list[Item]:
        """`i = first; while 0 <= i < n: …; i += step`. That no place is negative the compiler does not see otherwise:
        it would test at every read whether to count from the end."""
        first, step = steps
        name = self.names.of[index.var]
        test = ast.Compare(number(0), [ast.LtE(), ast.Lt()], [ast.Name(name), self.size(index.size)])
        body = [*items, Line(ast.AugAssign(ast.Name(name), ast.Add(), step), origin)]
        return [Line(ast.Assign([ast.Name(name)], first), origin), Group(ast.While(test, [], []), body, [], origin)]

    # -- what a block does together -----------------------------------------------------------

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
                items = self._over(nest, indices[-1:], _of_block, lambda: self.block(nest.body))
        self.together = True
        return self._apart(stmt, items)

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
        split = [Line(ast.Assign([row], ast.BinOp(name, ast.FloorDiv(), width)), nest.origin),
                 Line(ast.Assign([column], ast.BinOp(name, ast.Mod(), width)), nest.origin)]
        others = [index for index in nest.indices if index not in tile]
        inner = self._plain(others, lambda: self.block(nest.body), nest.origin)
        short = [index for index in tile if not isinstance(index.size, int)]
        tests: list[ast.expr] = [ast.Compare(ast.Name(self.names.of[index.var]), [ast.Lt()], [self.size(index.size)])
                                 for index in short]
        if tests:
            test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
            inner = [Group(ast.If(test, [], []), inner, [], nest.origin)]
        return self._strided(place, [*split, *inner], _of_block("x"), nest.origin)

    def _store(self, stmt: Store) -> list[Item]:
        items = self._added_at_once(stmt) if stmt.array in self.added else super()._store(stmt)
        if not self.together:
            return items
        return self._apart(stmt, [Group(ast.If(FIRST, [], []), items, [], stmt.origin)])

    def _added_at_once(self, stmt: Store) -> list[Item]:
        """`cuda.atomic.add(y, k, value)`."""
        places = list(map(self.atom, stmt.at))
        place = places[0] if len(places) == 1 else ast.Tuple(places)
        call = ast.Call(dotted("cuda.atomic.add"), [self.atom(stmt.array), place, self.atom(stmt.value)], [])
        return [Line(ast.Expr(call), stmt.origin)]

    def _apart(self, stmt: Any, items: list[Item]) -> list[Item]:
        """What writes to an array that the kernel reads, between barriers."""
        wait = Line(ast.Expr(WAIT), stmt.origin)
        written = {each.array for each in statements([stmt]) if isinstance(each, Store)}
        return items if written.isdisjoint(self.read) else [wait, *items, wait]

    def block(self, block: Block) -> list[Item]:
        items = super().block(block)
        return tidied(items) if self.together else items

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
        makers: list[Any] = [combination(carry, stmt) for carry in stmt.carries]
        for carry, maker in zip(stmt.carries, makers, strict=True):
            name = self.names.give(carry.entry, "total")
            self.names.of[carry.out] = name
            items.append(Line(ast.Assign([ast.Name(name)], self._begin(carry, maker)), stmt.origin))
        self.together = False
        index, *inner = _outermost_last(stmt)
        with self.names.scope():
            for each in stmt.indices:
                self.names.index(each.var)
            body = self._plain(inner, lambda: self.block(stmt.body) + self._next(stmt), stmt.origin)
            items += self._strided(index, body, _of_block("x"), stmt.origin)
        self.together = True
        for carry, maker in zip(stmt.carries, makers, strict=True):
            items.append(self._total(carry, maker, stmt))
        return items

    def _begin(self, carry: Any, maker: Let) -> ast.expr:
        """What a thread begins with: nothing to add, or what there is to be compared with."""
        if maker.op is not Add:
            return self.atom(carry.init)
        dtype = carry.entry.type.dtype
        return literal(Const(dtype.type(0), ArrayType(dtype)))

    def _total(self, carry: Any, maker: Let, stmt: Fold) -> Item:
        """`total = total_of_block(total, shared)`, with what the fold began with."""
        name, dtype = self.names.of[carry.out], carry.entry.type.dtype
        if dtype not in self.shared:
            self.shared[dtype] = self.names.give(Var(INT), "shared" if not self.shared else f"shared_{dtype.name}")
        a, b = Var(ArrayType(dtype)), Var(ArrayType(dtype))
        combined = self.numbers.application(Let((carry.out,), maker.op, (a, b), dict(maker.attrs)),
                                            [ast.Name("a"), ast.Name("b")])
        function = self.numbers.functions.of_block(maker.op.name, combined)
        tree: ast.expr = ast.Call(ast.Name(function), [ast.Name(name), ast.Name(self.shared[dtype])], [])
        if maker.op is Add and not _is_zero(carry.init):
            tree = ast.BinOp(self.atom(carry.init), ast.Add(), tree)
        return _Combined(assignments([(name, tree)])[0], stmt.origin)

    # -- grids --------------------------------------------------------------------------------

    def _grid(self, stmt: Launch) -> ast.expr:
        """How many blocks, of how many threads: `over_threads(m, n)`, the innermost axis first."""
        self.numbers.functions.grids.add(GRIDS[stmt.form])
        sizes = [self.size(index.size) for index in reversed(stmt.indices)]
        return ast.Call(ast.Name(GRIDS[stmt.form].__name__), sizes, [])


def _outermost_last(stmt: Fold) -> list[Index]:
    """The index that threads share: the last one, along which memory goes; and the others."""
    return [stmt.indices[-1], *stmt.indices[:-1]]


def _is_zero(atom: Any) -> bool:
    return isinstance(atom, Const) and atom.value == 0


class _Combined(Line):
    """Where threads combine their numbers, which ends with a barrier."""


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


def _of_grid(axis: str) -> tuple[ast.expr, ast.expr]:
    """The first place of a thread in the grid along an axis, and the distance to its next."""
    first = f"cuda.blockIdx.{axis} * cuda.blockDim.{axis} + cuda.threadIdx.{axis}"
    return _parsed(first), _parsed(f"cuda.gridDim.{axis} * cuda.blockDim.{axis}")


def _of_blocks(axis: str) -> tuple[ast.expr, ast.expr]:
    return _parsed(f"cuda.blockIdx.{axis}"), _parsed(f"cuda.gridDim.{axis}")


def _of_block(axis: str) -> tuple[ast.expr, ast.expr]:
    return _parsed(f"cuda.threadIdx.{axis}"), _parsed(f"cuda.blockDim.{axis}")


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


LINE_OF_GRID = _parsed("cuda.grid(1)"), _parsed("cuda.gridsize(1)")
WAIT, FIRST = _parsed("cuda.syncthreads()"), _parsed("cuda.threadIdx.x == 0")
