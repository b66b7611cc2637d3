"""Python numbers, NumPy numbers and arrays that meet: value, class and dtype of what comes out, in the
generated source and in the types of Core, are those of Python and NumPy for every pair of kinds.
"""

from __future__ import annotations

import linecache
import math
import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest

from transformer.api import argument_names
from transformer.core.errors import TransformError
from transformer.core.grammar import type_of
from transformer.core.types import WEAK_NAMES, ArrayType
from transformer.pipeline import generate
from transformer.read.interface import Result
from transformer.run.files import load
from transformer.run.generating import on_demand, requested
from transformer.run.signature import describe

KINDS = {
    "bool": bool,
    "int": int,
    "float": float,
    "complex": complex,
    **{name: getattr(np, name) for name in ("bool_", "int8", "int32", "int64", "uint8")},
    **{name: getattr(np, name) for name in ("float32", "float64", "complex64")},
}
FIRST = {name: kind(True if "bool" in name else 3 if "int" in name else 0.3) for name, kind in KINDS.items()}
SECOND = {name: kind(True if "bool" in name else 2 if "int" in name else 1.7) for name, kind in KINDS.items()}

OF_ONE = """
-x | +x | ~x | not x | abs(x) | int(x) | float(x) | bool(x) | complex(x) | round(x) | round(x, 1)
x + 1 | x + 1.5 | x * 1 | x + 0 | 1 * x | x * 2 | x - x | x / 2 | x ** 2 | x ** 0 | x ** 1 | x ** 0.5 | x ** -1
2 ** x | x // 2 | x % 2 | x > 0 | x == 0 | x != x | x + True | True + True + x | x * True | True * x | x - False
x + 1j | x + np.pi | x * math.pi | x * np.float32(2) | np.float32(2) * x | np.int8(100) + x | x + 200 | 200 + x
x * 1000 | 1e300 * x | x == 300 | x < 300 | x < -1 | x / 0 | x // 0 | x % 0 | x / 0.0 | 0.0 ** -x | x * 2**62
x + 2**63 | divmod(x, 2)[0] | divmod(7, x)[1] | abs(-x) | abs(x) > 2 | sum([x]) | sum([x, 1]) | int(x) // 2
int(x) / 0 | float(x) / 0.0 | math.floor(x) | math.ceil(x) | math.trunc(x) | math.sqrt(x) | math.exp(x)
math.fabs(x) | math.isnan(x) | math.isfinite(x) | math.floor(x) + 1 | math.log(abs(x) + 1) | math.isnan(x) + 1
math.isnan(x) + math.isnan(x) | np.isnan(x) + np.isnan(x) | np.sqrt(x) | np.exp(x) | np.sign(x) | np.abs(x)
np.isnan(x) | np.negative(x) | np.invert(x) | np.logical_not(x) | np.round(x) | np.floor(x) | np.square(x)
np.sum(x) | np.mean(x) | np.prod(x) | np.any(x) | np.all(x) | np.max(x) | np.cumsum(x) | np.clip(x, 0, 1)
np.clip(x, 0.0, 1.0) | np.maximum(x, 0) | np.maximum(x, 0.5) | np.zeros_like(x) | np.array(x) | np.asarray(x)
np.float32(x) | np.int64(x) | np.bool_(x) | np.real(x) | np.conj(x) | np.isfinite(x) | np.full(2, x) | np.var(x)
np.reciprocal(x) | np.cbrt(x) | np.trunc(x) | np.argmax(x) | np.count_nonzero(x) | np.angle(x) | np.imag(x)
np.array([x, 1]) | np.array([x, 1.5]) | np.array([x, True]) | np.array([True, x > 0]) | np.where(x > 0, x, 0)
np.ones(2) * x | np.ones(2, np.float32) * x | np.ones(2, np.float32) + (x > 0) | np.ones(2, np.int8) * x
np.ones(2, np.int8) + (x > 0) | np.ones(2, bool) & (x > 0) | np.ones(2, bool) + (x > 0) | np.ones(2, bool) * x
np.sum(np.ones(2, bool)) | np.sum(np.ones(2, np.int8) * x) | np.cumsum(np.ones(2, np.uint8))
np.zeros((), "f4") + x
np.mean(np.ones(2, np.float32)) * x | sum(np.ones(2, np.int8)) * x | sum(np.ones(2, bool)) * x
x.astype(int) | x.astype(np.float32) | np.array(x) + 1 | np.array(x) * 1.5 | np.copy(x) | x.real | x.imag
(x > 0) + 1 | (x > 0) * 2.5 | (x > 0) - (x < 0) | (x > 0) + (x > 0) | ~(x > 0) | -(x > 0) | +(x > 0)
(not x) + 1 | (not x) * 2.5 | (not x > 0) + True | bool(x) + bool(x) | bool(x) * x | -bool(x) | ~bool(x)
int(x > 0) | float(x > 0) | abs(x > 0) | round(x > 0) | math.sqrt(x > 0) | np.sqrt(x > 0) | np.float32(x > 0) * 2
(x > 0) & True | (x > 0) & 1 | (x > 0) | (x > 0) ^ 3 | (x > 0) ^ (x < 1) | (x > 0) / 2 | (x > 0) ** 2 | (x > 0) // 1
(x > 0) == True | (x > 0) == 1 | (x > 0) < 0.5 | (x > 0) >> 1 | np.abs(x > 0) | np.exp(x > 0) | np.negative(x > 0)
(x > 0 and x < 9) + 1 | (x > 0 and x < 9) + True | (x > 0 or x < 9) * 1.5 | (0 < x < 9) + True | -(0 < x < 9)
(x in (1, 2)) + True | sum([x > 0, x > 1]) | sum([x > 0, True]) | np.sum([x > 0, x > 1]) | np.mean([x > 0, True])
any([x > 0, x > 1]) + True | all([x > 0, x > 1]) + True | (x == x) + (x != x)
"""
OF_TWO = """
x + y | x - y | x * y | x / y | x // y | x % y | x ** y | x & y | x | y | x ^ y | x << y | x >> y | x < y | x <= y
x == y | x != y | divmod(x, y)[0] | divmod(x, y)[1] | pow(x, y) | sum([x, y]) | sum((x, y), 0.5) | math.prod([x, y])
any([x, y]) | all([x, y]) | abs(x - y) | -(x > y) | (x > 1) + (y > 1) | (x > 1) * y | x * (y > 1) - (y < 1)
(x == y) & (x > y) | x @ y | math.pow(x, y) | math.hypot(x, y) | math.fmod(x, y) | math.copysign(x, y)
np.add(x, y) | np.subtract(x, y) | np.divide(x, y) | np.power(x, y) | np.maximum(x, y) | np.hypot(x, y)
np.where(c > 0, x, y) | np.array([x, y]) | np.stack([x, y]) | np.logical_and(x, y) | np.dot(x, y) | np.clip(x, 0, y)
np.arctan2(x, y) | np.linspace(x, y, 3) | np.outer(x, y) | np.equal(x, y) | np.isclose(x, y) | np.copysign(x, y)
np.full(2, x) * y | np.full(2, x) + np.full(2, y) | np.float_power(x, y) | np.sum([x, y]) | np.logaddexp(x, y)
"""
# Python hands on one of these as it is; here both have one type (docs/conventions.md).
HANDED_ON = """
x and y | x or y | max(x, y) | min(x, y) | x if c > 0 else y | y if c > 0 else x | max(x, 0.3, y) | max((x, y))
x and 1 | x or 2.5 | x and True | max(x, 0) | max(x, 0.5) | min(x, 1e300) | x if x else 1.0 | 1 if x else x
max(True, x)
"""


def expressions(text: str) -> list[str]:
    return [part.strip() for line in text.strip().splitlines() for part in _parts(line)]


def _parts(line: str) -> list[str]:
    """The expressions of a line; a bar between `x` and `y` is the operator."""
    return line.replace("x | y |", "x \0 y |").split(" | ")


def function_of(expression: str) -> Any:
    expression = expression.replace("\0", "|")
    name, source = f"<{expression}>", f"def f(x, y, c):\n    return {expression}\n"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    scope: dict[str, Any] = {"np": np, "math": math}
    exec(compile(source, name, "exec"), scope)
    return scope["f"]


def through(function: Any, *arguments: Any) -> tuple[Any, Any]:
    """What the generated form of a function gives, and what Core says of it."""
    names: list[str] = argument_names(function, len(arguments))

    def attempt(described: Any) -> Any:
        return generate(requested(function, described))

    generated = on_demand(attempt, arguments, {}, names, set(), describe(arguments, {}, names))
    result = generated.interface.result
    type = type_of(generated.function.results[result.k]) if isinstance(result, Result) else result
    run = load(generated.written.source, generated.interface.name, generated.written.namespace)
    return run(*arguments), type


def kind(value: Any) -> str:
    """``float``, ``float64``, ``float64[2]``; an array without axes counts as its number."""
    if isinstance(value, ArrayType):
        name = WEAK_NAMES[value.dtype.kind] if value.weak else f"numpy.{value.dtype}"
        return name + "".join(f"[{size}]" for size in value.sizes)
    if isinstance(value, np.ndarray | np.generic):
        return f"numpy.{value.dtype}" + "".join(f"[{size}]" for size in np.shape(value))
    return type(value).__name__


def outcome(run: Any) -> tuple[Any, Exception | None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return run(), None
    except Exception as error:
        return None, error


def equal(one: Any, other: Any) -> bool:
    return np.array_equal(np.asarray(one), np.asarray(other), equal_nan=True)


def compare(expression: str, arguments: tuple[Any, ...]) -> str | None:
    """What is wrong with an expression for these arguments."""
    function = function_of(expression)
    wanted, raised = outcome(lambda: function(*arguments))
    found, error = outcome(lambda: through(function, *arguments))
    if raised is not None:
        return None if error is not None else f"no {raised!r}, but {found!r}"
    if error is not None:
        return f"{kind(wanted)}, but {error!r}" if not _is_refusal(error) else None
    value, core = found
    if not equal(value, wanted):
        return f"{wanted!r}, but {value!r}"
    if kind(core) != kind(wanted):
        return f"a {kind(wanted)}, but {kind(core)} in Core"
    return None if _same_class(value, wanted, core) else f"a {kind(wanted)}, but a {kind(value)} when it runs"


def _same_class(value: Any, wanted: Any, core: Any) -> bool:
    """A constant of NumPy's may be printed as Python's where nothing is narrower."""
    is_known = not isinstance(core, ArrayType)
    plain = isinstance(value, float | complex | bool) and isinstance(wanted, np.ndarray | np.generic)
    return kind(value) == kind(wanted) or (is_known or plain) and np.asarray(value).dtype == np.asarray(wanted).dtype


def _is_refusal(error: Exception) -> bool:
    return isinstance(error, TransformError) and error.origin is not None


LEAST_COMPARED = 0.85  # of what Python and NumPy compute; the rest is refused


@pytest.mark.parametrize("expression", expressions(OF_ONE))
def test_one_number(expression):
    wrong = {name: compare(expression, (x, 0.0, 1.0)) for name, x in FIRST.items()}
    assert not {name: problem for name, problem in wrong.items() if problem}


@pytest.mark.parametrize("expression", expressions(OF_TWO))
def test_two_numbers(expression):
    pairs = list(product(FIRST.items(), SECOND.items()))[len(expression) % 2::2]      # half of them for each
    wrong = {(one, other): compare(expression, (x, y, 1.0)) for (one, x), (other, y) in pairs}
    assert not {names: problem for names, problem in wrong.items() if problem}


@pytest.mark.parametrize("expression", expressions(HANDED_ON))
def test_numbers_handed_on_have_one_type(expression):
    """Whichever it is: the value is that of Python in the type that Core says."""
    function = function_of(expression)
    for x, y in product(FIRST.values(), SECOND.values()):
        wanted, raised = outcome(lambda: function(x, y, 1.0))
        found, error = outcome(lambda: through(function, x, y, 1.0))
        if raised is not None or error is not None:
            assert error is None or raised is not None or isinstance(error, TransformError)
            continue
        value, core = found
        dtype = core.dtype if isinstance(core, ArrayType) else np.asarray(core).dtype
        assert equal(value, np.asarray(wanted).astype(dtype)), (x, y)
        assert np.can_cast(np.asarray(value).dtype, dtype), (x, y)
        narrow = isinstance(core, ArrayType) and not core.weak and dtype.kind in "fc" and dtype.itemsize < 8 * (
            1 + (dtype.kind == "c"))
        assert not narrow or value.dtype == dtype, (x, y)


def test_most_is_compared():
    """Few of the expressions are refused, as one of three shows."""
    counts = {"compared": 0, "refused": 0}
    for expression in expressions(OF_ONE)[::3]:
        for x in FIRST.values():
            function = function_of(expression)
            if outcome(lambda: function(x, 0.0, 1.0))[1] is None:
                error = outcome(lambda: through(function, x, 0.0, 1.0))[1]
                counts["refused" if error is not None else "compared"] += 1
    assert counts["compared"] > LEAST_COMPARED * sum(counts.values()), counts
