"""Values from outside the call: globals, closure cells, attributes of objects made before.

Arrays among them, of NumPy's and on devices, become hidden arguments, and so do numbers that have changed before (see
`varying`); other floats become named constants. Everything that is used as static is watched, so that a change of it
leads to a new reading. So is the code of each function that is read, and where a class has it: both may be replaced,
by who edits a module that is loaded, or by a test.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import partial
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

import numpy as np

from ..containers import LEAVES, kind_of
from ..core.errors import NotSupported
from ..core.grammar import Const, Var
from ..core.halves import is_inexact, of_core
from ..core.on_devices import is_on_device, on_host
from ..core.types import ArrayType, has_own_meaning
from ..ops.value import Value
from ..tree import Structure
from .contents import Behind, Contents, OnHost, Own, Presence, can_change, runs
from .interface import Hidden
from .kinds import described
from .objects.derived_builtins import getter
from .values import Axisless, Closure, Conflict, ContainerMethod, DynamicRange, Lazy, Text
from .varying import identity_of, varying_type

if TYPE_CHECKING:
    from .reader import Reader

Watch = tuple[Callable[[Any], Any], Any, Any]

# Objects of reading itself, and what cannot change under a name.
OF_LIBRARIES = {"numpy", "scipy", "transformer"}
CALLABLES = (type, types.FunctionType, types.MethodType)
UNWATCHED = (Value, Closure, Conflict, ContainerMethod, DynamicRange, Lazy, Text, types.ModuleType)


class Kept:
    """An array that is read from wherever it was found, as it was then."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array


class Outside:
    """Lifts values from outside and keeps the lists of what was used."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.hidden: list[Hidden] = []
        self.watched: list[Watch] = []
        self._arrays: dict[int, tuple[Any, Value, Any, Any]] = {}
        self._numbers: dict[tuple[int, Any], Value] = {}
        self._watched: set[tuple[int, Any, int]] = set()
        self._kept: list[Any] = []
        self._names: set[str] = set()
        self._containers: dict[int, Contents] = {}
        self._copied: set[int] = set()

    def lift(self, found: Any, holder: Callable[[Any], Any], key: Any, name: str | None) -> Any:
        """What reading works with in place of an object from outside: `holder(key)` gives it."""
        name = f"{name}_" if name and iskeyword(name) else name          # an attribute, or an item, called `lambda`
        if is_on_device(found):
            found, holder = on_host(found), OnHost(holder)
        if isinstance(found, np.ndarray):
            return self._array(found, holder, key, name)
        type = varying_type(holder, key, found)
        return self._static(found, holder, key, name) if type is None else self._number(type, holder, key, name)

    def _static(self, found: Any, holder: Callable[[Any], Any], key: Any, name: str | None) -> Any:
        if not isinstance(found, UNWATCHED) and not _stays(holder, key):
            self._watch(found, holder, key)
        if can_change(found):
            self._watch(True, self._contents(found), True)
        if type(found) in (float, complex) or is_inexact(found):
            return Value(Const(found, name=name), known=found) if name else found
        return found

    def _contents(self, container: Any) -> Contents:
        if id(container) not in self._containers:
            self._containers[id(container)] = Contents(container, self._copied)
        return self._containers[id(container)]

    def copied(self, array: np.ndarray) -> Any:
        """An array that was found in a copy of a container, lifted: the containers have to hold the same one."""
        self._copied.add(id(array))
        return self.lift(array, partial(getattr, Kept(array)), "array", None)

    def seen_whole(self, found: Any, around: tuple[Any, ...] = ()) -> None:
        """Notes that all that an object holds may be looked at, by a function that is not read; so may what is in the
        objects that it holds. The object is in those `around`."""
        if isinstance(found, (*UNWATCHED, *CALLABLES, Structure)) or any(found is each for each in around):
            return
        if not self.reader.is_local(found):
            self._watch_attributes(found)
        kind = kind_of(type(found))
        for part in () if kind is LEAVES or found is None else kind.split(found)[1]:
            self.seen_whole(part, (*around, found))

    def _watch_attributes(self, found: Any) -> None:
        held = getattr(found, "__dict__", None)
        if isinstance(held, dict):
            self._watch(True, self._contents(held), True)
        for name in _slots(found):
            value = getattr(found, name)
            self._watch(value, partial(getattr, found), name)
            if can_change(value):
                self._watch(True, self._contents(value), True)

    def has_attribute(self, owner: Any, name: str) -> bool:
        """Whether an object from outside has an attribute."""
        found = hasattr(owner, name)
        if hasattr(owner, "__dict__") and not isinstance(owner, UNWATCHED):
            self._watch(found, Presence(owner), name)
        return found

    def attribute(self, owner: Any, name: str) -> Any:
        """An attribute of an object from outside, lifted."""
        found = getattr(owner, name)
        if isinstance(owner, types.ModuleType) and not _is_users(owner):
            return _constant_of_module(owner, name, found)
        if isinstance(found, types.MethodType) and getattr(owner, name) is not found:
            self._watch(found.__func__, Behind(owner), name)
            return found
        return self.lift(found, partial(getattr, owner), name, name)

    def item(self, owner: Any, key: Any) -> Any:
        """An item of a container from outside, lifted."""
        name = key if isinstance(key, str) and key.isidentifier() else None
        holder = getter(owner)
        found = holder(key)
        if isinstance(found, np.ndarray) or is_on_device(found):
            return self.lift(found, holder, key, name)
        if isinstance(owner, tuple | str | bytes | range):
            return found
        return self._static(found, holder, key, None)    # the container is watched as a whole

    def items(self, container: dict[Any, Any]) -> dict[Any, Any]:
        """All items of a dictionary from outside, lifted."""
        self._watch(True, self._contents(container), True)
        return {key: self.item(container, key) for key in container}

    def read(self, function: types.FunctionType, args: tuple[Any, ...]) -> None:
        """Notes that the body of a function is read, for a call with these arguments."""
        if is_of_library(function):
            return
        if args and not isinstance(args[0], UNWATCHED):
            self._method(function, args[0])
        for name in ("__code__", "__defaults__", "__kwdefaults__"):
            found = getattr(function, name)
            if found is not None:
                self._watch(found, partial(getattr, function), name)

    def _method(self, function: types.FunctionType, owner: Any) -> None:
        """If the function is a method of the object, or of the class: that it is still the one."""
        kind = owner if isinstance(owner, type) else type(owner)
        lines = () if kind.__module__ == "builtins" else kind.__mro__
        places = ((base, name) for base in lines for name, found in vars(base).items() if runs(found, function))
        base, name = next(places, (None, ""))
        if base is None:
            return
        cls = kind if runs(getattr(kind, name, None), function) else base         # `super()` calls that of the base
        holder = Behind(cls) if isinstance(getattr(cls, name), types.MethodType) else partial(getattr, cls)
        self._watch(holder(name), holder, name)
        if owner is not kind and not self.reader.is_local(owner) and hasattr(owner, "__dict__"):
            self._watch(owner.__class__, partial(getattr, owner), "__class__")
            self._watch(name in vars(owner), Own(owner), name)

    def _watch(self, found: Any, holder: Callable[[Any], Any], key: Any) -> None:
        identity = identity_of(holder), key, id(found)
        if identity not in self._watched:
            self._watched.add(identity)
            self._kept.append(holder)
            self.watched.append((holder, key, found))

    def _array(self, array: np.ndarray, holder: Callable[[Any], Any], key: Any, name: str | None) -> Value:
        if id(array) not in self._arrays:
            value = self._hidden_argument(array, partial(holder, key), name)
            self._arrays[id(array)] = array, value, holder, key
        _, value, first, first_key = self._arrays[id(array)]
        if (identity_of(holder), key) != (identity_of(first), first_key):
            self._watch(array, first, first_key)  # one array in two places: until one of them changes
            self._watch(array, holder, key)
        return value

    def _hidden_argument(self, array: np.ndarray, fetch: Callable[[], Any], name: str | None) -> Value:
        if has_own_meaning(array):
            raise NotSupported(
                f"{described(array)} is not supported",
                self.reader.builder.origin,
                why="Its operators may differ from those of plain arrays.",
                instead="Convert it with np.asarray.",
            )
        if of_core(array.dtype).kind not in "biufc":
            raise NotSupported(
                f"an array of dtype {array.dtype} is not supported",
                self.reader.builder.origin,
                why="Only numeric and boolean dtypes are supported.",
                instead="Convert it to float64, float32, complex, int or bool, or keep it out of the function.",
            )
        type = ArrayType(of_core(array.dtype).newbyteorder("="), array.shape)
        var = self._hidden(type, fetch, name or "array", is_number=False)
        return Value(var) if array.ndim else Axisless(var)

    def _number(self, type: ArrayType, holder: Callable[[Any], Any], key: Any, name: str | None) -> Value:
        place = identity_of(holder), key
        if place not in self._numbers:
            self._numbers[place] = Value(self._hidden(type, partial(holder, key), name or "number", is_number=True))
        return self._numbers[place]

    def _hidden(self, type: ArrayType, fetch: Callable[[], Any], wanted: str, is_number: bool) -> Var:
        name = self._free_name(wanted)
        var = Var(type, name, is_parameter=True)
        self.hidden.append(Hidden(var, name, fetch, is_number))
        return var

    def _free_name(self, wanted: str) -> str:
        taken = self._names | self.reader.arguments.names
        name, number = wanted, 1
        while name in taken:
            number += 1
            name = f"{wanted}{number}"
        self._names.add(name)
        return name

    def arrays(self) -> list[Value]:
        return [value for _, value, _, _ in self._arrays.values()]


def _slots(found: Any) -> list[str]:
    """The attributes that an object has in slots."""
    lists = (vars(base).get("__slots__", ()) for base in type(found).__mro__)
    names = (name for slots in lists for name in ([slots] if isinstance(slots, str) else slots))
    return [name for name in names if name not in ("__dict__", "__weakref__") and hasattr(found, name)]


def _is_users(module: types.ModuleType) -> bool:
    """Whether a module may be one whose attributes its author changes."""
    return _home(module.__name__) not in {
        "numpy",
        "scipy",
        "math",
        "cmath",
        "operator",
        "functools",
        "itertools",
        "builtins",
        "transformer",
        "warnings",
        "typing",
        "collections",
        "dataclasses",
    }


def _stays(holder: Callable[[Any], Any], key: Any) -> bool:
    """Whether what is found there is part of an object that stays what it is."""
    owner = holder.args[0] if isinstance(holder, partial) and holder.func is getattr else None
    return isinstance(owner, Structure) or isinstance(owner, tuple) and key in getattr(owner, "_fields", ())


def is_of_library(function: types.FunctionType) -> bool:
    """Whether a function changes with a version only, so that nothing of it is watched."""
    return _home(function.__module__) in OF_LIBRARIES


def _home(name: str | None) -> str:
    return (name or "").partition(".")[0]


SHORT_NAMES = {"numpy": "np", "transformer.numpy": "np", "scipy": "scipy"}


def _constant_of_module(module: types.ModuleType, name: str, found: Any) -> Any:
    """``np.pi`` and ``math.inf`` keep their spelling."""
    if type(found) is not float:
        return found
    home = SHORT_NAMES.get(module.__name__, module.__name__)
    return Value(Const(found, name=f"{home}.{name}"), known=found)
