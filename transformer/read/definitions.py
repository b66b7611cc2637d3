"""Functions and lambdas defined by the code that is being read."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import gast

from .frames import store
from .values import Closure

if TYPE_CHECKING:
    from .reader import Reader


def read_function(reader: Reader, node: Any) -> None:
    function: Any = _closure(reader, node)
    for decorator in reversed(node.decorator_list):
        if not _is_wraps(reader, decorator):
            function = reader.call(reader.evaluate(decorator), (function,), {})
    store(reader, reader.frame, node.name, function)


def read_lambda(reader: Reader, node: Any) -> Any:
    return _closure(reader, node)


def _closure(reader: Reader, node: Any) -> Closure:
    defaults = tuple(reader.evaluate(default) for default in node.args.defaults)
    keyword_defaults = {
        parameter.id: reader.evaluate(default)
        for parameter, default in zip(node.args.kwonlyargs, node.args.kw_defaults)
        if default is not None
    }
    return Closure(node, reader.frame, reader, defaults, keyword_defaults)


def _is_wraps(reader: Reader, decorator: Any) -> bool:
    """``@functools.wraps(f)`` changes names and docstrings only."""
    return isinstance(decorator, gast.Call) and reader.evaluate(decorator.func) is functools.wraps


STATEMENTS = {gast.FunctionDef: read_function}
EXPRESSIONS = {gast.Lambda: read_lambda}
