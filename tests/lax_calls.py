"""Calls of `transformer.lax` and of `jax.lax` alike, and what JAX gave for them.

    python -m tests.lax_calls             writes lax_values.json anew, by the JAX that is installed
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).parent / "lax_values.json"
RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 4))
IMAGE, KERNEL = RNG.normal(size=(1, 4, 5, 3)), RNG.normal(size=(3, 2, 3, 2))
APART = RNG.normal(size=(3, 2, 1, 3))
LINE, LINE_KERNEL = RNG.normal(size=(2, 3, 7)), RNG.normal(size=(4, 3, 3))
BODY, BODY_KERNEL = RNG.normal(size=(1, 2, 4, 5, 3)), RNG.normal(size=(3, 2, 2, 2, 2))
BEHIND = "NHWC", "HWIO", "NHWC"
WHOLE = np.array([5, -7, 2**20, -1, 0, 3])
Call = Callable[[Any, Any], Any]


def conv(*args: Any, image: Any = IMAGE, kernel: Any = KERNEL, numbers: Any = BEHIND, **options: Any) -> Call:
    return lambda L, x: L.conv_general_dilated(image * x[0, 0], kernel * x[1, 1], *args, dimension_numbers=numbers,
                                               **options)


def spread(*args: Any, kernel: Any = KERNEL, **options: Any) -> Call:
    return lambda L, x: L.conv_transpose(IMAGE * x[0, 0], kernel * x[1, 1], *args, **options)


# Of an array of floats: values and gradients are compared.
CALLS: dict[str, Call] = {
    "cumsum": lambda L, x: L.cumsum(x, 1, reverse=True),
    "cumprod": lambda L, x: L.cumprod(x),
    "cummax": lambda L, x: L.cummax(x, 1),
    "cummin": lambda L, x: L.cummin(x, 0, True),
    "cumlogsumexp": lambda L, x: L.cumlogsumexp(x, 1),
    "top_k": lambda L, x: L.top_k(x, 2)[0],
    "top_k of columns": lambda L, x: L.top_k(x, 2, axis=0)[0],
    "sort": lambda L, x: L.sort(x, 0),
    "sort by two keys": lambda L, x: L.sort((L.sign(x), x, x * 2), 1, num_keys=2)[2],
    "sort_key_val": lambda L, x: L.sort_key_val(x, x * x, 0)[1],
    "reduce_window": lambda L, x: L.reduce_window(x, -np.inf, L.max, (2, 2), (1, 2), "SAME"),
    "reduce_window, sums": lambda L, x: L.reduce_window(x, 0.0, L.add, (2, 3), (1, 1), "VALID"),
    "reduce_window, dilated": lambda L, x: L.reduce_window(x, 0.0, L.add, (2, 2), (2, 1), ((1, 0), (0, 2)),
                                                           window_dilation=(1, 2)),
    "reduce_window, spread": lambda L, x: L.reduce_window(x, 0.0, L.add, (2, 2), (1, 1), "SAME", base_dilation=(2, 1)),
    "reduce_window, longer": lambda L, x: L.reduce_sum(L.reduce_window(x, 0.0, L.add, (5, 1), (2, 1), "VALID"), (0,)),
    "pad": lambda L, x: L.pad(x, 0.5, [(1, 2, 1), (0, -1, 0)]),
    "pad, less": lambda L, x: L.pad(x, 0.5, [(-1, 2, 2), (-1, -2, 1)]),
    "dot": lambda L, x: L.dot(x, x.T),
    "dot_general": lambda L, x: L.dot_general(x, x * 2, (((1,), (1,)), ((), ()))),
    "dot_general of rows": lambda L, x: L.dot_general(x, x * 2, (((1,), (1,)), ((0,), (0,)))),
    "dot_general of columns": lambda L, x: L.dot_general(x, x * 2, (((), ()), ((1,), (1,)))),
    "batch_matmul": lambda L, x: L.batch_matmul(x[None], x.T[None]),
    "dynamic_slice_in_dim": lambda L, x: L.dynamic_slice_in_dim(x, 2, 2, 1),
    "dynamic_slice_in_dim, moved": lambda L, x: L.dynamic_slice_in_dim(x, 9, 2, 0),
    "dynamic_index_in_dim": lambda L, x: L.dynamic_index_in_dim(x, -1, 1, False),
    "dynamic_update_slice_in_dim": lambda L, x: L.dynamic_update_slice_in_dim(x, x[:, :2], 3, 1),
    "dynamic_update_index_in_dim, a number": lambda L, x: L.dynamic_update_index_in_dim(x[0], 2.0, 2, 0),
    "dynamic_update_index_in_dim": lambda L, x: L.dynamic_update_index_in_dim(x, x[0], 2, 0),
    "slice": lambda L, x: L.slice(x, (0, 1), (3, 4), (2, 1)),
    "slice_in_dim": lambda L, x: L.slice_in_dim(x, 1, None, 2, axis=-1),
    "index_in_dim": lambda L, x: L.index_in_dim(x, -1, 1),
    "select_n": lambda L, x: L.select_n(x > 0, x, x * 2),
    "clamp": lambda L, x: L.clamp(-0.5, x, 0.5),
    "clamp by arrays": lambda L, x: L.clamp(x * 0 - 0.1, x, x * 0 + 0.1),
    "rsqrt": lambda L, x: L.rsqrt(L.abs(x)),
    "logistic": lambda L, x: L.logistic(x),
    "erf": lambda L, x: L.erf(x) + L.erfc(x) * 2,
    "erf_inv": lambda L, x: L.erf_inv(L.tanh(x)),
    "lgamma": lambda L, x: L.lgamma(L.exp(x)) + L.digamma(L.exp(x)),
    "integer_pow": lambda L, x: L.integer_pow(x, 3) + L.integer_pow(x, -1),
    "asinh": lambda L, x: L.asinh(x) + L.atanh(L.tanh(x)) + L.acosh(1 + L.exp(x)),
    "igamma": lambda L, x: L.igamma(L.full_like(x, 2.0), L.exp(x) * 2) + L.igammac(L.full_like(x, 3.0), L.exp(x)),
    "bessel": lambda L, x: L.bessel_i0e(x) + L.bessel_i1e(x),
    "complex": lambda L, x: L.real(L.mul(L.complex(x, x), L.conj(L.complex(x, x * 2)))),
    "imag": lambda L, x: L.imag(L.exp(L.complex(x, x))),
    "broadcast_in_dim": lambda L, x: L.broadcast_in_dim(x, (3, 2, 4), (0, 2)),
    "collapse": lambda L, x: L.collapse(L.broadcast(x, (2,)), 1, 3),
    "collapse, from the end": lambda L, x: L.collapse(L.broadcast(x, (2,)), 0, -1),
    "reshape": lambda L, x: L.reshape(x, (2, 6), (1, 0)),
    "expand_dims": lambda L, x: L.squeeze(L.expand_dims(x, (0, 2)), (0,)),
    "transpose": lambda L, x: L.transpose(L.rev(x, (0, 1)), (1, 0)),
    "concatenate": lambda L, x: L.concatenate([x, x * 2], 1),
    "split": lambda L, x: L.split(x, (1, 3), 1)[1],
    "stack": lambda L, x: L.stack([x, x * 2], 1),
    "unstack": lambda L, x: L.unstack(x, 1)[2],
    "tile": lambda L, x: L.tile(x, (2, 1)),
    "full": lambda L, x: L.full_like(x, 2.0) * x + L.full((3, 4), 1.5) + L.iota(np.float64, 4),
    "broadcasted_iota": lambda L, x: x * L.broadcasted_iota(np.float64, (3, 4), 0),
    "reduce": lambda L, x: L.reduce_sum(x, (0,)) + L.reduce_prod(x, (0,)),
    "reduce to extremes": lambda L, x: L.reduce_max(x, (0,)) * L.reduce_min(x, (0,)),
    "conv": conv((1, 1), "SAME"),
    "conv with steps": conv((2, 1), ((1, 0), (2, 1)), rhs_dilation=(1, 2)),
    "conv, spread": conv((1, 2), ((0, 1), (0, 0)), lhs_dilation=(2, 3)),
    "conv in groups": conv((1, 1), "SAME", kernel=APART, feature_group_count=3),
    "conv, cut": conv((1, 1), ((-1, 2), (0, -2))),
    "conv with letters": conv((1, 2), "SAME", numbers=("NWHC", "WHIO", "NCHW")),
    "conv of lines": conv((2,), "SAME", image=LINE, kernel=LINE_KERNEL, numbers=None),
    "conv of bodies": conv((2, 1, 1), "SAME", image=BODY, kernel=BODY_KERNEL, numbers=None),
    "conv_transpose": spread((2, 2), "SAME"),
    "conv_transpose, valid": spread((3, 1), "VALID"),
    "conv_transpose, turned": spread((2, 1), "SAME", kernel=np.swapaxes(KERNEL, 2, 3), transpose_kernel=True),
    "conv_transpose, dilated": spread((2, 2), ((1, 1), (0, 1)), rhs_dilation=(2, 1)),
}

# Of integers: int8, int32, uint32 and int64.
BITS: dict[str, Call] = {
    "shift_left": lambda L, i: L.shift_left(i, i * 0 + 2),
    "shift_right_logical": lambda L, i: L.shift_right_logical(i, i * 0 + 2),
    "shift_right_arithmetic": lambda L, i: L.shift_right_arithmetic(i, i * 0 + 2),
    "bitwise_not": lambda L, i: L.bitwise_not(i),
    "population_count": lambda L, i: L.population_count(i),
    "top_k": lambda L, i: L.top_k(i, 3)[1],
    "argmax": lambda L, i: L.argmax(i, 0, np.int32),
    "reduce_and": lambda L, i: L.reduce_and(i[1:3], (0,)),
    "reduce_or": lambda L, i: L.reduce_or(i[::5].reshape(1, 2), (1, 0)),
    "cumsum": lambda L, i: L.cumsum(i * 30),
    "cumprod": lambda L, i: L.cumprod(i, reverse=True),
    "reduce_window": lambda L, i: L.reduce_window(i, i[5], L.max, (2,), (2,), ((1, 1),)),
    "broadcast_in_dim": lambda L, i: L.broadcast_in_dim(i.reshape(2, 3), (3, 1, 2), (2, 0)),
    "dynamic_slice": lambda L, i: L.dynamic_slice(i, (i[5],), (2,)),
    "select_n": lambda L, i: L.select_n(i * 0 + 2, i, i + 1, i + 2),
    "convert_element_type": lambda L, i: L.convert_element_type(i, np.float32),
}
DTYPES = "int8", "int32", "uint32", "int64"


def recorded() -> dict[str, Any]:
    """What JAX gives: values and gradients of CALLS, values of BITS."""
    import jax
    import jax.numpy as jnp
    from jax import lax
    jax.config.update("jax_enable_x64", True)
    found: dict[str, Any] = {}
    for name, call in CALLS.items():
        slope = jax.grad(lambda x, call=call: jnp.sum(jnp.sin(call(lax, x))))(jnp.asarray(X))
        found[name] = [np.asarray(call(lax, jnp.asarray(X))).tolist(), np.asarray(slope).tolist()]
    for name, call in BITS.items():
        for dtype in DTYPES:
            found[f"{name} of {dtype}"] = np.asarray(call(lax, jnp.asarray(WHOLE.astype(dtype)))).tolist()
    return found


def main() -> None:
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in recorded().items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
