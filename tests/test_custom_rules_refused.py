"""Rules of users that are wrong: what is said, and where."""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from test_custom_rules import VECTOR, power

from transformer import BadArgument, NotDifferentiable, NotSupported, ShapeError, custom_jvp, custom_vjp, grad, jvp, vjp


def with_jvp(rule: Any) -> Any:
    function = custom_jvp(lambda x: 2 * x)
    function.defjvp(rule)
    return function


BAD_JVPS = {
    "no pair": (lambda p, t: p[0], BadArgument, "Return a pair"),
    "square": (lambda p, t: (2 * p[0], t[0] ** 2), NotDifferentiable, "not linear"),
    "affine": (lambda p, t: (2 * p[0], t[0] + 1), NotDifferentiable, "not linear"),
    "constant": (lambda p, t: (2 * p[0], 0 * p[0] + 1), NotDifferentiable, "not linear"),
    "sign": (lambda p, t: (2 * p[0], np.sign(t[0])), NotDifferentiable, "`sign` is not"),
    "one side": (lambda p, t: (2 * p[0], np.maximum(t[0], 0)), NotDifferentiable, "`maximum` is not"),
    "branch": (lambda p, t: (2 * p[0], t[0] if t[0] > 0 else 2 * t[0]), NotDifferentiable, "not linear"),
    "rounding": (lambda p, t: (2 * p[0], np.round(t[0])), NotDifferentiable, "`round` is not"),
    "shape of the tangent": (lambda p, t: (2 * p[0], t[0] * np.ones(2)), ShapeError, r"tangent .* has shape \(2,\)"),
    "shape of the result": (lambda p, t: (np.ones(2), t[0]), ShapeError, r"the result .* has shape \(2,\)"),
    "complex": (lambda p, t: (2 * p[0], t[0] * 1j), BadArgument, "is complex"),
    "text": (lambda p, t: (2 * p[0], "slope"), BadArgument, "expected an array or a number"),
    "structure": (lambda p, t: (2 * p[0], {"slope": t[0]}), BadArgument, "expected an array or a number"),
}


@pytest.mark.parametrize("name", BAD_JVPS)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_bad_jvp_rules_are_refused_at_their_line(name: str, mode: str) -> None:
    rule, error, words = BAD_JVPS[name]
    function = with_jvp(rule)
    with pytest.raises(error, match=words) as caught:
        grad(function)(0.5) if mode == "reverse" else jvp(function, (0.5,), (1.0,))
    line = linecache.getline(__file__, rule.__code__.co_firstlineno).strip()
    assert line in str(caught.value)


BAD_VJPS = {
    "no tuple": (lambda kept, dy: dy, BadArgument, "Return a tuple of 2"),
    "too few": (lambda kept, dy: (dy,), BadArgument, "returns a tuple of 1"),
    "shape": (lambda kept, dy: (dy, np.ones(2)), ShapeError, r"cotangent 1 .* has shape \(2,\), expected \(\)"),
    "complex": (lambda kept, dy: (dy, 1j * dy), BadArgument, "cotangent 1 .* is complex"),
    "structure": (lambda kept, dy: (dy, {"y": dy}), BadArgument, "cotangent 1 .* is a dict"),
}


@pytest.mark.parametrize("name", BAD_VJPS)
def test_bad_vjp_rules_are_refused(name: str) -> None:
    rule, error, words = BAD_VJPS[name]
    function = custom_vjp(lambda x, y: x * y)
    function.defvjp(lambda x, y: (x * y, None), rule)
    with pytest.raises(error, match=words):
        grad(function)(0.5, 2.0)


def test_a_function_without_a_rule_is_refused() -> None:
    for decorator, words in ((custom_jvp, r"\.defjvp"), (custom_vjp, r"\.defvjp\(fwd, bwd\)")):
        with pytest.raises(NotSupported, match="has no rule yet") as caught:
            grad(decorator(lambda x: x))(1.0)
        assert caught.match(words)


def test_rules_leave_arrays_alone() -> None:
    @custom_vjp
    def writes(x):
        x[0] = 1.0
        return np.sum(x)

    writes.defvjp(lambda x: (np.sum(x), None), lambda _, dy: (dy * np.ones(3),))
    with pytest.raises(NotSupported, match="writes to an argument"):
        grad(writes)(VECTOR)


def test_variables_of_the_program_in_a_rule_are_refused() -> None:
    def program(x, factor):
        @custom_jvp
        def scaled(u):
            return factor * u

        @scaled.defjvp
        def rule(primals, tangents):
            return scaled(primals[0]), factor * tangents[0]

        return scaled(x)

    with pytest.raises(NotSupported, match="a variable of the enclosing function"):
        grad(program)(2.0, 3.0)


def test_functions_for_each_argument() -> None:
    partly = custom_jvp(lambda x, y: (x * y, x + y))
    partly.defjvps(lambda t, result, x, y: (t * y, t), lambda t, result, x, y: (None, t))
    assert jvp(partly, (2.0, 3.0), (1.0, 1.0)) == ((6.0, 5.0), (3.0, 2.0))
    assert vjp(partly, 2.0, 3.0)[1]((1.0, 1.0)) == (4.0, 1.0)
    partly.defjvps(None, lambda t, result, x, y: (t * x, 0))
    assert vjp(partly, 2.0, 3.0)[1]((1.0, 1.0)) == (0.0, 2.0)
    with pytest.raises(BadArgument, match="defjvps needs at least one function"):
        partly.defjvps(None, None)
    with pytest.raises(BadArgument, match="Use defjvp"):
        power.defjvps(None, lambda t, result, x: t)
    partly.defjvps(lambda t, result, x, y: (t, t))
    with pytest.raises(BadArgument, match="defjvps got 1 functions"):
        grad(lambda x: partly(x, x)[0])(1.0)


def test_bad_declarations_of_constants() -> None:
    with pytest.raises(BadArgument, match="no argument 'z'"):
        custom_jvp(lambda x: x, nondiff_argnums="z")
    with pytest.raises(BadArgument, match="no argument 3"):
        custom_vjp(lambda x: x, nondiff_argnums=(3,))
    with pytest.raises(BadArgument, match="custom_jvp expects a function, got an int"):
        custom_jvp(3)
    with pytest.raises(NotSupported, match="by keyword only"):
        keyword = custom_jvp(lambda x, *, n=2: x)
        keyword.defjvp(lambda p, t: (p[0], t[0]))
        grad(keyword)(1.0)


@dataclass
class Held:
    item: Any


class Box:
    def __init__(self, held: Any) -> None:
        self.held = held


@pytest.mark.parametrize("of", [lambda x: Box(np.sin(x)), lambda x: (x, [Box({"y": 2 * x})]),
                                lambda x: Held(Box(x))])
def test_objects_whose_arrays_no_rule_sees_are_refused(of: Any) -> None:
    gives = custom_jvp(of)
    gives.defjvp(lambda primals, tangents: (gives(*primals), tangents[0]))
    takes = custom_vjp(lambda box, x: 2.0 * x)
    takes.defvjp(lambda box, x: (takes(box, x), None), lambda kept, dy: (None, dy))
    for function, words in ((lambda x: gives(x) and x, "returns an object of Box"),
                            (lambda x: takes(Box(x), x), "is given an object of Box")):
        with pytest.raises(NotSupported, match=words):
            grad(function)(0.5)
    known = Box(3.0)
    assert grad(lambda x: takes(known, x))(0.5) == 1.0
