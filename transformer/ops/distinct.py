"""Arrays of places that certainly hold no place twice, by how they were made: `x[order] += y` adds all of them.

    order = np.argsort(key)         every place once
    order[::-1], order[mask]        some of these
    order[i, :k]                    of a matrix that is sorted along its rows
    np.arange(n) + 1                steps from a place that is not counted from the end, as -1 may be that of n - 1
    x[a:b:s]                        with a step s that the program computes, as the reader notes
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.builder import current
from ..core.grammar import Atom, Const, Let, type_of
from ..core.sizes import Extent, Size
from ..core.types import ArrayType
from .integers import affine, definition_of, is_exact
from .regions import Slot, is_mask, rank_of

DEEPEST = 8                    # operations from the array to what made it
LARGEST = 1024                 # factor of places


def are_distinct(places: Atom, depth: int = DEEPEST) -> bool:
    """Whether no two items along the last axis are equal, and none is negative."""
    if places in current().numbering.distinct:
        return True
    made, own = definition_of(places), type_of(places)
    if made is None or not isinstance(own, ArrayType) or own.dtype != np.int64 or not depth:
        return False
    match made.op.name:
        case "flatnonzero":
            return True
        case "argsort" | "argpartition":
            return made.attrs.get("axis", -1) in (-1, own.rank - 1)
        case "arange":
            return _is_from(made.attrs.get("start", 0), 0) and _is_from(made.attrs.get("step", 1), 1)
        case "copy" | "same":
            return are_distinct(made.args[0], depth - 1)
        case "flip" | "sort" | "roll":
            return own.rank == 1 and are_distinct(made.args[0], depth - 1)
        case "get":
            return _selects_once(made) and are_distinct(made.args[0], depth - 1)
        case "add":
            return any(_is_not_negative(other) and are_distinct(each, depth - 1) for each, other in _pairs(made))
        case "multiply":
            return any(_is_small(other) and are_distinct(each, depth - 1) for each, other in _pairs(made))
    return False


def _selects_once(get: Let) -> bool:
    """Whether of the last axis no item is selected twice, and of those before one item each."""
    base, *slots = get.args
    index = get.attrs["index"]
    if None in index or rank_of(type_of(get.target)) != 1:
        return False
    axes = rank_of(type_of(base))
    lead, last = (index[:-1], index[-1]) if len(index) == axes else (index, slice(None))
    if len(lead) != axes - 1 or any(isinstance(entry, slice) or _array(entry, slots) is not None for entry in lead):
        return False
    array = _array(last, slots)
    return isinstance(last, slice) or array is not None and (is_mask(array) or bool(get.attrs.get("distinct")))


def _array(entry: Any, slots: list[Atom]) -> Any:
    """The type of the array that an entry of an index is; None if it is a number or a slice."""
    own = type_of(slots[entry.k]) if isinstance(entry, Slot) else None
    return own if own is not None and rank_of(own) else None


def _pairs(stmt: Let) -> tuple[tuple[Atom, Atom], tuple[Atom, Atom]]:
    first, second = stmt.args
    return (first, second), (second, first)


def _is_not_negative(atom: Atom) -> bool:
    """Whether an operand is an integer that is certainly not negative."""
    return is_exact(atom) and _is_from(affine(atom), 0)


def _is_small(atom: Atom) -> bool:
    """Whether an operand is a factor with which no place is beyond 64 bits."""
    return isinstance(atom, Const) and is_exact(atom) and 0 < atom.value <= LARGEST


def _is_from(size: Extent, least: int) -> bool:
    return isinstance(size, (int, Size)) and current().assumptions.certainly_at_least(size, least)
