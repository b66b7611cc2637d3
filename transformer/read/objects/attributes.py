"""Attributes of arrays, numbers, modules, objects of user classes."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import NotSupported, TransformError, as_raised, suggestion
from ...core.halves import kind_of, of_numpy
from ...core.sizes import Size
from ...core.walk import atom_of_size
from ...ops.table import method as op_of_method
from ...ops.value import PROPERTIES, Value
from ...ops.value import value as number_of
from ...updates import At
from ..branches.asked_classes import is_whole_on_a_path, not_whole_on_all_paths
from ..branches.journal import Attribute, Field, Item
from ..branches.or_none import needed
from ..calls.applying import apply_found
from ..calls.pure import LIBRARIES
from ..flat import assign_flat, flat
from ..kinds import described, python_type, stands_for_another, type_name
from ..library import methods
from ..library.numbers import OF_NUMBERS
from ..lists.recorded import RecordedList, Recording
from ..raising.errors import as_user_error
from ..values import (
    ABSENT,
    ArrayMethod,
    Closure,
    Conflict,
    ContainerMethod,
    DynamicRange,
    ExceptionValue,
    Text,
    contained,
)
from .containers import METHODS, container_kind
from .derived_builtins import SLOTS, is_redefined

if TYPE_CHECKING:
    from ..reader import Reader


def attribute(reader: Reader, value: Any, name: str) -> Any:
    """`value.name`."""
    value = needed(reader, value)
    if isinstance(value, Value):
        return of_array(reader, value, name)
    if name == "__class__" and python_type(value) is not type(value):
        return python_type(value)
    if isinstance(value, Size):
        return _of_whole_number(reader, value, name)
    if isinstance(value, (RecordedList, Recording, DynamicRange)):
        return ContainerMethod(value, name)
    if isinstance(value, (Text, ExceptionValue)):
        return _of_text(reader, value, name)
    kind = container_kind(value)
    if kind is not None and name in METHODS[kind] and not is_redefined(value, name, kind):
        return ContainerMethod(value, name)
    return of_object(reader, value, name)


FACTS = {"shape", "dtype", "ndim", "size"}
WRITING = {"fill", "itemset", "resize"}
ITEMS = {"item", "setflags", "view", "tobytes"}


def of_array(reader: Reader, value: Value, name: str) -> Any:
    """An attribute of an array or of a number."""
    if (value.type.weak or name in OF_NUMBERS) and not hasattr(python_type(value), name):
        raise missing_attribute(reader, value, name)
    if name == "__class__":
        return python_type(value)
    if name == "dtype":
        return of_numpy(value.dtype)
    if name in FACTS:
        return getattr(value, name)
    if name == "itemsize":
        return value.dtype.itemsize
    if name == "nbytes":
        return value.size * value.dtype.itemsize
    if name == "flat" and value.ndim:
        return flat(reader, value)
    if name == "at":                                    # of an `Array`: `transformer.numpy` makes them
        return reader.call(At, (value,), {})
    if name in ("numerator", "denominator") and hasattr(python_type(value), name):
        return value if name == "numerator" else 1
    op = op_of_method(name)
    if op is None and name not in WRITING | ITEMS | methods().keys():
        if not hasattr(python_type(value), name):
            raise missing_attribute(reader, value, name)
        raise NotSupported(
            f"the attribute {name!r} of {described(value)} is not supported",
            reader.builder.origin,
            instead=INSTEAD_OF_ATTRIBUTE.get(name, "Read it outside the function, and pass it as an argument."),
        )
    if name in PROPERTIES and op is not None:
        return apply_found(reader, op, (value,), {}, None)
    return ArrayMethod(value, name)


INSTEAD_OF_ATTRIBUTE = {
    "__array__": "Use the array itself.",
}


def missing_attribute(reader: Reader, value: Any, name: str) -> TransformError:
    """What Python raises for an attribute that is not there, with the names that are close."""
    if is_whole_on_a_path(reader, value) and hasattr(int, name):
        return not_whole_on_all_paths(reader)
    if stands_for_another(value):
        return no_such_rule(reader, value, f"the attribute {name!r}")
    of_module = isinstance(value, types.ModuleType | type)
    if not of_module and hasattr(python_type(value), name):
        return NotSupported(f"the attribute {name!r} of {described(value)} is not supported", reader.builder.origin,
                            instead="Write out the computation.")
    kind = "module" if isinstance(value, types.ModuleType) else "type object"
    what = f"{kind} {value.__name__!r}" if of_module else f"'{type_name(value)}' object"
    names = dir(value) if of_module else [*dir(python_type(value)), *getattr(value, "__dict__", {})]
    raised = AttributeError(f"{what} has no attribute {name!r}")
    known = INSTEAD_OF_ATTRIBUTE.get(name) if python_type(value) is np.ndarray else None
    found = as_raised(raised, reader.builder.origin, known or suggestion(name, names))
    found.is_raised = not python_type(value).__module__.startswith("transformer.read")   # ours stand for others
    return found


def no_such_rule(reader: Reader, value: Any, what: str) -> NotSupported:
    """What to raise where a program asks an object of ours for what only that has for which it stands."""
    return NotSupported(
        f"{what} of {described(value)} is not supported",
        reader.builder.origin,
        why="Only part of the interface of this library class is supported.",
        instead="Create the object outside, and pass the values that you need as arguments.",
    )


def _of_text(reader: Reader, value: Text | ExceptionValue, name: str) -> Any:
    if isinstance(value, ExceptionValue) and value.made is not None:
        return of_object(reader, value.made, name)
    if isinstance(value, ExceptionValue) and name == "args":
        return value.args
    if not hasattr(python_type(value), name):
        raise missing_attribute(reader, value, name)
    raise NotSupported(
        f"the attribute {name!r} of a string or an exception with computed parts is not supported",
        reader.builder.origin,
        instead="Print it, or return the values and build the string outside.",
    )


def _of_whole_number(reader: Reader, value: Size, name: str) -> Any:
    if name in ("real", "numerator"):
        return value
    if name in ("imag", "denominator"):
        return 0 if name == "imag" else 1
    if not hasattr(int, name):
        raise missing_attribute(reader, value, name)
    if name in OF_NUMBERS:
        return ArrayMethod(number_of(atom_of_size(value)), name)
    raise NotSupported(f"the attribute {name!r} of a size is not supported", reader.builder.origin,
                       instead="Pass the number as an argument.")


def of_object(reader: Reader, value: Any, name: str) -> Any:
    """An attribute of a static object, by Python's rules; user code in properties is read."""
    if isinstance(value, np.dtype) and name == "kind":
        return kind_of(value)
    if isinstance(value, super):
        return _of_super(reader, value, name)
    if isinstance(value, (types.ModuleType, type)) or _is_plain(value):
        return _plain(reader, value, name)
    found = inspect.getattr_static(type(value), name, ABSENT)
    if isinstance(found, property):
        held = _held_by_library(reader, value, name, found)
        return reader.outside.attribute(value, name) if held else reader.call(found.fget, (value,), {})
    if isinstance(found, functools.cached_property):
        return _cached(reader, value, name, found)
    if _is_method(found) and name not in getattr(value, "__dict__", {}):
        return types.MethodType(found, value)
    if found is ABSENT and inspect.getattr_static(value, name, ABSENT) is ABSENT:
        return _missing(reader, value, name)
    return _field(reader, value, name)


def _held_by_library(reader: Reader, value: Any, name: str, found: property) -> bool:
    """Whether a property is one of a library, which is not read, of an object from outside, and gives an array or a
    number: as attributes do, where other versions of the library have an attribute."""
    home = getattr(found.fget, "__module__", None) or ""
    if home.partition(".")[0] not in LIBRARIES or reader.is_local(value):
        return False
    with as_user_error(reader):
        return isinstance(getattr(value, name), np.ndarray | np.number | bool | int | float | complex | str)


def _of_super(reader: Reader, value: Any, name: str) -> Any:
    """`super().name`: what the classes behind one hold, bound to the object."""
    held, kind = value.__self__, value.__self_class__
    behind = kind.__mro__[kind.__mro__.index(value.__thisclass__) + 1:]
    found = next((vars(each)[name] for each in behind if name in vars(each)), ABSENT)
    if isinstance(found, property):
        return reader.call(found.fget, (held,), {})
    if isinstance(found, SLOTS):
        return types.MethodType(found, held)
    return _plain(reader, value, name)


def _is_method(found: Any) -> bool:
    """Whether an attribute of a class is bound to its objects: functions, and what is made of them here."""
    return isinstance(found, types.FunctionType) or hasattr(found, "__get__") and hasattr(found, "__transformer_read__")


def _is_plain(value: Any) -> bool:
    """Whether reading an attribute runs no user code."""
    return (
        isinstance(
            value,
            (
                types.FunctionType,
                types.BuiltinFunctionType,
                types.MethodType,
                np.ufunc,
                np.dtype,
                np.generic,
                str,
                bytes,
                int,
                float,
                complex,
                Closure,
            ),
        )
        or value is None
        or type(value).__module__ in ("builtins", "numpy") and not isinstance(value, CHANGING)
    )


CHANGING = np.poly1d, np.vectorize                # objects of NumPy whose attributes programs may set


def _plain(reader: Reader, value: Any, name: str) -> Any:
    if not hasattr(value, name):
        raise missing_attribute(reader, value, name)
    return (
        reader.outside.attribute(value, name) if isinstance(value, (types.ModuleType, type)) else getattr(value, name)
    )


def _field(reader: Reader, value: Any, name: str) -> Any:
    if not reader.is_local(value):
        return reader.outside.attribute(value, name)
    if name not in getattr(value, "__dict__", {}) and _is_inherited(inspect.getattr_static(type(value), name, ABSENT)):
        return reader.outside.attribute(type(value), name)
    return getattr(value, name)


def _is_inherited(found: Any) -> bool:
    """Whether what a class holds is the value of an attribute that its instance does not have."""
    return found is not ABSENT and not hasattr(found, "__get__")


def _cached(reader: Reader, value: Any, name: str, found: Any) -> Any:
    if name in vars(value):
        return _field(reader, value, name)
    result = reader.call(found.func, (value,), {})
    if reader.owns(value):
        reader.journal.write(Item(vars(value), name), result)
    return result


def _missing(reader: Reader, value: Any, name: str) -> Any:
    fallback = inspect.getattr_static(type(value), "__getattr__", ABSENT)
    if isinstance(fallback, (types.FunctionType, *SLOTS)):
        return reader.call(fallback, (value, name), {})
    raise missing_attribute(reader, value, name)


def set_attribute(reader: Reader, owner: Any, name: str, value: Any) -> None:
    """`owner.name = value`, for objects that were made by the code being read."""
    if isinstance(owner, Value) and name == "flat":
        return assign_flat(reader, owner, value)
    if isinstance(owner, Value) and not hasattr(python_type(owner), name):
        raise missing_attribute(reader, owner, name)
    if isinstance(owner, Value):
        raise NotSupported(
            f"assignment to the attribute {name!r} of an array is not supported",
            reader.builder.origin,
            instead="Write z = re + 1j * im." if name in ("real", "imag") else
            "Use np.reshape for a new shape, astype for a new dtype.",
        )
    found = inspect.getattr_static(type(owner), name, ABSENT)
    if isinstance(found, property) and found.fset is not None:
        reader.call(found.fset, (owner, value), {})
        return
    if not reader.owns(owner) and not _may_hold(owner, name):
        if inspect.getattr_static(owner, name, ABSENT) is value:
            return
        raise _of_outside(reader, "assign to", name)
    reader.aliases.check_write(reader, owner)
    if name == "__dict__" and value is owner:            # a dictionary whose items are its attributes
        owner.__dict__ = owner
        return
    own = getattr(owner, "__dict__", None)
    if own is None and found is ABSENT:
        raise missing_attribute(reader, owner, name)
    place = _place_of(reader, owner, name, found) if isinstance(own, dict) else Attribute(owner, name)
    reader.journal.write(place, value)


def delete_attribute(reader: Reader, owner: Any, name: str) -> None:
    """`del owner.name`."""
    owner = needed(reader, owner)
    own = inspect.getattr_static(type(owner), "__delattr__")
    if isinstance(own, types.FunctionType):
        reader.call(own, (owner, name), {})
    else:
        drop_attribute(reader, owner, name)


def drop_attribute(reader: Reader, owner: Any, name: str) -> None:
    """`object.__delattr__`."""
    found = inspect.getattr_static(type(owner), name, ABSENT)
    if isinstance(found, property) and found.fdel is not None:
        reader.call(found.fdel, (owner,), {})
    elif not reader.owns(owner):
        raise _of_outside(reader, "delete", name)
    elif name not in getattr(owner, "__dict__", {}):
        raise missing_attribute(reader, owner, name)
    else:
        _check_settled(reader, owner.__dict__[name], name)
        reader.aliases.check_write(reader, owner)
        reader.journal.write(_place_of(reader, owner, name, found), ABSENT)


def _of_outside(reader: Reader, deed: str, name: str) -> NotSupported:
    return NotSupported(
        f"cannot {deed} the attribute {name!r} of an object that exists outside the function",
        reader.builder.origin,
        why="A transformed function must not have side effects.",
        instead="Return the new value, or create the object inside the function.",
    )


def _may_hold(owner: Any, name: str) -> bool:
    """Whether a function that was defined in what is read may be given an attribute, as `hit.terminal = True`."""
    return isinstance(owner, Closure) and name not in Closure.__dataclass_fields__


def _place_of(reader: Reader, owner: Any, name: str, found: Any) -> Item:
    """Where an object keeps an attribute; `found` is what its class holds under that name."""
    if _is_inherited(found):
        return Field(owner.__dict__, name, reader.outside.attribute(type(owner), name))
    return Item(owner.__dict__, name)


def has_attribute(reader: Reader, value: Any, name: str) -> bool:
    """`hasattr`, where it does not depend on the path or on the iteration."""
    if isinstance(value, Value | Size):
        return hasattr(python_type(value), name)
    held = getattr(value, "__dict__", {}).get(name, ABSENT)
    _check_settled(reader, held, name)
    if held is ABSENT and reader.owns(value):
        for loop in reader.loops:
            loop.changes.found_absent(value.__dict__, name)
    if stands_for_another(value) and not hasattr(value, name):
        raise no_such_rule(reader, value, f"the attribute {name!r}")
    return hasattr(value, name) if reader.is_local(value) else reader.outside.has_attribute(value, name)


def _check_settled(reader: Reader, held: Any, name: str) -> None:
    """Refuses to go by whether there is an attribute, if what it holds was not given to it on all paths."""
    if any(isinstance(part, Conflict) or isinstance(part, Value) and part.atom in reader.partial
           for part in _parts_of(reader, held)):
        raise NotSupported(
            f"whether the attribute {name!r} exists depends on a branch or loop",
            reader.builder.origin,
            instead="Initialise it (to None) when the object is created.",
        )


def _parts_of(reader: Reader, held: Any) -> Iterator[Any]:
    """The values in an attribute, also those of an object in it."""
    for part in contained(held):
        yield from contained(vars(part)) if reader.owns(part) and hasattr(part, "__dict__") else [part]


def attributes_of(reader: Reader, *owner: Any) -> Any:
    """`vars`."""
    if not owner:
        raise NotSupported("no rule for vars", reader.builder.origin, why="It looks variables up by name.",
                           instead="Use the variables directly.")
    return reader.attribute(owner[0], "__dict__")
