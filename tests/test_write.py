"""What Core looks like as source: the examples of the design, expressions, loops, names."""

from __future__ import annotations

import numpy as np
import pytest
from writing import (
    FLOAT,
    INT,
    MATRIX,
    VECTOR,
    Making,
    assert_right,
    body_of,
    named,
    param,
    source_of,
)

from transformer.core.errors import Origin
from transformer.core.grammar import Const, Effect, Function, Read, Record, Var
from transformer.core.types import ArrayType, SeqType
from transformer.ops import indexing
from transformer.ops.value import Value, call


def loss() -> Function:
    w, b = param("w", VECTOR.with_sizes(MATRIX.sizes[1:])), param("b", VECTOR.with_sizes(MATRIX.sizes[1:]))
    x, y = param("x", MATRIX), param("y", MATRIX)
    with Making(w, b, x, y).begin() as making:
        t = named(x * w + b, "t")
        p = named(np.tanh(t), "p")
        making.reverse()
        dt = named(2 * (p - y) * (1 - p * p), "dt")
        return making.function(named(np.sum(dt * x, axis=0), "dw"), named(np.sum(dt, axis=0), "db"))


def test_gradient_of_a_regression() -> None:
    assert (
        body_of(loss())
        == """\
    t = x * w + b
    p = np.tanh(t)
    # reverse
    dt = 2 * (p - y) * (1 - p * p)
    dw = np.sum(dt * x, axis=0)
    db = np.sum(dt, axis=0)
    return dw, db
"""
    )
    rng = np.random.default_rng(0)
    assert_right(loss(), rng.random(3), rng.random(3), rng.random((2, 3)), rng.random((2, 3)))


def heat() -> Function:
    u0, c, n, target = param("u0", VECTOR), param("c", FLOAT), param("n", INT), param("target", VECTOR)
    with Making(u0, c, n, target).begin() as making:
        u = named(u0.copy(), "u")
        record = Record(Var(SeqType(VECTOR), "u_k"), Var(VECTOR))
        origin = Origin("heat.py", 3)

        def step(u: Value, k: Value) -> tuple[Value]:
            record.value = u.atom
            return (named(indexing.add_at(u, c * (u[2:] - 2 * u[1:-1] + u[:-2]), slice(1, -1)), "u"),)

        (u,) = making.loop(n.atom, {"u": u}, step, records=[record], position=Var(INT, "k"), origin=origin)
        making.reverse()
        du = named(2 * (u - target), "du")
        v = Value(Var(VECTOR, "v"))

        def back(du: Value, dc: Value, k: Value) -> tuple[Value, Value]:
            dt = named(du[1:-1], "dt")
            dc = dc + np.sum(dt * (v[2:] - 2 * v[1:-1] + v[:-2]))
            du = indexing.add_at(du, c * dt, slice(2, None))
            du = indexing.add_at(du, -(2 * c * dt), slice(1, -1))
            return indexing.add_at(du, c * dt, slice(None, -2)), dc

        making.emit(Effect("comment", (), {"reverse of": origin}))
        du, dc = making.loop(
            n.atom,
            {"du": du, "dc": Const(0.0)},
            back,
            down=True,
            origin=origin,
            reads=[Read(v.atom, record.target)],
            position=Var(INT, "k"),
        )  # type: ignore[arg-type]
        return making.function(du, dc)


def test_gradient_of_a_stencil() -> None:
    assert (
        body_of(heat())
        == """\
    u = u0.copy()
    u_k = np.empty((n,) + u0.shape)
    for k in range(n):
        u_k[k] = u
        u[1:-1] += c * (u[2:] - 2 * u[1:-1] + u[:-2])
    # reverse
    du = 2 * (u - target)
    dc = 0.0
    # reverse of line 3
    for k in range(n - 1, -1, -1):
        v = u_k[k]
        dt = du[1:-1].copy()
        dc += np.sum(dt * (v[2:] - 2 * v[1:-1] + v[:-2]))
        du[2:] += c * dt
        du[1:-1] -= 2 * c * dt
        du[:-2] += c * dt
    return du, dc
"""
    )
    rng = np.random.default_rng(0)
    assert_right(heat(), rng.random(6), 0.3, 3, rng.random(6))


def newton() -> Function:
    a, x0 = param("a", FLOAT), param("x0", FLOAT)
    with Making(a, x0).begin() as making:
        record = Record(Var(SeqType(FLOAT), "x_k"), Var(FLOAT))
        count = Var(INT, "n")

        def step(x: Value, k: Value) -> tuple[Value]:
            record.value = x.atom
            return (named(x - (x**3 - a) / (3 * x * x), "x"),)

        making.loop(None, {"x": x0}, step, records=[record], count=count, test=lambda x: abs(x**3 - a) > 1e-10)
        making.reverse()
        x = Value(Var(FLOAT, "x"))

        def back(dx: Value, da: Value, k: Value) -> tuple[Value, Value]:
            s = named(3 * x * x, "s")
            q = named((x**3 - a) / s, "q")
            dr = named(-dx / s, "dr")
            return dx + (dr * 3 * x * x + dx * q / s * 6 * x), da - dr

        dx, da = making.loop(
            count,
            {"dx": Const(1.0), "da": Const(0.0)},
            back,
            down=True,
            reads=[Read(x.atom, record.target)],
            position=Var(INT, "k"),
        )  # type: ignore[arg-type]
        return making.function(da, dx)


def test_gradient_of_newton_iterations() -> None:
    assert (
        body_of(newton())
        == """\
    x = x0
    x_k = np.empty(16)
    n = 0
    while abs(x ** 3 - a) > 1e-10:
        if n == len(x_k):
            x_k = grow(x_k)
        x_k[n] = x
        x -= (x ** 3 - a) / (3 * x * x)
        n += 1
    # reverse
    dx = 1.0
    da = 0.0
    for k in range(n - 1, -1, -1):
        x = x_k[k]
        s = 3 * x * x
        dr = -dx / s
        dx += dr * 3 * x * x + dx * ((x ** 3 - a) / s) / s * 6 * x
        da -= dr
    return da, dx
"""
    )
    assert "def grow(rows" in source_of(newton())
    assert_right(newton(), 3.0, 2.0)
    assert_right(newton(), 3.0, 1e9)  # more steps than the storage has at first


# -- expressions --------------------------------------------------------------------------------


EXPRESSIONS = [
    (lambda x, y: x - (y - x), "x - (y - x)"),
    (lambda x, y: (x - y) * -x, "(x - y) * -x"),
    (lambda x, y: -(x * y), "-x * y"),
    (lambda x, y: x + -(y * x), "x - y * x"),
    (lambda x, y: (x / y) / x, "x / y / x"),
    (lambda x, y: x / (y / x), "x / (y / x)"),
    (lambda x, y: (-x) ** 2, "(-x) ** 2"),
    (lambda x, y: -(x**2), "-x ** 2"),
    (lambda x, y: (x**y) ** x, "(x ** y) ** x"),
    (lambda x, y: 2.0**-x, "2.0 ** -x"),
    (lambda x, y: (x < y) & (y < 1e-10), "(x < y) & (y < 1e-10)"),
    (lambda x, y: ~(x < y), "~(x < y)"),
    (lambda x, y: np.sum(x * y), "np.sum(x * y)"),
    (lambda x, y: np.max(x, keepdims=True), "np.max(x, keepdims=True)"),
    (lambda x, y: np.where(x > 0, y, 0.0), "np.where(x > 0, y, 0.0)"),
    (lambda x, y: x[1:-1], "x[1:-1]"),
    (lambda x, y: (x + y)[::2], "(x + y)[::2]"),
    (lambda x, y: x[:, None], "x[:, None]"),
    (lambda x, y: np.expand_dims(x, 0) @ y[:, None], "x[None, :] @ y[:, None]"),
    (lambda x, y: np.outer(x, y).T, "np.outer(x, y).T"),
    (lambda x, y: x.astype(np.float32), "x.astype(np.float32)"),
    (lambda x, y: np.concatenate([x, y]), "np.concatenate([x, y])"),
    (lambda x, y: call(np.array, ([[1, 2], [3, 4]],), {}), "np.array([[1, 2], [3, 4]])"),
    (lambda x, y: call(np.zeros, (4,), {}) + x, "np.zeros(4) + x"),
    (lambda x, y: call(np.arange, (1, 5), {}) * x, "np.arange(1, 5) * x"),
    (lambda x, y: np.sin(np.reshape(x, (2, -1))), "np.sin(x.reshape(2, 2))"),
    (lambda x, y: np.reshape(x * y, (2, 2)), "np.reshape(x * y, (2, 2))"),
    (lambda x, y: np.einsum("i,j->ij", x, y), 'np.einsum("i,j->ij", x, y)'),
    (lambda x, y: np.linalg.norm(x) * float("-inf"), "np.linalg.norm(x) * -np.inf"),
]


@pytest.mark.parametrize("make, text", EXPRESSIONS, ids=lambda part: part if isinstance(part, str) else "")
def test_expressions(make, text) -> None:
    def plain(name: str) -> Value:
        return param(name, ArrayType(np.dtype(float), (4,)))

    x, y = plain("x"), plain("y")
    with Making(x, y).begin() as making:
        value = make(x, y)
        function = making.function(value)
    if text.startswith("x["):
        text = text if "@" in text else f"{text}.copy()"  # a result is no view of a parameter
    assert body_of(function) == f"    return {text}\n"
    with np.errstate(all="ignore"):
        assert_right(function, np.array([0.5, 1.0, 2.0, 3.0]), np.array([2.0, 0.5, -1.0, 1.0]))


def test_numbers_keep_their_dtype() -> None:
    x = param("x", ArrayType(np.dtype(np.float32), (3,)))
    with Making(x).begin() as making:
        y = x * Value(Const(np.float64(0.1))) + Value(Const(np.float32(2))) * Value(Const(3.0))
        function = making.function(x * 0.1, y)
    assert "np.float64(0.1)" in source_of(function)
    assert "x * 0.1" in source_of(function)


def test_python_numbers_stay_python_numbers() -> None:
    a = param("a", FLOAT)
    with Making(a).begin() as making:
        assert (
            body_of(
                making.function(
                    np.exp(a),
                )
            )
            == "    return np.exp(a)\n"
        )
    with Making(a).begin() as making:
        from transformer.ops.elementary import Exp

        assert body_of(making.function(Exp.applied(a))) == "    return math.exp(a)\n"


def test_long_lines_are_broken_in_brackets() -> None:
    names = [f"quantity_{k}" for k in range(14)]
    params = [param(name, VECTOR) for name in names]
    with Making(*params).begin() as making:
        total = params[0]
        for value in params[1:]:
            total = total + value
        source = assert_right(making.function(named(total, "total"), *params[:3]), *[np.ones(2)] * 14)
    assert max(map(len, source.splitlines())) <= 88
    assert "def f(quantity_0, quantity_1," in source


# -- names --------------------------------------------------------------------------------------


def test_a_name_is_bound_anew_when_its_value_is_not_needed() -> None:
    x = param("x", VECTOR)
    with Making(x).begin() as making:
        y = named(np.sin(x), "y")
        y = named(y * y, "y")
        assert body_of(making.function(y)) == "    y = np.sin(x)\n    y = y * y\n    return y\n"


def test_two_living_values_of_one_name() -> None:
    x = param("x", VECTOR)
    with Making(x).begin() as making:
        y = named(np.sin(x), "y")
        z = named(y * y, "y")
        source = body_of(making.function(named(y + z, "z"), y))
    assert source == "    y = np.sin(x)\n    y2 = y * y\n    z = y + y2\n    return z, y\n"


def test_names_of_functions_are_not_hidden() -> None:
    x = param("x", VECTOR)
    with Making(x).begin() as making:
        y = named(np.sin(x), "np")
        source = assert_right(making.function(np.cos(y), y), np.ones(3))
    assert "np2 = np.sin(x)" in source


def test_output_is_deterministic() -> None:
    assert len({source_of(make()) for make in (heat, heat, heat)}) == 1


# -- sizes --------------------------------------------------------------------------------------


def test_sizes_used_often_get_names() -> None:
    x = param("x", MATRIX)
    with Making(x).begin() as making:
        n, m = x.shape
        function = making.function(np.sum(x) / n + m * (n + 1), x * (m - 1))
    assert body_of(function).startswith("    n, m = x.shape\n    return np.sum(x) / n + m * (n + 1), ")
    assert_right(function, np.ones((2, 3)))


def test_number_of_elements_is_that_of_a_parameter() -> None:
    x = param("x", MATRIX)
    with Making(x).begin() as making:
        function = making.function(np.sum(x) / (x.shape[1] * x.shape[0]))
    assert body_of(function) == "    return np.sum(x) / x.size\n"
    assert_right(function, np.ones((2, 3)))


def test_sizes_used_once_are_written_where_they_are_used() -> None:
    x = param("x", VECTOR)
    with Making(x).begin() as making:
        assert body_of(making.function(np.sum(x) / x.shape[0])) == "    return np.sum(x) / len(x)\n"


def test_shapes_of_parameters_are_used_as_a_whole() -> None:
    x = param("x", MATRIX)
    with Making(x).begin() as making:
        zeros = indexing.zeros_like(x)
        function = making.function(indexing.add_at(zeros, 1.0, (slice(None), 0)))
    assert body_of(function).startswith("    zeros = np.zeros_like(x)\n    zeros[:, 0] += 1.0\n")
