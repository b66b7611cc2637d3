"""Reading a function of the library in place of a call of the user's."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...core.errors import BadArgument
from ..calls.functions import bind_arguments, path_of, run
from ..frames import Frame
from ..sources.scope import desugared, scope_of
from ..sources.source import find_source

if TYPE_CHECKING:
    from ..reader import Reader


def call_library(reader: Reader, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Reads the body of a library function; all places in it are the place of this call."""
    assert isinstance(function, types.FunctionType)
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError as error:
        raise BadArgument(f"{function.__name__}() {error}", reader.builder.origin) from None
    source = find_source(function)
    node = desugared(source, reader.is_attempting, reader.findings.ended)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    frame = Frame(scope_of(node), source.file, source.name, function.__globals__, cells, path=path_of(reader, node))
    frame.site = reader.builder.origin
    bind_arguments(reader, frame, node.args, function.__defaults__ or (), dict(function.__kwdefaults__ or {}),
                   args, kwargs)
    return run(reader, frame, node)
