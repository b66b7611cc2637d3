"""Ways from a function to what it was read with, and what stands there, in a form that another process
can compare.

What a function takes from outside is found from the function itself: ``f.__globals__["SCALE"]``,
``f.__closure__[0].cell_contents``, ``f.__globals__["act"].__globals__["GAIN"]``. A way is a tuple of steps,
``("item", key)``, ``("attribute", name)``, as a first one ``("module", name)`` or ``("named", (module, name))``, as a
last one ``("contents", True)``, ``("on host", None)`` or one of those of `LOOKS`. What stands at its end is known by a
mark: the value of a number, the code of a function, the version of a library. What has no mark is `Unmarked`: then
nothing is kept.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import inspect
import os
import sys
import types
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ..core.on_devices import on_host
from ..read.contents import Behind, Contents, OnHost, Own, Presence, functions_of

Way = tuple[tuple[str, Any], ...]
Holder = Callable[[Any], Any]


LOOKS = {"presence": Presence, "own": Own, "behind": Behind}


class Unmarked(Exception):
    """Something that another process cannot recognise as the same."""


def followed(way: Way, root: Any) -> Any:
    """What a way leads to."""
    for step in way:
        root = _taken(root, step)
    return root


def _taken(owner: Any, step: tuple[str, Any]) -> Any:
    kind, key = step
    if kind == "module":
        return sys.modules[key]
    if kind == "named":
        return functools.reduce(getattr, key[1].split("."), sys.modules[key[0]])
    if kind == "contents":
        return True
    if kind == "on host":
        return on_host(owner)
    if kind in LOOKS:
        return LOOKS[kind](owner)(key)
    return owner[key] if kind == "item" else getattr(owner, key)


def holder_of(way: Way, root: Any) -> tuple[Holder, Any]:
    """``(holder, key)`` with ``holder(key)`` what a way leads to by then: see `read.outside`."""
    if way[-1][0] == "on host":
        holder, key = holder_of(way[:-1], root)
        return OnHost(holder), key
    owner, (kind, key) = followed(way[:-1], root), way[-1]
    if kind == "contents" or kind in LOOKS:
        return LOOKS.get(kind, Contents)(owner), key
    if kind == "attribute":
        return partial(getattr, owner), key
    return owner.get if isinstance(owner, dict) else owner.__getitem__, key


class Ways:
    """The ways from a root to the objects found so far, by identity."""

    def __init__(self, root: Any) -> None:
        self.found: dict[int, tuple[Any, Way]] = {}
        self.add(root, ())

    def of_watch(self, holder: Any, key: Any) -> Way:
        """The way to ``holder(key)``."""
        if isinstance(holder, OnHost):
            return (*self.of_watch(holder.holder, key), ("on host", None))
        if isinstance(holder, partial) and holder.func is getattr:
            owner, kind = holder.args[0], "attribute"
        elif isinstance(holder, Contents):
            owner, kind = holder.container, "contents"
        elif isinstance(holder, Presence):
            owner, kind = holder.owner, next(kind for kind, look in LOOKS.items() if look is type(holder))
        else:
            owner, kind = getattr(holder, "__self__", None), "item"
        if isinstance(owner, types.ModuleType):
            return ("module", owner.__name__), (kind, key)
        return (*self._to(owner), (kind, key))

    def _to(self, owner: Any) -> Way:
        """The way to an object: from the root, or by its name."""
        return self.found[id(owner)][1] if id(owner) in self.found else _by_name(owner)

    def add(self, value: Any, way: Way) -> None:
        """Notes a way to an object, and those to what it consists of."""
        if id(value) in self.found or isinstance(value, (str, bytes, int, float, complex, type(None))):
            return
        self.found[id(value)] = value, way
        for step in _steps(value):
            part = _taken(value, step)
            if part is not None:
                self.add(part, (*way, step))


def way_to_class(cls: Any) -> Way:
    """The way to a class, which is found by its name."""
    if not isinstance(cls, type):
        raise Unmarked(f"a {type(cls).__name__}")
    return _by_name(cls)


def _by_name(owner: Any) -> Way:
    """The way to a class, a function or the globals of a module."""
    is_globals = type(owner) is dict
    name = (owner.get("__name__"), "__dict__") if is_globals else (
        getattr(owner, "__module__", None), getattr(owner, "__qualname__", None))
    try:
        if isinstance(owner, (dict, type, types.FunctionType)) and _taken(None, ("named", name)) is owner:
            return ("named", name),
    except (LookupError, AttributeError, TypeError):
        pass
    raise Unmarked(f"no way to {type(owner).__name__}")


# The attributes in which objects of Python's classes have what they consist of.
PARTS: tuple[tuple[type, tuple[str, ...]], ...] = (
    (types.FunctionType, ("__globals__", "__closure__", "__defaults__", "__kwdefaults__")),
    (types.MethodType, ("__func__", "__self__")),
    (functools.partial, ("func", "args", "keywords")),
    (property, ("fget", "fset", "fdel")),
    (functools.cached_property, ("func",)),
)


def _steps(value: Any) -> Iterator[tuple[str, Any]]:
    parts = next((names for kind, names in PARTS if isinstance(value, kind)), None)
    if parts is not None:
        yield from (("attribute", name) for name in parts if getattr(value, name) is not None)
    elif isinstance(value, type) and dataclasses.is_dataclass(value):
        yield "attribute", "__dataclass_fields__"
    elif isinstance(value, dict) and all(isinstance(item, dataclasses.Field) for item in value.values()):
        yield from (("item", name) for name in value)
    elif isinstance(value, dataclasses.Field) and isinstance(value.default_factory, types.FunctionType):
        yield "attribute", "default_factory"
    elif isinstance(value, tuple):
        yield from (("item", k) for k in range(len(value)))
    elif _is_wrapper(value):
        yield "attribute", "py_func" if _has_python(value) else "function"


def _is_wrapper(value: Any) -> bool:
    """Whether an object is read as the function inside of it."""
    from ..transform.derived import Derived
    return isinstance(value, Derived) or _has_python(value)


def _has_python(value: Any) -> bool:
    """Whether numba made an object of a function; an object of the user's may answer to any name."""
    return isinstance(inspect.getattr_static(value, "py_func", None), types.FunctionType)


# -- marks ----------------------------------------------------------------------------------------


def mark_of(value: Any) -> str:
    """A text that is the same, in any process, for values that are read alike."""
    return hashlib.sha256(repr(_mark(value, 0)).encode()).hexdigest()


DEEPEST = 12
LONGEST = 1000


def _mark(value: Any, depth: int) -> Any:
    if depth > DEEPEST:
        raise Unmarked("nested too deeply")
    kind = type(value)
    if kind in (int, bool, str, bytes, type(None), type(Ellipsis)):
        return kind.__name__, value
    if kind in (float, complex) or isinstance(value, np.generic):
        return kind.__name__, value.dtype.str if isinstance(value, np.generic) else "", repr(value)
    if isinstance(value, np.ndarray):
        return kind.__name__, value.dtype.str, value.shape
    if isinstance(value, (np.dtype, slice, range)):
        return kind.__name__, repr(value)
    if isinstance(value, types.CodeType):
        return _mark_of_code(value)
    if isinstance(value, (types.ModuleType, type, types.BuiltinFunctionType, np.ufunc)) or _is_of_library(value):
        return _mark_of_name(value, depth)
    return _mark_of_whole(value, depth + 1)


def _mark_of_whole(value: Any, depth: int) -> Any:
    """The mark of a function or a container."""
    kind: Any = type(value)
    if isinstance(value, types.FunctionType):
        return ("function", value.__qualname__, _mark_of_code(value.__code__), _mark_of_globals(value),
                _mark_of_defaults(value, depth))
    if isinstance(value, types.MethodType):
        return "method", _mark(value.__func__, depth), _mark(value.__self__, depth)
    if isinstance(value, (property, functools.cached_property)):
        return kind.__name__, [_mark(found, depth) for found in functions_of(value)]
    if isinstance(value, functools.partial):
        return "partial", _mark(value.func, depth), _mark(value.args, depth), _mark(value.keywords, depth)
    if _is_wrapper(value):
        inner = value.py_func if _has_python(value) else value.function
        return kind.__qualname__, repr(getattr(value, "mode", None)), _mark(inner, depth)
    if (kind in (list, frozenset, set) or isinstance(value, tuple)) and len(value) <= LONGEST:
        marks = [_mark(item, depth) for item in value]
        return _mark(kind, depth), sorted(marks, key=repr) if kind in (set, frozenset) else marks
    if kind is dict and len(value) <= LONGEST:
        return "dict", [(_mark(key, depth), _mark(item, depth)) for key, item in value.items()]
    if isinstance(value, enum.Enum):
        return "enum", kind.__module__, kind.__qualname__, value.name, _mark(value.value, depth)
    if type(getattr(value, "__dict__", None)) is dict and kind.__new__ is object.__new__:
        return _mark_of_class(kind, depth), _mark(vars(value), depth)
    raise Unmarked(f"a {kind.__name__}")


def _mark_of_globals(function: types.FunctionType) -> Any:
    """Which names of a function are globals, and which of those are modules: reading does not watch that."""
    names = sorted({name for code in _codes(function.__code__) for name in code.co_names})
    found = [(name, function.__globals__[name]) for name in names if name in function.__globals__]
    return [(name, each.__name__ if isinstance(each, types.ModuleType) else None) for name, each in found]


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _codes(const)


def _mark_of_class(cls: type, depth: int) -> Any:
    """A class of the user is what its functions are, and what an object has that nobody says."""
    members = [(name, _mark(found.__code__, depth), _mark_of_defaults(found, depth + 1))
               for name, item in vars(cls).items() for found in functions_of(item)
               if isinstance(found, types.FunctionType)]
    bases = [_mark(base, depth + 1) for base in cls.__bases__]
    made = [_mark(item.default_factory, depth + 1) for item in getattr(cls, "__dataclass_fields__", {}).values()]
    return "class", cls.__module__, cls.__qualname__, members, bases, made


def _mark_of_defaults(function: types.FunctionType, depth: int) -> Any:
    return _mark(function.__defaults__, depth), _mark(function.__kwdefaults__, depth)


def _mark_of_code(code: types.CodeType) -> Any:
    constants = [_mark_of_code(const) if isinstance(const, types.CodeType) else (type(const).__name__, repr(const))
                 for const in code.co_consts]
    return (code.co_filename, code.co_firstlineno, code.co_linetable, code.co_code, constants, code.co_names,
            code.co_varnames, code.co_freevars, code.co_flags)


def _mark_of_name(value: Any, depth: int) -> Any:
    """What is known by its name: parts of libraries, with their version; modules of the user."""
    if isinstance(value, types.ModuleType):
        return "module", value.__name__, _version(value.__name__)
    module = getattr(value, "__module__", None) or "numpy"
    if isinstance(value, type) and not _is_of_library(value):
        return _mark_of_class(value, depth)
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if name is None:
        raise Unmarked(f"a {type(value).__name__}")
    return type(value).__name__, module, name, _version(module)


def _is_of_library(value: Any) -> bool:
    """Whether a function or class is known by its name and a version: it is one of Python, NumPy or SciPy."""
    module = getattr(value, "__module__", None)
    if not isinstance(module, str) or not isinstance(value, (types.FunctionType, type)):
        return False
    home = module.partition(".")[0]
    return home in ("numpy", "scipy") or home in sys.stdlib_module_names and _is_pythons(home)


@functools.cache
def _is_pythons(module: str) -> bool:
    """Whether a module of this name is the one of Python, and not a file of the user."""
    file = getattr(sys.modules.get(module), "__file__", None)
    folder = os.path.dirname(os.path.realpath(os.__file__))
    return file is None or os.path.realpath(file).startswith(os.path.join(folder, ""))


def _version(module: str) -> Any:
    return getattr(sys.modules.get(module.partition(".")[0]), "__version__", None)
