"""Functions written in Python: arguments are bound, the body is read in a frame of its own.

The result of a body is the value of its last statement, a `return`; jumps are gone by then.
"""

from __future__ import annotations

import types
from functools import partial
from typing import TYPE_CHECKING, Any

import gast

from ...core.errors import NotSupported, TransformError, as_raised
from ...core.grammar import Var
from ...ops.value import Value
from ..assignment import name_value
from ..frames import Frame
from ..loops.producers import producer
from ..outside import is_of_library
from ..raising.errors import in_callee
from ..sources.scope import desugared, parameter_names, scope_of
from ..sources.source import find_source
from ..values import ABSENT, Closure
from .recursion import key_of, read_call

if TYPE_CHECKING:
    from ..reader import Reader

DEEPEST_RECURSION = 16


def call_python(reader: Reader, function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Reads the body of a Python function with these arguments."""
    with in_callee(reader):
        source = find_source(function)
        found = reader.findings
        node = desugared(source, reader.is_attempting, found.ended, found.forks, found.asked)
    reader.outside.read(function, args)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    frame = Frame(scope_of(node), source.file, source.name, function.__globals__, cells, path=path_of(reader, node),
                  source=source)
    defaults = _lifted_defaults(reader, function)
    keyword_defaults = _lifted_keyword_defaults(reader, function)
    bind_arguments(reader, frame, node.args, defaults, keyword_defaults, args, kwargs)
    return run(reader, frame, node)


def _lifted_defaults(reader: Reader, function: types.FunctionType) -> tuple[Any, ...]:
    found = function.__defaults__ or ()
    if is_of_library(function):
        return found
    holder = found.__getitem__
    return tuple(reader.outside.lift(value, holder, k, None) for k, value in enumerate(found))


def _lifted_keyword_defaults(reader: Reader, function: types.FunctionType) -> dict[str, Any]:
    found = function.__kwdefaults__ or {}
    if is_of_library(function):
        return found
    return {name: reader.outside.lift(value, found.__getitem__, name, None) for name, value in found.items()}


def call_closure(reader: Reader, closure: Closure, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Reads the body of a function that was defined by the code being read."""
    outer, node = closure.frame, closure.node
    frame = Frame(scope_of(node), outer.file, closure.__name__, outer.globals, {}, outer, path=path_of(reader, node))
    bind_arguments(reader, frame, node.args, closure.defaults, closure.keyword_defaults, args, kwargs)
    return run(reader, frame, node)


def path_of(reader: Reader, node: Any) -> tuple[Any, ...]:
    """Where a call stands: the calls around it, and its own place."""
    outer = reader.frames[-1].path if reader.frames else ()
    site = reader.builder.origin
    return (*outer, (node, site and (site.file, site.line, site.column)))


def run(reader: Reader, frame: Frame, node: Any) -> Any:
    """Reads the body of a function in its frame; gives what it returns."""
    _check_depth(reader, frame, node)
    if isinstance(node, gast.AsyncFunctionDef):
        raise reader.unsupported("AsyncFunctionDef")
    if frame.scope.is_generator:
        return producer(reader, frame, partial(_body, reader, frame))
    return read_call(reader, frame, lambda: _body(reader, frame, node))


def _body(reader: Reader, frame: Frame, node: Any) -> Any:
    with in_callee(reader), reader.inside(frame):
        try:
            return _result(reader, frame, node)
        finally:
            reader.returned = frame.returned


def _result(reader: Reader, frame: Frame, node: Any) -> Any:
    if isinstance(node, gast.Lambda):
        frame.returned = frame.origin(node.body)
        return reader.evaluate(node.body)
    body, last = node.body, node.body[-1]
    frame.result = _early_result(last)
    reader.execute(body[:-1])
    if not isinstance(last, gast.Return):
        reader.execute([last])
        return None
    with reader.builder.at(frame.origin(last)):
        if last.value is None:
            return None
        if frame.result is None or frame.returned is None:
            frame.returned = frame.origin(last.value)
        return reader.evaluate(last.value)


def _early_result(last: Any) -> str | None:
    """The name that holds the results of early returns: where it stands, the user wrote no name."""
    value = getattr(last, "value", None)
    if isinstance(last, gast.Return) and isinstance(value, gast.Name) and value.col_offset == last.col_offset:
        return value.id
    return None


def _check_depth(reader: Reader, frame: Frame, node: Any) -> None:
    depth = sum(1 for step in frame.path if step[0] is node)
    if depth > DEEPEST_RECURSION:
        raise reader.recursion.refusals.get(key_of(frame)) or NotSupported(
            f"the recursion of {frame.function} is too deep",
            reader.builder.origin,
            why=f"Its arguments change their structure in each of more than {DEEPEST_RECURSION} nested calls.",
            instead="Use the same types and structure in every call, or write a loop.",
        )


def bind_arguments(
    reader: Reader,
    frame: Frame,
    signature: Any,
    defaults: tuple[Any, ...],
    keyword_defaults: dict[str, Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> None:
    """Binds arguments to parameters as Python does."""
    binder = _Binder(reader, frame, signature)
    binder.positional(args, len(defaults))
    binder.keywords(kwargs)
    binder.defaults(defaults, keyword_defaults)
    atoms = [value.atom for value in binder.bound.values() if isinstance(value, Value)]
    frame.named = [atom for atom in atoms if isinstance(atom, Var) and atom.name is None]
    for name in parameter_names(signature):
        frame.names[name] = name_value(reader, binder.bound[name], name, frame)
    first = [*signature.posonlyargs, *signature.args]
    frame.first = binder.bound[first[0].id] if first else ABSENT


class _Binder:
    """Arguments on their way to parameters, with the messages of Python where they do not fit."""

    def __init__(self, reader: Reader, frame: Frame, signature: Any) -> None:
        self.reader = reader
        self.function = frame.function
        self.signature = signature
        self.bound: dict[str, Any] = {}

    def positional(self, args: tuple[Any, ...], optional: int) -> None:
        names = [p.id for p in (*self.signature.posonlyargs, *self.signature.args)]
        self.bound.update(zip(names, args))
        rest = args[len(names) :]
        if self.signature.vararg is not None:
            self.bound[self.signature.vararg.id] = tuple(rest)
        elif rest:
            wanted = f"from {len(names) - optional} to {len(names)}" if optional else str(len(names))
            given = f"{len(args)} {'were' if len(args) != 1 else 'was'} given"
            raise self._error(f"takes {wanted} positional argument{'s' * (len(names) != 1)} but {given}")

    def keywords(self, kwargs: dict[str, Any]) -> None:
        names = {p.id for p in (*self.signature.args, *self.signature.kwonlyargs)}
        rest: dict[str, Any] = {}
        for name, value in kwargs.items():
            if name in names and name in self.bound:
                raise self._error(f"got multiple values for argument {name!r}")
            (self.bound if name in names else rest)[name] = value
        if self.signature.kwarg is not None:
            self.bound[self.signature.kwarg.id] = self.reader.own(rest)
        elif rest:
            raise self._error(f"got an unexpected keyword argument {next(iter(rest))!r}")

    def defaults(self, positional: tuple[Any, ...], keyword: dict[str, Any]) -> None:
        parameters = [p.id for p in (*self.signature.posonlyargs, *self.signature.args)]
        given = dict(zip(parameters[len(parameters) - len(positional) :], positional)) | keyword
        for kind, names in ("positional", parameters), ("keyword-only", [p.id for p in self.signature.kwonlyargs]):
            missing = [name for name in names if name not in self.bound and name not in given]
            if missing:
                raise self._error(f"missing {len(missing)} required {kind} argument{'s' * (len(missing) != 1)}: "
                                  f"{_listed(missing)}")
            self.bound.update({name: given[name] for name in names if name not in self.bound})

    def _error(self, message: str) -> TransformError:
        return as_raised(TypeError(f"{self.function}() {message}"), self.reader.builder.origin)


def _listed(names: list[str]) -> str:
    """Names as Python enumerates them: 'a', 'b', and 'c'."""
    *before, last = map(repr, names)
    return last if not before else f"{', '.join(before)}{',' * (len(before) > 1)} and {last}"
