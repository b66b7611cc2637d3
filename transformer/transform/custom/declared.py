"""From what a user says of a function of another library to an op; see `transformer.define_op`."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.builder import current
from ...core.errors import BadArgument, NotSupported, ShapeError
from ...core.types import ArrayType, type_of_number
from ...ops.elementwise import Elementwise, broadcast, elementwise_type, shape_text, weak_or_dtype
from ...ops.registry import Defined, registry
from ...ops.ruled import Ruled
from ...ops.table import ops
from ...ops.value import NUMBERS, Value, value
from ...read.calls.ruled import origin_of, read_rule
from ...read.findings import Findings
from ...read.kinds import described
from ...read.reader import Reader


def plain_signature(function: Any) -> inspect.Signature | None:
    """The signature of a function, if it has one without ``*args``."""
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    kinds = {p.kind for p in found.parameters.values()}
    return None if inspect.Parameter.VAR_POSITIONAL in kinds else found


@dataclass(frozen=True)
class Declaration:
    """What a user says of a function, and the class that is made of it."""

    function: Any
    spelling: str
    operands: tuple[str, ...]
    types: Any
    facets: dict[str, Any]

    @property
    def elementwise(self) -> bool:
        return self.types == "elementwise"

    def op(self) -> type[Defined]:
        base = (Defined, Elementwise) if self.elementwise else (Defined,)
        body: dict[str, Any] = {
            "__doc__": inspect.getdoc(self.function), "name": self._name(), "calls": (self.function,),
            "spelling": self.spelling, "function": staticmethod(self.function), "operands": self.operands,
            "types": self._types(), "linear": self._linear(), "heavy": not self.elementwise,
            "derivative": self.facets.get("derivative"), "run": self._run(),
        }
        for facet in ("partials", "jvp", "vjp"):
            if self.facets.get(facet) is not None:
                body[facet] = self._rules(facet)
        if self.facets.get("partials") and not self.elementwise:
            raise BadArgument("define_op: partials are for elementwise functions",
                              instead="Pass jvp=... and vjp=..., or omit types.")
        if self.facets.get("batch") is not None:
            body["batch"] = Rule(self.facets["batch"], f"the batch rule of {self.spelling}")
        return type(body["name"], base, body)

    def _name(self) -> str:
        """A name that no other op has: some rewrites know ops by their names."""
        others = [op.name for other, op in registry.by_function.items() if other is not self.function]
        name, taken = self.spelling.replace(".", "_"), {*ops(), Ruled.name, *others}
        while name in taken:
            name += "_"
        return name

    def _run(self) -> Any:
        function = self.function
        return lambda *operands, **attrs: function(*operands, **attrs)

    def _linear(self) -> tuple[str, ...]:
        linear = self.facets.get("linear") or ()
        names = tuple(linear) if isinstance(linear, (tuple, list)) else (linear,)
        for name in names:
            if name not in self.operands:
                raise BadArgument(f"define_op: linear names {name!r}, which is not an argument of {self.spelling}",
                                  instead=f"Use one of {', '.join(self.operands)}.")
        return names

    def _rules(self, facet: str) -> tuple[Any, ...]:
        given = self.facets[facet]
        rules = tuple(given) if isinstance(given, (tuple, list)) else (given,)
        if len(rules) != len(self.operands):
            raise BadArgument(f"define_op: {facet} has {len(rules)} functions, but {self.spelling} takes "
                              f"{len(self.operands)} arguments ({', '.join(self.operands)})",
                              instead="Pass one for each argument, in order; None where there is no derivative.")
        if facet == "partials" and None in rules:
            raise BadArgument("define_op: a partial derivative is None", instead="Return 0 * t where it is zero.")
        return tuple(None if rule is None else self._rule(facet, rule, k) for k, rule in enumerate(rules))

    def _rule(self, facet: str, rule: Any, place: int) -> Rule:
        with_result = facet != "vjp" or not self.facets.get("linear")
        wanted = [{"vjp": "dy"}.get(facet, "t"), *self.operands, *(["y"] if with_result else [])]
        signature = plain_signature(rule)
        if not callable(rule):
            raise BadArgument(f"define_op: {facet} must be a function, got {described(rule)}")
        try:
            if signature is not None:
                signature.bind(*wanted)
        except TypeError:
            raise BadArgument(f"define_op: the rule {facet} of {self.spelling} takes {signature}", origin_of(rule),
                              instead=f"It is called with ({', '.join(wanted)}).") from None
        what = f"the rule {facet} of {self.spelling} for {self.operands[place]!r}"
        return Rule(rule, what, facet, place, self.elementwise)

    # -- types -----------------------------------------------------------------------------------

    def _types(self) -> Any:
        found = self._elementwise_types if self.elementwise else self._declared_types
        if not self.elementwise and not callable(self.types):
            self._model()

        def types(*operands: ArrayType, **attrs: Any) -> Any:
            return found(operands, attrs)

        types.__signature__ = self._parameters()                                  # type: ignore[attr-defined]
        return staticmethod(types)

    def _parameters(self) -> inspect.Signature:
        """The operands, and the options with their defaults."""
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        own = plain_signature(self.function) or (plain_signature(self.types) if callable(self.types) else None)
        operands = [inspect.Parameter(name, kind) for name in self.operands]
        if own is None:
            return inspect.Signature(operands)
        options = [p for p in own.parameters.values() if p.default is not p.empty]
        return inspect.Signature([*operands, *(p.replace(kind=p.KEYWORD_ONLY) for p in options)])

    def _elementwise_types(self, operands: tuple[ArrayType, ...], attrs: dict[str, Any]) -> Any:
        found = elementwise_type(self.function, operands, **attrs)
        if all(t.weak for t in operands) and isinstance(found, ArrayType):
            with np.errstate(all="ignore"):
                sample = self.function(*(weak_or_dtype(t)(1) for t in operands), **attrs)
            return type_of_number(sample) if type(sample) in (int, float, complex) else found
        return found

    def _model(self) -> int:
        """The operand that the result is like."""
        word, _, name = str(self.types).partition(" ")
        if word != "like" or name not in self.operands:
            raise BadArgument(f"define_op: types is {self.types!r}", instead=f"Pass 'elementwise', "
                              f"'like {self.operands[0]}', or a function of the arguments.")
        return self.operands.index(name)

    def _declared_types(self, operands: tuple[ArrayType, ...], attrs: dict[str, Any]) -> Any:
        if not callable(self.types):
            return operands[self._model()].strong()
        given = self.types(*map(Shaped, operands), **attrs)
        if isinstance(given, list):
            return tuple(map(self._declared, given))
        return self._declared(given)

    def _declared(self, given: Any) -> ArrayType:
        if isinstance(given, Shaped):
            return ArrayType(given.dtype, given.shape)
        try:
            shape, dtype = given
            return ArrayType(np.dtype(dtype), tuple(shape))
        except (TypeError, ValueError):
            raise BadArgument(f"the types function of {self.spelling} returns {given!r}", origin_of(self.types),
                              instead="Return an argument, (shape, dtype), or a list of these for several results."
                              ) from None


class Shaped:
    """What is known of an argument while a program is read: `shape`, `dtype`, `ndim`."""

    def __init__(self, type: ArrayType) -> None:
        normal = current().assumptions.normal
        self.shape = tuple(map(normal, type.sizes))
        self.dtype = type.dtype
        self.ndim = len(self.shape)

    def __repr__(self) -> str:
        return f"<array of shape {shape_text(self.shape)}, {self.dtype}>"


class Rule:
    """A rule that is read where it is needed; called with arrays, it just runs."""

    def __init__(self, function: Any, what: str, facet: str = "", place: int = 0, elementwise: bool = False) -> None:
        self.function = function
        self.what = what
        self.facet = facet
        self.place = place
        self.elementwise = elementwise

    def __call__(self, *args: Any, **attrs: Any) -> Any:
        if not any(isinstance(arg, Value) for arg in _flat(args)):
            return self.function(*args, **attrs)
        origin = origin_of(self.function)
        with current().at(origin):
            given = [arg.atom for arg in _flat(args) if isinstance(arg, Value)]
            found = read_rule(_reader(), self.function, args, given, attrs)
            return self._checked(found, args)

    def _checked(self, found: Any, args: tuple[Any, ...]) -> Any:
        if isinstance(found, (tuple, list)) and self.facet == "jvp":
            return tuple(self._fitting(item, y.shape) for item, y in zip(found, args[-1], strict=True))
        if found is None or not self.facet:
            return found
        if self.facet == "vjp":
            return self._fitting(found, args[1 + self.place].shape)
        if self.elementwise:
            return self._fitting(found, args[-1].shape, smaller=True)
        return self._fitting(found, args[-1].shape)

    def _fitting(self, found: Any, shape: tuple[Any, ...], smaller: bool = False) -> Value:
        try:
            item = value(found)
        except (NotSupported, BadArgument):
            raise BadArgument(f"{self.what} returns {described(found)}",
                              instead="Return one array or number.") from None
        normal, equal = current().assumptions.normal, current().assumptions.equal
        if item.ndim == 0 and isinstance(found, NUMBERS):
            return item
        if smaller:
            try:
                fits = tuple(map(normal, broadcast(item.shape, shape))) == tuple(map(normal, shape))
            except ShapeError:
                fits = False
        else:
            fits = item.ndim == len(shape) and all(map(equal, item.shape, shape))
        if not fits:
            raise ShapeError(f"{self.what} returns shape {shape_text(item.shape)}, expected {shape_text(shape)}")
        return item


def _flat(args: tuple[Any, ...]) -> list[Any]:
    return [leaf for arg in args for leaf in (arg if isinstance(arg, (tuple, list)) else (arg,))]


def _reader() -> Any:
    """The reader of the program that is being transformed; a new one where there is none."""
    return current().reader or Reader(current().assumptions, Findings())
