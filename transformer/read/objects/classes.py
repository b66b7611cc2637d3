"""Calls of classes: what makes an object while a function is read.

The `__init__` of a user's class is read; its object may be changed by the code being read, as it
does not outlive the call unless it is returned.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import types
from collections import OrderedDict, defaultdict
from typing import TYPE_CHECKING, Any

from ...containers import LEAVES, kind_of
from ...core.errors import NotSupported, TransformError
from ..calls.pure import is_impure, is_pure
from ..library.getters import GETTERS
from ..raising.demand import static
from ..raising.errors import as_user_error
from ..values import ExceptionValue, has_dynamic, stripped
from .containers import iterated

if TYPE_CHECKING:
    from ..reader import Reader


MAKE_IT_BEFORE = "Create it outside, and pass it as an argument."


def construct(reader: Reader, cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`cls(*args, **kwargs)`."""
    if issubclass(cls, BaseException):
        return _exception(reader, cls, args, kwargs)
    if issubclass(cls, enum.Enum):
        with as_user_error(reader):
            return cls(*(static(reader, arg, f"the value of a member of {cls.__qualname__}") for arg in args))
    if issubclass(cls, (functools.partial, *GETTERS)):
        with as_user_error(reader):
            return reader.own(cls(*args, **kwargs))
    if is_impure(cls) or cls.__module__.partition(".")[0] in ("numpy", "scipy", "pandas", "itertools"):
        if not is_pure(cls):
            from ..calls.calls import no_rule

            raise no_rule(reader, cls)
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return _named_tuple(reader, cls, args, kwargs)
    if dataclasses.is_dataclass(cls) and not _has_own_init(cls):
        return _data_object(reader, cls, args, kwargs)
    if is_pure(cls):
        return _pure_object(reader, cls, args, kwargs)
    if isinstance(cls.__init__, types.FunctionType) or cls.__init__ is object.__init__:
        return _plain_object(reader, cls, args, kwargs)
    if kind_of(cls) is not LEAVES or not has_dynamic((args, kwargs)):
        with as_user_error(reader):
            return cls(*map(stripped, args), **{key: stripped(value) for key, value in kwargs.items()})
    raise NotSupported(
        f"an object of class {cls.__qualname__} cannot be created here",
        reader.builder.origin,
        why="Its constructor is not written in Python.",
        instead=MAKE_IT_BEFORE,
    )


def _exception(reader: Reader, cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ExceptionValue:
    if issubclass(cls, TransformError):                                  # one of ours has but its message in a program
        return ExceptionValue(cls, args)
    if not isinstance(cls.__init__, types.FunctionType):
        with as_user_error(reader):
            return ExceptionValue(cls, args) if not kwargs else ExceptionValue(cls, args, cls(*args, **kwargs))
    made = reader.own(cls.__new__(cls))
    made.args = args
    reader.call(cls.__init__, (made, *args), kwargs)
    return ExceptionValue(cls, _in_order(cls, args, kwargs), made)


def _in_order(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """All arguments by their places, as those of what is raised are; defaults where one before the last is left out."""
    bound = inspect.signature(cls.__init__).bind(None, *args, **kwargs)
    if bound.kwargs:
        bound.apply_defaults()
    if bound.kwargs:
        raise NotSupported(f"a {cls.__name__} with *args or **kwargs in its __init__ is not supported",
                           instead="Give its __init__ named parameters only.")
    return bound.args[1:]


def _pure_object(reader: Reader, cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Containers, which may hold dynamic values, and other objects, which may not."""
    from ..calls.calls import call_static

    if _is_derived(cls) and isinstance(cls.__init__, types.FunctionType):
        made = reader.own(cls.__new__(cls))
        reader.call(cls.__init__, (made, *args), kwargs)
        return made
    if issubclass(cls, (OrderedDict, defaultdict, types.SimpleNamespace)) or _is_derived(cls):
        given = [iterated(reader, arg) if not callable(arg) and not isinstance(arg, dict) else arg for arg in args]
        with as_user_error(reader):
            return reader.own(cls(*given, **kwargs))
    made = call_static(reader, cls, args, kwargs)
    return reader.own(made) if isinstance(made, (list, dict, set)) else made


def _is_derived(cls: Any) -> bool:
    """Whether the user derived a class from `list` or `dict`, and leaves to these how an object begins."""
    return issubclass(cls, (list, dict)) and cls not in (list, dict) and cls.__new__ in (list.__new__, dict.__new__)


def _named_tuple(reader: Reader, cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not cls.__new__.__code__.co_filename.startswith(("<string>", "<namedtuple", "namedtuple_")):
        raise NotSupported(
            f"an object of class {cls.__qualname__} cannot be created here",
            reader.builder.origin,
            why="It defines __new__.",
            instead=MAKE_IT_BEFORE,
        )
    with as_user_error(reader):
        return cls(*args, **kwargs)


def _has_own_init(cls: Any) -> bool:
    """Whether a dataclass has an `__init__` that its author wrote."""
    return not cls.__dataclass_params__.init or cls.__init__.__code__.co_filename != "<string>"


def _data_object(reader: Reader, cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The generated `__init__` sets fields; what follows it is the author's, and is read."""
    kwargs = {**kwargs, **_made_by_factories(reader, cls, args, kwargs)}
    follow_up = getattr(cls, "__post_init__", None)
    if follow_up is None:
        with as_user_error(reader):
            return _own_with_fields(reader, cls(*args, **kwargs), (*args, *kwargs.values()))
    silent = type(cls.__name__, (cls,), {"__post_init__": lambda self, *rest: None})
    with as_user_error(reader):
        made = silent(*args, **kwargs)
    made.__class__ = cls
    _own_with_fields(reader, made, (*args, *kwargs.values()))
    reader.call(follow_up, (made,), {})
    return made


def _made_by_factories(reader: Reader, cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """What the user's functions and classes give for fields that are not given; Python would call them unseen."""
    fields = [item for item in dataclasses.fields(cls) if item.init]
    given = {*[item.name for item in fields if not item.kw_only][:len(args)], *kwargs}
    return {item.name: reader.call(item.default_factory, (), {}) for item in fields
            if item.name not in given and _is_of_user(item.default_factory)}


def _is_of_user(factory: Any) -> bool:
    is_class = isinstance(factory, type) and factory.__module__ != "builtins"
    return factory is not dataclasses.MISSING and (is_class or isinstance(factory, types.FunctionType))


def _own_with_fields(reader: Reader, made: Any, given: tuple[Any, ...]) -> Any:
    """What a `default_factory` made belongs to the object."""
    for item in dataclasses.fields(made):
        if not item.init and _is_of_user(item.default_factory):
            object.__setattr__(made, item.name, reader.call(item.default_factory, (), {}))
        value = getattr(made, item.name, None)           # none yet, where `__post_init__` is to set it
        if item.default_factory is not dataclasses.MISSING and not any(value is arg for arg in given):
            reader.own(value)
    return reader.own(made)


def _plain_object(reader: Reader, cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    is_usual = type(cls).__call__ is type.__call__
    if is_usual and isinstance(cls.__new__, types.FunctionType):
        from ..calls.functions import call_python

        made = call_python(reader, cls.__new__, (cls, *args), kwargs)
        if not isinstance(made, cls):
            return made                          # as numba.prange, which is a range then
    if cls.__new__ is not object.__new__ or not is_usual:
        raise NotSupported(
            f"an object of class {cls.__qualname__} cannot be created here",
            reader.builder.origin,
            why="It defines __new__ or has a metaclass.",
            instead=MAKE_IT_BEFORE,
        )
    made = reader.own(object.__new__(cls))
    if cls.__init__ is not object.__init__:
        reader.call(cls.__init__, (made, *args), kwargs)
    elif args or kwargs:
        with as_user_error(reader):
            raise TypeError(f"{cls.__name__}() takes no arguments")
    return made
