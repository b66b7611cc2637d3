"""Lines of derivatives that a person would write so, each by one general rewrite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from corpus.lanes import particles

from transformer import NotDifferentiable, check_grads, grad, jvp, vjp, vmap
from transformer.ops.registry import definition_of

X = np.arange(1.0, 7.0).reshape(2, 3)
V = np.array([0.5, -1.0, 2.0])


def new_axis(x: Any) -> Any:
    return np.sum(np.exp(x[:, None] - x[None, :]))


def outer_number(x: Any, c: Any) -> Any:
    lengths = np.sqrt(np.sum(x ** 2, axis=1, keepdims=True))
    return np.sum(c * lengths)


def length(x: Any) -> Any:
    return np.sum(np.sqrt(np.sum(x ** 2, axis=1)))


def likelihood(s: Any, e: Any) -> Any:
    return -0.5 * (np.sin(s) + e ** 2 / s)


def layers(params: Any, x: Any) -> Any:
    for layer in params:
        x = np.tanh(x * layer["w"])
    return np.sum(x)


def polynomial(c: Any) -> Any:
    return sum((sum(ck * s ** k for k, ck in enumerate(c)) - v) ** 2 for s, v in [(0.1, 1.5), (0.5, 2.5)])


def not_equal(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            if i == j:
                continue
            total += x[i] * x[j] ** 2
    return total


def doubling(x: Any, limit: Any) -> Any:
    total, step = 0.0, 0.5
    while total < limit:
        total, step = total + np.sin(step * x) * total ** 2 + 0.3, step * 1.5 * x
    return total


def with_kind(p: Any) -> Any:
    return np.sum(p["w"]) if p["kind"] == "sum" else 0.0


def viterbi(score: Any, trans: Any) -> Any:
    for _ in range(3):
        score = np.max(score[:, None] + trans, axis=0)
    return np.sum(score)


def normal(x: Any) -> Any:
    return -0.5 * x @ x


def spins(s: Any, h: Any) -> Any:
    energy = 0.0
    for i in range(len(s)):
        energy -= s[i] * s[(i + 1) % len(s)] + h * s[i]
    return energy


def half_squares(w: Any, x: Any) -> Any:
    r = x @ w - 1.0
    return 0.5 * r @ r / len(x)


def eliminated(a: Any) -> Any:
    a = a.copy()
    for k in range(len(a)):
        for i in range(k + 1, len(a)):
            a[i, k] /= a[k, k]
            a[i, k + 1:] -= a[i, k] * a[k, k + 1:]
    return np.sum(a)


def divergence(q: Any, p: Any) -> Any:
    return np.sum(p * np.log(p / q))


def softest(x: Any) -> Any:
    gamma = 0.3
    return -gamma * np.log(np.sum(np.exp(-x / gamma)))


def only_item(x: Any) -> Any:
    return (x[:1, None] @ np.exp(x[None, :1]))[0, 0] ** 2


def evidence(mu: Any, log_variance: Any) -> Any:
    return np.mean(-0.5 * np.sum(1 + log_variance - mu ** 2 - np.exp(log_variance), axis=1))


def pooled(x: Any) -> Any:
    return np.sum(np.reshape(x, (2, 2, 2)).mean(axis=(0, 2)) ** 2)


def distances(x: Any, y: Any) -> Any:
    near = np.sum((x[:, None, :] - y[None]) ** 2, axis=2)
    return np.sum(np.exp(-near) * np.sum(np.sin(x[:, None, :] * y[None]), axis=2))


def turned_twice(a: Any, x: Any) -> Any:
    b = a.T
    return np.sum(np.sin(b @ x)) - np.sum(np.cos(b @ x ** 2))


def soft_maximum(x: Any) -> Any:
    return np.sum(np.logaddexp.reduce(x, axis=1) ** 2)


def bond(x: Any, c: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            total += c * x[i] / np.sqrt((x[i] - x[j]) ** 2 + 0.01)
    return total


def gated(w: Any, x: Any) -> Any:
    h = np.zeros(len(w))
    for row in x:
        z = 1 / (1 + np.exp(-(row * w)))
        h = z * np.sin(h)
    return np.sum(h)


def directed(x: Any, p: Any) -> Any:
    lengths = np.linalg.norm(x, axis=1, keepdims=True)
    q = x / lengths
    p = p / np.linalg.norm(p)
    return np.sum(np.sin(q @ p))


def midpoint(y: Any) -> Any:
    def rates(y: Any) -> Any:
        prey, hunters, _ = y
        return np.array([-prey * hunters, prey * hunters, hunters])

    for _ in range(2):
        y = y + 0.1 * rates(y + 0.05 * rates(y))
    return np.sum(np.cos(y))


def disorder(x: Any) -> Any:
    p = x / np.sum(x)
    return np.sum(p * np.log(p)) - 0.5 * np.sum(np.sin(p[1:] * p[:-1]))


def carried_over(x: Any, r: Any) -> Any:
    for k in range(3):
        x = x + x * np.sin(r * k)
    return np.sum(x ** 2)


def filtered(x: Any) -> Any:
    spectrum = np.fft.rfft(x, axis=1)
    k = np.arange(spectrum.shape[1])
    return np.sum(np.fft.irfft(spectrum * np.exp(-0.1 * k ** 2), n=x.shape[1], axis=1) ** 3)


def turning(w: Any) -> Any:
    k = np.sin(w)
    K = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
    return np.sum(K @ K @ K)


def attracted(r: Any) -> Any:
    return np.sum(np.sin(-r / np.linalg.norm(r) ** 3))


def weighed(x: Any) -> Any:
    total = np.sum(x ** 2, axis=0)
    return np.sum(np.log(total / len(x)))


def gates(f: Any, i: Any) -> Any:
    return np.sum(1 / (1 + np.exp(-f)) * (1 / (1 + np.exp(-i))))


def moving_mean(w: Any, x: Any) -> Any:
    n, m = x.shape
    k = len(w)
    out = np.zeros((n - k + 1, m - k + 1))
    for i in range(k):
        out += w[i] * x[i:i + n - k + 1, i:i + m - k + 1]
    return np.mean(out ** 2)


def orbits(x: Any) -> Any:
    x = x.reshape(-1, 3)
    for _ in range(2):
        force = np.zeros_like(x)
        for i in range(len(x)):
            for j in range(i):
                d = x[i] - x[j]
                force[i] -= d / (d @ d + 0.01) ** 1.5
        x = x + 0.1 * force
    return np.sum(x ** 2)


def shared_out(e: Any, t: Any) -> Any:
    return np.sum(e / t)


def copied_twice(x: Any) -> Any:
    first, second = np.copy(x), np.copy(x)
    return np.sum(first * np.sin(second))


CASES = [
    (shared_out, (V, 2.0), ["dt = -np.sum(e) / t / t\n"], []),
    (copied_twice, (V,), ["first = x.copy()\n"], ["second"]),
    (orbits, (np.arange(12.0),), ["x_k[k] = x\n"], ["total_k"]),
    (gates, (V, V), ["di = scaled * (1 - ratio_i)\n", "df = scaled * (1 - ratio_f)\n"], ["2"]),
    (gated, (V, X), ["* z * (1 - z)\n", "z = 1 / (1 + np.exp(-row * w))\n"], ["total"]),
    (directed, (X, V), ["keepdims=True) * q) / lengths", "(dp - np.sum(dp * p) * p) / norm\n"], ["np.inf"]),
    (midpoint, (V,), ["ditems_0, ditems_1 = ditems[:2]\n", ", dhunters, 0.0])\n"], ["zeros"]),
    (disorder, (X,), ["dp = np.log(p)\n", "dp += 1\n"], ["p / p"]),
    (carried_over, (X, X), ["dx *= 1 + np.sin(scaled)\n"], []),
    (filtered, (X,), ["dx = np.fft.irfft(rfft * e, n=n, norm=\"forward\")\n"], ["conj", "steps"]),
    (turning, (V,), ["k_0, k_1, k_2 = k[:3]\n"], ["= k[0]"]),
    (attracted, (V,), ["/ norm ** 2) - cos_ratio / power\n"], ["np.inf"]),
    (weighed, (X,), ["dx = 2 / total * x\n"], ["shape"]),
    (moving_mean, (V, np.ones((5, 6))), ["2.0 / ((n - k + 1) * (m - k + 1))", "i:end"], ["k * k"]),
    (viterbi, (V, np.outer(V, V)), ["score_k[k] = score\n", "score_k[k][:, None] + trans"], ["part_k"]),
    (normal, (V,), ["dx = -x\n"], ["0.5"]),
    (spins, (V, 2.0), ["ds[i] -= h + s[rest]\n"], ["1.0", "-h"]),
    (half_squares, (V, X), ["dr = r / x.shape[0]\n"], ["0.5"]),
    (divergence, (V ** 2, V ** 2), ["dq = -p / q\n"], []),
    (softest, (V,), ["dx = e / np.sum(e)\n"], ["copy"]),
    (only_item, (V,), ["np.full((1, 1), "], ["np.zeros((1, 1))"]),
    (evidence, (X, X), ["dmu = mu / n\n", "dlog_variance = -0.5 / n * (1 - np.exp(log_variance))\n"], ["2 * "]),
    (pooled, (X[:, [0, 1, 2, 0]],), [], ["2 * "]),
    (distances, (X, X + 1), [], ["squeeze", "keepdims"]),
    (turned_twice, (X, np.ones(2)), ["da = np.outer(power, sin) + np.outer(x, cos)\n"], [").T\n"]),
    (soft_maximum, (X,), ["total = np.logaddexp.reduce(x, axis=1)\n"], ["for ", "scipy"]),
    (eliminated, (np.outer(V, V) + np.eye(3),), ["            a[i, k] /= a[k, k]\n"], []),
    (bond, (V, 2.0), [], ["2 * root"]),
    (new_axis, (V,), ["dx = np.sum(e, axis=1) - np.sum(e, axis=0)"], ["keepdims", "zeros"]),
    (outer_number, (X, 2.0), ["dc = np.sum(lengths)"], ["[0, 0]"]),
    (length, (X,), [], ["2 *", "keepdims"]),
    (likelihood, (2.0, 3.0), ["de = -e / s"], ["1 / s"]),
    (layers, ([{"w": 0.3}, {"w": 0.4}], V), ["params_0_w = ", "params_1_w = "], ["    w = "]),
    (polynomial, ([0.3, 0.2],), ["0.1", "1.5", "0.5", "2.5"], ["s = ", "v = ", "** 0"]),
    (not_equal, (V,), ["if i != j:"], ["not i"]),
]


@pytest.mark.parametrize("function, arguments, there, gone", CASES, ids=lambda item: getattr(item, "__name__", ""))
def test_lines(function: Callable[..., Any], arguments: tuple[Any, ...], there: list[str], gone: list[str]) -> None:
    source = grad(function, argnums=tuple(range(len(arguments)))).source_for(*arguments)
    assert [line for line in there if line not in source] == [], source
    assert [line for line in gone if line in source] == [], source


def test_copies_of_parts_are_written_in_place_again() -> None:
    source = grad(particles, argnums=(0, 1)).source_for(X, X, 0.5, 3)
    _, again = source.split("# reverse\n")
    assert "x = p[i].copy()\n" in again and "x += 0.1 * u\n" in again, source


def test_storage_of_one_loop_grows_together() -> None:
    source = grad(doubling, argnums=(0, 1)).source_for(1.1, 2.0)
    assert source.count("if n == len(") == 1 < source.count("= grow("), source


def test_bincount_has_the_length_that_was_asked_for() -> None:
    def degrees(x: Any, edges: Any) -> Any:
        return np.sum(x / np.maximum(np.bincount(edges, minlength=len(x)), 1))

    gradient = grad(degrees)
    np.testing.assert_array_equal(gradient(V, np.array([0, 0, 2])), [0.5, 1.0, 1.0])
    np.testing.assert_array_equal(gradient(V, np.array([], int)), [1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="minlength"):
        gradient(V, np.array([0, 3, 2]))


def test_rule_that_is_proposed_has_different_names() -> None:
    def area(x: Any, y: Any) -> Any:
        return x * y

    assert "lambda t, x, y, result: ..." in definition_of(area)


def test_spectral_norm_is_the_root_of_an_eigenvalue() -> None:
    largest = grad(lambda x: np.sqrt(np.linalg.eigvalsh(x.T @ x)[-1]))(X)
    left, _, right = np.linalg.svd(X)
    np.testing.assert_allclose(largest, np.outer(left[:, 0], right[0]), atol=1e-12)
    np.testing.assert_allclose(grad(lambda x: np.linalg.norm(x, 2))(X), largest, atol=1e-12)


def test_settings_beside_arrays_are_refused_with_a_way_out() -> None:
    with pytest.raises(NotDifferentiable, match="Make the numbers and arrays alone the argument"):
        grad(with_kind)({"w": V, "kind": "sum"})
    np.testing.assert_array_equal(grad(lambda w: with_kind({"w": w, "kind": "sum"}))(V), np.ones(3))


def test_counts_of_negative_numbers_are_refused_as_numpy_does():
    def counted(w, places):
        return np.sum(np.bincount(places, w) ** 2)

    np.testing.assert_allclose(grad(counted)(np.ones(3), np.array([0, 2, 2])), [2.0, 4.0, 4.0])
    with pytest.raises(ValueError, match="no negative elements"):
        grad(counted)(np.ones(3), np.array([0, -1, 2]))
    with pytest.raises(ValueError, match="same length"):
        grad(counted)(np.ones(1), np.array([0, 1, 2]))


def test_what_is_not_chosen_scales_nothing() -> None:
    def roots(x: Any) -> Any:
        return np.sum(np.where(x > 0, np.sqrt(x), 0.0))

    slope = grad(roots)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(slope(np.array([4.0, -1.0, 1.0])), [0.25, 0.0, 0.5])
    assert "dx = np.where(x > 0, 1.0 / (2 * np.sqrt(x)), 0.0)" in slope.source


def test_choices_by_one_condition_are_one() -> None:
    def leaky(x: Any) -> Any:
        z = x * 2
        return np.sum(np.where(z > 0, z, 0.01 * z) * np.where(z < 3, z, 3.0))

    def both(x: Any) -> Any:
        return np.sum(np.where(x > 0, x ** 2, 0.0) + np.where(x > 0, x ** 3, 0.0) * 3)

    x = np.array([1.0, -1.0, 2.5, 0.3])
    assert "np.where(mask, chosen, 0.01 * chosen)" in grad(leaky).source_for(x)
    assert grad(both).source_for(x).count("where") == 1
    for function in (leaky, both):
        check_grads(function, (x,), order=2)


def test_loops_between_computed_ends_begin_and_end_there() -> None:
    def windows(x: Any) -> Any:
        y = x.copy()
        for i in range(len(x)):
            for k in range(max(i - 2, 0), min(i + 2, len(x))):
                y[k] = y[k] * np.sin(y[i]) + x[i]
        return np.sum(y ** 2)

    x = np.array([1.0, -1.0, 2.5, 0.3])
    assert "for k in range(min(i + 2, n) - 1, max(i - 2, 0) - 1, -1):" in grad(windows).source_for(x)
    check_grads(windows, (x,), order=1)


def between(x: Any) -> Any:
    y = x * x
    if 0 <= y < 1:
        y = y * x
    elif 1.0 <= y <= 2.0 and x > 0:
        y = 3 * x
    return y


def test_numbers_between_two_others() -> None:
    source = grad(between).source_for(1.0)
    assert "mask = 0 <= y < 1\n" in source and "mask2 = 1.0 <= y <= 2.0 and x > 0\n" in source
    for x, slope in (0.5, 0.75), (1.0, 3.0), (-1.25, -2.5), (3.0, 6.0):
        assert grad(between)(x) == slope


def cube_root(x: Any) -> Any:
    p = 1.0 / 3.0
    return x ** p


def test_a_quotient_of_numbers_is_no_exponent_of_zero() -> None:
    assert "dx = p * x ** (p - 1)\n" in grad(cube_root).source_for(2.0)
    assert np.isclose(grad(cube_root)(8.0), 1 / 12)


@pytest.mark.parametrize(("n", "m"), [(3, 5), (5, 3), (4, 4)])
def test_trace_of_an_outer_product_that_is_no_square(n: int, m: int) -> None:
    """It is no product of the two vectors."""
    a, b, da = np.arange(1.0, 1 + n), np.arange(2.0, 2 + m), np.ones(n)
    _, tangent = jvp(lambda a, b: np.trace(np.outer(a, b)), (a, b), (da, None))
    assert tangent == pytest.approx(np.trace(np.outer(da, b)))


def height(x: Any) -> Any:
    return np.sum(np.sin(x) * x)


def chosen_then_scaled(x: Any) -> Any:
    return np.where(x > 0, grad(height)(x), 0.0) * (x * 0 + np.inf)


def divided_and_multiplied(x: Any) -> Any:
    grad(height)(x)
    y = 0 * x
    return y / y * y


def total_of_diagonal(x: Any) -> Any:
    _, pull = vjp(height, x)
    matrix = np.outer(pull(1.0)[0], x)
    matrix[0, 1] = np.inf
    return np.sum(matrix * np.eye(len(x)))


def too_large(x: Any) -> Any:
    for _ in range(2):
        x = x + grad(height)(x)
    return 2 * (1e200 * x) * (1e200 * x) / (2 * (1e200 * x))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", [chosen_then_scaled, divided_and_multiplied, total_of_diagonal, too_large])
def test_what_a_program_does_with_its_derivatives_stays(program: Callable[..., Any],
                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no derivative itself: what is nan or infinite by NumPy is so here."""
    found = vmap(program)(V[None])[0]
    slope = np.sin(V) + V * np.cos(V)
    monkeypatch.setattr(f"{__name__}.grad", lambda function: lambda x: np.sin(x) + x * np.cos(x))
    monkeypatch.setattr(f"{__name__}.vjp", lambda function, x: (function(x), lambda seed: (seed * slope,)))
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(program(V)))
