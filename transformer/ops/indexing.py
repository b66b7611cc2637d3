"""Reading, writing and adding at an index: `get`, `put`, `addat`.

What an index is in Core stands in `regions`, what it may be in Python in `places`. An index counts
as *basic* when it has no arrays; NumPy then gives a view. The attributes of the three ops:

``index``     the normal index; its slots are the operands after the array (and the value)
``sizes``     the sizes of the part it selects, where they rest on more than the types of the
              operands: on a slice of a symbolic axis (decided once, see `slices`), on an integer
              of the program, on a mask
``distinct``  no element is selected twice; basic indices and masks never do
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..core.builder import current
from ..core.errors import NotSupported, ShapeError, as_raised
from ..core.halves import can_cast, promoted
from ..core.sizes import Extent, product
from ..core.types import ArrayType
from . import index_batch
from .base import Op
from .elements import spread
from .elementwise import shape_text
from .index_places import source_place
from .places import BadIndex, Place
from .regions import (
    Index,
    Sizes,
    Slot,
    axes_of,
    block_of,
    filled,
    is_basic,
    is_mask,
    rank_of,
    region,
    replaced,
)
from .searching import Nonzero
from .value import Value, call, emit, value

__all__ = ["AddAt", "BadIndex", "Get", "Put", "Slot", "add_at", "normal_index", "read", "write"]


def normal_index(x: Value, index: Any) -> tuple[Index, tuple[Value, ...]]:
    """The normal index that ``x[index]`` means, and the operands of its slots."""
    place = Place(x, index)
    return place.index, tuple(place.operands)


def read(x: Any, index: Any) -> Value:
    """``x[index]``."""
    x = value(x)
    if x.type.weak:
        name = {"i": "int", "f": "float", "c": "complex"}.get(x.dtype.kind, x.dtype.name)
        raise as_raised(TypeError(f"'{name}' object is not subscriptable"))
    place = Place(x, index)
    return Get.applied(x, *place.operands, **place.attrs)


def check_real(x: Value, v: Value) -> None:
    """Raises where complex numbers are written to others."""
    if v.dtype.kind == "c" and x.dtype.kind != "c":
        raise NotSupported(f"complex numbers cannot be written to an array of dtype {x.dtype}",
                           why="Their imaginary parts would be lost.",
                           instead="Take np.real of them, or make the array complex.")


def write(x: Value, v: Any, index: Any) -> Value:
    """The array that `x` is after ``x[index] = v``."""
    _check_writable(x)
    place, v = Place(x, index), value(v)
    check_real(x, v)
    v = without_leading(v, len(place.sizes))
    _check_fits(v.shape, place)
    return Put.applied(x, v, *place.operands, **place.attrs)


def add_at(x: Value, v: Any, index: Any) -> Value:
    """The array that `x` is after ``np.add.at(x, index, v)``; for a basic index or a mask, after
    ``x[index] += v``."""
    _check_writable(x)
    place, v = Place(x, index), value(v)
    total = promoted((x.dtype, v.dtype.type(0).item() if v.type.weak else v.dtype))
    if not can_cast(total, x.dtype, "same_kind"):
        raise NotSupported(f"Cannot cast ufunc 'add' output from {total!r} to {x.dtype!r} "
                           "with casting rule 'same_kind'",
                           instead="Convert the array first, or round the value that is added.")
    _check_fits(v.shape, place)
    return AddAt.applied(x, v, *place.operands, **place.attrs)


def _check_writable(x: Value) -> None:
    if x.ndim == 0:
        name = type(x.dtype.type(0).item()).__name__ if x.type.weak else f"numpy.{x.dtype.name}"
        raise as_raised(TypeError(f"'{name}' object does not support item assignment"),
                        instead="Rebind the name instead of writing into it.")


def without_leading(v: Value, rank: int) -> Value:
    """`v` without the leading axes of size 1 that NumPy drops in an assignment."""
    extra = v.ndim - rank
    if extra > 0 and rank == 0:
        raise ShapeError("setting an array element with a sequence.")
    if extra > 0 and all(map(current().assumptions.is_one, v.shape[:extra])):
        return call(np.reshape, (v, v.shape[extra:]), {})
    return v


def _check_fits(shape: Sizes, place: Place) -> None:
    assumptions = current().assumptions
    over = place.sizes[len(place.sizes) - len(shape):]
    fits = (s == 1 or assumptions.equal(n, s) or assumptions.is_one(s) for n, s in zip(over, shape, strict=True))
    if len(shape) > len(place.sizes) or not all(fits):
        raise ShapeError(_misfit(shape, place))


def _misfit(shape: Sizes, place: Place) -> str:
    given, wanted = shape_text(shape), shape_text(place.sizes)
    if is_basic(place.index, tuple(place.operands)):
        return f"could not broadcast input array from shape {given} into shape {wanted}"
    return (f"shape mismatch: value array of shape {given} could not be broadcast to indexing "
            f"result of shape {wanted}")


class Get(Op):
    """``x[index]``. Its cotangent is added in place, into that of `x`."""

    calls = (operator.getitem,)
    silent = "sizes", "distinct"
    operands = ("x",)
    linear = "x"
    batch = staticmethod(index_batch.get)

    def front(args, kwargs, spelling):
        return read(*args, **kwargs)

    def types(x: ArrayType, *slots: ArrayType, index: Index, sizes: Sizes | None = None,
              distinct: bool = False) -> ArrayType:
        return ArrayType(x.dtype, region(x.sizes, index, slots, {}) if sizes is None else sizes)

    def element(at, x, *slots, index, sizes=None, distinct=False):
        return x[source_place(at, x.shape, slots, index)]

    def definition(x, *slots, **attrs):
        return by_positions(Get, slots, x, **attrs)

    def run(x, *slots, index, sizes=None, distinct=False):
        return x[filled(index, slots)]

    def vjp(dy, x, *slots, **attrs):
        if only_inserts(attrs["index"]):
            return without_inserted(dy, attrs["index"])
        if only_turns(attrs["index"]):
            return turned_back(dy, x, **attrs)
        return AddAt.applied(zeros_like(x), dy, *slots, **attrs)

    def accumulate(shadow, dy, x, *slots, **attrs):
        return AddAt.applied(shadow, dy, *slots, **attrs)

    def counts(place, x, *slots, **attrs):
        """Where a mask is of the shape of the array."""
        return slots[0] if place == 0 and len(slots) == 1 and is_mask(slots[0]) and slots[0].ndim == x.ndim else None

    def takes_all(index, **attrs):
        return only_inserts(index) or only_turns(index)

    def view(x, *slots, index, **attrs):
        return is_basic(index, slots)

    def write_back(base, part, *slots, **attrs):
        """An array without axes is its one number: nothing is put into it."""
        return Put.applied(base, part, *slots, **attrs) if base.ndim else without_inserted(part, attrs["index"])

    def domain(rng):
        return [((array, *slots), attrs) for array, slots, attrs, _ in cases(rng)]


def without_inserted(part: Value, index: Index) -> Value:
    """`part` without the axes of size 1 that an index only inserts; a cotangent may lack leading axes."""
    missing = len(index) - part.ndim
    axes = tuple(k - missing for k, entry in enumerate(index) if entry is None and k >= missing)
    return call(np.squeeze, (part, axes), {}) if axes else part


def turned_back(dy: Value, x: Value, **attrs: Any) -> Value:
    """The cotangent of an array of which only the order of the elements was changed; `dy` may be smaller."""
    if dy.ndim == 0:
        return dy
    return Get.applied(dy if dy.shape == x.shape else call(np.broadcast_to, (dy, x.shape), {}), **attrs)


def _type_written_to(x: ArrayType, v: ArrayType, *slots: ArrayType, index: Index, sizes: Sizes | None = None,
                     distinct: bool = False) -> ArrayType:
    return x


def _place_and_item(at, x, v, *slots, index, sizes=None, distinct=False):
    return source_place(at, x.shape, slots, index), spread(v, at)


def _writes(rng):
    return [((array, v, *slots), attrs) for array, slots, attrs, part in cases(rng) for v in (part, 0.5)]


class Put(Op):
    """`x` after ``x[index] = v``: linear in both together. Of several values for one element the
    last in order stays, and only that one gets the element's cotangent."""

    writes = True
    operands = ("x", "v")
    silent = "sizes", "distinct"
    batch = staticmethod(index_batch.put)
    types = _type_written_to
    store = _place_and_item
    domain = _writes
    jvp = (lambda t, x, v, *rest, **attrs: Put.applied(t, 0, *rest[:-1], **attrs),
           lambda t, x, v, *rest, **attrs: Put.applied(zeros_like(x), t, *rest[:-1], **attrs))
    vjp = (lambda dy, x, v, *rest, **attrs: Put.applied(dy, 0, *rest[:-1], **attrs),
           lambda dy, x, v, *rest, **attrs: read_by_last(dy, rest[:-1], **attrs))

    def counts(place, x, v, *slots, **attrs):
        """What places in arrays, or a mask, write over is not looked at."""
        if place or not any(slot.ndim for slot in slots):
            return None
        return Put.applied(call(np.ones, (x.shape,), {"dtype": np.dtype(bool)}), False, *slots, **attrs)

    def tangent(given, x, v, *slots, **attrs):
        return Put.applied(*moved(given, x), *slots, **attrs)

    def definition(x, v, *slots, **attrs):
        return by_positions(Put, slots, x, v, **attrs)

    def run(x, v, *slots, index, sizes=None, distinct=False):
        y = np.array(x)
        y[filled(index, slots)] = v
        return y


class AddAt(Op):
    """`x` after ``np.add.at(x, index, v)``: linear in both together; what is added to one element
    several times adds up. Without integer arrays it is ``x[index] += v``."""

    writes = True
    adds = True
    operands = ("x", "v")
    silent = "sizes", "distinct"
    batch = staticmethod(index_batch.add_at)
    types = _type_written_to
    store = _place_and_item
    domain = _writes
    jvp = (lambda t, x, v, *rest, **attrs: t,
           lambda t, x, v, *rest, **attrs: AddAt.applied(zeros_like(x), t, *rest[:-1], **attrs))
    vjp = (lambda dy, x, v, *rest, **attrs: dy,
           lambda dy, x, v, *rest, **attrs: Get.applied(dy, *rest[:-1], **attrs))

    def tangent(given, x, v, *slots, **attrs):
        return given[0] if given[1] is None else AddAt.applied(*moved(given, x), *slots, **attrs)

    def definition(x, v, *slots, **attrs):
        return by_positions(AddAt, slots, x, v, **attrs)

    def run(x, v, *slots, index, sizes=None, distinct=False):
        y = np.array(x)
        np.add.at(y, filled(index, slots), v)
        return y


def by_positions(op: Any, slots: tuple[Any, ...], *arrays: Any, index: Index, sizes: Sizes | None = None,
                 distinct: bool = False) -> Any:
    """The op with every mask of the index replaced by the positions that it selects, which are
    integer arrays; None if there is no mask."""
    if not any(map(is_mask, slots)):
        return None
    entries: list[Any] = []
    operands: list[Any] = []
    count = _selected(index, slots, sizes)
    for entry in index:
        if not isinstance(entry, Slot):
            entries.append(replaced((entry,), lambda slot: Slot(_added(operands, slots[slot.k])))[0])
            continue
        slot = slots[entry.k]
        if is_mask(slot) and not rank_of(slot):
            raise NotSupported("a boolean scalar as an index cannot be compiled",
                               why="It selects either the whole array, with a new axis in front, or nothing.",
                               instead="Use `if`, or write x[None] for x[True].")
        parts = emit(Nonzero, (slot.atom,), {"size": count}) if is_mask(slot) else (slot,)
        entries += [Slot(_added(operands, part)) for part in parts]
    alone = len(operands) == 1
    return op.applied(*arrays, *operands, index=tuple(entries), sizes=sizes, **({"distinct": True} if alone else {}))


def _added(operands: list[Any], operand: Any) -> int:
    operands.append(operand)
    return len(operands) - 1


def _selected(index: Index, slots: tuple[Any, ...], sizes: Sizes | None) -> Extent:
    """How many elements a mask selects: the size of the joint axis."""
    assert sizes is not None
    block = block_of(index, slots)
    return sizes[block.position + block.rank - 1]


def only_inserts(index: Index) -> bool:
    """Whether an index selects everything in its order, and puts in axes of size 1."""
    return None in index and all(entry is None or isinstance(entry, slice) and entry == slice(None) for entry in index)


def only_turns(index: Index) -> bool:
    """Whether an index selects everything, some axes from end to start: it is its own inverse."""
    return all(isinstance(e, slice) and e.start is None is e.stop and e.step in (None, 1, -1) for e in index)


def zeros_like(x: Any) -> Any:
    """Zeros for a rule; they rest on the type of `x`, not on its value."""
    if isinstance(x, Value):
        return call(np.zeros, (x.shape,), {"dtype": x.dtype})
    return np.zeros(np.shape(x), x.dtype)


def moved(given: Any, x: Any) -> tuple[Any, Any]:
    """The tangents of an array and of what is written into it; zeros where there is none."""
    t, tv = given[:2]
    return zeros_like(x) if t is None else t, 0 if tv is None else tv


def read_by_last(dy: Any, slots: Any, **attrs: Any) -> Any:
    """The cotangent of what was written: ``dy[index]``, 0 for a value that another one replaced."""
    part = Get.applied(dy, *slots, **attrs)
    if attrs.get("distinct") or not any(rank_of(s) and not is_mask(s) for s in slots):
        return part
    return np.where(is_last(dy, part, slots, **attrs), part, 0)


def is_last(x: Any, part: Any, slots: Any, index: Index, sizes: Sizes | None = None) -> Any:
    """Which of the values written at an index stay, as a mask that broadcasts against the part.

    Every value writes its number into an array of owners; those that find their own number there
    came last. Axes that are sliced play no role and have size 1.
    """
    shape, small = _without_slices(x, slots, index)
    block = block_of(index, slots)
    joint = range(block.position, block.position + block.rank)
    own = tuple(n if k in joint else 1 for k, n in enumerate(part.shape))
    attrs = {"index": small} if sizes is None else {"index": small, "sizes": own}
    for size in own if isinstance(x, Value) else ():
        current().assumptions.exists(size)
    numbers = np.reshape(_made(x, np.arange, product(own)), own)
    owners = Put.applied(_made(x, np.zeros, shape, dtype=np.dtype(int)), numbers, *slots, **attrs)
    return Get.applied(owners, *slots, **attrs) == numbers


def _without_slices(x: Any, slots: Any, index: Index) -> tuple[tuple[Extent, ...], Index]:
    """The shape of `x` with 1 for each sliced axis, and the index with full slices there."""
    sizes: list[Extent] = []
    for entry in index:
        axes = axes_of(entry, slots)
        sizes += [1] if isinstance(entry, slice) else x.shape[len(sizes):len(sizes) + axes]
    return tuple(sizes), tuple(slice(None) if isinstance(e, slice) else e for e in index)


def _made(like: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
    """An array made from sizes in a rule: emitted where the rule works on values."""
    return call(function, args, kwargs) if isinstance(like, Value) else function(*args, **kwargs)


def cases(rng: Any) -> list[tuple[Any, tuple[Any, ...], dict[str, Any], Any]]:
    """Sample calls: an array, the operands of the index, attributes, and what is to be written."""
    rows, mask = np.array([1, 0, 1]), np.array([True, False, True])
    start, stop = np.int64(1), np.int64(3)
    found = []
    for shape, slots, index in [
        ((4,), (), (2,)), ((4,), (), (slice(1, None),)), ((4,), (), (slice(None, None, -2),)),
        ((3, 4), (), (-1, slice(0, 2))), ((3, 4), (), (slice(None), None, slice(1, 3))),
        ((4,), (np.int64(2),), (Slot(0),)), ((3, 4), (np.int64(-1),), (slice(None), Slot(0))),
        ((4,), (rows,), (Slot(0),)), ((3, 4), (rows, rows[:, None]), (Slot(0), Slot(1))),
        ((3, 4), (rows,), (slice(1, None), Slot(0))),
        ((2, 3, 4), (rows, rows), (Slot(0), slice(None), Slot(1))),
        ((3,), (mask,), (Slot(0),)), ((2, 3), (mask,), (slice(None), Slot(0))),
        ((5,), (start, stop), (slice(Slot(0), Slot(1)),)),
        ((2, 3, 5), (start, stop, rows), (1, slice(Slot(0), Slot(1)), Slot(2))),
    ]:
        array = rng.normal(size=shape)
        part = array[filled(index, slots)]
        attrs: dict[str, Any] = {"index": index}
        if any(slot is start or is_mask(slot) for slot in slots):
            attrs["sizes"] = part.shape
        found.append((array, slots, attrs, rng.normal(size=part.shape)[()]))
    return found
