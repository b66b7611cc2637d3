"""Which numbers are printed inside the expression that uses them."""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any

from ...core.grammar import Atom, Effect, If, Let, Loop, Var
from ...core.sizes import Size
from ...core.walk import atom_vars
from ..nest.lifetimes import mentioned, written
from ..nest.nest_walk import inner_blocks, loaded, statements, uses_after, uses_before
from ..nest.nests import Block, Fold, Store

LONGEST = 60                           # characters of an expression inside of another


class Inlining:
    """Numbers that are used once, in the block where they are made."""

    def __init__(self, body: Block, results: list[Atom]) -> None:
        self.uses: Counter[Var] = Counter(atom_vars(results))
        self.near: set[Var] = set()
        self.stored: set[Var] = set()                                    # which has a line of its own anyhow
        self.handed_on: dict[Any, str | None] = {}                       # with the name of what carries it
        if len(results) == 1:
            self.handed_on[results[0]] = None
        self._block(body, results)

    def note(self, block: Block) -> None:
        """Looks at statements that are made while others are printed."""
        self._block(block, [])

    def _block(self, block: Block, last: list[Any]) -> None:
        """`last` are the atoms used at the end of the block. A number that was read from an array is not
        near any more once that array has been written, or its name stands for another one."""
        made: dict[Var, set[Var]] = {}
        for stmt in block:
            self.uses.update(uses_before(stmt))
            self.near.update(atom for atom in _operands(stmt) if isinstance(atom, Var) and atom in made)
            self._inside(stmt)
            if isinstance(stmt, Store):
                self.stored.update(atom_vars((stmt.value,)))
            overwritten = written(stmt) | _replaced(stmt)
            if overwritten:
                made = {var: read for var, read in made.items() if read.isdisjoint(overwritten)}
            if isinstance(stmt, (Let, If)):
                read = set().union(*(made.get(var, ()) for var in mentioned(stmt)), loaded(stmt))
                targets = stmt.targets if isinstance(stmt, Let) else [merge.target for merge in stmt.merges]
                made.update(dict.fromkeys(targets, read))
        self.near.update(atom for atom in last if isinstance(atom, Var) and atom in made)

    def _inside(self, stmt: Any) -> None:
        self.uses.update(uses_after(stmt))
        if isinstance(stmt, If):
            self._block(stmt.then, [merge.then for merge in stmt.merges])
            self._block(stmt.orelse, [merge.orelse for merge in stmt.merges])
        elif isinstance(stmt, Fold):
            self._block(stmt.body, [carry.next for carry in stmt.carries])
        else:
            for block in inner_blocks(stmt):
                self._block(block, _last(stmt, block) if isinstance(stmt, Loop) else [])
        self.handed_on.update((carry.next, carry.entry.name) for carry in getattr(stmt, "carries", ()))

    def is_inlined(self, var: Var, tree: ast.expr) -> bool:
        if self.uses[var] != 1 or var not in self.near:
            return False
        if var in self.handed_on:                                        # so has this
            return var.name in (None, self.handed_on[var])
        return var.name is None and (
            var in self.stored or len(ast.unparse(ast.fix_missing_locations(tree))) <= LONGEST)


def _last(loop: Loop, block: Block) -> list[Any]:
    """The atoms used at the end of a block of a loop."""
    return [loop.cond] if block is loop.test else [carry.next for carry in loop.carries]


def _replaced(stmt: Any) -> set[Var]:
    """The arrays in place of which loops go on with others, under the same name."""
    return {carry.entry for each in statements([stmt]) if isinstance(each, Loop) for carry in each.carries
            if carry.init is carry.entry and carry.next is not carry.entry}


def _operands(stmt: Any) -> list[Any]:
    """The atoms that a statement itself uses, but for those inside of sizes."""
    match stmt:
        case Let():
            return [atom for atom in stmt.args if not isinstance(atom, Size)]
        case Store():
            return [stmt.value, *stmt.at]
        case If():
            return [stmt.cond]
        case Effect(kind="assert"):
            return [stmt.args[0]]
        case Fold() | Loop():
            return [carry.init for carry in stmt.carries]
    return []
