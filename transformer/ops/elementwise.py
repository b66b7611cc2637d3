"""Elementwise ops: broadcasting, result types and batching, stated once for all of them."""

from __future__ import annotations

import inspect
import re
from functools import cache
from typing import Any

import numpy as np

from ..core.builder import current
from ..core.errors import BadArgument, ShapeError
from ..core.grammar import Const
from ..core.halves import BFLOAT16, FLOAT16, FLOAT32, has_half_loop, without_bfloat16
from ..core.sizes import Extent, Size
from ..core.types import ArrayType
from .base import Op, callable_of
from .value import Value, apply, named

FLAT = None, "its result is piecewise constant"

# Python numbers, so that they widen no float32; printed by their names.
PI = named(np.pi, "np.pi")
ROOT_PI = named(np.pi ** 0.5, "math.sqrt(math.pi)")
ROOT_2_PI = named((2 * np.pi) ** 0.5, "math.sqrt(2 * math.pi)")
LOG_2 = named(float(np.log(2)), "math.log(2)")
LOG_10 = named(float(np.log(10)), "math.log(10)")


class Elementwise(Op):
    """An op on corresponding elements of broadcast operands; its result type is that of `ufunc`
    (the first of `calls` unless said otherwise), by NumPy's own promotion (NEP 50).

    `where` says for the generated tests which numbers the op is defined and smooth on: one word
    for all operands, or one for each (see tests/op_cases.py).
    """

    elementwise = True
    ufunc: Any = None
    where: str | tuple[str, ...] = "real"

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.ufunc is None and cls.calls and isinstance(cls.calls[0], np.ufunc):
            cls.ufunc = cls.calls[0]
        if cls.ufunc is not None and "operands" not in vars(cls):
            cls.operands = ("x", "y", "z")[:cls.ufunc.nin]
        if "types" not in vars(cls) and cls.operands:
            _give_types(cls, cls.ufunc or cls.calls[0])

    @classmethod
    def batch(cls, lead: Any, *operands: Any, **attrs: Any) -> Any:
        return cls.applied(*aligned(lead, operands), **attrs)


def _give_types(cls: type[Elementwise], call: Any) -> None:
    def types(*operands: ArrayType) -> Any:
        return elementwise_type(callable_of(call), operands)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    types.__signature__ = inspect.Signature(                               # type: ignore[attr-defined]
        [inspect.Parameter(name, kind) for name in cls.operands])
    cls.types = staticmethod(types)
    cls.defaults = {}


def elementwise_type(function: Any, operands: tuple[ArrayType, ...], **attrs: Any) -> Any:
    """The type of an elementwise function's result; a tuple where there are several."""
    dtypes = checked_dtypes(function, tuple(map(weak_or_dtype, operands)), tuple(attrs.items()))
    sizes = broadcast(*[operand.sizes for operand in operands])
    types = tuple([ArrayType(dtype, sizes) for dtype in dtypes])
    return types[0] if len(types) == 1 else types


def weak_or_dtype(type: ArrayType) -> Any:
    """What NumPy's promotion wants to know of an operand: a dtype, ``float`` for Python's. A truth
    value of Python counts as one of NumPy's."""
    return {"i": int, "f": float, "c": complex}.get(type.dtype.kind, type.dtype) if type.weak else type.dtype


def checked_dtypes(function: Any, operands: tuple[Any, ...], attrs: tuple[Any, ...] = ()
                   ) -> tuple[np.dtype, ...]:
    """`result_dtypes`; what the function does not take is said in words of ours."""
    try:
        return result_dtypes(function, operands, attrs)
    except (TypeError, ValueError) as error:
        taken = ", ".join(str(getattr(operand, "__name__", operand)) for operand in operands)
        raise BadArgument(f"{function.__name__} does not take {taken}", why=str(error)) from None


@cache
def result_dtypes(function: Any, operands: tuple[Any, ...], attrs: tuple[Any, ...] = ()
                  ) -> tuple[np.dtype, ...]:
    """The dtypes of a function's results; other than of ufuncs, those of a call on a single number
    of each operand's dtype. Raises `TypeError` as NumPy does."""
    if any(operand is BFLOAT16 for operand in operands):
        if not has_half_loop(function) and FLOAT16 not in operands and FLOAT32 not in operands:
            wide = tuple(FLOAT32 if operand is BFLOAT16 else operand for operand in operands)
            return tuple(BFLOAT16 if dtype == FLOAT32 else dtype for dtype in result_dtypes(function, wide, attrs))
        found = result_dtypes(function, tuple(without_bfloat16(operands)), attrs)
        return tuple(BFLOAT16 if dtype == FLOAT16 else dtype for dtype in found)
    if isinstance(function, np.ufunc):
        slots = (*operands, *[None] * function.nout)
        return function.resolve_dtypes(slots)[function.nin:]
    with np.errstate(all="ignore"):
        result = function(*map(_sample, operands), **dict(attrs))
    return tuple(np.asarray(r).dtype for r in (result if isinstance(result, tuple) else (result,)))


def _sample(operand: Any) -> Any:
    return np.ones(1, operand) if isinstance(operand, np.dtype) else operand(1)


def result_dtype(ufunc: Any, operands: tuple[Any, ...]) -> np.dtype:
    """The dtype of the first result."""
    return result_dtypes(ufunc, operands)[0]


def broadcast(*shapes: tuple[Extent, ...]) -> tuple[Extent, ...]:
    """The broadcast shape; sizes whose equality is open are assumed equal under a guard."""
    result: tuple[Extent, ...] = ()
    for shape in shapes:
        result = _broadcast(result, shape)
    return result


def _broadcast(left: tuple[Extent, ...], right: tuple[Extent, ...]) -> tuple[Extent, ...]:
    if left == right:
        return left
    if not left or not right:
        return tuple(map(current().assumptions.normal, left or right))
    rank = max(len(left), len(right))
    left = (1,) * (rank - len(left)) + left
    right = (1,) * (rank - len(right)) + right
    return tuple(_common(a, b, left, right) for a, b in zip(left, right, strict=True))


def _common(a: Extent, b: Extent, left: tuple[Extent, ...], right: tuple[Extent, ...]) -> Extent:
    assumptions = current().assumptions
    a, b = assumptions.normal(a), assumptions.normal(b)
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    if assumptions.equal(a, b):
        return assumptions.normal(a)
    if assumptions.is_one(b):
        return a
    if assumptions.is_one(a):
        return b
    raise ShapeError("operands could not be broadcast together with shapes "
                     f"{shape_text(left)} {shape_text(right)}")


def shape_text(shape: tuple[Extent, ...]) -> str:
    """A shape as NumPy prints it, with the numbers of the call being read where they are known; what
    the program computes is a question mark."""
    shown = list(map(_shown, shape))
    return f"({shown[0]},)" if len(shown) == 1 else f"({','.join(shown)})"


def _shown(size: Extent) -> str:
    """One size in it; its place among the `holes`, between null characters, where the program is to fill it in."""
    from ..core.equations import value_of
    assumptions = current().assumptions
    if assumptions.holes is not None and isinstance(size, Size):
        assumptions.holes.append(size)
        return f"\0{len(assumptions.holes) - 1}\0"
    known = value_of(size, assumptions.hints)
    return re.sub(r"\?\w+\.\d+", "?", str(size)) if known is None else str(known)


def size_text(size: Extent) -> str:
    """A single size as NumPy prints it."""
    return shape_text((size,))[1:-2]


def aligned(lead: Any, operands: tuple[Any, ...]) -> list[Any]:
    """Operands whose batch axis leads get axes of size 1 after it, up to the highest rank without
    it, so that they broadcast as their elements of the batch do."""
    ranks = [rank(x) - bool(on) for x, on in zip(operands, lead, strict=True)]
    highest = max(ranks, default=0)
    return [np.expand_dims(x, tuple(range(1, 1 + highest - own))) if on and own < highest else x
            for x, on, own in zip(operands, lead, ranks, strict=True)]


def rank(operand: Any) -> int:
    """The rank of an operand of a rule; that of a number is 0."""
    return getattr(operand, "ndim", 0)


def where(condition: Any, a: Any, b: Any, spelling: str = "np.where") -> Any:
    """`np.where` for rules; among numbers a conditional expression, which gives a number. Spelled as a selection, it is
    one together with the choice that `b` is."""
    operands = condition, a, b
    if not any(isinstance(operand, Value) for operand in operands):
        return np.where(condition, a, b)
    from .selection import Where
    return apply(Where, operands, {}, spelling if any(map(rank, operands)) else None)


def is_python_number(operand: Any) -> bool:
    """Whether an operand of a rule is one of Python's own numbers."""
    if isinstance(operand, Value):
        return operand.type.weak
    return type(operand) in (int, float, complex)


def number_of(operand: Any) -> Any:
    """The number that an operand of a rule is known to be, by whatever name, or None."""
    if isinstance(operand, Value):
        return operand.atom.value if isinstance(operand.atom, Const) else None
    return operand if is_python_number(operand) else None


def constant(operand: Any) -> Any:
    """The number that an operand of a rule is known to be, or None. One that the user gave a name
    is not told, so that rules keep the name."""
    if isinstance(operand, Value):
        atom = operand.atom
        return atom.value if isinstance(atom, Const) and atom.name is None else None
    return operand if is_python_number(operand) else None
