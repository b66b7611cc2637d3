"""Real and imaginary parts of complex arrays, written by themselves."""

import numpy as np

from .program import Program, normal


def parts_written_in_a_loop(x):
    w = np.zeros(len(x), complex)
    for i in range(len(x)):
        w.real[i] = x[i] ** 2
        w.imag[-1 - i] += x[i]
    return np.sum((w * w).real)


def parts_assigned(x, y):
    w = np.empty((len(y), len(x)), complex)
    w.real = x
    w.imag = y[:, None]
    w.imag *= 2
    w[0].real[1:] -= x[:-1]
    w.T.imag[-1] = y**2
    return np.sum(np.abs(w) ** 3)


def parts_under_names(x):
    w = x * (1 + 2j)
    real, imag = w.real, w.imag
    real[1:] = imag[:-1]
    imag *= real
    real += 1
    return np.sum(np.cos(w).real)


def parts_at_places(x):
    w = x * (1 + 2j)
    w.real[x > 0] = 0.5
    w.imag[[0, 2]] -= x[:2]
    np.multiply(x, 3, out=w.real[::-1])
    np.add.at(w.imag, [0, 0, 1], x[:3])
    return np.sum(np.abs(w**2))


def parts_of_complex64(x):
    w = x.astype(np.complex64)
    w.imag = x[::-1]
    w.real[0] += w.imag[1]
    return w


def parts_that_are_infinite(x):
    w = np.zeros(3, complex)
    w.real = [1.0, np.inf, -0.0]
    w.imag = [np.inf, -0.0, np.nan]
    w.real[0] *= 2
    return np.array([w.real, w.imag]), x * 2


def parts_of_an_array_without_axes(x):
    w = np.array(x[0] * (1 + 1j))
    real = w.real
    w.real = x[1] ** 2
    w.imag[...] = x[2]
    return real * w.imag * np.abs(w)


def part_of_real_numbers(x):
    y = x.copy()
    y.real[0] = 5
    y.real *= 2
    y.real = y * x
    return np.sum(y)


def part_of_an_argument(x):
    def fill(z, values):
        z.real[1] = values[0] ** 2
        z.imag = values

    w = np.ones(len(x), complex)
    fill(w, x)
    return np.sum(np.abs(w))


def modulus_of_parts(x):
    total = 0.0
    for v in x:
        z = complex(v, v * v)
        total += abs(z * z + z)
    return total


PROGRAMS = [
    Program(parts_written_in_a_loop, normal(("n",))),
    Program(parts_assigned, normal((4,), (3,))),
    Program(parts_under_names, normal(("n",))),
    Program(parts_at_places, normal((5,))),
    Program(parts_of_complex64, normal((4,), dtype=np.float32), order=1, tags=("f32", "results")),
    Program(parts_that_are_infinite, normal((4,)), tags=("results",)),
    Program(parts_of_an_array_without_axes, normal((4,))),
    Program(part_of_real_numbers, normal((4,))),
    Program(part_of_an_argument, normal((4,))),
    Program(modulus_of_parts, normal((4,))),
]
