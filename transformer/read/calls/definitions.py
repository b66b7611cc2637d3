"""Functions, lambdas and classes defined by the code that is being read.

A class becomes one of Python's whose methods are read where they are called. So all that asks for a class finds
what it would of one that a module defines.
"""

from __future__ import annotations

import abc
import functools
import types
from typing import TYPE_CHECKING, Any

import gast

from ..frames import Frame, store
from ..raising.errors import as_user_error
from ..sources.scope import scope_of
from ..values import Closure
from .functions import call_closure, path_of

if TYPE_CHECKING:
    from ..reader import Reader


def read_function(reader: Reader, node: Any) -> None:
    function: Any = _closure(reader, node)
    if reader.frame.inner is not None:
        function = _method(function)
    for decorator in reversed(node.decorator_list):
        if not _is_wraps(reader, decorator):
            function = _decorated(reader, reader.evaluate(decorator), function)
    store(reader, reader.frame, node.name, function)


# What makes of a method something else, and calls nothing.
AROUND_METHODS = (property, staticmethod, classmethod, functools.cached_property, abc.abstractmethod)


def _decorated(reader: Reader, decorator: Any, function: Any) -> Any:
    of_property = isinstance(getattr(decorator, "__self__", None), property)      # @root.setter
    if reader.frame.inner is not None and (of_property or any(decorator is each for each in AROUND_METHODS)):
        return decorator(function)
    return reader.call(decorator, (function,), {})


def read_class(reader: Reader, node: Any) -> None:
    from ..expressions import keywords, positional

    bases, options = positional(reader, node.bases), keywords(reader, node.keywords)
    around, body = _frames_of_class(reader, node)
    with reader.inside(body):
        reader.execute(node.body)
    with as_user_error(reader):
        made: Any = types.new_class(node.name, bases, options, lambda space: _fill(space, body, node))
    if not hasattr(made, "_fields"):                     # a NamedTuple is of a class that was made of this one
        around.cells["__class__"].cell_contents = made
    for decorator in reversed(node.decorator_list):
        made = reader.call(reader.evaluate(decorator), (made,), {})
    store(reader, reader.frame, node.name, made)


def _frames_of_class(reader: Reader, node: Any) -> tuple[Frame, Frame]:
    """The frame that the methods of a class see, and that of its body."""
    outer, path = reader.frame, path_of(reader, node)
    empty = scope_of(gast.Module([], []))
    cells = {"__class__": types.CellType()}
    around = Frame(empty, outer.file, node.name, outer.globals, cells, outer.inner or outer, path=path)
    body = Frame(scope_of(node), outer.file, node.name, outer.globals, {}, outer.inner or outer, path=path,
                 inner=around)
    return around, body


def _fill(space: Any, body: Frame, node: Any) -> None:
    """Gives a class what its body defines."""
    space["__module__"] = body.globals.get("__name__", "")
    space["__qualname__"] = f"{body.parent.function}.<locals>.{node.name}" if body.parent else node.name
    for name, value in body.names.items():
        space[name] = _method(value) if isinstance(value, Closure) else value
    typed = [each for each in node.body if isinstance(each, gast.AnnAssign) and isinstance(each.target, gast.Name)]
    if typed:
        space["__annotations__"] = {each.target.id: gast.unparse(each.annotation).strip() for each in typed}


def _method(closure: Closure) -> types.FunctionType:
    """A function of Python's in place of one that is being read, which classes bind to their objects."""

    def method(*args: Any, **kwargs: Any) -> Any:
        return closure(*args, **kwargs)

    method.__name__ = method.__qualname__ = closure.__name__
    method.__module__ = closure.__module__
    reads: Any = method
    reads.__transformer_read__ = lambda reader, args, kwargs: call_closure(reader, closure, args, kwargs)
    return reads


def read_lambda(reader: Reader, node: Any) -> Any:
    return _closure(reader, node)


def _closure(reader: Reader, node: Any) -> Closure:
    defaults = tuple(reader.evaluate(default) for default in node.args.defaults)
    keyword_defaults = {
        parameter.id: reader.evaluate(default)
        for parameter, default in zip(node.args.kwonlyargs, node.args.kw_defaults)
        if default is not None
    }
    return Closure(node, reader.frame.inner or reader.frame, reader, defaults, keyword_defaults)


def _is_wraps(reader: Reader, decorator: Any) -> bool:
    """``@functools.wraps(f)`` changes names and docstrings only."""
    return isinstance(decorator, gast.Call) and reader.evaluate(decorator.func) is functools.wraps


STATEMENTS = {gast.FunctionDef: read_function, gast.ClassDef: read_class}
EXPRESSIONS = {gast.Lambda: read_lambda}
