"""Derivatives of derivatives inside the program: what the reverse of a reverse has to keep apart."""

import numpy as np

from transformer import grad, jvp, vjp

from .hostile_arrays import (
    complex_triangle,
    mask_in_branch,
    mask_neighbours,
    mask_twice_in_loop,
    mask_with_list,
    sum_of_generators,
)
from .program import Program, fixed, normal, positive


def _quadratic(g, x):
    """A number out of a gradient, such that its own gradient is a Hessian times a vector."""
    return np.sum(g * np.cos(x))


def hessian_of_mask_with_list(x):
    return _quadratic(grad(mask_with_list)(x), x)


def hessian_of_mask_neighbours(x):
    return _quadratic(grad(mask_neighbours)(x), x)


def hessian_of_mask_twice(x):
    return _quadratic(grad(mask_twice_in_loop)(x), x)


def hessian_of_mask_in_branch(x):
    return _quadratic(grad(mask_in_branch)(x), x)


def first_that_is_small(x):
    for a in (x[0], x[1]):
        if a < 0.1:
            return np.exp(-a * a)
    return 0.5


def hessian_of_early_returns(x):
    """None of the two returns, or the second one does."""
    return _quadratic(grad(first_that_is_small)(x), x) + _quadratic(grad(first_that_is_small)(x + 3), x)


def hessian_of_generators(x):
    return _quadratic(grad(sum_of_generators)(x), x)


def hessian_of_complex_triangle(x):
    return _quadratic(grad(complex_triangle)(x), x)


def appended(x):
    parts = []
    for k in range(3):
        parts.append(x ** (k + 1))
    return np.sum(np.concatenate(parts) ** 2) + np.max(np.stack(parts))


def hessian_of_appended(x):
    return _quadratic(grad(appended)(x), x)


def newton_steps_inside(x, a):
    t = 2.0
    for _ in range(3):
        t = t - (t**3 - a * t - np.sum(x**2)) / grad(_cubic)(t, a)
    return t * a


def _cubic(t, a):
    return t**3 - a * t


def hessian_rows(x):
    rows = [jvp(grad(_mixed), (x,), (np.eye(3)[i],))[1] for i in range(3)]
    return np.sum(np.stack(rows) ** 2)


def _mixed(x):
    return np.sum(x**4) * np.prod(x)


def pullback_inside(x):
    y, back = vjp(_squares, x)
    return np.sum(back(y)[0] * x)


def _squares(x):
    return x**2 * np.sum(x)


def keyword_named_like_its_dictionary(x):
    return np.sum(grad(_weighted)(x, weights=3.0) * x)


def _weighted(x, **weights):
    return np.sum(weights["weights"] * x**3)


def glow(x, depth):
    y = np.sqrt(x)
    total = y
    if depth > 0:
        inner = glow(y, depth - 1)
        if inner > 0.5:
            total += inner * inner
    return total


def curvature_of_glow(x, depth):
    return np.sum(grad(lambda x: glow(x[0], depth) * x[1])(x) * np.array([0.3, -0.7]))


def _chosen_norms(A, B):
    B[-1][0] = 0.2
    a = A[2, 0]
    a *= B[1, 0]
    if np.cos(a) < A[-1, -1]:
        c = np.sum(B * B)
    else:
        c = np.hypot(a, 1 + B[0, -1] ** 2)
    return np.sin(c) + a


def curvature_of_chosen_norms(A, B):
    """The reverse of the reverse adds to one element before and behind the branches."""
    dA, dB = grad(_chosen_norms, (0, 1))(A, B)
    return np.sum(np.cos(dA)) + np.sum(dB * dB)


PROGRAMS = [
    Program(hessian_of_mask_with_list, normal((4, 3))),
    Program(hessian_of_mask_neighbours, positive((5,))),
    Program(hessian_of_mask_twice, normal((4, 3))),
    Program(hessian_of_mask_in_branch, normal((4, 3))),
    Program(hessian_of_early_returns, fixed(np.array([0.4, -0.7, 0.2]))),
    Program(hessian_of_generators, normal(("n",))),
    Program(hessian_of_complex_triangle, normal((3, 3))),
    Program(hessian_of_appended, positive(("n",))),
    Program(newton_steps_inside, positive((3,), None), (0, 1)),
    Program(hessian_rows, normal((3,))),
    Program(pullback_inside, normal(("n",))),
    Program(keyword_named_like_its_dictionary, normal(("n",))),
    Program(curvature_of_chosen_norms, fixed(
        np.array([[-1.2, 1.1], [0.2, -0.2], [1.2, -1.1]]), np.array([[1.0], [-1.2], [-1.1]])), wrt=(0, 1)),
    Program(curvature_of_glow, fixed(np.array([1.1, 0.5]), 2)),
]
