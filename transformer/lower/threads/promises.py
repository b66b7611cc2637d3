"""Loops whose iterations the program promises to be independent: what is left to see before threads share them.

A promise allows iterations to add to the same element, and says nothing of the order. So arrays that iterations have
in common may only be written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...core.grammar import Let, Var
from ..nest.nest_walk import statements
from ..nest.nests import Allocate, Nest, Product, Store
from .private import PLAIN, has_sequences, private_arrays


def keeps_promise(stmt: Nest, own: set[Var]) -> bool:
    """Whether iterations that are promised to write apart do nothing to arrays of others but write them."""
    inside = list(statements(stmt.body))
    if not all(isinstance(each, (*PLAIN, Product)) for each in inside) or has_sequences(inside):
        return False
    private = private_arrays(stmt.body, own)
    if private is None:
        return False
    written = {each.array if isinstance(each, Store) else each.target.array
               for each in inside if isinstance(each, (Store, Product))} - private
    return all(written.isdisjoint(_used_otherwise(each)) for each in inside)


def _used_otherwise(stmt: Any) -> Iterator[Any]:
    """The arrays that a statement itself reads or adds to."""
    match stmt:
        case Let():
            yield from stmt.args
        case Allocate():
            yield stmt.source
        case Store(adds=True):
            yield stmt.array
        case Product():
            yield from (part.array for part in (stmt.parts if stmt.adds else stmt.parts[1:]))
