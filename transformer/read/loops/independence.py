"""Loops over `independent(…)`: the mark on the loop, and refusals where the promise is seen to be wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from ...core.errors import NotSupported, Origin
from ...core.grammar import Carry, If, Let, Loop, Stmt, Var
from ...core.walk import all_definitions, all_statements, atom_vars, head_uses, tail_uses
from ...ops.integers import is_exact
from .iteration import Iteration, iteration_of

if TYPE_CHECKING:
    from ..reader import Reader

WHY = "independent(…) promises that no iteration reads or writes a location that another one writes, except for sums."


def promised(reader: Reader, iterable: Any) -> Iteration:
    """What ``independent(iterable)`` is to a loop."""
    return replace(iteration_of(reader, iterable), independent=True)


def check_independent(loop: Loop) -> None:
    """Raises where an iteration can be seen to use what another one made."""
    if loop.cond is not None:
        _refuse("this loop may end early, so an iteration decides whether the next ones run", loop.origin,
                "Remove independent, or the break.")
    for carry in loop.carries:
        if carry.next is not carry.entry and not _counts(carry, loop):
            _Handed(loop, carry).check()


def _refuse(what: str, origin: Origin | None, instead: str) -> NoReturn:
    raise NotSupported(what, origin, why=WHY, instead=instead)


def _counts(carry: Carry, loop: Loop) -> bool:
    """Whether a carry is a number that grows by the same in each iteration."""
    made = next((s for s in loop.body if isinstance(s, Let) and carry.next in s.targets), None)
    if made is None or made.op.name != "add" or not is_exact(carry.entry) or carry.entry not in made.args:
        return False
    inner = set(all_definitions(loop.body))
    return not any(var in inner for var in atom_vars(made.args))


class _Handed:
    """What a loop hands from one iteration to the next, followed through an iteration."""

    def __init__(self, loop: Loop, carry: Carry) -> None:
        self.loop, self.carry = loop, carry
        self.name = carry.entry.name or carry.out.name or "a value"
        self.versions: set[Any] = {carry.entry}
        self.changing = {*all_definitions(loop.body), loop.position}

    def check(self) -> None:
        before = 0
        while before < len(self.versions):                      # inner loops lead back to what was seen
            before = len(self.versions)
            for stmt in all_statements(self.loop.body):
                self._follow(stmt)
        others = [c.next for c in self.loop.carries if c is not self.carry]
        if any(atom in self.versions for atom in (*others, *(r.value for r in self.loop.records))):
            self._read(self.loop)
        for stmt in self.loop.body:
            self._note_write(stmt)

    def _follow(self, stmt: Stmt) -> None:
        match stmt:
            case Let() if self._adds(stmt) or stmt.op.writes and stmt.args[0] in self.versions:
                if sum(var in self.versions for var in atom_vars((stmt.args, stmt.attrs))) > 1:
                    self._read(stmt)
                self.versions.add(stmt.target)
            case Let() if stmt.op.name == "get" and stmt.args[0] in self.versions:
                pass                                            # of which elements it is not known
            case If() | Loop() if stmt is not self.loop:
                self._follow_through(stmt)
            case _:
                if any(var in self.versions for var in head_uses(stmt)):
                    self._read(stmt)

    def _adds(self, stmt: Let) -> bool:
        places = {"add": stmt.args, "subtract": stmt.args[:1]}.get(stmt.op.name, ())
        return any(atom in self.versions for atom in places)

    def _follow_through(self, stmt: If | Loop) -> None:
        pairs: list[tuple[Any, tuple[Var, ...]]] = []
        if isinstance(stmt, If):
            pairs = [(atom, (m.target,)) for m in stmt.merges for atom in (m.then, m.orelse)]
        else:
            pairs = [(atom, (c.entry, c.out)) for c in stmt.carries for atom in (c.init, c.next)]
        for atom, targets in pairs:
            if atom in self.versions:
                self.versions.update(targets)
        handed = {atom for atom, _ in pairs if isinstance(atom, Var)}
        used = (*head_uses(stmt), *tail_uses(stmt))
        if any(var in self.versions and var not in handed for var in used):
            self._read(stmt)

    def _read(self, stmt: Stmt) -> NoReturn:
        _refuse(f"{self.name!r} is carried from one iteration of this loop to the next",
                stmt.origin or self.loop.origin, "Remove independent, or only add to the variable without reading it.")

    def _note_write(self, stmt: Stmt) -> None:
        """A place that does not depend on the iteration is written by all of them."""
        if isinstance(stmt, Let) and stmt.op.name == "put" and stmt.args[0] in self.versions:
            if not any(var in self.changing for var in atom_vars((stmt.args[2:], stmt.attrs))):
                _refuse(f"every iteration of this loop writes to the same element of {self.name!r}",
                        stmt.origin or self.loop.origin, "Remove independent, or create the array inside the loop.")
