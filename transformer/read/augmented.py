"""Augmented assignment: `x += v` combines in place what is an array, and binds anew what is none."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from ..core.errors import BadArgument, NotSupported, ShapeError
from ..core.halves import can_cast, promoted
from ..ops import indexing
from ..ops.arithmetic import converted, has_opposite
from ..ops.elementwise import elementwise_type, shape_text
from ..ops.value import NUMBERS, Value
from ..ops.value import value as as_value
from .assignment import assign_attribute, bind, has_mask, runs_code, write_item
from .branches.casts import cast
from .branches.or_none import needed
from .branches.testing import fitting
from .calls.applying import apply_op, prepared
from .expressions import read_name
from .loops.totals import added_to
from .objects.attributes import attribute
from .objects.in_place import changed_in_place
from .operators import BINARY, binary
from .raising.asked_places import note_place
from .raising.blame import as_numpy_raises
from .raising.errors import as_user_error
from .rank_zero import changed, note_number
from .strides import with_places
from .subscripts import subscript
from .values import PerhapsAxisless, View, cell_of, is_array, is_axisless

if TYPE_CHECKING:
    from .reader import Reader


def read_augmented(reader: Reader, node: Any) -> None:
    """`target op= value`: in place where the target is an array or a list, else bound anew."""
    function = BINARY[type(node.op)]
    target = node.target
    if isinstance(target, gast.Name):
        old = reader.usable(read_name(reader, target))
        new = combined_in_place(reader, function, old, reader.evaluate(node.value))
        if new is not old:
            bind(reader, target, new)
    elif isinstance(target, gast.Subscript):
        owner, index = reader.evaluate_owner(target.value), reader.evaluate(target.slice)
        _augment_item(reader, function, owner, index, lambda: reader.evaluate(node.value))
    else:
        owner = reader.evaluate(target.value)
        old = attribute(reader, owner, target.attr)
        new = combined_in_place(reader, function, old, reader.evaluate(node.value))
        if new is not old or not isinstance(owner, Value) and runs_code(owner, target.attr):
            assign_attribute(reader, owner, target.attr, new)


def combined_in_place(reader: Reader, function: Any, old: Any, value: Any) -> Any:
    """What `old op= value` leaves in the target: `old` itself, changed, if it can change."""
    old, value = needed(reader, old), needed(reader, value)
    if is_array(old):
        try:
            write_whole(reader, old, binary(reader, function, Value(old.atom), value))
        except (ShapeError, BadArgument) as error:
            in_place = getattr(operator, f"i{function.__name__.strip('_')}")
            raise as_numpy_raises(reader, error, in_place, (old, value), {}) from None
        return old
    container = changed_in_place(reader, function, old, value)
    if container is not None:
        return container
    if isinstance(old, Value):
        note_number(reader, old)
    if isinstance(old, PerhapsAxisless):
        return changed(reader, old, binary(reader, function, Value(old.atom), value))
    in_place = getattr(type(old), f"__i{function.__name__.strip('_')}__", None)
    if hasattr(in_place, "__code__") and not isinstance(old, Value):
        return reader.call(in_place, (old, value), {})
    return added_to(reader, old, value) if function is operator.add else binary(reader, function, old, value)


def write_whole(reader: Reader, array: Value, result: Any, casting: str = "same_kind") -> None:
    """Writes what a ufunc with `out=array` computes."""
    result = as_value(result)
    fitting(reader, lambda: _check_shape(reader, array, result), (array, result))
    check_cast(reader, result, array.dtype, casting)
    new = result.atom if result.dtype == array.dtype else cast(reader, result.atom, array.type)
    reader.write(array, new)


def _check_shape(reader: Reader, array: Value, result: Value) -> None:
    equal = reader.assumptions.equal
    if result.ndim != array.ndim or not all(equal(a, b) for a, b in zip(result.shape, array.shape)):
        raise ShapeError(
            f"non-broadcastable output operand with shape {shape_text(array.shape)} doesn't match the "
            f"broadcast shape {shape_text(result.shape)}",
            reader.builder.origin,
        )


def check_cast(reader: Reader, value: Value, dtype: np.dtype, casting: str) -> None:
    given = value.dtype.type(0).item() if value.type.weak else value.dtype
    kind = np.result_type(given) if value.type.weak else value.dtype
    if not can_cast(kind, dtype, casting):
        raise BadArgument(
            f"Cannot cast ufunc output from {value.dtype!r} to {dtype!r} with casting rule {casting!r}",
            reader.builder.origin,
            instead="Write x = x + y instead of x += y, or give x the wider dtype.",
        )


def _augment_item(reader: Reader, function: Any, owner: Any, index: Any, evaluate: Any) -> None:
    if not isinstance(owner, Value):
        old = subscript(reader, owner, index)
        new = combined_in_place(reader, function, old, evaluate())
        is_item = isinstance(owner, dict | list) and not isinstance(index, slice)
        if new is not old or not is_item:                 # else the item is what it was
            write_item(reader, owner, index, new)
        return
    index = with_places(reader, owner, index)
    old, before = subscript(reader, owner, index), cell_of(owner).atom
    value = evaluate()
    is_current = isinstance(old, View) or cell_of(owner).atom is before     # the value may have written to the array
    adds = function in (operator.add, operator.sub) and _is_within(owner, value, function)
    adds = adds and not is_axisless(owner) and not getattr(owner, "by_elements", False)
    if not (adds and is_current and _adds_in_place(reader, owner, index)):
        new = binary(reader, function, Value(old.atom), value)
        check_cast(reader, as_value(new), owner.dtype, "same_kind" if is_array(old) else "unsafe")
        write_item(reader, owner, index, new)
        return
    added = prepared(reader, value)
    if function is operator.sub:
        added = _opposite(reader, added, owner.dtype)
    add_to_items(reader, owner, index, added)


def add_to_items(reader: Reader, owner: Value, index: Any, added: Any) -> None:
    """`np.add.at(owner, index, added)`, of places that are told already."""
    with as_user_error(reader):
        position = prepared(reader, index)
        add = lambda: indexing.add_at(Value(owner.atom), added, position)  # noqa: E731
        new_array = fitting(reader, add, (owner, position, added), has_mask(position))
    note_place(reader, new_array)
    reader.write(owner, new_array.atom)


def _is_within(owner: Value, value: Any, function: Any) -> bool:
    """Whether an element of integers keeps its dtype when a value is added, or the opposite of one: what is wider is
    computed as such, and then has to fit."""
    if owner.dtype.kind != "i" or not isinstance(value, (Value, *NUMBERS)):
        return True
    added = as_value(value)
    if function is operator.sub and added.type.weak and not has_opposite(added.atom, owner.dtype):
        return False
    types = owner.type.with_sizes(()), added.type.with_sizes(())
    return bool(elementwise_type(np.add, types).dtype == owner.dtype)


def _opposite(reader: Reader, added: Any, dtype: Any) -> Any:
    """`-added` as it is in the dtype of the difference: what is narrower or has no sign may have no opposite."""
    if isinstance(added, Value) and added.dtype.kind in "bui" and not added.type.weak:
        common = promoted((dtype, added.dtype))
        added = added if added.dtype == common else converted(added, common)
    return apply_op(reader, operator.neg, (added,), {})


def _adds_in_place(reader: Reader, owner: Value, index: Any) -> bool:
    """Whether `x[index] += v` adds v to each element once, so that it is `addat`."""
    if owner.dtype.kind in "bu":
        return False
    with as_user_error(reader):
        place = indexing.Place(Value(owner.atom), prepared(reader, index))
    return not any(is_array(operand) and operand.dtype.kind != "b" for operand in place.operands)


def check_writable(reader: Reader, cell: Value) -> None:
    """Raises for arrays that the caller does not expect to change: globals and captured ones."""
    if any(cell is array for array in reader.outside.arrays()):
        name = getattr(cell.atom, "name", None)
        raise NotSupported(
            f"cannot write to the array {name!r}, which exists outside the function",
            reader.builder.origin,
            why="It is a global variable, or belongs to a closure or to an object created before the call.",
            instead="Copy it first: x = x.copy().",
        )


STATEMENTS = {gast.AugAssign: read_augmented}
