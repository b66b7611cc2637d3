"""float16 and bfloat16 in kernels: loaded and stored in 16 bits, computed in float32; products of matrices take and
give 16 bits. What comes out is compared with the same program in float32."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import gpu_simulator
import ml_dtypes
import numpy as np
import pytest
from test_golden_gpu import looped

from transformer import grad, tree, value_and_grad, vmap
from transformer.lower.cuda.halves import bits_of, number_of

KINDS = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
EPSILON = {KINDS[0]: 2.0**-10, KINDS[1]: 2.0**-7}
ROUNDINGS = 6                          # of the largest number, that may add up in a program


def scaled(x, b):
    return np.tanh(x + b) * 2


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def mlp(x, w, v):
    return np.mean((np.tanh(x @ w) @ v) ** 2)


def standardized(x):
    return (x - x.mean(0)) / x.std(0)


def attention(q, k, v):
    return softmax(q @ k.T / 4) @ v


def transposed(x):
    return x * x.T + x.T


def looked_up(table, ids):
    return table[ids] * 2


def stepped(u, steps):
    for _ in range(steps):
        u[1:-1] += (u[2:] - 2 * u[1:-1] + u[:-2]) * 0.25
    return u.sum()


def projected(x, w):
    """Rows of several sequences, each times the same matrix."""
    return np.maximum(x @ w, 0)


def scored(q, k):
    """A product for every sequence."""
    return q @ k.swapaxes(-1, -2)


def carried(h, w, x):
    for t in range(len(x)):
        h = np.tanh(h @ w + x[t])
    return h


def layered(x, w):
    """Matrices that are parts of a stack, and of what a comprehension makes."""
    for k in range(2):
        q, key, v = (x @ w[k, part] for part in range(3))
        x = x + attention(q, key, v) @ w[k, 3].T
    return np.sum(x * x)


def replaced(x, w):
    """What is written to is no view."""
    y = x * 1
    y[0] = 2
    return y @ w + x @ w


def rounded(x):
    return x.astype(np.float32) * 3 + (x * 3).astype(np.float32)


def counted(x):
    """With a number in it, which the host knows."""
    return x * (x.shape[0] + 0.5), np.argmax(x), x > 0.5


def filled(x, w):
    """With numbers of 16 bits that the host hands over."""
    y = np.full_like(x, 3)
    y[0] = 7
    x[1] = np.nan
    return y @ w, np.full_like(w, -0.5), x


def scaled_by_numbers(x, s, t):
    return x * s, s * t, t / 3, s > t


def draw(rng: np.random.Generator, dtype: Any, *shape: int) -> np.ndarray:
    return rng.normal(size=shape).astype(dtype)


PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]] = {
    "scaled": (scaled, scaled, lambda made, n: (made(n, 7), made(7))),
    "scaled_along_rows": (scaled, scaled, lambda made, n: (made(n, 16), made(16))),
    "softmax": (softmax, softmax, lambda made, n: (made(n, 300),)),
    "mlp": (mlp, mlp, lambda made, n: (made(n, 14), made(14, 16), made(16, 3))),
    "mlp_grad": (grad(mlp, (1, 2)), mlp, lambda made, n: (made(n, 14), made(14, 16), made(16, 3))),
    "mlp_value_and_grad": (value_and_grad(mlp, 1), mlp, lambda made, n: (made(n, 14), made(14, 16), made(16, 3))),
    "standardized": (standardized, standardized, lambda made, n: (made(n + 70, 5),)),
    "attention": (attention, attention, lambda made, n: (made(n, 16), made(n + 3, 16), made(n + 3, 16))),
    "attention_of_heads": (vmap(attention), attention, lambda made, n: [made(3, n, 16) for _ in range(3)]),
    "attention_grad": (grad(lambda q, k, v: np.sum(attention(q, k, v) ** 2), (0, 1)),
                       lambda q, k, v: np.sum(attention(q, k, v) ** 2),
                       lambda made, n: (made(n, 16), made(n, 16), made(n, 16))),
    "transposed": (transposed, transposed, lambda made, n: (made(n + 30, n + 30),)),
    "looked_up": (looked_up, looked_up, lambda made, n: (made(10, 4), np.arange(n) % 10)),
    "looked_up_grad": (grad(lambda table, ids: np.sum(looked_up(table, ids) ** 2)), looked_up,
                       lambda made, n: (made(10, 4), np.arange(n) % 10)),
    "stepped": (stepped, stepped, lambda made, n: (made(n + 3), 4)),
    "projected": (projected, projected, lambda made, n: (made(3, n, 16), made(16, 16))),
    "scored": (scored, scored, lambda made, n: (made(3, n, 16), made(3, n, 16))),
    "carried": (carried, carried, lambda made, n: (made(n, 8), made(8, 8), made(4, n, 8))),
    "carried_grad": (grad(lambda h, w, x: np.sum(carried(h, w, x)), (0, 1)), carried,
                     lambda made, n: (made(n, 8), made(8, 8) / 4, made(3, n, 8))),
    "layered": (layered, layered, lambda made, n: (made(n, 16), made(2, 4, 16, 16) / 4)),
    "layered_grad": (grad(layered, 1), layered, lambda made, n: (made(n, 16), made(2, 4, 16, 16) / 4)),
    "replaced": (replaced, replaced, lambda made, n: (made(n, 16), made(16, 16))),
    "rounded": (rounded, rounded, lambda made, n: (made(n),)),
    "filled": (filled, filled, lambda made, n: (made(n, 16), made(16, 4))),
    "scaled_by_numbers": (scaled_by_numbers, scaled_by_numbers,
                          lambda made, n: (made(n), made(1)[0], made(1)[0])),
    "counted": (counted, counted, lambda made, n: (made(n),)),
}


def run(made: Any, arguments: tuple[Any, ...]) -> Any:
    given = {**made.namespace, **made.module.kernel.printed.given}
    return gpu_simulator.namespace(made.module.source, given)[made.module.entry.name](*arguments)


def wide(leaf: Any) -> Any:
    return leaf.astype(np.float32) if isinstance(leaf, np.ndarray | np.generic) and leaf.dtype in KINDS else leaf


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", KINDS, ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, dtype: np.dtype) -> None:
    target, user, arguments = PROGRAMS[name]
    for n in 5, 12:
        rng = np.random.default_rng(n)
        given = tuple(arguments(lambda *shape: draw(rng, dtype, *shape), n))
        made = looped(target, _of(target, user), given)
        ours, theirs = copy.deepcopy(given), tree.map(wide, given)
        found, wanted = tree.leaves((run(made, ours), ours)), tree.leaves((target(*theirs), theirs))
        for got, want in zip(found, wanted, strict=True):
            _compare(got, want, dtype)


def _of(target: Any, user: Any) -> Any:
    """The function of the user that a transformation is of."""
    while hasattr(target, "function"):
        target = target.function
    return target if callable(target) else user


def _compare(got: Any, want: Any, dtype: np.dtype) -> None:
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    if want.dtype == np.float32 and got.dtype == dtype:
        bound = ROUNDINGS * EPSILON[dtype] * max(np.max(np.abs(want[np.isfinite(want)]), initial=0), 1e-3)
        np.testing.assert_allclose(got.astype(float), want.astype(float), rtol=0, atol=bound)
    else:
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_bits_are_those_of_bfloat16() -> None:
    every = np.arange(2**16, dtype=np.uint16)
    numbers = every.view(ml_dtypes.bfloat16)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(number_of(every), numbers.astype(np.float32))
        rng = np.random.default_rng(0)
        drawn = np.concatenate([rng.integers(0, 2**32, 50_000, dtype=np.uint64).astype(np.uint32).view(np.float32),
                                np.float32([0, -0.0, np.inf, -np.inf, np.nan, 3.3961776e38, 1e-45, 1.00390625])])
        for x, want in zip(drawn, drawn.astype(ml_dtypes.bfloat16)):
            got = np.uint16(bits_of(x)).view(ml_dtypes.bfloat16)
            assert got.view(np.uint16) == want.view(np.uint16) or np.isnan(got) and np.isnan(want)


@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_matrices_stay_in_16_bits(dtype: np.dtype) -> None:
    rng = np.random.default_rng(0)
    given = draw(rng, dtype, 5, 14), draw(rng, dtype, 14, 16), draw(rng, dtype, 16, 3)
    source = looped(grad(mlp, (1, 2)), mlp, given).module.source
    driver = source[source.index("def mlp_grad_driver"):]
    assert driver.count("cp.matmul(") == 5 and "np.float32)" not in driver
    assert "cp.matmul(x.T, " in driver                                   # nobody turns it, or converts it
