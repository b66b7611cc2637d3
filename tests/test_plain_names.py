"""Names in derivatives: of what a value is, or of what it is the derivative of."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from transformer import check_grads, grad
from transformer.api import pushforward

X = np.arange(1.0, 7.0).reshape(2, 3)
V = np.array([0.5, -1.0, 2.0])


def dense(w: Any, b: Any, x: Any) -> Any:
    return np.sum(np.tanh(x @ w + b) ** 3)


def laplacian(u: Any, c: Any, steps: Any) -> Any:
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += c * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u ** 2)


def signs(a: Any, b: Any, x: Any) -> Any:
    q = -x * b
    z = 2 * x
    return np.sum(np.sin(a - q) * np.cos(3 * z))


def every_other(x: Any) -> Any:
    total = 0.0
    for i in range(len(x) - 1, -1, -2):
        total = total * x[i] + np.sin(x[i])
    return total


def midpoint(rate: Any, y: Any, h: Any, n: Any) -> Any:
    def slope(y: Any) -> Any:
        return np.array([rate[0] * y[1] * y[0], 1 - rate[1] * y[0]])

    for _ in range(n):
        y = y + h * slope(y + 0.5 * h * slope(y + 0.5 * h * y))
    return np.sum(y)


def hoisted(a: Any, b: Any, x: Any) -> Any:
    scales = (a * b, 1 - b)
    total = 0.0
    for k in range(len(x)):
        total = total + np.sin(scales[0] * x[k] + scales[1]) * scales[0]
    return total


def test_a_cotangent_is_called_after_its_primal() -> None:
    source = grad(dense, (0, 1)).source_for(X.T, np.ones(2), X)
    assert "    db = np.sum(dtotal, axis=0)\n    dw = x.T @ dtotal\n" in source
    assert "        du[1:-1] -= 2 * dtotal\n" in grad(laplacian).source_for(V, 0.2, 3)


def test_names_are_of_what_they_stand_for() -> None:
    """Where a sign or a factor moves, the value that loses it loses the name that the user gave it."""
    source = grad(signs).source_for(V, V, V)
    assert "q = x * b" not in source and "z = 6 * x" not in source
    assert " q = " not in source and " z = " not in source


def test_steps_of_a_range_come_in_front() -> None:
    assert "i = n - 1 - 2 * k" in grad(every_other).source_for(V)


def test_a_product_of_numbers_is_written_where_it_is_used() -> None:
    """Not in every iteration of a loop, though, if it is the same in all."""
    found = grad(midpoint)
    args = V[:2], V[1:], 0.1, 3
    check_grads(lambda rate: midpoint(rate, *args[1:]), args[:1], order=1)
    assert "y + 0.5 * h * " in (source := found.source_for(*args)) and "scaled = 0.5 * h" not in source
    assert grad(hoisted).source_for(1.0, 2.0, V).count(" = a * b") == 1


def test_what_calls_of_one_function_add_is_added_call_by_call() -> None:
    def rate(y: Any, k: Any) -> Any:
        r = np.exp(k[0] * y)
        return k[1] * r * (1 - r)

    def loss(k: Any, y: Any, n: Any) -> Any:
        for _ in range(n):
            half = y + 0.5 * rate(y, k)
            y = y + rate(half, k)
        return y * y

    source = grad(loss).source_for(V[:2], 0.5, 2)
    check_grads(lambda k: loss(k, 0.5, 2), (V[:2],), order=1)
    assert source.count("dk[0] += ") == source.count("dk[1] += ") == 2


class Hit(NamedTuple):
    distance: float
    normal: Any


def hit_of(x: Any, k: int) -> Hit | None:
    if x[k] < 0:
        return None
    return Hit(x[k] * 2, x * x[k])


def nearest(x: Any) -> Any:
    best = None
    for k in range(len(x)):
        hit = hit_of(x, k)
        if hit is not None and (best is None or hit.distance < best.distance):
            best = hit
    return 0.0 if best is None else best.distance * np.sum(best.normal)


def test_fields_that_are_chosen_are_called_after_the_tuple() -> None:
    """Also those that a function with several `return` gives, after the name at the call."""
    source = grad(nearest).source_for(V)
    check_grads(nearest, (V,), order=1)
    assert "hit_distance = x_k * 2\n" in source and "best_normal = hit_normal\n" in source
    assert "result" not in source and "is_bound" not in source


def kept(x: Any, a: Any) -> Any:
    if a > 0:
        y = np.sum(x[x > 0.2] ** 2) * a
    else:
        y = x[0]
    return y * y


def test_what_one_branch_keeps_is_called_what_it_is() -> None:
    source = grad(kept, (0, 1)).source_for(V, 0.5)
    check_grads(kept, (V, 0.5), order=1)
    assert "mask = x > 0.2\n" in source and "total = np.sum(x_mask ** 2)\n" in source


def halved(x: Any, n: Any) -> Any:
    if n == 0:
        return x
    return halved(x / 2, n - 1) * x


def test_tangents_of_calls_are_those_of_their_results() -> None:
    source = pushforward(halved, (0,)).source_for(1.5, 3, 1.0)
    assert "value, dvalue = halved_jvp(x / 2, n - 1, dx / 2)\n" in source and "dresult = dvalue * x" in source


def counted(x: Any) -> Any:
    total = 0.0
    for k in range(len(x)):
        total = total + 0.5 * x[0] * x[k] ** 2
    return total


def test_powers_of_two_lead_the_products_of_tangents() -> None:
    source = pushforward(counted, (0,)).source_for(V, V)
    assert "(2 *" not in source and "x_0 * dx[k] * x_k" in source


def fitted(x: Any, y: Any) -> Any:
    slope, start = np.polyfit(x, y, 1)
    return slope * start


def test_floats_are_not_made_floats() -> None:
    assert "0.0" not in grad(fitted, (0, 1)).source_for(V, V[::-1])
    np.testing.assert_array_equal(grad(fitted)(V, np.array([1, 0, 2])), grad(fitted)(V, np.array([1.0, 0.0, 2.0])))
