"""Differentiate a cube root through the Newton iteration that computes it.

    python samples/newton.py

How often the `while` loop runs depends on the number. Its gradient is a loop that runs as often,
backwards, and agrees with the closed form, 1 / (3 a^(2/3)). Only where the first guess is already
the root, at a = 1, nothing runs that depends on a, and the derivative of nothing is zero.
"""

import numpy as np

from transformer import value_and_grad


def cube_root(a):
    """The cube root of a positive number, by Newton's method."""
    x = 1.0
    while abs(x**3 - a) > 1e-12 * a:
        x = x - (x**3 - a) / (3 * x * x)
    return x


def main():
    root_and_slope = value_and_grad(cube_root)
    root_and_slope(2.0)
    print(root_and_slope.source)
    print(f"{'a':>8} {'cube root':>12} {'slope':>14} {'closed form':>14} {'rel. error':>11}")
    for a in [0.001, 0.1, 0.5, 2.0, 27.0, 1000.0]:
        root, slope = root_and_slope(a)
        exact = np.cbrt(a) / (3 * a)
        error = abs(slope - exact) / exact
        print(f"{a:8g} {root:12.8f} {slope:14.8f} {exact:14.8f} {error:11.1e}")


if __name__ == "__main__":
    main()
