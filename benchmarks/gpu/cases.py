"""What is measured on a GPU."""

import functools

import ml_dtypes
import numpy as np

from benchmarks.batches.learning import network_gradients, network_gradients_jax, samples
from benchmarks.contest.lazily import jax
from benchmarks.headline import bodies, elementwise, options
from transformer import vmap

from . import by_hand, learning
from .case import GpuCase, by_part

SMALL_TEXT = 5, 7, 4, 40, 9, 8          # of as many layers and heads, so that its module is that of full size
FEW = 1000                              # places of a long array that are compared with NumPy
COPY, CUBLAS, AS_JAX = ("of a copy", 0.85), ("x CuPy", 0.97), ("x JAX", 1.0)


def escape(re, im, limit):
    x, y, count = re, im, 0
    while count < limit and x * x + y * y <= 4:
        x, y, count = x * x - y * y + re, 2 * x * y + im, count + 1
    return count


def mandelbrot(re, im, limit):
    return vmap(vmap(escape, in_axes=(0, None, None)), in_axes=(None, 0, None))(re, im, limit)


def escape_jax(re, im, limit):
    def step(state):
        x, y, count = state
        return x * x - y * y + re, 2 * x * y + im, count + 1

    def inside(state):
        x, y, count = state
        return (count < limit) & (x * x + y * y <= 4)
    return jax.lax.while_loop(inside, step, (re, im, 0))[2]


def mandelbrot_jax(re, im, limit):
    return jax.vmap(jax.vmap(escape_jax, in_axes=(0, None, None)), in_axes=(None, 0, None))(re, im, limit)


def plane(rng, n, limit):
    return np.linspace(-2, 0.5, n, dtype="f4"), np.linspace(-1.25, 1.25, n, dtype="f4"), limit


def heat(u, rate, steps):
    for _ in range(steps):
        u = u + rate * (np.roll(u, 1) - 2 * u + np.roll(u, -1))
    return u


def heat_jax(u, rate, steps):
    def step(_, u):
        return u + rate * (jax.numpy.roll(u, 1) - 2 * u + jax.numpy.roll(u, -1))
    return jax.lax.fori_loop(0, steps, step, u)


def rod(rng, n, steps):
    return rng.normal(size=n).astype("f4"), 0.1, steps


def product(a, b):
    return a @ b


def matrices(rng, n, dtype):
    return tuple(rng.normal(size=(n, n)).astype(dtype) for _ in range(2))


def sample_of_product(arguments, result):
    """A few rows, from the same numbers in float64."""
    a, b = arguments
    return result[:2], (a[:2].astype("f8") @ b.astype("f8")).astype("f4")


def sum_of_five(a, b, c, d, e):
    return a + b * c - d + 0 * e


def contracts(rng, n):
    return tuple(each.astype("f4") if isinstance(each, np.ndarray) else each
                 for each in options.contracts_and_amounts(rng, n))


def sample_of_greeks(arguments, result):
    """The derivatives for single contracts; the price is that of all of them, from float64."""
    spot, strike, years, rate, volatility, amounts = arguments
    few = *(each[:FEW].astype("f8") for each in (spot, strike, years)), rate, *(
        each[:FEW].astype("f8") for each in (volatility, amounts))
    value, slopes = GREEKS.ours()(*few)
    whole = options.portfolio(*(each.astype("f8") if isinstance(each, np.ndarray) else each for each in arguments))
    picked = [result[1][k][:FEW] for k in (0, 1, 2, 4)]
    return (result[0], *picked), (whole, *(slopes[k] for k in (0, 1, 2, 4)))


def sample_of_bodies(arguments, result):
    """A few bodies, which all the others attract, from float64."""
    places, masses = (each.astype("f8") for each in arguments)
    apart = places[np.newaxis] - places[:8, np.newaxis]
    squares = np.sum(apart**2, axis=-1) + 0.01
    return result[:8], np.sum((masses * squares**-1.5)[:, :, np.newaxis] * apart, axis=1)


def sample_of_mandelbrot(arguments, result):
    re, im, limit = arguments
    step = max(1, re.size // 8)
    return result[::step, ::step], mandelbrot(re[::step], im[::step], limit)


def first_places(*arguments):
    return tuple(argument[:FEW] for argument in arguments)


GREEKS = GpuCase("Black-Scholes price and greeks, 16M f32", options.portfolio, contracts, (1 << 24,), (11,),
                 (options.portfolio_jax, options.portfolio_ndtr_jax), "value_and_grad", (0, 1, 2, 3, 4),
                 tolerance=2e-3, sample=sample_of_greeks, moves=True, goals=(COPY,))
CASES = [
    GpuCase("selu, 64M f32", elementwise.selu, elementwise.arrays, (1 << 26,), (33,), (elementwise.selu_jax,),
            hand=by_hand.selu, moves=True, goals=(COPY,),
            sample=by_part(elementwise.selu, first_places, lambda result: result[:FEW])),
    GpuCase("gradient of selu, 64M f32", elementwise.selu_loss, functools.partial(elementwise.arrays, count=2),
            (1 << 26,), (33,), (elementwise.selu_loss_jax,), "grad", hand=by_hand.selu_gradient, moves=True,
            goals=(COPY,)),
    GpuCase("(X-mean)/std, 1M x 64 f32", elementwise.standardized, elementwise.arrays, (1 << 20, 64), (20, 3),
            (elementwise.standardized_jax, elementwise.standardized_squares_jax), moves=True, goals=(COPY,),
            sample=by_part(elementwise.standardized, lambda x: (x[:, :2].astype("f8"),), lambda result: result[:, :2])),
    GpuCase("(x+x*x+3)*(x*x+x*x.T), 8192 x 8192 f32", elementwise.expression, elementwise.arrays, (8192, 8192), (9, 9),
            (elementwise.expression,), hand=by_hand.expression, moves=True, goals=(COPY,)),
    GpuCase("softmax of rows, 16384 x 4096 f32", elementwise.softmax, elementwise.arrays, (16384, 4096), (5, 7),
            (elementwise.softmax_jax,), moves=True,
            sample=by_part(elementwise.softmax, lambda x: (x[:8],), lambda result: result[:8])),
    GREEKS,
    *[GpuCase(f"matrix product, 8192 x 8192 {name}", product, functools.partial(matrices, dtype=dtype), (8192,), (9,),
              (product,), tolerance=tolerance, sample=sample_of_product, goals=(CUBLAS,))
      for name, dtype, tolerance in (("f32", "f4", 1e-4), ("f16", "f2", 1e-2), ("bf16", ml_dtypes.bfloat16, 5e-2))],
    GpuCase("training step, MLP 1024 x 784-1024-10 f32", learning.network_step, learning.network_arguments,
            (1024, 784, 1024, 10), (6, 7, 8, 5), (learning.network_step_jax,), tolerance=1e-3, goals=(AS_JAX,)),
    GpuCase("training step, transformer of 4 layers of 256, 32 x 128 characters f32", learning.text_step,
            learning.text_arguments, (32, 128, 4, 256, 96, 8), SMALL_TEXT, (learning.text_step_jax,),
            tolerance=1e-3, goals=(AS_JAX,)),
    GpuCase("training step, the same transformer in bf16", learning.text_step,
            functools.partial(learning.text_arguments, dtype=ml_dtypes.bfloat16), (32, 128, 4, 256, 96, 8),
            SMALL_TEXT, (learning.text_step_jax,), tolerance=1e-1),
    GpuCase("heat on a ring of 4096, 2000 steps f32", heat, rod, (4096, 2000), (9, 5), (heat_jax,), tolerance=1e-3),
    GpuCase("Mandelbrot 4096 x 4096, a while loop for each point, f32", mandelbrot, plane, (4096, 200), (5, 20),
            (mandelbrot_jax,), hand=by_hand.mandelbrot, tolerance=0.3, goals=(("x JAX", 3.0),),
            sample=sample_of_mandelbrot),
    GpuCase("gradients of samples, MLP 4096 x 64-128-10 f32", network_gradients, samples, (4096, 64, 128, 10),
            (3, 4, 5, 2), (network_gradients_jax,), tolerance=1e-3, goals=(("x JAX", 1.5),)),
    GpuCase("N-body, 16384 f32", bodies.accelerations, functools.partial(bodies.bodies, dtype="f4"), (16384,), (6,),
            (bodies.accelerations_jax, bodies.accelerations_by_component_jax, bodies.accelerations_by_product_jax),
            hand=by_hand.accelerations, tolerance=2e-3, sample=sample_of_bodies, goals=(("x by hand", 1.0),)),
    GpuCase("a call with five arrays of 4", sum_of_five, lambda rng, n: tuple(rng.normal(size=(5, n))), (4,), (4,),
            (sum_of_five,), hand=by_hand.sum_of_five, goals=(("a call", 15e-6),)),
]
