"""Which arrays are the only name of their memory, so that it may be written when the name dies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from ...core.grammar import UNDEFINED, Call, If, Let, Loop, Var, is_array
from ...core.walk import inner_targets
from .lifetimes import Lifetimes
from .nest_walk import statements
from .nests import Allocate, Block, Invoke


class Ownership:
    """An array is owned if it was made here or by a function that is called, or handed on by names that are not used
    again: what a loop begins with and ends an iteration with, what leaves a branch. Where the older name is used again,
    the two share memory, and neither is owned. Parameters that are `donated` are as if they were made here."""

    def __init__(self, block: Block, lifetimes: Lifetimes, donated: Iterable[Var]) -> None:
        self.lifetimes = lifetimes
        self.handed: dict[Var, list[tuple[Any, Any, Any]]] = {}          # (value, statement, block it leaves)
        self.owned: set[Var] = set(donated)
        self.local: dict[int, frozenset[Var]] = {}                       # what is new in an iteration
        for stmt in statements(block):
            self._collect(stmt)
        shared = _seen_otherwise(block)
        self.owned.update(var for var in self.handed if var not in shared)
        self.owned -= shared
        self._settle()

    def _collect(self, stmt: Any) -> None:
        match stmt:
            case Allocate():
                self.owned.add(stmt.target)
            case Invoke():                                               # which gives its results away
                self.owned.update(filter(is_array, stmt.targets))
            case Loop():
                made = map(self.lifetimes.mentions.made, stmt.body)
                self.local[id(stmt)] = frozenset(inner_targets(stmt)).union(*made)
                for carry in stmt.carries:
                    if is_array(carry.entry):
                        self.handed[carry.entry] = [(carry.init, stmt, "init"), (carry.next, stmt, "next")]
                        self.handed[carry.out] = [(carry.entry, stmt, "out")]
            case If():
                for merge in stmt.merges:
                    if is_array(merge.target):
                        self.handed[merge.target] = [(merge.then, stmt, "then"), (merge.orelse, stmt, "orelse")]

    def _settle(self) -> None:
        while lost := {var for target, ways in self.handed.items() for way in ways if not self.is_moved(*way)
                       for var in (target, way[0]) if var in self.owned}:
            self.owned -= lost

    def is_moved(self, value: Any, stmt: Any, way: str) -> bool:
        """Whether a value is handed on for good."""
        if value is UNDEFINED or way == "out":
            return value is UNDEFINED or value in self.owned
        if value not in self.owned:
            return False
        if way == "init":
            uses = Counter(carry.init for carry in stmt.carries)
            used = self.lifetimes.mentions.used
            inside = any(value in used(each) for each in (*stmt.test, *stmt.body))
            ends = {atom for carry in stmt.carries for atom in (carry.next,)} | {r.value for r in stmt.records}
            return (uses[value] == 1 and not inside and value not in ends
                    and not self.lifetimes.is_needed_after(stmt, value))
        if way == "next":
            nexts = Counter(carry.next for carry in stmt.carries)
            return nexts[value] == 1 and value in self.local[id(stmt)]
        sides = Counter(getattr(merge, way) for merge in stmt.merges)
        return sides[value] == 1 and not self.lifetimes.is_needed_after(stmt, value)


def _seen_otherwise(block: Block) -> set[Any]:
    """Arrays that are also seen as sequences of their rows, or shown to a function that may keep them."""
    sequences = {atom for stmt in statements(block) if isinstance(stmt, Let) and stmt.op.of_sequences
                 for atom in (*stmt.args, *stmt.targets)}
    return sequences.union(*(_shown(stmt) for stmt in statements(block) if isinstance(stmt, Call)))


def _shown(call: Call) -> list[Any]:
    """The arguments of a call that are not given away with it."""
    given = call.given if isinstance(call, Invoke) else ()
    return [atom for k, atom in enumerate(call.args) if k not in given]
