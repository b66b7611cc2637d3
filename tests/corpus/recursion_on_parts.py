"""Functions that call themselves on parts of an array, and that write to arrays they hand on."""

import numpy as np

from .program import Program, apart, normal, positive

# -- arrays ------------------------------------------------------------------------------------------


def halved_sum(x):
    if len(x) == 1:
        return x[0] ** 2
    half = len(x) // 2
    return halved_sum(x[:half]) + np.sin(halved_sum(x[half:]))


def halved_array(x):
    """Arrays come back in the sizes that went in."""
    if len(x) < 2:
        return x * x
    half = len(x) // 2
    return np.concatenate([halved_array(x[half:])[::-1], 0.5 * halved_array(x[:half])])[: len(x)]


def rest_of_list(x):
    return 0.0 if len(x) == 0 else x[0] * np.cos(rest_of_list(x[1:]))


def transformed(real, imaginary):
    """The fast Fourier transform of a power of two."""
    n = len(real)
    if n == 1:
        return real, imaginary
    even_real, even_imaginary = transformed(real[::2], imaginary[::2])
    odd_real, odd_imaginary = transformed(real[1::2], imaginary[1::2])
    half = n // 2
    result_real, result_imaginary = np.zeros(n), np.zeros(n)
    for k in range(half):
        c, s = np.cos(2 * np.pi * k / n), -np.sin(2 * np.pi * k / n)
        r = c * odd_real[k] - s * odd_imaginary[k]
        i = c * odd_imaginary[k] + s * odd_real[k]
        result_real[k], result_real[k + half] = even_real[k] + r, even_real[k] - r
        result_imaginary[k], result_imaginary[k + half] = even_imaginary[k] + i, even_imaginary[k] - i
    return result_real, result_imaginary


def spectrum(real, imaginary):
    a, b = transformed(real, imaginary)
    return np.sum(a**4 * np.arange(len(a))) + np.sum(b * b * b)


def matrix_power(a, n):
    if n == 0:
        return np.eye(3)
    if n % 2 == 1:
        return a @ matrix_power(a, n - 1)
    root = matrix_power(a, n // 2)
    return root @ root


def trace_of_power(a, n):
    return np.trace(matrix_power(a, n))


def smoothed(x, n):
    if n == 0:
        return x
    y = np.tanh(x)
    return smoothed(y + 0.1 * x, n - 1) * y


def smoothed_norm(x, n):
    return np.sum(smoothed(x, n) ** 2)


def minor_determinant(a):
    """A determinant by its first row."""
    n = a.shape[0]
    if n == 1:
        return a[0, 0]
    total = 0.0
    for k in range(n):
        minor = np.zeros((n - 1, n - 1))
        for i in range(n - 1):
            for j in range(n - 1):
                minor[i, j] = a[i + 1, j + (1 if j >= k else 0)]
        total += (-1) ** k * a[0, k] * minor_determinant(minor)
    return total


# -- arrays written in place ---------------------------------------------------------------------------


def fill_forward(x, k):
    if k < len(x):
        x[k] = np.sin(x[k - 1]) * x[k]
        fill_forward(x, k + 1)


def filled(x):
    y = x * 1.0
    fill_forward(y, 1)
    return np.sum(y * y)


def sorted_between(x, low, high):
    """Quicksort."""
    if low >= high:
        return
    pivot, place = x[high], low
    for k in range(low, high):
        if x[k] < pivot:
            x[place], x[k] = x[k], x[place]
            place += 1
    x[place], x[high] = x[high], x[place]
    sorted_between(x, low, place - 1)
    sorted_between(x, place + 1, high)


def sorted_weighted(x, w):
    y = x.copy()
    sorted_between(y, 0, len(y) - 1)
    return y @ w + y[0] * y[-1]


def table_of_paths(table, i, j, x):
    """Fills a table behind itself and hands on what is in it."""
    if i < 0 or j < 0:
        return 0.0
    if table[i, j] == 0.0:
        table[i, j] = x[i] * x[j] + 0.5 * table_of_paths(table, i - 1, j, x) + table_of_paths(table, i, j - 1, x)
    return table[i, j]


def paths(x):
    n = len(x)
    return table_of_paths(np.zeros((n, n)), n - 1, n - 1, x)


def memoized(x, n):
    """The table belongs to the function around."""
    known = np.zeros(n + 1)

    def value(k):
        if k < 2:
            return x * k + 1.0
        if known[k] == 0.0:
            known[k] = np.sin(value(k - 1)) + value(k - 2)
        return known[k]

    return value(n)


def halves_in_place(x, k):
    if len(x) > 1 and k > 0:
        half = len(x) // 2
        x[:half] *= np.cos(x[half])
        halves_in_place(x[:half], k - 1)
        halves_in_place(x[half:], k - 1)


def written_halves(x):
    y = x.copy()
    halves_in_place(y, 3)
    return np.sum(y**3)


PROGRAMS = [
    Program(halved_sum, normal(("n",))),
    Program(rest_of_list, normal(("n",))),
    Program(spectrum, normal((8,), (8,)), (0, 1)),
    Program(trace_of_power, normal((3, 3), then=(5,))),
    Program(smoothed_norm, normal(("n",), then=(3,))),
    Program(minor_determinant, normal((4, 4))),
    Program(filled, normal(("n",))),
    Program(sorted_weighted, apart(("n",), ("n",)), (0, 1)),
    Program(paths, positive(("n",))),
    Program(memoized, normal(None, then=(6,))),
    Program(written_halves, normal((8,))),
]
