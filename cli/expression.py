"""Expressions over transformations: what `transformer emit` and `transformer diff` are given.

    expression     = function | transformation "(" expression { "," argument } ")"
                   | partial "(" expression { "," argument } ")"
    partial        = transformation "(" [ argument { "," argument } ] ")"         without the function
    argument       = [ name "=" ] literal
    literal        = number | string | None | True | False | tuple, list or dictionary of literals
    function       = name { "." name }                                            of the file

So ``jit(vmap(grad(loss, argnums=0), in_axes=(None, 0, 0)))`` means what it means in Python, and ``vmap(in_axes=1)(f)``
is ``vmap(f, in_axes=1)``. The text is parsed, and its nodes are looked at one by one: nothing of it is run. `jvp` and
`vjp` are functions of the arguments here, followed by the tangents or the cotangent.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import transformer
from transformer.api import Transformed, _wrt
from transformer.core.errors import TransformError
from transformer.jitting import Compiled
from transformer.transform.argument_names import extra_names, keys_in, name_at
from transformer.transform.arguments import free_name
from transformer.transform.batching.batched import Batched
from transformer.transform.batching.vectorized import Vectorized
from transformer.transform.derived import taken_apart
from transformer.transform.modes import Mode, Pullback, Pushforward

from .failures import NotationError, UsageError, marked, suggestion
from .inputs import parameters_of
from .target import Target, function_named

PLACE = "the expression"
DEEPEST = 40


def jvp(function: Callable[..., Any], argnums: Any = 0) -> Any:
    return Transformed(function, Pushforward(_wrt(argnums)))


def vjp(function: Callable[..., Any], argnums: Any = 0) -> Any:
    return Transformed(function, Pullback(_wrt(argnums)))


def jit(function: Callable[..., Any]) -> Any:
    return transformer.jit(function)


TRANSFORMATIONS: dict[str, Callable[..., Any]] = {
    "grad": transformer.grad,
    "value_and_grad": transformer.value_and_grad,
    "jvp": jvp,
    "vjp": vjp,
    "vmap": transformer.vmap,
    "vectorize": transformer.vectorize,
    "jacfwd": transformer.jacfwd,
    "jacrev": transformer.jacrev,
    "jacobian": transformer.jacobian,
    "hessian": transformer.hessian,
    "hvp": transformer.hvp,
    "checkpoint": transformer.checkpoint,
    "jit": jit,
}


@dataclass(frozen=True)
class Partial:
    """A transformation that waits for its function."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@dataclass(frozen=True)
class Extra:
    """An argument that a transformation adds: a tangent `of` an argument, or a cotangent (None). Where it `has_lanes`,
    its type does not follow from others, and has to be said."""

    name: str
    of: str | None = None
    has_lanes: bool = False


@dataclass(frozen=True)
class Expression:
    """A transformed function: `target` is the user's, inside of it, `steps` are the nodes that stand for its
    transformations, the inner one first, and `extras` what they add to the arguments."""

    text: str
    whole: Any
    target: Target
    steps: tuple[ast.expr, ...] = ()
    extras: tuple[Extra, ...] = ()

    @property
    def is_compiled(self) -> bool:
        return isinstance(self.whole, Compiled)

    def asked(self) -> Target:
        """The user's function, as one that may be given the further arguments."""
        function = self.target.function
        own = parameters_of(function)
        if not self.extras or any(parameter.kind is parameter.VAR_POSITIONAL for parameter in own):
            return self.target

        @functools.wraps(function)
        def extended(*args: Any, **kwargs: Any) -> Any:
            raise AssertionError("looked at for its arguments alone")

        first = [p for p in own if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        added = [inspect.Parameter(extra.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
                 for extra in self.extras]
        extended.__signature__ = inspect.Signature([*first, *added, *own[len(first):]])  # type: ignore[attr-defined]
        return replace(self.target, function=extended)

    def wrt(self) -> tuple[str, ...]:
        """The arguments of the user's function for which something is differentiated."""
        names = [parameter.name for parameter in parameters_of(self.target.function)]
        keys = [key for mode in taken_apart(self.whole)[1] for key in keys_in(getattr(mode, "wrt", None))]
        found = [names[key] if isinstance(key, int) and -len(names) <= key < len(names) else key for key in keys]
        return tuple(dict.fromkeys(name for name in found if name in names))

    def explain(self, error: TransformError) -> None:
        """Adds to an error which part of the expression it is about, if that is known."""
        if error.step is not None and error.step < len(self.steps):
            error.add_note(f"in {PLACE}\n{marked(self.text, *span_of(self.text, self.steps[error.step]))}")


def added(mode: Mode, before: tuple[Extra, ...], own: list[inspect.Parameter], inner: Sequence[Mode]
          ) -> tuple[Extra, ...]:
    """What a function is given behind its arguments, once it is transformed again, after others."""
    if isinstance(mode, (Batched, Vectorized)):
        return tuple(replace(extra, has_lanes=True) for extra in before)
    found = list(before)
    names = [parameter.name for parameter in own]
    primals = [None] if isinstance(mode, Pullback) else [
        key if isinstance(key, str) else name_at(key, names) for key in keys_in(getattr(mode, "wrt", None))]
    for name, of in zip(extra_names(mode, names, inner), primals):
        found.append(Extra(free_name(name, [*own, *found]), of))         # type: ignore[list-item]
    return tuple(found)


def interpreted(text: str, file: Path, module: ModuleType) -> Expression:
    """What an expression means, whose functions are those of a module. Raises `NotationError` with the place of a
    mistake."""
    text = text.strip()
    return Interpreter(text, file, module).expression(parsed(text), 0)


def parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        start = _starts(text)[max(error.lineno or 1, 1) - 1] + max(error.offset or 1, 1) - 1 if text else 0
        raise NotationError(error.msg, text, min(start, len(text)), start, PLACE) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise UsageError(f"{PLACE}: {error or 'nested too deeply'}") from None


class Interpreter:
    """One method for each kind of node."""

    def __init__(self, text: str, file: Path, module: ModuleType) -> None:
        self.text, self.file, self.module = text, file, module

    def fail(self, message: str, node: ast.AST) -> NoReturn:
        raise NotationError(message, self.text, *span_of(self.text, node), PLACE)

    def expression(self, node: ast.expr, depth: int) -> Expression:
        """The function that a node stands for."""
        if depth > DEEPEST:
            self.fail("nested too deeply", node)
        if isinstance(node, ast.Call):
            partial, rest = self.call(node, depth)
            if rest is None:
                self.fail(f"{partial.name} of what? Its first argument is a function", node)
            return self.applied(partial, rest, node)
        return self.function(node)

    def function(self, node: ast.expr) -> Expression:
        name = dotted(node)
        if name is None:
            self.fail("expected a function of the file, or a transformation of one", node)
        if name in TRANSFORMATIONS and getattr(self.module, name, None) in (None, getattr(transformer, name)):
            self.fail(f"{name} of what? Write {name}(FUNC)", node)
        try:
            function = function_named(self.module, name, self.file)
        except UsageError as error:
            self.fail(str(error), node)
        steps = (node,) * len(taken_apart(function)[1])
        return Expression(self.text, function, Target(self.file, name, self.module, function), steps)

    def call(self, node: ast.Call, depth: int) -> tuple[Partial, Expression | None]:
        """A transformation with its arguments, and its function, if that is among them."""
        for argument in (*node.args, *(keyword.value for keyword in node.keywords if keyword.arg is None)):
            if isinstance(argument, ast.Starred) or argument not in node.args:
                self.fail("arguments are written one by one here", argument)
        if isinstance(node.func, ast.Call):
            if depth > DEEPEST:
                self.fail("nested too deeply", node)
            partial, rest = self.call(node.func, depth + 1)
            if rest is not None or len(node.args) != 1 or node.keywords:
                self.fail("this is applied to one function here, not to arguments: types are given by --types", node)
            return partial, self.expression(node.args[0], depth + 1)
        return self.of_transformation(node, depth)

    def of_transformation(self, node: ast.Call, depth: int) -> tuple[Partial, Expression | None]:
        name = self.transformation(node.func)
        kwargs = {}
        for keyword in node.keywords:
            assert keyword.arg is not None
            self.require_parameter(name, keyword)
            kwargs[keyword.arg] = self.literal(keyword.value)
        if not node.args:
            return Partial(name, (), kwargs), None
        first, *others = node.args
        partial = Partial(name, tuple(self.literal(other) for other in others), kwargs)
        return partial, self.expression(first, depth + 1)

    def transformation(self, node: ast.expr) -> str:
        name = dotted(node)
        if name is None or name not in TRANSFORMATIONS:
            known = ", ".join(TRANSFORMATIONS)
            shown = f"{name} is no transformation" if name else "expected a transformation"
            self.fail(shown + (suggestion(name or "", TRANSFORMATIONS) or f"; there are {known}"), node)
        return name

    def require_parameter(self, name: str, keyword: ast.keyword) -> None:
        known = list(inspect.signature(TRANSFORMATIONS[name]).parameters)[1:]
        if keyword.arg not in known:
            hint = suggestion(keyword.arg or "", known)
            hint = hint or (f"; it takes {', '.join(known)}" if known else "; it takes a function alone")
            self.fail(f"{name} has no argument {keyword.arg}{hint}", keyword)

    def applied(self, partial: Partial, inner: Expression, node: ast.Call) -> Expression:
        """A transformation of a function."""
        try:
            whole = TRANSFORMATIONS[partial.name](inner.whole, *partial.args, **partial.kwargs)
        except TransformError as error:
            self.fail(". ".join(filter(None, [error.message, error.instead])), node)
        except (TypeError, ValueError) as error:
            self.fail(str(error), node)
        modes, extras = taken_apart(whole)[1], inner.extras
        for k, mode in enumerate(modes[len(inner.steps):], len(inner.steps)):
            extras = added(mode, extras, parameters_of(inner.target.function), modes[:k])
        steps = (*inner.steps, *[node] * (len(modes) - len(inner.steps)))[:len(modes)]
        return Expression(self.text, whole, inner.target, steps, extras)

    def literal(self, node: ast.expr) -> Any:
        """The object that a literal stands for."""
        match node:
            case ast.Constant(value=bool() | int() | float() | complex() | str() | None as value):
                return value
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=ast.Constant(value=int() | float() as number)):
                return -number if isinstance(sign, ast.USub) else number
            case ast.Tuple(elts=items):
                return tuple(map(self.literal, items))
            case ast.List(elts=items):
                return list(map(self.literal, items))
            case ast.Dict(keys=keys, values=values) if all(isinstance(key, ast.Constant) for key in keys):
                return {self.literal(key): self.literal(value) for key, value in zip(keys, values, strict=True) if key}
        self.fail("expected a literal: a number, a string, None, True, False, or a tuple, list or dictionary", node)


def dotted(node: ast.expr) -> str | None:
    """The name that a node is, with dots."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return before and f"{before}.{node.attr}"
    return None


def span_of(text: str, node: Any) -> tuple[int, int]:
    """Where a node begins and ends, in characters: Python counts the bytes of each line."""
    lines, starts = text.splitlines(keepends=True), _starts(text)

    def place(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode(errors="ignore"))

    return place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset)


def _starts(text: str) -> list[int]:
    return [0, *accumulate(map(len, text.splitlines(keepends=True)))]
