"""Whether NumPy may overwrite what it has yet to read when a part of an array is written to another part.

NumPy reads a value that overlaps its target from a copy, unless the target has one axis and both run the
same way. Then it goes element by element: from the end where the value begins before the target, else from
the front. So of these only the second is not what it says::

    y[:4] = y[::2]      the element that is written has been read
    y[::2] = y[:4]      y[2] is written before it is read
    y[1::2] = y[:4]     from the end: y[2] is read before it is written
    y[:] = y[::-1]      from a copy
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..core.grammar import Atom, Let, type_of
from ..core.walk import WRITES
from .regions import Index, Slot, is_basic

RESHAPED = {"reshape", "ravel"}  # in the order of C, as all arrays here
Definition = Callable[[Atom], Let | None]


@dataclass(frozen=True)
class Axis:
    """An axis of a part: every `step`-th element of axis `number` of the whole; a start of None is not known."""

    number: int
    start: int | None = 0
    step: int = 1


@dataclass(frozen=True)
class Part:
    """A part of the array `whole`, or of one in other shapes: what its axes are, and its place on the other axes of the
    whole."""

    whole: Any
    axes: tuple[Axis, ...]
    places: dict[int, Any] = field(default_factory=dict)

    def at(self, index: Index, operands: tuple[Any, ...]) -> Part:
        """The part of this part that a basic index selects."""
        axes, places = [], dict(self.places)
        for axis, entry in zip(self.axes, (entry for entry in index if entry is not None)):
            if isinstance(entry, slice):
                axes.append(_sliced(axis, entry))
            else:
                places[axis.number] = operands[entry.k] if isinstance(entry, Slot) else entry
        return Part(self.whole, tuple(axes), places)


def may_overwrite(put: Let, written: Part, value: Part) -> bool:
    """Whether NumPy may do so in a `put` to one part of another one."""
    index, operands = put.attrs["index"], put.args[2:]
    if not is_basic(index, tuple(map(type_of, operands))):
        return False
    target = written.at(index, operands)
    if len(target.axes) != 1 or len(value.axes) != 1:
        return False
    return target.whole != value.whole or not (_are_apart(target, value) or _are_in_order(target, value))


def part_of(atom: Atom, definition: Definition) -> Part:
    """The part that a view is; `definition` gives the statements that make arrays."""
    stmt = definition(atom)
    if stmt is not None and stmt.op.name in WRITES:
        return part_of(stmt.args[0], definition)      # the same memory, written to since
    if stmt is not None and stmt.op.name == "get" and is_basic(stmt.attrs["index"], tuple(map(type_of, stmt.args[1:]))):
        return part_of(stmt.args[0], definition).at(stmt.attrs["index"], stmt.args[1:])
    if stmt is not None and stmt.op.name == "transpose":
        part = part_of(stmt.args[0], definition)
        order = stmt.attrs.get("axes") or range(len(part.axes))[::-1]
        return Part(part.whole, tuple(part.axes[k] for k in order), part.places)
    sizes = type_of(atom).sizes                                           # type: ignore[union-attr]
    return Part((_in_any_shape(atom, definition), sizes), tuple(map(Axis, range(len(sizes)))))


def _in_any_shape(atom: Atom, definition: Definition) -> Atom:
    """The array of which another is the same elements in the same order, whatever the shapes."""
    stmt = definition(atom)
    same = stmt is not None and (stmt.op.name in WRITES or stmt.op.name in RESHAPED)
    return _in_any_shape(stmt.args[0], definition) if same else atom  # type: ignore[union-attr]


def _sliced(axis: Axis, entry: slice) -> Axis:
    step = entry.step or 1
    first = entry.start if entry.start is not None or step < 0 else 0
    if axis.start is None or not isinstance(first, int) or first < 0:
        return Axis(axis.number, None, axis.step * step)
    return Axis(axis.number, axis.start + axis.step * first, axis.step * step)


def _are_apart(target: Part, value: Part) -> bool:
    """Whether they are at different places of one axis, as two rows are."""
    shared = target.places.keys() & value.places.keys()
    pairs = [(target.places[number], value.places[number]) for number in shared]
    return any(isinstance(a, int) and isinstance(b, int) and a != b and (a < 0) == (b < 0) for a, b in pairs)


def _are_in_order(target: Part, value: Part) -> bool:
    """Whether nothing is written before it is read, or it is read from a copy."""
    (to,), (of,) = target.axes, value.axes
    if to.number != of.number:
        return _cross_at_one_place(target, value)
    if to.step == of.step or (to.step < 0) != (of.step < 0):
        return True
    if to.step < 0 or to.start is None or of.start is None:
        return False
    return to.step <= of.step if to.start <= of.start else to.step >= of.step


def _cross_at_one_place(target: Part, value: Part) -> bool:
    """Whether a row is written to the column of the same number, or the other way round: the one element that
    they share stands at the same place in both."""
    (to,), (of,) = target.axes, value.axes
    one, other = target.places.get(of.number), value.places.get(to.number)
    known = None not in (to.start, of.start) and (to.start, to.step) == (of.start, of.step)
    return known and one is not None and (one is other or isinstance(one, int) and one == other)
