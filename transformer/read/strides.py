"""Slices whose step the program computes: an array of integers, the places that they take, stands for them.

    composite[p * p::p] = True        composite[p * p + p * np.arange(count)] = True
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from ..core.builder import current
from ..core.errors import NotSupported
from ..ops import indexing
from ..ops.value import Value
from .calls.applying import apply_op
from .library.steps import places_of_slice
from .raising.demand import Unroll, static
from .values import View

if TYPE_CHECKING:
    from .reader import Reader


def stride(reader: Reader, step: Any, what: str) -> Any:
    """A step: a number if it rests on arguments alone, else what the program computes."""
    try:
        return static(reader, step, what)
    except (Unroll, NotSupported):
        return step


def with_places(reader: Reader, array: Value, index: Any) -> Any:
    """An index of an array with places in place of a slice whose step is computed; the same one if there is none, or
    if other parts of it are not slices: then an array would mean something else."""
    parts = list(index) if isinstance(index, tuple) else [index]
    computed = [k for k, part in enumerate(parts) if _is_computed(reader, part)]
    others_are_slices = all(part is None or part is ... or isinstance(part, slice) for part in parts)
    if len(computed) != 1 or not others_are_slices:
        return index
    axis = _axis_of(parts, computed[0], array.ndim)
    if axis is None:
        return index
    parts[computed[0]] = _places(reader, array.shape[axis], parts[computed[0]])
    return tuple(parts)


def _is_computed(reader: Reader, part: Any) -> bool:
    if not isinstance(part, slice) or part.step is None:
        return False
    step = stride(reader, part.step, "the step of a slice")
    return isinstance(step, Value) and not step.ndim and step.dtype.kind in "iu"


def _axis_of(parts: list[Any], place: int, rank: int) -> int | None:
    """The axis that a part of an index is about; None where there is no such."""
    before = [part for part in parts[:place] if part is not None]
    if not any(part is ... for part in before):
        return len(before) if len(before) < rank else None
    axis = rank - sum(part is not None for part in parts[place:])
    return axis if axis >= 0 else None


def _places(reader: Reader, size: Any, part: slice) -> Value:
    from .library.calls import call_library

    places: Value = call_library(reader, places_of_slice, (size, part.start, part.stop, part.step), {})
    current().numbering.distinct.add(places.atom)       # type: ignore[arg-type]
    return places


def part_in_steps(reader: Reader, array: Value, places: Any) -> Value:
    """The elements at these places, which share the memory of the array as those of a slice do."""
    part = apply_op(reader, operator.getitem, (array, places), {})

    def extract(whole: Value) -> Value:
        return indexing.read(whole, places)

    def insert(whole: Value, part: Value) -> Value:
        return indexing.write(whole, part, places)

    return View(array, extract, insert, reader.journal, part.atom)
