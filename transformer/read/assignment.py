"""Assignment: names, items and parts of arrays, attributes."""

from __future__ import annotations

import dataclasses
import inspect
import operator
import types
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from ..core.errors import NotSupported, as_raised
from ..core.grammar import Const, Var
from ..core.halves import is_inexact
from ..core.sizes import Size
from ..ops import indexing
from ..ops.arithmetic import converted
from ..ops.overlap import may_overwrite, part_of
from ..ops.value import Value
from ..ops.value import value as as_value
from .branches.casts import cast
from .branches.or_none import needed
from .branches.testing import fitting
from .calls.applying import apply_op, prepared
from .desugar.blocks import UNNAMED
from .frames import Frame, store
from .kinds import type_name
from .lists.item_names import name_item
from .lists.item_templates import name_choices, rename
from .lists.open_lists import OpenList
from .lists.opening import open_to_change
from .lists.recorded import RecordedList, Recording
from .objects.attributes import attribute, set_attribute
from .objects.containers import set_item
from .objects.derived_builtins import SLOTS
from .raising.asked_places import note_place
from .raising.errors import as_user_error
from .strides import with_places
from .subscripts import is_mask_of_number, place_among, subscript
from .unpacking import bind_sequence
from .values import PerhapsAxisless, View, cell_of, contained, is_array, is_axisless, whereabouts

if TYPE_CHECKING:
    from .reader import Reader

def read_assign(reader: Reader, node: Any) -> None:
    value = reader.evaluate(node.value)
    for target in node.targets:
        bind(reader, target, value)
    if getattr(target, "id", None) == reader.frame.result and target.end_col_offset == node.end_col_offset:
        reader.frame.returned = reader.frame.origin(node.value)  # it was an early `return`


def read_annotated(reader: Reader, node: Any) -> None:
    if node.value is not None:
        bind(reader, node.target, reader.evaluate(node.value))


def bind(reader: Reader, target: Any, value: Any) -> None:
    """`target = value`, whatever the target is."""
    with reader.builder.at(reader.frame.origin(target)):
        BINDERS[type(target)](reader, target, value)


def _bind_name(reader: Reader, target: Any, value: Any) -> None:
    if isinstance(value, (Recording, RecordedList)):
        if isinstance(value, OpenList):
            value.name_arrays(target.id)
        value = value.home
    called = value if target.type_comment == UNNAMED else name_value(reader, value, target.id)
    store(reader, reader.frame, target.id, called)


def name_value(reader: Reader, value: Any, name: str, called: Frame | None = None) -> Any:
    """The value, with what it computes named after the name it is bound to, in the frame at hand or as an argument
    in that which is `called`."""
    if type(value) in (float, complex) or is_inexact(value):
        return value if called else _named_constant(reader, value, name)
    if isinstance(value, Value):
        atom = value.atom
        if isinstance(atom, Var) and atom.is_parameter:
            name_item(reader, atom, name, called or reader.frame)
        elif isinstance(atom, Var) and (atom.name is None or atom in reader.provisional):
            rename(reader, atom, name)
        elif isinstance(atom, Const) and atom.name is None and value.known is None and not called:
            return _named_constant(reader, atom.value, name)
    elif isinstance(value, Size) and not called:
        reader.size_names.setdefault(value, name)
    elif not called:
        name_choices(reader, value, name)
    return value


def _named_constant(reader: Reader, number: Any, name: str) -> Any:
    """A number under its name, if it is the user who gave it one."""
    if reader.frame.is_ours:
        return number
    constant = Const(number, name=name)
    reader.local_constants.add(constant)
    return Value(constant, known=number)


def _bind_item(reader: Reader, target: Any, value: Any) -> None:
    owner = reader.evaluate_owner(target.value)
    write_item(reader, owner, reader.evaluate(target.slice), value)


def write_item(reader: Reader, owner: Any, index: Any, value: Any) -> None:
    """`owner[index] = value`."""
    owner, index = needed(reader, owner), needed(reader, index)
    if isinstance(owner, View) and owner.by_elements:
        _write_elements(reader, owner, index, prepared(reader, value))
        return
    if is_axisless(owner):
        _write_axisless(reader, owner, index, prepared(reader, value))
        return
    if isinstance(owner, PerhapsAxisless):
        raise NotSupported("assignment to a name that is a 0-d array on some paths only is not supported",
                           reader.builder.origin, instead="Rebind the name instead of writing into it.")
    if isinstance(owner, Value):
        index, value = prepared(reader, with_places(reader, owner, index)), prepared(reader, value)
        with as_user_error(reader):
            put = lambda: indexing.write(Value(owner.atom), value, index)  # noqa: E731
            new = fitting(reader, put, (owner, index, value), has_mask(index))
        note_place(reader, new)
        _check_overlap(reader, owner, value, new)
        reader.write(owner, new.atom)
        return
    index = place_among(reader, owner, index)
    user = getattr(type(owner), "__setitem__", None)
    if hasattr(user, "__code__"):
        reader.call(user, (owner, index, value), {})
    elif isinstance(owner, (list, dict)):
        set_item(reader, owner, index, value)
    elif isinstance(owner, RecordedList):
        open_to_change(reader, owner, "item assignment to a list that a loop filled").set_item(reader, index, value)
    elif isinstance(owner, Recording):
        raise owner.cannot_change(reader, "item assignment to a list that the loop appends to")
    else:
        raise as_raised(
            TypeError(f"'{type_name(owner)}' object does not support item assignment"),
            reader.builder.origin,
            instead="Convert it to a list or an array first: list(items), np.array(items).",
        )


def _write_elements(reader: Reader, view: View, index: Any, value: Any) -> None:
    """`z.real[index] = value`: the elements there are taken, get that part and are put back."""
    old = subscript(reader, view.base, index)
    with as_user_error(reader):
        put = lambda: _like(view.extract(Value(old.atom)), as_value(value))  # noqa: E731
        part = fitting(reader, put, (old, value), has_mask(index))
        new = view.insert(Value(old.atom), part)
    write_item(reader, view.base, index, new)


def _like(part: Value, given: Value) -> Value:
    """What is given as an assignment to a part converts and broadcasts it."""
    indexing.check_real(part, given)
    return indexing.write(part, given, ...) if part.ndim else converted(given, part.dtype)


def has_mask(index: Any) -> bool:
    """Whether values decide how many places an index has."""
    return any(isinstance(item, Value) and item.dtype.kind == "b" for item in contained(index))


def _write_axisless(reader: Reader, array: Value, index: Any, value: Any) -> None:
    """`s[()] = v`, `s[...] = v` for an array without axes, and `s[mask] = v` for a mask without axes."""
    value = as_value(value)
    if is_mask_of_number(index):
        row, flag = (apply_op(reader, np.reshape, (each, (1,)), {}) for each in (array, index))
        with as_user_error(reader):
            put = lambda: indexing.write(row, value, flag)  # noqa: E731
            new = fitting(reader, put, (row, flag, value), by_mask=True)
        reader.write(array, apply_op(reader, operator.getitem, (new, 0), {}).atom)
        return
    if index not in ((), ..., (...,)) or value.ndim or value.dtype.kind == "c" != array.dtype.kind:
        raise NotSupported("this assignment to a 0-d array is not supported", reader.builder.origin,
                           instead="Write s[...] = v, with a number v that fits its dtype.")
    reader.write(array, cast(reader, value.atom, array.type))


def _check_overlap(reader: Reader, owner: Value, value: Any, new: Value) -> None:
    """Refuses `y[::2] = y[:3]`, where NumPy may overwrite elements that it has yet to read."""
    definitions = reader.builder.numbering.definitions
    put = definitions.get(new.atom)  # type: ignore[arg-type]
    if put is None or put.op.name != "put" or not isinstance(value, View) or value.ndim != 1:
        return
    if cell_of(value) is not cell_of(owner):
        return
    target, source = (part_of(whereabouts(view), definitions.get) for view in (owner, value))  # type: ignore[arg-type]
    if may_overwrite(put, target, source):
        raise NotSupported(
            "assignment of a slice of an array to another slice of it with a different step is not supported",
            reader.builder.origin,
            why="If the slices overlap, NumPy may read elements that it has just written.",
            instead="Copy first: y[::2] = y[:3].copy().",
        )


def _bind_attribute(reader: Reader, target: Any, value: Any) -> None:
    assign_attribute(reader, reader.evaluate(target.value), target.attr, value)


def assign_attribute(reader: Reader, owner: Any, name: str, value: Any) -> None:
    """`owner.name = value`."""
    owner = needed(reader, owner)
    if isinstance(owner, Value) and name in ("real", "imag"):
        _set_part(reader, owner, name, value)
        return
    if _is_frozen(owner):
        raised = dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        raise as_raised(raised, reader.builder.origin, "Create a new object: dataclasses.replace(p, w=value).")
    if isinstance(owner, type):
        raise NotSupported(f"assignment to the attribute {name!r} of a class is not supported", reader.builder.origin,
                           instead="Keep it in an object that the function creates, or return it.")
    own = inspect.getattr_static(type(owner), "__setattr__", None)
    if own is not object.__setattr__ and isinstance(own, (types.FunctionType, *SLOTS)):
        reader.call(own, (owner, name, value), {})
    else:
        set_attribute(reader, owner, name, value)


def _set_part(reader: Reader, owner: Value, name: str, value: Any) -> None:
    """`z.real = value`."""
    if not is_array(owner):
        raise as_raised(AttributeError(f"attribute {name!r} of a number is not writable"), reader.builder.origin,
                        instead="Numbers do not change. Write z = complex(re, z.imag).")
    if name == "imag" and owner.dtype.kind != "c":
        raise as_raised(TypeError("array does not have imaginary part to set"), reader.builder.origin,
                        instead="Real numbers have no imaginary part to write: make them complex first.")
    write_item(reader, attribute(reader, owner, name), ..., value)


def _is_frozen(owner: Any) -> bool:
    return bool(getattr(getattr(type(owner), "__dataclass_params__", None), "frozen", False))


def runs_code(owner: Any, name: str) -> bool:
    """Whether an assignment to an attribute does more than to set it."""
    own, found = (inspect.getattr_static(type(owner), each, None) for each in ("__setattr__", name))
    return _is_frozen(owner) or isinstance(own, types.FunctionType) or isinstance(found, property)


BINDERS = {
    gast.Name: _bind_name,
    gast.Tuple: bind_sequence,
    gast.List: bind_sequence,
    gast.Subscript: _bind_item,
    gast.Attribute: _bind_attribute,
}


STATEMENTS = {gast.Assign: read_assign, gast.AnnAssign: read_annotated}
