"""Where loops keep what they record, and at which places the values are put there.

array     one array, made before the loop, with a row for every position
growing   the same for a loop of unknown length, made longer when it is full
list      a Python list, where rows differ in length
row       a row of the array of the loop around: the records of nested loops whose lengths do
          not change from one outer iteration to the next are one rectangular array
states    a part of another record of the loop, see `states`
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..core.errors import NotSupported
from ..core.grammar import UNDEFINED, Atom, Block, Call, Function, If, Let, Loop, Merge, Record, Stmt, Var
from ..core.sizes import Extent
from ..core.types import ArrayType, SeqType
from ..core.walk import all_definitions, all_statements, atom_vars, size_of_atom, targets_of


@dataclass(slots=True, eq=False)
class Store:
    """The storage of one record.

    `element` is the type of one value, `inner` the lengths of inner loops whose records are the rows,
    `outer` the storage whose row it is itself, `trimmed` whether something else than a loop looks at
    it, and `certain` whether every iteration puts a value there.
    """

    record: Record
    loop: Any
    kind: str
    inner: tuple[Extent, ...] = ()
    element: ArrayType | None = None
    outer: Store | None = None
    trimmed: bool = False
    certain: bool = True
    states: Store | None = None     # of which this is a part
    begins: Var | None = None       # what is put there before the loop
    shift: int = 0                  # of places against positions

    @property
    def is_cut(self) -> bool:
        """Whether it is an array that a loop may have left before it was full, and that is looked at."""
        return self.trimmed and self.kind == "array" and getattr(self.loop, "cond", None) is not None

    @property
    def has_own_rows(self) -> bool:
        """Whether its rows are parts of an array, and no other record looks at them."""
        return self.kind in ("array", "growing") and self.begins is None

    @property
    def sizes(self) -> Any:
        """The sizes of a row: the shape of a value, or a list of sizes."""
        own = self.element.sizes if self.element is not None else ()
        return [*self.inner, *own] if self.inner else own


Place = list[tuple[Store, Atom]]


@dataclass(slots=True)
class Stores:
    """All storage by the variable of its record; and where values are stored: after a statement, on
    entry into a loop's body, at the end of a branch. `aliases` are merges that hand a row on."""

    of: dict[Var, Store] = field(default_factory=dict)
    aliases: dict[Var, Var] = field(default_factory=dict)
    values: dict[Var, list[Atom]] = field(default_factory=dict)  # what each record needs
    after: dict[Stmt, Place] = field(default_factory=dict)
    on_entry: dict[Stmt, Place] = field(default_factory=dict)
    at_end: dict[tuple[Stmt, str], Place] = field(default_factory=dict)

    def row(self, var: Var) -> Store | None:
        """The storage that `var` is a row of, if it has no variable of its own."""
        store = self.of.get(self.aliases.get(var, var))
        return store if store is not None and store.kind in ("row", "states") else None


def stores(function: Function) -> Stores:
    """Decides how every record of a function is kept."""
    from .states import join_states
    planner = _Planner(function)
    for loop in planner.loops:
        for record in loop.records:
            planner.plan(loop, record)
    for loop in planner.loops:
        for record in loop.records:
            planner.place(planner.result.of[record.target], record.value, loop.body, loop)
    join_states(function, planner.result)
    for stmt in all_statements(function.body) if planner.result.of else ():
        if isinstance(stmt, Let) and stmt.op.name not in ("pack", "add_saved"):
            _check_operands(stmt, planner.result)
    return planner.result


def _check_operands(stmt: Let, found: Stores) -> None:
    """Lists have no arithmetic; what NumPy would make of them is something else."""
    lists = [atom for atom in stmt.args if isinstance(atom, Var) and atom in found.of and found.of[atom].kind == "list"]
    if lists:
        raise NotSupported(
            f"{stmt.op.name} of values recorded by a loop is not supported",
            stmt.origin,
            why="The rows differ in length between iterations.",
            instead="Use arrays of the same shape in all iterations.",
        )


class _Planner:
    """Outer loops are planned before inner ones, so that an inner record knows whose row it is."""

    def __init__(self, function: Function) -> None:
        self.result = Stores()
        self.loops: list[Any] = []
        self.made_by: dict[Var, tuple[Any, Record | Merge]] = {}
        self.inside: dict[Any, set[Var]] = {}
        self.outer: dict[Var, Var] = {}
        self.targets: dict[int, dict[Var, Stmt]] = {}
        self.function = function
        for stmt in all_statements(function.body):
            if isinstance(stmt, Loop):
                self.loops.append(stmt)
                self.made_by.update({record.target: (stmt, record) for record in stmt.records})
                self.inside[stmt] = {*all_definitions([stmt])} if stmt.records else set()
            elif isinstance(stmt, If):
                self.made_by.update({merge.target: (stmt, merge) for merge in stmt.merges})

    @cached_property
    def looked_at(self) -> set[Var]:
        return _looked_at(self.function)

    @cached_property
    def defined(self) -> set[Var]:
        """All variables: a size that only a type mentions may be computed nowhere."""
        return {*self.function.params, *all_definitions(self.function.body)}

    def plan(self, loop: Any, record: Record) -> None:
        outer = self.outer.get(record.target)
        self.result.of[record.target] = (
            self._store(loop, record) if outer is None else Store(record, loop, "row", outer=self.result.of[outer])
        )

    def _store(self, loop: Any, record: Record) -> Store:
        trimmed = record.target in self.looked_at
        chain = list(self._chain(record.value))
        element = chain[-1][1].value.type if chain else record.value.type  # type: ignore[union-attr]
        if not isinstance(element, ArrayType) or not self._known_before(loop, chain, element):
            return Store(record, loop, "list", trimmed=trimmed)
        for above, (_, below) in zip([record, *(r for _, r in chain)], chain):
            self._claim(above, below)
        kind = "array" if loop.trips is not None else "growing"
        inner = tuple(size_of_atom(within.trips) for within, _ in chain)
        return Store(record, loop, kind, inner, element, None, trimmed)

    def _claim(self, above: Record, below: Record) -> None:
        self.outer[below.target] = above.target
        value = above.value
        while value is not below.target:
            assert isinstance(value, Var)
            self.result.aliases[value] = below.target
            value = _only_side(self.made_by[value][1])  # type: ignore[assignment]

    def _chain(self, value: Atom) -> Iterator[tuple[Any, Record]]:
        """The loops and records within, of whose rows a record of sequences consists."""
        while isinstance(value, Var) and isinstance(value.type, SeqType):
            found = self._made(value)
            if found is None:
                return
            yield found
            value = found[1].value

    def _made(self, value: Var) -> tuple[Any, Record] | None:
        """The record that a sequence is, seen through branches that leave it undefined on one side."""
        stmt, item = self.made_by.get(value, (None, None))
        if item is None or value in self.looked_at or value in self.outer:
            return None
        if isinstance(item, Record):
            return stmt, item
        side = _only_side(item)
        return self._made(side) if isinstance(side, Var) else None

    def _known_before(self, loop: Any, chain: list[tuple[Any, Record]], element: ArrayType) -> bool:
        """Whether all lengths are known before the loop."""
        if any(inner.trips is None for inner, _ in chain):
            return False
        mentioned = atom_vars((*(inner.trips for inner, _ in chain), *element.sizes))
        return all(var in self.defined and var not in self.inside[loop] for var in mentioned)

    def place(self, store: Store, value: Atom, block: Block, anchor: Any) -> None:
        """Finds where in a block a value is to be stored; `anchor` is the loop, or (If, side)."""
        if value is UNDEFINED:
            store.certain = False
            return
        row = self.result.row(value) if isinstance(value, Var) else None
        if row is not None and row.outer is store:  # it was put there as it was made
            self._needs(store, row.record.target)
            return
        stmt = self._definition(value, block)
        merge = next((m for m in getattr(stmt, "merges", ()) if m.target is value), None)
        if stmt is None:
            place = self.result.at_end if isinstance(anchor, tuple) else self.result.on_entry
            place.setdefault(anchor, []).append((store, value))
            self._needs(store, value)
        elif merge is not None and UNDEFINED in (merge.then, merge.orelse):
            self.place(store, merge.then, stmt.then, (stmt, "then"))  # type: ignore[union-attr]
            self.place(store, merge.orelse, stmt.orelse, (stmt, "orelse"))  # type: ignore[union-attr]
        else:
            self.result.after.setdefault(stmt, []).append((store, value))
            self._needs(store, value)

    def _needs(self, store: Store, value: Atom) -> None:
        self.result.values.setdefault(store.record.target, []).append(value)

    def _definition(self, value: Atom, block: Block) -> Stmt | None:
        if not isinstance(value, Var):
            return None
        if id(block) not in self.targets:
            self.targets[id(block)] = {target: stmt for stmt in block for target in targets_of(stmt)}
        return self.targets[id(block)].get(value)


def _only_side(merge: Any) -> Atom | None:
    sides = [side for side in (merge.then, merge.orelse) if side is not UNDEFINED]
    return sides[0] if len(sides) == 1 else None


def _looked_at(function: Function) -> set[Var]:
    """Sequences that something other than reads and records of loops uses."""
    found: list[Any] = list(function.results)
    for stmt in all_statements(function.body):
        if isinstance(stmt, (Let, Call)):
            found += stmt.args
        elif isinstance(stmt, Loop):
            found += [atom for carry in stmt.carries for atom in (carry.init, carry.next)]
        elif isinstance(stmt, If):
            found += [atom for merge in stmt.merges if _only_side(merge) is None for atom in (merge.then, merge.orelse)]
    return {var for var in found if isinstance(var, Var) and isinstance(var.type, SeqType)}
