"""`range` with bounds that are known, or that the program computes, and what its items are."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import ShapeError
from ...core.sizes import Extent, Size
from ...ops.integers import affine
from ...ops.value import Value
from ..branches.asked_classes import is_whole_on_a_path, not_whole_on_all_paths
from ..calls.applying import apply_op
from ..kinds import type_name
from ..raising.demand import static
from ..raising.errors import as_user_error
from ..strides import stride
from ..values import UNKNOWN, DynamicRange, known_of
from .iteration import iteration_of

if TYPE_CHECKING:
    from ..reader import Reader


def made_range(reader: Reader, *args: Any) -> Any:
    """`range`, of numbers known or not."""
    args = tuple(int(arg) if isinstance(arg, np.integer) else arg for arg in args)
    if all(isinstance(known_of(arg), int) for arg in args):
        with as_user_error(reader):
            return range(*map(known_of, args))
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    for bound in (start, stop):
        _check_whole(reader, bound)
    _check_whole(reader, step)
    step = stride(reader, step, "the step of a range")
    if isinstance(step, int) and step == 0:
        raise ShapeError("range() arg 3 must not be zero", reader.builder.origin)
    return DynamicRange(start, stop, step)


def _check_whole(reader: Reader, bound: Any) -> None:
    if isinstance(bound, (int, Size)):
        return
    if isinstance(bound, Value) and not bound.ndim and bound.dtype.kind in "iub":
        return
    if is_whole_on_a_path(reader, bound):
        raise not_whole_on_all_paths(reader)
    with as_user_error(reader):
        raise TypeError(f"'{type_name(bound)}' object cannot be interpreted as an integer")


def item_of_range(reader: Reader, value: Any, index: Any) -> Any:
    """`range(...)[k]`, `range(...)[a:b]`."""
    iteration = iteration_of(reader, value)
    if isinstance(index, slice):
        return _part_of_range(reader, value, iteration.length, index)
    if known_of(index) is not UNKNOWN and known_of(index) < 0:
        index = iteration.length + known_of(index)
    return iteration.element(index)


def _part_of_range(reader: Reader, value: Any, length: Extent, cut: slice) -> DynamicRange:
    """A slice of a range: it begins behind as many elements as stand before the start of the slice."""
    step = 1 if cut.step is None else static(reader, cut.step, "the step of a slice")
    axis = apply_op(reader, np.zeros, (length,), {})

    def counted(part: slice) -> Extent:
        return apply_op(reader, operator.getitem, (axis, part), {}).shape[0]

    def place(bound: Any, at_end: Extent) -> Extent:
        """The place that a bound of a slice that runs backwards stands for, or the one in front of all."""
        if bound is None:
            return at_end
        known = static(reader, bound, "a bound of a slice of a range that runs backwards")
        return length - 1 if known == -1 else counted(slice(None, known + 1)) - 1

    if step < 0:
        first, last = (affine(value.start) + place(bound, at_end) * value.step
                       for bound, at_end in ((cut.start, length - 1), (cut.stop, -1)))
        return DynamicRange(first, last, value.step * step)
    begin = 0 if cut.start is None else counted(slice(None, cut.start))
    first = affine(value.start) + begin * value.step
    return DynamicRange(first, first + counted(slice(cut.start, cut.stop)) * value.step, value.step * step)
