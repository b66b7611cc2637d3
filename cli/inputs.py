"""What the arguments of a function are: from --types, from annotations, from defaults, from an
example, or assumed.

An argument with a default that nobody gave a type is known beforehand; one without any word about
it is taken as f64, and `Inputs.assumed` says so.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from transformer import tree
from transformer.core.sizes import Dim, leaves
from transformer.core.types import SHORT_NAMES, ArrayType, type_of_number

from .failures import NotationError, UsageError, suggestion
from .notation import Declaration, parse_declarations, parse_type, shown

SCALAR = ArrayType(np.dtype("float64"))
Kind = inspect._ParameterKind
POSITIONAL = (Kind.POSITIONAL_ONLY, Kind.POSITIONAL_OR_KEYWORD, Kind.VAR_POSITIONAL)

_OURS = re.compile(r"\b(?:f16|bf16|f32|f64|c64|c128|[iu](?:8|16|32|64))\b")
_VAGUE = re.compile(
    r"(?:\w+\.)*(?:ndarray|NDArray|[dD]ict|[lL]ist|[tT]uple|Mapping|Sequence|str)\b"
)


@dataclass(frozen=True)
class Argument:
    """An argument: a pytree of types, and of objects known beforehand. `value` is that of an
    example (None where types are declared)."""

    name: str
    kind: Kind
    type: Any
    value: Any = None

    @property
    def is_differentiable(self) -> bool:
        found = tree.leaves(self.type)
        return bool(found) and all(
            isinstance(leaf, ArrayType) and leaf.is_inexact for leaf in found
        )

    @property
    def is_partly_differentiable(self) -> bool:
        """Whether floating point numbers stand beside what carries no derivative, such as a string."""
        found = tree.leaves(self.type)
        return not self.is_differentiable and any(isinstance(leaf, ArrayType) and leaf.is_inexact for leaf in found)

    @property
    def is_spread(self) -> bool:
        return self.kind in (Kind.VAR_POSITIONAL, Kind.VAR_KEYWORD)

    @property
    def is_keyword(self) -> bool:
        return self.kind not in POSITIONAL

    def __str__(self) -> str:
        return f"{self.name}: {shown(self.type)}"


@dataclass(frozen=True)
class Inputs:
    """The arguments that are passed, in the order of the function; `assumed` names those that are
    f64 for want of a type. `is_example` tells values from types."""

    arguments: tuple[Argument, ...]
    assumed: tuple[str, ...] = ()
    is_example: bool = False

    @property
    def dims(self) -> list[Dim]:
        """The named dimensions, in the order in which they occur."""
        types = [
            leaf
            for a in self.arguments
            for leaf in tree.leaves(a.type)
            if isinstance(leaf, ArrayType)
        ]
        found = [leaf for type in types for size in type.sizes for leaf in leaves(size)]
        return [dim for dim in dict.fromkeys(found) if isinstance(dim, Dim)]

    def bound(self, what: Callable[[Argument], Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """``(args, kwargs)`` with `what` of every argument."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for argument in self.arguments:
            if not argument.is_keyword:
                args += what(argument) if argument.is_spread else [what(argument)]
            else:
                kwargs |= what(argument) if argument.is_spread else {argument.name: what(argument)}
        return tuple(args), kwargs

    def types(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return self.bound(lambda argument: argument.type)

    def values(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return self.bound(lambda argument: argument.value)


def declared_inputs(function: Callable[..., Any], text: str, wrt: tuple[str, ...] = ()) -> Inputs:
    """The arguments as --types, annotations and defaults tell; those in `wrt` are variable even if
    they have a default."""
    parameters = parameters_of(function)
    table = parse_declarations(text)
    require_known(table, [p.name for p in parameters], text)
    require_plain_sizes(table, text)
    found = [declared(parameter, table.get(parameter.name), wrt) for parameter in parameters]
    needed = passed([argument for argument, _ in found], parameters)
    return Inputs(needed, tuple(argument.name for argument, assumed in found if assumed))


def declared(
    parameter: inspect.Parameter, declaration: Declaration | None, wrt: tuple[str, ...]
) -> tuple[Argument, bool]:
    """The argument for a parameter, and whether its type is only assumed."""
    kind, default = parameter.kind, parameter.default
    if declaration is not None:
        return Argument(parameter.name, kind, spread_type(declaration.type, parameter)), False
    if kind in (Kind.VAR_POSITIONAL, Kind.VAR_KEYWORD):
        return Argument(parameter.name, kind, () if kind is Kind.VAR_POSITIONAL else {}), False
    annotated = annotated_type(parameter)
    if annotated is not None:
        return Argument(parameter.name, kind, annotated), False
    if default is parameter.empty:
        return Argument(parameter.name, kind, SCALAR), True
    type = type_of_default(parameter) if parameter.name in wrt else default
    return Argument(parameter.name, kind, type), False


def type_of_default(parameter: inspect.Parameter) -> ArrayType:
    """The type of a default that is to be variable."""
    default = parameter.default
    if isinstance(default, bool) or not isinstance(default, (int, float, complex, np.number)):
        raise UsageError(
            f"--wrt: {parameter.name} has the default {default!r}, which is not a number; "
            "pass its type with --types"
        )
    return type_of_number(float(default) if isinstance(default, int) else default)


def spread_type(type: Any, parameter: inspect.Parameter) -> Any:
    """A declared type; those of *args and **kwargs have to be a tuple and a dictionary."""
    expected = {Kind.VAR_POSITIONAL: tuple, Kind.VAR_KEYWORD: dict}.get(parameter.kind)
    if expected is not None and not isinstance(type, expected):
        example = "(f64, f64[n])" if expected is tuple else "{scale: f64}"
        raise UsageError(
            f"--types: {parameter} accepts several values; write them as in "
            f"{parameter.name}: {example}"
        )
    return type


def passed(arguments: list[Argument], parameters: list[inspect.Parameter]) -> tuple[Argument, ...]:
    """The arguments without the defaults at the end, which the function fills in itself."""
    is_default = {a.name: a.type is p.default for a, p in zip(arguments, parameters, strict=True)}
    positional = [a for a in arguments if a.kind in POSITIONAL]
    while positional and (is_default[positional[-1].name] or positional[-1].type == ()):
        positional.pop()
    rest = [a for a in arguments if a.kind not in POSITIONAL and not is_default[a.name]]
    return (*positional, *rest)


def annotated_type(parameter: inspect.Parameter) -> Any:
    """The type that an annotation tells, or None. Raises `UsageError` for one that rules f64 out
    but does not say what else."""
    annotation = parameter.annotation
    if annotation is parameter.empty:
        return None
    if isinstance(annotation, type) and issubclass(annotation, np.number):
        return ArrayType(np.dtype(annotation))
    text = (
        annotation
        if isinstance(annotation, str)
        else getattr(annotation, "__name__", repr(annotation))
    )
    place = f"the annotation of {parameter.name}"
    found = type_in(text.strip(), place)
    if found is None and (_VAGUE.match(text) or isinstance(annotation, type)):
        raise UsageError(
            f"{parameter.name} is annotated {text}, which does not specify dtype and sizes; "
            f'pass them with --types, as in "{parameter.name}: f64[n]", or pass an --example'
        )
    return found


def type_in(text: str, place: str) -> Any:
    """The type that an annotation spells; None if it is not in our notation at all."""
    if text[:1] in ("'", '"') and text[:1] == text[-1:]:
        text = text[1:-1]  # a string below ``from __future__ import annotations``
    text = SHORT_NAMES.get(text.removeprefix("np.").removeprefix("numpy."), text)
    try:
        found = parse_type(text, place)
    except NotationError:
        if _OURS.search(text):
            raise
        return None
    return found if any(isinstance(leaf, ArrayType) for leaf in tree.leaves(found)) else None


def example_inputs(function: Callable[..., Any], example: Any) -> Inputs:
    """The arguments that an example holds: a tuple of them, or one alone."""
    args = example if type(example) is tuple else (example,)
    try:
        bound = inspect.signature(function).bind(*args)
    except TypeError:
        names = ", ".join(parameter.name for parameter in parameters_of(function))
        count = "1 argument" if len(args) == 1 else f"{len(args)} arguments"
        raise UsageError(f"the example has {count}, but the function takes {names}") from None
    kinds = {p.name: p.kind for p in parameters_of(function)}
    return Inputs(
        tuple(
            Argument(name, kinds[name], tree.map(concrete_type, value), value)
            for name, value in bound.arguments.items()
        ),
        is_example=True,
    )


def concrete_type(leaf: Any) -> Any:
    """The type of a number or array, its sizes as they are; other leaves are known beforehand."""
    if isinstance(leaf, (np.ndarray, np.generic)) and leaf.dtype.kind in "fciub":
        return ArrayType(leaf.dtype.newbyteorder("="), leaf.shape)
    return type_of_number(leaf) if type(leaf) in (int, float, complex) else leaf


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise UsageError(
            f"the signature of {function!r} is not known; wrap it in a function of your own"
        ) from None


def require_known(table: dict[str, Declaration], names: list[str], text: str) -> None:
    for name, declaration in table.items():
        if name not in names:
            hint = suggestion(name, names) or f"; it has {', '.join(names) or 'none'}"
            token = declaration.token
            raise NotationError(
                f"the function has no argument {name}{hint}", text, token.start, token.end
            )


def require_plain_sizes(table: dict[str, Declaration], text: str) -> None:
    """A name in a sum like ``n+1`` gets its meaning where it is a size of its own."""
    plain: set[str] = set()
    for size in _sizes(table):
        found = list(leaves(size))
        plain |= {str(found[0])} if len(found) == 1 and str(size) == str(found[0]) else set()
    for size in _sizes(table):
        for leaf in leaves(size):
            if str(leaf) not in plain:
                start = re.search(rf"\b{leaf}\b", text)
                assert start is not None
                raise NotationError(
                    f"{leaf} never appears as a size by itself; write {size} as a separate name",
                    text,
                    start.start(),
                    start.end(),
                )


def _sizes(table: dict[str, Declaration]) -> Iterator[Any]:
    for declaration in table.values():
        for leaf in tree.leaves(declaration.type):
            yield from leaf.sizes if isinstance(leaf, ArrayType) else ()


def chosen(inputs: Inputs, wrt: tuple[str, ...], function: str) -> tuple[str, ...]:
    """The names in --wrt; by default those of all floating point arguments."""
    names = [argument.name for argument in inputs.arguments]
    for k, name in enumerate(wrt):
        if name in wrt[:k]:
            raise UsageError(f"--wrt names {name} twice")
        if name not in names:
            hint = suggestion(name, names) or f"; it has {', '.join(names) or 'none'}"
            raise UsageError(f"--wrt: {function} has no argument {name}{hint}")
    usual = tuple(argument.name for argument in inputs.arguments if argument.is_differentiable)
    left_out = next((argument for argument in inputs.arguments if argument.is_partly_differentiable), None)
    if not wrt and left_out is not None:
        raise UsageError(f"{left_out.name} holds floating point numbers and other values, which are not "
                         "differentiable; select the arguments to differentiate with --wrt")
    if not wrt and not usual:
        raise UsageError(f"{function} has no floating point argument to differentiate")
    return wrt or usual
