"""Loops: `for` over a range or over rows, `while`, and the storage of what loops record."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from ..core.grammar import Let, Loop, Var
from ..core.sizes import Size, Unknown
from ..core.types import WEAK_NAMES, ArrayType, SeqType
from ..core.walk import size_of_atom
from .aliasing import is_array
from .expressions import copied, dotted, dtype_tree
from .flow import READ, STEPS, appends
from .items import Each
from .kept import goes_on, handed_on
from .layout import Group, Item, Line
from .numbers import is_zero, number
from .statements import Statements
from .stores import Store

FIRST_LENGTH = 16  # of storage that grows


class Loops(Statements):
    """Prints everything, loops included."""

    uses_grow = False

    def _loop(self, stmt: Loop) -> list[Item]:
        span = self.flow.spans[stmt]
        before = self.moves(span.head, stmt.origin)
        before += self._storage(stmt)
        counter = self.flow.counters.get(stmt)
        if counter is not None:
            before.append(Line(ast.Assign([ast.Name(self._name(counter))], number(0)), stmt.origin))
        test = self.block(stmt.test)
        body = self._body(stmt) + self.moves(span.end, stmt.origin)
        if counter is not None:
            body.append(Line(ast.AugAssign(ast.Name(self._name(counter)), ast.Add(), number(1)), stmt.origin))
        loop = self._while(stmt, test, body) if stmt.trips is None else self._for_while(stmt, test, body)
        return [*before, loop, *self._counted(stmt), *self._trimmed(stmt), *self.moves(span.exit)]

    def _while(self, stmt: Loop, test: list[Item], body: list[Item]) -> Item:
        if stmt in self.expressions.nesting.conditions:
            return Group(ast.While(self.expressions.test(stmt.cond), [], []), body, [], stmt.origin)
        return Group(ast.While(ast.Constant(True), [], []), [*test, self._leave(stmt), *body], [], stmt.origin)

    def _for_while(self, stmt: Loop, test: list[Item], body: list[Item]) -> Item:
        leave = [] if stmt.cond is None else [*test, self._leave(stmt)]
        return self._for(stmt, [*leave, *body])

    def _leave(self, stmt: Loop) -> Item:
        """`if not condition: break`."""
        test = self.expressions.inverted(stmt.cond)
        return Group(ast.If(test, [], []), [Line(ast.Break(), stmt.origin)], [], stmt.origin)

    def _counted(self, stmt: Loop) -> list[Item]:
        """The count of iterations by its own name, where the counter could not have it."""
        count, counter = stmt.count, self.flow.counters.get(stmt)
        if count is None or counter is None or count not in self.flow.needed.used:
            return []
        if self.variables[count] is self.variables[counter]:
            return []
        return [Line(ast.Assign([ast.Name(self._name(count))], ast.Name(self._name(counter))), stmt.origin)]

    # -- heads ------------------------------------------------------------------------------------

    def _for(self, stmt: Any, body: list[Item]) -> Item:
        rows = self.rows_of(stmt)
        if rows:
            return self._for_rows(stmt, rows, body)
        form = self.flow.forms[stmt]
        used = self.flow.count.get(form.variable)
        target = ast.Name(self._name(form.variable) if used else "_")
        bounds = [self._extent(form.start), self._extent(form.stop)]
        if not used and not form.index:
            bounds = [self._extent(form.count)]
        elif form.step != 1:
            bounds.append(number(form.step))
        elif is_zero(bounds[0]):
            bounds = bounds[1:]
        return Group(ast.For(target, ast.Call(ast.Name("range"), bounds, []), [], []), body, [], stmt.origin)

    def _extent(self, size: Any) -> ast.expr:
        return self.expressions.sizes.tree(size, self.expressions.var)

    def rows_of(self, stmt: Any) -> list[Any]:
        """The reads of a loop that does nothing with its position but read whole arrays row by row."""
        reads = [read for read in stmt.reads if read.target in self.flow.needed.used]
        form = self.flow.forms[stmt]
        plain = form.variable is stmt.position and form.start == 0 and form.step == 1
        if not reads or not plain or self.flow.count.get(form.variable) != len(reads):
            return []
        if getattr(stmt, "cond", None) is not None:
            return []
        named = all(read.target not in self.expressions.nesting.values for read in reads)
        whole = all(isinstance(read, Each) or self._is_whole(read.source, stmt) for read in reads)
        return reads if named and whole else []

    def _is_whole(self, source: Any, stmt: Any) -> bool:
        """Whether a loop runs over all rows of an array."""
        if not is_array(source) or not isinstance(source.type, ArrayType):
            return False
        normal = self.flow.sizes.normal
        return bool(normal(source.type.sizes[0]) == normal(size_of_atom(stmt.trips)))

    def _for_rows(self, stmt: Any, rows: list[Any], body: list[Item]) -> Item:
        targets: list[ast.expr] = [ast.Name(self._name(read.target)) for read in rows]
        sources = list(map(self._rows, rows))
        if len(rows) == 1:
            return Group(ast.For(targets[0], sources[0], [], []), body, [], stmt.origin)
        together = ast.Call(ast.Name("zip"), sources, [])
        return Group(ast.For(ast.Tuple(targets), together, [], []), body, [], stmt.origin)

    def _rows(self, read: Any) -> ast.expr:
        part = read.part if isinstance(read, Each) else None
        rows = self.expressions.atom(read.source)
        return rows if part is None else ast.Subscript(rows, part)

    # -- bodies -----------------------------------------------------------------------------------

    def _body(self, stmt: Any) -> list[Item]:
        items = self._grown(stmt)
        if stmt.trips is None or not self.rows_of(stmt):
            items += self._reads(stmt)
        items += self.stored(self.flow.stored.on_entry.get(stmt, ()))
        return items + self.block(stmt.body)

    def _reads(self, stmt: Any) -> list[Item]:
        return [
            Line(ast.Assign([ast.Name(self._name(read.target))], self.read(read.source, stmt)), stmt.origin)
            for read in stmt.reads
            if read.target in self.flow.needed.used and read.target not in self.expressions.nesting.values
        ]

    def read(self, source: Any, loop: Any) -> ast.expr:
        """`xs[k]`."""
        base, places, together = self._sequence(source)
        row = _at(base, [*places, self.position(loop, self._shift(source))], together)
        kind = _python_number(source.type)
        if kind is None or kind[0] not in self.expressions.constants.rows_as_python:
            return row
        return ast.Call(ast.Name(kind), [row], [])

    def _sequence(self, var: Var) -> tuple[ast.expr, list[ast.expr], bool]:
        """A sequence as an array, an index into it, and whether one index can have all its parts."""
        store = self.flow.stored.row(var)
        if store is not None and store.states is not None:
            return self._sequence(store.states.record.target)
        if store is not None:
            assert store.outer is not None
            base, places, together = self._sequence(store.outer.record.target)
            return base, [*places, self.position(store.outer.loop)], together
        if var in self.expressions.nesting.values and self.aliases.homes[var].kind == "read":
            _, loop, item, _ = self.aliases.homes[var]
            base, places, together = self._sequence(item.source)
            return base, [*places, self.position(loop)], together
        own = self.flow.stored.of.get(var)
        together = own is not None and own.kind != "list" or isinstance(var.type, ArrayType)
        return self.expressions.var(var), [], together

    def name(self, var: Var) -> ast.expr:
        """The tree of a variable: its name, or a position told from the index of its loop."""
        kind, loop, _, _ = self.aliases.homes[var]
        if kind == "position" and self.flow.position(loop) is not var:
            return self.position(loop)
        return ast.Name(self._name(var))

    def position(self, loop: Any, shift: int = 0) -> ast.expr:
        """The position of a loop, told from its variable; or a place behind it."""
        form = self.flow.forms.get(loop)
        place = Size.of(Unknown(self.flow.position(loop))) if form is None else form.place
        return self._extent(place + shift)

    def _shift(self, source: Any) -> int:
        store = self.flow.stored.of.get(source)
        return 0 if store is None else store.shift

    # -- storage ----------------------------------------------------------------------------------

    def _stores_of(self, stmt: Any) -> list[Store]:
        stores = [self.flow.stored.of[record.target] for record in stmt.records]
        return [s for s in stores if s.kind not in ("row", "states") and s.record.target in self.flow.needed.used]

    def _storage(self, stmt: Any) -> list[Item]:
        """What is made before a loop to hold what it records."""
        items: list[Item] = []
        for store in self._stores_of(stmt):
            name = ast.Name(self._name(store.record.target))
            items.append(Line(ast.Assign([name], self._empty(store)), stmt.origin))
            if store.begins is not None:
                first = number(0) if store.shift else self.expressions.atom(stmt.trips)
                items.append(Line(ast.Assign([ast.Subscript(name, first)], self.expressions.var(store.begins)),
                                  stmt.origin))
        return items

    def _empty(self, store: Store) -> ast.expr:
        if store.kind == "list":
            if appends(store) or store.loop.trips is None:
                return ast.List([])
            return ast.BinOp(ast.List([ast.Constant(None)]), ast.Mult(), self.expressions.atom(store.loop.trips))
        assert store.element is not None
        longer = 0 if store.begins is None else 1
        first = number(FIRST_LENGTH) if store.kind == "growing" else self._extent(
            size_of_atom(store.loop.trips) + longer)
        dtype = [] if store.element.dtype == float else [dtype_tree(store.element.dtype)]
        return ast.Call(dotted("np.empty"), [self._shape(first, store), *dtype], [])

    def _shape(self, first: ast.expr, store: Store) -> ast.expr:
        """`n`, `(n, m)`, or `(n,) + x.shape`."""
        if not store.sizes:
            return first
        whole = self.expressions.sizes.whole(store.sizes)
        if whole is not None and not self.expressions.sizes.are_named(store.sizes):
            return ast.BinOp(ast.Tuple([first]), ast.Add(), ast.Attribute(self.name(whole), "shape"))
        return ast.Tuple([first, *map(self._extent, store.sizes)])

    def _grown(self, stmt: Any) -> list[Item]:
        """Makes room for one more iteration."""
        items: list[Item] = []
        growing: list[str] = []
        for store in self._stores_of(stmt):
            name = self._name(store.record.target)
            if store.kind == "growing":
                growing.append(name)
            elif store.kind == "list" and stmt.trips is None and not appends(store):
                items.append(Line(_appended(name, ast.Constant(None)), stmt.origin))
        return [self._made_longer(stmt, growing), *items] if growing else items

    def _made_longer(self, stmt: Any, names: list[str]) -> Item:
        """Storage of one loop has one length: `if n == len(x_k): x_k = grow(x_k); y_k = grow(y_k)`."""
        self.uses_grow = True
        full = ast.Compare(self.position(stmt), [ast.Eq()], [ast.Call(ast.Name("len"), [ast.Name(names[0])], [])])
        grown = [ast.Assign([ast.Name(name)], ast.Call(ast.Name("grow"), [ast.Name(name)], [])) for name in names]
        lines: list[Item] = [Line(tree, stmt.origin) for tree in grown]
        return Group(ast.If(full, [], []), lines, [], stmt.origin)

    def _trimmed(self, stmt: Any) -> list[Item]:
        """Storage that may not be full is cut to its length where something else than a loop looks at it."""
        items: list[Item] = []
        for store in self._stores_of(stmt):
            if store.trimmed and store.kind == "growing" or store.is_cut:
                name = self._name(store.record.target)
                end = ast.Slice(None, self.expressions.atom(stmt.count) if store.is_cut else self.position(stmt), None)
                items.append(Line(ast.Assign([ast.Name(name)], ast.Subscript(ast.Name(name), end)), stmt.origin))
        return items

    def stored(self, stores: Iterable[Any]) -> list[Item]:
        items: list[Item] = []
        for store, value in stores:
            point = self.flow.stores_at.get((id(store), id(value)))
            if point is not None:
                items.append(Line(self._stored(store, value, point), store.loop.origin))
        return items

    def _stored(self, store: Store, value: Any, point: int) -> ast.stmt:
        """`xs[k] = x`, or `xs.append(x)`."""
        tree = self._of_row(value, store.kind) if self._has_row(value) else self.expressions.atom(value)
        if store.kind == "list" and self._needs_copy(value, point):
            tree = copied(tree)
        if appends(store):
            return _appended(self._name(store.record.target), tree)
        return ast.Assign([self.row(store)], tree)

    def _of_row(self, value: Var, kind: str) -> ast.expr:
        """What is stored and has no name: of a copy what is copied, as a row of an array is a copy itself."""
        stmt = self.flow.needed.homes[value].stmt
        if kind != "list" and isinstance(stmt, Let) and stmt.op.name == "copy":
            return self.expressions.atom(stmt.args[0])
        return self.expressions.definition(value)

    def _has_row(self, value: Any) -> bool:
        return isinstance(value, Var) and value in self.expressions.nesting.rows

    def row(self, store: Store) -> ast.expr:
        """Where the value of the current iteration is stored: `xs[k]`."""
        base, places, together = self._sequence(store.record.target)
        return _at(base, [*places, self.position(store.loop, store.shift)], together)

    def _needs_copy(self, value: Any, point: int) -> bool:
        """Whether an array put into a list may be written in place later on, or is part of another."""
        if not is_array(value):
            return False
        fresh = self.aliases.root(value) is value and self.aliases.homes[value].kind == "let"
        place = point * STEPS + READ + 1
        if not fresh or not self.variables[value].covers(place, place):
            return not fresh
        return value in self._handed_on or goes_on(self.variables[value], value, self.aliases.homes)

    @cached_property
    def _handed_on(self) -> set[Var]:
        return handed_on(self.flow.function)


def _python_number(type: Any) -> str | None:
    """What makes a Python number of a row again, as NumPy's would widen float32 arrays."""
    element = type.element if isinstance(type, SeqType) else type
    if not isinstance(element, ArrayType) or not element.weak:
        return None
    return WEAK_NAMES[element.dtype.kind]


def _at(base: ast.expr, places: list[ast.expr], together: bool) -> ast.expr:
    """`base[i, j]`, or `base[i][j]` for lists."""
    if together and len(places) > 1:
        return ast.Subscript(base, ast.Tuple(places))
    for place in places:
        base = ast.Subscript(base, place)
    return base


def _appended(name: str, tree: ast.expr) -> ast.stmt:
    return ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "append"), [tree], []))
