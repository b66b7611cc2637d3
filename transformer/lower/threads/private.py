"""What an iteration of a loop has for itself, so that threads may run it: arrays that it makes."""

from __future__ import annotations

from typing import Any

from ...core.grammar import UNDEFINED, If, Let, Loop, Var
from ..nest.aliases import names_given
from ..nest.nest_walk import statements
from ..nest.nests import Allocate, Block, Fold, Nest, Store

PLAIN = (Let, Store, Nest, Fold, If, Loop, Allocate)       # nothing that calls, prints or raises


def has_sequences(inside: list[Any]) -> bool:
    return any(isinstance(each, Let) and each.op.of_sequences or getattr(each, "records", ()) for each in inside)


def private_arrays(block: Block, own: set[Var]) -> set[Var] | None:
    """The arrays that an iteration has for itself, by all their names; None where others get names as well."""
    private = own | {each.target for each in statements(block) if isinstance(each, Allocate)}
    sources: dict[Var, set[Any]] = {}
    for each in statements(block):
        for name, value in names_given(each):
            if getattr(name.type, "sizes", ()) and value is not UNDEFINED:
                sources.setdefault(name, set()).add(value)
    while new := {name for name, values in sources.items() if name not in values and values <= private} - private:
        private |= new
    kept = all(values <= private if name in private else values == {name} for name, values in sources.items())
    return private if kept else None
