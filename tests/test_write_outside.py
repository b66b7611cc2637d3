"""The outside of generated source: parameters, results, constants, effects, comments, imports."""

from __future__ import annotations

import ast
import inspect
import linecache
from typing import Any, NamedTuple

import numpy as np
import pytest
from writing import (
    FLOAT,
    INT,
    VECTOR,
    Making,
    assert_right,
    body_of,
    interface,
    load,
    named,
    param,
    source_of,
    written,
)

from transformer import grad, jit
from transformer.core.errors import NotSupported, Origin
from transformer.core.grammar import Call, Const, Effect, Function, Var
from transformer.ops.value import Value, call
from transformer.read.interface import Hidden, Interface, Parameter, Result
from transformer.read.sources.source import find_source
from transformer.read.values import Hole
from transformer.write.header import Header

KINDS = inspect.Parameter


class Pair(NamedTuple):
    first: Any
    second: Any


def test_parameters_keep_kinds_and_defaults() -> None:
    names = ["a", "b", "c", "d", "e"]
    a, b, c, d, e = values = [param(name, FLOAT) for name in names]
    with Making(*values).begin() as making:
        function = making.function(a + b * c + d * e)
    kinds = [
        (a, "a", KINDS.POSITIONAL_ONLY, KINDS.empty),
        (b, "b", KINDS.POSITIONAL_OR_KEYWORD, KINDS.empty),
        (c, "c", KINDS.POSITIONAL_OR_KEYWORD, -2.0),
        (d, "d", KINDS.KEYWORD_ONLY, 3.0),
    ]
    outside = Interface("f", [Parameter(name, value.atom, kind, default) for value, name, kind, default in kinds])
    outside.parameters.insert(3, Parameter("rest", (e.atom,), KINDS.VAR_POSITIONAL))
    outside.parameters.append(Parameter("how", "sum", KINDS.KEYWORD_ONLY, "sum"))
    result = written(function, interface=outside)
    assert 'def f(a, /, b, c=-2.0, *rest, d=3.0, how="sum"):' in result.source
    assert load(result)(1.0, 2.0, 4.0, 5.0, d=0.5) == 1 + 8 + 2.5


def test_containers_are_taken_apart_and_put_together() -> None:
    w, b, x = param("w", VECTOR), param("b", FLOAT), param("x", VECTOR)
    with Making(w, b, x).begin() as making:
        function = making.function(w * x, b * 2.0)
    outside = Interface(
        "f",
        [Parameter("params", {"w": w.atom, "rest": [b.atom, None]}), Parameter("x", x.atom)],
        {"w": Result(0), "rest": [Result(1), None]},
    )
    result = written(function, interface=outside)
    assert '    w = params["w"]\n    b = params["rest"][0]\n' in result.source
    found = load(result)({"w": np.ones(2), "rest": [3.0, None]}, np.ones(2))
    np.testing.assert_array_equal(found["w"], [1, 1])
    assert found["rest"] == [6.0, None]


def test_results_of_the_users_classes() -> None:
    x = param("x", FLOAT)
    with Making(x).begin() as making:
        function = making.function(x * 2.0, x * 3.0)
    outside = interface(function, result=Pair(Result(0), (Result(1), "two")))
    result = written(function, interface=outside)
    assert load(result)(1.0) == Pair(2.0, (3.0, "two"))


def test_results_that_nobody_asks_for_are_not_computed() -> None:
    x = param("x", FLOAT)
    with Making(x).begin() as making:
        function = making.function(np.exp(x), np.sin(x))
    assert body_of(function, interface=interface(function, result=Result(1))) == "    return np.sin(x)\n"


def test_hidden_arrays_are_parameters() -> None:
    x, table = param("x", VECTOR), param("table", VECTOR)
    with Making(x, table).begin() as making:
        function = making.function(x * table)
    for default, head in ((KINDS.empty, "def f(x, table):"), (None, "def f(x=None, *, table):")):
        outside = Interface("f", [Parameter("x", x.atom, default=default)])
        outside.hidden.append(Hidden(table.atom, "table", lambda: np.ones(3)))  # type: ignore[arg-type]
        assert head in source_of(function, interface=outside)


# -- constants ----------------------------------------------------------------------------------


def numbers(**names: float) -> dict[str, Value]:
    return {name: Value(Const(number, name=name)) for name, number in names.items()}


def test_constants_keep_their_names() -> None:
    x, steps = param("x", FLOAT), numbers(dt=0.01, RATE=0.1)
    with Making(x).begin() as making:
        pi = Value(Const(np.pi, name="np.pi"))
        function = making.function(x * pi * steps["dt"] + steps["RATE"] / steps["dt"])
    assert (
        source_of(function)
        == """\
import numpy as np

RATE = 0.1


def f(x):
    dt = 0.01
    return x * np.pi * dt + RATE / dt
"""
    )
    assert_right(function, 2.0)


def test_a_name_that_also_means_something_else_is_not_used() -> None:
    x, (dt,) = param("x", FLOAT), numbers(dt=0.01).values()
    with Making(x).begin() as making:
        y = named(x * dt, "dt")
        function = making.function(y * y)
    assert body_of(function).startswith("    dt = x * 0.01\n")


def test_a_constant_keeps_its_name_beside_a_cotangent() -> None:
    t, (dt,) = param("t", FLOAT), numbers(dt=0.01).values()
    with Making(t).begin() as making:
        y = named(t * dt, "y")
        making.reverse()
        cotangent = named(y * t, "dt")
        function = making.function(y + cotangent * cotangent, cotangent)
    assert "    dt = 0.01\n    y = t * dt\n" in body_of(function)
    assert "    dt2 = y * t\n" in body_of(function)


# -- effects --------------------------------------------------------------------------------------


def emit(making: Making, kind: str, *values: Value, **attrs: Any) -> None:
    making.emit(Effect(kind, tuple(v.atom for v in values), attrs))


def test_effects() -> None:
    x = param("x", FLOAT)
    with Making(x).begin() as making:
        emit(making, "print", x, template=(("x is",), (Hole(0),)), sep=" ", end="")
        emit(making, "assert", x > 0.0, x, template=("not ", Hole(1, "r", ".3f")))
        emit(making, "warn", template=("large",), category=RuntimeWarning)
        with making.nested() as then:
            emit(making, "raise", x, exception=ValueError, template=(("bad ", Hole(0)), 3))
        from transformer.core.grammar import If

        making.emit(If((x > 9.0).atom, then, [], []))
        emit(making, "enter", context="np.errstate(divide='ignore')")
        y = named(1.0 / x, "y")
        emit(making, "exit", context="np.errstate(divide='ignore')")
        function = making.function(y)
    assert (
        source_of(function)
        == """\
import warnings

import numpy as np


def f(x):
    print("x is", x, end="")
    assert x > 0.0, f"not {x!r:.3f}"
    warnings.warn("large", RuntimeWarning)
    if x > 9.0:
        raise ValueError(f"bad {x}", 3)
    with np.errstate(divide="ignore"):
        y = 1.0 / x
    return y
"""
    )


def test_values_stay_on_their_side_of_effects() -> None:
    x = param("x", FLOAT)
    with Making(x).begin() as making:
        y = np.exp(x)
        emit(making, "print", x, template=((Hole(0),),), sep=" ", end="\n")
        function = making.function(y * 2.0)
    assert body_of(function) == "    e = np.exp(x)\n    print(x)\n    return e * 2.0\n"


# -- comments and places ------------------------------------------------------------------------


TEXT = """\
def model(x):
    # first, scale
    y = x * 2.0  # twice
    # then square
    z = y * y
    return z
"""


def model() -> Any:
    linecache.cache["<model>"] = len(TEXT), None, TEXT.splitlines(True), "<model>"
    names: dict[str, Any] = {}
    exec(compile(TEXT, "<model>", "exec"), names)
    return find_source(names["model"])


def commented() -> tuple[Function, Interface]:
    x = param("x", FLOAT)
    with Making(x).begin() as making:
        with making.at(Origin("<model>", 3)):
            y = named(x * 2.0, "y")
        with making.at(Origin("<model>", 5)):
            z = named(y * y, "z")
        making.reverse()
        with making.at(Origin("<model>", 3)):
            function = making.function(z, named(y * 4.0, "dx"))
    return function, interface(function, source=model())


def test_the_users_comments_stay_in_the_forward_sweep() -> None:
    function, outside = commented()
    assert (
        body_of(function, interface=outside)
        == """\
    # first, scale
    y = x * 2.0  # twice
    # then square
    z = y * y
    # reverse
    dx = y * 4.0
    return z, dx
"""
    )


def test_lines_know_where_they_come_from() -> None:
    function, outside = commented()
    result = written(function, interface=outside)
    lines = result.source.splitlines()
    places = {lines[k - 1].strip(): origin.line for k, origin in result.line_origins.items()}
    assert places["y = x * 2.0  # twice"] == 3 and places["z = y * y"] == 5 and places["dx = y * 4.0"] == 3


def test_types_of_parameters_as_comments() -> None:
    w, b, x = param("w", VECTOR), param("b", FLOAT), param("x", VECTOR)
    with Making(w, b, x).begin() as making:
        function = making.function(w * x + b)
    assert "    # w, x: f64[n]\n    # b: float\n" in source_of(function, annotate=True)


def test_a_header_says_where_a_file_came_from() -> None:
    function, _ = commented()
    header = Header("model", "/somewhere/model.py", 1, "gradient with respect to x", {"transformer": "0.1"})
    source = source_of(function, header=header)
    assert source.startswith('"""Gradient with respect to x of `model` (model.py, line 1).\n\n')
    assert "transformer 0.1" in source
    ast.parse(source)


# -- functions that are called ----------------------------------------------------------------------


def test_functions_that_are_called_stand_above() -> None:
    y = param("y", VECTOR)
    with Making(y).begin() as making:
        squares = Function("squares", making.params, making.block, [(y * y).atom, np.sum(y).atom])  # type: ignore[list-item]
    x = param("x", VECTOR)
    with Making(x).begin() as making:
        first, second = Var(VECTOR, "first"), Var(np.sum(x).type)
        making.block.clear()
        making.emit(Call((first, second), squares, (x.atom,)))
        function = making.function(Value(first) * 2.0, second)
    source = assert_right(function, np.arange(3.0))
    assert "def squares(y):\n    return y * y, np.sum(y)\n\n\ndef f(x):\n" in source
    assert "    first, result = squares(x)\n" in source or "    first, value = squares(x)\n" in source


def test_scipy_is_imported_where_it_is_used() -> None:
    from scipy.special import erf

    x = param("x", VECTOR)
    with Making(x).begin() as making:
        function = making.function(call(erf, (x,), {}))
    assert source_of(function).startswith("import scipy.special\n\n\ndef f(x):\n    return scipy.special.erf(x)")
    assert_right(function, np.ones(2))


def test_lists_of_rows_have_no_arithmetic() -> None:
    from transformer.core.grammar import Let, Loop, Record
    from transformer.core.types import SeqType
    from transformer.ops.arithmetic import Add

    n = param("n", INT)
    with Making(n).begin() as making:
        position = Var(INT, "k")
        with making.nested() as body:
            row = call(np.zeros, (Value(position),), {})
        record = Record(Var(SeqType(row.type)), row.atom)
        making.emit(Loop(position, n.atom, [], body, records=[record]))
        making.emit(Let((Var(record.target.type),), Add, (record.target, record.target)))
        function = making.function(making.block[-1].targets[0])  # type: ignore[union-attr]
    with pytest.raises(NotSupported, match="add of values recorded by a loop is"):
        source_of(function)


def test_what_a_parameter_hides_has_another_name_where_it_is_needed() -> None:
    def nested(x, range, max):
        total = 0.0
        for v in x:
            total = total * v + range * max
        return total

    x = np.array([1.0, 5.0, 2.0])
    source = grad(nested).source_for(x, 0.5, 2.0)
    assert source.startswith("import numpy as np\n\nrange2 = range\n\n\ndef nested_grad(x, range, max):\n"), source
    assert "given_" not in source
    np.testing.assert_allclose(grad(nested)(x, range=0.5, max=2.0), [0.0, 2.0, 6.0])


@pytest.mark.parametrize("name", ["np", "range"])
def test_a_compiled_function_may_be_called_like_what_the_module_needs(name: str) -> None:
    function = locals_of(f"def {name}(x):\n    return x.sum()\n")[name]
    assert jit(function)(np.ones(3)) == 3.0


def locals_of(text: str) -> dict[str, Any]:
    """What a module with this text defines."""
    file, names = f"<{text.split('(')[0]}>", {}
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    exec(compile(text, file, "exec"), names)
    return names


def test_items_are_called_what_the_program_calls_them() -> None:
    def forecast(layers: Any, x: Any) -> Any:
        for w, b in layers:
            x = np.tanh(w * x + b)
        return x

    def of_pair(state: Any, pair: Any) -> Any:
        position, (mass, *_) = state
        return position * mass * np.median(pair[0])

    source = grad(forecast).source_for([(0.5, 0.1), (0.2, 0.3)], 1.0)
    assert "(w, b), (w2, b2) = layers" in source and "return [(dw, db), (dw2, db2)]" in source
    pair = np.ones(3), np.ones(3)
    source = grad(of_pair).source_for((1.0, (2.0, 3.0, 4.0)), pair)
    assert "mass = state[1][0]" in source and "pair_0 = pair[0]" in source
    assert "return dposition, (dmass, 0.0, 0.0)" in source
