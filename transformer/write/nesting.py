"""Which values are printed inside the expression that uses them, instead of having a name.

A value is nested if it is used once, in the block that computes it, if nothing that it reads changes in
between, if the user gave it no name, and if the line stays one that a person would write.
"""

from __future__ import annotations

from typing import Any

from ..core.grammar import UNDEFINED, Block, Call, Effect, If, Let, Loop, Merge, Stmt, Var
from ..core.types import SeqType
from ..core.walk import METHODS, WRITES, has_effects
from .aliasing import Aliases, is_array
from .fitting import MOST_OPS, Fitting, Nesting, Pending
from .flow import STEPS, Flow, Move
from .items import Each
from .liveness import Pieces
from .measure import Tree, is_short, most_repeats, own_width, weight_of, width_of_atom
from .rows import stands_in_row
from .stores import Store
from .variables import Variables, namesakes

CONDITIONAL_WIDTH = 60  # a conditional expression may be this wide


def nest(flow: Flow, ranges: dict[Var, Pieces], variables: Variables, aliases: Aliases) -> Nesting:
    """Decides for every value whether it is nested."""
    nester = _Nester(flow, ranges, variables, aliases)
    pending = nester.block(flow.function.body, {})
    alone = len(flow.function.results) == 1
    nester.consume(flow.last, pending, Tree(flow.last, (), 0, 0) if alone else Tree(flow.last, (), len("return ")))
    return nester.result


class _Nester(Fitting):
    def __init__(self, flow: Flow, ranges: dict[Var, Pieces], variables: Variables, aliases: Aliases) -> None:
        super().__init__(flow, variables, aliases)
        self.ranges = ranges
        self.trees: dict[Var, Tree] = {}  # of all values used once
        self.tested: dict[Var, tuple[Tree, Pending]] = {}  # of those that a branch tests and hands on, with their block
        self.latest = Tree(-1, (), 0)  # of the last plain statement
        self.outside: list[Pending] = []  # what is pending around the current block
        self.namesakes = namesakes(variables)
        self.in_inner_loops = set().union(*flow.free.values())
        self.kept = {r for r in flow.function.results if isinstance(r, Var) and r.name is not None}

    # -- one statement after the other --------------------------------------------------------

    def block(self, block: Block, pending: Pending) -> Pending:
        """Nests within a block; what is left over may be used by what follows the block."""
        after = self.flow.stored.after
        for stmt in block:
            if self.flow.is_alive(stmt):
                getattr(self, METHODS[type(stmt)])(stmt, pending)
                if stmt in after:
                    rows = self._rows_for(stmt, block, pending)
                    self._stores(after[stmt], pending)
                    self._look_in(rows, pending)
        return pending

    def _inner(self, block: Block, pending: Pending, outer: Pending) -> Pending:
        self.indent += 1
        self.outside.append(outer)
        self.block(block, pending)
        self.outside.pop()
        self.indent -= 1
        return pending

    def _let(self, stmt: Let, pending: Pending) -> None:
        point, target = self.flow.spans[stmt].head, stmt.target
        written = stmt.op.name in WRITES and is_array(target) or stmt in self.aliases.in_place
        fixed = (stmt.args[0],) if written else ()
        alone = written or stmt.op.name in WRITES
        own = Tree(point, (), 0, 0) if alone else Tree(point, (), own_width(stmt), *weight_of(stmt))
        if written:                            # what may stand on a line of its own may stand here
            reads = self.flow.reads.get(point, ())
            own.width = width_of_atom(stmt.args[:2][-1]) - sum(width_of_atom(var) for var, _ in reads)
        self.latest = tree = self.consume(point, pending, own, fixed)    # what is written where has a line in any case
        if written or len(stmt.targets) > 1:
            return
        if self.flow.count.get(target) == 1:
            self.trees[target] = tree
        if self._may_nest(target, point) or self._has_only_a_number(stmt):
            pending[target] = tree
        elif is_short(stmt) and not (target.name and not self.flow.in_reverse(point)):
            self._inline(stmt, tree, pending)
        elif self._is_repeated(stmt):
            self._inline(stmt, tree, pending)
        elif self._may_nest(target, point, 2):
            self.tested[target] = tree, pending

    def _inline(self, stmt: Let, tree: Tree, pending: Pending) -> None:
        """Prints what is short and costs nothing at each of its uses, if it is the same there: what is written in
        place needs the name under which it is."""
        target = stmt.target
        last = self.variables[target].pieces[-1][1] // STEPS + 1
        if target in self.aliases.views or target in self.bases or not self.flow.count.get(target):
            return
        if any(atom in self.result.values and atom not in self.inlined for atom in stmt.args):
            return
        if self.is_unchanged(tree, last, ()):
            self.inlined[target] = tree.reads
            for var in tree.reads:                # is read at each of the uses now, and needs a name
                pending.pop(var, None)
            self.result.values.add(target)
            self.stretch(tree, last)

    def _is_repeated(self, stmt: Let) -> bool:
        """Whether a number is computed where it is used, a few times in the block of its loop, from what has names."""
        target = stmt.target
        if not 1 < self.flow.count.get(target, 0) <= most_repeats(stmt) or target in self.in_inner_loops:
            return False
        return len(self.variables[target].values) == 1 and not any(atom in self.result.values for atom in stmt.args)

    def _may_nest(self, var: Var, point: int, count: int = 1) -> bool:
        """Whether a value needs no name: it is used once, and the name is not the user's."""
        if self.flow.count.get(var) != count or var in self.kept:
            return False
        return var.name is None or self.flow.in_reverse(point)

    def _has_only_a_number(self, stmt: Let) -> bool:
        """Whether the name of a part, or the like, that is used once would only tell it from another of that name: the
        `z` of a function that is called with a part of a `z`."""
        target = stmt.target
        is_part = weight_of(stmt) == (0, 0) and self.flow.count.get(target) == 1 and target not in self.kept
        return is_part and self.variables[target] in self.namesakes

    def _call(self, stmt: Call, pending: Pending) -> None:
        point = self.flow.spans[stmt].head
        tree = self.consume(point, pending, Tree(point, (), len(stmt.function.name) + 2 * len(stmt.args), 1, 1))
        if has_effects(stmt.function):
            self.barrier = point
        elif len(stmt.targets) == 1 and self._may_nest(stmt.targets[0], point):
            pending[stmt.targets[0]] = tree

    def _effect(self, stmt: Effect, pending: Pending) -> None:
        point = self.flow.spans[stmt].head
        self.consume(point, pending, Tree(point, (), 20))
        if stmt.kind != "comment":
            self.barrier = point

    def _stores(self, stores: Any, pending: Pending) -> None:
        for store, value in stores:
            point = self.flow.stores_at.get((id(store), id(value)))
            if point is not None:
                self.consume(point, pending, Tree(point, (), 10))

    def _rows_for(self, stmt: Stmt, block: Block, pending: Pending) -> dict[Var, Store]:
        """The array that a statement makes, if it needs no name beside its row; pending from now on."""
        store = next(store for store, _ in self.flow.stored.after[stmt])
        if not stands_in_row(store, stmt, block, self.flow):
            return {}
        var: Var = stmt.target  # type: ignore[union-attr]
        if self.aliases.root(var) is not var or var.name and not self.flow.in_reverse(self.latest.point):
            return {}
        pending[var] = self.latest
        return {var: store}

    def _look_in(self, rows: dict[Var, Store], pending: Pending) -> None:
        """Those of the arrays that were nested where they are stored are looked at there."""
        for var, store in rows.items():
            if pending.pop(var, None) is None:
                self.result.rows[var] = store
                point = self.flow.stores_at[id(store), id(var)]
                place = tuple(read for read, _ in self.flow.reads[point] if read is not var)
                self.stretch(Tree(point, place, 0), self.flow.spans[store.loop].end)

    # -- branches -----------------------------------------------------------------------------

    def _if(self, stmt: If, pending: Pending) -> None:
        span = self.flow.spans[stmt]
        condition = self.consume(span.head, pending, Tree(span.head, (), len("if :")))
        then = self._inner(stmt.then, {}, pending)
        self._stores(self.flow.stored.at_end.get((stmt, "then"), ()), then)
        orelse = self._inner(stmt.orelse, {}, pending)
        self._stores(self.flow.stored.at_end.get((stmt, "orelse"), ()), orelse)
        if not self._as_expression(stmt, condition, then, orelse, pending):
            self._moves(span.middle, then)
            self._moves(span.end, orelse)

    def _as_expression(self, stmt: If, condition: Tree, then: Pending, orelse: Pending, pending: Pending) -> bool:
        """Makes a conditional expression of a branch that does nothing but choose a value."""
        merges = [m for m in stmt.merges if m.target in self.flow.needed.used]
        if len(merges) != 1 or self._stores_in(stmt):
            return False
        (merge,) = merges
        tested = self._tested(stmt, merge, pending)
        sides = [
            Tree(-1, (), 0) if tested and value is stmt.cond else self._side(block, value, left, merge)
            for block, value, left in ((stmt.then, merge.then, then), (stmt.orelse, merge.orelse, orelse))
        ]
        if None in sides:
            return False
        parts: list[Tree] = [condition, *tested, *sides]  # type: ignore[list-item]
        tree = self.joined(Tree(self.flow.spans[stmt].end, (), len(" and " if tested else " if  else ")), parts)
        most = self.room() if tested else min(CONDITIONAL_WIDTH, self.room())
        if tree.width > most or tree.ops > MOST_OPS // 2:
            return False
        self.result.conditional[stmt] = merge
        self.result.values.update(v for v in (merge.then, merge.orelse) if v in then or v in orelse)  # type: ignore
        for part in tested:
            self.result.values.add(stmt.cond)  # type: ignore[arg-type]
            self.stretch(part, self.flow.spans[stmt].head)
        if self._may_nest(merge.target, self.flow.spans[stmt].head):
            pending[merge.target] = tree
        elif self._may_nest(merge.target, self.flow.spans[stmt].head, 2):
            self.tested[merge.target] = tree, pending
        return True

    def _tested(self, stmt: If, merge: Merge, pending: Pending) -> list[Tree]:
        """The condition of a branch as an expression, where nothing but `a and b` or `a or b` needs it: what is tested
        is also what comes of one side."""
        tree, block = self.tested.get(stmt.cond, (None, None))  # type: ignore[arg-type]
        hands_on = (merge.then is stmt.cond) != (merge.orelse is stmt.cond)
        if tree is None or block is not pending or not hands_on:
            return []
        return [tree] if self.is_unchanged(tree, self.flow.spans[stmt].head, ()) else []

    def _stores_in(self, stmt: If) -> bool:
        return any((stmt, side) in self.flow.stored.at_end for side in ("then", "orelse")) or any(
            inner in self.flow.stored.after for inner in (*stmt.then, *stmt.orelse)
        )

    def _side(self, block: Block, value: Any, left: Pending, merge: Merge) -> Tree | None:
        """One side as an expression; None if it is more than that, or nothing at all."""
        if value is UNDEFINED:
            return None
        for stmt in block:
            if self.flow.is_alive(stmt) and not self._is_nested(stmt, value, left):
                return None
        if isinstance(value, Var):
            if value in left:
                return left[value]
            if self.variables[value] is self.variables[merge.target]:
                return None  # the name keeps what it has: `if` without `else`
        return Tree(-1, tuple(self.flow.sizes.variables(value)), width_of_atom(value), 0)

    def _is_nested(self, stmt: Stmt, value: Any, left: Pending) -> bool:
        if isinstance(stmt, If):
            merge = self.result.conditional.get(stmt)
            return merge is not None and (merge.target in self.result.values or merge.target is value in left)
        if not isinstance(stmt, Let):
            return False
        return stmt.target in self.result.values or stmt.target is value and value in left

    def _moves(self, point: int, pending: Pending) -> None:
        """Values that do not already have the name that they are handed over to may be nested there."""
        fixed = [move.value for move in self.flow.moves[point] if self._has_name(move)]
        self.consume(point, pending, Tree(point, (), 8), fixed)

    def _has_name(self, move: Move) -> bool:
        return isinstance(move.value, Var) and (self.variables[move.target] is self.variables.get(move.value))

    # -- loops --------------------------------------------------------------------------------

    def _loop(self, stmt: Loop, pending: Pending) -> None:
        span = self.flow.spans[stmt]
        self._moves(span.head, pending)
        self._header(stmt, pending)
        test = self._inner(stmt.test, {}, pending)
        if stmt.cond is not None:
            self.consume(span.test, test, Tree(span.test, (), len("while :")))
            if all(self._is_nested(inner, None, {}) for inner in stmt.test if self.flow.is_alive(inner)):
                self.result.conditions.add(stmt)
        pending = self._body(stmt, pending)
        self._together(stmt, pending)
        self._moves(span.end, pending)

    def _together(self, stmt: Loop, pending: Pending) -> None:
        """`a, b = b, a + b`: next values that need what others of them replace are computed together."""
        point = self.flow.spans[stmt].end
        moves = {move.value: move for move in self.flow.moves[point] if move.value in self.trees}
        for value, move in moves.items():
            if value in pending or self._has_name(move):
                continue
            group = self._group(value, moves, point)
            for member in group:
                pending.pop(member, None)
                self.result.values.add(member)
                self.stretch(self.trees[member], point)

    def _group(self, value: Var, moves: dict[Any, Move], point: int) -> list[Var]:
        """The next values that must be computed together with one; none if that is not possible."""
        group = [value]
        for member in group:
            tree = self.trees[member]
            if member in self.result.values or self.is_written(tree, point) or tree.point < self.barrier:
                return []
            for var in tree.reads:
                for other in self._bound_between(var, tree.point, point):
                    if other not in moves or moves[other].edge in self.aliases.edges:
                        return []
                    group += [other] if other not in group else []
        return group

    def _bound_between(self, var: Var, first: int, last: int) -> list[Var]:
        """The values that the variable of `var` is bound to between two points."""
        return [
            value
            for value in self.variables[var].values
            if any(first < begin // STEPS < last for begin, _ in self.ranges[value])
        ]

    def _header(self, stmt: Any, pending: Pending) -> None:
        point = self.flow.spans[stmt].header
        self.consume(point, pending, Tree(point, (), len("for k in range():")))

    def _body(self, stmt: Any, outer: Pending) -> Pending:
        point = self.flow.spans[stmt].enter
        self._rows(point, self.flow.spans[stmt].exit, outer)
        inner: Pending = {}
        reads = tuple(var for var, _ in self.flow.reads.get(point, ()))
        for read in stmt.reads:
            once = self.flow.count.get(read.target) == 1 and not isinstance(read, Each)
            if once and self._may_nest(read.target, point):
                inner[read.target] = Tree(point, reads, width_of_atom(read.source) + 3, 0)
        self._stores(self.flow.stored.on_entry.get(stmt, ()), inner)
        return self._inner(stmt.body, inner, outer)

    def _rows(self, point: int, end: int, outer: Pending) -> None:
        """A row of records that only an inner loop reads is written `rows[k, j]` there."""
        for var, _ in self.flow.reads.get(point, ()):
            is_row = var in outer and isinstance(var.type, SeqType) and self._is_read(var)
            if is_row and self.is_unchanged(outer[var], end, ()):
                self.take(var, outer, end)

    def _is_read(self, var: Var) -> bool:
        """Whether a loop read a sequence; one that is computed would be computed for every position."""
        return var in self.aliases.homes and self.aliases.homes[var].kind == "read"
