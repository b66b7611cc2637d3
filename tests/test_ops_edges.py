"""Elementwise ops at the edges of their domains, by what a person knows to be right; calls that
mean more or other than one op; what the rules of scalars print.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import pytest
from op_cases import evaluate, sample, statements, type_of_value

from transformer.core.builder import Builder
from transformer.core.errors import TransformError
from transformer.core.grammar import Const, Function, Var
from transformer.core.types import FLOAT, INT, ArrayType
from transformer.ops.table import lookup, ops
from transformer.ops.value import Value, call
from transformer.transform.forward import jvp
from transformer.transform.reverse.reverse import reverse


def slope(function: Any, *values: Any) -> list[float]:
    """The partial derivatives of a function of numbers, in reverse mode; ints are constants."""
    atoms = [Const(x) if isinstance(x, int) else Var(type_of_value(x)) for x in values]
    builder = Builder()
    with builder.active(), builder.nested() as body:
        y = function(*map(Value, atoms))
    params = [atom for atom in atoms if isinstance(atom, Var)]
    seed = Var(y.type)
    made = reverse(Function("f", params, body, [y.atom]), [True] * len(params), [seed], builder)
    made.params = [*params, seed]
    given = [x for x in values if not isinstance(x, int)]
    return [float(d) for d in evaluate(made, [*given, 1.0])[1:]]


F = np.float64
EDGES = [
    (operator.pow, (F(0.0), F(2.0)), [0.0, 0.0]),
    (operator.pow, (F(0.0), F(1.0)), [1.0, 0.0]),
    (operator.pow, (F(0.0), F(0.0)), [0.0, 0.0]),
    (operator.pow, (F(0.0), 2), [0.0]),
    (operator.pow, (F(0.0), 1), [1.0]),
    (operator.pow, (F(0.0), 0), [0.0]),
    (operator.pow, (F(0.0), 3), [0.0]),
    (operator.pow, (F(-2.0), 3), [12.0]),
    (operator.pow, (F(2.0), -1), [-0.25]),
    (operator.pow, (0.0, 2.0), [0.0, 0.0]),
    (operator.pow, (2, F(3.0)), [8 * math.log(2)]),
    (operator.pow, (0, F(3.0)), [0.0]),
    (abs, (F(0.0),), [0.0]),
    (abs, (0.0,), [0.0]),
    (np.abs, (F(-2.0),), [-1.0]),
    (np.maximum, (F(1.0), F(1.0)), [0.5, 0.5]),
    (np.minimum, (F(1.0), F(1.0)), [0.5, 0.5]),
    (np.fmax, (F(1.0), F(1.0)), [0.5, 0.5]),
    (np.fmin, (F(1.0), F(1.0)), [0.5, 0.5]),
    (np.fmax, (F(np.nan), F(1.0)), [0.0, 1.0]),
    (np.fmin, (F(1.0), F(np.nan)), [1.0, 0.0]),
    (np.maximum, (F(-np.inf), F(1.0)), [0.0, 1.0]),
    (np.clip, (F(0.0), F(0.0), F(1.0)), [0.5, 0.5, 0.0]),
    (np.clip, (F(2.0), F(0.0), F(1.0)), [0.0, 0.0, 1.0]),
    (np.clip, (F(0.5), F(2.0), F(1.0)), [0.0, 0.0, 1.0]),
    (lambda x, high: np.clip(x, None, high), (F(1.0), F(1.0)), [0.5, 0.5]),
    (lambda x: np.sqrt(np.maximum(x, 0)), (F(-1.0),), [0.0]),
    (np.sinc, (F(0.0),), [0.0]),
    (np.heaviside, (F(0.0), F(0.5)), [0.0, 1.0]),
    (np.copysign, (F(-2.0), F(3.0)), [-1.0, 0.0]),
    (np.logaddexp, (F(-np.inf), F(1.0)), [0.0, 1.0]),
    (np.logaddexp, (F(-np.inf), F(-np.inf)), [0.0, 0.0]),
    (np.logaddexp2, (F(-np.inf), F(-np.inf)), [0.0, 0.0]),
    (np.nan_to_num, (F(np.nan),), [0.0]),
    (math.sqrt, (4.0,), [0.25]),
    (lambda x: call(math.log, (x, 2), {}), (3.0,), [1 / (3 * math.log(2))]),
]


def applied(function: Any) -> Any:
    """A function on `Value`s: an op goes through its own door."""
    return (lambda *xs: call(function, xs, {})) if lookup(function) else function


@pytest.mark.parametrize("function, values, wanted", EDGES)
def test_edges(function: Any, values: Any, wanted: list[float]) -> None:
    np.testing.assert_allclose(slope(applied(function), *values), wanted, atol=1e-15)


def test_xlogy_is_flat_in_its_second_operand_where_the_first_is_zero() -> None:
    special = pytest.importorskip("scipy.special")
    assert slope(lambda x, y: call(special.xlogy, (x, y), {}), F(0.0), F(0.0))[1] == 0
    assert slope(lambda x, y: call(special.rel_entr, (x, y), {}), F(0.0), F(0.0))[1] == 0


def test_sinc_has_its_second_derivative_at_zero() -> None:
    made = sample(ops()["sinc"], ((F(0.0),), {}))
    once = jvp(made.function, [True], made.builder)
    twice = jvp(once, [True, False], made.builder)
    np.testing.assert_allclose(evaluate(twice, [F(0.0), F(1.0), F(1.0)])[-1], -math.pi ** 2 / 3)


def test_the_order_of_a_bessel_function_has_no_derivative() -> None:
    special = pytest.importorskip("scipy.special")
    with pytest.raises(TransformError, match="order"):
        slope(lambda v, z: call(special.iv, (v, z), {}), F(1.5), F(2.0))


def printed(function: Any, *types: ArrayType) -> list[str]:
    """The ops that a rule emits."""
    builder = Builder()
    with builder.active(), builder.nested() as body:
        function(*(Value(Var(type)) for type in types))
    lets = statements(body)
    return [stmt.attrs.get("spelling") or stmt.op.symbol or stmt.op.name for stmt in lets]


def test_math_refuses_arrays_and_complex_numbers() -> None:
    with pytest.raises(TransformError, match="math.sin accepts numbers"):
        printed(lambda x: call(math.sin, (x,), {}), ArrayType(np.dtype("f8"), (3,)))
    with pytest.raises(TransformError, match="math.sin accepts real"):
        printed(lambda x: call(math.sin, (x,), {}), ArrayType(np.dtype("c16")))


def test_clip_with_one_bound_and_select_are_other_ops() -> None:
    x = ArrayType(np.dtype("f8"), (3,))
    assert printed(lambda x: np.clip(x, 0, None), x) == ["np.maximum"]
    assert printed(lambda x: np.clip(x, max=1), x) == ["np.minimum"]
    assert printed(lambda x: x.clip(0, 1), x) == ["np.clip"]
    assert printed(lambda x: np.select([x > 0, x < -1], [x, -x]), x) \
        == [">", "<", "-", "np.select", "np.select"]


def test_python_makes_a_float_of_an_int_to_a_negative_power() -> None:
    with Builder().active():
        assert (Value(Var(INT)) ** -1).type == FLOAT
        assert (Value(Var(INT)) ** 2).type == INT


def test_conversions() -> None:
    x = Value(Var(ArrayType(np.dtype("f8"))))
    with Builder().active():
        for function in (float, bool, int):
            assert call(function, (x,), {}).type == type_of_value(function(1))
        assert x.astype(float).type == x.type and x.astype(np.float32).dtype == np.float32
        assert x.astype(float, copy=False) is x
        assert call(np.float32, (2.0,), {}).type == ArrayType(np.dtype("f4"))
        assert call(math.floor, (x,), {}).type == call(round, (x,), {}).type == type_of_value(1)
        assert call(round, (x, 2), {}).type == x.type
