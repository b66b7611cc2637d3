"""The place of an error about the arguments or the result of a function: in the `def` or lambda itself.

What has no source, such as ``np.sin`` or a function of a C library, is shown where it is used: the
line that called into this package.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from types import FrameType
from typing import Any

import gast

from ..core.errors import Origin, TransformError, is_library
from .sources.source import Source, find_source

RETURN = "return"
OURS = tuple(os.path.join(os.path.dirname(os.path.dirname(__file__)), part) for part in ("", "../cli/"))


@contextmanager
def placed(function: Any) -> Iterator[None]:
    """Errors raised inside without a place get that of the parameter they are about, or of `function`."""
    try:
        yield
    except TransformError as error:
        place = error.origin or place_of(function, error.argument)
        error.located(place)
        if place is None or is_library(place.file):
            error.called_from(place_of_call())
        raise


def place_of(function: Any, argument: str | None = None) -> Origin | None:
    """Where a function is written down, one of its parameters by a path such as ``params['w']``, or what
    it gives back (``return``)."""
    target = python_of(function)
    try:
        source = find_source(target)
    except (TransformError, OSError):
        code = getattr(target, "__code__", None)
        return Origin(code.co_filename, code.co_firstlineno, None, None, code.co_name) if code else None
    node = None
    if argument is not None:
        node = _returned(source.tree) if argument == RETURN else _parameter(source.tree.args, _root(argument))
    return _of_name(source) if node is None else source.origin(node)


def python_of(function: Any) -> Any:
    """The Python function that a partial, a method, a wrapper or a callable object comes to."""
    while hasattr(function, "func") and hasattr(function, "keywords"):  # a partial
        function = function.func
    function = getattr(function, "py_func", None) or getattr(function, "__wrapped__", None) or function
    if not hasattr(function, "__code__") and not hasattr(function, "__func__"):
        function = inspect.getattr_static(type(function), "__call__", function)
    return getattr(function, "__func__", function)


def _root(path: str) -> str:
    """The parameter at the beginning of a path: ``w`` of ``w['a'][0]``."""
    return "".join(_leading(path))


def _leading(path: str) -> Iterator[str]:
    for character in path:
        if not (character.isalnum() or character == "_"):
            return
        yield character


def _parameter(args: Any, name: str) -> Any:
    """The node of a parameter; an argument without one of its own belongs to ``**options``."""
    nodes = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    found = next((node for node in nodes if node is not None and node.id == name), args.kwarg)
    of_spread = args.vararg is not None and name.startswith(f"{args.vararg.id}_")
    return args.vararg if found is None and of_spread else found


def _returned(tree: Any) -> Any:
    """The expression that a function gives back, the last one of several."""
    if isinstance(tree, gast.Lambda):
        return tree.body
    returns = [node for node in _own_nodes(tree) if isinstance(node, gast.Return) and node.value is not None]
    return max(returns, key=lambda node: node.lineno).value if returns else None


def _own_nodes(tree: Any) -> Iterator[Any]:
    """The nodes below, but for those of functions inside."""
    for node in gast.iter_child_nodes(tree):
        if not isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda, gast.ClassDef)):
            yield node
            yield from _own_nodes(node)


def _of_name(source: Source) -> Origin:
    """The name after `def`; a lambda as a whole."""
    tree, place = source.tree, source.origin(source.tree)
    if isinstance(tree, gast.Lambda):
        return place
    line = place.text.encode()
    start = line.find(tree.name.encode(), tree.col_offset + len("def "))
    end = start + len(tree.name.encode())
    return Origin(place.file, place.line, start, end, tree.name) if start >= 0 else place


def place_of_call() -> Origin | None:
    """The call into this package, from the stack; None where there is no such line."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and _is_between(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return None
    spans = islice(frame.f_code.co_positions(), frame.f_lasti // 2, None)
    line, end_line, column, end_column = next(spans)
    end = end_column if end_line == line else None
    return Origin(frame.f_code.co_filename, line or frame.f_lineno, column, end, _name(frame))


def _is_between(file: str) -> bool:
    return file.startswith(OURS) or is_library(file)


def _name(frame: Any) -> str:
    name: str = frame.f_code.co_name
    return "" if name == "<module>" else name
