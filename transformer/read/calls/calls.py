"""Calls: what a callable means while a function is read.

In this order: objects that read themselves (`__transformer_read__`), functions with a meaning of their
own here (`len`, `range`, `isinstance`, …), functions with an op, methods of arrays and containers,
classes, functions written in Python (read and inlined), pure functions of static arguments.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import types
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import BadArgument, NotSupported, as_raised, is_library
from ...ops.table import lookup
from ...ops.value import Value, is_inexact
from ..augmented import check_cast
from ..branches.or_none import all_needed
from ..kinds import type_name
from ..library import gives_arrays, instead_of
from ..library.by_columns import by_columns
from ..library.calls import call_library
from ..library.folding import WITH_WHERE
from ..library.getters import GETTERS, what_is_got
from ..library.numbers import OF_COMPUTED
from ..library.selecting import each_element, repeat_each
from ..library.writing import in_dtype, masked
from ..lists.recorded import RecordedList
from ..lists.stacking import stacking_call
from ..loops.iteration import Iteration
from ..objects.classes import construct
from ..objects.containers import call_method, iterated
from ..objects.derived_builtins import method_of_builtin
from ..objects.keys import hashed
from ..objects.objects import hold_dynamic
from ..objects.protocols import answered
from ..raising.demand import need
from ..raising.errors import as_user_error
from ..rank_zero import as_given, as_numbers
from ..values import (
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
from .applying import apply_op, prepared
from .array_methods import as_wide_as, call_array_method, write_out
from .builtin_calls import BUILTINS
from .functions import call_closure, call_python
from .pure import LIBRARIES, distribution_of, is_impure, is_pure, public_name, why_not
from .tables import makes_table, table

if TYPE_CHECKING:
    from ..reader import Reader


def call(reader: Reader, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `function(*args, **kwargs)` gives."""
    own = _reads_itself(function)
    if own is not None:
        with reader.recursion.keeping.left_out():
            return own(reader, args, kwargs)
    users = answered(function, args)
    if users is not None:
        return reader.call(users, args, kwargs)
    of_builtin = method_of_builtin(function, args)
    if of_builtin is not None:
        with as_user_error(reader):
            return of_builtin(reader, *args, **kwargs)
    special = stacking_call(function, args) or _special(function)
    if function not in TAKES_NONE if special is not None else not isinstance(function, HANDING_ON):
        args, kwargs = all_needed(reader, args, kwargs)
    if special is not None:
        with as_user_error(reader), _as_called(function, special, args, kwargs):
            return special(reader, *args, **kwargs)
    if isinstance(function, np.vectorize):
        return call_library(reader, each_element, (function.pyfunc, *args), vectorized(reader, function, kwargs))
    one_element = _of_one_element(function)
    if one_element is not None and not kwargs:
        return call_library(reader, each_element, (one_element, *args), {})
    if lookup(function) is not None:
        return _call_op(reader, function, args, kwargs)
    getting = GETTERS.get(type(function))
    if getting is not None:
        given, named = what_is_got(function)
        return call_library(reader, getting, (*args, *given), {**named, **kwargs})
    written = instead_of(function)
    if written is not None and not _is_of_known_samples(function, (args, kwargs)):
        args, kwargs = all_needed(reader, args, kwargs)
        result = call_library(reader, written, args, kwargs)
        return as_given(result) if gives_arrays(function) else as_numbers(result, args)
    return _call_by_kind(reader, function, args, kwargs)


def _is_of_known_samples(function: Any, arguments: Any) -> bool:
    """Whether a function of `statistics`, which are exact, is called with numbers that are known."""
    return getattr(function, "__module__", None) == "statistics" and all(
        isinstance(known_of(item), int | float | str | range | None) for item in contained(arguments))


# What may be called with None where it takes numbers: what it does with it is found by reading it.
TAKES_NONE = (isinstance, next, getattr, setattr)
HANDING_ON = (Closure, ContainerMethod, functools.partial, types.MethodType, type, types.FunctionType)


@contextmanager
def _as_called(function: Any, special: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[None]:
    """Errors about the arguments of a function with a meaning of its own name it as the user does."""
    try:
        yield
    except TypeError:
        try:
            inspect.signature(special).bind(None, *args, **kwargs)
        except TypeError as misfit:
            raise BadArgument(f"{public_name(function)}() {misfit}") from None      # Python's may take more
        raise


def _call_op(reader: Reader, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a function that has an op, with `out`, and for a ufunc with `where`."""
    out, rest = kwargs.get("out"), {key: value for key, value in kwargs.items() if key != "out"}
    inputs = function.nin if isinstance(function, np.ufunc) else OUT_BEHIND.get(function, len(args))
    if len(args) > inputs:
        args, out = args[:inputs], args[inputs] if len(args) == inputs + 1 else args[inputs:]
    if isinstance(function, np.ufunc) and rest.get("where", True) is not True:
        if out is None:
            raise NotSupported("`where` without `out` is not supported", reader.builder.origin,
                               why="The elements where the mask is False would be undefined.",
                               instead="Pass out=np.zeros_like(x), or write np.where(mask, f(x), 0).")
        mask = rest.pop("where")
        return call_library(reader, masked, (partial(function, **rest), args, _alone(out), mask), {})
    if isinstance(function, np.ufunc) and rest.get("dtype") is not None:
        return _in_dtype(reader, function, args, rest, out)
    columns = by_columns(getattr(function, "__name__", ""), args, rest) if out is None else None
    if columns is not None:
        return call_library(reader, *columns, {})
    found = lookup(function)
    rest = as_wide_as(out, found[0], args, rest) if found is not None else rest
    written = _with_where(function, rest) or _with_counts(function, *args, **rest)
    result = call_library(reader, written, args, rest) if written else apply_op(reader, function, args, rest)
    return result if out is None else write_out(reader, out, result)


def _in_dtype(reader: Reader, function: np.ufunc, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> Any:
    """A call of a ufunc with `dtype`, which is that of all it computes with."""
    dtype = np.dtype(kwargs["dtype"])
    if set(kwargs) - {"dtype", "where"} or function.nout != 1 or not _keeps(function, dtype):
        raise NotSupported(f"np.{function.__name__} with dtype={dtype} and {sorted(kwargs)} is not supported",
                           reader.builder.origin, instead="Cast the arguments, x.astype(dtype), or cast the result.")
    for arg in args:
        if isinstance(given := prepared(reader, arg), Value):
            check_cast(reader, given, dtype, "same_kind")
    result = call_library(reader, in_dtype, (function, args, dtype), {})
    return result if out is None else write_out(reader, out, result)


def _keeps(function: np.ufunc, dtype: np.dtype[Any]) -> bool:
    """Whether what a ufunc gives of arguments of this dtype has it, too."""
    try:
        return function.resolve_dtypes((dtype,) * function.nin + (None,))[-1] == dtype
    except TypeError:
        return False


def vectorized(reader: Reader, function: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The options with which `np.vectorize` was made."""
    if function.signature is not None or function.excluded or kwargs:
        raise NotSupported("np.vectorize with signature, excluded or keyword arguments is not supported",
                           reader.builder.origin, instead="Use transformer.vectorize, which accepts them.")
    return {"otypes": function.otypes}


def _with_where(function: Any, kwargs: dict[str, Any]) -> Any:
    """What is read in place of a reduction that has `where` or `initial`."""
    given = kwargs.get("where", True) is not True or kwargs.get("initial") is not None
    return WITH_WHERE.get(function) if given else None


def _with_counts(function: Any, a: Any = None, repeats: Any = None, *_: Any, **__: Any) -> Any:
    """What is read in place of `np.repeat` with a number for each element, in an array."""
    return repeat_each if function is np.repeat and isinstance(repeats, Value) and repeats.ndim == 1 else None


OUT_BEHIND: dict[Any, int] = {np.dot: 2, np.clip: 3}  # the number of arguments before `out`


def _alone(out: Any) -> Any:
    return out[0] if isinstance(out, tuple) and len(out) == 1 else out


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
            return reader.call(function.func, _bound(reader, function, args), {**_keywords(reader, function), **kwargs})
        case types.MethodType():
            if distribution_of(function):             # without its owner it is that of all distributions
                return _of_library(reader, function, args, kwargs)
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


def _keywords(reader: Reader, function: functools.partial[Any]) -> dict[str, Any]:
    """The keyword arguments of a partial, lifted; they may be others by the next call."""
    return function.keywords if reader.owns(function) else reader.outside.items(function.keywords)


def _call_function(reader: Reader, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if (function.__module__ or "").startswith(OUR_LIBRARY):
        return call_library(reader, function, args, kwargs)
    if _is_ours(function) or is_pure(function) and not (has_dynamic(given := (args, kwargs)) or hold_dynamic(given)):
        return call_static(reader, function, args, kwargs)
    home = function.__module__ or ""
    if home.partition(".")[0] in LIBRARIES or is_impure(function) or _is_frozen(function):
        return _of_library(reader, function, args, kwargs)
    return call_python(reader, function, args, kwargs)


def _of_library(reader: Reader, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a function without a rule gives that is not read: numbers, where its arguments are known."""
    made = table(reader, function, args, kwargs) if makes_table(function, args, kwargs) else None
    if made is None:
        raise no_rule(reader, function)
    return made


OUR_LIBRARY = "transformer.read.library."
GENERATED = "transformer.generated."             # what was made of the users' functions


def _is_frozen(function: types.FunctionType) -> bool:
    """Whether a function is a part of Python that comes without its text."""
    code = function.__code__
    return is_library(code.co_filename) and not linecache.getlines(code.co_filename, function.__globals__)


def _is_ours(function: Any) -> bool:
    """Functions of this package run as they are: they make transformed functions, trees, …"""
    home = function.__module__ or ""
    if home.startswith(GENERATED):
        return False
    return home == "transformer" or home.startswith("transformer.") and not home.startswith(OURS_TO_READ)


OURS_TO_READ = ("transformer.custom_gradients", "transformer.debug", "transformer.experimental",
                "transformer.flatten_util", "transformer.image", "transformer.kernels", "transformer.lax",
                "transformer.nn", "transformer.numpy.writing", "transformer.optim", "transformer.random",
                "transformer.scipy.interpolate", "transformer.scipy.ndimage", "transformer.scipy.optimize",
                "transformer.scipy.sparse", "transformer.segments", "transformer.updates")


def _call_object(reader: Reader, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    wrapped = _python_behind(function)
    if wrapped is not None:
        return reader.call(wrapped, args, kwargs)
    method = inspect.getattr_static(type(function), "__call__", None)
    if isinstance(method, types.FunctionType):
        return reader.call(method, (function, *args), kwargs)
    if isinstance(function, (Value, Conflict)) or not callable(function):
        brackets = isinstance(function, Value) or hasattr(function, "__getitem__")
        raise as_raised(
            TypeError(f"'{type_name(function)}' object is not callable"),
            reader.builder.origin,
            instead="Use brackets to index: x[i]." if brackets else None,
        )
    if is_pure(function):
        return call_static(reader, function, args, kwargs)
    if isinstance(function, types.MethodWrapperType):                    # object.__getattribute__ of an object
        slot = vars(function.__objclass__)[function.__name__]
        if _special(slot):
            return reader.call(slot, (function.__self__, *args), kwargs)
    return _of_library(reader, function, args, kwargs)


def _python_behind(function: Any) -> Any:
    """The Python function behind a numba dispatcher, a cache, or a ufunc made of one."""
    if hasattr(function, "py_func"):
        return function.py_func
    if isinstance(function, functools._lru_cache_wrapper):
        return function.__wrapped__
    return None


def _of_one_element(function: Any) -> Any:
    """The Python function of which numba made a ufunc."""
    if getattr(function, "signature", None) is not None:                # of whole axes
        return None
    return getattr(getattr(function, "_dispatcher", None), "py_func", None)


def call_static(reader: Reader, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls a pure function now, with static arguments."""
    args = tuple(_listed(reader, arg) for arg in args)
    if function is hash and len(args) == 1:
        args = (hashed(reader, *args, "the argument of 'hash'"),)
    given = (*args, *kwargs.values())
    for value in given:
        reader.outside.seen_whole(value)
    dynamic = [
        item
        for value in given
        for item in contained(value)
        if known_of(item) is UNKNOWN or isinstance(item, ExceptionValue)
    ]
    if dynamic and not _is_ours(function):
        if getattr(function, "__module__", None) in ("math", "cmath") and is_inexact(dynamic[0]):
            raise no_rule(reader, function)
        try:
            need(reader, dynamic[0], f"the argument of {getattr(function, '__name__', function)!r}")
        except NotSupported:
            if function not in OF_COMPUTED:
                raise
            return call_library(reader, OF_COMPUTED[function], args, kwargs)
    with as_user_error(reader):
        if not _is_ours(function):
            args, kwargs = tuple(map(stripped, args)), {key: stripped(value) for key, value in kwargs.items()}
        result = function(*args, **kwargs)
    _own_new(reader, result, set(map(id, _containers(given))))
    return result


def _own_new(reader: Reader, result: Any, old: set[int]) -> None:
    """What holds items in a result, and was not among the arguments, was made here."""
    for container in _containers(result):
        if id(container) not in old:
            reader.own(container)


def _containers(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, dict, set)):
        yield value
    if isinstance(value, (list, dict, set, tuple)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _containers(item)


def _listed(reader: Reader, value: Any) -> Any:
    return iterated(reader, value) if isinstance(value, (Iteration, Lazy, RecordedList)) else value


def no_rule(reader: Reader, function: Any) -> NotSupported:
    """The refusal of a function that is neither Python nor known."""
    why, instead = why_not(function)
    return NotSupported(f"no rule for {public_name(function)}", reader.builder.origin, why=why, instead=instead)
