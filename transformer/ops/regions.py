"""The part of an array that a normal index selects: its sizes, and where its axes come from.

An index is normal: a tuple with one entry per axis of the array, plus one for every new axis. An
entry is

    int                     a fixed position, never out of the range of -n..n-1
    slice(a, b, s)          bounds are int, Size or None; a `Slot` where they are computed
    None                    a new axis
    Slot(k)                 operand k of the index: an integer scalar, an integer array, or a mask
                            (which stands for as many axes as it has)

The operands after the array (and after the value, for `put` and `addat`) are the slots' atoms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..core.builder import current
from ..core.errors import ShapeError
from ..core.grammar import Atom, Let, type_of
from ..core.sizes import Extent
from ..core.types import ArrayType
from .elementwise import broadcast, shape_text, size_text
from .slices import length

Index = tuple[Any, ...]
Sizes = tuple[Extent, ...]


class BadIndex(ShapeError, IndexError):
    """What stands in the brackets does not fit the array.

    Wrong, as the elements of an array of three are 0, 1 and 2::

        grad(lambda x: x[3] ** 2)(np.ones(3))

    Right::

        grad(lambda x: x[-1] ** 2)(np.ones(3))
    """


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of operand `k` in an index."""

    k: int

    def __repr__(self) -> str:
        return f"@{self.k}"


def replaced(index: Index, new: Any) -> Index:
    """An index with every slot, also those in slices, replaced by ``new(slot)``."""
    def entry(item: Any) -> Any:
        if isinstance(item, slice):
            return slice(entry(item.start), entry(item.stop), item.step)
        return new(item) if isinstance(item, Slot) else item
    return tuple(map(entry, index))


def filled(index: Index, operands: tuple[Any, ...]) -> Index:
    """The index that NumPy understands, with the operands in their places."""
    return replaced(index, lambda slot: operands[slot.k])


def rank_of(operand: Any) -> int:
    """The rank of an operand, or of its type."""
    return operand.rank if isinstance(operand, ArrayType) else getattr(operand, "ndim", 0)


def is_mask(operand: Any) -> bool:
    """Whether an operand of an index, or its type, is boolean."""
    return isinstance(operand, bool) or (hasattr(operand, "dtype") and operand.dtype.kind == "b")


def is_array(operand: Any) -> bool:
    """Whether an operand makes an index an advanced one."""
    return rank_of(operand) > 0 or is_mask(operand)


def steps_of(index: Index) -> dict[int, Any]:
    """The steps of the slices of an index, by the axis they are on.

    >>> steps_of((0, slice(1, None), slice(None, None, -2)))
    {1: 1, 2: -2}
    """
    entries = enumerate(entry for entry in index if entry is not None)
    return {axis: entry.step or 1 for axis, entry in entries if isinstance(entry, slice)}


def is_basic(index: Index, operands: tuple[Any, ...]) -> bool:
    """Whether NumPy gives a view: no arrays among the operands (or their types)."""
    return not any(isinstance(entry, Slot) and is_array(operands[entry.k]) for entry in index)


def is_view(get: Let) -> bool:
    """The same of a statement: whether what it gets is a view, which costs nothing to make again."""
    return is_basic(get.attrs["index"], tuple(map(type_of, get.args[1:])))


def axes_of(entry: Any, operands: tuple[Any, ...]) -> int:
    """How many axes of the array an entry of the index stands for."""
    if entry is None:
        return 0
    if isinstance(entry, Slot) and is_mask(operands[entry.k]):
        return rank_of(operands[entry.k])
    return 1


def entries(index: Index, operands: tuple[Any, ...]) -> Iterator[tuple[Any, int, int]]:
    """Every entry with the first axis it stands for and how many axes it stands for."""
    axis = 0
    for entry in index:
        count = axes_of(entry, operands)
        yield entry, axis, count
        axis += count


def slots_of(stmt: Let) -> tuple[Atom, ...]:
    """The operands of a `get`, `put` or `addat` that its index refers to."""
    return stmt.args[1:] if stmt.op.name == "get" else stmt.args[2:]


def computed_places(stmt: Let) -> list[tuple[Any, Extent]]:
    """The operands that tell places in the array of a `get`, `put` or `addat`, each with the size of its axis."""
    array = type_of(stmt.args[0])
    if not isinstance(array, ArrayType):
        return []
    slots, normal = slots_of(stmt), current().assumptions.normal
    found = entries(stmt.attrs["index"], tuple(map(type_of, slots)))
    return [(slots[entry.k], normal(array.sizes[axis])) for entry, axis, count in found
            if isinstance(entry, Slot) and count]


@dataclass(frozen=True, slots=True)
class Block:
    """The axes of a region that come from integers and masks together: `rank` axes at `position`.

    `inside` says that they stand where the integers stand in the index; otherwise slices lie
    between those, and NumPy moves the axes to the front.
    """

    position: int
    rank: int
    inside: bool


def block_of(index: Index, operands: tuple[Any, ...]) -> Block:
    """Where the joint axes of the integers and masks of an index are found in its region."""
    if is_basic(index, operands):
        return Block(0, 0, True)
    joint = [not (entry is None or isinstance(entry, slice)) for entry in index]
    first, last = joint.index(True), len(joint) - 1 - joint[::-1].index(True)
    inside = all(joint[first:last + 1])
    return Block(first if inside else 0, _block_rank(index, operands), inside)


def _block_rank(index: Index, operands: tuple[Any, ...]) -> int:
    arrays = [operands[entry.k] for entry in index if isinstance(entry, Slot)]
    return max(1 if is_mask(array) else rank_of(array) for array in arrays)


def region(sizes: Sizes, index: Index, operands: tuple[Any, ...], open_sizes: dict[int, Extent]
           ) -> Sizes:
    """The sizes of the part of an array of `sizes` that the index selects.

    `open_sizes` has, for an entry whose size the program computes, that size.
    """
    block = block_of(index, operands)
    plain: list[Extent] = []
    joint: list[Sizes] = []
    for place, (entry, axis, _) in enumerate(entries(index, operands)):
        if entry is None:
            plain.append(1)
        elif isinstance(entry, slice):
            plain.append(_slice_size(sizes[axis], entry, open_sizes.get(place)))
        elif isinstance(entry, Slot) and is_mask(operands[entry.k]):
            _check_mask(sizes, axis, operands[entry.k])
            joint.append((open_sizes[place],))
        else:
            joint.append(_sizes(operands[entry.k]) if isinstance(entry, Slot) else ())
    return (*plain[:block.position], *_joined(joint), *plain[block.position:])


def _slice_size(size: Extent, entry: slice, computed: Extent | None) -> Extent:
    if computed is not None:
        return computed
    if entry == slice(None):
        return size                                     # of an array that there is: it is not negative
    result = length(size, entry.start, entry.stop, 1 if entry.step is None else entry.step)
    assert result is not None, "the sign of a static bound is always decided"
    return result


def _sizes(operand: Any) -> Sizes:
    return operand.sizes if isinstance(operand, ArrayType) else getattr(operand, "shape", ())


def _joined(shapes: list[Sizes]) -> Sizes:
    try:
        with current().assumptions.raising(IndexError):
            return broadcast(*shapes)
    except ShapeError:
        shown = " ".join(map(shape_text, shapes))
        raise BadIndex("shape mismatch: indexing arrays could not be broadcast together with "
                       f"shapes {shown}") from None


def _check_mask(sizes: Sizes, axis: int, mask: Any) -> None:
    for k, own in enumerate(_sizes(mask), axis):
        if not current().assumptions.equal(sizes[k], own):
            raise BadIndex(f"boolean index did not match indexed array along axis {k}; size of axis is "
                           f"{size_text(sizes[k])} but size of corresponding boolean axis is {size_text(own)}")
