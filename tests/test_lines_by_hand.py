"""Lines of derivatives as one would write them by hand, with their numbers: each case is one general rewrite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from transformer import check_grads, grad
from transformer.api import pushforward

X = np.array([[0.3, 1.2, -0.7], [0.8, -0.4, 1.5]])
V = np.array([0.5, -1.0, 2.0])


def backwards(x: Any, w: Any) -> Any:
    h = 0.3
    for t in range(len(x) - 1, -1, -1):
        h = x[t] + w * np.tanh(h * x[t])
    return h


def backwards_from_the_last_but_one(x: Any, w: Any) -> Any:
    h = x[-1]
    for t in range(len(x) - 2, -1, -1):
        for k in range(1, -1, -1):
            h = x[t] + w * np.tanh(h * x[k])
    return h


def normalized_over_batches(x: Any, gamma: Any) -> Any:
    mean, var = np.mean(x, axis=(0, 2)), np.var(x, axis=(0, 2))
    y = (x - mean[:, None]) / np.sqrt(var[:, None] + 1e-5)
    return np.sum(np.tanh(gamma[:, None] * y))


def normalized_over_rows(x: Any) -> Any:
    y = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 0.1)
    return np.sum(np.sin(y))


def standardized(x: Any) -> Any:
    z = (x - np.mean(x, axis=0)) / np.std(x, axis=0)
    return np.sum(z ** 4)


def divided_and_summed(x: Any, s: Any) -> Any:
    q = np.sin(x) / s
    return np.sum(q ** 2) + np.sum(q) ** 2


def solved_in_turn(a: Any, b: Any) -> Any:
    for _ in range(2):
        b = np.tanh(np.linalg.solve(a, b))
    return np.sum(b)


def gravity(x: Any) -> Any:
    d = x[None, :] - x[:, None]
    r2 = np.sum(d ** 2, axis=2) + 0.01
    return np.sum(np.sin(d / r2[:, :, None] ** 1.5))


def six_and_twelve(x: Any, y: Any) -> Any:
    r6 = (1.0 / np.sum((x - y) ** 2)) ** 3
    return 4 * (r6 * r6 - r6)


def angle(x: Any, y: Any) -> Any:
    lengths = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    return np.sum(np.sum(x * y, axis=1) / lengths)


def logarithm_of_ratio(s: Any, k: Any) -> Any:
    ratio = s / k
    return np.log(ratio) * np.sin(ratio)


def root_of_negative(x: Any) -> Any:
    return np.log(x ** 1.5)


def spectrum(x: Any) -> Any:
    z = np.fft.fft(x)
    return np.sum(np.abs(z - 0.5) ** 2)


def mixture(m: Any, s: Any) -> Any:
    scale = np.exp(s)
    z = (V[:, None] - m) / scale
    return -np.mean(np.log(np.sum(np.exp(-0.5 * z ** 2) / scale, axis=1)))


def volume(a: Any) -> Any:
    return -0.5 * np.log(np.linalg.det(a)) * np.linalg.det(a) - 0.5 * np.log(np.linalg.det(a @ a))


def smoothed(y: Any) -> Any:
    return 0.5 * np.sum((y - V) ** 2) + np.sum(np.sqrt((y[1:] - y[:-1]) ** 2 + 0.1)) + y[0] * y[2]


def pooled(x: Any) -> Any:
    n, m = x.shape
    windows = x.reshape(n // 2, 2, m // 2, 2)
    return np.sum(np.tanh(windows.mean(axis=(1, 3)))) + np.sum(np.sin(x.reshape(n // 2, 2, m).sum(axis=1)))


def warped(x: Any, gamma: Any) -> Any:
    r = np.zeros((3, 4))
    for i in range(2):
        for j in range(3):
            a, b, c = -r[i, j] / gamma, -r[i, j + 1] / gamma, -r[i + 1, j] / gamma
            top = max(a, b, c)
            soft = gamma * (np.log(np.exp(a - top) + np.exp(b - top) + np.exp(c - top)) + top)
            r[i + 1, j + 1] = (x[i] - V[j]) ** 2 - soft
    return r[2, 3]


def hyperbola(a: Any, b: Any, m: Any) -> Any:
    k = V - m
    return np.sum((a * k + np.sqrt(k ** 2 + b ** 2)) ** 2)


def swept(d: Any, b: Any) -> Any:
    x = np.zeros_like(b)
    for _ in range(3):
        x = np.sin((b - x) / d)
    return x @ x


def runge_kutta(y: Any, g: Any) -> Any:
    def slope(y: Any) -> Any:
        return np.array([y[1], -g * np.sin(y[0])])

    for _ in range(2):
        k1 = slope(y)
        k2 = slope(y + 0.1 * k1)
        k3 = slope(y + 0.1 * k2)
        k4 = slope(y + 0.2 * k3)
        y = y + 0.1 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y[0] ** 2


def normalized(x: Any, gamma: Any) -> Any:
    return np.sum(np.tanh(gamma * (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + 0.1)))


def attracting(r2: Any, w: Any) -> Any:
    inv6 = 1 / r2 ** 3
    return np.sum(w * (2 * inv6 ** 2 - inv6))


def size_with_sign(x: Any) -> Any:
    return np.sum(np.abs(x) ** 2 * np.sin(x))


CLASSES = np.array([2, 0])


def cross_entropy(w: Any) -> Any:
    logits = X[:, :2] @ w
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    log_p = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(len(CLASSES)), CLASSES])


def chosen_and_all(x: Any) -> Any:
    s = np.sin(x)
    return np.sum(s[CLASSES, np.arange(2)] ** 2) + np.sum(np.sum(s, axis=0) ** 2) + np.sum(s[CLASSES, [1, 1]])


def gated(w: Any, x: Any) -> Any:
    def logistic(z: Any) -> Any:
        return 1 / (1 + np.exp(-z))

    h = np.zeros(2)
    for row in x:
        z = row @ w + h @ w[:2]
        i, f = logistic(z[:2]), logistic(z[2:])
        h = f * h + np.sin(i)
    return np.sum(h)


def made_as_written(x: Any) -> Any:
    n = len(x)
    y, z = np.zeros(n), np.zeros_like(x)
    h = np.zeros(n)
    for i in range(1, n):
        y[i] = np.sin(y[i - 1]) * x[i]
        z[i] = z[i - 1] * x[i] + x[i - 1]
        h = np.sin(h + y[i]) * x
    return np.sum(y * z * h)


CASES: list[tuple[Callable[..., Any], tuple[Any, ...], list[str], list[str]]] = [
    (backwards, (V, 1.1), ["_k[t] = ", "for t in range(n):\n", "_k[t]\n"], ["n - t"]),
    (backwards_from_the_last_but_one, (V, 1.1),
     ["_k = np.empty((n - 1, 2))\n", "_k[t, k] = ", "for k in range(2):\n", "_k[t, k]\n"], ["- t -", "- k -"]),
    (normalized_over_batches, (np.stack([X, 2 * X - 1, 1 - X ** 2]), V[:2]),
     ["dgamma = np.sum(diff * y, axis=(0, 2))\n", "dx = (diff2 - np.mean(dy, axis=(0, 2), keepdims=True)) / root\n"],
     ["squeeze", "[0]", "None, :"]),
    (normalized_over_rows, (X,), ["dx = (diff - np.mean(dy, axis=1, keepdims=True)) / root\n"], ["shape"]),
    (divided_and_summed, (V, 2.0), [], []),
    (gravity, (X,), [], ["** 0.5", "** 2.5"]),
    (six_and_twelve, (V, X[0]), ["r6 / total * diff\n"], ["** 2 *"]),
    (angle, (X, X[::-1] + 1), [], ["np.inf"]),
    (logarithm_of_ratio, (1.2, 0.7), [], ["/ ratio / k"]),
    (spectrum, (V,), ["2 * np.conj(z - 0.5)"], ["abs", "sign"]),
    (mixture, (V[:2], X[0, :2]), [], ["* scale"]),
    (volume, (np.outer(V, V) + 3 * np.eye(3),), [], ["/ det"]),
    (smoothed, (V,), ["dy = y - V\n", "dy[:-1] -= ddiff\n", "dy[1:] += ddiff\n"], ["zeros"]),
    (pooled, (np.outer(V[:2], [0.3, -1.0, 0.5, 0.7]),), ["np.repeat(", ", 2, axis=0)"], ["broadcast_to", ".copy()"]),
    (lambda x: warped(x, 0.7), (V[:2],), ["dr[i, j] += ratio * e\n"], ["e / 0.7", "0.7 * dr_item"]),
    (hyperbola, (0.3, 0.5, 0.2), ["db = np.sum(ratio) * b\n"], ["(2 *", "2 * ratio"]),
    (swept, (V + 4, V), ["dd -= ddiff * ratio\n", "db += ddiff\n"], []),
    (runge_kutta, (V[:2], 9.8),
     ["dk4 = 0.1 * dy\n", "dk3 = scaled + 0.2 * dy2\n", "dk2 = scaled + 0.1 * dy2\n"], ["dk3_2"]),
    (normalized, (X, V), ["dx = ddiff_x - "], ["dx2"]),
    (attracting, (V ** 2, V), ["dr2 = -3 * ("], ["(-("]),
    (size_with_sign, (V,), ["2 * np.sin(x) * x"], ["np.sign"]),
    (cross_entropy, (X,), ["[np.arange(2), CLASSES] -= 0.5\n"], ["zeros"]),
    (chosen_and_all, (np.vstack([X, X - 1])[:3, :2],), [], []),
    (gated, (np.outer(V, [0.3, -1.0, 0.5, 0.7]), X), ["i = 1 / (1 + np.exp(-z[:2]))\n", "i_k[k] = i\n"], ["z2", "e_k"]),
    (made_as_written, (V,), ["y = np.zeros(n)\n", "z = np.zeros_like(x)\n", " = np.empty((n - 1, n))\n"],
     ["+ x.shape"]),
    (solved_in_turn, (np.outer(V, V) + 3 * np.eye(3), V), ["solution = solution_k[k]\n"], []),
    (standardized, (X.T,), ["dx = (dz - np.mean(dz * z, axis=0) * z - np.mean(dz, axis=0)) / spread\n"], ["np.inf"]),
]


@pytest.mark.parametrize("function, arguments, there, gone", CASES, ids=lambda item: getattr(item, "__name__", ""))
def test_lines_and_numbers(function: Callable[..., Any], arguments: tuple[Any, ...], there: list[str],
                           gone: list[str]) -> None:
    source = grad(function, argnums=tuple(range(len(arguments)))).source_for(*arguments)
    assert [line for line in there if line not in source] == [], source
    assert [line for line in gone if line in source] == [], source
    check_grads(function, arguments)


def test_roots_of_what_is_below_zero_stay_nan() -> None:
    with np.errstate(invalid="ignore"):
        assert np.isnan(grad(root_of_negative)(np.float64(-1.0)))


def test_a_number_stands_behind_what_is_compared_with_it() -> None:
    source = pushforward(lambda x: np.sum(np.maximum(0, x)), (0,)).source_for(V, V)
    assert "x > 0" in source and "x == 0" in source


def test_what_is_recorded_has_its_name() -> None:
    def relaxed(y: Any) -> Any:
        for _ in range(2):
            k1 = np.tanh(X[:, :2] @ y)
            k2 = np.tanh(X[:, :2] @ (y + 0.1 * k1))
            y = y + 0.1 * (k1 + 2 * k2)
        return np.sum(y ** 2)

    source = pushforward(grad(relaxed), (0,)).source_for(V[:2], V[1:])
    assert "k2_dot_k[k] = k2_dot\n" in source and " * k2_dot_k[k] * k2" in source, source
    check_grads(grad(relaxed), (V[:2],))
