"""Calls: what a callable means while a function is read.

In this order: objects that read themselves (`__transformer_read__`), functions with a meaning of their
own here (`len`, `range`, `isinstance`, …), functions with an op, methods of arrays and containers,
classes, functions written in Python (read and inlined), pure functions of static arguments.
"""

from __future__ import annotations

import functools
import inspect
import types
from typing import TYPE_CHECKING, Any

from ..core.errors import NotSupported
from ..ops.table import lookup
from ..ops.value import Value
from .applying import apply_op
from .array_methods import call_array_method, write_out
from .builtin_calls import BUILTINS
from .classes import construct
from .containers import call_method, iterated
from .demand import need
from .errors import as_user_error
from .functions import call_closure, call_python
from .iteration import Iteration
from .pure import is_pure, why_not
from .recorded import RecordedList
from .stacking import stacking_call
from .values import (
    UNKNOWN,
    ArrayMethod,
    Closure,
    Conflict,
    ContainerMethod,
    ExceptionValue,
    Lazy,
    contained,
    has_dynamic,
    known_of,
    stripped,
)

if TYPE_CHECKING:
    from .reader import Reader


def call(reader: Reader, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `function(*args, **kwargs)` gives."""
    own = _reads_itself(function)
    if own is not None:
        return own(reader, args, kwargs)
    special = stacking_call(function, args) or _special(function)
    if special is not None:
        with as_user_error(reader):
            return special(reader, *args, **kwargs)
    if lookup(function) is not None:
        out = kwargs.get("out")
        if out is None:
            return apply_op(reader, function, args, kwargs)
        rest = {key: value for key, value in kwargs.items() if key != "out"}
        return write_out(reader, out, apply_op(reader, function, args, rest))
    return _call_by_kind(reader, function, args, kwargs)


def _reads_itself(function: Any) -> Any:
    if isinstance(function, types.MethodType):
        own = getattr(function.__func__, "__transformer_read__", None)
        bound = function.__self__
        return own and (lambda reader, args, kwargs: own(reader, (bound, *args), kwargs))
    return getattr(function, "__transformer_read__", None)


def _special(function: Any) -> Any:
    try:
        return BUILTINS.get(function)
    except TypeError:  # not hashable
        return None


def _call_by_kind(reader: Reader, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    match function:
        case Closure():
            return call_closure(reader, function, args, kwargs)
        case ArrayMethod():
            return call_array_method(reader, function, args, kwargs)
        case ContainerMethod():
            return call_method(reader, function, args, kwargs)
        case functools.partial():
            return reader.call(function.func, _bound(reader, function, args), {**function.keywords, **kwargs})
        case types.MethodType():
            return reader.call(function.__func__, (function.__self__, *args), kwargs)
        case type():
            return construct(reader, function, args, kwargs)
        case types.FunctionType():
            return _call_function(reader, function, args, kwargs)
    return _call_object(reader, function, args, kwargs)


def _bound(reader: Reader, function: functools.partial[Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The positional arguments of a partial and those of the call; arrays among the former are lifted."""
    if reader.owns(function):
        return (*function.args, *args)
    holder = function.args.__getitem__
    return (*(reader.outside.lift(arg, holder, k, None) for k, arg in enumerate(function.args)), *args)


def _call_function(reader: Reader, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if _is_ours(function) or is_pure(function) and not has_dynamic((args, kwargs)):
        return call_static(reader, function, args, kwargs)
    home = function.__module__ or ""
    if home.partition(".")[0] in LIBRARIES:
        raise no_rule(reader, function)
    return call_python(reader, function, args, kwargs)


LIBRARIES = {"numpy", "scipy", "numba", "pandas", "torch", "jax", "random", "math"}


def _is_ours(function: Any) -> bool:
    """Functions of this package run as they are: they make transformed functions, trees, …"""
    home = function.__module__ or ""
    return home == "transformer" or home.startswith("transformer.") and not home.startswith(OURS_TO_READ)


OURS_TO_READ = ("transformer.nn", "transformer.optim")


def _call_object(reader: Reader, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    wrapped = _python_behind(function)
    if wrapped is not None:
        return reader.call(wrapped, args, kwargs)
    method = inspect.getattr_static(type(function), "__call__", None)
    if isinstance(method, types.FunctionType):
        return reader.call(method, (function, *args), kwargs)
    if isinstance(function, (Value, Conflict)) or not callable(function):
        raise NotSupported(f"'{type(function).__name__}' object is not callable", reader.builder.origin)
    if is_pure(function):
        return call_static(reader, function, args, kwargs)
    raise no_rule(reader, function)


def _python_behind(function: Any) -> Any:
    """The Python function behind a numba dispatcher, a cache, or a ufunc made of one."""
    if hasattr(function, "py_func"):
        return function.py_func
    if isinstance(function, functools._lru_cache_wrapper):
        return function.__wrapped__
    return None


def call_static(reader: Reader, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls a pure function now, with static arguments."""
    args = tuple(_listed(reader, arg) for arg in args)
    given = (*args, *kwargs.values())
    dynamic = [
        item
        for value in given
        for item in contained(value)
        if known_of(item) is UNKNOWN or isinstance(item, ExceptionValue)
    ]
    if dynamic and not _is_ours(function):
        if getattr(function, "__module__", None) in ("math", "cmath") and is_inexact(dynamic[0]):
            raise no_rule(reader, function)
        need(reader, dynamic[0], f"the argument of {getattr(function, '__name__', function)!r}")
    with as_user_error(reader):
        if _is_ours(function):
            return function(*args, **kwargs)
        return function(*map(stripped, args), **{key: stripped(value) for key, value in kwargs.items()})


def is_inexact(value: Any) -> bool:
    """Whether a value is a floating point or complex one that the program computes."""
    return isinstance(value, Value) and value.type.is_inexact


def _listed(reader: Reader, value: Any) -> Any:
    return iterated(reader, value) if isinstance(value, (Iteration, Lazy, RecordedList)) else value


def no_rule(reader: Reader, function: Any) -> NotSupported:
    """The refusal of a function that is neither Python nor known."""
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or repr(function)
    home = getattr(function, "__module__", None)
    full = f"{home}.{name}" if home and home not in ("builtins", name) else name
    why, instead = why_not(function)
    return NotSupported(f"no rule for {full}", reader.builder.origin, why=why, instead=instead)
