"""Sizes that branches and loops pass on, for the reverse of statements whose arrays have them."""

from __future__ import annotations

from ...core.grammar import UNDEFINED, Atom, Carry, If, Loop, Var
from ...core.sizes import Extent, Size, Unknown
from ...core.types import ArrayType
from ...core.walk import atom_of_size, atom_vars, size_of_atom


def positions(stmt: Loop) -> tuple[Atom, Atom]:
    """The first position of a loop, and the one that follows another."""
    last = size_of_atom(stmt.trips) - 1 if stmt.down and stmt.trips is not None else 0
    return atom_of_size(last), atom_of_size(Size.of(Unknown(stmt.position)) + (-1 if stmt.down else 1))


def sizes_carried(stmt: Loop) -> list[Carry]:
    """The sizes that a loop carries for arrays that iterations make longer or shorter."""
    sizes = {var for carry in stmt.carries for var in atom_vars(carry.entry.type)}
    return [carry for carry in stmt.carries if carry.entry in sizes]


def sizes_on(stmt: If, side: str) -> dict[Var, Extent]:
    """The integers that leave a branch, with what they are inside."""
    inside = {merge.target: getattr(merge, side) for merge in stmt.merges
              if isinstance(merge.target.type, ArrayType) and not merge.target.type.sizes
              and merge.target.type.dtype.kind in "iu"}
    return {target: size_of_atom(atom) for target, atom in inside.items() if atom is not UNDEFINED}
