"""Expressions, numbers, indices."""

from __future__ import annotations

import cmath
import math
import statistics

import numpy as np

from transformer.core.errors import BadArgument, NotSupported, ShapeError

from .rows import MATRIX, VECTOR, Section

OBJECTS = np.array([None, 1, 2])
SECTION = Section("Expressions, numbers, indices")
supported, refused = SECTION.supported, SECTION.refused


@supported("`+ - * / // % ** @`, unary `+ - ~`", "also on integers and booleans", args=(VECTOR,))
def operators(x):
    k = ~3 // 2 % 5
    return -((x @ x) ** 2) / 3 + +x[0] % 7 * k


@supported("`& | ^ << >>` on integers and booleans", args=(VECTOR,))
def bits(x):
    mask = (x > 0) & ~(x > 2) | (x < -1)
    return np.sum(np.where(mask, x * x, x)) * (1 << 2 ^ 1)


@supported("Python numbers and their methods")
def python_numbers(x):
    n = int(4 * x)
    whole = n.bit_length() + n.bit_count() * n.numerator + (2.0 * n).is_integer()
    return x.real * 2 + abs(x) + pow(x, 3) + divmod(x, 1.0)[1] + int(x) * float(x) + whole * x


@supported("NumPy scalars, float32, float64, complex", "by NumPy's rules (NEP 50)", args=(np.float64(1.3),))
def numpy_scalars(x):
    return x * np.float64(2) + np.abs(np.exp(1j * x) + 1)


@supported("`pow(a, b, m)` of integers", "by squares", args=(1.3, 5))
def power_with_a_modulus(x, n):
    return x * pow(3, n, 7) + pow(n, -1, 11)


@supported("`math` functions on numbers")
def mathematics(x):
    return math.sin(x) * math.hypot(x, 2.0)


@supported("`cmath` functions on numbers")
def complex_mathematics(x):
    return abs(cmath.exp((0.3 + 2j) * x) + cmath.sqrt(x - 9.0)) * cmath.phase(1j + x)


@supported("functions of `statistics`", "in floating numbers, of known ones exact", args=(VECTOR,))
def described(x):
    samples = [v * v for v in x]
    return statistics.stdev(samples) * statistics.mean([1, 2, 4]) + statistics.median(samples) + statistics.fmean(x)


@supported("f-strings and `%`, in messages", "`str` of dynamic values is not read back")
def texts(x):
    name = f"{'x'!r}: {3:>5}"
    return x * len(name)


@refused("the length of a string with dynamic parts", NotSupported)
def text_length(x):
    return x * len(f"{x:.2f}")


@supported("complex numbers", "of complex arguments with `holomorphic=True`", args=(0.3 + 0.4j,))
def complex_numbers(z):
    return np.exp(z) * (2 - 1j) + z.conjugate()


@supported("float32, float16 and bfloat16", "results keep the dtype", args=(VECTOR.astype(np.float32),))
def single(x):
    return np.sum(x * x) / 2


@supported("arrays of integers and booleans as arguments", "without derivative", args=(VECTOR, np.array([2, 0])))
def index_argument(x, index):
    return np.sum(x[index] ** 2)


@supported("attributes of arrays: `shape, ndim, size, dtype, T, real, imag, …`", args=(MATRIX,))
def attributes(x):
    n, m = x.shape
    return np.sum(x.T @ np.ones(n)) / x.size * x.ndim * m


@supported("methods of arrays", "see the table of functions", args=(MATRIX,))
def methods(x):
    return x.reshape(-1).sum() * x.mean(axis=0).max() + x.astype(float).std()


@supported("index by integers, also negative and computed", args=(MATRIX,))
def integers(x):
    i = int(np.argmax(x[:, 0]))
    return x[i, -1] * x[0][1]


@supported("slices, also with steps and computed bounds", args=(VECTOR, 1))
def slices(x, k):
    return np.sum(x[k:] * x[:-1]) + np.sum(x[::-2])


@supported("a slice whose step the program computes", "its places are an array of integers", args=(VECTOR,))
def slices_in_steps(x):
    total = 0.0
    for step in range(1, 3):
        total += np.sum(x[step::step] ** 2)
    return total


@supported("`None`, `...` in an index", args=(VECTOR,))
def new_axes(x):
    return np.sum(x[:, None] * x[None, :]) + np.sum(x[..., None])


@supported("integer arrays as index", args=(VECTOR,))
def integer_array(x):
    return np.sum(x[np.array([2, 0, 0])] * np.array([1.0, 2.0, 3.0]))


@supported("boolean mask as index", "the size is found at run time", args=(VECTOR,))
def mask(x):
    return np.sum(x[x > 0] ** 2)


@supported("boolean mask as index, then arithmetic with another one of the same mask", args=(VECTOR,))
def mask_twice(x):
    positive = x > 0
    return np.sum(x[positive] * np.exp(x)[positive])


@supported("`np.newaxis`, `slice(…)`", args=(VECTOR,))
def slice_objects(x):
    part = slice(1, None)
    return np.sum(x[part] * x[:2]) + np.sum(x[np.newaxis])


@supported("lists as arrays: `np.array([x, y])`", args=(VECTOR,))
def list_as_array(x):
    return np.sum(np.array([x[0], 2.0, x[1] * x[2]]) ** 2)


@supported("`out=` of a NumPy function", args=(VECTOR,))
def out_argument(x):
    y = np.empty(3)
    np.multiply(x, 2.0, out=y)
    return np.sum(y * y)


@supported("`where=` of a ufunc, with `out=`", "nothing is computed where it does not hold", args=(VECTOR,))
def where_argument(x):
    return np.sum(np.add(x, 1.0, where=x > 0, out=np.zeros(3)))


@refused("`where=` of a ufunc without `out=`", NotSupported, "give `out`, or use `np.where`", args=(VECTOR,))
def where_without_out(x):
    return np.sum(np.add(x, 1.0, where=x > 0))


@supported("`np.sum(where=…)`, `initial=…`", "also of `mean, std, var, prod, max, min, any, all`", args=(VECTOR,))
def sum_where(x):
    return np.sum(x, where=x > 0) + np.max(x, initial=0.5)


@supported("`np.s_`, `np.index_exp`", args=(VECTOR,))
def index_objects(x):
    return np.sum(x[np.s_[:2]])


@supported("`np.r_`, `np.c_`, `np.mgrid`, `np.ogrid`", "not with a string in the brackets", args=(VECTOR,))
def concatenating_objects(x):
    return np.sum(np.r_[x, 1.0] ** 2) + np.sum(np.c_[x, x * x] * np.mgrid[0:3, 0:2][0])


@supported("`x.flat`, read, written and run over", args=(MATRIX,))
def flat(x):
    y = x.copy()
    y.flat[::2] *= x[0, 0]
    total = y.flat[1] ** 2
    for value in y.flat:
        total += value**3
    return total


@supported("`np.ndindex`, `np.ndenumerate`", args=(MATRIX,))
def grid_of_indices(x):
    total = 0.0
    for i, j in np.ndindex(x.shape):
        total += x[i, j] ** 2 * i
    for (i, j), value in np.ndenumerate(x):
        total += value * j
    return total


@refused("`np.nditer`", NotSupported, "use `np.ndenumerate`", args=(VECTOR,))
def iterator(x):
    total = 0.0
    for value in np.nditer(x):
        total += value
    return total


@supported("`np.vectorize`, `np.apply_along_axis`, `np.piecewise`", "the function is read", args=(VECTOR,))
def vectorized(x):
    return np.sum(np.vectorize(lambda v: v * v if v > 0 else -v)(x))


@refused("shapes that do not fit", ShapeError, args=(VECTOR,))
def wrong_shapes(x):
    return np.sum(x + np.ones(4))


@supported("an integer to a power that may be negative", "a float, as in Python", args=(1.3,))
def falling_powers(x):
    total, k = 0.0, 1
    while k > -3:
        total += x * 10**k
        k -= 1
    return total


@supported("`leggauss`, `scipy.special.roots_…`, filters and windows, quantiles of `scipy.stats`, … of known numbers",
           "called while the function is read")
def tables(x):
    nodes, weights = np.polynomial.legendre.leggauss(3)
    return np.sum(weights * np.exp(-nodes * x))


@supported("a size that depends on a value", "the size is found at run time", args=(VECTOR,))
def size_from_value(x):
    return np.sum(np.zeros(int(x[2])) + x[0])


@refused("an array of objects, strings or dates", NotSupported, args=(VECTOR,))
def objects(x):
    return np.sum(x * OBJECTS)


@refused("`in` on an array", BadArgument, "use `np.any(x == v)`", args=(VECTOR,))
def array_contains(x):
    return x[0] if 2.1 in x else x[1]


@supported("rounding, comparison, `argmax`: piecewise constant", "derivative zero", args=(VECTOR,))
def piecewise_constant(x):
    return np.sum(x * np.floor(x)) + x[np.argmax(x)]
