"""Classes that the user derives from built-in ones, such as `list` and `dict`: their own methods are read, and reach
those of the built-in class by `super().append(x)`, `dict.__getitem__(self, key)`, or `__getattr__ = dict.__getitem__`.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..reader import Reader

SLOTS = (types.WrapperDescriptorType, types.MethodDescriptorType)
WRITTEN_IN_PYTHON = (types.FunctionType, property, staticmethod, classmethod, cached_property)
CLASSES = (dict, list, tuple, str, set, frozenset)


def is_redefined(value: Any, name: str, kind: type) -> bool:
    """Whether the class of an object has a method, or a field, of its own where the built-in class has a method."""
    if type(value) is kind:
        return False
    found = inspect.getattr_static(type(value), name)
    is_field = kind is tuple and found is not getattr(tuple, name)                # of a named tuple: `count` or `index`
    return is_field or isinstance(found, WRITTEN_IN_PYTHON)


def raw_item(container: Any, key: Any) -> Any:
    """What the built-in class gives for an item, whatever the class of the container makes of it."""
    return getter(container)(key)


def getter(container: Any) -> Callable[[Any], Any]:
    """What gives items: the method of the container, or that of the built-in class where the former is user code."""
    if not isinstance(getattr(type(container), "__getitem__", None), types.FunctionType):
        found: Callable[[Any], Any] = container.__getitem__
        return found
    return partial(base_of(container).__getitem__, container)


def base_of(container: Any) -> Any:
    """The built-in class that the class of a container is derived from."""
    return next(each for each in CLASSES if isinstance(container, each))


def method_of_builtin(function: Any, args: tuple[Any, ...]) -> Callable[..., Any] | None:
    """What is read for a call of a method of a built-in class by the class, for an object of one derived from it."""
    if not isinstance(function, SLOTS) or not args:
        return None
    if function.__name__ == "__init__" and issubclass(function.__objclass__, BaseException):
        return _begin_exception
    if function.__objclass__ not in CLASSES:
        return None
    if not isinstance(args[0], function.__objclass__):
        return None
    name = function.__name__
    return READ.get(name) if name.startswith("__") else _called(function)


def _called(function: Any) -> Callable[..., Any]:
    def call(reader: Reader, owner: Any, *args: Any, **kwargs: Any) -> Any:
        from ..values import ContainerMethod
        from .containers import call_method

        return call_method(reader, ContainerMethod(owner, function.__name__), args, kwargs)

    return call


def _item(reader: Reader, owner: Any, key: Any) -> Any:
    from ..subscripts import of_container

    return of_container(reader, owner, key)


def _set_item(reader: Reader, owner: Any, key: Any, value: Any) -> None:
    from .containers import set_item

    set_item(reader, owner, key, value)


def _begin(reader: Reader, owner: Any, *given: Any, **items: Any) -> None:
    """`super().__init__(...)`: an object that was just made is empty."""
    if isinstance(owner, dict):
        found = reader.call(dict, given, items)
        for key in found:
            _set_item(reader, owner, key, found[key])
    else:
        _called(list.extend)(reader, owner, *given)


def _begin_exception(reader: Reader, owner: Any, *given: Any) -> None:
    """`super().__init__(...)` of an exception."""
    owner.args = given


READ: dict[str, Callable[..., Any]] = {
    "__getitem__": _item,
    "__setitem__": _set_item,
    "__len__": lambda reader, owner: base_of(owner).__len__(owner),
    "__init__": _begin,
}
